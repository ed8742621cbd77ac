package bridge_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/clients/bridge"
	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/launch"
)

// long is how long a test waits for what should come at once.
const long = 30 * time.Second

// arena is the other side of a bridge: real gRPC over a connection in memory, and one stream on which a test says what it
// likes.
type arena struct {
	flip7v1.UnimplementedPlayServiceServer
	t     *testing.T
	said  chan *flip7v1.BotMessage   // by the bridge
	say   chan *flip7v1.ArenaMessage // to it
	leave chan struct{}
	ended chan error // what bridge.Play returned
	log   *logged    // of the bridge, with the command's standard error
}

// play lets a bridge play here with processes of a command.
func play(t *testing.T, config bridge.Config) *arena {
	a := &arena{
		t: t, log: new(logged), leave: make(chan struct{}), ended: make(chan error, 1),
		said: make(chan *flip7v1.BotMessage), say: make(chan *flip7v1.ArenaMessage),
	}
	listener := bufconn.Listen(1 << 20)
	server := grpc.NewServer()
	flip7v1.RegisterPlayServiceServer(server, a)
	go server.Serve(listener)
	t.Cleanup(server.Stop)

	config.Bot = flip7.Bot{
		Addr: "http://arena.test:1", Token: "s3cret", MaxGames: 4, Leave: a.leave,
		Log:  slog.New(slog.NewTextHandler(a.log, nil)),
		Dial: func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) },
	}
	config.Stderr = a.log
	if config.Begin == nil {
		config.Begin = begin
	}
	config.Patience.Again = time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		<-a.ended
	})
	go func() {
		a.ended <- bridge.Play(ctx, config)
		close(a.ended)
	}()
	return a
}

// process is one as flip7 bridge begins it.
type process struct{ *launch.Process }

func (p process) Write(text []byte) (int, error) { return p.Stdin.Write(text) }

func (p process) End() { p.Process.End(launch.Patience{}) }

func begin(cmd *exec.Cmd) (bridge.Process, error) {
	p, err := launch.Begin(cmd)
	if err != nil {
		return nil, err
	}
	return process{p}, nil
}

// command is this test binary as one of the commands of command_test.go.
func command(args ...string) []string { return append([]string{os.Args[0]}, args...) }

// Play implements the arena's side of the stream.
func (a *arena) Play(stream flip7v1.PlayService_PlayServer) error {
	hello, err := stream.Recv()
	if err != nil {
		return err
	}
	if err := stream.Send(&flip7v1.PlayResponse{Messages: []*flip7v1.ArenaMessage{{Message: &flip7v1.ArenaMessage_Welcome{
		Welcome: &flip7v1.Welcome{Protocol: 1, Bot: "tester", Limits: &flip7v1.Limits{PingInterval: durationpb.New(time.Hour)}},
	}}}}); err != nil {
		return err
	}
	heard := make(chan []*flip7v1.BotMessage)
	go func() {
		defer close(heard)
		for batch := hello; err == nil; batch, err = stream.Recv() {
			select {
			case heard <- batch.GetMessages():
			case <-stream.Context().Done():
				return
			}
		}
	}()
	var unheard []*flip7v1.BotMessage // by the test, which may be about to say something
	for heard != nil || len(unheard) > 0 {
		var said chan<- *flip7v1.BotMessage
		var first *flip7v1.BotMessage
		if len(unheard) > 0 {
			said, first = a.said, unheard[0]
		}
		select {
		case batch, more := <-heard:
			if !more {
				heard = nil
			}
			unheard = append(unheard, batch...)
		case said <- first:
			unheard = unheard[1:]
		case m := <-a.say:
			if err := stream.Send(&flip7v1.PlayResponse{Messages: []*flip7v1.ArenaMessage{m}}); err != nil {
				return err
			}
		case <-stream.Context().Done():
			return nil
		}
	}
	return nil
}

// next is what the bridge says next.
func (a *arena) next() *flip7v1.BotMessage {
	a.t.Helper()
	select {
	case m := <-a.said:
		return m
	case err := <-a.ended:
		a.t.Fatalf("the bridge ended with %v, want a message\n%s", err, a.log)
	case <-time.After(long):
		a.t.Fatalf("the bridge says nothing\n%s", a.log)
	}
	return nil
}

// hello takes the bridge's first word.
func (a *arena) hello() *flip7v1.Hello {
	a.t.Helper()
	h := a.next().GetHello()
	if h == nil {
		a.t.Fatal("the first message is no hello")
	}
	return h
}

