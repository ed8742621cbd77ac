//go:build unix

package main

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// TestStoppedServer stops the process of a server in the middle of a night, for twice as long as its bots have for a
// decision, while requests are open. That is what a machine does that sleeps, swaps or is far too busy. Some bots answer
// meanwhile, the others, as if they were on the same machine, when it goes on. The server sees then that all their time is
// over; but it was the arena that lost it.
func TestStoppedServer(t *testing.T) {
	if testing.Short() {
		t.Skip("a server is stopped for three seconds")
	}
	const stop = 3 * time.Second
	n := openNight(t, filepath.Join(t.TempDir(), "data"))
	n.verb("tournament", "create", "night", "--open", "--seats", "3", "--rounds", "2", "--decision-timeout", "1s", "--time-bank", "500ms")
	m := &middle{after: 500, reached: make(chan struct{})}
	stopped, resumed := make(chan struct{}), make(chan struct{})
	names := []string{"ada", "ben", "cem", "dua", "eve", "fay"}
	for i, name := range names {
		answers := [...]chan struct{}{stopped, resumed}[i%2]
		kit, err := demoBot{name: name, strategy: "stay-20"}.kit(n.server.address, n.register(name), n.server.log)
		if err != nil {
			t.Fatal(err)
		}
		decide := kit.Decide
		kit.Decide = func(v *flip7.View) flip7.Decision {
			m.wait(n.ctx, answers)
			return decide(v)
		}
		n.bots.Go(func() { _ = flip7.Play(n.ctx, kit) }) // why it ended is in the log
	}
	n.bots.Go(n.follow)
	n.start()

	select {
	case <-m.reached:
	case <-n.over:
		t.Fatal("the night is over before its middle")
	case <-n.ctx.Done():
		t.Fatal(context.Cause(n.ctx))
	}
	n.server.pause()
	close(stopped)
	<-time.After(stop) // no clock but the true one runs in another process
	n.server.resume()
	close(resumed)
	n.untilOver()

	nights := flip7v1.NewTournamentServiceClient(n.conn)
	standings, err := allStandings(n.ctx, nights, tournament)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(standings.GetStandings()); got != len(names) {
		t.Errorf("%d bots are in the standings, want %d", got, len(names))
	}
	for _, s := range standings.GetStandings() {
		if f := s.GetFaults(); faults(f) > 0 || s.GetMissed() > 0 {
			t.Errorf("%s missed %d pairing rounds and has the faults %v, want none: its time was lost by the arena", s.GetBot(), s.GetMissed(), f)
		}
	}
	shown, err := nights.GetTournament(n.ctx, &flip7v1.GetTournamentRequest{TournamentId: tournament})
	if err != nil {
		t.Fatal(err)
	}
	if lag := shown.GetTournament().GetLag(); lag.GetStalled().AsDuration() < stop-10*time.Millisecond || lag.GetStalls() == 0 {
		t.Errorf("the organiser is told of the lag %v, want that the arena stood still for at least %v", lag, stop)
	}
}

// middle is a moment in a night: when so many requests have come.
type middle struct {
	after   int64
	asked   atomic.Int64
	reached chan struct{}
}

// wait counts a request. From the middle on it waits until the bot may answer.
func (m *middle) wait(ctx context.Context, answers <-chan struct{}) {
	number := m.asked.Add(1)
	if number < m.after {
		return
	}
	if number == m.after {
		close(m.reached)
	}
	select {
	case <-answers:
	case <-ctx.Done():
	}
}

// pause returns when the process of the server stands still.
func (s *served) pause() {
	s.t.Helper()
	if err := s.running.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	var state syscall.WaitStatus
	if _, err := syscall.Wait4(s.running.Process.Pid, &state, syscall.WUNTRACED, nil); err != nil || !state.Stopped() {
		s.t.Fatalf("the server is in state %v (%v), want stopped", state, err)
	}
}

// resume lets it go on.
func (s *served) resume() {
	s.t.Helper()
	if err := s.running.Process.Signal(syscall.SIGCONT); err != nil {
		s.t.Fatal(err)
	}
}
