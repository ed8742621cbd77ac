package store

import (
	"slices"
	"testing"

	"github.com/flip7-arena/flip7/arena"
)

func TestTheNewestTournamentsOfABotAreFound(t *testing.T) {
	d := newDesk(t, Process)
	var entered []int64
	for i := range 6 {
		state := []arena.State{arena.Finished, arena.Cancelled, arena.Draft}[i%3]
		id := d.night(state)
		names := []string{"odds", "racer"}
		if i != 4 {
			names = append(names, "ada")
		}
		for n, name := range names {
			if err := d.SaveEntries(t.Context(), id, arena.Entry{Number: n + 1, Name: name, Player: "bot:" + name}); err != nil {
				t.Fatal(err)
			}
		}
		if i != 4 && state != arena.Draft {
			entered = append(entered, id)
		}
	}
	slices.Reverse(entered)
	for limit := range 5 {
		heads, err := d.Entered(t.Context(), "ada", limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, head := range heads {
			got = append(got, head.ID)
		}
		if want := entered[:min(limit, len(entered))]; !slices.Equal(got, want) {
			t.Errorf("the %d newest tournaments of ada are %v, want %v", limit, got, want)
		}
	}
}
