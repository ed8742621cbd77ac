package server

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"github.com/flip7-arena/flip7/arena/game"
	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// league is an arena in a bubble, and the bots that come to play there from elsewhere.
type league struct {
	*hosting
	open   atomic.Pointer[bufconn.Listener] // of the arena that runs now
	guests map[string]*guest
	home   context.CancelFunc // sends the guests home
	ctx    context.Context    // of their visit
	here   sync.WaitGroup
}

// guest is a bot at the far end of streams.
type guest struct {
	league *league
	name   string
	token  string
	ends   map[string]int // how often its streams ended with a Goodbye or status; only of a guest without a kit
}

func newLeague(t *testing.T, change ...func(*Config)) *league {
	l := &league{hosting: host(t, change...), guests: map[string]*guest{}}
	l.open.Store(l.listener.(*bufconn.Listener))
	l.ctx, l.home = context.WithCancel(context.Background())
	t.Cleanup(l.goHome)
	return l
}

// hostingOf is a server that runs with its clients.
func hostingOf(r *running) *hosting {
	return &hosting{r, flip7v1.NewTournamentServiceClient(r.conn), flip7v1.NewRatingServiceClient(r.conn)}
}

// dial is a way to the arena.
func (l *league) dial(ctx context.Context, _ string) (net.Conn, error) {
	return l.open.Load().DialContext(ctx)
}

// dialled is a connection to the arena.
func (l *league) dialled() *grpc.ClientConn {
	conn, err := grpc.NewClient("passthrough:///arena", grpc.WithContextDialer(l.dial), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		l.t.Fatal(err)
	}
	return conn
}

// invite registers a bot, which comes and stays until all go home. Two bots have one owner.
func (l *league) invite(name string, play func(ctx context.Context, g *guest)) {
	l.t.Helper()
	registered, err := flip7v1.NewBotServiceClient(l.conn).RegisterBot(l.admin, &flip7v1.RegisterBotRequest{
		Name: name, Owner: fmt.Sprint("owner-", len(l.guests)/2)})
	if err != nil {
		l.t.Fatal(err)
	}
	g := &guest{league: l, name: name, token: registered.GetToken(), ends: map[string]int{}}
	l.guests[name] = g
	l.here.Go(func() { play(l.ctx, g) })
}

// players are all guests, as they are entered.
func (l *league) players() (players []string) {
	for name := range l.guests {
		players = append(players, "bot:"+name)
	}
	slices.Sort(players)
	return players
}

// goHome returns when all guests are gone.
func (l *league) goHome() {
	l.home()
	l.here.Wait()
	synctest.Wait() // for the arena's end of their streams
}

// kit plays a bot on the Go kit until ctx ends, and reports whether it did so until then.
func (g *guest) kit(ctx context.Context, bot flip7.Bot) bool {
	bot.Addr, bot.Token, bot.Dial, bot.Log = "127.0.0.1:7777", g.token, g.league.dial, slog.New(slog.DiscardHandler)
	err := flip7.Play(ctx, bot)
	if ctx.Err() == nil {
		g.league.t.Errorf("%s ends with %v", g.name, err)
	}
	return ctx.Err() != nil
}

// nerve is a bot that hits below so many points at stake, and gives every card to one of the seats that may have it: a
// function of the cards, as a bot of the kit and of the game itself.
type nerve int

func (n nerve) decide(v *flip7.View) flip7.Decision {
	// A timer of no time would fire at once here, beside others of the bubble: the race detector of Go 1.26 can crash then.
	if thinks := n.thinks(); thinks > 0 {
		select {
		case <-time.After(thinks):
		case <-v.Context().Done():
		}
	}
	switch {
	case v.Kind != flip7.Turn:
		return v.Give(v.Targets[int(n)%len(v.Targets)])
	case v.Mine().Points < int(n):
		return v.Hit()
	}
	return v.Stay()
}

