//go:build unix

package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/wire"
)

const (
	// What else the machine does comes and goes. So the arena and the echoes take turns, and medians are compared.
	turn  = 200 * time.Millisecond
	turns = 7 // of each in an op
)

// BenchmarkDecisions is how many decisions a second the arena gets from bots in another process, over loopback, in a whole
// tournament: with interceptors, clocks, journal and records as in any night. Beside it the same process echoes on plain
// gRPC: it sends such requests over as many connections to that other process and gets decisions back, with as many under
// way as the tournament has games. One echo sends each message by itself, the other all that are due.
func BenchmarkDecisions(b *testing.B) {
	for _, of := range []struct{ games, bots int }{{1, 8}, {16, 8}, {256, 8}, {64, 32}} {
		b.Run(fmt.Sprintf("games=%d/bots=%d", of.games, of.bots), func(b *testing.B) {
			s := newSpeed(b, of.games, of.bots)
			var night, single, batched []pace
			for b.Loop() {
				for range turns {
					night = append(night, s.night())
					single = append(single, s.echo(s.single))
					batched = append(batched, s.echo(s.batched))
				}
			}
			s.check()
			rate := func(_ int, p pace) float64 { return p.rate() }
			cpu := func(_ int, p pace) float64 { return p.cpu() }
			ofSingle := middle(night, func(i int, p pace) float64 { return p.rate() / single[i].rate() })
			ofBatched := middle(night, func(i int, p pace) float64 { return p.rate() / batched[i].rate() })
			b.ReportMetric(middle(night, rate), "decisions/s")
			b.ReportMetric(middle(night, cpu), "cpu-µs/decision")
			b.ReportMetric(ofSingle, "of-echo")
			b.ReportMetric(ofBatched, "of-batched-echo")
			b.Logf("%d games of %d bots: %.0f decisions/s at %.1f µs of CPU, which is %.2f of an echo's %.0f (%.1f µs), %.2f of %.0f (%.1f µs) in batches",
				of.games, of.bots, middle(night, rate), middle(night, cpu), ofSingle, middle(single, rate), middle(single, cpu),
				ofBatched, middle(batched, rate), middle(batched, cpu))
		})
	}
}

// pace is what was done in a time.
type pace struct {
	decisions int64
	took      time.Duration
	spent     time.Duration // CPU of this process
}

func (p pace) rate() float64 { return float64(p.decisions) / p.took.Seconds() }

func (p pace) cpu() float64 { return p.spent.Seconds() * 1e6 / float64(p.decisions) }

// middle is the median of something over all paces.
func middle(paces []pace, of func(i int, p pace) float64) float64 {
	values := make([]float64, len(paces))
	for i, p := range paces {
		values[i] = of(i, p)
	}
	slices.Sort(values)
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// speed is an arena in the middle of a tournament, two echoes, and the process that has the other ends of all streams.
type speed struct {
	b     *testing.B
	arena *Server
	names []string
	games int // at once

	single, batched *echoes
	commands        io.Writer // to the other process
}

func newSpeed(b *testing.B, games, bots int) *speed {
	s := &speed{b: b, games: games, single: &echoes{}, batched: &echoes{batched: true}}
	tokens, admin, calls := s.open(bots)
	s.connect(tokens)
	s.begin(admin, calls)
	return s
}

// must ends the benchmark on an error.
func (s *speed) must(err error) {
	s.b.Helper()
	if err != nil {
		s.b.Fatal(err)
	}
}

// open starts the arena with its bots registered, and the echoes.
func (s *speed) open(bots int) (tokens []string, admin context.Context, calls *grpc.ClientConn) {
	folder, log := s.b.TempDir(), slog.New(slog.NewTextHandler(io.Discard, nil))
	kept, err := store.Open(s.b.Context(), folder, store.Options{Log: log})
	s.must(err)
	s.b.Cleanup(func() { s.must(kept.Close()) })
	s.arena, err = New(Config{Address: "127.0.0.1:0", Metrics: "off", Folder: folder, TokenRate: 10_000, DrainGrace: -1}, Deps{Store: kept, Log: log})
	s.must(err)
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := s.arena.Serve(ctx); err != nil {
			s.b.Error(err)
		}
	})
	s.b.Cleanup(func() { stop(); s.arena.Stop(); serving.Wait() })

	token, err := os.ReadFile(s.arena.AdminTokenFile())
	s.must(err)
	admin = as(context.Background(), strings.TrimSpace(string(token)))
	calls, err = grpc.NewClient(s.arena.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	s.must(err)
	s.b.Cleanup(func() { calls.Close() })
	for i := range bots {
		name := fmt.Sprintf("bot-%d", i+1)
		registered, err := flip7v1.NewBotServiceClient(calls).RegisterBot(admin, &flip7v1.RegisterBotRequest{Name: name})
		s.must(err)
		s.names, tokens = append(s.names, name), append(tokens, registered.GetToken())
	}
	requests := someRequests(s.names[:4])
	for _, e := range []*echoes{s.single, s.batched} {
		e.requests = requests
		plain := grpc.NewServer()
		flip7v1.RegisterPlayServiceServer(plain, e)
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		s.must(err)
		e.address = listener.Addr().String()
		serving.Go(func() {
			if err := plain.Serve(listener); err != nil {
				s.b.Error(err)
			}
		})
		s.b.Cleanup(plain.Stop)
	}
	return tokens, admin, calls
}

