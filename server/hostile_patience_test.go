package server

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// drip sends pieces, one a second, until the connection is gone.
func (r *raw) drip(pieces ...[]byte) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, piece := range pieces {
			if _, err := r.Write(piece); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	}()
	r.t.Cleanup(func() { r.Close(); <-done })
}

// bytewise are the bytes of something, each a piece, or each in a frame of data if stream is not 0.
func bytewise(b []byte, stream uint32) (pieces [][]byte) {
	for i := range b {
		piece := b[i : i+1]
		if stream != 0 {
			piece = framed(frameData, 0, stream, piece)
		}
		pieces = append(pieces, piece)
	}
	return pieces
}

// TestHostileClientsThatTakeTheirTime are those that wait, or have others wait.
func TestHostileClientsThatTakeTheirTime(t *testing.T) {
	long := strings.Repeat("x", 1000)
	for _, a := range []struct {
		name string
		// attack returns when the arena has ended what it is about.
		attack func(t *testing.T, s *siege)
		within time.Duration
	}{
		{"a connection on which nothing is said", func(t *testing.T, s *siege) {
			conn, err := s.dial()
			if err != nil {
				t.Fatal(err)
			}
			(&raw{Conn: conn, t: t}).gone("silence")
		}, 10 * time.Second},
		{"a greeting, a byte a second", func(t *testing.T, s *siege) {
			conn, err := s.dial()
			if err != nil {
				t.Fatal(err)
			}
			r := &raw{Conn: conn, t: t}
			r.drip(bytewise([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 0)...)
			r.gone("a slow greeting")
		}, 10 * time.Second},
		{"headers, a byte a second", func(t *testing.T, s *siege) {
			r := s.raw()
			r.drip(bytewise(framed(frameHeaders, flagEndHeaders, 1, call(playMethod, s.mallory, "padding", long)), 0)...)
			r.gone("slow headers")
		}, 30 * time.Second},
		{"a request, a byte a second", func(t *testing.T, s *siege) {
			r := s.raw()
			id := r.open(flip7v1.BotService_GetBot_FullMethodName, "")
			r.drip(bytewise(message(t, &flip7v1.GetBotRequest{Name: long}), id)...)
			r.ends(id)
		}, 10 * time.Second},
		{"a request without a body", func(t *testing.T, s *siege) {
			r := s.raw()
			r.ends(r.open(flip7v1.BotService_GetBot_FullMethodName, ""))
		}, 10 * time.Second},
		{"the request of a stream, a byte a second", func(t *testing.T, s *siege) {
			r := s.raw()
			id := r.open(flip7v1.WatchService_WatchTournament_FullMethodName, "")
			r.drip(bytewise(message(t, &flip7v1.WatchTournamentRequest{TournamentId: long}), id)...)
			r.ends(id)
		}, 10 * time.Second},
		{"a stream of health without a request", func(t *testing.T, s *siege) {
			r := s.raw()
			r.ends(r.open(grpc_health_v1.Health_Watch_FullMethodName, ""))
		}, 10 * time.Second},
		{"reflection that asks nothing", func(t *testing.T, s *siege) {
			r := s.raw()
			r.ends(r.open(grpc_reflection_v1.ServerReflection_ServerReflectionInfo_FullMethodName, ""))
		}, 10 * time.Second},
		{"no hello", func(t *testing.T, s *siege) {
			stream, err := flip7v1.NewPlayServiceClient(s.dialled()).Play(as(t.Context(), s.mallory))
			if err != nil {
				t.Fatal(err)
			}
			b := &bot{PlayService_PlayClient: stream, t: t}
			if _, last, err := b.end(); last.GetReason() != flip7v1.EndReason_END_REASON_NO_HELLO || status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("ended with %v, %v, want NO_HELLO", last, err)
			}
		}, 6 * time.Second},
		{"hello, a byte a second", func(t *testing.T, s *siege) {
			r := s.raw()
			id := r.open(playMethod, s.mallory)
			r.drip(bytewise(message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello()}}), id)...)
			r.ends(id)
		}, 6 * time.Second},
		{"a decision, a byte a second", func(t *testing.T, s *siege) {
			r := s.raw()
			id := r.open(playMethod, s.mallory)
			r.send(frameData, 0, id, message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello()}}))
			r.drip(bytewise(message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{decision(long, flip7v1.Answer_ANSWER_HIT)}}), id)...)
			r.ends(id)
		}, 37 * time.Second},
		{"a bot that answers no ping", func(t *testing.T, s *siege) {
			b := s.play(s.mallory, hello())
			if _, last, err := b.end(); last.GetReason() != flip7v1.EndReason_END_REASON_SILENT || status.Code(err) != codes.DeadlineExceeded {
				t.Errorf("ended with %v, %v, want SILENT", last, err)
			}
		}, 37 * time.Second},
		{"a bot whose packets are dropped", func(t *testing.T, s *siege) {
			r := s.raw()
			r.send(frameData, 0, r.open(playMethod, s.mallory), message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello()}}))
			synctest.Wait() // from now on nothing is read or written, and the connection stays open
			if p, there := s.bots.Bots.Presence("mallory"); !there {
				t.Fatalf("presence %+v, want it there", p)
			}
			for there := true; there; _, there = s.bots.Bots.Presence("mallory") {
				time.Sleep(time.Second)
			}
		}, 31 * time.Second},
		{"a bot in a game whose packets are dropped", func(t *testing.T, s *siege) {
			r := s.raw()
			r.send(frameData, 0, r.open(playMethod, s.mallory), message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello()}}))
			synctest.Wait()
			id := s.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1, Seats: 3, Anchor: flip7v1.Anchor_ANCHOR_OFF},
				"bot:mallory", "house:stay-25", "house:random")
			if end := s.hosting.play(id).GetState(); end != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED {
				t.Errorf("its night is %v, want it finished", end)
			}
		}, time.Minute}, // three requests in a row go unanswered, in three games that begin with 11 s for each
		{"a connection without calls that answers pings", func(t *testing.T, s *siege) {
			r := s.raw()
			if _, err := r.until(frameGoAway); err != nil {
				t.Fatal(err)
			}
			r.gone("no calls")
		}, idleConnection + 2*time.Minute},
		{"a spectator that takes nothing", func(t *testing.T, s *siege) {
			r := s.raw(4, 1000) // the initial window
			id := r.open(flip7v1.WatchService_WatchTournament_FullMethodName, "")
			r.send(frameData, flagEnd, id, message(t, &flip7v1.WatchTournamentRequest{TournamentId: s.night, GameEvents: true}))
			go r.until(frameGoAway) // and answers pings
			synctest.Wait()
			for s.watchers() > 0 {
				time.Sleep(time.Second)
			}
		}, 10 * time.Minute}, // until the events of a slow night fill what gRPC keeps
	} {
		t.Run(a.name, func(t *testing.T) {
			began := time.Now()
			patiently(t, func(t *testing.T, s *siege) {
				began := time.Now()
				a.attack(t, s)
				if took := time.Since(began); took > a.within {
					t.Errorf("it took the arena %v to end it, want %v at most", took, a.within)
				} else {
					t.Log(took)
				}
			})
			t.Log("real", time.Since(began))
		})
	}
}

