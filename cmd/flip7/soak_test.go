//go:build soak && linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	soakBots  = 500
	soakSeats = 4
	// A night is short, so that many are played: each bot plays one rotation in each of two pairing rounds, and games end
	// at half the points of others.
	soakRounds = 2
	soakGames  = soakRounds * soakBots
	soakTarget = 100
	soakKills  = 3

	// disturbance is the mean time between two losses. Each bot is lost every other minute.
	disturbance = 2 * time.Minute / soakBots
	// untold is for how long the server does not hear that a connection is gone. It should find out in 30 s.
	untold = 45 * time.Second
)

// TestSoak500 plays night after night with 500 bots, for ten minutes or as long as FLIP7_SOAK says. All the time bots
// are restarted, connections cut, and connections lost in silence; in the first half of the time the server is killed
// three times. Every game of every night has to be played, and neither the server nor the bots may grow: what they take is
// measured after each night, when nobody plays.
func TestSoak500(t *testing.T) {
	lasts, err := time.ParseDuration(cmp.Or(os.Getenv("FLIP7_SOAK"), "10m"))
	if err != nil {
		t.Fatalf("FLIP7_SOAK: %v", err)
	}
	s := newSoak(t, lasts)
	for number := 1; time.Since(s.begun) < lasts; number++ {
		s.night(number)
	}
	s.report()
	s.judge()
	s.server.stop()
}

// soak is a season of nights, and what is known of it.
type soak struct {
	t       *testing.T
	ctx     context.Context
	server  *served
	metrics string // address
	conn    *grpc.ClientConn
	nights  flip7v1.TournamentServiceClient
	bots    []*soakBot

	begun time.Time
	kills []time.Duration // after begun, those to come

	restarted, cut, lost     int          // by disturb
	silent                   atomic.Int64 // connections of whose loss the server is not told yet
	dials                    atomic.Int64
	games, decisions, faults int
	playing                  time.Duration // in all
	usages                   []usage       // after each night
}

