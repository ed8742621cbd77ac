package flip7_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestHello(t *testing.T) {
	for _, test := range []struct {
		name                        string
		bot                         flip7.Bot
		games, open                 uint32
		build, kit                  string
		wantsEvents, practice, self bool
	}{
		{"a bot that says nothing of itself", flip7.Bot{}, 8, 1, "", "go", false, false, true},
		{"a bot that says all of itself", flip7.Bot{
			Build: "v3", MaxGames: 64, MaxOpen: 4, Kit: "mine", Practice: true, Instance: "mine", Event: func(flip7.Event) {},
		}, 64, 4, "v3", "mine", true, true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				script := func(last bool) func(*talk) error {
					return func(k *talk) error {
						if got, want := k.token(), []string{"Bearer s3cret"}; !slices.Equal(got, want) {
							return scriptError(fmt.Sprintf("authorization is %q, want %q", got, want))
						}
						if _, err := k.welcome(0); err != nil {
							return err
						}
						if last {
							return k.bye()
						}
						return status.Error(codes.Unavailable, "gone")
					}
				}
				a := newScripted(t, script(false), script(true))
				a.play(test.bot)
				if len(a.hellos) != 2 {
					t.Fatalf("got %d hellos, want 2", len(a.hellos))
				}
				for _, h := range a.hellos {
					if h.GetProtocol() != 1 || h.GetKitName() != test.kit || h.GetKitVersion() == "" {
						t.Errorf("got protocol %d of kit %q %q, want 1 of %s and a version", h.GetProtocol(), h.GetKitName(), h.GetKitVersion(), test.kit)
					}
					if got := h.GetCapacity(); got.GetMaxGames() != test.games || got.GetMaxOpen() != test.open {
						t.Errorf("got capacity %v, want %d games, %d open", got, test.games, test.open)
					}
					if h.GetBuild() != test.build || h.GetWantsEvents() != test.wantsEvents || h.GetPractice() != test.practice {
						t.Errorf("got %v, want build %q, events %t, practice %t", h, test.build, test.wantsEvents, test.practice)
					}
					if n := len(h.GetContribution()); n != 32 {
						t.Errorf("got a contribution of %d bytes, want 32", n)
					}
				}
				first, second := a.hellos[0], a.hellos[1]
				if string(first.GetContribution()) == string(second.GetContribution()) {
					t.Error("the second hello brought the same 32 bytes, want fresh ones")
				}
				if id := first.GetInstanceId(); id == "" || id != second.GetInstanceId() || test.self == (id == "mine") {
					t.Errorf("got instance ids %q and %q, want the same, and the bot's own if it has one", id, second.GetInstanceId())
				}
			})
		})
	}
}

func TestDecisionsAsTheyTravel(t *testing.T) {
	long := strings.Repeat("ü", 200)
	for _, test := range []struct {
		name   string
		decide func(*flip7.View) flip7.Decision
		want   *flip7v1.Decision
	}{
		{"hit", func(v *flip7.View) flip7.Decision { return v.Hit() },
			&flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_HIT}},
		{"stay, with a note", func(v *flip7.View) flip7.Decision { return v.Stay().Note("at 25") },
			&flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_STAY, Note: "at 25"}},
		{"give to seat 0, which is not left out", func(v *flip7.View) flip7.Decision { return v.Give(0) },
			&flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_GIVE, Seat: new(uint32(0))}},
		{"pass", func(v *flip7.View) flip7.Decision { return v.Pass() },
			&flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_PASS}},
		{"the first legal", func(v *flip7.View) flip7.Decision { return v.Legal()[0] },
			&flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_HIT}},
		{"a note too long, cut between two letters", func(v *flip7.View) flip7.Decision { return v.Stay().Note("-" + long) },
			&flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_STAY, Note: "-" + strings.Repeat("ü", 127)}},
		{"nothing, which the arena will refuse", func(*flip7.View) flip7.Decision { return flip7.Decision{} },
			&flip7v1.Decision{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				newScripted(t, ended(func(k *talk) error {
					k.send(ask("r1"))
					d, err := k.decision("r1")
					if err != nil {
						return err
					}
					if d.GetAnswer() != test.want.GetAnswer() || d.GetNote() != test.want.GetNote() ||
						(d.Seat == nil) != (test.want.Seat == nil) || d.GetSeat() != test.want.GetSeat() {
						t.Errorf("got %v, want %v", d, test.want)
					}
					return k.bye()
				})).play(flip7.Bot{Decide: test.decide})
			})
		})
	}
}

