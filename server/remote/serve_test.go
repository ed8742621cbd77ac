package remote_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

const (
	noHello   = flip7v1.EndReason_END_REASON_NO_HELLO
	badHello  = flip7v1.EndReason_END_REASON_BAD_HELLO
	garbage   = flip7v1.EndReason_END_REASON_GARBAGE
	flood     = flip7v1.EndReason_END_REASON_FLOOD
	draining  = flip7v1.EndReason_END_REASON_DRAINING
	tooMany   = flip7v1.EndReason_END_REASON_TOO_MANY_INSTANCES
	rebuilt   = flip7v1.EndReason_END_REASON_BUILD_CHANGED
	revoked   = flip7v1.EndReason_END_REASON_TOKEN_REVOKED
	notHeard  = flip7v1.EndReason_END_REASON_SILENT
	saidCLOSE = flip7v1.EndReason_END_REASON_CLOSED
)

func decision(id string, answer flip7v1.Answer, note string) *flip7v1.BotMessage {
	return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{
		Decision: &flip7v1.Decision{RequestId: id, Answer: answer, Note: note}}}
}

func pong(number uint32) *flip7v1.BotMessage {
	return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: number}}}
}

// fromTheFuture is a message of a kind that the arena does not know.
func fromTheFuture() *flip7v1.BotMessage {
	m := new(flip7v1.BotMessage)
	if err := proto.Unmarshal([]byte{0xfa, 0x01, 0x02, 0x08, 0x01}, m); err != nil { // field 31
		panic(err)
	}
	return m
}

func TestHowAStreamIsOpened(t *testing.T) {
	changed := func(change func(h *flip7v1.Hello)) []*flip7v1.BotMessage {
		h := hello("1", 8, 8)
		change(h)
		return []*flip7v1.BotMessage{say(h)}
	}
	for _, c := range []struct {
		name     string
		says     []*flip7v1.BotMessage // nil: nothing
		reason   flip7v1.EndReason     // 0: welcome
		code     codes.Code
		comeBack bool
	}{
		{"a bot that says nothing", nil, noHello, codes.DeadlineExceeded, true},
		{"a decision first", []*flip7v1.BotMessage{decision("x", hit, "")}, noHello, codes.FailedPrecondition, true},
		{"an unknown message first", []*flip7v1.BotMessage{fromTheFuture()}, noHello, codes.FailedPrecondition, true},
		{"a message without content first", []*flip7v1.BotMessage{{}}, noHello, codes.FailedPrecondition, true},
		{"an empty batch, and nothing after it", []*flip7v1.BotMessage{}, noHello, codes.DeadlineExceeded, true},
		{"no protocol", changed(func(h *flip7v1.Hello) { h.Protocol = 0 }), badHello, codes.InvalidArgument, false},
		{"no instance", changed(func(h *flip7v1.Hello) { h.InstanceId = "" }), badHello, codes.InvalidArgument, false},
		{"a long instance", changed(func(h *flip7v1.Hello) { h.InstanceId = strings.Repeat("a", 65) }), badHello, codes.InvalidArgument, false},
		{"an instance that would mess up a log", changed(func(h *flip7v1.Hello) { h.InstanceId = "a\nb" }), badHello, codes.InvalidArgument, false},
		{"a long build", changed(func(h *flip7v1.Hello) { h.Build = strings.Repeat("a", 65) }), badHello, codes.InvalidArgument, false},
		{"a build that would mess up a terminal", changed(func(h *flip7v1.Hello) { h.Build = "\x1b[2J" }), badHello, codes.InvalidArgument, false},
		{"a kit that would mess up a terminal", changed(func(h *flip7v1.Hello) { h.KitName = "go\u202e" }), badHello, codes.InvalidArgument, false},
		{"a contribution of another size", changed(func(h *flip7v1.Hello) { h.Contribution = make([]byte, 31) }), badHello, codes.InvalidArgument, false},
		{"a bot of the future", changed(func(h *flip7v1.Hello) { h.Protocol = 7 }), 0, 0, false},
		{"a bot that says the least", changed(func(h *flip7v1.Hello) { h.Build, h.Capacity = "", nil }), 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
				client := a.dial("ann").listen(false)
				if c.says != nil {
					client.send(c.says...)
				}
				start := time.Now()
				if c.reason != 0 {
					client.endsWith(c.reason, c.code, c.comeBack)
					if waited := time.Since(start); c.code == codes.DeadlineExceeded && waited != 5*time.Second {
						t.Errorf("ended after %v", waited)
					}
				} else if w := client.next().GetWelcome(); w.GetProtocol() != 1 {
					t.Errorf("got %v", w)
				}
			})
		})
	}
}

