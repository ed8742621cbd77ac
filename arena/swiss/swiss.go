// Package swiss decides who meets whom next, and who stands where. It knows
// scores, past meetings and what a table's games ended in, and nothing of
// cards, clocks or streams: everything here is a function from values to values.
//
// [Pair] seats every bot of a [Field] at one table. Among all ways to do so it
// looks for the least of three sums, in strict order:
//
//   - cost: a meeting of two bots that have met c times costs c(c+1): 0, 2, 6,
//     12 and so on, so that a second repeat is worse than two first ones. Bots
//     of one owner count as having met twice more than they have: their first
//     meeting costs 6, as much as the third of two strangers;
//   - shares: where two table sizes occur, how often the bots now at the
//     smaller size have sat at a smaller size before ([Bot].Short), summed;
//   - spread: the squared score differences of all pairs that meet, summed.
//
// Up to 16 bots the answer is the least there is, found by trying every table
// that could be. Beyond that it is found by seeded annealing and finished by
// descent: no exchange of two bots at different tables makes it better. The
// first pairing round needs no rule of its own: all scores are equal and nobody
// has met, so the seeded order, in which every search starts, is as good as any.
//
// All of it is integer arithmetic on a generator of known output, so that a
// pairing can be computed again on any machine: the same field and seed give
// the same tables, whatever order the bots, the past tables and the names in
// them are listed in.
//
// [Field.Plan] pairs a whole night at once, for few bots and many pairing rounds.
//
// [Standings] adds up what the tables ended in, in exact fractions.
package swiss

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// Limits of a Field.
const (
	MinSeats = 3  // fewest seats at a table, and fewest bots that can be paired
	MaxSeats = 18 // most seats at a table

	MaxBots     = 10_000        // so that the matrix of meetings stays below 200 MB
	MaxShort    = 1_000_000_000 // so that shares add up in 64 bits
	MaxMeetings = 60_000        // of one pair, so that a count fits in 16 bits
)

// ErrTooFew says that a field has fewer than MinSeats bots.
var ErrTooFew = errors.New("too few bots")

// Sizes says how n bots sit down at tables of the given number of seats: at
// min(ceil(n/seats), floor(n/3)) tables as even as possible, the larger first,
// so that nobody sits out and no table has fewer than three. It is nil for
// fewer than three bots and for seats outside MinSeats..MaxSeats.
func Sizes(n, seats int) []int {
	if n < MinSeats || seats < MinSeats || seats > MaxSeats {
		return nil
	}
	sizes := make([]int, min((n+seats-1)/seats, n/MinSeats))
	for t := range sizes {
		sizes[t] = n / len(sizes)
		if t < n%len(sizes) {
			sizes[t]++
		}
	}
	return sizes
}

// Bot is one bot to be paired.
type Bot struct {
	Name  string `json:"name"`
	Score int64  `json:"score"`           // so far, in any unit, the same for all bots
	Short int    `json:"short,omitempty"` // earlier pairing rounds in which it sat at the smaller of two sizes
	Owner string `json:"owner,omitempty"` // "" is nobody's: no other bot has the same owner
}

// Field is all that a pairing depends on.
type Field struct {
	Seats int        // at a full table, MinSeats..MaxSeats
	Seed  []byte     // any bytes; what is left to chance is drawn from their SHA-256
	Bots  []Bot      // who is to be seated, in any order
	Met   [][]string // who sat at each earlier table; names not among Bots have gone and do not matter
}

// Pairing is who meets whom, and what it comes to in the sums that the package
// comment explains.
type Pairing struct {
	Tables  [][]string `json:"tables"` // highest mean score first; at a table highest score first; equals by name
	Cost    int64      `json:"cost"`
	Shares  int64      `json:"shares"`
	Spread  *big.Int   `json:"spread"`  // in the square of the unit of the scores
	Repeats int        `json:"repeats"` // pairs at these tables that have truly met before, whoever owns them
}

// Pair seats every bot of the field at one table. An error names what of the
// field is wrong; with fewer than MinSeats bots it is ErrTooFew.
func Pair(f Field) (Pairing, error) {
	p, err := f.problem()
	if err != nil {
		return Pairing{}, err
	}
	if len(p.bots) <= exactBots {
		return p.pairing(p.exact()), nil
	}
	return p.pairing(p.search()), nil
}