// TestComesBackWithBackOff loses ten streams as soon as they are open.
func TestComesBackWithBackOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := ended(func(*talk) error { return status.Error(codes.Internal, "lost") })
		scripts := slices.Repeat([]func(*talk) error{lost}, 10)
		a := newScripted(t, append(scripts, ended((*talk).bye))...)
		if err := a.play(flip7.Bot{}); err == nil {
			t.Error("the bot ended without an error, want the reason of the last stream")
		}
		most, whole := 200*time.Millisecond, time.Duration(0)
		for i := 1; i < len(a.opened); i++ {
			wait := a.opened[i] - a.opened[i-1]
			if wait > most {
				t.Errorf("before try %d the bot waited %v, want at most %v", i, wait, most)
			}
			whole += wait
			most = min(2*most, 15*time.Second)
		}
		// Ten waits that are uniform below .2 .4 .8 ... 15 15 15 s have a mean of 36 s; below 4 s is one in 10^8.
		if whole < 4*time.Second {
			t.Errorf("ten tries in %v: that is no back-off", whole)
		}
	})
}

func TestBackOffBeginsAnewAfterAGoodStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		lost := ended(func(*talk) error { return status.Error(codes.Internal, "lost") })
		long := ended(func(*talk) error {
			time.Sleep(20 * time.Second)
			return status.Error(codes.Internal, "lost")
		})
		scripts := slices.Repeat([]func(*talk) error{lost}, 8)
		a := newScripted(t, append(scripts, long, ended((*talk).bye))...)
		a.play(flip7.Bot{})
		if wait := a.opened[9] - a.opened[8] - 20*time.Second; wait > 200*time.Millisecond {
			t.Errorf("after a stream of 20 s the bot waited %v, want at most 200ms", wait)
		}
	})
}

// statusOf is a status as the arena ends a stream with when no Goodbye could be said.
func statusOf(code codes.Code, reason string, retryAfter time.Duration) error {
	st, err := status.New(code, "in words").WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: "flip7.arena"})
	if err == nil && retryAfter > 0 {
		st, err = st.WithDetails(&errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)})
	}
	if err != nil {
		return err
	}
	return st.Err()
}

func TestEndsForGood(t *testing.T) {
	by := func(err error) func(*talk) error { return func(*talk) error { return err } }
	saying := func(reason string) func(*talk) error {
		return ended(func(k *talk) error { k.send(goodbye(reason, "in words")); return nil })
	}
	for _, test := range []struct {
		name           string
		script         func(*talk) error
		reason, saying string
	}{
		{"replaced", saying("REPLACED"), "REPLACED", "another stream of the same instance took over: in words"},
		{"token revoked", saying("TOKEN_REVOKED"), "TOKEN_REVOKED", "needs the new one, if there is one): in words"},
		{"protocol too old", saying("PROTOCOL_TOO_OLD"), "PROTOCOL_TOO_OLD", "update the kit"},
		{"build changed", saying("BUILD_CHANGED"), "BUILD_CHANGED", "by another build"},
		{"bad hello", saying("BAD_HELLO"), "BAD_HELLO", "refuses the hello: in words"},
		{"any other reason that says so", saying("INTERNAL"), "INTERNAL", "the arena failed: in words"},
		{"replaced, without a goodbye", by(statusOf(codes.Aborted, "REPLACED", 0)), "REPLACED", "took over"},
		{"token revoked, without a goodbye", by(statusOf(codes.Unauthenticated, "TOKEN_REVOKED", 0)), "TOKEN_REVOKED", "needs the new one"},
		{"protocol too old, without a goodbye", by(statusOf(codes.FailedPrecondition, "PROTOCOL_TOO_OLD", 0)), "PROTOCOL_TOO_OLD", "update the kit"},
		{"build changed, without a goodbye", by(statusOf(codes.FailedPrecondition, "BUILD_CHANGED", 0)), "BUILD_CHANGED", "by another build"},
		{"bad hello, without a goodbye", by(statusOf(codes.InvalidArgument, "BAD_HELLO", 0)), "BAD_HELLO", "in words"},
		{"a wrong token", by(status.Error(codes.Unauthenticated, "no such token")), "", "check FLIP7_TOKEN (no such token)"},
		{"a wrong token, with a reason", by(statusOf(codes.Unauthenticated, "TOKEN_UNKNOWN", 0)), "TOKEN_UNKNOWN", "check FLIP7_TOKEN"},
		{"the token of somebody who is no bot", by(status.Error(codes.PermissionDenied, "an admin")), "", "check FLIP7_TOKEN (an admin)"},
		{"no arena at all", by(status.Error(codes.Unimplemented, "unknown service")), "", "what answers at http://arena.test:1 is no Flip 7 arena"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				err := newScripted(t, test.script).play(flip7.Bot{})
				gone, ok := errors.AsType[*flip7.EndError](err)
				if !ok {
					t.Fatalf("got %v, want an EndError", err)
				}
				if gone.Reason != test.reason || !strings.Contains(gone.Error(), test.saying) {
					t.Errorf("got reason %q, %q; want %q and %q in it", gone.Reason, gone, test.reason, test.saying)
				}
				if strings.Contains(gone.Error(), "\n") {
					t.Errorf("%q is more than one line", gone)
				}
			})
		})
	}
}

