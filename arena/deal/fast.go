package deal

import (
	"math/bits"
	"math/rand/v2"

	"github.com/flip7-arena/flip7/arena/game"
)

// Fast deals by the rule of Keyed, the first copy named that is still in the pile, from a PCG stream instead of a hash,
// and counts off the last few cards of a pile. It is for roll-outs and local matches; a stranger who sees enough cards
// can compute the rest. It has memory, so games that share one depend on the order in which they draw.
type Fast struct{ pcg rand.PCG }

// NewFast is the deal of a seed of two words.
func NewFast(seed1, seed2 uint64) *Fast {
	var f Fast
	f.Seed(seed1, seed2)
	return &f
}

// Seed begins the deal of another seed.
func (f *Fast) Seed(seed1, seed2 uint64) { f.pcg.Seed(seed1, seed2) }

// few is how many cards are counted off: most names would be of cards that are gone.
const few = 8

// Draw implements game.Deal; it never fails.
func (f *Fast) Draw(d game.Draw) (game.Copy, error) {
	pile := d.Pile
	if left := pile.Left(); left <= few {
		nth, _ := bits.Mul64(f.pcg.Uint64(), uint64(left))
		c, _ := pile.First(0)
		for range nth {
			c, _ = pile.First(c + 1)
		}
		return c, nil
	}
	n := uint64(pile.Size())
	for {
		// A word is a fraction of 64 bits; times n, its whole part is a name and its fraction the next word. A name
		// takes under 11 bits, so after the fourth the chances are still even but for one part in two million.
		word := f.pcg.Uint64()
		for range 4 {
			var name uint64
			name, word = bits.Mul64(word, n)
			if c := game.Copy(name); pile.Has(c) {
				return c, nil
			}
		}
	}
}
