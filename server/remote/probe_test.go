package remote_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	"github.com/flip7-arena/flip7/server/remote"
)

// stalls is time that a test has the arena lose.
type stalls struct{ ns atomic.Int64 }

func (s *stalls) lost() time.Duration { return time.Duration(s.ns.Load()) }

func (s *stalls) lose(d time.Duration) { s.ns.Add(int64(d)) }

func TestAProbeRestsWhenNoRequestIsOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := remote.NewProbe()
		defer p.Close()
		// In a bubble time passes only while everybody sleeps. A probe that did not rest would wake up 86 million times.
		time.Sleep(24 * time.Hour)
		p.Watch(1)
		time.Sleep(time.Second)
		p.Watch(-1)
		time.Sleep(24 * time.Hour)
		if lost := p.Lost(); lost != 0 {
			t.Errorf("lost %v where nothing can be", lost)
		}
	})
}

// TestATimerThatFiresTooLateCountsForNothing: a stall that is taken back makes the deadline earlier than the timer knows.
func TestATimerThatFiresTooLateCountsForNothing(t *testing.T) {
	var arenas stalls
	inBubble(t, remote.Config{Stalls: arenas.lost}, func(t *testing.T, a *arena) {
		c, _ := a.welcome("ann", hello("1", 8, 8))
		s := a.sit("ann", "1/1/1/1")
		defer s.end()
		c.started()
		s.bank = 0
		asked := s.ask()
		first := c.request()
		arenas.lose(-200 * time.Millisecond)
		s.want(asked, table.Answer{Stalled: true})
		c.silent() // nobody is blamed
		asked = s.askAgain(t.Context())
		again := c.request()
		if again.GetRequestId() != first.GetRequestId() || !again.GetResent() || again.GetTimeLeft().AsDuration() != time.Second {
			t.Errorf("got %v", again)
		}
		c.decide(again.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit})
		if stats := a.bots.Stats("ann"); stats.Causes[game.TimedOut] != 0 {
			t.Errorf("stats %+v", stats)
		}
	})
}