// tell says something to the bridge.
func (a *arena) tell(m *flip7v1.ArenaMessage) {
	a.t.Helper()
	select {
	case a.say <- m:
	case err := <-a.ended:
		a.t.Fatalf("the bridge ended with %v\n%s", err, a.log)
	case <-time.After(long):
		a.t.Fatalf("the bridge does not listen\n%s", a.log)
	}
}

// ask asks to hit or stay, in a game of its own.
func (a *arena) ask(id string) { a.askFor(id, long) }

// askFor asks with so much time left.
func (a *arena) askFor(id string, left time.Duration) {
	a.t.Helper()
	r := turn(id)
	r.TimeLeft = durationpb.New(left)
	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Request{Request: r}})
}

// decision is the next decision, in words: "r1: hit (note)".
func (a *arena) decision() string {
	a.t.Helper()
	m := a.next()
	d := m.GetDecision()
	if d == nil {
		a.t.Fatalf("got %v, want a decision", m)
	}
	words := d.GetRequestId() + ": " + strings.ToLower(strings.TrimPrefix(d.GetAnswer().String(), "ANSWER_"))
	if d.Seat != nil {
		words += fmt.Sprint(" ", d.GetSeat())
	}
	if d.GetNote() != "" {
		words += " (" + d.GetNote() + ")"
	}
	return words
}

// expect takes the next decision.
func (a *arena) expect(want string) {
	a.t.Helper()
	if got := a.decision(); got != want {
		a.t.Errorf("got %q, want %q\n%s", got, want, a.log)
	}
}

// end is what the bridge ends with, whatever it says before.
func (a *arena) end() error {
	a.t.Helper()
	for {
		select {
		case <-a.said:
		case err := <-a.ended:
			return err
		case <-time.After(long):
			a.t.Fatalf("the bridge does not end\n%s", a.log)
		}
	}
}

// logs checks that the log holds a text.
func (a *arena) logs(want string) {
	a.t.Helper()
	if want != "" && !strings.Contains(a.log.String(), want) {
		a.t.Errorf("the log says nothing of %q:\n%s", want, a.log)
	}
}

// turn is a request to hit or stay in a three-seat game.
func turn(id string) *flip7v1.DecisionRequest {
	seat := func(points uint32, row ...flip7v1.Card) *flip7v1.Seat {
		return &flip7v1.Seat{Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE, Row: row, Points: points, Total: 40, BankSeconds: 10}
	}
	return &flip7v1.DecisionRequest{
		RequestId: id,
		Kind:      flip7v1.RequestKind_REQUEST_KIND_TURN,
		Game: &flip7v1.GameInfo{
			GameId: "of " + id, Attempt: 1, TournamentId: "1", PairingRound: 2, PairingRounds: 5, Table: 3, Game: 4, Games: 6, Rated: true,
			Rules: &flip7v1.Rules{
				Version: "flip7/1", TieBreak: flip7v1.TieBreak_TIE_BREAK_ALL_PLAY, BustedAssigns: new(true),
				Deal: flip7v1.Deal_DEAL_ONCE, TargetScore: 200, MaxRounds: 100, Decks: 1,
			},
			Bots:            []string{"ann", "tester", "cyd"},
			DecisionTimeout: durationpb.New(time.Second),
			TimeBank:        durationpb.New(10 * time.Second),
		},
		Seat: 1,
		View: &flip7v1.View{
			Round: 3, Dealer: 0, NextSeat: 2,
			Seats: []*flip7v1.Seat{
				seat(12, flip7v1.Card_CARD_NUMBER_12), seat(16, flip7v1.Card_CARD_NUMBER_7, flip7v1.Card_CARD_NUMBER_9), seat(3, flip7v1.Card_CARD_NUMBER_3),
			},
			DrawPile:    []uint32{1, 1, 2, 2, 4, 5, 6, 6, 8, 8, 10, 11, 11, 1, 1, 1, 1, 1, 1, 3, 3, 3},
			DiscardPile: make([]uint32, 22),
		},
		Legal:    []flip7v1.Answer{flip7v1.Answer_ANSWER_HIT, flip7v1.Answer_ANSWER_STAY},
		TimeLeft: durationpb.New(11 * time.Second),
		TimeBank: durationpb.New(10 * time.Second),
	}
}

// logged keeps what is written, by whom ever.
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
