package remote_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

// character is how a bot behaves; it returns when ctx has ended.
type character func(ctx context.Context, a *arena, name string, r *rand.Rand)

// reconnecting comes again whenever its stream has ended.
func reconnecting(talk func(ctx context.Context, c *client, r *rand.Rand)) character {
	return func(ctx context.Context, a *arena, name string, r *rand.Rand) {
		for ctx.Err() == nil {
			c := a.dial(name).listen(false)
			c.send(say(hello("1", uint32(1+r.IntN(8)), uint32(1+r.IntN(4)))))
			talk(ctx, c, r)
			c.cancel()
			for range c.got {
			}
			sleep(ctx, time.Duration(r.IntN(500))*time.Millisecond)
		}
	}
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// follow calls on with each message until the stream or ctx ends or on says so.
func (c *client) follow(ctx context.Context, on func(m *flip7v1.ArenaMessage) bool) {
	for {
		select {
		case m, ok := <-c.got:
			if !ok || !on(m) {
				return
			}
		case <-ctx.Done():
			return
		}
	}
}

var characters = map[string]character{
	"good": reconnecting(func(ctx context.Context, c *client, r *rand.Rand) {
		c.follow(ctx, func(m *flip7v1.ArenaMessage) bool {
			if req := m.GetRequest(); req != nil {
				sleep(ctx, time.Duration(r.IntN(50))*time.Millisecond)
				c.answer(req, r)
			}
			return true
		})
	}),
	"slow": reconnecting(func(ctx context.Context, c *client, r *rand.Rand) {
		c.follow(ctx, func(m *flip7v1.ArenaMessage) bool {
			if req := m.GetRequest(); req != nil {
				sleep(ctx, 900*time.Millisecond)
				c.answer(req, r)
			}
			return true
		})
	}),
	"never decides": reconnecting(func(ctx context.Context, c *client, r *rand.Rand) {
		c.follow(ctx, func(*flip7v1.ArenaMessage) bool { return true })
	}),
	"reconnects every second": reconnecting(func(ctx context.Context, c *client, r *rand.Rand) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		c.follow(ctx, func(m *flip7v1.ArenaMessage) bool {
			if req := m.GetRequest(); req != nil {
				sleep(ctx, time.Duration(r.IntN(300))*time.Millisecond)
				c.answer(req, r)
			}
			return true
		})
	}),
	"floods in bursts": reconnecting(func(ctx context.Context, c *client, r *rand.Rand) {
		for ctx.Err() == nil && c.stream.Context().Err() == nil {
			for range 100 {
				c.decide("1/1/1/1/1/1", hit)
			}
			sleep(ctx, 100*time.Millisecond)
		}
	}),
	"garbage": reconnecting(func(ctx context.Context, c *client, r *rand.Rand) {
		c.follow(ctx, func(m *flip7v1.ArenaMessage) bool {
			switch r.IntN(5) {
			case 0:
				c.send()
			case 1:
				c.send(fromTheFuture(), &flip7v1.BotMessage{}, say(hello("1", 1, 1)), pong(1<<31))
			case 2:
				c.decide(m.GetRequest().GetRequestId(), flip7v1.Answer(r.Int32()), r.Uint32())
			case 3:
				c.decide(strings.Repeat("x/1", r.IntN(100)), hit)
			case 4:
				c.answer(m.GetRequest(), r)
			}
			sleep(ctx, time.Duration(r.IntN(200))*time.Millisecond)
			return true
		})
	}),
	"two instances, one of which dies": func(ctx context.Context, a *arena, name string, r *rand.Rand) {
		var instances sync.WaitGroup
		for n := range 2 {
			r := rand.New(rand.NewPCG(r.Uint64(), 1))
			instances.Go(func() {
				for ctx.Err() == nil {
					c := a.dial(name).listen(false)
					c.send(say(hello(fmt.Sprint(n), 4, 2)))
					life, cancel := context.WithTimeout(ctx, time.Duration(n*(1+r.IntN(3000))+1000*3600*(1-n))*time.Millisecond)
					c.follow(life, func(m *flip7v1.ArenaMessage) bool {
						if req := m.GetRequest(); req != nil {
							sleep(life, time.Duration(r.IntN(100))*time.Millisecond)
							c.answer(req, r)
						}
						return true
					})
					cancel()
					c.cancel()
					for range c.got {
					}
				}
			})
		}
		instances.Wait()
	},
}

