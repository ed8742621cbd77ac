package flip7_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// scripted is an arena that says what a test has written: the first script on the first stream, the second on the
// second and so on. It is real gRPC over a connection in memory, for use inside a synctest bubble.
type scripted struct {
	flip7v1.UnimplementedPlayServiceServer
	t        *testing.T
	listener *bufconn.Listener
	log      *logged

	mu      sync.Mutex
	scripts []func(*talk) error
	begun   time.Time
	opened  []time.Duration // when the streams were opened, since begun
	hellos  []*flip7v1.Hello
}

// newScripted starts an arena. It is stopped when the test of the bubble ends.
func newScripted(t *testing.T, scripts ...func(*talk) error) *scripted {
	a := &scripted{t: t, listener: bufconn.Listen(1 << 20), log: new(logged), scripts: scripts, begun: time.Now()}
	server := grpc.NewServer(
		grpc.InitialWindowSize(1<<16), // does not grow: who is not read comes to feel it
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second}),
	)
	flip7v1.RegisterPlayServiceServer(server, a)
	go server.Serve(a.listener)
	t.Cleanup(server.Stop)
	return a
}

// bot completes a bot that is to play here.
func (a *scripted) bot(bot flip7.Bot) flip7.Bot {
	bot.Addr, bot.Token = "http://arena.test:1", "s3cret"
	if bot.Dial == nil {
		bot.Dial = func(ctx context.Context, _ string) (net.Conn, error) { return a.listener.DialContext(ctx) }
	}
	if bot.Decide == nil {
		bot.Decide = stay
	}
	bot.Log = slog.New(slog.NewTextHandler(a.log, &slog.HandlerOptions{ReplaceAttr: untimed}))
	return bot
}

// play plays a bot here until it ends by itself.
func (a *scripted) play(bot flip7.Bot) error {
	err := flip7.Play(a.t.Context(), a.bot(bot))
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.opened) != len(a.scripts) {
		a.t.Errorf("got %d streams, want %d; the bot ended with: %v\n%s", len(a.opened), len(a.scripts), err, a.log)
	}
	return err
}

func (a *scripted) Play(stream flip7v1.PlayService_PlayServer) error {
	a.mu.Lock()
	n := len(a.opened)
	a.opened = append(a.opened, time.Since(a.begun))
	a.mu.Unlock()
	if n >= len(a.scripts) {
		return stream.Send(&flip7v1.PlayResponse{Messages: []*flip7v1.ArenaMessage{goodbye("REPLACED", "no such script")}})
	}
	talk := &talk{arena: a, stream: stream, heard: make(chan *flip7v1.BotMessage)}
	go talk.listen()
	err := a.scripts[n](talk)
	if broken, ok := err.(scriptError); ok {
		a.t.Errorf("stream %d: %v", n+1, broken)
		return stream.Send(&flip7v1.PlayResponse{Messages: []*flip7v1.ArenaMessage{goodbye("REPLACED", "the script failed")}})
	}
	return err
}

// scriptError is what a script found wrong with the bot; other errors are what the script wants the stream to end with.
type scriptError string

func (e scriptError) Error() string { return string(e) }

// talk is one stream from the arena's side.
type talk struct {
	arena  *scripted
	stream flip7v1.PlayService_PlayServer
	heard  chan *flip7v1.BotMessage // closed when the bot closed its side or the stream broke
}

func (k *talk) listen() {
	defer close(k.heard)
	for {
		batch, err := k.stream.Recv()
		if err != nil {
			return
		}
		for _, m := range batch.GetMessages() {
			select {
			case k.heard <- m:
			case <-k.stream.Context().Done():
				return
			}
		}
	}
}

// send says something, all in one batch.
func (k *talk) send(messages ...*flip7v1.ArenaMessage) {
	k.stream.Send(&flip7v1.PlayResponse{Messages: messages}) // a broken stream is found when its answer is missed
}

// next is what the bot says next, within a minute.
func (k *talk) next() (*flip7v1.BotMessage, error) {
	select {
	case m, ok := <-k.heard:
		if !ok {
			return nil, scriptError("the bot closed the stream, want a message")
		}
		return m, nil
	case <-time.After(time.Minute):
		return nil, scriptError("the bot said nothing for a minute")
	}
}

