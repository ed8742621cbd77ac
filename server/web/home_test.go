package web

import (
	"slices"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// A night may outlast one that was made after it.
func TestPastNightsAreInTheOrderInWhichTheyEnded(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 11, 30, hour, 0, 0, 0, time.UTC) }
	heads := []arena.Tournament{ // as the store has them
		{ID: 7, State: arena.Draft, Created: at(23)},
		{ID: 6, State: arena.Running, Started: at(22)},
		{ID: 5, State: arena.Finished, Ended: at(20)},
		{ID: 4, State: arena.Cancelled, Ended: at(21)},
		{ID: 3, State: arena.Finished, Ended: at(22)},
		{ID: 2, State: arena.Finished, Ended: at(20)},
	}
	var got []int64
	for _, head := range pastOf(heads) {
		got = append(got, head.ID)
	}
	if want := []int64{3, 4, 5, 2}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Games of a final count with their leg: while the first is played there are some that do not.
func TestAFinalSaysThatNoLegOfItIsOver(t *testing.T) {
	night := &arena.Tournament{ID: 1, State: arena.Running, Settings: arena.Settings{Rounds: 1, FinalTable: 3}}
	for i, name := range []string{"ada", "babbage", "cleo"} {
		night.Entries = append(night.Entries, arena.Entry{Number: i + 1, Name: name})
	}
	night.Rounds = []arena.Round{{Number: 1}, {Number: 2, Tables: []arena.Table{{Number: 1, Bots: []int{1, 2, 3}, State: arena.Playing, Games: make([]arena.Game, 6)}}}}
	final := finalOf(night)
	if final == nil || final.Games != 0 || final.Says != "no leg of it that counts is over yet" {
		t.Errorf("got %+v, want that no leg is over", final)
	}
}