// newSoak starts a server and lets the bots come in.
func newSoak(t *testing.T, lasts time.Duration) *soak {
	t.Helper()
	folder := t.TempDir()
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	s := &soak{t: t, server: newServed(t, filepath.Join(folder, "data"), log), metrics: newServed(t, "", nil).address}
	ctx, leave := context.WithTimeoutCause(t.Context(), lasts+longestNight, errors.New("a night takes too long"))
	s.ctx = ctx
	var bots sync.WaitGroup
	t.Cleanup(func() {
		leave()
		bots.Wait()
		if s.conn != nil {
			s.conn.Close()
		}
		if s.server.running != nil {
			s.server.kill()
		}
		log.Close()
		if t.Failed() {
			tail(t, log.Name())
		}
	})

	s.start()
	if s.conn, err = (remoteFlags{Address: s.server.address, Data: s.server.data}).dial(); err != nil {
		t.Fatal(err)
	}
	s.nights = flip7v1.NewTournamentServiceClient(s.conn)
	for i := range soakBots {
		name := fmt.Sprintf("bot-%03d", i)
		registered, err := flip7v1.NewBotServiceClient(s.conn).RegisterBot(ctx, &flip7v1.RegisterBotRequest{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		b := &soakBot{soak: s, name: name, token: registered.GetToken(), stays: 15 + i%20}
		s.bots = append(s.bots, b)
		bots.Go(func() { b.play(ctx) })
	}
	s.begun = time.Now()
	chance, part := rand.New(rand.NewPCG(0, 0)), lasts/(2*soakKills)
	for i := range soakKills {
		s.kills = append(s.kills, time.Duration(i)*part+time.Duration(chance.Int64N(int64(part))))
	}
	return s
}

// start starts the server, with more said of it than others need, and room for an organiser who enters everybody at once.
func (s *soak) start() {
	s.t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--data", s.server.data, "--address", s.server.address, "--metrics", s.metrics, "--web", "off",
		"--token-rate", "10000", "--ping-interval", "1s", "--log-level", "warn")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = s.server.log
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.running = cmd
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil { // it says where it listens
		s.t.Fatalf("the server did not start: %v", err)
	}
}

// night plays a night with all that disturbs it, and looks at what came of it.
func (s *soak) night(number int) {
	s.t.Helper()
	begun := time.Now()
	id := s.begin(number)
	ctx, calm := context.WithCancel(s.ctx)
	var disturbed sync.WaitGroup
	disturbed.Go(func() { s.disturb(ctx, rand.New(rand.NewPCG(uint64(number), 0))) })
	err := s.play(id)
	calm()
	disturbed.Wait()
	if err != nil {
		s.t.Fatalf("night %s is lost: %v", id, err)
	}
	took := time.Since(begun)
	s.playing += took
	s.check(id)
	u := s.usage()
	s.usages = append(s.usages, u)
	s.t.Logf("night %s took %.1f s; process %d has %d MB, %d files and %d goroutines", id, took.Seconds(), u.process, u.memory, u.files, u.goroutines)
}

// play returns when a night has finished, and kills the server meanwhile when it is time for that.
func (s *soak) play(id string) error {
	s.t.Helper()
	over := make(chan error, 1)
	go func() { over <- s.follow(id) }()
	for {
		var kill <-chan time.Time
		if len(s.kills) > 0 {
			kill = time.After(time.Until(s.begun.Add(s.kills[0])))
		}
		select {
		case <-kill:
			s.kills = s.kills[1:]
			s.server.kill()
			s.start()
		case err := <-over:
			return err
		}
	}
}

// begin lets a night of all bots begin, and returns its id.
func (s *soak) begin(number int) string {
	s.t.Helper()
	created, err := s.nights.CreateTournament(s.ctx, &flip7v1.CreateTournamentRequest{Name: fmt.Sprint("night ", number), Settings: &flip7v1.TournamentSettings{
		Seats: soakSeats, PairingRounds: soakRounds, Rotations: 1, Rules: &flip7v1.Rules{TargetScore: soakTarget},
		DecisionTimeout: durationpb.New(time.Second), Checkin: durationpb.New(time.Minute)}})
	if err != nil {
		s.t.Fatal(err)
	}
	id := created.GetTournament().GetId()
	_, err = s.nights.OpenTournament(s.ctx, &flip7v1.OpenTournamentRequest{TournamentId: id})
	for _, b := range s.bots {
		if err == nil {
			_, err = s.nights.EnterBot(s.ctx, &flip7v1.EnterBotRequest{TournamentId: id, Player: "bot:" + b.name})
		}
	}
	if err == nil {
		_, err = s.nights.StartTournament(s.ctx, &flip7v1.StartTournamentRequest{TournamentId: id})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return id
}

// follow returns when a night has finished.
func (s *soak) follow(id string) error {
	for {
		stream, err := flip7v1.NewWatchServiceClient(s.conn).WatchTournament(s.ctx, &flip7v1.WatchTournamentRequest{TournamentId: id}, grpc.WaitForReady(true))
		for err == nil {
			var r *flip7v1.WatchTournamentResponse
			r, err = stream.Recv()
			for _, e := range r.GetEvents() {
				if e.GetTournament().GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED {
					return nil
				}
			}
		}
		if status.Code(err) != codes.Unavailable { // the server is gone for a moment
			return cmp.Or(context.Cause(s.ctx), err)
		}
	}
}

// check computes a night again and looks whether all of it was played.
func (s *soak) check(id string) {
	s.t.Helper()
	stream, err := s.nights.ExportTournament(s.ctx, &flip7v1.ExportTournamentRequest{TournamentId: id, Part: flip7v1.ExportPart_EXPORT_PART_RESULTS})
	if err != nil {
		s.t.Fatal(err)
	}
	var results bytes.Buffer
	if err := receive(stream, &results); err != nil {
		s.t.Fatal(err)
	}
	seen, err := arena.Verify(&results)
	if err != nil {
		s.t.Errorf("the results of night %s do not hold: %v", id, err)
	}
	if seen.Entries != soakBots || seen.Rounds != soakRounds || seen.Games != soakGames {
		s.t.Errorf("night %s has %d bots, %d pairing rounds and %d games, want %d, %d and %d", id, seen.Entries, seen.Rounds, seen.Games, soakBots, soakRounds, soakGames)
	}
	s.games += seen.Games
	s.decisions += seen.Decisions
	standings, err := allStandings(s.ctx, s.nights, id)
	if err != nil {
		s.t.Fatal(err)
	}
	for _, line := range standings.GetStandings() {
		s.faults += int(faults(line.GetFaults()))
		if line.GetMissed() > 0 || line.GetWithdrawn() {
			s.t.Errorf("%s missed %d pairing rounds of night %s, want none", line.GetBot(), line.GetMissed(), id)
		}
	}
}

// disturb loses bots until ctx ends.
func (s *soak) disturb(ctx context.Context, chance *rand.Rand) {
	for {
		select {
		case <-time.After(time.Duration(chance.ExpFloat64() * float64(disturbance))):
		case <-ctx.Done():
			return
		}
		b := s.bots[chance.IntN(len(s.bots))]
		how := chance.IntN(3)
		end, conn := b.now()
		switch {
		case conn == nil: // it was never there yet
		case how == 0:
			s.restarted++
			end()
		case how == 1:
			s.cut++
			conn.Conn.Close()
		default:
			s.lost++
			s.silent.Add(1)
			conn.lost.Store(true)
			time.AfterFunc(untold, func() {
				conn.Conn.Close()
				s.silent.Add(-1)
			})
		}
	}
}

// soakBot is a bot that is lost now and then.
type soakBot struct {
	soak        *soak
	name, token string
	stays       int // with so many points

	mu   sync.Mutex
	end  context.CancelFunc // of the program
	conn *lossy             // the newest
}

// play plays in one program after another.
func (b *soakBot) play(ctx context.Context) {
	for ctx.Err() == nil {
		one, end := context.WithCancel(ctx)
		b.mu.Lock()
		b.end = end
		b.mu.Unlock()
		err := flip7.Play(one, flip7.Bot{Addr: b.soak.server.address, Token: b.token, Decide: b.decide, Dial: b.dial, Log: slog.New(slog.DiscardHandler)})
		if !errors.Is(err, one.Err()) {
			b.soak.t.Errorf("%s has ended: %v", b.name, err)
		}
		end()
	}
}

func (b *soakBot) decide(v *flip7.View) flip7.Decision {
	if v.Kind == flip7.Turn && v.Mine().Points >= b.stays {
		return v.Stay()
	}
	return v.Legal()[0]
}

func (b *soakBot) dial(ctx context.Context, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	b.soak.dials.Add(1)
	made := &lossy{Conn: conn, closed: make(chan struct{})}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.conn = made
	return made, nil
}

// now is what ends the program, and its newest connection; nil: there was none yet.
func (b *soakBot) now() (end context.CancelFunc, conn *lossy) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.end, b.conn
}

// lossy is a connection that can be lost in silence, as one is whose cable is pulled out: nothing comes any more, what is
// sent is gone, and when this end is closed the other does not hear of it.
type lossy struct {
	net.Conn
	lost   atomic.Bool
	once   sync.Once
	closed chan struct{}
}

// Read implements net.Conn.
func (c *lossy) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if c.lost.Load() {
		<-c.closed
		return 0, net.ErrClosed
	}
	return n, err
}