// speedProgram, in the environment, makes this program the other end of the streams.
const speedProgram = "FLIP7_SPEED_BOTS"

// connect starts the other process, which opens all streams.
func (s *speed) connect(tokens []string) {
	bots := exec.Command(os.Args[0], "-test.run", "^TestSpeedBots$", "-test.timeout", "1h")
	bots.Env = append(os.Environ(), speedProgram+"=1")
	bots.Stderr = os.Stderr
	commands, err := bots.StdinPipe()
	s.must(err)
	s.must(bots.Start())
	s.b.Cleanup(func() {
		commands.Close() // it ends with that
		s.must(bots.Wait())
	})
	s.commands = commands
	for i, token := range tokens {
		s.tell("bot %s %s %d", s.arena.Addr(), token, max(4*s.games/len(tokens), 1)) // games, at tables of four
		if i < s.games {                                                             // more would have nothing to do
			s.tell("echo %s %s 1", s.single.address, token)
			s.tell("echo %s %s 1", s.batched.address, token)
		}
	}
	s.single.await(min(len(tokens), s.games))
	s.batched.await(min(len(tokens), s.games))
}

// tell gives the other process a command.
func (s *speed) tell(format string, args ...any) {
	_, err := fmt.Fprintf(s.commands, format+"\n", args...)
	s.must(err)
}

// begin starts a tournament that is longer than anybody will measure, and holds it when all games run.
func (s *speed) begin(admin context.Context, calls *grpc.ClientConn) {
	tournaments := flip7v1.NewTournamentServiceClient(calls)
	made, err := tournaments.CreateTournament(admin, &flip7v1.CreateTournamentRequest{Name: "speed", Settings: &flip7v1.TournamentSettings{
		PairingRounds: 100, Rotations: 50, Concurrency: uint32(s.games), Anchor: flip7v1.Anchor_ANCHOR_OFF,
		// While the echoes run nobody decides.
		DecisionTimeout: durationpb.New(5 * time.Minute), TableLimit: durationpb.New(24 * time.Hour)}})
	s.must(err)
	id := made.GetTournament().GetId()
	_, err = tournaments.OpenTournament(admin, &flip7v1.OpenTournamentRequest{TournamentId: id})
	s.must(err)
	for _, name := range s.names {
		_, err := tournaments.EnterBot(admin, &flip7v1.EnterBotRequest{TournamentId: id, Player: "bot:" + name})
		s.must(err)
	}
	_, err = tournaments.StartTournament(admin, &flip7v1.StartTournamentRequest{TournamentId: id})
	s.must(err)
	s.until(func() bool { return s.arena.metrics.games() == s.games && s.decisions() > 0 })
	s.tell("hold")
}

func (s *speed) until(done func() bool) {
	for began := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			s.b.Fatal("it does not come to that in a minute")
		}
	}
}

// decisions is how many decisions the arena has got so far.
func (s *speed) decisions() (n int64) {
	for _, name := range s.names {
		stats := s.arena.bots.Stats(name)
		n += int64(stats.Latency.Count())
	}
	return n
}

// night lets the tournament go on for a turn. At the end of a pairing round not all games run any more: that does not count.
func (s *speed) night() (p pace) {
	full := func() bool { return s.arena.metrics.games() >= s.games*9/10 }
	s.tell("play")
	for counts := false; !counts; {
		s.until(full)
		p = s.measure(s.decisions)
		counts = full()
	}
	s.tell("hold")
	s.until(func() bool {
		n := s.decisions()
		time.Sleep(5 * time.Millisecond)
		return s.decisions() == n
	})
	return p
}

// echo lets an echo run for a turn.
func (s *speed) echo(e *echoes) pace {
	stop := e.start(s.games)
	defer stop()
	return s.measure(e.decisions)
}

