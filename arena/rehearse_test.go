package arena_test

import (
	"testing"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/swiss"
)

// TestNoTableOutlastsANight holds the latest end of nights against the tables that they may come to, whoever is away.
func TestNoTableOutlastsANight(t *testing.T) {
	latest := func(bots, seats int) int64 {
		return int64(arena.Estimate(arena.Settings{Rounds: 1, Seats: seats}, bots).Latest)
	}
	ofOneTable := map[int]int64{}
	for size := swiss.MinSeats; size <= swiss.MaxSeats; size++ {
		ofOneTable[size] = latest(size, size)
	}
	for seats := swiss.MinSeats; seats <= swiss.MaxSeats; seats++ {
		for bots := swiss.MinSeats; bots <= 4*swiss.MaxSeats; bots++ {
			got, reached := latest(bots, seats), false
			for present := swiss.MinSeats; present <= bots; present++ {
				for _, size := range swiss.Sizes(present, seats) {
					if got < ofOneTable[size] {
						t.Fatalf("%d bots at tables of %d: a night ends after %d, a table of %d that %d bots come to after %d", bots, seats, got, size, present, ofOneTable[size])
					}
					reached = reached || got == ofOneTable[size]
				}
			}
			if !reached {
				t.Errorf("%d bots at tables of %d: a night ends after %d, and no table can take so long", bots, seats, got)
			}
		}
	}
}
