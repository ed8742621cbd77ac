package swiss

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"
)

// ledger is where standings are made up: an account for each entry, the tables
// as they are entered, the lines as they are ranked.
type ledger struct {
	rounds    int
	number    map[string]int
	accounts  []*account
	seated    map[seatedIn]bool
	standings []Standing
}

type account struct {
	Standing
	number int
	fillIn bool
	sat    []sitting
	firsts int64 // in 1/whole
	points int64
}

// sitting is an account's part in a table.
type sitting struct {
	*finished
	at int // index in bots
}

// finished is a table that counts; bots are the numbers of accounts.
type finished struct {
	void   bool
	bots   []int
	scores []*big.Rat
	games  []placed
}

// placed is a game of it, in the order of the table's bots.
type placed struct {
	bots   []int
	places []int
}

type seatedIn struct{ bot, round int }

// whole is the unit in which every placement at up to MaxSeats seats, and every
// part of a shared first place, is a whole number: twice the least common
// multiple of 1..18.
const whole = 24_504_480

func newLedger(entries []Entry, rounds int) (*ledger, error) {
	if rounds < 0 {
		return nil, fmt.Errorf("rounds: %d is negative", rounds)
	}
	l := &ledger{rounds: rounds, number: map[string]int{}, seated: map[seatedIn]bool{}}
	for i, e := range entries {
		if e.Name == "" {
			return nil, fmt.Errorf("entries[%d].name: empty", i)
		}
		if _, twice := l.number[e.Name]; twice {
			return nil, fmt.Errorf("entries[%d].name: %q is there twice", i, e.Name)
		}
		l.number[e.Name] = i
		l.accounts = append(l.accounts, &account{
			Standing: Standing{Name: e.Name, Withdrawn: e.Withdrawn, Anchor: e.Anchor},
			number:   i,
			fillIn:   e.FillIn,
		})
	}
	return l, nil
}

// enter adds a table to the accounts of its bots.
func (l *ledger) enter(t Table) error {
	if t.Round < 1 || t.Round > l.rounds {
		return fmt.Errorf("round: %d is not 1..%d", t.Round, l.rounds)
	}
	if len(t.Bots) < MinSeats || len(t.Bots) > MaxSeats {
		return fmt.Errorf("bots: %d are not %d..%d", len(t.Bots), MinSeats, MaxSeats)
	}
	f := &finished{void: t.Void}
	for i, name := range t.Bots {
		number, known := l.number[name]
		if !known {
			return fmt.Errorf("bots[%d]: %q is not entered", i, name)
		}
		if l.seated[seatedIn{number, t.Round}] {
			return fmt.Errorf("bots[%d]: %q sits twice in pairing round %d", i, name, t.Round)
		}
		l.seated[seatedIn{number, t.Round}] = true
		f.bots = append(f.bots, number)
	}
	if !t.Void && len(t.Games) == 0 {
		return nil // still being played
	}
	if t.Void {
		f.scores = slices.Repeat([]*big.Rat{big.NewRat(1, 2)}, len(f.bots))
	} else if err := l.enterGames(f, t); err != nil {
		return err
	}
	for i, b := range f.bots {
		l.accounts[b].sat = append(l.accounts[b].sat, sitting{f, i})
	}
	return nil
}

func (l *ledger) enterGames(f *finished, t Table) error {
	total := make([]int64, len(f.bots))
	for i, g := range t.Games {
		order, err := seatOrder(t.Bots, g)
		if err != nil {
			return fmt.Errorf("games[%d].%w", i, err)
		}
		p := placed{bots: f.bots}
		for _, seat := range order {
			p.places = append(p.places, g.Places[seat])
		}
		f.games = append(f.games, p)
		firsts := 0
		for _, place := range p.places {
			if place == slices.Min(p.places) {
				firsts++
			}
		}
		for j, seat := range order {
			a := l.accounts[f.bots[j]]
			a.Games++
			a.points += int64(g.Points[seat])
			a.Faults += g.Faults[seat]
			if p.places[j] == slices.Min(p.places) {
				a.firsts += int64(whole / firsts)
			}
			placement, _ := p.placement(j, func(int) bool { return true })
			total[j] += placement
		}
	}
	for _, sum := range total {
		f.scores = append(f.scores, big.NewRat(sum, whole*int64(len(t.Games))))
	}
	return nil
}

// seatOrder says where in a game's lists each bot of the table is.
func seatOrder(bots []string, g Game) ([]int, error) {
	n := len(bots)
	if len(g.Bots) != n || len(g.Places) != n || len(g.Points) != n || len(g.Faults) != n {
		return nil, fmt.Errorf("bots, places, points, faults: %d, %d, %d, %d are not one for each of %d at the table",
			len(g.Bots), len(g.Places), len(g.Points), len(g.Faults), n)
	}
	order := make([]int, n)
	for i, name := range bots {
		if order[i] = slices.Index(g.Bots, name); order[i] < 0 {
			return nil, fmt.Errorf("bots: %q of the table is missing", name)
		}
	}
	for seat, place := range g.Places {
		if place < 1 || place > n {
			return nil, fmt.Errorf("places[%d]: %d is not 1..%d", seat, place, n)
		}
		if g.Faults[seat] < 0 {
			return nil, fmt.Errorf("faults[%d]: %d is negative", seat, g.Faults[seat])
		}
	}
	return order, nil
}

