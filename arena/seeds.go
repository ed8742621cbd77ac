package arena

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"strconv"
)

// newSecret is 32 random bytes, or what a seed makes of itself.
func newSecret(seed *uint64) (secret [32]byte) {
	if seed != nil {
		return sha256.Sum256([]byte("flip7/seed/" + strconv.FormatUint(*seed, 10)))
	}
	_, _ = rand.Read(secret[:]) // never fails
	return secret
}

// Commitment is SHA-256 of the secret: public from the time the tournament opens, so that the organiser cannot change the
// deals when the field is known.
func (t *Tournament) Commitment() [32]byte { return sha256.Sum256(t.Secret[:]) }

// GameSeed is HMAC-SHA256(secret, "flip7/game/<pairing round>/<table>/<game>/<attempt>" | the 32 bytes that each entrant
// brought before the start, in order of entry), numbers decimal from 1. Those who entered later add nothing, and in a
// predictable tournament nobody does.
func (t *Tournament) GameSeed(round, table, number, attempt int) (seed [32]byte) {
	mac := hmac.New(sha256.New, t.Secret[:])
	fmt.Fprintf(mac, "flip7/game/%d/%d/%d/%d", round, table, number, attempt)
	if !t.Settings.Predictable() {
		for _, e := range t.Entries {
			if e.From <= 1 && !e.FillIn {
				mac.Write(e.Contribution[:])
			}
		}
	}
	mac.Sum(seed[:0])
	return seed
}

// pairSeed decides what a pairing round's pairing leaves to chance.
func (t *Tournament) pairSeed(round int) []byte {
	return t.derive("flip7/pair/" + strconv.Itoa(round))
}

// orderSeed decides in which order the bots of a table sit down for a rotation.
func (t *Tournament) orderSeed(round, table, rotation int) []byte {
	return t.derive(fmt.Sprintf("flip7/order/%d/%d/%d", round, table, rotation))
}

func (t *Tournament) derive(purpose string) []byte {
	mac := hmac.New(sha256.New, t.Secret[:])
	mac.Write([]byte(purpose))
	return mac.Sum(nil)
}

// houseSeed is what a house bot draws its chance from: of the game, but not the deal itself.
func houseSeed(seed [32]byte) uint64 {
	sum := sha256.Sum256(append([]byte("flip7/house/"), seed[:]...))
	var word uint64
	for _, b := range sum[:8] {
		word = word<<8 | uint64(b)
	}
	return word
}
