//go:build unix

package clients_test

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/prototext"
	"google.golang.org/protobuf/proto"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// asking is an arena for one bot, that asks as fast as it is answered: in each game the next request as soon as the last is
// decided.
type asking struct {
	games []int
	// ask sends a request in each of these games. It is never called twice at once.
	ask func(games []int) error

	came   chan struct{} // closed: the bot is there
	broken chan error    // what was wrong with the bot

	mu       sync.Mutex
	left     int           // requests that may still be asked
	underWay int           // requests that are not decided yet
	idle     chan struct{} // closed: none is left or under way
	decided  int
}

func newAsking(games int) *asking {
	a := &asking{came: make(chan struct{}), broken: make(chan error, 1)}
	for game := range games {
		a.games = append(a.games, game)
	}
	return a
}

// begin asks so many requests in all. It returns what is closed when they are decided.
func (a *asking) begin(requests int) (idle <-chan struct{}, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := a.games[:min(len(a.games), requests)]
	a.left, a.underWay, a.idle = requests-len(first), len(first), make(chan struct{})
	return a.idle, a.ask(first)
}

// enough stops asking.
func (a *asking) enough() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = 0
}

// decisions is how many there were so far.
func (a *asking) decisions() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.decided
}

// again takes note of decisions in these games, and asks there again.
func (a *asking) again(games []int) error {
	if len(games) == 0 {
		return nil
	}
	if len(games) > a.underWay {
		return fmt.Errorf("%d decisions on %d requests", len(games), a.underWay)
	}
	next := games[:min(len(games), a.left)]
	a.left -= len(next)
	a.underWay += len(next) - len(games)
	a.decided += len(games)
	if a.underWay == 0 {
		close(a.idle)
	}
	return a.ask(next)
}

// listen opens a free port of this machine.
func listen(tb testing.TB) net.Listener {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { listener.Close() })
	return listener
}

// spoken is an arena that a bot speaks with as with any other.
type spoken struct {
	flip7v1.UnimplementedPlayServiceServer
	*asking
	infos    []*flip7v1.GameInfo        // by game
	open     []string                   // by game, the id of the request that is under way; guarded by mu
	asked    int                        // likewise
	outgoing chan *flip7v1.ArenaMessage // has room for a request of each game
}

func newSpoken(tb testing.TB, games int) (a *spoken, address string) {
	a = &spoken{asking: newAsking(games), open: make([]string, games), outgoing: make(chan *flip7v1.ArenaMessage, games)}
	for game := range games {
		info := proto.CloneOf(position.GetGame())
		info.GameId = strconv.Itoa(game)
		a.infos = append(a.infos, info)
	}
	a.ask = func(games []int) error {
		for _, game := range games {
			a.asked++
			a.open[game] = fmt.Sprintf("%d/%d", game, a.asked)
			a.outgoing <- request(a.infos[game], a.open[game])
		}
		return nil
	}
	listener, server := listen(tb), grpc.NewServer()
	flip7v1.RegisterPlayServiceServer(server, a)
	go server.Serve(listener)
	tb.Cleanup(server.Stop)
	return a, listener.Addr().String()
}

// Play implements flip7v1.PlayServiceServer. Like the arena's, its writer sends what is there and waits for no more.
func (a *spoken) Play(stream flip7v1.PlayService_PlayServer) (err error) {
	defer func() {
		select {
		case a.broken <- err:
		default: // that was the reason
		}
	}()
	hello, err := stream.Recv()
	if err != nil {
		return err
	}
	welcome := &flip7v1.Welcome{Protocol: 1, Bot: "speed", SessionId: "speed", Capacity: hello.GetMessages()[0].GetHello().GetCapacity()}
	batch := []*flip7v1.ArenaMessage{{Message: &flip7v1.ArenaMessage_Welcome{Welcome: welcome}}}
	if err := stream.Send(&flip7v1.PlayResponse{Messages: batch}); err != nil {
		return err
	}
	select {
	case <-a.came:
		return errors.New("the bot came twice")
	default:
		close(a.came)
	}
	heard := make(chan error, 1)
	go func() { heard <- a.hear(stream) }()
	for {
		batch = nil // the last may be on its way still
		select {
		case err := <-heard:
			return err
		case m := <-a.outgoing:
			batch = append(batch, m)
		}
		for len(batch) < 64 && len(a.outgoing) > 0 {
			batch = append(batch, <-a.outgoing)
		}
		if err := stream.Send(&flip7v1.PlayResponse{Messages: batch}); err != nil {
			return err
		}
	}
}

