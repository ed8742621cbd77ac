//go:build unix

package clients_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	// What else the machine does comes and goes. So kit and floors take turns, and medians are compared.
	turn  = 150 * time.Millisecond
	turns = 11                     // of each in an op
	warm  = 500 * time.Millisecond // before that, for compilers that learn as they run
)

// BenchmarkKits is how many decisions a second the kits make over loopback for an arena that asks as fast as it is answered.
// One game is all wake-ups, whose price is the machine's and the gRPC library's and not the kit's. So floors are measured
// beside it, programs in the same language: bare has the same conversation by gRPC and generated code alone; socket, with
// one game, answers as many bytes by as many over TCP and reads none of them.
func BenchmarkKits(b *testing.B) {
	for _, l := range languages {
		b.Run(l.name, func(b *testing.B) {
			if err := l.install(b.Context()); err != nil {
				fmt.Fprintf(os.Stderr, "skipped: the kit of %s: %v\n", l.name, err) // Skip says it to -v only
				b.SkipNow()
			}
			for _, games := range l.games {
				b.Run(fmt.Sprintf("games=%d", games), func(b *testing.B) { compare(b, l, games) })
			}
		})
	}
}

func compare(b *testing.B, l language, games int) {
	kinds := kinds
	if games > 1 {
		kinds = kinds[:2] // a socket that is never empty says nothing of wake-ups
	}
	var programs []*program
	for _, kind := range kinds {
		p := l.start(b, kind, games)
		p.rate(warm)
		programs = append(programs, p)
	}
	rates, ratios := make([][]float64, len(kinds)), make([][]float64, len(kinds)) // by kind; the kit to it
	for b.Loop() {
		for range turns {
			for i, p := range programs {
				rate := p.rate(turn)
				rates[i] = append(rates[i], rate)
				ratios[i] = append(ratios[i], rates[0][len(rates[i])-1]/rate)
			}
		}
	}
	b.ReportMetric(0, "ns/op") // an op is so many turns
	b.ReportMetric(median(rates[0]), "decisions/s")
	for i, kind := range kinds[1:] {
		b.ReportMetric(median(rates[i+1]), kind+"/s")
		b.ReportMetric(median(ratios[i+1]), "of-"+kind)
	}
}

func median(values []float64) float64 {
	values = slices.Sorted(slices.Values(values))
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// TestKitsAreMeasured holds that what is measured is done: all programs decide all that they are asked.
func TestKitsAreMeasured(t *testing.T) {
	const requests = 1000
	for _, l := range languages {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			if _, err := l.missing(t.Context()); err != nil {
				t.Skipf("%v; make bench installs it", err)
			}
			for _, kind := range kinds {
				p := l.start(t, kind, 16)
				p.wait(p.begin(requests))
				if got := p.asking.decisions(); got != requests {
					t.Errorf("%s: %d decisions on %d requests", kind, got, requests)
				}
			}
		})
	}
}

// kinds are the programs that there are in each language, the kit first.
var kinds = []string{"kit", "bare", "socket"}

// language is one that there is a kit for.
type language struct {
	name    string
	games   []int // side by side
	folder  string
	command []string // started in the folder, with a kind and numbers behind it, finds the arena in FLIP7_ADDR
	env     []string

	tool string   // in words
	has  []string // succeeds if the tool is there
	// What else the program needs is there if the file at installed says what the one at needs does and has printed.
	needs, installed string
	installs         [][]string // commands
}

var languages = []language{
	{
		name: "go", games: []int{1, 64, 256},
		command: []string{os.Args[0]}, env: []string{asProgram + "=1"},
	},
	{
		name: "python", games: []int{1, 64},
		command: []string{"../.build/speed/python/bin/python", "python/speed/bot.py"}, env: []string{"PYTHONPATH=python"},
		tool:  "Python 3.10 or later with venv",
		has:   []string{"python3", "-c", "import ensurepip, sys, venv; print(sys.version); sys.exit(sys.version_info < (3, 10))"},
		needs: "templates/requirements.txt", installed: "../.build/speed/python/installed.txt",
		installs: [][]string{
			{"python3", "-m", "venv", "--clear", "../.build/speed/python"},
			{"../.build/speed/python/bin/python", "-m", "pip", "--quiet", "--disable-pip-version-check", "install",
				"--only-binary", ":all:", "-r", "templates/requirements.txt"},
		},
	},
	{
		name: "typescript", games: []int{1, 64},
		folder: "typescript", command: []string{"node", "--import", "tsx", "speed/bot.ts"},
		tool: "Node 20 or later with npm",
		has:  []string{"sh", "-c", `command -v npm >/dev/null && node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)'`},
		// As test.sh has it.
		needs: "typescript/package-lock.json", installed: "typescript/node_modules/.installed",
		installs: [][]string{{"npm", "ci", "--prefix", "typescript", "--no-audit", "--no-fund", "--loglevel=error"}},
	},
}

var errNotInstalled = errors.New("what the kit needs is not installed")

// missing says what the programs would need, and what will be in the file at installed when they have it.
func (l language) missing(ctx context.Context) (mark []byte, err error) {
	if l.tool == "" {
		return nil, nil
	}
	version, err := exec.CommandContext(ctx, l.has[0], l.has[1:]...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s is missing", l.tool)
	}
	needs, err := os.ReadFile(l.needs)
	if err != nil {
		return nil, err
	}
	mark = append(needs, version...)
	if there, _ := os.ReadFile(l.installed); !bytes.Equal(there, mark) {
		return mark, errNotInstalled
	}
	return mark, nil
}