func TestAWelcomeSaysWhatIsGranted(t *testing.T) {
	inBubble(t, remote.Config{Arena: "v9", Limits: remote.Limits{MaxGames: 20, MaxOpen: 10, ReconnectGrace: 30 * time.Second}}, func(t *testing.T, a *arena) {
		h := hello("1", 1<<31, 1<<31)
		h.WantsEvents, h.Practice = true, true
		_, w := a.welcome("ann", h)
		if w.GetBot() != "ann" || w.GetArena() != "v9" || !w.GetEvents() || !w.GetPractice() || w.GetSessionId() == "" ||
			w.GetCapacity().GetMaxGames() != 20 || w.GetCapacity().GetMaxOpen() != 10 {
			t.Errorf("got %v", w)
		}
		limits := w.GetLimits().ProtoReflect()
		for i := range limits.Descriptor().Fields().Len() {
			if field := limits.Descriptor().Fields().Get(i); !limits.Has(field) {
				t.Errorf("limits: %s is not set", field.Name())
			}
		}
		_, w = a.welcome("bob", &flip7v1.Hello{Protocol: 1, InstanceId: "1"})
		if w.GetCapacity().GetMaxGames() != 8 || w.GetCapacity().GetMaxOpen() != 1 || w.GetEvents() || w.GetPractice() {
			t.Errorf("got %v", w)
		}
		_, w = a.welcome("cid", hello("1", 0, 0))
		if p, ok := a.bots.Presence("cid"); w.GetCapacity().GetMaxGames() != 0 || w.GetCapacity().GetMaxOpen() != 1 || p.MaxGames != 0 || !ok {
			t.Errorf("got %v, presence %+v", w, p)
		}
	})
}

func TestPresenceComesAndGoes(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		changes := func(f func()) {
			t.Helper()
			changed := a.bots.Changed()
			select {
			case <-changed:
				t.Error("changed before")
			default:
			}
			f()
			<-changed
		}
		if _, ok := a.bots.Presence("ann"); ok {
			t.Error("here before it came")
		}
		var c *client
		h := hello("1", 4, 2)
		h.Contribution, h.KitName, h.KitVersion = append(make([]byte, 31), 7), "go", "3.1"
		changes(func() { c, _ = a.welcome("ann", h) })
		p, ok := a.bots.Presence("ann")
		newest := remote.Session{Bot: "ann", ID: p.Newest.ID, Instance: "1", Build: "v1", KitName: "go", KitVersion: "3.1"}
		if !ok || p.Newest != newest || p.Newest.ID == "" || p.Contribution != [32]byte{31: 7} || p.Instances != 1 || p.MaxGames != 4 || p.MaxOpen != 2 {
			t.Errorf("presence %+v", p)
		}
		h = hello("2", 4, 2)
		h.Build = "v2"
		changes(func() { a.welcome("ann", h) })
		if p, _ := a.bots.Presence("ann"); p.Newest.Build != "v2" || p.Contribution != [32]byte{} || p.Instances != 2 || p.MaxGames != 8 {
			t.Errorf("presence %+v", p)
		}
		changes(func() {
			c.send(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Capacity{Capacity: &flip7v1.Capacity{MaxGames: 0}}})
		})
		if p, _ := a.bots.Presence("ann"); p.MaxGames != 4 || p.MaxOpen != 3 {
			t.Errorf("presence %+v", p)
		}
		changes(func() { c.close() })
		c.endsWith(saidCLOSE, codes.OK, true)
		if p, ok := a.bots.Presence("ann"); p.Instances != 1 || !ok {
			t.Errorf("presence %+v", p)
		}
		changes(func() { a.bots.End("ann", revoked, "the token was rotated") })
		if p, ok := a.bots.Presence("ann"); ok || p.Newest.Build != "v2" {
			t.Errorf("presence %+v, %t", p, ok)
		}
	})
}

