package arena

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// Aim is how often a bot gave a card to another one, beside what would be expected of an average bot in its place. It
// is reported and not judged: bots that work together stand out here, but so does one that reads the table better.
type Aim struct {
	Bot, Target int       // numbers of the entries
	Card        game.Card // game.Freeze or game.Flip3
	Chances     int       // choices in which the target could be given the card
	Times       int       // times it was
	Expected    float64   // times it would have been, had the bot done as the others at the table did
	Error       float64   // standard error of Times - Expected if it had
}

// Striking is by how many standard errors the bot aimed at the target more often than expected.
func (a Aim) Striking() float64 { return (float64(a.Times) - a.Expected) / a.Error }

// Luck is the probability that a bot which did as the others did would have aimed at the target as often as this one or
// more often: that of the beta-binomial distribution with the mean and the variance expected. Where there were few choices
// the normal one would find much striking that is not.
func (a Aim) Luck() float64 {
	n := float64(a.Chances)
	p := a.Expected / n
	alike := 1e-6 // how much more alike than independent ones the choices are: since p itself is known from few choices
	if a.Chances > 1 {
		alike = min(max((a.Error*a.Error/(n*p*(1-p))-1)/(n-1), alike), 0.999)
	}
	weight := 1/alike - 1
	sum := 0.0
	for k := a.Times; k <= a.Chances; k++ {
		sum += math.Exp(logChoose(a.Chances, k) + logBeta(float64(k)+p*weight, float64(a.Chances-k)+(1-p)*weight) - logBeta(p*weight, (1-p)*weight))
	}
	return min(sum, 1)
}

func logBeta(a, b float64) float64 { return logGamma(a) + logGamma(b) - logGamma(a+b) }

func logChoose(n, k int) float64 {
	return -math.Log1p(float64(n)) - logBeta(float64(k+1), float64(n-k+1))
}

func logGamma(x float64) float64 { g, _ := math.Lgamma(x); return g }

// Aims adds up, table by table, who aimed at whom. Only decisions count that bots made themselves. The zero value is
// ready for use.
type Aims struct{ pairs map[pairAim]*aimSum }

// pairAim is whom a card was aimed by and at.
type pairAim struct {
	bot, target int
	card        game.Card
}

// aimSum adds up exactly: an export has the same bytes on every machine.
type aimSum struct {
	chances, times     int
	expected, variance big.Rat
}

// aimCards are the cards that are aimed (a spare Second Chance is a present, R11).
var aimCards = [...]game.Card{game.Freeze, game.Flip3}

// Add takes the games of a table. What a bot is expected to do with a card that it could give to a target is what the
// others at the table, but for the target itself, did when they could: times / chances, with one more choice at even
// odds on top, so that a table at which nobody else had the choice says something too. Its error is that of both counts.
func (a *Aims) Add(games []Played) error {
	var choices tableChoices
	for _, g := range games {
		watcher := &aimWatcher{choices: &choices, game: g}
		if _, err := g.Record.Replay(deal.NewKeyed(g.Record.Seed), watcher); err != nil {
			return fmt.Errorf("game %d: %w", g.Game.Number, err)
		}
	}
	if a.pairs == nil {
		a.pairs = map[pairAim]*aimSum{}
	}
	bots := choices.bots
	for i, bot := range bots {
		for j, target := range bots {
			for k, card := range aimCards {
				own := choices.at(i, j, k)
				if i == j || own.chances == 0 {
					continue
				}
				var others choice
				for other := range bots {
					if other != i && other != j {
						others.add(choices.at(other, j, k))
					}
				}
				key := pairAim{bot, target, card}
				if a.pairs[key] == nil {
					a.pairs[key] = new(aimSum)
				}
				a.pairs[key].add(own, others)
			}
		}
	}
	return nil
}

// choice sums up choices in which one bot could aim at another.
type choice struct {
	chances, times int
	among          [game.MaxSeats + 1]int // choices by the number of legal targets
}

func (c *choice) add(more choice) {
	c.chances += more.chances
	c.times += more.times
}

// even is how many times the target would have been aimed at if the odds had been even.
func (c *choice) even() *big.Rat {
	sum := new(big.Rat)
	for targets, choices := range c.among {
		if choices > 0 {
			sum.Add(sum, big.NewRat(int64(choices), int64(targets)))
		}
	}
	return sum
}

func (s *aimSum) add(own, others choice) {
	n, m, one := big.NewRat(int64(own.chances), 1), big.NewRat(int64(others.chances)+1, 1), big.NewRat(1, 1)
	p := new(big.Rat).Quo(own.even(), n)
	p.Add(p, big.NewRat(int64(others.times), 1))
	p.Quo(p, m)
	expected := new(big.Rat).Mul(n, p)
	variance := new(big.Rat).Sub(one, p)
	variance.Mul(variance, expected)
	variance.Mul(variance, n.Add(one, n.Quo(n, m)))
	s.chances += own.chances
	s.times += own.times
	s.expected.Add(&s.expected, expected)
	s.variance.Add(&s.variance, variance)
}