// hear hears what the bot says, until that is wrong or it goes.
func (a *spoken) hear(stream flip7v1.PlayService_PlayServer) error {
	for {
		batch, err := stream.Recv()
		if err != nil {
			return err
		}
		if err := a.take(batch.GetMessages()); err != nil {
			return err
		}
	}
}

// take takes decisions, which are right if they are to stay.
func (a *spoken) take(messages []*flip7v1.BotMessage) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	games := make([]int, 0, len(messages))
	for _, m := range messages {
		d := m.GetDecision()
		name, _, _ := strings.Cut(d.GetRequestId(), "/")
		game, err := strconv.Atoi(name)
		if err != nil || game < 0 || game >= len(a.open) || a.open[game] != d.GetRequestId() || d.GetAnswer() != flip7v1.Answer_ANSWER_STAY {
			return fmt.Errorf("no decision to stay on a request that is open: %v", m)
		}
		a.open[game] = ""
		games = append(games, game)
	}
	return a.again(games)
}

// mute is an arena whose requests and decisions are as many bytes as those of others, and say nothing.
type mute struct {
	*asking
	listener          net.Listener
	request, decision int // bytes
}

func newMute(tb testing.TB, games int) (a *mute, address string) {
	d := &flip7v1.Decision{RequestId: "10/100000", Answer: flip7v1.Answer_ANSWER_STAY}
	a = &mute{
		asking: newAsking(games), listener: listen(tb),
		request:  proto.Size(&flip7v1.PlayResponse{Messages: []*flip7v1.ArenaMessage{request(position.GetGame(), d.GetRequestId())}}),
		decision: proto.Size(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{{Message: &flip7v1.BotMessage_Decision{Decision: d}}}}),
	}
	go func() { a.broken <- a.serve() }()
	return a, a.listener.Addr().String()
}

// serve asks the first to come until it goes.
func (a *mute) serve() error {
	conn, err := a.listener.Accept()
	if err != nil {
		return err
	}
	defer conn.Close()
	requests := make([]byte, len(a.games)*a.request)
	a.ask = func(games []int) error {
		_, err := conn.Write(requests[:len(games)*a.request])
		return err
	}
	close(a.came)
	decisions := make([]byte, len(a.games)*a.decision+1) // with room for more than there should be
	for have := 0; ; {
		n, err := conn.Read(decisions[have:])
		if err != nil {
			return err
		}
		have += n
		came := have / a.decision
		have %= a.decision
		a.mu.Lock()
		err = a.again(a.games[:came])
		a.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// position is what all requests are about: in a game of four, hit or stay.
var position = func() *flip7v1.DecisionRequest {
	r := new(flip7v1.DecisionRequest)
	err := prototext.Unmarshal([]byte(`
		kind: REQUEST_KIND_TURN
		game {
			game_id: "10" attempt: 1 tournament_id: "speed" pairing_round: 2 pairing_rounds: 10 table: 3 game: 4 games: 8
			rules { version: "flip7/1" target_score: 200 max_rounds: 100 decks: 1 busted_assigns: true }
			bots: ["ann", "bob", "cyd", "dot"]
			decision_timeout { seconds: 1 } time_bank { seconds: 10 }
		}
		seat: 2
		view {
			round: 3 dealer: 1 next_seat: 3
			seats { status: SEAT_STATUS_ACTIVE row: [CARD_NUMBER_3] points: 3 bank_seconds: 10 }
			seats { status: SEAT_STATUS_ACTIVE row: [CARD_NUMBER_12, CARD_NUMBER_5] points: 17 total: 20 bank_seconds: 10 }
			seats { status: SEAT_STATUS_ACTIVE row: [CARD_NUMBER_7, CARD_NUMBER_9] points: 16 total: 40 bank_seconds: 10 }
			seats { status: SEAT_STATUS_STAYED row: [CARD_NUMBER_11, CARD_NUMBER_10] points: 21 total: 61 bank_seconds: 10 }
			draw_pile: [1, 1, 2, 2, 4, 4, 6, 6, 8, 8, 9, 10, 11, 1, 1, 1, 1, 1, 1, 3, 3, 3]
			discard_pile: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
		}
		legal: [ANSWER_HIT, ANSWER_STAY]
		time_left { seconds: 11 } time_bank { seconds: 10 }
	`), r)
	if err != nil {
		panic(err)
	}
	return r
}()

// request asks for a decision at the position, in a game. What is sent may be on its way for long, so that none is used twice.
func request(of *flip7v1.GameInfo, id string) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Request{Request: &flip7v1.DecisionRequest{
		RequestId: id, Kind: position.GetKind(), Game: of, Seat: position.GetSeat(), View: position.GetView(), Legal: position.GetLegal(),
		TimeLeft: position.GetTimeLeft(), TimeBank: position.GetTimeBank(),
	}}}
}
