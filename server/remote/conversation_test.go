package remote_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

const (
	illegal   = flip7v1.VerdictCode_VERDICT_CODE_ILLEGAL
	late      = flip7v1.VerdictCode_VERDICT_CODE_LATE
	duplicate = flip7v1.VerdictCode_VERDICT_CODE_DUPLICATE
	unknown   = flip7v1.VerdictCode_VERDICT_CODE_UNKNOWN_REQUEST
	defaulted = flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED
)

// A conversation is about one request of one game unless it says more: 1 s for the request and 10 s in the bank.
var conversations = []struct {
	name string
	talk func(t *testing.T, a *arena, c *client, s *seat)
}{
	{"a decision counts, and what it took", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		r := c.request()
		time.Sleep(300 * time.Millisecond)
		c.decide(r.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit, Took: 300 * time.Millisecond})
		c.silent()
	}},
	{"a request is whole", func(t *testing.T, a *arena, c *client, s *seat) {
		s.bank = 2500 * time.Millisecond
		asked := s.ask()
		r := c.request()
		if r.GetRequestId() != "1/1/1/1/1/1" || r.GetTimeLeft().AsDuration() != 3500*time.Millisecond || r.GetTimeBank().AsDuration() != s.bank ||
			r.GetLastLatency() != nil || r.GetResent() || r.GetAbsent() || r.GetGame().GetGames() != 6 || len(r.GetView().GetSeats()) != 3 ||
			!slices.Equal(r.GetLegal(), []flip7v1.Answer{hit, stay}) {
			t.Errorf("got %v", r)
		}
		time.Sleep(40 * time.Millisecond)
		c.decide(r.GetRequestId(), stay)
		s.want(asked, table.Answer{Decision: game.Stay, Took: 40 * time.Millisecond})
		asked = s.ask()
		r = c.request()
		if r.GetRequestId() != "1/1/1/1/1/2" || r.GetLastLatency().AsDuration() != 40*time.Millisecond {
			t.Errorf("got %v", r)
		}
		c.decide(r.GetRequestId(), stay)
		s.want(asked, table.Answer{Decision: game.Stay})
	}},
	{"time is up when timeout and bank are used up", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		c.request()
		s.want(asked, table.Answer{Took: 11 * time.Second})
		v := c.verdict(defaulted)
		if v.GetCause() != flip7v1.Cause_CAUSE_TIMED_OUT || v.GetAnswer() != stay || v.GetRequestId() != "1/1/1/1/1/1" {
			t.Errorf("got %v", v)
		}
	}},
	{"a bank that is used up leaves the timeout", func(t *testing.T, a *arena, c *client, s *seat) {
		s.bank = 0
		asked := s.ask()
		if r := c.request(); r.GetTimeLeft().AsDuration() != time.Second || r.GetTimeBank().AsDuration() != 0 {
			t.Errorf("got %v", r)
		}
		s.want(asked, table.Answer{Took: time.Second})
		c.verdict(defaulted)
	}},
	{"a late decision is told, and not taken for the next request", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		first := c.request()
		s.want(asked, table.Answer{Took: 11 * time.Second})
		c.verdict(defaulted)
		asked = s.ask()
		second := c.request()
		c.decide(first.GetRequestId(), hit)
		v := c.verdict(late)
		if v.GetRequestId() != first.GetRequestId() || v.GetAnswer() != stay || v.GetCause() != flip7v1.Cause_CAUSE_TIMED_OUT {
			t.Errorf("got %v", v)
		}
		c.decide(second.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit})
	}},
	{"an illegal decision may be mended while the clock runs", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		r := c.request()
		time.Sleep(100 * time.Millisecond)
		c.decide(r.GetRequestId(), give, 1)
		v := c.verdict(illegal)
		if v.GetTriesLeft() != 9 || v.GetTimeLeft().AsDuration() != 10900*time.Millisecond || !slices.Equal(v.GetLegal(), r.GetLegal()) ||
			len(v.GetLegalSeats()) != 0 || v.GetMessage() != "give to seat 1 does not answer a turn; legal are hit, stay" {
			t.Errorf("got %v", v)
		}
		time.Sleep(100 * time.Millisecond)
		c.decide(r.GetRequestId(), stay)
		s.want(asked, table.Answer{Decision: game.Stay, Illegal: 1, Took: 200 * time.Millisecond})
		if got := a.bots.Stats("ann").Slips; got != 1 {
			t.Errorf("%d slips, want 1", got)
		}
	}},
	{"an illegal decision that is not mended is the cause", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		c.decide(c.request().GetRequestId(), 0)
		c.verdict(illegal)
		s.want(asked, table.Answer{Illegal: 1, Took: 11 * time.Second})
		if v := c.verdict(defaulted); v.GetCause() != flip7v1.Cause_CAUSE_ILLEGAL {
			t.Errorf("got %v", v)
		}
	}},
	{"ten illegal decisions are enough", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		r := c.request()
		for tries := uint32(9); ; tries-- {
			c.decide(r.GetRequestId(), 99)
			if v := c.verdict(illegal); v.GetTriesLeft() != tries {
				t.Errorf("%d tries left, want %d", v.GetTriesLeft(), tries)
			}
			if tries == 0 {
				break
			}
		}
		s.want(asked, table.Answer{Illegal: 10})
		c.verdict(defaulted)
		c.decide(r.GetRequestId(), hit)
		c.verdict(late)
	}},
	{"the same decision again is harmless, another is a duplicate", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		id := c.request().GetRequestId()
		c.decide(id, hit)
		s.want(asked, table.Answer{Decision: game.Hit})
		c.decide(id, hit)
		c.silent()
		c.decide(id, stay)
		if v := c.verdict(duplicate); v.GetAnswer() != hit || v.GetCause() != 0 {
			t.Errorf("got %v", v)
		}
		c.decide(id, pass)
		c.verdict(duplicate)
	}},
	{"a pass asks for the default, costs no bank and is no silence", func(t *testing.T, a *arena, c *client, s *seat) {
		for range 4 { // more than make a silent bot absent
			asked := s.ask()
			id := c.request().GetRequestId()
			c.decide(id, pass)
			s.want(asked, table.Answer{Passed: true})
			if v := c.verdict(defaulted); v.GetCause() != flip7v1.Cause_CAUSE_PASSED || v.GetAnswer() != stay {
				t.Errorf("got %v", v)
			}
			c.decide(id, pass)
			c.silent()
		}
		if a.bots.Absent("ann") || a.bots.Stats("ann").Causes[game.Passed] != 4 {
			t.Errorf("absent %t, stats %+v", a.bots.Absent("ann"), a.bots.Stats("ann"))
		}
	}},
	{"ids that are not the bot's are unknown", func(t *testing.T, a *arena, c *client, s *seat) {
		other, _ := a.welcome("bob", hello("1", 8, 8))
		theirs := a.sit("bob", "1/1/1/2")
		defer theirs.end()
		asked, askedOther := s.ask(), theirs.ask()
		own := c.request()
		other.started()
		foreign := other.request()
		for _, id := range []string{foreign.GetRequestId(), "", "x", "1/1/1/1/1/", "1/1/1/1/1/2", "1/1/1/1/1/01", "1/1/1/1/1/+1", "1/1/1/1/2/1",
			"1/1/1/1/1/0", "1/1/1/1/1/99999999999999999999", strings.Repeat("9", 1000)} {
			c.decide(id, hit)
			if v := c.verdict(unknown); v.GetRequestId() != id[:min(len(id), 64)] {
				t.Errorf("got %v for %q", v, id)
			}
		}
		other.silent()
		c.decide(own.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit})
		other.decide(foreign.GetRequestId(), stay)
		theirs.want(askedOther, table.Answer{Decision: game.Stay})
	}},
	{"a request that was never sent cannot be answered", func(t *testing.T, a *arena, c *client, s *seat) {
		c.cancel()
		c.ends()
		c, _ = a.welcome("ann", hello("1", 8, 1))
		c.started()
		s2 := a.sit("ann", "1/1/1/2")
		defer s2.end()
		c.started()
		first := s.ask()
		r := c.request()
		second := s2.ask()
		c.silent()
		c.decide("1/1/1/2/1/1", hit)
		c.verdict(unknown)
		c.decide(r.GetRequestId(), hit)
		s.want(first, table.Answer{Decision: game.Hit})
		c.decide(c.request().GetRequestId(), stay)
		s2.want(second, table.Answer{Decision: game.Stay})
	}},
	{"a bot that vanishes and comes back goes on with its clock", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		first := c.request()
		time.Sleep(200 * time.Millisecond)
		c.cancel()
		c.ends()
		time.Sleep(3 * time.Second)
		c, w := a.welcome("ann", hello("1", 8, 8))
		if w.GetGames() != 1 || !c.started().GetResumed() {
			t.Errorf("got %v", w)
		}
		again := c.request()
		if again.GetRequestId() != first.GetRequestId() || !again.GetResent() || again.GetTimeLeft().AsDuration() != 7800*time.Millisecond ||
			again.GetTimeBank().AsDuration() != 7800*time.Millisecond {
			t.Errorf("got %v", again)
		}
		c.decide(again.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit, Took: 3200 * time.Millisecond})
		if got := a.bots.Lost("ann"); got != 1 {
			t.Errorf("lost %d streams, want 1", got)
		}
	}},
	{"a bot that does not come back is disconnected", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		c.request()
		c.cancel()
		s.want(asked, table.Answer{Gone: true, Took: 11 * time.Second})
		asked = s.ask() // asked while nobody is there
		s.want(asked, table.Answer{Gone: true, Took: 11 * time.Second})
		c, _ = a.welcome("ann", hello("1", 8, 8))
		c.started()
		c.decide("1/1/1/1/1/1", hit)
		if v := c.verdict(late); v.GetCause() != flip7v1.Cause_CAUSE_DISCONNECTED {
			t.Errorf("got %v", v)
		}
	}},
	{"a newer stream of the same instance takes over", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		c.request()
		time.Sleep(time.Second)
		newer, w := a.welcome("ann", hello("1", 8, 8))
		if w.GetGames() != 1 || !newer.started().GetResumed() {
			t.Errorf("got %v", w)
		}
		c.endsWith(flip7v1.EndReason_END_REASON_REPLACED, codes.Aborted, false)
		newer.decide(newer.request().GetRequestId(), stay)
		s.want(asked, table.Answer{Decision: game.Stay, Took: time.Second})
		if p, ok := a.bots.Presence("ann"); !ok || p.Instances != 1 || p.Games != 1 {
			t.Errorf("presence %+v", p)
		}
	}},
	{"instances share the games; those of one that dies go to another", func(t *testing.T, a *arena, c *client, s *seat) {
		other, w := a.welcome("ann", hello("2", 8, 8))
		if w.GetGames() != 0 {
			t.Errorf("got %v", w)
		}
		second := a.sit("ann", "1/1/1/2")
		defer second.end()
		if g := other.started(); g.GetGame().GetGameId() != "1/1/1/2" || g.GetResumed() {
			t.Errorf("got %v", g)
		}
		asked, asked2 := s.ask(), second.ask()
		first := c.request()
		other.decide(other.request().GetRequestId(), stay)
		second.want(asked2, table.Answer{Decision: game.Stay})
		other.silent() // a game stays with its instance
		time.Sleep(500 * time.Millisecond)
		c.cancel()
		if g := other.started(); g.GetGame().GetGameId() != "1/1/1/1" || !g.GetResumed() {
			t.Errorf("got %v", g)
		}
		r := other.request()
		if r.GetRequestId() != first.GetRequestId() || r.GetTimeLeft().AsDuration() != 10500*time.Millisecond || !r.GetResent() {
			t.Errorf("got %v", r)
		}
		other.decide(r.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit, Took: 500 * time.Millisecond})
	}},
	{"a request whose timeout is over goes to all instances", func(t *testing.T, a *arena, c *client, s *seat) {
		other, _ := a.welcome("ann", hello("2", 8, 1))
		busy := a.sit("ann", "1/1/1/2") // has the one slot of the other instance
		defer busy.end()
		other.started()
		asked, askedBusy := s.ask(), busy.ask()
		first, theirs := c.request(), other.request()
		time.Sleep(1500 * time.Millisecond)
		other.silent()
		third, _ := a.welcome("ann", hello("3", 8, 8))
		if r := third.request(); r.GetRequestId() != first.GetRequestId() || !r.GetResent() || r.GetTimeLeft().AsDuration() != 9500*time.Millisecond {
			t.Errorf("got %v", r)
		}
		if r := c.request(); r.GetRequestId() != theirs.GetRequestId() { // it went the other way too
			t.Errorf("got %v", r)
		}
		third.request()
		other.decide(theirs.GetRequestId(), hit)
		busy.want(askedBusy, table.Answer{Decision: game.Hit, Took: 1500 * time.Millisecond})
		if r := other.request(); r.GetRequestId() != first.GetRequestId() {
			t.Errorf("got %v", r)
		}
		other.decide(first.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit, Took: 1500 * time.Millisecond})
		c.decide(first.GetRequestId(), stay)
		c.verdict(duplicate)
	}},
	{"after three requests left unanswered the bot is absent until it decides", func(t *testing.T, a *arena, c *client, s *seat) {
		s.bank = 0
		for range 2 {
			asked := s.ask()
			c.request()
			s.want(asked, table.Answer{Took: time.Second})
			c.verdict(defaulted)
		}
		other := a.sit("ann", "1/1/1/2") // over all its games
		defer other.end()
		c.started()
		other.bank = 0
		asked := other.ask()
		c.request()
		other.want(asked, table.Answer{Took: time.Second})
		c.verdict(defaulted)
		if !a.bots.Absent("ann") {
			t.Fatal("not absent")
		}
		c.silent()
		s.want(s.ask(), table.Answer{Absent: true})
		r := c.request()
		if !r.GetAbsent() || r.GetTimeLeft().AsDuration() != 0 || r.GetRequestId() != "1/1/1/1/1/3" {
			t.Errorf("got %v", r)
		}
		c.decide(r.GetRequestId(), hit)
		c.verdict(late)
		if a.bots.Absent("ann") {
			t.Error("absent still")
		}
		asked = s.ask()
		c.decide(c.request().GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit})
		if got := a.bots.Stats("ann"); got.Absent != 1 || got.Causes[game.TimedOut] != 4 || got.Latency.Count() != 1 {
			t.Errorf("stats %+v", got)
		}
	}},
	{"an absent bot without a stream is back by a Hello", func(t *testing.T, a *arena, c *client, s *seat) {
		s.bank = 0
		c.cancel()
		c.ends()
		for range 3 {
			s.want(s.ask(), table.Answer{Gone: true, Took: time.Second})
		}
		s.want(s.ask(), table.Answer{Gone: true, Absent: true})
		c, _ = a.welcome("ann", hello("1", 8, 8))
		c.started()
		asked := s.ask()
		r := c.request()
		if r.GetAbsent() {
			t.Errorf("got %v", r)
		}
		c.decide(r.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit})
	}},
	{"an absent bot is shown the newest request only", func(t *testing.T, a *arena, c *client, s *seat) {
		s.bank = 0
		for range 3 {
			<-s.ask()
		}
		synctest.Wait()
		for len(c.got) > 0 {
			c.next()
		}
		for range 100 {
			s.want(s.ask(), table.Answer{Absent: true})
		}
		synctest.Wait()
		last := ""
		for len(c.got) > 0 {
			last = c.request().GetRequestId()
		}
		if last != "1/1/1/1/1/103" {
			t.Errorf("the last request shown is %q", last)
		}
	}},
	{"requests beyond the capacity wait with their clocks stopped", func(t *testing.T, a *arena, c *client, s *seat) {
		capacity := func(open uint32) {
			c.send(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Capacity{Capacity: &flip7v1.Capacity{MaxGames: 8, MaxOpen: open}}})
			synctest.Wait()
		}
		capacity(1)
		seats, asked := []*seat{s}, []<-chan asking{s.ask()}
		for n := 2; n <= 8; n++ {
			other := a.sit("ann", gameID(n))
			defer other.end()
			synctest.Wait()
			seats, asked = append(seats, other), append(asked, other.ask())
		}
		for n := range 8 {
			var r *flip7v1.DecisionRequest
			for r == nil {
				r = c.next().GetRequest() // among the starts of games
			}
			time.Sleep(700 * time.Millisecond)
			for len(c.got) > 0 {
				if m := c.next(); m.GetRequest() != nil {
					t.Fatalf("two requests are open: %v and %v", r, m)
				}
			}
			c.decide(r.GetRequestId(), stay)
			// Exactly one of the games is answered now.
			seats[n].want(asked[n], table.Answer{Decision: game.Stay, Queued: time.Duration(n) * 700 * time.Millisecond, Took: 700 * time.Millisecond})
		}
		asked[0], asked[1], asked[2] = seats[0].ask(), seats[1].ask(), seats[2].ask()
		c.request()
		c.silent()
		capacity(3) // more from now on
		c.request()
		c.request()
	}},
	{"a question that is taken back is void", func(t *testing.T, a *arena, c *client, s *seat) {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("the table is void")
		asked := s.askWith(ctx)
		r := c.request()
		cancel(why)
		if got := <-asked; !errors.Is(got.err, why) {
			t.Errorf("got %+v", got)
		}
		c.decide(r.GetRequestId(), hit)
		c.verdict(unknown)
	}},
	{"a question that is put again has its id, and a decision for it counts", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		first := c.request()
		c.decide(first.GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit})
		asked = s.askAgain(t.Context()) // the journal had failed, say
		r := c.request()
		if r.GetRequestId() != first.GetRequestId() || !r.GetResent() || r.GetTimeLeft().AsDuration() != 11*time.Second {
			t.Errorf("got %v", r)
		}
		c.decide(r.GetRequestId(), stay)
		s.want(asked, table.Answer{Decision: game.Stay})
	}},
	{"the end of a game is told", func(t *testing.T, a *arena, c *client, s *seat) {
		asked := s.ask()
		c.decide(c.request().GetRequestId(), pass)
		<-asked
		c.verdict(defaulted)
		s.player.End(game.Result{Rounds: 3, Totals: []int{200, 7, 7}, Places: []int{1, 2, 2}}, table.Finished)
		f := c.next().GetGameFinished()
		if f.GetGameId() != "1/1/1/1" || f.GetEnd() != flip7v1.GameEnd_GAME_END_COMPLETE || f.GetRounds() != 3 || f.GetFaults() != 1 ||
			!slices.Equal(f.GetPlaces(), []uint32{1, 2, 2}) || !slices.Equal(f.GetTotals(), []uint32{200, 7, 7}) {
			t.Errorf("got %v", f)
		}
		s.player = a.bots.Player("ann")
		s.player.Begin(table.Info{ID: "1/1/1/1", Attempt: 2, Bots: make([]string, 3), Resumed: true, Faults: []int{4, 0, 0}, Slips: []int{2, 0, 0}}, 0)
		if !c.started().GetResumed() {
			t.Error("the game is told as new")
		}
		s.player.End(game.Result{}, table.Failed)
		if f := c.next().GetGameFinished(); f.GetFaults() != 4 || f.GetSlips() != 2 {
			t.Errorf("a game that goes on after a restart ends with %v, want the faults and slips from before too", f)
		}
		s.player.Begin(table.Info{ID: "1/1/1/1", Attempt: 3, Bots: make([]string, 3)}, 0) // for the end that follows
		c.started()
	}},
	{"the network's delay is given back out of a quota", func(t *testing.T, a *arena, c *client, s *seat) {
		c.cancel()
		c.ends()
		c = a.dial("ann").listen(true)
		c.send(say(hello("1", 8, 8)))
		ping := <-c.pinged
		time.Sleep(150 * time.Millisecond)
		c.send(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: ping.GetNumber()}}})
		c.next()
		c.started()
		synctest.Wait()
		s.bank = 0
		for _, step := range []struct{ thinks, took time.Duration }{
			{400 * time.Millisecond, 250 * time.Millisecond},  // 150 off, none of it used: the quota of 200 grows by 20
			{1140 * time.Millisecond, 990 * time.Millisecond}, // 150 off, 140 of it used: leaves 100
			{1090 * time.Millisecond, 990 * time.Millisecond}, // 100 off, 90 of it used: leaves 30
			{1020 * time.Millisecond, 990 * time.Millisecond}, // 30 off, 20 of it used: leaves 30
		} {
			asked := s.ask()
			id := c.request().GetRequestId()
			time.Sleep(step.thinks)
			c.decide(id, hit)
			s.want(asked, table.Answer{Decision: game.Hit, Took: step.took})
		}
		asked := s.ask()
		c.request()
		start := time.Now()
		s.want(asked, table.Answer{Took: time.Second})
		if waited := time.Since(start); waited != 1030*time.Millisecond {
			t.Errorf("waited %v, want 1.03 s", waited)
		}
	}},
}

func TestConversations(t *testing.T) {
	for _, c := range conversations {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
				client, _ := a.welcome("ann", hello("1", 8, 8))
				s := a.sit("ann", "1/1/1/1")
				if g := client.started(); g.GetResumed() || g.GetGame().GetGameId() != "1/1/1/1" {
					t.Fatalf("got %v", g)
				}
				synctest.Wait() // the first ping is answered
				c.talk(t, a, client, s)
				s.end()
			})
		})
	}
}
