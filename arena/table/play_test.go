package table_test

import (
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// stay stays once it has so many points at stake, and gives cards to the first legal seat.
type stay int

func (n stay) Decide(v game.View, _ uint64) game.Decision {
	r := v.Request()
	if r.Kind != game.Turn {
		return game.Give(r.Targets.After(-1))
	}
	if v.Points(v.Me) >= int(n) {
		return game.Stay
	}
	return game.Hit
}

func noChance(int) uint64 { return 0 }

// houseGame is a game of house players.
func houseGame(seats int, seed byte) table.Setup {
	s := table.Setup{
		Info: table.Info{Rules: game.DefaultRules(seats), Dealer: game.Seat(seats - 1), Timeout: time.Second, Bank: 10 * time.Second},
		Seed: [32]byte{seed},
	}
	s.Deal = deal.NewKeyed(s.Seed)
	for seat := range seats {
		s.Players = append(s.Players, table.House(stay(15+5*(seat%4)), noChance))
	}
	return s
}

func TestRecordReplays(t *testing.T) {
	for seats := game.MinSeats; seats <= game.MaxSeats; seats++ {
		s := houseGame(seats, byte(seats))
		out, err := table.Play(t.Context(), s)
		if err != nil {
			t.Fatalf("%d seats: %v", seats, err)
		}
		if _, err := out.Record.Replay(s.Deal, nil); err != nil {
			t.Errorf("%d seats: %v", seats, err)
		}
	}
}