func TestComesBackWhenTold(t *testing.T) {
	const told = 42 * time.Second
	drain := &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Drain{Drain: &flip7v1.Drain{
		Grace: durationpb.New(time.Minute), RetryAfter: durationpb.New(told),
	}}}
	for _, test := range []struct {
		name   string
		script func(*talk) error
		says   string
	}{
		{"by a goodbye", ended(func(k *talk) error {
			k.send(farewell(&flip7v1.Goodbye{
				Reason: flip7v1.EndReason_END_REASON_DRAINING, ComeBack: true, RetryAfter: durationpb.New(told),
			}))
			return nil
		}), "the arena stops for now; trying again"},
		{"by a status, before any welcome", func(*talk) error {
			return statusOf(codes.ResourceExhausted, "SERVER_FULL", told)
		}, "the arena is full: in words; trying again"},
		{"by a drain, then the connection is lost", ended(func(k *talk) error {
			k.send(drain)
			return status.Error(codes.Unavailable, "shut down")
		}), "the arena is about to stop"},
		{"by a drain, then a goodbye without a time", ended(func(k *talk) error {
			k.send(drain, farewell(&flip7v1.Goodbye{Reason: flip7v1.EndReason_END_REASON_DRAINING, ComeBack: true}))
			return nil
		}), "the arena stops for now; trying again"},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := newScripted(t, test.script, ended((*talk).bye))
				a.play(flip7.Bot{})
				if wait := a.opened[1] - a.opened[0]; wait != told {
					t.Errorf("the bot came back after %v, want %v", wait, told)
				}
				if !strings.Contains(a.log.String(), test.says) {
					t.Errorf("want %q in the log:\n%s", test.says, a.log)
				}
			})
		})
	}
}

// TestDrain plays on until the arena says goodbye.
func TestDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		newScripted(t, ended(func(k *talk) error {
			k.send(gameStarted("g", false), &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Drain{Drain: &flip7v1.Drain{
				Grace: durationpb.New(time.Minute), RetryAfter: durationpb.New(time.Second),
			}}}, ask("r1"))
			if err := k.expect("r1: stay"); err != nil {
				return err
			}
			return k.bye()
		})).play(flip7.Bot{})
	})
}

func TestOtherReasonsComeBack(t *testing.T) {
	for _, reason := range []string{"NO_HELLO", "SERVER_FULL", "TOO_MANY_INSTANCES", "DRAINING", "TOO_SLOW", "SILENT", "FLOOD",
		"GARBAGE", "CLOSED", "INTERNAL", "OF_A_LATER_VERSION"} {
		t.Run(reason, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				newScripted(t, func(*talk) error { return statusOf(codes.FailedPrecondition, reason, 0) }, ended((*talk).bye)).play(flip7.Bot{})
			})
		})
	}
}

// TestUnreachable loses a stream and then cannot get there for a while.
func TestUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScripted(t, ended(func(*talk) error { return status.Error(codes.Unavailable, "shut down") }), ended((*talk).bye))
		tries := 0
		a.play(flip7.Bot{Dial: func(ctx context.Context, addr string) (net.Conn, error) {
			if addr != "arena.test:1" {
				t.Errorf("the bot dials %q, want arena.test:1", addr)
			}
			if tries++; tries > 1 && tries < 5 {
				return nil, errors.New("connection refused")
			}
			return a.listener.DialContext(ctx)
		}})
		for want, times := range map[string]int{
			`msg="the connection to http://arena.test:1 was lost: shut down; trying again"`: 1,
			`msg="cannot reach http://arena.test:1: connection refused; trying again"`:      3,
		} {
			if got := strings.Count(a.log.String(), want); got != times {
				t.Errorf("got %d lines with %s, want %d:\n%s", got, want, times, a.log)
			}
		}
	})
}

// TestSilentArena: the stream is up, nothing comes.
func TestSilentArena(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		silent := ended(func(k *talk) error {
			time.Sleep(20 * time.Second)
			k.send(ping(1))
			<-k.stream.Context().Done()
			return k.stream.Context().Err()
		})
		a := newScripted(t, silent, ended((*talk).bye))
		a.play(flip7.Bot{})
		// The last word came at 20 s, pings are due every 10 s; back-off is at most 0.2 s.
		if at := a.opened[1]; at < 50*time.Second || at > 50200*time.Millisecond {
			t.Errorf("the bot came back after %v, want 50s and at most 200ms", at)
		}
		if want := "nothing was heard from the arena for three ping intervals"; !strings.Contains(a.log.String(), want) {
			t.Errorf("want %q in the log:\n%s", want, a.log)
		}
	})
}

func TestPongWhileThinking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		enough := make(chan struct{})
		newScripted(t, ended(func(k *talk) error {
			k.send(ask("r1"), ping(7))
			for number := range uint32(3) {
				m, err := k.next()
				if err != nil {
					return err
				}
				if m.GetPong() == nil || m.GetPong().GetNumber() != 7+number {
					return scriptError(fmt.Sprintf("got %v, want pong %d", m, 7+number))
				}
				k.send(ping(8 + number))
			}
			close(enough)
			return k.bye()
		})).play(flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
			<-enough
			return v.Stay()
		}})
	})
}

func TestPanicIsPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScripted(t, ended(func(k *talk) error {
			k.send(ask("r1"))
			d, err := k.decision("r1")
			if err != nil {
				return err
			}
			if want := "decide failed: what now?"; d.GetAnswer() != flip7v1.Answer_ANSWER_PASS || d.GetNote() != want {
				t.Errorf("got %v, want a pass with the note %q", d, want)
			}
			k.send(verdict(&flip7v1.Verdict{RequestId: "r1", Code: flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED, Message: "it asked for that",
				Answer: flip7v1.Answer_ANSWER_STAY, Cause: flip7v1.Cause_CAUSE_PASSED}))
			k.send(ask("r2"))
			if err := k.expect("r2: stay"); err != nil {
				return err
			}
			return k.bye()
		}))
		a.play(flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
			if v.Request().GetRequestId() == "r1" {
				panic("what\nnow?")
			}
			return v.Stay()
		}})
		if got := strings.Count(a.log.String(), "position="); got != 1 {
			t.Errorf("the position is logged %d times for a decision that failed, want once:\n%s", got, a.log)
		}
		for _, want := range []string{"Decide panicked: what now?; passed for it", "game g attempt 1, round 3, seat 2 is asked turn",
			"[2 cyd active 7 9 = 0, total 40]", "play_test.go"} {
			if !strings.Contains(a.log.String(), want) {
				t.Errorf("want %q in the log:\n%s", want, a.log)
			}
		}
	})
}

func TestUnknownThings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScripted(t, ended(func(k *talk) error {
			strange, again := turn("g", "r1"), turn("g", "r2")
			strange.Kind, again.Kind = 77, 77
			extended := turn("g", "r3")
			extended.View.DrawPile = append(extended.View.DrawPile, 3) // a kind of card that is not in the book yet
			extended.Legal = append(extended.Legal, 99)
			extended.ProtoReflect().SetUnknown(protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 1))
			empty := new(flip7v1.ArenaMessage) // of a kind that is not in the book yet
			k.send(empty, requestMessage(strange))
			if err := k.expect("r1: pass"); err != nil {
				return err
			}
			k.send(empty, requestMessage(again))
			if err := k.expect("r2: pass"); err != nil {
				return err
			}
			k.send(empty, requestMessage(extended))
			if err := k.expect("r3: hit"); err != nil {
				return err
			}
			return k.bye()
		}))
		a.play(flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
			if got := len(v.Legal()); got != 2 {
				t.Errorf("got %d legal decisions, want the 2 that are known", got)
			}
			return v.Legal()[0]
		}})
		if got := strings.Count(a.log.String(), "such requests are passed"); got != 1 {
			t.Errorf("the unknown kind is logged %d times, want once:\n%s", got, a.log)
		}
	})
}

func TestCapacity(t *testing.T) {
	for _, open := range []int{1, 3} {
		t.Run(fmt.Sprint("max open ", open), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				now, most := 0, 0
				enter := func(by int) {
					mu.Lock()
					defer mu.Unlock()
					now += by
					most = max(most, now)
				}
				newScripted(t, ended(func(k *talk) error {
					var want []string
					for i := range 7 { // more than the bot said it takes: it holds its word to its author
						id := fmt.Sprint("r", i)
						k.send(requestMessage(turn(fmt.Sprint("g", i), id)))
						want = append(want, id+": stay")
					}
					if err := k.expect(want...); err != nil {
						return err
					}
					return k.bye()
				})).play(flip7.Bot{MaxOpen: open, Decide: func(v *flip7.View) flip7.Decision {
					enter(1)
					time.Sleep(100 * time.Millisecond)
					enter(-1)
					return v.Stay()
				}})
				if most != open {
					t.Errorf("at most %d calls of Decide ran at once, want %d", most, open)
				}
			})
		})
	}
}

func TestIllegalDecision(t *testing.T) {
	illegal := verdict(&flip7v1.Verdict{
		RequestId: "r1", Code: flip7v1.VerdictCode_VERDICT_CODE_ILLEGAL, Message: "seat 9 is not at this table",
		Legal: []flip7v1.Answer{flip7v1.Answer_ANSWER_GIVE}, LegalSeats: []uint32{0, 3}, TriesLeft: 9,
		TimeLeft: durationpb.New(time.Second),
	})
	script := ended(func(k *talk) error {
		k.send(ask("r1"))
		if err := k.expect("r1: give 9"); err != nil {
			return err
		}
		k.send(illegal)
		if err := k.expect("r1: pass"); err != nil { // rather than let the clock run out
			return err
		}
		return k.bye()
	})
	decide := func(v *flip7.View) flip7.Decision { return v.Give(9) }
	t.Run("is logged with its position", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newScripted(t, script)
			a.play(flip7.Bot{Decide: decide})
			want := `level=WARN msg="illegal decision for request r1: seat 9 is not at this table" position="game g attempt 1`
			if !strings.Contains(a.log.String(), want) {
				t.Errorf("want %q in the log:\n%s", want, a.log)
			}
		})
	})
	t.Run("is told", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			a := newScripted(t, script)
			var got []flip7.Verdict
			a.play(flip7.Bot{Decide: decide, Verdict: func(v flip7.Verdict) { got = append(got, v) }})
			if len(got) != 1 {
				t.Fatalf("got %d verdicts, want 1", len(got))
			}
			v := got[0]
			if v.Code != flip7.VerdictIllegal || v.View == nil || v.View.Request().GetRequestId() != "r1" || len(v.Legal) != 2 || v.TriesLeft != 9 {
				t.Errorf("got %+v, want an illegal decision for r1 with its view, two legal ones and 9 tries left", v)
			}
		})
	})
}

