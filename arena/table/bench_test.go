package table_test

import (
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// BenchmarkPlay is a game of four house players at a table; BenchmarkEngine is the same game on the rules alone.
func BenchmarkPlay(b *testing.B) {
	s := houseGame(4, 1)
	fast := deal.NewFast(0, 1)
	s.Deal = fast
	b.ReportAllocs()
	decisions, seed := 0, uint64(0)
	for b.Loop() {
		seed++
		fast.Seed(seed, 1)
		out, err := table.Play(b.Context(), s)
		if err != nil {
			b.Fatal(err)
		}
		decisions += len(out.Record.Moves)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(decisions), "ns/decision")
}

func BenchmarkEngine(b *testing.B) {
	fast := deal.NewFast(0, 1)
	setup := game.Setup{Seats: 4, Rules: game.DefaultRules(4), Dealer: 3, Deal: fast}
	var s game.State
	b.ReportAllocs()
	decisions, seed := 0, uint64(0)
	for b.Loop() {
		seed++
		fast.Seed(seed, 1)
		if err := s.Reset(setup); err != nil {
			b.Fatal(err)
		}
		for !s.Over() {
			seat := s.Request().Seat
			if err := s.Apply(stay(15+5*int(seat)).Decide(s.View(seat), 0)); err != nil {
				b.Fatal(err)
			}
			decisions++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(decisions), "ns/decision")
}