// Weigh says what given tables come to for this field. Every bot must sit at
// exactly one of them; sizes are taken as they are.
func (f Field) Weigh(tables [][]string) (Pairing, error) {
	p, err := f.problem()
	if err != nil {
		return Pairing{}, err
	}
	indexed, err := p.index(tables)
	if err != nil {
		return Pairing{}, err
	}
	return p.pairing(indexed), nil
}

// problem is a Field made ready for a search: bots are numbers, strongest first
// and equals in seeded order, which is where everything left to chance begins.
type problem struct {
	bots  []Bot
	score []uint64 // above the least score: any two int64 differ by a uint64
	sizes []int    // larger first
	rand  random

	// heads[a*len(bots)+b] counts the meetings of a and b as the cost sees
	// them: owners' two included.
	heads []uint16
}

// ownerMeetings is how many meetings it counts for to have the same owner.
const ownerMeetings = 2

func (f Field) problem() (*problem, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	p := &problem{
		bots:  slices.Clone(f.Bots),
		sizes: Sizes(len(f.Bots), f.Seats),
		rand:  random{rand.NewChaCha8(sha256.Sum256(f.Seed))},
	}
	slices.SortFunc(p.bots, func(a, b Bot) int { return cmp.Compare(a.Name, b.Name) })
	shuffle(p.rand, p.bots)
	slices.SortStableFunc(p.bots, func(a, b Bot) int { return cmp.Compare(b.Score, a.Score) })

	least := p.bots[len(p.bots)-1].Score
	for _, b := range p.bots {
		p.score = append(p.score, uint64(b.Score)-uint64(least))
	}
	return p, p.meet(f.Met)
}

// check refuses a field that makes no sense, naming the field and the index.
func (f Field) check() error {
	if f.Seats < MinSeats || f.Seats > MaxSeats {
		return fmt.Errorf("seats: %d is not %d..%d", f.Seats, MinSeats, MaxSeats)
	}
	if len(f.Bots) < MinSeats {
		return fmt.Errorf("bots: %w: %d, a table needs %d", ErrTooFew, len(f.Bots), MinSeats)
	}
	if len(f.Bots) > MaxBots {
		return fmt.Errorf("bots: %d are more than %d", len(f.Bots), MaxBots)
	}
	seen := make(map[string]bool, len(f.Bots))
	for i, b := range f.Bots {
		switch {
		case b.Name == "":
			return fmt.Errorf("bots[%d].name: empty", i)
		case seen[b.Name]:
			return fmt.Errorf("bots[%d].name: %q is there twice", i, b.Name)
		case b.Short < 0 || b.Short > MaxShort:
			return fmt.Errorf("bots[%d].short: %d is not 0..%d", i, b.Short, MaxShort)
		}
		seen[b.Name] = true
	}
	for i, table := range f.Met {
		seen := make(map[string]bool, len(table))
		for j, name := range table {
			switch {
			case name == "":
				return fmt.Errorf("met[%d][%d]: empty name", i, j)
			case seen[name]:
				return fmt.Errorf("met[%d][%d]: %q sits there twice", i, j, name)
			}
			seen[name] = true
		}
	}
	return nil
}

// meet counts the meetings of the past.
func (p *problem) meet(met [][]string) error {
	n := len(p.bots)
	number := make(map[string]int, n)
	for i, b := range p.bots {
		number[b.Name] = i
	}
	p.heads = make([]uint16, n*n)
	var present []int
	for i, table := range met {
		present = present[:0]
		for _, name := range table {
			if b, here := number[name]; here {
				present = append(present, b)
			}
		}
		for j, a := range present {
			for _, b := range present[j+1:] {
				p.heads[a*n+b]++
				p.heads[b*n+a]++
				if p.heads[a*n+b] > MaxMeetings {
					return fmt.Errorf("met[%d]: %q and %q meet more than %d times", i, p.bots[a].Name, p.bots[b].Name, MaxMeetings)
				}
			}
		}
	}
	owned := map[string][]int{}
	for a, bot := range p.bots {
		if bot.Owner == "" {
			continue
		}
		for _, b := range owned[bot.Owner] {
			p.heads[a*n+b] += ownerMeetings
			p.heads[b*n+a] += ownerMeetings
		}
		owned[bot.Owner] = append(owned[bot.Owner], a)
	}
	return nil
}

// met is how often a and b have truly met.
func (p *problem) met(a, b int) int {
	c := int(p.heads[a*len(p.bots)+b])
	if p.sameOwner(a, b) {
		c -= ownerMeetings
	}
	return c
}

func (p *problem) sameOwner(a, b int) bool {
	return p.bots[a].Owner != "" && p.bots[a].Owner == p.bots[b].Owner
}

