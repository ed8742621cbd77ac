package deal_test

import (
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

func stay25(s *game.State) game.Decision {
	r := s.Request()
	v := s.View(r.Seat)
	switch r.Kind {
	case game.Turn:
		if v.Points(r.Seat) >= 25 {
			return game.Stay
		}
		return game.Hit
	case game.GiveSecond:
		best := game.Seat(-1)
		for t := r.Targets; t != 0; t &= t - 1 {
			at := t.After(-1)
			if best < 0 || v.Total(at)+v.Points(at) < v.Total(best)+v.Points(best) {
				best = at
			}
		}
		return game.Give(best)
	}
	best := game.Seat(-1)
	for t := r.Targets; t != 0; t &= t - 1 {
		at := t.After(-1)
		if at != r.Seat && (best < 0 || v.Total(at)+v.Points(at) > v.Total(best)+v.Points(best)) {
			best = at
		}
	}
	return game.Give(best)
}

func BenchmarkFast(b *testing.B) {
	f := deal.NewFast(1, 2)
	var s game.State
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Reset(game.Setup{Seats: 4, Rules: game.DefaultRules(4), Dealer: 3, Deal: f}); err != nil {
			b.Fatal(err)
		}
		for !s.Over() {
			if err := s.Apply(stay25(&s)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
func BenchmarkKeyed(b *testing.B) {
	var s game.State
	b.ReportAllocs()
	n := byte(0)
	for b.Loop() {
		n++
		f := deal.NewKeyed([32]byte{n, 1})
		if err := s.Reset(game.Setup{Seats: 4, Rules: game.DefaultRules(4), Dealer: 3, Deal: f}); err != nil {
			b.Fatal(err)
		}
		for !s.Over() {
			if err := s.Apply(stay25(&s)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
