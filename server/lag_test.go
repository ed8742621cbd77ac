package server

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/wire"
)

func TestLagIsToldByTournament(t *testing.T) {
	l := newLagMeter(nil, func(time.Duration) {})
	defer l.close()
	for i := range 200 {
		late := 100 * time.Microsecond
		if i >= 196 {
			late = 2 * time.Millisecond
		}
		l.note([]int64{7}, late, 0)
	}
	l.note([]int64{7, 8}, 40*time.Millisecond, 41*time.Millisecond)
	l.note([]int64{7, 8}, 8*time.Millisecond, 7*time.Millisecond)
	want := &flip7v1.ArenaLag{P50: durationpb.New(104*time.Microsecond - 1), P99: durationpb.New(2048*time.Microsecond - 1), // ends of buckets
		Max: durationpb.New(40 * time.Millisecond), Stalls: 2, Stalled: durationpb.New(48 * time.Millisecond)}
	if got := l.of(7); !proto.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := l.of(8); got.GetP50().AsDuration() < 8*time.Millisecond || got.GetStalls() != 2 {
		t.Errorf("of the tournament that came later: %v", got)
	}
	if got := l.of(9); got != nil {
		t.Errorf("of one that did not play: %v", got)
	}
	for id := range int64(lagKept) {
		l.note([]int64{100 + id}, 0, 0)
	}
	if l.of(7) != nil || l.of(8) != nil || l.of(100) == nil || len(l.nights) != lagKept {
		t.Errorf("%d tournaments are remembered, want the newest %d", len(l.nights), lagKept)
	}
}

func TestATournamentIsShownWithTheLagOfTheArena(t *testing.T) {
	h := host(t)
	id := h.opened(nil)
	if got := h.get(id).GetLag(); got != nil {
		t.Errorf("before anything was played: %v, want nothing", got)
	}
	number, _ := wire.TournamentIDOf(id)
	h.metrics.lag.note([]int64{number}, 7*time.Millisecond, 6*time.Millisecond)
	if got := h.get(id).GetLag(); got.GetStalls() != 1 || got.GetMax().AsDuration() != 7*time.Millisecond {
		t.Errorf("got %v, want a stall, and 7 ms at most", got)
	}
}

func TestLagIsMeasuredWhileGamesArePlayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMetrics("test", remote.NewProbe())
		var looks int
		var lost atomic.Int64
		m.lag = newLagMeter(func() time.Duration { return time.Duration(lost.Load()) }, func(time.Duration) { looks++ })
		game := arena.Event{Kind: arena.GameBegan, Tournament: 3, Round: 1, Table: 1, Game: 1}
		time.Sleep(time.Hour)
		m.Happened(game)
		time.Sleep(time.Second + lagTick/2)
		lost.Store(int64(30 * time.Millisecond))
		time.Sleep(time.Second)
		game.Kind = arena.GameEnded
		m.Happened(game)
		time.Sleep(time.Hour)
		if got := m.lag.of(3); looks != 200 || got.GetStalls() != 1 || got.GetStalled().AsDuration() != 30*time.Millisecond || got.GetMax().AsDuration() != 0 {
			t.Errorf("%d looks, %v; want 200, a stall of 30 ms, and nothing late", looks, got)
		}
		game.Kind = arena.GameBegan
		m.Happened(game)
		m.close() // in mid-game
	})
}

// However the two meet.
func TestALagMeterThatIsClosedAsAGameBeginsEnds(t *testing.T) {
	for n := range 2000 {
		l := newLagMeter(func() time.Duration { return 0 }, func(time.Duration) {})
		begun, closed := make(chan struct{}), make(chan struct{})
		go func() {
			l.begin(func() []int64 { return nil })
			close(begun)
		}()
		go func() {
			l.close()
			close(closed)
		}()
		<-begun
		select {
		case <-closed:
		case <-time.After(5 * time.Second):
			t.Fatalf("try %d: the meter does not end", n+1)
		}
	}
}