func (n nerve) of(v game.View) game.Decision {
	switch legal := slices.Collect(v.Request().Legal()); {
	case v.Request().Kind != game.Turn:
		return legal[int(n)%len(legal)]
	case v.Points(v.Me) < int(n):
		return game.Hit
	}
	return game.Stay
}

// thinks is how long it thinks about a decision.
func (n nerve) thinks() time.Duration { return time.Duration(n%4) * 5 * time.Millisecond }

func (n nerve) guest(ctx context.Context, g *guest) { g.kit(ctx, flip7.Bot{Decide: n.decide}) }

// counted is a guest that counts its decisions, and the games that it was told go on.
func (n nerve) counted(decided, resumed *atomic.Int64) func(ctx context.Context, g *guest) {
	return func(ctx context.Context, g *guest) {
		g.kit(ctx, flip7.Bot{
			Decide: func(v *flip7.View) flip7.Decision {
				decided.Add(1)
				return n.decide(v)
			},
			GameStarted: func(s flip7.GameStarted) {
				if s.Resumed {
					resumed.Add(1)
				}
			},
		})
	}
}

// badGuests are the bots that nobody wants at his table.
func badGuests() map[string]func(ctx context.Context, g *guest) {
	return map[string]func(context.Context, *guest){
		"never decides": neverDecides,
		"garbage":       garbage,
		"floods":        floods,
		"restless":      restless,
		"slow":          slow,
	}
}

// slow takes almost all of its time for each decision.
func slow(ctx context.Context, g *guest) {
	g.kit(ctx, flip7.Bot{Decide: func(v *flip7.View) flip7.Decision {
		pause(v.Context(), 900*time.Millisecond)
		return nerve(24).decide(v)
	}})
}

// restless comes again every second.
func restless(ctx context.Context, g *guest) {
	for fine := true; fine && ctx.Err() == nil; {
		second, cancel := context.WithTimeout(ctx, time.Second)
		fine = g.kit(second, flip7.Bot{Instance: "restless", Decide: nerve(23).decide})
		cancel()
	}
}

func neverDecides(ctx context.Context, g *guest) {
	g.comeBack(ctx, func(context.Context, *visit) {}, func(*visit, *flip7v1.DecisionRequest) {})
}

// floods decides at once, and says a thousand things a second that nobody asked for.
func floods(ctx context.Context, g *guest) {
	junk := slices.Repeat([]*flip7v1.BotMessage{decision("1/1/1/1/1/1", flip7v1.Answer_ANSWER_HIT)}, 60)
	burst := func(ctx context.Context, v *visit) {
		for pause(ctx, 300*time.Millisecond) {
			for range 5 {
				v.say(junk...)
			}
		}
	}
	g.comeBack(ctx, burst, func(v *visit, r *flip7v1.DecisionRequest) { v.answer(r) })
}

// garbage says whatever there is but what it is asked for.
func garbage(ctx context.Context, g *guest) {
	chance := rand.New(rand.NewPCG(1, 2))
	g.comeBack(ctx, func(context.Context, *visit) {}, func(v *visit, r *flip7v1.DecisionRequest) {
		id := r.GetRequestId()
		switch chance.IntN(7) {
		case 0: // as often as it may: that is the end of the request
			for range 10 {
				v.say(give(id, 99))
			}
		case 1:
			v.say(decision(id, 77))
		case 2: // for those who come after it, and at the other tables
			for other := range 8 {
				v.say(decision(fmt.Sprintf("%s%d", id, other), flip7v1.Answer_ANSWER_HIT))
				v.say(decision(strings.Replace(id, "/1", fmt.Sprint("/", 1+other), 1+other%3), flip7v1.Answer_ANSWER_STAY))
			}
		case 3:
			v.say()
			v.say(&flip7v1.BotMessage{}, hello(), &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: 1 << 31}}})
		case 4:
			v.bytes([]byte("this is no message of anybody"))
		case 5:
			v.say(decision(id, flip7v1.Answer_ANSWER_UNSPECIFIED), decision(strings.Repeat("x", 1000), flip7v1.Answer_ANSWER_HIT))
		case 6:
			v.answer(r)
		}
	})
}