// Write implements net.Conn.
func (c *lossy) Write(p []byte) (int, error) {
	if c.lost.Load() {
		return len(p), nil
	}
	return c.Conn.Write(p)
}

// Close implements net.Conn.
func (c *lossy) Close() error {
	c.once.Do(func() { close(c.closed) })
	if c.lost.Load() {
		return nil
	}
	return c.Conn.Close()
}

// usage is what is taken after a night.
type usage struct {
	process    int // the server's
	memory     int // of it, MB resident
	files      int
	goroutines int
	silent     int // connections that the server may still believe in
	here       int // goroutines of this process: the bots'
}

func (s *soak) usage() usage {
	s.t.Helper()
	u := usage{process: s.server.running.Process.Pid, silent: int(s.silent.Load()), here: runtime.NumGoroutine()}
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", u.process))
	if err != nil {
		s.t.Fatal(err)
	}
	u.files = len(files)
	memory, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", u.process))
	if err != nil {
		s.t.Fatal(err)
	}
	u.memory = s.number(string(memory), "VmRSS:") >> 10 // of kB
	u.goroutines = s.number(s.scrape(), "go_goroutines")
	return u
}

// scrape is the server's metrics.
func (s *soak) scrape() string {
	s.t.Helper()
	response, err := http.Get("http://" + s.metrics + "/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// number is the one behind a name that begins a line.
func (s *soak) number(text, name string) int {
	s.t.Helper()
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == name {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				s.t.Fatal(err)
			}
			return n
		}
	}
	s.t.Fatalf("%s is not there", name)
	return 0
}

