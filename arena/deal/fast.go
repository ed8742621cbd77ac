package deal

import (
	"math/bits"
	"math/rand/v2"

	"github.com/flip7-arena/flip7/arena/game"
)

// Fast deals by the rule of Keyed, the first copy named that is still in the pile, from a PCG stream instead of a hash.
// It is for roll-outs and local matches; a stranger who sees enough cards can compute the rest. It has memory, so games
// that share one depend on the order in which they draw.
type Fast struct{ pcg rand.PCG }

// NewFast is the deal of a seed of two words.
func NewFast(seed1, seed2 uint64) *Fast {
	var f Fast
	f.Seed(seed1, seed2)
	return &f
}

// Seed begins the deal of another seed.
func (f *Fast) Seed(seed1, seed2 uint64) { f.pcg.Seed(seed1, seed2) }

// Draw implements game.Deal; it never fails.
func (f *Fast) Draw(d game.Draw) (game.Copy, error) {
	n := uint32(d.Pile.Size())
	for {
		word := f.pcg.Uint64()
		// Two tries a word. The high part of a 32-bit value times n is uniform but for a share of n/2^32, under one
		// in two million.
		for range 2 {
			high, _ := bits.Mul32(uint32(word), n)
			if c := game.Copy(high); d.Pile.Has(c) {
				return c, nil
			}
			word >>= 32
		}
	}
}
