package deal_test

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// stay25 plays as the house bot of that name: it stays with 25 points or more, aims Freeze and Flip Three at the other
// seat with most total + points, and gives a spare Second Chance to the seat with the least total.
func stay25(s *game.State) game.Decision {
	r := s.Request()
	v := s.View(r.Seat)
	if r.Kind == game.Turn {
		if v.Points(r.Seat) >= 25 {
			return game.Stay
		}
		return game.Hit
	}
	best, most := game.Seat(-1), -1<<30
	for t := r.Targets; t != 0; t &= t - 1 {
		at := game.Seat(bits.TrailingZeros64(uint64(t)))
		worth := -v.Total(at)
		if r.Kind != game.GiveSecond {
			worth = v.Total(at) + v.Points(at)
			if at == r.Seat {
				continue
			}
		}
		if worth > most {
			best, most = at, worth
		}
	}
	return game.Give(best)
}

// playStay25 plays a game of four seats of stay-25 in place, and counts its decisions.
func playStay25(tb testing.TB, s *game.State, d game.Deal) (decisions int) {
	if err := s.Reset(game.Setup{Seats: 4, Rules: game.DefaultRules(4), Dealer: 3, Deal: d}); err != nil {
		tb.Fatal(err)
	}
	for ; !s.Over(); decisions++ {
		if err := s.Apply(stay25(s)); err != nil {
			tb.Fatal(err)
		}
	}
	return decisions
}

// BenchmarkGames plays games of four seats of stay-25 on one core through the engine, beside the bare loop that is the
// ceiling.
func BenchmarkGames(b *testing.B) {
	var ceiling float64 // games a second of the bare loop
	measure := func(name string, play func() (decisions int)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			games, decisions := 0, 0
			for b.Loop() {
				decisions += play()
				games++
			}
			seconds := b.Elapsed().Seconds()
			rate := float64(games) / seconds
			if name == "bare" {
				ceiling = rate
			}
			b.ReportMetric(rate, "games/s")
			b.ReportMetric(seconds*1e9/float64(decisions), "ns/decision")
			if ceiling > 0 {
				b.ReportMetric(rate/ceiling, "of-bare")
			}
		})
	}
	loop := bare{pcg: rand.NewPCG(1, 2)}
	measure("bare", func() int {
		before := loop.turns + loop.targets
		loop.play()
		return loop.turns + loop.targets - before
	})
	var s game.State
	fast := deal.NewFast(1, 2)
	measure("fast", func() int { return playStay25(b, &s, fast) })
	var seed [32]byte
	keyed := deal.NewKeyed(seed)
	measure("keyed", func() int {
		binary.BigEndian.PutUint64(seed[:], binary.BigEndian.Uint64(seed[:])+1)
		keyed.Seed(seed)
		return playStay25(b, &s, keyed)
	})
}