// ends are the ways in which the arena ends a stream that was welcomed.
var ends = []struct {
	name     string
	limits   remote.Limits
	happens  func(t *testing.T, a *arena, c *client)
	reason   flip7v1.EndReason
	code     codes.Code
	comeBack bool
	retry    bool // says when
}{
	{"the token is revoked", remote.Limits{}, func(t *testing.T, a *arena, c *client) {
		a.bots.End("ann", revoked, "the token was rotated")
	}, revoked, codes.Unauthenticated, false, false},
	{"another build is pinned", remote.Limits{}, func(t *testing.T, a *arena, c *client) {
		a.bots.Pin("ann", "v2")
	}, rebuilt, codes.FailedPrecondition, false, false},
	{"garbage without end", remote.Limits{}, func(t *testing.T, a *arena, c *client) {
		for range 100 {
			c.send(fromTheFuture())
		}
	}, garbage, codes.InvalidArgument, true, true},
	{"a flood of decisions", remote.Limits{}, func(t *testing.T, a *arena, c *client) {
		for range 2000 {
			c.send(decision("1/1/1/1/1/1", hit, ""))
		}
	}, flood, codes.ResourceExhausted, true, true},
	{"a flood of capacities in large batches", remote.Limits{}, func(t *testing.T, a *arena, c *client) {
		batch := make([]*flip7v1.BotMessage, 64)
		for i := range batch {
			batch[i] = &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Capacity{Capacity: &flip7v1.Capacity{MaxGames: uint32(i)}}}
		}
		for range 100 {
			c.send(batch...)
		}
	}, flood, codes.ResourceExhausted, true, true},
	{"a flood in bursts with pauses", remote.Limits{}, func(t *testing.T, a *arena, c *client) {
		for c.stream.Context().Err() == nil {
			for range 600 {
				c.send(pong(1))
			}
			time.Sleep(time.Second)
		}
	}, flood, codes.ResourceExhausted, true, true},
	{"the arena stops", remote.Limits{}, func(t *testing.T, a *arena, c *client) {
		go a.bots.Close()
	}, draining, codes.Unavailable, true, true},
}

func TestHowAStreamEnds(t *testing.T) {
	for _, e := range ends {
		t.Run(e.name, func(t *testing.T) {
			inBubble(t, remote.Config{Limits: e.limits}, func(t *testing.T, a *arena) {
				other, _ := a.welcome("bob", hello("1", 8, 8)) // nobody else's game is touched
				s := a.sit("bob", "1/1/1/2")
				defer s.end()
				other.started()
				c, _ := a.welcome("ann", hello("1", 8, 8))
				e.happens(t, a, c)
				if bye := c.endsWith(e.reason, e.code, e.comeBack); bye.GetRetryAfter() != nil != e.retry {
					t.Errorf("come back after %v", bye.GetRetryAfter())
				}
				if e.reason == draining {
					return
				}
				asked := s.ask()
				other.decide(other.request().GetRequestId(), hit)
				s.want(asked, table.Answer{Decision: game.Hit})
			})
		})
	}
}

// What gRPC itself refuses ends with a status of its own, and no Goodbye can be sent after it.
func TestHowAStreamEndsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct {
		name string
		says func(m *flip7v1.PlayRequest)
		code codes.Code
	}{
		{"a batch that is too large", func(m *flip7v1.PlayRequest) {
			m.Messages = []*flip7v1.BotMessage{decision("x", hit, strings.Repeat("n", 70_000))}
		}, codes.ResourceExhausted},
		{"invalid UTF-8", func(m *flip7v1.PlayRequest) {
			m.ProtoReflect().SetUnknown([]byte{0x0a, 0x06, 0x12, 0x04, 0x0a, 0x02, 0xff, 0xfe}) // as messages[0].decision.request_id
		}, codes.Internal},
		{"bytes that are no message", func(m *flip7v1.PlayRequest) {
			m.ProtoReflect().SetUnknown([]byte{0x0a, 0x02, 0x12, 0x09}) // a decision that is longer than the batch
		}, codes.Internal},
	} {
		t.Run(c.name, func(t *testing.T) {
			var reason flip7v1.EndReason
			config := remote.Config{Hooks: remote.Hooks{Ended: func(_ remote.Session, r flip7v1.EndReason, _ string) { reason = r }}}
			inBubble(t, config, func(t *testing.T, a *arena) {
				client, _ := a.welcome("ann", hello("1", 8, 8))
				m := new(flip7v1.PlayRequest)
				c.says(m)
				if err := client.put(m); err != nil {
					t.Error(err)
				}
				client.endsWith(0, c.code, false)
				synctest.Wait()
				if reason != garbage {
					t.Errorf("ended for %v", reason)
				}
			})
		})
	}
}