// measure takes the pace of what has been started just now.
func (s *speed) measure(count func() int64) pace {
	time.Sleep(turn / 10)
	before, spent, began := count(), cpu(), time.Now()
	time.Sleep(turn)
	p := pace{took: time.Since(began), spent: cpu() - spent}
	p.decisions = count() - before
	return p
}

// cpu is what this process has spent.
func cpu() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it is asked for what there is
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// check fails if not all decisions were those of the bots: a default costs less.
func (s *speed) check() {
	for _, name := range s.names {
		stats := s.arena.bots.Stats(name)
		if delete(stats.Causes, game.Chosen); len(stats.Causes) > 0 || stats.Lost > 0 {
			s.b.Errorf("%s has faults by %v and lost %d streams", name, stats.Causes, stats.Lost)
		}
	}
}

// echoes are streams on which requests are sent and decisions come back, and nothing else is done.
type echoes struct {
	flip7v1.UnimplementedPlayServiceServer
	batched  bool
	address  string
	requests []*flip7v1.ArenaMessage

	mu      sync.Mutex
	streams []*echo
}

// echo is one of the streams.
type echo struct {
	of     *echoes
	stream flip7v1.PlayService_PlayServer
	rounds chan round
	heard  chan int // of batched ones: how many decisions came
	next   int      // request
	count  atomic.Int64
}

// round is a turn of an echo.
type round struct {
	underWay int
	stop     *atomic.Bool
	done     *sync.WaitGroup
}

// Play implements flip7v1.PlayServiceServer.
func (e *echoes) Play(stream flip7v1.PlayService_PlayServer) error {
	if _, err := stream.Recv(); err != nil { // the hello
		return err
	}
	one := &echo{of: e, stream: stream, rounds: make(chan round), heard: make(chan int, 64)}
	ended := make(chan error, 1)
	if e.batched {
		go one.hear(ended)
	}
	e.mu.Lock()
	e.streams = append(e.streams, one)
	e.mu.Unlock()
	for {
		select {
		case r := <-one.rounds:
			if err := one.run(r); err != nil {
				return err
			}
		case err := <-ended:
			return err
		case <-stream.Context().Done():
			return nil
		}
	}
}

// await returns when so many streams are there.
func (e *echoes) await(n int) {
	for there := 0; there < n; time.Sleep(time.Millisecond) {
		e.mu.Lock()
		there = len(e.streams)
		e.mu.Unlock()
	}
}

// start begins a turn with so many requests under way in all, until stop, which returns when none is any more.
func (e *echoes) start(underWay int) (stop func()) {
	var stopped atomic.Bool
	var done sync.WaitGroup
	for _, s := range e.streams {
		done.Add(1)
		s.rounds <- round{underWay / len(e.streams), &stopped, &done}
	}
	return func() {
		stopped.Store(true)
		done.Wait()
	}
}

func (e *echoes) decisions() (n int64) {
	for _, s := range e.streams {
		n += s.count.Load()
	}
	return n
}

// run answers each decision with a request until it is told to stop and nothing is under way.
func (e *echo) run(r round) error {
	defer r.done.Done()
	if err := e.send(r.underWay); err != nil {
		return err
	}
	for underWay := r.underWay; underWay > 0; {
		n, err := e.receive()
		if err != nil {
			return err
		}
		e.count.Add(int64(n))
		if r.stop.Load() {
			underWay -= n
		} else if err := e.send(n); err != nil {
			return err
		}
	}
	return nil
}

// send sends so many requests.
func (e *echo) send(n int) error {
	most := 1
	if e.of.batched {
		most = 64
	}
	for n > 0 {
		batch := min(n, most, len(e.of.requests)-e.next)
		if err := e.stream.Send(&flip7v1.PlayResponse{Messages: e.of.requests[e.next : e.next+batch]}); err != nil {
			return err
		}
		e.next = (e.next + batch) % len(e.of.requests)
		n -= batch
	}
	return nil
}

// receive returns how many decisions have come, when there are any.
func (e *echo) receive() (n int, err error) {
	if !e.of.batched {
		m, err := e.stream.Recv()
		return len(m.GetMessages()), err
	}
	for n = <-e.heard; ; {
		select {
		case more := <-e.heard:
			n += more
		default:
			return n, nil
		}
	}
}

// hear reads ahead, so that it is known what is due.
func (e *echo) hear(ended chan<- error) {
	for {
		m, err := e.stream.Recv()
		if err != nil {
			ended <- err
			return
		}
		select {
		case e.heard <- len(m.GetMessages()):
		case <-e.stream.Context().Done():
			return
		}
	}
}

