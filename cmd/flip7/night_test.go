//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"github.com/flip7-arena/flip7/arena"
	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// asProgram in the environment makes the test binary the program itself.
const asProgram = "ARENA_TEST_AS_PROGRAM"

// TestMain lets the test binary be flip7 too, in processes that can be killed, and a bot that such a server starts.
func TestMain(m *testing.M) {
	switch {
	case os.Getenv(asProgram) == "":
		os.Exit(m.Run())
	case len(os.Args) == 4 && os.Args[1] == "commanded":
		commanded(os.Args[2], os.Args[3])
	default:
		main()
	}
}

// commanded is a program that a server starts as "cmd:": a bot that plays a house strategy. As long as it runs it has a
// share in the lock of a file.
func commanded(strategy, lock string) {
	file, err := os.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err == nil {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH)
	}
	kit, wrong := demoBot{name: strategy, strategy: strategy}.kit("", "", os.Stderr)
	if err := errors.Join(err, wrong); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(exitUsage)
	}
	ctx, cancel := context.WithTimeout(context.Background(), longestNight) // a test that fails may leave it alone
	defer cancel()
	_ = flip7.Play(ctx, kit) // which says why it ended
}

// served is a server in a process of its own, on a data folder and an address that stay when it is killed.
type served struct {
	t       *testing.T
	data    string
	address string
	web     string // where the pages are, or "off"
	log     *os.File
	running *exec.Cmd
}

// newServed finds an address for a server. It is none of those that the system gives to whoever connects to somewhere,
// which could be taken while the server is down.
func newServed(t *testing.T, data string, log *os.File) *served {
	t.Helper()
	for port := 20000 + rand.IntN(10000); ; port++ {
		address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		if free, err := net.Listen("tcp", address); err == nil {
			free.Close()
			return &served{t: t, data: data, address: address, web: "off", log: log}
		}
	}
}

// start returns when the server is there.
func (s *served) start() {
	s.t.Helper()
	cmd := exec.Command(os.Args[0], "serve", "--data", s.data, "--address", s.address, "--metrics", "off", "--web", s.web, "--drain-grace", "1s")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.running = cmd
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || !strings.Contains(line, s.address) {
		s.t.Fatalf("the server says %q (%v), want that it is on %s", line, err, s.address)
	}
}

// kill is kill -9.
func (s *served) kill() {
	s.t.Helper()
	if err := s.running.Process.Kill(); err != nil {
		s.t.Fatal(err)
	}
	_ = s.running.Wait() // says that it was killed
	s.running = nil
}

// stop is what an organiser does.
func (s *served) stop() {
	s.t.Helper()
	if err := s.running.Process.Signal(syscall.SIGTERM); err != nil {
		s.t.Fatal(err)
	}
	if err := s.running.Wait(); err != nil {
		s.t.Errorf("the server ended with %v, want exit status 0", err)
	}
	s.running = nil
}

// night is a league night of deterministic bots on a server that may be killed: some play in the server, some are
// programs that it starts, some come in from here.
type night struct {
	t         *testing.T
	ctx       context.Context
	leave     context.CancelFunc
	bots      sync.WaitGroup // and spectators
	server    *served
	programs  string // file in whose lock those have a share that servers have started
	conn      *grpc.ClientConn
	pulse     pulse
	over      chan struct{}     // closed when spectators are told
	tokens    map[string]string // of the bots that come in, by name
	kit       *kitBot
	witnesses []*witness
}

// longestNight is many times what a night takes: one that is not over by then hangs.
const longestNight = 5 * time.Minute

// tournament is the number of the night: its server has no other.
const tournament = "1"

// newNight sets up a night of so many pairing rounds and lets its bots come in. Nine bots sit at three tables, some of them
// with nobody who has to come back when the server was killed.
func newNight(t *testing.T, rounds int) *night {
	t.Helper()
	n := openNight(t, filepath.Join(t.TempDir(), "data"))
	n.verb("tournament", "create", "night", "--open", "--seed", "7", "--seats", "3", "--rounds", strconv.Itoa(rounds),
		"--decision-timeout", "30s", "--time-bank", "30s", "--table-limit", "1h", "--checkin", "5m",
		"--final-table", "3", "--until", "max-games", "--max-games", "45")
	n.verb("tournament", "enter", tournament, "house:odds", "house:stay-20", "house:random")
	for _, strategy := range []string{"racer", "stay-25", "random"} {
		n.verb("tournament", "enter", tournament, "cmd:"+os.Args[0]+" commanded "+strategy+" "+n.programs, "--as", "program-"+strategy)
	}
	tokens := map[string]string{}
	for _, name := range []string{"kit", "witness", "watcher"} {
		tokens[name] = n.register(name)
	}
	n.comeIn(tokens)
	return n
}