func TestWhatMeansNothingIsToldAndIgnored(t *testing.T) {
	for _, c := range []struct {
		name   string
		says   []*flip7v1.BotMessage
		reason string // "": nothing is said of it
	}{
		{"an empty batch", nil, "EMPTY_BATCH"},
		{"a message without content", []*flip7v1.BotMessage{{}}, "UNKNOWN_MESSAGE"},
		{"a message of the future", []*flip7v1.BotMessage{fromTheFuture()}, "UNKNOWN_MESSAGE"},
		{"hello twice", []*flip7v1.BotMessage{say(hello("2", 1, 1))}, "HELLO_TWICE"},
		{"a pong to no ping", []*flip7v1.BotMessage{pong(99)}, "UNKNOWN_PING"},
		{"a pong twice", []*flip7v1.BotMessage{pong(1), pong(1)}, ""},
		{"more than 64 messages", make([]*flip7v1.BotMessage, 65), "BATCH_TOO_LONG"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
				client, _ := a.welcome("ann", hello("1", 8, 8))
				s := a.sit("ann", "1/1/1/1")
				defer s.end()
				client.started()
				if len(c.says) > 64 {
					for i := range c.says {
						c.says[i] = pong(1)
					}
				}
				client.send(c.says...)
				if c.reason == "" {
					client.silent()
				} else if p := client.next().GetProblem(); p.GetReason() != c.reason || p.GetCode() != 3 || p.GetMessage() == "" {
					t.Errorf("got %v, want %s", p, c.reason)
				}
				asked := s.ask()
				client.decide(client.request().GetRequestId(), hit)
				s.want(asked, table.Answer{Decision: game.Hit})
			})
		})
	}
}

func TestASilentStreamEnds(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		start := time.Now()
		c := a.dial("ann").listen(true)
		c.send(say(hello("1", 8, 8)))
		talker, _ := a.welcome("bob", hello("1", 8, 8))
		bye := c.endsWith(notHeard, codes.DeadlineExceeded, true)
		if lived := time.Since(start); lived != 36*time.Second {
			t.Errorf("ended after %v with %v, want 36 s", lived, bye)
		}
		if len(c.pinged) != 3 {
			t.Errorf("%d pings, want 3", len(c.pinged))
		}
		time.Sleep(time.Hour)
		talker.silent() // and is still there
		if _, ok := a.bots.Presence("bob"); !ok {
			t.Error("a bot that answers its pings is gone")
		}
	})
}

func TestPingsMeasureTheRoundTrip(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		c := a.dial("ann").listen(true)
		c.send(say(hello("1", 8, 8)))
		want := []time.Duration{0, 80 * time.Millisecond, 30 * time.Millisecond}
		for n, trip := range []time.Duration{80, 30, 50, 60, 60, 60, 60, 60, 60, 60, 55} {
			ping := <-c.pinged
			if ping.GetNumber() != uint32(n+1) {
				t.Errorf("ping %d, want %d", ping.GetNumber(), n+1)
			}
			smallest := 30 * time.Millisecond
			if n < len(want) {
				smallest = want[n]
			} else if n == 10 {
				smallest = 50 * time.Millisecond // the 30 were 9 pings ago
			}
			if got := ping.GetRoundTrip().AsDuration(); got != smallest {
				t.Errorf("ping %d says %v, want %v", n+1, got, smallest)
			}
			time.Sleep(trip * time.Millisecond)
			c.send(pong(ping.GetNumber()))
		}
		synctest.Wait()
		if p, _ := a.bots.Presence("ann"); p.RoundTrip != 55*time.Millisecond {
			t.Errorf("presence %+v", p)
		}
	})
}

