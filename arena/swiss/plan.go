package swiss

import (
	"cmp"
	"fmt"
	"slices"
)

// MaxRounds is the most pairing rounds that can be planned at once.
const MaxRounds = 1000

// Plan pairs a number of pairing rounds at once, without regard to scores: over
// all of them together as few meetings as possible are repeats, repeats are
// spread over many pairs, and the smaller of two table sizes over many bots.
// Where few bots meet for many pairing rounds this is more even than round after
// round by [Pair]: eight bots at tables of four meet exactly three times each
// in seven.
//
// The plan holds while the field does. When a bot comes or goes, [Pair] goes on
// from what was played. Like a pairing, a plan depends only on the field, its
// seed and the number of rounds.
func (f Field) Plan(rounds int) ([][][]string, error) {
	if rounds < 1 || rounds > MaxRounds {
		return nil, fmt.Errorf("rounds: %d is not 1..%d", rounds, MaxRounds)
	}
	f.Bots = slices.Clone(f.Bots)
	for i := range f.Bots {
		f.Bots[i].Score = 0
	}
	p, err := f.problem()
	if err != nil {
		return nil, err
	}
	var best *plan
	for attempt := range planAttempts {
		turning := attempt%2 == 1 && rounds <= len(p.bots)
		l := p.plan(rounds, turning)
		l.anneal()
		if best == nil || l.least.less(best.least) {
			best = l
		}
		if best.least.repeats == p.fewestRepeats(rounds) {
			break
		}
	}
	var named [][][]string
	for _, seats := range best.best {
		named = append(named, p.pairing(p.split(seats)).Tables)
	}
	return named, nil
}

const planAttempts = 6

// plan is all pairing rounds of a night, while bots change places in them.
type plan struct {
	*problem
	turning bool // all rounds are the first one turned
	rounds  []arrangement
	heads   []uint16 // as the problem's, with the meetings in all rounds
	short   []int    // of each bot: its Short, with the small tables in all rounds
	now     toll

	least toll
	best  [][]int // seats of each round
}

// toll is what a plan is judged by, in this order: how many meetings are not the
// first of two bots, what all meetings cost, one after the other, and what the
// seats at small tables add to the shares.
type toll struct{ repeats, cost, shares int64 }

func (t toll) less(u toll) bool {
	return cmp.Or(cmp.Compare(t.repeats, u.repeats), cmp.Compare(t.cost, u.cost), cmp.Compare(t.shares, u.shares)) < 0
}

func (t toll) plus(u toll) toll {
	return toll{t.repeats + u.repeats, t.cost + u.cost, t.shares + u.shares}
}

// plan begins with random tables; all the same ones turned, if it is turning.
func (p *problem) plan(rounds int, turning bool) *plan {
	n := len(p.bots)
	l := &plan{
		problem: p, turning: turning, rounds: make([]arrangement, rounds),
		heads: slices.Clone(p.heads), short: make([]int, n), best: make([][]int, rounds),
	}
	for a, bot := range p.bots {
		l.short[a] = bot.Short
	}
	bots := make([]int, n)
	for b := range bots {
		bots[b] = b
	}
	for i := range rounds {
		if i == 0 || !turning {
			shuffle(p.rand, bots)
		}
		seats := make([]int, n)
		for j, b := range bots {
			seats[j] = l.turn(b, i)
		}
		r := arrange(p.split(seats))
		for t := range p.sizes {
			for j, a := range r.at(t) {
				if p.small(r.size(t)) {
					l.now.shares += int64(l.short[a])
					l.short[a]++
				}
				for _, b := range r.at(t)[:j] {
					l.now = l.now.plus(l.meet(a, b))
				}
			}
		}
		l.rounds[i], l.best[i] = r, slices.Clone(r.seats)
	}
	l.least = l.now
	return l
}