// install gets what is missing, but no language.
func (l language) install(ctx context.Context) error {
	mark, err := l.missing(ctx)
	if err != errNotInstalled {
		return err
	}
	for _, command := range l.installs {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", strings.Join(command, " "), err, out)
		}
	}
	return os.WriteFile(l.installed, mark, 0o666)
}

// program is one that runs and is asked.
type program struct {
	*asking
	tb    testing.TB
	kind  string
	lead  io.Closer     // its input: it ends with that, also when this process is killed
	ended chan struct{} // closed
	said  bytes.Buffer  // not to be read before it has ended
}

// start starts a program of a language and returns it when it is there.
func (l language) start(tb testing.TB, kind string, games int) *program {
	tb.Helper()
	p := &program{tb: tb, kind: kind, ended: make(chan struct{})}
	numbers, address := []int{games}, ""
	if kind == "socket" {
		var a *mute
		a, address = newMute(tb, games)
		p.asking, numbers = a.asking, []int{a.request, a.decision}
	} else {
		var a *spoken
		a, address = newSpoken(tb, games)
		p.asking = a.asking
	}
	args := append(slices.Clone(l.command[1:]), kind)
	for _, n := range numbers {
		args = append(args, strconv.Itoa(n))
	}
	cmd := exec.Command(l.command[0], args...)
	cmd.Dir = l.folder
	cmd.Env = append(os.Environ(), append(l.env, "FLIP7_ADDR="+address, "FLIP7_TOKEN=speed", "FLIP7_CA=", "no_grpc_proxy=127.0.0.1")...)
	cmd.Stdout, cmd.Stderr = &p.said, &p.said
	lead, err := cmd.StdinPipe()
	if err != nil {
		tb.Fatal(err)
	}
	p.lead = lead
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	go func() {
		if err := cmd.Wait(); err != nil {
			fmt.Fprintln(&p.said, err)
		}
		close(p.ended)
	}()
	tb.Cleanup(p.end)
	p.wait(p.came)
	return p
}

func (p *program) end() {
	p.lead.Close()
	<-p.ended
}

// wait waits for something that the program has to do.
func (p *program) wait(done <-chan struct{}) {
	p.tb.Helper()
	var err error
	select {
	case <-done:
		return
	case err = <-p.broken:
	case <-p.ended:
		err = errors.New("it has ended")
	case <-time.After(time.Minute):
		err = errors.New("it does not come to that in a minute")
	}
	p.end()
	p.tb.Fatalf("%s: %v; it said:\n%s", p.kind, err, &p.said)
}

// begin asks so many requests.
func (p *program) begin(requests int) (idle <-chan struct{}) {
	p.tb.Helper()
	idle, err := p.asking.begin(requests)
	if err != nil {
		p.tb.Fatalf("%s: %v", p.kind, err)
	}
	return idle
}

// rate is how many decisions a second it makes during some time.
func (p *program) rate(during time.Duration) float64 {
	p.tb.Helper()
	idle := p.begin(math.MaxInt)
	time.Sleep(during / 10) // until it is at it
	before, began := p.decisions(), time.Now()
	time.Sleep(during)
	rate := float64(p.decisions()-before) / time.Since(began).Seconds()
	p.enough()
	p.wait(idle)
	return rate
}

// asProgram in the environment makes the test binary the program in Go.
const asProgram = "CLIENTS_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) == "" {
		os.Exit(m.Run())
	}
	go func() {
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	var numbers []int
	for _, arg := range os.Args[2:] {
		n, err := strconv.Atoi(arg)
		if err != nil {
			panic(err)
		}
		numbers = append(numbers, n)
	}
	var err error
	switch os.Args[1] {
	case "kit":
		err = kit(numbers[0])
	case "bare":
		err = bare()
	case "socket":
		err = socket(numbers[0], numbers[1])
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func kit(games int) error {
	return flip7.Play(context.Background(), flip7.Bot{
		Decide:   func(v *flip7.View) flip7.Decision { return v.Stay() },
		MaxGames: games, MaxOpen: games, Log: slog.New(slog.DiscardHandler),
	})
}

// bare decides a batch for each batch.
func bare() error {
	conn, err := grpc.NewClient(os.Getenv("FLIP7_ADDR"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	stream, err := flip7v1.NewPlayServiceClient(conn).Play(context.Background())
	if err != nil {
		return err
	}
	hello := &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Hello{Hello: &flip7v1.Hello{Protocol: 1}}}
	if err := stream.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello}}); err != nil {
		return err
	}
	if _, err := stream.Recv(); err != nil { // the welcome
		return err
	}
	for {
		batch, err := stream.Recv()
		if err != nil {
			return err
		}
		var decisions []*flip7v1.BotMessage
		for _, m := range batch.GetMessages() {
			d := &flip7v1.Decision{RequestId: m.GetRequest().GetRequestId(), Answer: flip7v1.Answer_ANSWER_STAY}
			decisions = append(decisions, &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: d}})
		}
		if err := stream.Send(&flip7v1.PlayRequest{Messages: decisions}); err != nil {
			return err
		}
	}
}

// socket takes so many bytes for a request and as many as it is told for a decision.
func socket(request, decision int) error {
	conn, err := net.Dial("tcp", os.Getenv("FLIP7_ADDR"))
	if err != nil {
		return err
	}
	in := make([]byte, 1<<16)
	for have := 0; ; have %= request {
		n, err := conn.Read(in)
		if err != nil {
			return err
		}
		have += n
		if _, err := conn.Write(make([]byte, have/request*decision)); err != nil {
			return err
		}
	}
}