func TestABotThatDoesNotReadIsCutOffAndBurnsItsOwnTime(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		c := a.dial("ann") // never reads
		c.send(say(hello("1", 256, 256)))
		synctest.Wait()
		var seats []*seat
		for n := range 256 {
			s := a.sit("ann", gameID(n))
			s.bank = 0
			defer s.end()
			seats = append(seats, s)
		}
		start := time.Now()
		for {
			var round []<-chan asking
			for _, s := range seats {
				round = append(round, s.ask())
			}
			for i, asked := range round {
				got := <-asked
				if got.err != nil || got.answer.Decision != 0 || got.answer.Took > time.Second || got.answer.Queued > 6*time.Second {
					t.Fatalf("game %d: %+v", i, got)
				}
			}
			if _, ok := a.bots.Presence("ann"); !ok {
				break
			}
			if time.Since(start) > time.Minute {
				t.Fatal("the stream is up after a minute")
			}
			time.Sleep(100 * time.Millisecond) // an absent bot is not waited for
		}
		c.listen(true)
		// There is seldom room for a Goodbye.
		if bye, err := c.ends(); bye != nil && bye.GetReason() != flip7v1.EndReason_END_REASON_TOO_SLOW || reasonOf(err) != "TOO_SLOW" {
			t.Errorf("ended with %v, %v", bye, err)
		}
	})
}

func TestLimitsOfStreams(t *testing.T) {
	inBubble(t, remote.Config{Limits: remote.Limits{Streams: 5, Instances: 2}}, func(t *testing.T, a *arena) {
		first, _ := a.welcome("ann", hello("1", 8, 8))
		a.welcome("ann", hello("2", 8, 8))
		c := a.dial("ann").listen(false)
		c.send(say(hello("3", 8, 8)))
		c.endsWith(tooMany, codes.ResourceExhausted, true)
		a.welcome("ann", hello("1", 8, 8)) // takes over, so it is no third
		first.endsWith(flip7v1.EndReason_END_REASON_REPLACED, codes.Aborted, false)

		a.dial("ann").listen(false) // without a Hello
		a.dial("ann").listen(false)
		synctest.Wait()
		c = a.dial("ann").listen(false)
		if _, err := c.ends(); reasonOf(err) != "TOO_MANY_INSTANCES" {
			t.Errorf("a fifth stream of a bot: %v", err)
		}
		a.welcome("bob", hello("1", 8, 8))
		c = a.dial("cid").listen(false)
		if _, err := c.ends(); reasonOf(err) != "SERVER_FULL" || codes.ResourceExhausted.String() == "" {
			t.Errorf("a sixth stream: %v", err)
		}
		time.Sleep(6 * time.Second) // those without a Hello have ended
		a.welcome("cid", hello("1", 8, 8))
	})
}

func TestAPinnedBuildStays(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		c, _ := a.welcome("ann", hello("1", 8, 8))
		a.bots.Pin("ann", "v1")
		c.silent()
		h := hello("2", 8, 8)
		h.Build = "v2"
		refused := a.dial("ann").listen(false)
		refused.send(say(h))
		if bye := refused.endsWith(rebuilt, codes.FailedPrecondition, false); bye.GetMessage() != `build "v1" plays in the running tournament; this is build "v2"` {
			t.Errorf("got %v", bye)
		}
		if p, _ := a.bots.Presence("ann"); p.Newest.Build != "v1" {
			t.Errorf("presence %+v", p)
		}
		a.bots.Unpin("ann")
		a.welcome("ann", h)
	})
}

