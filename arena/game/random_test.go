package game_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// randomSetup is a table of so many seats under options drawn by chance, with the cards of a fast deal. Some start close
// to the target, so that ties and last rounds are common.
func randomSetup(seats int, r *rand.Rand) game.Setup {
	rules := game.DefaultRules(seats)
	rules.TieBreak = game.TieBreak(r.IntN(3))
	rules.BustedAssigns = r.IntN(2) == 0
	rules.Deal = game.Dealing(r.IntN(2))
	rules.TargetScore = 1 + r.IntN(200)
	rules.MaxRounds = 1 + r.IntN(12)
	if r.IntN(3) == 0 {
		rules.Decks = 1 + r.IntN(3)
	}
	setup := game.Setup{Seats: seats, Rules: rules, Dealer: game.Seat(r.IntN(seats)), Deal: deal.NewFast(r.Uint64(), r.Uint64())}
	if r.IntN(3) == 0 {
		setup.Totals = make([]int, seats)
		for i := range setup.Totals {
			setup.Totals[i] = r.IntN(rules.TargetScore)
		}
	}
	return setup
}

// randomDecision answers a request: targets evenly, hits with a chance in percent.
func randomDecision(request game.Request, hits int, r *rand.Rand) game.Decision {
	if request.Kind == game.Turn {
		if r.IntN(100) < hits {
			return game.Hit
		}
		return game.Stay
	}
	n := r.IntN(request.Targets.Len())
	for seat := range request.Targets.All() {
		if n == 0 {
			return game.Give(seat)
		}
		n--
	}
	panic("unreachable")
}

// everyTable runs a check for every seat count with its own chance. A failure names what reruns it.
func everyTable(t *testing.T, games int, check func(t *testing.T, setup game.Setup, hits int, r *rand.Rand)) {
	for seats := game.MinSeats; seats <= game.MaxSeats; seats++ {
		for g := range games {
			r := rand.New(rand.NewPCG(uint64(seats), uint64(g)))
			setup := randomSetup(seats, r)
			hits := []int{50, 75, 90, 100}[g%4]
			if !t.Run(fmt.Sprintf("%d seats, game %d", seats, g), func(t *testing.T) { check(t, setup, hits, r) }) {
				return
			}
		}
	}
}

// kinds is a deal that names kinds of cards, whatever copies there are, and writes down what it deals from another.
type kinds struct {
	from  game.Deal
	cards []game.Card
	next  int
}

func (k *kinds) Draw(d game.Draw) (game.Copy, error) {
	if k.from != nil {
		c, err := k.from.Draw(d)
		k.cards = append(k.cards, d.Pile.Card(c))
		return c, err
	}
	card := k.cards[k.next]
	k.next++
	for c := range d.Pile.All() {
		if d.Pile.Card(c) == card {
			return c, nil
		}
	}
	return 0, fmt.Errorf("no %v in the pile", card)
}
