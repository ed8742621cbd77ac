package remote_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

// arena is a server with nothing but bots, on a connection in memory. The name of a bot is its token.
type arena struct {
	t    testing.TB
	bots *remote.Bots
	conn *grpc.ClientConn
	wrap func(stream) stream // what comes between, nil: nothing
}

type stream = grpc.BidiStreamingServer[flip7v1.PlayRequest, flip7v1.PlayResponse]

type service struct {
	flip7v1.UnimplementedPlayServiceServer
	*arena
}

func (s service) Play(stream stream) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	if s.wrap != nil {
		stream = s.wrap(stream)
	}
	return s.bots.Serve(md.Get("bot")[0], stream)
}

// inBubble runs a test against a server in a bubble, where hours take no time and a goroutine that is left is an error.
// No stalls are measured and no grace is given unless the config says so.
func inBubble(t *testing.T, config remote.Config, test func(t *testing.T, a *arena)) {
	synctest.Test(t, func(t *testing.T) {
		test(t, newArena(t, config))
	})
}

func newArena(t testing.TB, config remote.Config) *arena {
	if config.Stalls == nil {
		config.Stalls = func() time.Duration { return 0 }
	}
	if config.Limits.ReconnectGrace == 0 {
		config.Limits.ReconnectGrace = -1
	}
	config.Log = slog.New(slog.DiscardHandler)
	bots := remote.New(config)
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 10))
	a := &arena{t: t, bots: bots}
	flip7v1.RegisterPlayServiceServer(server, service{arena: a})
	listener := bufconn.Listen(256 << 10)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	var err error
	a.conn, err = grpc.NewClient("passthrough:///arena",
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) }),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		bots.Close()
		a.conn.Close()
		server.Stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	return a
}

// client is the far end of a stream. It keeps what it is told, and answers pings unless it is mute.
type client struct {
	t      testing.TB
	stream grpc.BidiStreamingClient[flip7v1.PlayRequest, flip7v1.PlayResponse]
	cancel context.CancelFunc
	open   chan bool                  // whether the client's side is; held by who sends, for a stream takes one at a time
	got    chan *flip7v1.ArenaMessage // all but pings
	pinged chan *flip7v1.Ping         // by a mute client
	ended  chan error                 // what the stream ended with
}

// dial opens a stream for a bot, and says nothing.
func (a *arena) dial(bot string) *client {
	a.t.Helper()
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(context.Background(), "bot", bot))
	stream, err := flip7v1.NewPlayServiceClient(a.conn).Play(ctx)
	if err != nil {
		a.t.Fatal(err)
	}
	a.t.Cleanup(cancel)
	c := &client{t: a.t, stream: stream, cancel: cancel, open: make(chan bool, 1)}
	c.open <- true
	return c
}

// listen begins to read.
func (c *client) listen(mute bool) *client {
	c.got, c.pinged, c.ended = make(chan *flip7v1.ArenaMessage, 4096), make(chan *flip7v1.Ping, 4096), make(chan error, 1)
	pongs := make(chan uint32, 4096)
	if !mute {
		go func() {
			for number := range pongs {
				c.send(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: number}}})
			}
		}()
	}
	go func() {
		defer close(c.got)
		defer close(pongs)
		for {
			batch, err := c.stream.Recv()
			if err != nil {
				c.ended <- err
				return
			}
			for _, m := range batch.GetMessages() {
				if ping := m.GetPing(); ping == nil {
					c.got <- m
				} else if mute {
					c.pinged <- ping
				} else {
					pongs <- ping.GetNumber()
				}
			}
		}
	}()
	return c
}

// send sends a batch. A stream that has ended is no error: a test sees that by what it is told.
func (c *client) send(messages ...*flip7v1.BotMessage) {
	if err := c.put(&flip7v1.PlayRequest{Messages: messages}); err != nil && !errors.Is(err, io.EOF) && c.stream.Context().Err() == nil {
		c.t.Error(err)
	}
}