func TestDraining(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		c, _ := a.welcome("ann", hello("1", 8, 8))
		s := a.sit("ann", "1/1/1/1")
		c.started()
		retries := map[time.Duration]bool{}
		for i := range 20 {
			a.welcome(fmt.Sprint("bot", i), hello("1", 8, 8))
		}
		a.bots.Drain(20*time.Second, 10*time.Second)
		d := c.next().GetDrain()
		if after := d.GetRetryAfter().AsDuration(); d.GetGrace().AsDuration() != 20*time.Second || after < time.Second || after > 11*time.Second {
			t.Errorf("got %v", d)
		}
		for range 20 {
			refused := a.dial("late").listen(false)
			_, err := refused.ends()
			if reasonOf(err) != "DRAINING" {
				t.Fatalf("ended with %v", err)
			}
			retries[retryOf(err)] = true
		}
		if len(retries) < 15 {
			t.Errorf("20 bots come back at %d times", len(retries))
		}
		asked := s.ask() // the game goes on
		c.decide(c.request().GetRequestId(), hit)
		s.want(asked, table.Answer{Decision: game.Hit})
		s.player.End(game.Result{}, table.Interrupted) // and breaks off, to go on after the restart
		c.silent()
		go a.bots.Close()
		bye := c.endsWith(draining, codes.Unavailable, true)
		if bye.GetRetryAfter().AsDuration() != d.GetRetryAfter().AsDuration() {
			t.Errorf("told %v and then %v", d.GetRetryAfter(), bye.GetRetryAfter())
		}
	})
}

func TestAfterARestartClocksStandUntilTheBotIsBack(t *testing.T) {
	config := remote.Config{Limits: remote.Limits{ReconnectGrace: 30 * time.Second}}
	inBubble(t, config, func(t *testing.T, a *arena) {
		back, gone := a.sit("ann", "1/1/1/1"), a.sit("bob", "1/1/1/2")
		defer back.end()
		defer gone.end()
		asked, askedGone := back.ask(), gone.ask()
		time.Sleep(20 * time.Second)
		c, w := a.welcome("ann", hello("1", 8, 8))
		if w.GetGames() != 1 {
			t.Errorf("got %v", w)
		}
		c.started()
		if r := c.request(); r.GetTimeLeft().AsDuration() != 11*time.Second {
			t.Errorf("got %v", r)
		}
		time.Sleep(300 * time.Millisecond)
		c.decide("1/1/1/1/1/1", hit)
		back.want(asked, table.Answer{Decision: game.Hit, Queued: 20 * time.Second, Took: 300 * time.Millisecond})
		gone.want(askedGone, table.Answer{Gone: true, Queued: 30 * time.Second, Took: 11 * time.Second})
		c.cancel() // once back, a bot is lost as any other
		c.ends()
		back.want(back.ask(), table.Answer{Gone: true, Took: 11 * time.Second})
	})
}

func TestTheArenasStallsNeverCount(t *testing.T) {
	var arenas stalls
	inBubble(t, remote.Config{Stalls: arenas.lost}, func(t *testing.T, a *arena) {
		c, _ := a.welcome("ann", hello("1", 8, 8))
		s := a.sit("ann", "1/1/1/1")
		defer s.end()
		c.started()
		s.bank = 0

		asked := s.ask()
		id := c.request().GetRequestId()
		time.Sleep(600 * time.Millisecond)
		arenas.lose(300 * time.Millisecond)
		time.Sleep(600 * time.Millisecond)
		c.decide(id, hit)
		s.want(asked, table.Answer{Decision: game.Hit, Took: 900 * time.Millisecond})

		start := time.Now()
		asked = s.ask()
		c.request()
		arenas.lose(500 * time.Millisecond)
		s.want(asked, table.Answer{Took: time.Second})
		if waited := time.Since(start); waited != 1500*time.Millisecond {
			t.Errorf("waited %v, want 1.5 s", waited)
		}
	})
}