// answer decides a request by chance.
func (c *client) answer(r *flip7v1.DecisionRequest, chance *rand.Rand) {
	if seats := r.GetLegalSeats(); len(seats) > 0 {
		c.decide(r.GetRequestId(), give, seats[chance.IntN(len(seats))])
	} else {
		c.decide(r.GetRequestId(), []flip7v1.Answer{hit, hit, stay, pass}[chance.IntN(4)])
	}
}

// TestGamesEndWhateverBotsDo plays with one bot of each character at every table, and looks at what it costs the good one.
func TestGamesEndWhateverBotsDo(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var bots sync.WaitGroup
				names := []string{"good", "slow", "never decides", "reconnects every second", "floods in bursts", "garbage",
					"two instances, one of which dies"}
				for i, name := range names {
					r := rand.New(rand.NewPCG(seed, uint64(i)))
					bots.Go(func() { characters[name](ctx, a, name, r) })
				}
				synctest.Wait()
				start := time.Now()
				var games sync.WaitGroup
				for n := range 8 {
					games.Go(func() {
						setup := a.setup(gameID(n), byte(n), names...)
						setup.Info.Rules.MaxRounds = 3
						o, err := table.Play(ctx, setup)
						if err != nil {
							t.Error(err)
							return
						}
						for i, move := range o.Record.Moves {
							if seat := o.Timings[i].Seat; names[seat] == "good" && move.Cause != game.Chosen && move.Cause != game.Passed {
								t.Errorf("game %d, request %d: the good bot has cause %v after %v", n, i, move.Cause, o.Timings[i].Took)
							}
						}
					})
				}
				games.Wait()
				t.Logf("%v in the bubble", time.Since(start))
				cancel()
				bots.Wait()
			})
		})
	}
}

// TestAThousandSessionsLeaveNothing: in a bubble a goroutine that is left would be found.
func TestAThousandSessionsLeaveNothing(t *testing.T) {
	inBubble(t, remote.Config{Limits: remote.Limits{Streams: 8}}, func(t *testing.T, a *arena) {
		r := rand.New(rand.NewPCG(1, 1))
		for n := range 1000 {
			c := a.dial(fmt.Sprint("bot", n%3))
			switch r.IntN(4) {
			case 0: // reset before anything is said
			case 1:
				c.send(say(hello("1", 1, 1)))
			case 2:
				c.send(say(hello("1", 1, 1)))
				c.listen(false).next()
			case 3:
				c.close()
			}
			c.cancel()
			synctest.Wait() // the stream is gone, or eight would be there
			time.Sleep(50 * time.Millisecond)
		}
		for n := range 3 {
			if p, here := a.bots.Presence(fmt.Sprint("bot", n)); here {
				t.Errorf("bot%d is here still: %+v", n, p)
			}
		}
		for n := range 8 {
			a.welcome(fmt.Sprint("new", n), hello("1", 1, 1))
		}
	})
}