func TestVerdictsInWords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScripted(t, ended(func(k *talk) error {
			k.send(
				verdict(&flip7v1.Verdict{RequestId: "r1", Code: flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED, Message: "no decision in 11 s: stay is played",
					Answer: flip7v1.Answer_ANSWER_STAY, Cause: flip7v1.Cause_CAUSE_TIMED_OUT}),
				verdict(&flip7v1.Verdict{RequestId: "r2", Code: flip7v1.VerdictCode_VERDICT_CODE_DUPLICATE, Message: "the bot had decided: give to seat 1 stands",
					Answer: flip7v1.Answer_ANSWER_GIVE, Seat: new(uint32(1))}),
				verdict(&flip7v1.Verdict{RequestId: "r3", Code: flip7v1.VerdictCode_VERDICT_CODE_UNKNOWN_REQUEST, Message: "never asked"}),
				gameFinished("g"),
				&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Problem{Problem: &flip7v1.Problem{Reason: "HELLO_TWICE", Message: "one is enough"}}},
				goodbye("REPLACED", "the test is over"),
			)
			return nil
		}))
		a.play(flip7.Bot{})
		for _, want := range []string{
			"request r1: defaulted: no decision in 11 s: stay is played\"",
			"request r2: duplicate: the bot had decided: give to seat 1 stands\"",
			"request r3: unknown_request: never asked",
			"game g is over after 9 rounds: place 1 of 4 with 211 points, 1 fault",
			"the arena ignored something that the kit sent: one is enough",
			"playing as tester at http://arena.test:1",
		} {
			if !strings.Contains(a.log.String(), want) {
				t.Errorf("want %q in the log:\n%s", want, a.log)
			}
		}
	})
}

// TestLostWhileThinking: the stream is lost while the bot thinks; the request comes again and is not thought about
// twice.
func TestLostWhileThinking(t *testing.T) {
	for _, test := range []struct {
		name  string
		takes time.Duration
	}{
		{"and the bot is done before it comes again", 10 * time.Millisecond},
		{"and the bot is done after it came again", 5 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int32
				a := newScripted(t,
					ended(func(k *talk) error {
						k.send(gameStarted("g", false), ask("r1"))
						time.Sleep(time.Millisecond)
						return status.Error(codes.Unavailable, "lost")
					}),
					func(k *talk) error {
						if _, err := k.welcome(1); err != nil {
							return err
						}
						time.Sleep(time.Second)
						again := turn("g", "r1")
						again.Resent = true
						k.send(gameStarted("g", true), requestMessage(again))
						if err := k.expect("r1: hit"); err != nil {
							return err
						}
						return k.bye()
					})
				a.play(flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
					asked.Add(1)
					time.Sleep(test.takes)
					return v.Hit()
				}})
				if got := asked.Load(); got != 1 {
					t.Errorf("Decide was called %d times, want once", got)
				}
			})
		})
	}
}

// TestLostDecision: the decision went down with the stream.
func TestLostDecision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		newScripted(t,
			ended(func(k *talk) error {
				k.send(gameStarted("g", false), ask("r1"))
				if err := k.expect("r1: hit"); err != nil {
					return err
				}
				return status.Error(codes.Unavailable, "lost")
			}),
			func(k *talk) error {
				if _, err := k.welcome(1); err != nil {
					return err
				}
				k.send(gameStarted("g", true), ask("r1"), ask("r1"))
				if err := k.expect("r1: hit", "r1: hit"); err != nil {
					return err
				}
				k.send(ask("r2"), ask("r1")) // a stale one is answered as before and does not disturb
				if err := k.expect("r1: hit", "r2: hit"); err != nil {
					return err
				}
				return k.bye()
			}).play(flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
			asked.Add(1)
			return v.Hit()
		}})
		if got := asked.Load(); got != 2 {
			t.Errorf("Decide was called %d times, want 2: once for each request", got)
		}
	})
}