func TestEventsAreBoundedAndNeverInTheWayOfRequests(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		h := hello("1", 8, 8)
		h.WantsEvents = true
		c, _ := a.welcome("ann", h)
		plain, _ := a.welcome("bob", hello("1", 8, 8))
		s, other := a.sit("ann", "1/1/1/1"), a.sit("bob", "1/1/1/1")
		defer s.end()
		defer other.end()
		c.started()
		plain.started()
		if !a.bots.Wanted("1/1/1/1", 1) || a.bots.Wanted("1/1/1/1", 2) {
			t.Error("wanted is wrong")
		}
		another, _ := a.welcome("cid", h)
		another.cancel()
		synctest.Wait()
		if !a.bots.Wanted("1/1/1/1", 1) {
			t.Error("nothing is wanted since another bot that wanted events has gone")
		}
		a.bots.Event(&flip7v1.GameEvent{GameId: "1/1/1/1", Attempt: 1, Number: 1})
		if e := c.next().GetEvent(); e.GetNumber() != 1 {
			t.Errorf("got %v", e)
		}
		plain.silent()
		a.bots.Event(&flip7v1.GameEvent{GameId: "1/1/1/2", Attempt: 1, Number: 1}) // not its own
		c.silent()
	})
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		c := a.dial("ann")
		h := hello("1", 8, 8)
		h.WantsEvents = true
		c.send(say(h))
		synctest.Wait()
		s := a.sit("ann", "1/1/1/1")
		defer s.end()
		const n = 50_000 // more than fits on the way
		for i := range uint32(n) {
			a.bots.Event(&flip7v1.GameEvent{GameId: "1/1/1/1", Attempt: 1, Number: i + 1})
		}
		c.listen(false) // reads only now
		var last uint32
		got := 0
		for last < n {
			if e := c.next().GetEvent(); e != nil {
				if e.GetNumber() <= last {
					t.Fatalf("event %d after %d", e.GetNumber(), last)
				}
				last = e.GetNumber()
				got++
			}
		}
		synctest.Wait()
		if dropped := a.bots.Stats("ann").Dropped; dropped == 0 || got+dropped != n {
			t.Errorf("%d events came and %d were dropped, of %d", got, dropped, n)
		}
	})
}

