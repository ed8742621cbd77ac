package deal_test

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// seeded is a 32-byte seed made from a number.
func seeded(n uint64) (seed [32]byte) {
	binary.BigEndian.PutUint64(seed[:], n)
	return seed
}

// TestEveryDrawIsUniformOverWhatIsLeft: a shuffled deck is one of which every next card is each of those left with equal
// chance, whatever has gone. So among the draws from piles of each size every rank in the pile must be as common as every
// other, and tell nothing of the ranks to come. The piles are those of seats that take cards in turn; what lies on the
// table stays there when the discards are shuffled.
func TestEveryDrawIsUniformOverWhatIsLeft(t *testing.T) {
	keyed := func(n uint64) game.Deal { return deal.NewKeyed(seeded(n)) }
	fast := func(n uint64) game.Deal { return deal.NewFast(n, 0) }
	for _, c := range []struct {
		name  string
		from  func(n uint64) game.Deal
		decks int
		draws int
	}{
		{"keyed", keyed, 1, 1_000_000},
		{"keyed, two decks", keyed, 2, 250_000},
		{"fast", fast, 1, 1_000_000},
		{"fast, two decks", fast, 2, 250_000},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() {
				c.draws /= 10
			}
			size := c.decks * game.DeckSize
			ranks := make([][]int, size+1) // by cards left, then by rank in the pile
			for left := range ranks {
				ranks[left] = make([]int, left)
			}
			const seats = 4
			var before [seats]float64 // the last ranks, -1/2 for the lowest in the pile to 1/2
			var together [seats]float64
			reshuffles, drawn := 0, 0
			for n := uint64(0); drawn < c.draws; n++ {
				from, pile := c.from(n), game.NewPack(c.decks)
				for round := 1; round <= 3; round++ {
					discard := game.NewPack(c.decks) // all that does not lie on the table
					for turn := range size - 10 {
						if pile.Left() == 0 {
							pile = discard
							reshuffles++
						}
						copied := draw(t, from, game.Draw{Pile: &pile, Round: round, Seat: game.Seat(turn % seats), Nth: turn / seats})
						rank := 0
						for c := range pile.All() {
							if c == copied {
								break
							}
							rank++
						}
						ranks[pile.Left()][rank]++
						centred := (float64(rank)+0.5)/float64(pile.Left()) - 0.5
						for lag := range seats {
							together[lag] += centred * before[(drawn+seats-1-lag)%seats]
						}
						before[drawn%seats] = centred
						pile.Remove(copied)
						discard.Remove(copied)
						drawn++
					}
				}
			}
			if reshuffles == 0 {
				t.Fatal("nothing was reshuffled")
			}
			chi2, freedom := 0.0, 0.0
			for left := 2; left <= size; left++ {
				want := 0.0
				for _, n := range ranks[left] {
					want += float64(n) / float64(left)
				}
				for _, n := range ranks[left] {
					chi2 += (float64(n) - want) * (float64(n) - want) / want
				}
				freedom += float64(left - 1)
			}
			// For so many degrees of freedom chi-squared is close to normal.
			if sigmas := (chi2 - freedom) / math.Sqrt(2*freedom); math.Abs(sigmas) > 4 {
				t.Errorf("chi-squared %.0f with %.0f degrees of freedom, %.1f sigma", chi2, freedom, sigmas)
			}
			for lag, sum := range together { // of products of variance 1/144
				if sigmas := sum * 12 / math.Sqrt(float64(drawn)); math.Abs(sigmas) > 4 {
					t.Errorf("a draw and the one %d later: %.1f sigma from independent", lag+1, sigmas)
				}
			}
		})
	}
}