// put sends a request as it is, unless the client's side is closed.
func (c *client) put(m *flip7v1.PlayRequest) error {
	open := <-c.open
	defer func() { c.open <- open }()
	if !open {
		return nil
	}
	return c.stream.Send(m)
}

// close closes the client's side.
func (c *client) close() {
	<-c.open
	c.stream.CloseSend() // its error is always nil
	c.open <- false
}

func say(h *flip7v1.Hello) *flip7v1.BotMessage {
	return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Hello{Hello: h}}
}

// hello is a Hello of an instance that takes so much.
func hello(instance string, games, open uint32) *flip7v1.Hello {
	return &flip7v1.Hello{Protocol: 1, InstanceId: instance, Build: "v1", Capacity: &flip7v1.Capacity{MaxGames: games, MaxOpen: open}}
}

// welcome connects a bot by a hello and returns it welcomed.
func (a *arena) welcome(bot string, h *flip7v1.Hello) (*client, *flip7v1.Welcome) {
	a.t.Helper()
	c := a.dial(bot).listen(false)
	c.send(say(h))
	w := c.next()
	if w.GetWelcome() == nil {
		a.t.Fatalf("got %v, want a welcome", w)
	}
	return c, w.GetWelcome()
}

// next is the next message. It must come within a minute.
func (c *client) next() *flip7v1.ArenaMessage {
	c.t.Helper()
	select {
	case m, ok := <-c.got:
		if !ok {
			c.t.Fatalf("the stream ended with %v", <-c.ended)
		}
		return m
	case <-time.After(time.Minute):
		c.t.Fatal("nothing came for a minute")
	}
	return nil
}

// request is the next message, which must be a request.
func (c *client) request() *flip7v1.DecisionRequest {
	c.t.Helper()
	m := c.next()
	if m.GetRequest() == nil {
		c.t.Fatalf("got %v, want a request", m)
	}
	return m.GetRequest()
}

// verdict is the next message, which must be a verdict of a code.
func (c *client) verdict(code flip7v1.VerdictCode) *flip7v1.Verdict {
	c.t.Helper()
	m := c.next()
	if m.GetVerdict().GetCode() != code || m.GetVerdict() == nil {
		c.t.Fatalf("got %v, want a verdict %v", m, code)
	}
	return m.GetVerdict()
}

// started is the next message, which must be the start of a game.
func (c *client) started() *flip7v1.GameStarted {
	c.t.Helper()
	m := c.next()
	if m.GetGameStarted() == nil {
		c.t.Fatalf("got %v, want the start of a game", m)
	}
	return m.GetGameStarted()
}

// silent fails if anything has come, or comes before everything stands still.
func (c *client) silent() {
	c.t.Helper()
	synctest.Wait()
	select {
	case m, ok := <-c.got:
		if ok {
			c.t.Fatalf("got %v, want silence", m)
		}
	default:
	}
}

// decide answers a request.
func (c *client) decide(id string, answer flip7v1.Answer, seat ...uint32) {
	d := &flip7v1.Decision{RequestId: id, Answer: answer}
	if len(seat) > 0 {
		d.Seat = &seat[0]
	}
	c.send(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: d}})
}

const (
	hit  = flip7v1.Answer_ANSWER_HIT
	stay = flip7v1.Answer_ANSWER_STAY
	give = flip7v1.Answer_ANSWER_GIVE
	pass = flip7v1.Answer_ANSWER_PASS
)

// ends is how the stream ends: with a Goodbye, which is checked against the status, or by nil with a status alone.
func (c *client) ends() (*flip7v1.Goodbye, error) {
	c.t.Helper()
	var last *flip7v1.Goodbye
	for m := range c.got {
		last = m.GetGoodbye()
	}
	err := <-c.ended
	if errors.Is(err, io.EOF) {
		return last, nil
	}
	if reason := reasonOf(err); last != nil && "END_REASON_"+reason != last.GetReason().String() {
		c.t.Errorf("goodbye for %v, the status says %q", last.GetReason(), reason)
	}
	return last, err
}