// pause waits, and reports whether it waited to the end.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// visit is one stream of a guest without a kit.
type visit struct {
	stream flip7v1.PlayService_PlayClient
	mu     sync.Mutex // held while something is sent
}

// say sends a batch. Whether the stream has ended is for whoever reads to find out.
func (v *visit) say(messages ...*flip7v1.BotMessage) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.stream.Send(&flip7v1.PlayRequest{Messages: messages})
}

// bytes sends what need not be a message.
func (v *visit) bytes(raw []byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	_ = v.stream.SendMsg(raw)
}

// answer decides as the default would, and so legally.
func (v *visit) answer(r *flip7v1.DecisionRequest) {
	if seats := r.GetLegalSeats(); len(seats) > 0 {
		v.say(give(r.GetRequestId(), seats[0]))
		return
	}
	v.say(decision(r.GetRequestId(), flip7v1.Answer_ANSWER_STAY))
}

func hello() *flip7v1.BotMessage {
	return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Hello{Hello: &flip7v1.Hello{Protocol: 1, InstanceId: "one",
		Capacity: &flip7v1.Capacity{MaxGames: 8, MaxOpen: 1}}}}
}

func decision(id string, answer flip7v1.Answer) *flip7v1.BotMessage {
	return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: &flip7v1.Decision{RequestId: id, Answer: answer}}}
}

func give(id string, seat uint32) *flip7v1.BotMessage {
	m := decision(id, flip7v1.Answer_ANSWER_GIVE)
	m.GetDecision().Seat = &seat
	return m
}

// loose is the codec of protobuf, but that bytes go as they are.
type loose struct{ encoding.CodecV2 }

// Marshal implements encoding.CodecV2.
func (c loose) Marshal(v any) (mem.BufferSlice, error) {
	if raw, is := v.([]byte); is {
		return mem.BufferSlice{mem.SliceBuffer(raw)}, nil
	}
	return c.CodecV2.Marshal(v)
}

// comeBack plays without a kit until ctx ends, one stream after the other. It says hello and answers pings; unasked says
// more on each stream, asked what there is to say to a request.
func (g *guest) comeBack(ctx context.Context, unasked func(context.Context, *visit), asked func(*visit, *flip7v1.DecisionRequest)) {
	conn := g.league.dialled()
	defer conn.Close()
	for pause(ctx, 2*time.Second) {
		g.visit(ctx, conn, unasked, asked)
	}
}

func (g *guest) visit(ctx context.Context, conn *grpc.ClientConn, unasked func(context.Context, *visit), asked func(*visit, *flip7v1.DecisionRequest)) {
	ctx, cancel := context.WithCancel(as(ctx, g.token))
	stream, err := flip7v1.NewPlayServiceClient(conn).Play(ctx, grpc.ForceCodecV2(loose{encoding.GetCodecV2("proto")}))
	if err != nil {
		cancel()
		return
	}
	v := &visit{stream: stream}
	v.say(hello())
	var talking sync.WaitGroup
	defer talking.Wait()
	defer cancel()
	talking.Go(func() { unasked(ctx, v) })
	for {
		batch, err := stream.Recv()
		if err != nil {
			g.ends[status.Code(err).String()]++
			return
		}
		for _, m := range batch.GetMessages() {
			switch m := m.GetMessage().(type) {
			case *flip7v1.ArenaMessage_Ping:
				v.say(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: m.Ping.GetNumber()}}})
			case *flip7v1.ArenaMessage_Goodbye:
				g.ends[m.Goodbye.GetReason().String()]++
			case *flip7v1.ArenaMessage_Request:
				asked(v, m.Request)
			}
		}
	}
}
