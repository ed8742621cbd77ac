package deal_test

import (
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

func TestADecisionAllocatesNothing(t *testing.T) {
	for _, c := range []struct {
		name string
		deal game.Deal
	}{{"fast", deal.NewFast(1, 2)}, {"keyed", deal.NewKeyed([32]byte{1})}} {
		t.Run(c.name, func(t *testing.T) {
			var s game.State
			decisions := 0
			allocs := testing.AllocsPerRun(20, func() { decisions += playStay25(t, &s, c.deal) })
			if allocs != 0 || decisions < 1000 {
				t.Errorf("got %v allocations a game in %d decisions, want none", allocs, decisions)
			}
		})
	}
}