// meeting is what it costs that a and b meet.
func (p *problem) meeting(a, b int) int64 {
	return price(p.heads[a*len(p.bots)+b])
}

// price is what one more meeting costs after some.
func price(meetings uint16) int64 {
	c := int64(meetings)
	return c * (c + 1)
}

// apart is the difference of two bots' scores.
func (p *problem) apart(a, b int) uint64 {
	return max(p.score[a], p.score[b]) - min(p.score[a], p.score[b])
}

// small says whether a table of this size is the smaller of two sizes.
func (p *problem) small(size int) bool { return size < p.sizes[0] }

// sums are what a pairing is judged by, in this order.
type sums struct {
	cost, shares int64
	spread       wide
}

func (x sums) plus(y sums) sums {
	return sums{x.cost + y.cost, x.shares + y.shares, x.spread.plus(y.spread)}
}

func (x sums) less(y sums) bool {
	if x.cost != y.cost {
		return x.cost < y.cost
	}
	if x.shares != y.shares {
		return x.shares < y.shares
	}
	return x.spread.minus(y.spread).sign() < 0
}

// weigh is what one table adds to the sums.
func (p *problem) weigh(table []int) sums {
	var w sums
	for i, a := range table {
		if p.small(len(table)) {
			w.shares += int64(p.bots[a].Short)
		}
		for _, b := range table[i+1:] {
			w.cost += p.meeting(a, b)
			w.spread = w.spread.plus(square(p.apart(a, b)))
		}
	}
	return w
}

// index turns names into numbers.
func (p *problem) index(tables [][]string) ([][]int, error) {
	number := make(map[string]int, len(p.bots))
	for i, b := range p.bots {
		number[b.Name] = i
	}
	var indexed [][]int
	for i, names := range tables {
		var table []int
		for j, name := range names {
			b, free := number[name]
			if !free {
				return nil, fmt.Errorf("tables[%d][%d]: %q is no bot of the field, or sits twice", i, j, name)
			}
			delete(number, name)
			table = append(table, b)
		}
		indexed = append(indexed, table)
	}
	for _, b := range p.bots {
		if _, left := number[b.Name]; left {
			return nil, fmt.Errorf("tables: %q sits nowhere", b.Name)
		}
	}
	return indexed, nil
}

// pairing puts tables in order, for people and for machines alike, and says
// what they come to.
func (p *problem) pairing(tables [][]int) Pairing {
	var total sums
	var result Pairing
	for _, table := range tables {
		total = total.plus(p.weigh(table))
		for i, a := range table {
			for _, b := range table[i+1:] {
				if p.met(a, b) > 0 {
					result.Repeats++
				}
			}
		}
		slices.SortFunc(table, p.byStrength)
	}
	slices.SortFunc(tables, func(t, u []int) int {
		// Means compare as cross products: sum(t)/len(t) against sum(u)/len(u).
		if c := p.sum(u).times(len(t)).minus(p.sum(t).times(len(u))).sign(); c != 0 {
			return c
		}
		return slices.CompareFunc(t, u, func(a, b int) int { return cmp.Compare(p.bots[a].Name, p.bots[b].Name) })
	})
	for _, table := range tables {
		names := make([]string, len(table))
		for i, b := range table {
			names[i] = p.bots[b].Name
		}
		result.Tables = append(result.Tables, names)
	}
	result.Cost, result.Shares, result.Spread = total.cost, total.shares, total.spread.big()
	return result
}

func (p *problem) byStrength(a, b int) int {
	return cmp.Or(cmp.Compare(p.score[b], p.score[a]), cmp.Compare(p.bots[a].Name, p.bots[b].Name))
}

func (p *problem) sum(table []int) wide {
	var sum wide
	for _, b := range table {
		sum = sum.plus(wide{lo: p.score[b]})
	}
	return sum
}

// random draws from a generator whose output is fixed by its specification
// (C2SP chacha8rand), by a method fixed here, so that old pairings can be
// computed again under any version of Go.
type random struct{ *rand.ChaCha8 }

// below draws from 0..n-1; the bias, below n/2^64, does not matter.
func (r random) below(n int) int {
	hi, _ := bits.Mul64(r.Uint64(), uint64(n))
	return int(hi)
}

func shuffle[T any](r random, s []T) {
	for i := len(s) - 1; i > 0; i-- {
		j := r.below(i + 1)
		s[i], s[j] = s[j], s[i]
	}
}