// someRequests are the requests of some games, as the arena sends them.
func someRequests(bots []string) (requests []*flip7v1.ArenaMessage) {
	for n := byte(1); len(requests) < 1000; n++ {
		info := table.Info{ID: fmt.Sprintf("1/1/1/%d", n), Attempt: 1, Tournament: "speed", Round: 1, Table: 1, Number: int(n), Of: 200, Bots: bots,
			Rules: game.Rules{BustedAssigns: true}.Complete(len(bots)), Dealer: game.Seat(len(bots) - 1), Timeout: time.Second, Bank: 10 * time.Second}
		banks := slices.Repeat([]time.Duration{info.Bank}, len(bots))
		var s game.State
		err := s.Reset(game.Setup{Seats: len(bots), Rules: info.Rules, Dealer: info.Dealer, Deal: deal.NewKeyed([32]byte{n})})
		for i := 1; err == nil && !s.Over(); i++ {
			asked := s.Request().Seat
			r := wire.NewRequest(wire.GameInfo(info), asked)
			r.Fill(fmt.Sprintf("%s/1/%d", info.ID, i), s.View(asked), banks)
			r.Time(info.Timeout+info.Bank, info.Bank, time.Millisecond)
			requests = append(requests, proto.Clone(r.Message()).(*flip7v1.ArenaMessage))
			err = s.Apply(nerve(20).of(s.View(asked)))
		}
		if err != nil {
			panic(err) // those are the rules
		}
	}
	return requests
}

// TestSpeedBots is no test: it is the other process of BenchmarkDecisions, with the other ends of all streams. It does what
// it is told line by line: be a bot or an echo at an address with a token; hold and play, which is for all bots.
func TestSpeedBots(t *testing.T) {
	if os.Getenv(speedProgram) == "" {
		t.Skip("this is a program of the benchmark")
	}
	held := map[string]*barrier{"bot": {}, "echo": {}}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		switch words := strings.Fields(lines.Text()); words[0] {
		case "bot", "echo":
			conn, err := grpc.NewClient(words[1], grpc.WithTransportCredentials(insecure.NewCredentials()))
			if err != nil {
				t.Fatal(err)
			}
			stream, err := flip7v1.NewPlayServiceClient(conn).Play(as(context.Background(), words[2]))
			if err != nil {
				t.Fatal(err)
			}
			games, err := strconv.Atoi(words[3])
			if err != nil {
				t.Fatal(err)
			}
			go decideAll(stream, uint32(games), held[words[0]])
		case "hold":
			held["bot"].close()
		case "play":
			held["bot"].open()
		}
	}
}

// barrier holds up those who come to it while it is down. It is up at first.
type barrier struct{ down atomic.Pointer[chan struct{}] }

func (b *barrier) close() { b.down.Store(new(make(chan struct{}))) }

func (b *barrier) open() {
	if down := b.down.Swap(nil); down != nil {
		close(*down)
	}
}

func (b *barrier) pass() {
	if down := b.down.Load(); down != nil {
		<-*down
	}
}

// decideAll says hello and decides whatever it is asked, a batch for each batch.
func decideAll(stream flip7v1.PlayService_PlayClient, games uint32, held *barrier) {
	hi := hello()
	hi.GetHello().Capacity = &flip7v1.Capacity{MaxGames: games, MaxOpen: games}
	reply := &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hi}}
	for {
		if len(reply.GetMessages()) > 0 {
			_ = stream.Send(reply) // Recv says why not
		}
		batch, err := stream.Recv()
		if err != nil {
			fmt.Fprintln(os.Stderr, "a bot's stream ended:", err)
			return
		}
		held.pass()
		reply.Messages = reply.Messages[:0]
		for _, m := range batch.GetMessages() {
			switch m := m.GetMessage().(type) {
			case *flip7v1.ArenaMessage_Ping:
				reply.Messages = append(reply.Messages, &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: m.Ping.GetNumber()}}})
			case *flip7v1.ArenaMessage_Request:
				reply.Messages = append(reply.Messages, stay20(m.Request))
			}
		}
	}
}

func stay20(r *flip7v1.DecisionRequest) *flip7v1.BotMessage {
	switch seats := r.GetLegalSeats(); {
	case len(seats) > 0:
		return give(r.GetRequestId(), seats[0])
	case r.GetView().GetSeats()[r.GetSeat()].GetPoints() < 20:
		return decision(r.GetRequestId(), flip7v1.Answer_ANSWER_HIT)
	}
	return decision(r.GetRequestId(), flip7v1.Answer_ANSWER_STAY)
}
