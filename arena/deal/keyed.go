// Package deal is where cards come from: keyed deals that anybody can check, listed ones for scenarios, fast ones for
// roll-outs. It knows which copies a pile holds and who draws, and nothing of the rules.
package deal

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/flip7-arena/flip7/arena/game"
)

// Keyed deals what a 32-byte game seed says. A draw hashes
//
//	SHA-256(seed | round u32 | seat u16 | nth u16 | block u32)
//
// big-endian, round from 1 and the others from 0, reads the hash as sixteen big-endian uint16 values, skips those that
// would favour low copies, takes each modulo the number of copies N, and deals the first copy that is still in the draw
// pile; the block counts up when a hash is used up. Every draw is uniform over what is left, which is the law of a
// shuffled deck, reshuffles included; and the same seat gets the same card in two games on one seed unless that card is
// gone.
type Keyed struct{ seed [32]byte }

// NewKeyed is the deal of a game seed.
func NewKeyed(seed [32]byte) *Keyed { return &Keyed{seed: seed} }

// Seed begins the deal of another game seed.
func (k *Keyed) Seed(seed [32]byte) { k.seed = seed }

// Draw implements game.Deal; it never fails.
func (k *Keyed) Draw(d game.Draw) (game.Copy, error) {
	n := uint32(d.Pile.Size())
	fair := 65536 - 65536%n // values from here on would make low copies more likely
	var block [44]byte
	copy(block[:], k.seed[:])
	binary.BigEndian.PutUint32(block[32:], uint32(d.Round))
	binary.BigEndian.PutUint16(block[36:], uint16(d.Seat))
	binary.BigEndian.PutUint16(block[38:], uint16(d.Nth))
	for b := uint32(0); ; b++ {
		binary.BigEndian.PutUint32(block[40:], b)
		hash := sha256.Sum256(block[:])
		for i := 0; i < len(hash); i += 2 {
			v := uint32(binary.BigEndian.Uint16(hash[i:]))
			if v >= fair {
				continue
			}
			if c := game.Copy(v % n); d.Pile.Has(c) {
				return c, nil
			}
		}
	}
}