// judge looks for growth.
//
// A stream has a file and six goroutines. The server may still have connections of which it was not told that they are
// lost; beside them it needs files for its data and its other callers.
//
// Memory is compared within the life of one process, the last, since a new one begins small. Of eight nights is kept what
// spectators look back to and what was counted for standings: until then it may grow by a quarter and 32 MB. From then on,
// if there were enough nights to see it, by a tenth at most: a collector that has seen a busier moment keeps more.
func (s *soak) judge() {
	s.t.Helper()
	const spare = 100
	first, last := s.usages[0], s.usages[len(s.usages)-1]
	for i, u := range s.usages {
		if most := soakBots + u.silent + spare; u.files > most {
			s.t.Errorf("after night %d the server has %d files open, want at most %d", i+1, u.files, most)
		}
		if most := 6*(soakBots+u.silent) + spare; u.goroutines > most {
			s.t.Errorf("after night %d the server has %d goroutines, want at most %d", i+1, u.goroutines, most)
		}
		if most := first.here + spare; u.here > most {
			s.t.Errorf("after night %d there are %d goroutines of bots, want at most %d", i+1, u.here, most)
		}
	}
	var life []usage
	for _, u := range s.usages {
		if u.process == last.process {
			life = append(life, u)
		}
	}
	if len(life) < 3 {
		s.t.Logf("the last server has seen %d nights: too few to say whether its memory grows", len(life))
		return
	}
	if full := 8; len(life) >= 2*full {
		early, late := meanMemory(life[full:full+4]), meanMemory(life[len(life)-4:])
		s.t.Logf("from the ninth to the twelfth night the last server had %d MB, in the last four of its %d nights %d MB", early, len(life), late)
		if most := early * 11 / 10; late > most {
			s.t.Errorf("the server has grown from %d MB to %d MB in %d nights, want at most %d MB", early, late, len(life), most)
		}
		return
	}
	if most := life[1].memory*5/4 + 32; last.memory > most {
		s.t.Errorf("in %d nights the server has grown from %d MB to %d MB, want at most %d MB", len(life), life[1].memory, last.memory, most)
	}
}

func meanMemory(of []usage) (mean int) {
	for _, u := range of {
		mean += u.memory
	}
	return mean / len(of)
}

// report prints the figures.
func (s *soak) report() {
	figures := func(what string, of func(usage) int) {
		most := 0
		for _, u := range s.usages {
			most = max(most, of(u))
		}
		s.t.Logf("%s: first %d, last %d, at most %d", what, of(s.usages[0]), of(s.usages[len(s.usages)-1]), most)
	}
	s.t.Logf("%d nights, %d games, %d decisions (%.0f a second of play) in %v", len(s.usages), s.games, s.decisions,
		float64(s.decisions)/s.playing.Seconds(), time.Since(s.begun).Round(time.Second))
	s.t.Logf("%d kills; %d bots restarted, %d connections cut, %d lost in silence; %d connections made beyond the first of each bot; %d faults",
		soakKills-len(s.kills), s.restarted, s.cut, s.lost, s.dials.Load()-soakBots, s.faults)
	figures("MB of the server", func(u usage) int { return u.memory })
	figures("files of the server", func(u usage) int { return u.files })
	figures("goroutines of the server", func(u usage) int { return u.goroutines })
	figures("goroutines of the bots", func(u usage) int { return u.here })
}