func TestAHookThatPanicsHarmsNobody(t *testing.T) {
	config := remote.Config{Hooks: remote.Hooks{
		Answered:  func(remote.Answered) { panic("answered") },
		Judged:    func(remote.Judged) { panic("judged") },
		Welcomed:  func(remote.Session) { panic("welcomed") },
		Connected: func(string, int) { panic("connected") },
		Ended:     func(remote.Session, flip7v1.EndReason, string) { panic("ended") },
	}}
	inBubble(t, config, func(t *testing.T, a *arena) {
		c, _ := a.welcome("ann", hello("1", 8, 8))
		s := a.sit("ann", "1/1/1/1")
		defer s.end()
		c.started()
		asked := s.ask()
		id := c.request().GetRequestId()
		c.send(decision(id, give, "a note"))
		c.verdict(illegal)
		c.send(decision(id, hit, "a note"))
		s.want(asked, table.Answer{Decision: game.Hit, Illegal: 1})
		c.close()
		c.ends()
	})
}

// failing is a stream on which the arena panics, when so many batches have come or are to go out.
type failing struct {
	stream
	recv, send int
}

func (f *failing) Recv() (*flip7v1.PlayRequest, error) {
	m, err := f.stream.Recv()
	if f.recv--; f.recv == 0 {
		panic("recv")
	}
	return m, err
}

func (f *failing) Send(m *flip7v1.PlayResponse) error {
	if f.send--; f.send == 0 {
		panic("send")
	}
	return f.stream.Send(m)
}

func TestAPanicEndsItsStreamAndNothingElse(t *testing.T) {
	for _, c := range []struct {
		name string
		far  failing
	}{
		{"in the reader", failing{recv: 3}},
		{"in the writer", failing{send: 2}},
	} {
		t.Run(c.name, func(t *testing.T) {
			inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
				a.wrap = func(s stream) stream {
					failing := c.far
					failing.stream = s
					return &failing
				}
				client := a.dial("ann").listen(false)
				client.send(say(hello("1", 8, 8)))
				client.next()   // the Welcome, in the first batch
				synctest.Wait() // the Pong, in the second
				s := a.sit("ann", "1/1/1/1")
				defer s.end()
				asked := s.ask()
				client.decide("x/1/1", hit)
				if _, err := client.ends(); reasonOf(err) != "INTERNAL" {
					t.Errorf("ended with %v", err)
				}
				a.wrap = nil
				client, w := a.welcome("ann", hello("1", 8, 8))
				if w.GetGames() != 1 {
					t.Errorf("got %v", w)
				}
				client.started()
				client.decide(client.request().GetRequestId(), hit)
				s.want(asked, table.Answer{Decision: game.Hit})
			})
		})
	}
}

// FuzzBatch: whatever bytes a bot sends, at first or after a Hello, another bot's game goes on and the stream that sent
// them can be ended.
func FuzzBatch(f *testing.F) {
	for _, m := range []*flip7v1.PlayRequest{
		{Messages: []*flip7v1.BotMessage{say(hello("1", 8, 8))}},
		{Messages: []*flip7v1.BotMessage{decision("1/1/1/1/1/1", hit, "note"), pong(1), {}, fromTheFuture()}},
	} {
		data, err := proto.Marshal(m)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, true)
		f.Add(data, false)
	}
	f.Fuzz(func(t *testing.T, data []byte, welcomed bool) {
		inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
			other, _ := a.welcome("bob", hello("1", 8, 8))
			s, mine := a.sit("bob", "1/1/1/2"), a.sit("ann", "1/1/1/1")
			defer s.end()
			defer mine.end()
			other.started()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			asked, askedMine := s.ask(), mine.askWith(ctx)

			c := a.dial("ann").listen(false)
			if welcomed {
				c.send(say(hello("1", 8, 8)))
			}
			m := new(flip7v1.PlayRequest)
			m.ProtoReflect().SetUnknown(data)
			if raw, err := proto.Marshal(m); err != nil || len(raw) != len(data) {
				t.Skip("no bytes that can be sent as they are")
			}
			if err := c.put(m); err != nil {
				t.Skip(err)
			}
			synctest.Wait()
			other.decide(other.request().GetRequestId(), hit)
			s.want(asked, table.Answer{Decision: game.Hit})
			cancel()
			<-askedMine
			c.cancel()
			c.ends()
		})
	})
}