// reasonOf is the reason in the details of a status.
func reasonOf(err error) string {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetDomain() == "flip7.arena" {
			return info.GetReason()
		}
	}
	return ""
}

// retryOf is the time to wait in the details of a status.
func retryOf(err error) time.Duration {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.RetryInfo); ok {
			return info.GetRetryDelay().AsDuration()
		}
	}
	return 0
}

// endsWith checks how a stream ends.
func (c *client) endsWith(reason flip7v1.EndReason, code codes.Code, comeBack bool) *flip7v1.Goodbye {
	c.t.Helper()
	bye, err := c.ends()
	if bye.GetReason() != reason || status.Code(err) != code || bye.GetComeBack() != comeBack {
		c.t.Fatalf("ended with %v and %v; want %v, %v, come back %t", bye, err, reason, code, comeBack)
	}
	return bye
}

// seat is a player with a game around it in which only it is asked.
type seat struct {
	t      testing.TB
	player table.Player
	state  game.State
	number int
	bank   time.Duration
}

// asking is what comes of a question.
type asking struct {
	answer table.Answer
	err    error
}

// sit seats a bot in a game of an id, in which it has 1 s for each request and 10 s in the bank.
func (a *arena) sit(bot, id string) *seat {
	a.t.Helper()
	s := &seat{t: a.t, player: a.bots.Player(bot), bank: 10 * time.Second}
	rules := game.DefaultRules(3)
	var err error
	s.state, err = game.New(game.Setup{Seats: 3, Rules: rules, Dealer: 2, Deal: deal.NewFast(1, 2)})
	if err != nil {
		a.t.Fatal(err)
	}
	s.player.Begin(table.Info{ID: id, Attempt: 1, Tournament: "1", Round: 1, Table: 1, Number: 1, Of: 6,
		Bots: []string{bot, "other", "third"}, Rules: rules, Dealer: 2, Timeout: time.Second, Bank: 10 * time.Second}, s.state.Request().Seat)
	return s
}

// ask puts the next question.
func (s *seat) ask() <-chan asking { return s.askWith(s.t.Context()) }

func (s *seat) askWith(ctx context.Context) <-chan asking {
	s.number++
	return s.askAgain(ctx)
}

// askAgain puts the same question again.
func (s *seat) askAgain(ctx context.Context) <-chan asking {
	me := s.state.Request().Seat
	q := table.Question{Number: s.number, View: s.state.View(me), Timeout: time.Second, Banks: make([]time.Duration, 3)}
	q.Banks[me] = s.bank
	answered := make(chan asking, 1)
	go func() {
		answer, err := s.player.Ask(ctx, q)
		answered <- asking{answer, err}
	}()
	return answered
}

// want checks what comes of a question, when it comes.
func (s *seat) want(asked <-chan asking, want table.Answer) {
	s.t.Helper()
	got := <-asked
	if got.err != nil || got.answer != want {
		s.t.Fatalf("got %+v, %v\nwant %+v", got.answer, got.err, want)
	}
}

func (s *seat) end() { s.player.End(s.state.Result(), table.Finished) }

// random decides by chance; the same number decides the same.
type random struct{}

func (random) Decide(v game.View, chance uint64) game.Decision {
	legal := slices.Collect(v.Request().Legal())
	return legal[rand.New(rand.NewPCG(chance, 1)).IntN(len(legal))]
}

// chanceOf is the chance for a request, known to a player of the arena and to a bot alike.
func chanceOf(number int) uint64 { return uint64(number) * 0x9e3779b97f4a7c15 }

func gameID(n int) string { return fmt.Sprintf("1/1/1/%d", n) }