// TestLostWhileGamesAreToldAgain: the stream after the one that was lost breaks before it has told all games again; those
// that it left out are known still on the one after that.
func TestLostWhileGamesAreToldAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		newScripted(t,
			ended(func(k *talk) error {
				k.send(gameStarted("g", false), gameStarted("h", false), ask("r1"))
				if err := k.expect("r1: hit"); err != nil {
					return err
				}
				return status.Error(codes.Unavailable, "lost")
			}),
			func(k *talk) error {
				if _, err := k.welcome(2); err != nil {
					return err
				}
				k.send(gameStarted("h", true))
				time.Sleep(time.Second)
				return status.Error(codes.Unavailable, "lost")
			},
			func(k *talk) error {
				if _, err := k.welcome(2); err != nil {
					return err
				}
				k.send(gameStarted("g", true), ask("r1"), gameStarted("h", true))
				if err := k.expect("r1: hit"); err != nil {
					return err
				}
				return k.bye()
			}).play(flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
			if asked.Add(1) > 1 {
				return v.Stay()
			}
			return v.Hit()
		}})
		if got := asked.Load(); got != 1 {
			t.Errorf("Decide was called %d times, want once", got)
		}
	})
}

// TestContextOfAView: what ends the context of a view, and what becomes of the decision then.
func TestContextOfAView(t *testing.T) {
	for _, test := range []struct {
		name   string
		then   func(*talk)
		want   error
		after  time.Duration // it was asked
		answer bool          // whether the decision is said all the same: it tells the arena that the bot is there
	}{
		{"its time is up", func(*talk) { time.Sleep(12 * time.Second) }, context.DeadlineExceeded, 11 * time.Second, true},
		{"the game went on without it", func(k *talk) { k.send(ask("r2")) }, context.Canceled, time.Second, true},
		{"the game is over", func(k *talk) { k.send(gameFinished("g")) }, context.Canceled, time.Second, false},
	} {
		for _, late := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, asked late %t", test.name, late), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					newScripted(t, ended(func(k *talk) error {
						k.send(gameStarted("g", false), ask("r1"))
						time.Sleep(time.Second)
						test.then(k)
						if !test.answer {
							if err := k.quiet(time.Second); err != nil {
								return err
							}
						} else if _, err := k.decision("r1"); err != nil {
							return err
						}
						return k.bye()
					})).play(flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
						if v.Request().GetRequestId() != "r1" {
							return v.Stay()
						}
						if got := v.TimeLeft(); got != 11*time.Second {
							t.Errorf("got %v left, want 11s", got)
						}
						asked := time.Now()
						if late {
							time.Sleep(20 * time.Second) // it is over by then
						}
						<-v.Context().Done()
						if late {
							asked = asked.Add(20*time.Second - test.after)
						}
						if got, after := v.Context().Err(), time.Since(asked); got != test.want || after != test.after {
							t.Errorf("the context ended with %v after %v, want %v after %v", got, after, test.want, test.after)
						}
						return v.Stay()
					}})
				})
			})
		}
	}
}

// TestGamesThatWereOverMeanwhile: a game that is not told again after a reconnect is over.
func TestGamesThatWereOverMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		newScripted(t,
			ended(func(k *talk) error {
				k.send(gameStarted("g", false), gameStarted("h", false), ask("r1"))
				time.Sleep(time.Second)
				return status.Error(codes.Unavailable, "lost")
			}),
			func(k *talk) error {
				if _, err := k.welcome(1); err != nil {
					return err
				}
				k.send(gameStarted("h", true))
				select {
				case <-over:
				case <-time.After(time.Second):
					return scriptError("the bot goes on thinking about a game that is over")
				}
				if err := k.quiet(time.Second); err != nil {
					return err
				}
				return k.bye()
			}).play(flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
			<-v.Context().Done()
			close(over)
			return v.Stay()
		}})
	})
}

// TestGoodbyeToABotThatIsNotHeard: the arena reads nothing, so that the bot's writer is stuck when the stream ends.
func TestGoodbyeToABotThatIsNotHeard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScripted(t, ended(func(k *talk) error {
			for number := range uint32(300) { // more than the windows and buffers of a connection hold
				k.send(slices.Repeat([]*flip7v1.ArenaMessage{ping(number + 1<<30)}, 64)...)
			}
			k.send(goodbye("REPLACED", "the test is over"))
			<-k.stream.Context().Done()
			return nil
		}))
		a.play(flip7.Bot{})
		if took := time.Since(a.begun); took != 0 {
			t.Errorf("the bot took %v to end, want no time", took)
		}
	})
}

func TestCancel(t *testing.T) {
	hold := ended(func(k *talk) error {
		k.send(ask("r1"))
		<-k.stream.Context().Done()
		return nil
	})
	for _, test := range []struct {
		name    string
		scripts []func(*talk) error
		dial    func(context.Context, string) (net.Conn, error)
	}{
		{"while the bot thinks", []func(*talk) error{hold}, nil},
		{"while the arena is silent", []func(*talk) error{func(k *talk) error { <-k.stream.Context().Done(); return nil }}, nil},
		{"while it waits to come back", []func(*talk) error{func(*talk) error { return statusOf(codes.ResourceExhausted, "SERVER_FULL", time.Hour) }}, nil},
		{"while it connects", nil, func(ctx context.Context, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // a goroutine left behind fails the bubble
				a := newScripted(t, test.scripts...)
				why := errors.New("enough")
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(3*time.Second, func() { cancel(why) })
				err := flip7.Play(ctx, a.bot(flip7.Bot{Dial: test.dial, Decide: func(v *flip7.View) flip7.Decision {
					<-v.Context().Done()
					return v.Stay()
				}}))
				if err != why {
					t.Errorf("got %v, want the cause of the context", err)
				}
				if took := time.Since(a.begun); took != 3*time.Second {
					t.Errorf("Play ended after %v, want 3s", took)
				}
			})
		})
	}
}