// welcome takes the hello and welcomes the bot, with so many games to be told again.
func (k *talk) welcome(resumed int) (*flip7v1.Hello, error) {
	m, err := k.next()
	if err != nil {
		return nil, err
	}
	if m.GetHello() == nil {
		return nil, scriptError("the bot's first word is not hello: " + prototext.Format(m))
	}
	k.arena.mu.Lock()
	k.arena.hellos = append(k.arena.hellos, m.GetHello())
	k.arena.mu.Unlock()
	k.send(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Welcome{Welcome: &flip7v1.Welcome{
		Protocol: 1, Bot: "tester", Capacity: m.GetHello().GetCapacity(), Games: uint32(resumed),
		Limits: &flip7v1.Limits{PingInterval: durationpb.New(10 * time.Second)},
	}}})
	return m.GetHello(), nil
}

// decision takes a decision for the request of an id and no other message.
func (k *talk) decision(id string) (*flip7v1.Decision, error) {
	m, err := k.next()
	if err != nil {
		return nil, err
	}
	if m.GetDecision() == nil || m.GetDecision().GetRequestId() != id {
		return nil, scriptError(fmt.Sprintf("got %v, want a decision for %s", m, id))
	}
	return m.GetDecision(), nil
}

// expect takes decisions, in any order, each written as "id: decision".
func (k *talk) expect(want ...string) error {
	var got []string
	for range want {
		m, err := k.next()
		if err != nil {
			return err
		}
		d := m.GetDecision()
		said := fmt.Sprintf("%s: %s", d.GetRequestId(), inWords(d.GetAnswer()))
		if d.Seat != nil {
			said += fmt.Sprint(" ", d.GetSeat())
		}
		got = append(got, said)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return scriptError(fmt.Sprintf("got decisions %q, want %q", got, want))
	}
	return nil
}

// quiet makes sure that the bot says nothing for a time.
func (k *talk) quiet(d time.Duration) error {
	select {
	case m, ok := <-k.heard:
		if !ok {
			return scriptError("the bot closed the stream, want it quiet")
		}
		return scriptError(fmt.Sprintf("got %v, want nothing", m))
	case <-time.After(d):
		return nil
	}
}

// bye ends the conversation for good.
func (k *talk) bye() error {
	k.send(goodbye("REPLACED", "the test is over"))
	return nil
}

// ended is a script for a stream that begins well and ends at once, so that the bot comes back or not.
func ended(how func(*talk) error) func(*talk) error {
	return func(k *talk) error {
		if _, err := k.welcome(0); err != nil {
			return err
		}
		return how(k)
	}
}

// token is what the bot identified itself with.
func (k *talk) token() []string {
	md, _ := metadata.FromIncomingContext(k.stream.Context())
	return md.Get("authorization")
}

func goodbye(reason, message string) *flip7v1.ArenaMessage {
	return farewell(&flip7v1.Goodbye{
		Reason: flip7v1.EndReason(flip7v1.EndReason_value["END_REASON_"+reason]), Message: message,
	})
}

func farewell(g *flip7v1.Goodbye) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Goodbye{Goodbye: g}}
}

func ping(number uint32) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Ping{Ping: &flip7v1.Ping{Number: number}}}
}

func gameStarted(game string, resumed bool) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_GameStarted{GameStarted: &flip7v1.GameStarted{
		Game: turn(game, "").GetGame(), Seat: 2, Resumed: resumed,
	}}}
}

func gameFinished(game string) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_GameFinished{GameFinished: &flip7v1.GameFinished{
		GameId: game, Attempt: 1, End: flip7v1.GameEnd_GAME_END_COMPLETE, Seat: 2,
		Places: []uint32{3, 2, 1, 4}, Totals: []uint32{99, 150, 211, 40}, Rounds: 9, Faults: 1,
	}}}
}

func event(number uint32) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Event{Event: &flip7v1.GameEvent{
		GameId: "g", Attempt: 1, Number: number, Kind: flip7v1.EventKind_EVENT_KIND_DRAWN, Round: 1, Seat: 3,
		Card: flip7v1.Card_CARD_NUMBER_12,
	}}}
}

func verdict(v *flip7v1.Verdict) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Verdict{Verdict: v}}
}

// ask is a request to hit or stay, in game "g".
func ask(id string) *flip7v1.ArenaMessage { return requestMessage(turn("g", id)) }

// stay is the simplest bot.
func stay(v *flip7.View) flip7.Decision { return v.Stay() }

func inWords(a flip7v1.Answer) string {
	return map[flip7v1.Answer]string{
		flip7v1.Answer_ANSWER_HIT: "hit", flip7v1.Answer_ANSWER_STAY: "stay", flip7v1.Answer_ANSWER_GIVE: "give",
		flip7v1.Answer_ANSWER_PASS: "pass", flip7v1.Answer_ANSWER_UNSPECIFIED: "nothing",
	}[a]
}

// logged keeps what the kit logged.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// untimed leaves out the time of a log line.
func untimed(groups []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey && len(groups) == 0 {
		return slog.Attr{}
	}
	return a
}