// openNight starts a server on a data folder.
func openNight(t *testing.T, data string) *night {
	t.Helper()
	n := prepareNight(t, data)
	n.begin()
	return n
}

// prepareNight is a server on a data folder that is not started yet.
func prepareNight(t *testing.T, data string) *night {
	t.Helper()
	folder := t.TempDir()
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	n := &night{t: t, programs: filepath.Join(folder, "programs"), over: make(chan struct{})}
	n.server = newServed(t, data, log)
	n.ctx, n.leave = context.WithTimeoutCause(context.Background(), longestNight, errors.New("the night takes too long"))
	t.Cleanup(func() {
		n.clear()
		log.Close()
		if t.Failed() {
			tail(t, log.Name())
		}
	})
	return n
}

// begin starts the server.
func (n *night) begin() {
	n.t.Helper()
	n.server.start()
	var err error
	soon := backoff.Config{BaseDelay: 5 * time.Millisecond, Multiplier: 1, MaxDelay: 5 * time.Millisecond}
	if n.conn, err = grpc.NewClient("passthrough:///"+n.server.address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: soon, MinConnectTimeout: longestNight})); err != nil {
		n.t.Fatal(err)
	}
}

// comeIn lets the bots of the night come in, and a spectator.
func (n *night) comeIn(tokens map[string]string) {
	n.tokens = tokens
	n.kit = &kitBot{demoBot: demoBot{name: "kit", strategy: "odds"}, address: n.server.address, token: tokens["kit"], log: n.server.log, wrong: n.t.Errorf}
	n.bots.Go(func() { n.kit.play(n.ctx) })
	for _, name := range []string{"witness", "watcher"} {
		w := &witness{name: name, token: tokens[name], pulse: &n.pulse, wrong: n.t.Errorf, games: map[attemptKey]*testimony{}}
		n.witnesses = append(n.witnesses, w)
		n.bots.Go(func() { w.play(n.ctx, n.conn) })
	}
	n.bots.Go(n.follow)
}

// register registers a bot and enters it, and returns its token.
func (n *night) register(name string) string {
	n.t.Helper()
	var registered struct {
		Token string `json:"token"`
	}
	if err := json.Unmarshal(n.verb("--json", "bot", "register", name), &registered); err != nil {
		n.t.Fatal(err)
	}
	n.verb("tournament", "enter", tournament, "bot:"+name)
	return registered.Token
}

// verb runs one of the program's verbs on the server of the night, and returns what it prints.
func (n *night) verb(args ...string) []byte {
	n.t.Helper()
	return verb(n.t, append(args, "--data", n.server.data, "--address", n.server.address)...)
}

// verb runs one of the program's verbs here, and returns what it prints.
func verb(t *testing.T, args ...string) []byte {
	t.Helper()
	var out, problems bytes.Buffer
	if code := run(t.Context(), args, program{out: &out, err: &problems}); code != 0 {
		t.Fatalf("flip7 %s: exit code %d: %s%s", strings.Join(args, " "), code, out.Bytes(), problems.Bytes())
	}
	return out.Bytes()
}

func (n *night) start() {
	n.t.Helper()
	n.verb("tournament", "start", tournament)
}

// until returns when a moment has come, or the night is over.
func (n *night) until(m moment) {
	n.t.Helper()
	select {
	case <-n.pulse.at(m):
	case <-n.over:
	case <-n.ctx.Done():
		n.t.Fatal(context.Cause(n.ctx))
	}
}

// hold returns when a moment has come at which a witness is asked. The night is in its middle until goOn is called, however
// long that takes: from that moment on the witnesses answer nothing.
func (n *night) hold(m moment) (goOn func()) {
	n.t.Helper()
	hold := make(chan struct{})
	n.pulse.mu.Lock()
	n.pulse.hold = hold
	n.pulse.mu.Unlock()
	n.until(m)
	return func() { close(hold) }
}