// TestTheWayDownWaitsForNobodyWhoTakesNothing: a hundred bots, each a spectator too, that keep their connections alive for
// as long as they are let and take nothing.
func TestTheWayDownWaitsForNobodyWhoTakesNothing(t *testing.T) {
	for _, test := range []struct {
		name   string
		stop   func(s *siege)
		within time.Duration
	}{
		{"told to stop", func(s *siege) { s.stop() }, 10 * time.Second},
		{"told to stop at once", func(s *siege) { s.Stop() }, 4 * time.Second},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := start(t)
				s := besiege(r, r.listener.(*bufconn.Listener).Dial, 200*time.Millisecond)
				const readers = 100
				conns := make([]*raw, readers)
				for n := range conns {
					conns[n] = s.raw(noWindow...)
					id := conns[n].open(playMethod, s.eve(fmt.Sprint(n)))
					conns[n].send(frameData, 0, id, message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello()}}))
					conns[n].cling(id)
				}
				time.Sleep(2 * (keepaliveTime + keepaliveTimeout))
				for _, c := range conns { // only now: a spectator who takes nothing does not last as long
					id := c.open(flip7v1.WatchService_WatchTournament_FullMethodName, s.mallory)
					c.send(frameData, flagEnd, id, message(t, &flip7v1.WatchTournamentRequest{TournamentId: s.night, GameEvents: true}))
				}
				s.unharmed()
				there := 0
				for n := range readers {
					if _, is := s.bots.Bots.Presence(fmt.Sprint("eve-", n)); is {
						there++
					}
				}
				if there < readers || s.watchers() < readers {
					t.Errorf("%d bots and %d spectators are still there, want %d of each", there, s.watchers(), readers)
				}
				began := time.Now()
				test.stop(s)
				s.ended <- <-s.ended
				if took := time.Since(began); took > test.within {
					t.Errorf("the way down took %v, want %v at most", took, test.within)
				} else {
					t.Log(took)
				}
			})
		})
	}
}

// watchers is how many spectators there are.
func (s *siege) watchers() int {
	seats := s.Server.watch.seats
	seats.mu.Lock()
	defer seats.mu.Unlock()
	return seats.in
}

// ends reads until a call has ended, and answers pings.
func (r *raw) ends(stream uint32) {
	r.t.Helper()
	for {
		f, err := r.next()
		switch {
		case err != nil:
			r.t.Errorf("the connection ends with %v, want the call to end", err)
			return
		case f.kind == framePing && f.flags&flagEnd == 0:
			r.send(framePing, flagEnd, 0, f.payload)
		case f.stream == stream && (f.kind == frameReset || f.kind == frameHeaders && f.flags&flagEnd != 0):
			return
		}
	}
}