// TestLeave plays the games to their end and closes the bot's side.
func TestLeave(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("the stream is lost meanwhile: %t", lost), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leave := make(chan struct{})
				last := func(k *talk) error {
					k.send(ask("r1"))
					if err := k.expect("r1: stay"); err != nil {
						return err
					}
					k.send(gameFinished("g"))
					if m, open := <-k.heard; open {
						return scriptError(fmt.Sprintf("got %v, want the bot's side closed", m))
					}
					return nil
				}
				first := ended(func(k *talk) error {
					k.send(gameStarted("g", false))
					time.Sleep(time.Second)
					close(leave)
					m, err := k.next()
					if err != nil {
						return err
					}
					if c := m.GetCapacity(); c == nil || c.GetMaxGames() != 0 || c.GetMaxOpen() != 1 {
						return scriptError(fmt.Sprintf("got %v, want a capacity of no games", m))
					}
					if lost {
						return status.Error(codes.Unavailable, "lost")
					}
					return last(k)
				})
				scripts := []func(*talk) error{first}
				if lost {
					scripts = append(scripts, func(k *talk) error {
						hello, err := k.welcome(1)
						if err != nil {
							return err
						}
						if got := hello.GetCapacity().GetMaxGames(); got != 0 {
							return scriptError(fmt.Sprintf("hello asks for %d games, want none", got))
						}
						k.send(gameStarted("g", true))
						return last(k)
					})
				}
				if err := newScripted(t, scripts...).play(flip7.Bot{Leave: leave}); err != nil {
					t.Errorf("got %v, want nil", err)
				}
			})
		})
	}
}

// TestLeaveAfterAGameThatBeganMeanwhile: one that began while the bot was away is counted in the welcome, and told as new.
func TestLeaveAfterAGameThatBeganMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		lost := ended(func(*talk) error { return status.Error(codes.Unavailable, "lost") })
		back := func(k *talk) error {
			if _, err := k.welcome(1); err != nil {
				return err
			}
			k.send(gameStarted("g", false), gameFinished("g"))
			time.Sleep(time.Second)
			close(leave)
			for m := range k.heard {
				if m.GetCapacity() == nil {
					return scriptError(fmt.Sprintf("got %v, want a capacity and the bot's side closed", m))
				}
			}
			return nil
		}
		if err := newScripted(t, lost, back).play(flip7.Bot{Leave: leave}); err != nil {
			t.Errorf("got %v, want nil", err)
		}
	})
}

// TestGamesOfOtherInstances: a request may also come for a game that another instance of the bot plays, which tells this one
// neither that the game begins nor that it is over. It is answered; who leaves does not wait for it, and only the last of
// such games are remembered.
func TestGamesOfOtherInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		leave := make(chan struct{})
		theirs := func(k *talk, game int) error {
			k.send(requestMessage(turn(fmt.Sprint("theirs", game), fmt.Sprint("t", game))))
			return k.expect(fmt.Sprintf("t%d: stay", game))
		}
		a := newScripted(t, ended(func(k *talk) error {
			k.send(gameStarted("g", false), ask("r1"))
			if err := k.expect("r1: stay"); err != nil {
				return err
			}
			for game := range 1000 {
				if err := theirs(k, game); err != nil {
					return err
				}
			}
			for _, again := range []int{999, 0} { // the one is remembered, the other not
				if err := theirs(k, again); err != nil {
					return err
				}
			}
			k.send(ask("r1"))
			if err := k.expect("r1: stay"); err != nil {
				return err
			}
			close(leave)
			time.Sleep(time.Second)
			k.send(gameFinished("g"))
			for m := range k.heard {
				if m.GetCapacity() == nil {
					return scriptError(fmt.Sprintf("got %v, want a capacity and the bot's side closed", m))
				}
			}
			return nil
		}))
		err := a.play(flip7.Bot{Leave: leave, Decide: func(v *flip7.View) flip7.Decision {
			asked.Add(1)
			return v.Stay()
		}})
		if took := time.Since(a.begun); err != nil || took != time.Second {
			t.Errorf("got %v after %v, want nil as the game is over after 1s", err, took)
		}
		if got := asked.Load(); got != 1002 {
			t.Errorf("Decide was called %d times, want 1002: once for each request, and again for the oldest", got)
		}
	})
}