// placement among the bots that count, itself apart: how many of them it beat
// and half of those it tied with, for each of them, in 1/whole. It is false
// where no other counts.
func (p placed) placement(at int, counts func(bot int) bool) (int64, bool) {
	var halves, others int64
	for i, b := range p.bots {
		if i == at || !counts(b) {
			continue
		}
		others++
		halves += int64(1 + cmp.Compare(p.places[i], p.places[at]))
	}
	if others == 0 {
		return 0, false
	}
	return halves * (whole / 2 / others), true
}

// lines are the standings, when all tables are entered.
func (l *ledger) lines() []Standing {
	for _, a := range l.accounts {
		a.close()
	}
	var stayed, withdrawn, anchors []*account
	byName := slices.SortedFunc(slices.Values(l.accounts), func(a, b *account) int { return cmp.Compare(a.Name, b.Name) })
	for _, a := range byName {
		l.judge(a)
		switch {
		case a.fillIn:
		case a.Anchor:
			anchors = append(anchors, a)
		case a.Withdrawn:
			withdrawn = append(withdrawn, a)
		default:
			stayed = append(stayed, a)
		}
	}
	l.rank(stayed, ByScore)
	l.rank(withdrawn, ByScore)
	if len(stayed) > 0 && len(withdrawn) > 0 {
		l.standings[len(stayed)].Decided = ByWithdrawal
	}
	for _, a := range anchors {
		l.standings = append(l.standings, a.Standing)
	}
	return l.standings
}

// close works out what an account comes to, but for what depends on ties.
func (a *account) close() {
	a.Score = new(big.Rat)
	for _, s := range a.sat {
		a.Score.Add(a.Score, s.scores[s.at])
	}
	games := int64(max(1, a.Games))
	a.Firsts = big.NewRat(a.firsts, whole*games)
	a.Points = big.NewRat(a.points, games)
}

// judge works out the strength of an account's schedule, once all are closed.
func (l *ledger) judge(a *account) {
	type opponent struct {
		tables, meetings int      // together; without the void ones
		score            *big.Rat // of the opponent, at these tables
	}
	opponents := map[int]opponent{}
	var order []int
	for _, s := range a.sat {
		for i, b := range s.bots {
			if i == s.at || l.accounts[b].fillIn {
				continue
			}
			o, known := opponents[b]
			if !known {
				o.score = new(big.Rat)
				order = append(order, b)
			}
			o.score.Add(o.score, s.scores[i])
			o.tables++
			if !s.void {
				o.meetings++
			}
			opponents[b] = o
		}
	}
	sum, meetings := new(big.Rat), 0
	for _, b := range order {
		o := opponents[b]
		apart := l.rounds - o.tables
		if apart == 0 || o.meetings == 0 {
			continue // it has shown nothing elsewhere, or nothing here
		}
		elsewhere := new(big.Rat).Sub(l.accounts[b].Score, o.score)
		sum.Add(sum, elsewhere.Mul(elsewhere, big.NewRat(int64(o.meetings), int64(apart))))
		meetings += o.meetings
	}
	a.Strength = sum.Quo(sum, big.NewRat(int64(max(1, meetings)), 1))
}

// rank adds a group of accounts that all reasons before this one leave tied.
func (l *ledger) rank(tied []*account, by By) {
	if len(tied) == 0 {
		return
	}
	if by > ByFaults || len(tied) == 1 {
		rank := len(l.standings) + 1
		for _, a := range tied {
			a.Rank = rank
			l.standings = append(l.standings, a.Standing)
		}
		return
	}
	if by == ByHeadToHead {
		meetHeadToHead(tied)
	}
	slices.SortStableFunc(tied, func(a, b *account) int { return b.compare(a, by) })
	next := by + 1
	if by == ByHeadToHead && tied[0].compare(tied[len(tied)-1], by) != 0 {
		next = by // anew, among fewer
	}
	for start := 0; start < len(tied); {
		end := start + 1
		for end < len(tied) && tied[end].compare(tied[start], by) == 0 {
			end++
		}
		above := len(l.standings)
		l.rank(tied[start:end], next)
		if start > 0 {
			l.standings[above].Decided = by
		}
		start = end
	}
}

// compare is positive if a is better than b by this reason alone.
func (a *account) compare(b *account, by By) int {
	switch by {
	case ByScore:
		return a.Score.Cmp(b.Score)
	case ByStrength:
		return a.Strength.Cmp(b.Strength)
	case ByHeadToHead:
		return a.HeadToHead.Cmp(b.HeadToHead)
	case ByFirsts:
		return a.Firsts.Cmp(b.Firsts)
	case ByPoints:
		return a.Points.Cmp(b.Points)
	case ByFaults:
		return cmp.Compare(b.Faults, a.Faults)
	default:
		return 0
	}
}

// meetHeadToHead looks only at how tied bots did against each other.
func meetHeadToHead(tied []*account) {
	among := make(map[int]bool, len(tied))
	for _, a := range tied {
		among[a.number] = true
	}
	for _, a := range tied {
		var sum, games int64
		for _, s := range a.sat {
			for _, g := range s.games {
				if placement, met := g.placement(s.at, func(b int) bool { return among[b] }); met {
					sum += placement
					games++
				}
			}
		}
		a.HeadToHead = big.NewRat(1, 2)
		if games > 0 {
			a.HeadToHead = big.NewRat(sum, whole*games)
		}
	}
}
