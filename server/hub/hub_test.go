package hub

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

func entered(n int) arena.Event {
	return arena.Event{Tournament: 1, Kind: arena.EntriesChanged, Round: n}
}

func rounds(events []arena.Event) []int {
	var list []int
	for _, e := range events {
		list = append(list, e.Round)
	}
	return list
}

func TestASpectatorResumesFromItsPosition(t *testing.T) {
	h := New()
	for n := range 10 {
		h.Happened(entered(n + 1))
	}
	events, missed := h.Events(1, 7, 100)
	if got := rounds(events); missed != 0 || !slices.Equal(got, []int{8, 9, 10}) {
		t.Errorf("after event 7: got %v with %d missed, want 8 9 10 with none", got, missed)
	}
	if events, _ := h.Events(1, 10, 100); len(events) != 0 {
		t.Errorf("after the last event there are %d more", len(events))
	}
	if events, _ := h.Events(1, 0, 2); !slices.Equal(rounds(events), []int{1, 2}) {
		t.Errorf("a batch of two: got %v, want 1 2", rounds(events))
	}
	if last := h.Last(2); last != 0 {
		t.Errorf("another tournament has %d events", last)
	}
}

func TestTheRingIsBoundedAndSaysWhatIsMissing(t *testing.T) {
	h := New()
	const extra = 100
	for n := range kept + extra {
		h.Happened(entered(n + 1))
	}
	events, missed := h.Events(1, 10, 3)
	if missed != extra-10 || !slices.Equal(rounds(events), []int{extra + 1, extra + 2, extra + 3}) {
		t.Errorf("got %v with %d missed, want %d.. with %d", rounds(events), missed, extra+1, extra-10)
	}
	events, missed = h.Events(1, kept+extra-2, 10)
	if missed != 0 || !slices.Equal(rounds(events), []int{kept + extra - 1, kept + extra}) {
		t.Errorf("the newest two: got %v with %d missed", rounds(events), missed)
	}
}

func TestWaitingSpectatorsAreWokenByOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New()
		woken := make(chan struct{}, 1000)
		for range 1000 {
			changed := h.Changed(1)
			go func() { woken <- <-changed }()
		}
		synctest.Wait()
		if len(woken) != 0 {
			t.Fatalf("%d spectators woke before anything happened", len(woken))
		}
		h.Happened(entered(1))
		synctest.Wait()
		if len(woken) != 1000 {
			t.Errorf("%d of 1000 spectators woke", len(woken))
		}
	})
}

// counter counts events and remembers the last round.
type counter struct {
	events int
	ended  bool
}

func (c *counter) Observe(_ *game.State, e game.Event) {
	c.events++
	c.ended = c.ended || e.Kind == game.GameEnded
}

func TestAFollowerSeesWhatTheGameWas(t *testing.T) {
	h := New()
	id := arena.GameID{Tournament: 1, Round: 1, Table: 2, Number: 3}
	info := table.Info{ID: "1/1/2/3", Attempt: 1, Bots: []string{"a", "b", "c"}, Rules: game.DefaultRules(3), Dealer: 2}
	began := arena.Event{Tournament: 1, Kind: arena.GameBegan, Round: 1, Table: 2, Game: 3, Attempt: 1, Info: &info, Seed: [32]byte{7}}
	h.Happened(began)
	if events, _ := h.Events(1, 0, 10); events[0].Seed != [32]byte{} {
		t.Fatal("the seed of a running game is among the events of spectators")
	}

	g, there := h.Game(id, 0)
	if !there {
		t.Fatal("the game is not there")
	}
	var early counter
	follower, err := Follow(g, &early)
	if err != nil {
		t.Fatal(err)
	}
	moves := 0
	for !follower.State.Over() {
		d := follower.State.Request().Default()
		h.Happened(arena.Event{Tournament: 1, Kind: arena.GamePlay, Round: 1, Table: 2, Game: 3, Attempt: 1, Moves: []game.Move{{Decision: d}}})
		moves++
		g, _ := h.Game(id, follower.Moves())
		if len(g.Moves) != 1 {
			t.Fatalf("after %d decisions there are %d new ones, want 1", moves, len(g.Moves))
		}
		if err := follower.Catch(g.Moves); err != nil {
			t.Fatal(err)
		}
	}
	var late counter
	g, _ = h.Game(id, 0)
	if _, err := Follow(g, &late); err != nil {
		t.Fatal(err)
	}
	if late != early || !late.ended {
		t.Errorf("who came late saw %+v, who was there from the beginning %+v", late, early)
	}
	h.Happened(arena.Event{Tournament: 1, Kind: arena.TableChanged, Round: 1, Table: 2, Text: arena.Complete.String()})
	if _, there := h.Game(id, 0); there {
		t.Error("the game is still kept though its table is over")
	}
	if games := h.Games(1); len(games) != 0 {
		t.Errorf("%d games are still listed", len(games))
	}
}

func BenchmarkThousandSpectators(b *testing.B) {
	h := New()
	for range 1000 {
		go func() {
			after := uint64(0)
			for {
				changed := h.Changed(1)
				events, missed := h.Events(1, after, 64)
				after += uint64(len(events)) + missed
				if len(events) > 0 {
					continue
				}
				select {
				case <-changed:
				case <-b.Context().Done():
					return
				}
			}
		}()
	}
	for b.Loop() {
		h.Happened(entered(1))
	}
}