// List is all that has been counted, the most striking first.
func (a *Aims) List() []Aim {
	list := make([]Aim, 0, len(a.pairs))
	for key, sum := range a.pairs {
		expected, _ := sum.expected.Float64()
		variance, _ := sum.variance.Float64()
		list = append(list, Aim{Bot: key.bot, Target: key.target, Card: key.card, Chances: sum.chances, Times: sum.times,
			Expected: expected, Error: math.Sqrt(variance)})
	}
	slices.SortFunc(list, func(a, b Aim) int {
		return cmp.Or(cmp.Compare(b.Striking(), a.Striking()), cmp.Compare(a.Bot, b.Bot), cmp.Compare(a.Target, b.Target), cmp.Compare(a.Card, b.Card))
	})
	return list
}

// lines are all that has been counted, in order of bots, targets and cards.
func (a *Aims) lines() []aimLine {
	keys := slices.SortedFunc(maps.Keys(a.pairs), func(a, b pairAim) int {
		return cmp.Or(cmp.Compare(a.bot, b.bot), cmp.Compare(a.target, b.target), cmp.Compare(a.card, b.card))
	})
	lines := make([]aimLine, len(keys))
	for i, key := range keys {
		sum := a.pairs[key]
		lines[i] = aimLine{Line: "aim", Bot: key.bot, Target: key.target, Card: key.card.String(), Chances: sum.chances, Times: sum.times,
			Expected: sum.expected.FloatString(3), Error: root(&sum.variance).FloatString(3)}
	}
	return lines
}

// root is the square root of a fraction to the nearest thousandth.
func root(square *big.Rat) *big.Rat {
	halves := new(big.Int).Mul(square.Num(), big.NewInt(2000*2000))
	halves.Sqrt(halves.Quo(halves, square.Denom())) // of thousandths, rounded down
	nearest := halves.Rsh(halves.Add(halves, big.NewInt(1)), 1)
	return new(big.Rat).SetFrac(nearest, big.NewInt(1000))
}

// aimCounter counts the aims of a tournament, whose games come in order: those at tables that were played to their end.
type aimCounter struct {
	aims  Aims
	table tableKey
	games []Played // of that table
}

// game counts a game.
func (c *aimCounter) game(t *Tournament, id GameID, p Played) error {
	if of := (tableKey{id.Round, id.Table}); of != c.table {
		if err := c.end(); err != nil {
			return err
		}
		c.table = of
	}
	if t.Rounds[id.Round-1].Tables[id.Table-1].State == Complete {
		c.games = append(c.games, p)
	}
	return nil
}

// end counts what has come last.
func (c *aimCounter) end() error {
	if err := c.aims.Add(c.games); err != nil {
		return fmt.Errorf("aims at table %d of pairing round %d: %w", c.table.table, c.table.round, err)
	}
	c.games = c.games[:0]
	return nil
}

// tableChoices are the choices at one table: by giver, target and card, bots in the order in which they were first seen.
type tableChoices struct {
	bots    []int
	choices [][]([len(aimCards)]choice) // by giver and target
}

// index is the place of a bot in the lists.
func (t *tableChoices) index(bot int) int {
	at := slices.Index(t.bots, bot)
	if at < 0 {
		at = len(t.bots)
		t.bots = append(t.bots, bot)
		for i := range t.choices {
			t.choices[i] = append(t.choices[i], [len(aimCards)]choice{})
		}
		t.choices = append(t.choices, make([][len(aimCards)]choice, len(t.bots)))
	}
	return at
}

func (t *tableChoices) at(bot, target, card int) choice { return t.choices[bot][target][card] }

// aimWatcher counts the choices of a game that is replayed.
type aimWatcher struct {
	choices *tableChoices
	game    Played
	next    int // move
}

// Observe implements game.Observer.
func (w *aimWatcher) Observe(s *game.State, e game.Event) {
	if e.Kind != game.Decided {
		return
	}
	move := w.game.Record.Moves[w.next]
	w.next++
	card, asked := e.Asked.Card()
	kind := slices.Index(aimCards[:], card)
	if !asked || kind < 0 || move.Cause.Fault() {
		return
	}
	giver := w.choices.index(w.game.Game.Seats[e.Seat])
	given, _ := move.Decision.Target()
	legal := s.View(e.Seat).Active() // R12
	for seat := range legal.All() {
		target := w.choices.index(w.game.Game.Seats[seat])
		one := &w.choices.choices[giver][target][kind]
		one.chances++
		one.among[legal.Len()]++
		if seat == given {
			one.times++
		}
	}
}