func (n *night) untilOver() {
	n.t.Helper()
	select {
	case <-n.over:
	case <-n.ctx.Done():
		n.t.Fatal(context.Cause(n.ctx))
	}
}

// follow is a spectator who comes back whenever the server does, until the night is over.
func (n *night) follow() {
	client := flip7v1.NewWatchServiceClient(n.conn)
	for n.ctx.Err() == nil {
		stream, err := client.WatchTournament(n.ctx, &flip7v1.WatchTournamentRequest{TournamentId: tournament}, grpc.WaitForReady(true))
		for err == nil {
			var r *flip7v1.WatchTournamentResponse
			r, err = stream.Recv()
			for _, e := range r.GetEvents() {
				if e.GetTournament().GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED {
					close(n.over)
					return
				}
			}
		}
		if status.Code(err) != codes.Unavailable && n.ctx.Err() == nil {
			n.t.Errorf("a spectator is told %v", err)
			return
		}
	}
}

// results are the exported results of the night.
func (n *night) results() []byte {
	n.t.Helper()
	return n.verb("tournament", "export", tournament)
}

// check looks for what must not be whatever the results are.
func (n *night) check(results []byte) {
	n.t.Helper()
	seen, err := arena.Verify(bytes.NewReader(results))
	if err != nil {
		n.t.Errorf("the results do not hold: %v", err)
	}
	standings, err := allStandings(n.ctx, flip7v1.NewTournamentServiceClient(n.conn), tournament)
	if err != nil {
		n.t.Fatal(err)
	}
	seats := 0
	for _, s := range standings.GetStandings() {
		seats += int(s.GetGames())
		if s.GetMissed() > 0 || faults(s.GetFaults()) > 0 {
			n.t.Errorf("%s missed %d pairing rounds and has %d faults, want none", s.GetBot(), s.GetMissed(), faults(s.GetFaults()))
		}
	}
	if seats != 3*seen.Games {
		n.t.Errorf("the standings count %d games, and there are %d of 3 bots", seats, seen.Games)
	}
	for _, w := range n.witnesses {
		w.check(results)
	}
}

// end lets the bots go and stops the server. By then the programs that it had started are gone, and those of servers that
// were killed, since no server knows their tokens any more.
func (n *night) end() {
	n.t.Helper()
	programs, err := os.Open(n.programs)
	if err != nil {
		n.t.Fatal(err)
	}
	defer programs.Close()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for syscall.Flock(int(programs.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		select {
		case <-look.C:
		case <-n.ctx.Done():
			n.t.Fatal("a program is left that a server had started")
		}
	}
	n.leave()
	n.bots.Wait()
	n.server.stop()
}

// clear ends what a night that has failed has left.
func (n *night) clear() {
	n.leave()
	n.bots.Wait()
	if n.conn != nil {
		n.conn.Close()
	}
	if n.server.running != nil {
		n.server.kill()
	}
}

// tail shows the end of what the servers and bots of a night have logged.
func tail(t *testing.T, path string) {
	content, err := os.ReadFile(path)
	if err != nil {
		t.Error(err)
	}
	t.Logf("the log ends with:\n%s", content[max(0, len(content)-20_000):])
}

// kitBot is a bot that plays by the kit.
type kitBot struct {
	demoBot
	address, token string
	log            io.Writer
	wrong          func(format string, args ...any)

	mu  sync.Mutex
	end context.CancelFunc
}

func (b *kitBot) play(ctx context.Context) {
	kit, err := b.kit(b.address, b.token, b.log)
	if err != nil {
		b.wrong("%s: %v", b.name, err)
	}
	for ctx.Err() == nil {
		one, end := context.WithCancel(ctx)
		b.mu.Lock()
		b.end = end
		b.mu.Unlock()
		if err := flip7.Play(one, kit); !errors.Is(err, one.Err()) {
			b.wrong("%s has ended: %v", b.name, err)
		}
		end()
	}
}

// restart ends the bot, which then comes back as if its program had been started again.
func (b *kitBot) restart() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.end()
}