func TestHooksAreTold(t *testing.T) {
	var mu sync.Mutex
	var told []string
	tell := func(format string, args ...any) {
		mu.Lock()
		defer mu.Unlock()
		told = append(told, fmt.Sprintf(format, args...))
	}
	stream := func(s remote.Session) string { // the beginning of its id is when the arena began
		if s.Bot != "ann" {
			t.Errorf("a stream of %q, want ann", s.Bot)
		}
		return fmt.Sprintf("stream %s (%s %s %s %s)", s.ID[strings.Index(s.ID, "-")+1:], s.Instance, s.Build, s.KitName, s.KitVersion)
	}
	config := remote.Config{Hooks: remote.Hooks{
		Answered: func(a remote.Answered) {
			by := "none"
			if a.Session.ID != "" {
				by = stream(a.Session)
			}
			tell("%s/%d/%d: %v of seat %d, %v %v in %v, sent %d, %d illegal, absent %t, %d bytes of note, by %s", a.Game, a.Attempt, a.Number,
				a.Kind, a.Seat, a.Decision, a.Cause, a.Took, a.Sent, a.Illegal, a.Absent, len(a.Note), by)
		},
		Judged: func(j remote.Judged) {
			tell("%s/%d/%d: %v %s, %q, by %s", j.Game, j.Attempt, j.Number, j.Verdict.GetCode(), j.Verdict.GetRequestId(), j.Note, stream(j.Session))
		},
		Welcomed:  func(s remote.Session) { tell("welcome %s", stream(s)) },
		Connected: func(bot string, n int) { tell("%s has %d", bot, n) },
		Ended:     func(s remote.Session, reason flip7v1.EndReason, _ string) { tell("end %s %v", stream(s), reason) },
	}}
	inBubble(t, config, func(t *testing.T, a *arena) {
		mute := a.dial("ann").listen(false)
		mute.close()
		mute.ends()
		h := hello("1", 8, 8)
		h.KitName, h.KitVersion = "go", "3.1"
		c, _ := a.welcome("ann", h)
		s := a.sit("ann", "1/1/1/1")
		s.bank = 0
		c.started()
		asked := s.ask()
		id := c.request().GetRequestId()
		c.send(decision(id, give, "oops"))
		c.verdict(illegal)
		c.send(decision(id, hit, strings.Repeat("€", 100))) // 300 bytes: cut between two of them
		<-asked
		c.send(decision(id, stay, "no, wait"))
		c.verdict(duplicate)
		c.send(decision(id, hit, "the same again has no verdict"))
		c.send(decision("1/1/1/1/9/9", hit, "what?"))
		c.verdict(unknown)
		asked = s.ask()
		c.request()
		newer, _ := a.welcome("ann", hello("1", 8, 8)) // takes over, and is asked again
		c.ends()
		newer.started()
		id = newer.request().GetRequestId()
		<-asked
		newer.verdict(defaulted)
		newer.send(decision(id, hit, "at last"))
		newer.verdict(late)
		newer.cancel()
		newer.ends()
		synctest.Wait()
		for range 3 {
			<-s.ask()
		}
		s.end()
		mu.Lock()
		defer mu.Unlock()
		want := strings.TrimSpace(`
end stream 1 (   ) END_REASON_CLOSED
welcome stream 2 (1 v1 go 3.1)
ann has 1
1/1/1/1/1/1: VERDICT_CODE_ILLEGAL 1/1/1/1/1/1, "oops", by stream 2 (1 v1 go 3.1)
1/1/1/1/1/1: turn of seat 0, hit chosen in 0s, sent 1, 1 illegal, absent false, 255 bytes of note, by stream 2 (1 v1 go 3.1)
1/1/1/1/1/1: VERDICT_CODE_DUPLICATE 1/1/1/1/1/1, "no, wait", by stream 2 (1 v1 go 3.1)
/0/0: VERDICT_CODE_UNKNOWN_REQUEST 1/1/1/1/9/9, "what?", by stream 2 (1 v1 go 3.1)
welcome stream 3 (1 v1  )
ann has 1
ann has 1
end stream 2 (1 v1 go 3.1) END_REASON_REPLACED
1/1/1/1/1/2: turn of seat 0, stay timed_out in 1s, sent 2, 0 illegal, absent false, 0 bytes of note, by stream 3 (1 v1  )
1/1/1/1/1/2: VERDICT_CODE_LATE 1/1/1/1/1/2, "at last", by stream 3 (1 v1  )
ann has 0
end stream 3 (1 v1  ) END_REASON_UNSPECIFIED
1/1/1/1/1/3: turn of seat 0, stay disconnected in 1s, sent 0, 0 illegal, absent false, 0 bytes of note, by none
1/1/1/1/1/4: turn of seat 0, stay disconnected in 1s, sent 0, 0 illegal, absent false, 0 bytes of note, by none
1/1/1/1/1/5: turn of seat 0, stay disconnected in 1s, sent 0, 0 illegal, absent false, 0 bytes of note, by none`)
		if got := strings.Join(told, "\n"); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// quiet is a stream of a bot that says nothing.
type quiet struct {
	stream
	ctx context.Context
}

func (q quiet) Context() context.Context         { return q.ctx }
func (q quiet) Send(*flip7v1.PlayResponse) error { return nil }

func (q quiet) Recv() (*flip7v1.PlayRequest, error) {
	<-q.ctx.Done()
	return nil, q.ctx.Err()
}

// However the two meet: it is refused, or ended like all others.
func TestAStreamThatOpensAsTheArenaStopsIsNotWaitedFor(t *testing.T) {
	for n := range 300 {
		bots := remote.New(remote.Config{Log: slog.New(slog.DiscardHandler), Limits: remote.Limits{HelloTimeout: time.Hour},
			Stalls: func() time.Duration { return 0 }})
		ctx, leave := context.WithCancel(t.Context())
		var serving sync.WaitGroup
		for i := range 4 {
			serving.Go(func() {
				if err := bots.Serve(fmt.Sprintf("bot-%d", i), quiet{ctx: ctx}); status.Code(err) != codes.Unavailable {
					t.Errorf("the stream ends with %v, want UNAVAILABLE", err)
				}
			})
		}
		closed := make(chan struct{})
		go func() { bots.Close(); close(closed) }()
		select {
		case <-closed:
		case <-time.After(5 * time.Second):
			t.Errorf("try %d: a stream that opened meanwhile is waited for", n+1)
			leave()
			<-closed
		}
		serving.Wait()
		leave()
		if t.Failed() {
			break
		}
	}
}