// turn is the bot that takes the place of another some rounds later, if the
// plan is turning. The bots form rings, each as long as there are rounds, that
// turn by one each round; those left over stay. The plans with the fewest
// repeats are often of this kind (24 bots at tables of four have none in seven),
// and among so much fewer plans they are found.
func (l *plan) turn(bot, rounds int) int {
	ring := len(l.rounds)
	if !l.turning || bot >= len(l.bots)/ring*ring {
		return bot
	}
	return bot/ring*ring + (bot+rounds)%ring
}

// meet counts another meeting of two bots, and says what it adds.
func (l *plan) meet(a, b int) toll {
	n := len(l.bots)
	had := l.heads[a*n+b]
	l.heads[a*n+b]++
	l.heads[b*n+a]++
	return toll{repeats: int64(min(had, 1)), cost: price(had)}
}

// part takes a meeting back.
func (l *plan) part(a, b int) toll {
	n := len(l.bots)
	l.heads[a*n+b]--
	l.heads[b*n+a]--
	had := l.heads[a*n+b]
	return toll{repeats: -int64(min(had, 1)), cost: -price(had)}
}

// exchange lets a and b, or those they turn into, change places in some of the
// rounds. Doing it again takes it back.
func (l *plan) exchange(from, to, a, b int) {
	for i := from; i < to; i++ {
		l.swap(&l.rounds[i], l.turn(a, i), l.turn(b, i))
	}
}

func (l *plan) swap(r *arrangement, a, b int) {
	l.replace(a, b, r.at(r.table[a]))
	l.replace(b, a, r.at(r.table[b]))
	switch r.larger(a, b) {
	case 1: // a moves to the smaller table
		l.now.shares += int64(l.short[a] - l.short[b] + 1)
	case -1:
		l.now.shares += int64(l.short[b] - l.short[a] + 1)
	}
	l.short[a] += r.larger(a, b)
	l.short[b] -= r.larger(a, b)
	r.swap(a, b)
}

// replace lets one bot meet those at a table instead of another that sits there.
func (l *plan) replace(gone, came int, table []int) {
	for _, x := range table {
		if x != gone {
			l.now = l.now.plus(l.part(gone, x)).plus(l.meet(came, x))
		}
	}
}

// anneal works as it does for one pairing. A repeat weighs on top of what it
// costs, for the fewest may be had by letting the same two meet again.
func (l *plan) anneal() {
	const (
		repeat = 4 << 10
		cost   = 1 << 10
		share  = 1 << 9
		hot    = 8 << 10
		halves = 5
	)
	n := len(l.bots)
	steps := min(400_000+2000*n*len(l.rounds), 4_000_000)
	from, to := 0, len(l.rounds)
	if l.turning { // each step is one for every round
		steps = min(steps, 6_000_000/len(l.rounds))
	}
	for step := range steps {
		if !l.turning {
			from = l.rand.below(len(l.rounds))
			to = from + 1
		}
		a, b := l.rand.below(n), l.rand.below(n)
		if r := l.rounds[from]; r.table[l.turn(a, from)] == r.table[l.turn(b, from)] {
			continue
		}
		before := l.now
		l.exchange(from, to, a, b)
		worse := repeat*clamp(l.now.repeats-before.repeats) + cost*clamp(l.now.cost-before.cost) + share*clamp(l.now.shares-before.shares)
		if worse > int64(to-from)*l.rand.patience(cooled(hot, halves, step, steps)) {
			l.exchange(from, to, a, b)
			continue
		}
		if l.now.less(l.least) {
			l.least = l.now
			for i, r := range l.rounds {
				copy(l.best[i], r.seats)
			}
		}
	}
}

// fewestRepeats is what no plan can come below: there are more meetings than pairs.
func (p *problem) fewestRepeats(rounds int) int64 {
	n, meetings := len(p.bots), 0
	for _, size := range p.sizes {
		meetings += size * (size - 1) / 2
	}
	return int64(max(0, rounds*meetings-n*(n-1)/2))
}