func TestLeaveWithoutGames(t *testing.T) {
	for _, test := range []struct {
		name    string
		scripts []func(*talk) error
		dial    func(context.Context, string) (net.Conn, error)
		within  time.Duration
	}{
		{"while it is welcome", []func(*talk) error{ended(func(k *talk) error {
			for range k.heard { // until the bot closes its side
			}
			return nil
		})}, nil, 0},
		{"of an arena that does not let go", []func(*talk) error{ended(func(k *talk) error {
			<-k.stream.Context().Done()
			return nil
		})}, nil, 5 * time.Second},
		{"while it waits to come back", []func(*talk) error{func(*talk) error { return statusOf(codes.ResourceExhausted, "SERVER_FULL", time.Hour) }}, nil, 0},
		{"while it connects", nil, func(ctx context.Context, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leave := make(chan struct{})
				time.AfterFunc(3*time.Second, func() { close(leave) })
				a := newScripted(t, test.scripts...)
				if err := a.play(flip7.Bot{Leave: leave, Dial: test.dial}); err != nil {
					t.Errorf("got %v, want nil", err)
				}
				if took := time.Since(a.begun) - 3*time.Second; took != test.within {
					t.Errorf("leaving took %v, want %v", took, test.within)
				}
			})
		})
	}
}

// TestCallbacks: in order, and before the decisions that come later.
func TestCallbacks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		tell := func(format string, args ...any) { told = append(told, fmt.Sprintf(format, args...)) }
		a := newScripted(t, ended(func(k *talk) error {
			k.send(gameStarted("g", false), event(1), event(2), ask("r1"))
			if err := k.expect("r1: stay"); err != nil {
				return err
			}
			k.send(event(3), gameFinished("g"))
			return k.bye()
		}))
		a.play(flip7.Bot{
			Decide: func(v *flip7.View) flip7.Decision {
				tell("decide %s", v.Request().GetRequestId())
				return v.Stay()
			},
			GameStarted:  func(s flip7.GameStarted) { tell("started %s at %d, bots %v", s.Game.ID, s.Me, s.Game.Bots) },
			GameFinished: func(f flip7.GameFinished) { tell("finished: %v", f) },
			Event: func(e flip7.Event) {
				time.Sleep(time.Second) // a slow one delays what comes after it
				tell("event %d: %s seat %d %s", e.Number, e.Kind, e.Seat, e.Card)
				panic("a callback that fails harms nobody")
			},
		})
		want := []string{
			"started g at 2, bots [ann bob cyd dot]",
			"event 1: drawn seat 3 12",
			"event 2: drawn seat 3 12",
			"decide r1",
			"event 3: drawn seat 3 12",
			"finished: game g is over after 9 rounds: place 1 of 4 with 211 points, 1 fault",
		}
		if !slices.Equal(told, want) {
			t.Errorf("got  %q\nwant %q", told, want)
		}
		if got := strings.Count(a.log.String(), "a callback panicked"); got != 3 {
			t.Errorf("%d panics are logged, want 3:\n%s", got, a.log)
		}
	})
}

// TestEventsAreDropped when the bot does not keep up; nothing else is.
func TestEventsAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var last, events atomic.Int32
		slow := make(chan struct{})
		a := newScripted(t, ended(func(k *talk) error {
			for batch := range uint32(200) {
				var messages []*flip7v1.ArenaMessage
				for i := range uint32(64) {
					messages = append(messages, event(64*batch+i+1))
				}
				k.send(messages...)
			}
			k.send(ask("r1"), ping(1))
			if m, err := k.next(); err != nil || m.GetPong() == nil {
				return scriptError(fmt.Sprintf("got %v, %v, want a pong", m, err))
			}
			close(slow)
			if err := k.expect("r1: stay"); err != nil {
				return err
			}
			k.send(event(20000))
			return k.bye()
		}))
		a.play(flip7.Bot{Event: func(e flip7.Event) {
			<-slow
			events.Add(1)
			last.Store(int32(e.Number))
		}})
		if got := events.Load(); got < 4096 || got > 4096+256 {
			t.Errorf("%d of 12801 events were told, want the 4096 that may wait and a few batches", got)
		}
		if got := last.Load(); got != 20000 {
			t.Errorf("the last event told is %d, want 20000", got)
		}
		if got := strings.Count(a.log.String(), "events are dropped"); got != 1 {
			t.Errorf("that is logged %d times, want once:\n%s", got, a.log)
		}
	})
}

// TestVanishAndComeBack: a program cancels Play and calls it again as the same instance.
func TestVanishAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newScripted(t,
			ended(func(k *talk) error { <-k.stream.Context().Done(); return nil }),
			ended((*talk).bye))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := flip7.Play(ctx, a.bot(flip7.Bot{Instance: "one"})); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
		}
		time.Sleep(3 * time.Second)
		a.play(flip7.Bot{Instance: "one"})
		for _, hello := range a.hellos {
			if got := hello.GetInstanceId(); got != "one" {
				t.Errorf("got instance %q, want one", got)
			}
		}
	})
}
