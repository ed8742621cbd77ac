package flip7_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestStartedWrongly(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name            string
		bot             flip7.Bot
		addr, token, ca string
		want            string
	}{
		{"no function", flip7.Bot{}, "localhost:1", "x", "", "Bot.Decide is nil"},
		{"a negative capacity", flip7.Bot{Decide: stay, MaxOpen: -1}, "localhost:1", "x", "", "Bot.MaxOpen -1"},
		{"no token", flip7.Bot{Decide: stay}, "localhost:1", " \n", "", "FLIP7_TOKEN is not set"},
		{"two lines for a token", flip7.Bot{Decide: stay}, "localhost:1", "x\ny", "", "FLIP7_TOKEN holds blanks"},
		{"no port", flip7.Bot{Decide: stay}, "localhost", "x", "", `"localhost" is not host:port`},
		{"no port, in clear text", flip7.Bot{Decide: stay}, "http://localhost", "x", "", `"http://localhost" is not host:port`},
		{"no host", flip7.Bot{Decide: stay}, ":7777", "x", "", `":7777" is not host:port`},
		{"a port too high", flip7.Bot{Decide: stay}, "localhost:99999", "x", "", "has port 99999, want 1 to 65535"},
		{"port 0", flip7.Bot{Decide: stay}, "http://localhost:0", "x", "", "has port 0, want 1 to 65535"},
		{"a name for a port", flip7.Bot{Decide: stay}, "localhost:arena", "x", "", "has port arena, want 1 to 65535"},
		{"a path", flip7.Bot{Decide: stay}, "https://arena.test/play", "x", "", "is not host:port"},
		{"another scheme", flip7.Bot{Decide: stay}, "grpc://localhost:1", "x", "", "begins with grpc://"},
		{"clear text and something to trust", flip7.Bot{Decide: stay}, "http://localhost:1", "x", empty, "asks for clear text but FLIP7_CA is set"},
		{"nothing to trust", flip7.Bot{Decide: stay}, "localhost:1", "x", empty, "holds no certificate"},
		{"no such file", flip7.Bot{Decide: stay}, "localhost:1", "x", empty + "x", "FLIP7_CA cannot be read"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("FLIP7_ADDR", test.addr)
			t.Setenv("FLIP7_TOKEN", test.token)
			t.Setenv("FLIP7_CA", test.ca)
			err := flip7.Play(t.Context(), test.bot)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
			if gone, ok := errors.AsType[*flip7.EndError](err); ok {
				t.Errorf("got an EndError (%v), want the arena not asked at all", gone)
			}
		})
	}
}

func TestUsualAddress(t *testing.T) {
	t.Setenv("FLIP7_ADDR", "")
	t.Setenv("FLIP7_CA", "")
	ctx, cancel := context.WithCancelCause(t.Context())
	err := flip7.Play(ctx, flip7.Bot{
		Decide: stay, Token: "x", Log: slog.New(slog.DiscardHandler),
		Dial: func(_ context.Context, addr string) (net.Conn, error) {
			err := errors.New("dialled " + addr)
			cancel(err)
			return nil, err
		},
	})
	if want := "dialled 127.0.0.1:7777"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// asProgram makes the test binary a bot, for TestProgram.
const asProgram = "FLIP7_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		flip7.Main(stay)
	}
	os.Exit(m.Run())
}

// waitingHouse is an arena that says when a bot has come, and waits for it to leave.
type waitingHouse struct {
	flip7v1.UnimplementedPlayServiceServer
	arrived chan struct{}
}

func (w waitingHouse) Play(stream flip7v1.PlayService_PlayServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	close(w.arrived)
	for {
		if _, err := stream.Recv(); err != nil { // io.EOF: the bot closed its side
			return nil
		}
	}
}

// attentiveHouse is an arena that hears a hello and says nothing.
type attentiveHouse struct {
	flip7v1.UnimplementedPlayServiceServer
	hello chan *flip7v1.Hello
}

func (h attentiveHouse) Play(stream flip7v1.PlayService_PlayServer) error {
	batch, err := stream.Recv()
	if err != nil {
		return err
	}
	h.hello <- batch.GetMessages()[0].GetHello()
	<-stream.Context().Done()
	return nil
}

func TestPracticeByTheEnvironment(t *testing.T) {
	for _, test := range []struct {
		variable  string
		bot, want bool
	}{{"", false, false}, {"0", false, false}, {"0", true, true}, {"1", false, true}} {
		t.Setenv("FLIP7_PRACTICE", test.variable)
		house := attentiveHouse{hello: make(chan *flip7v1.Hello, 1)}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() {
			ended <- flip7.Play(ctx, flip7.Bot{Decide: stay, Practice: test.bot, Addr: serve(t, house), Token: "x", Log: slog.New(slog.DiscardHandler)})
		}()
		if got := (<-house.hello).GetPractice(); got != test.want {
			t.Errorf("FLIP7_PRACTICE=%s and Bot.Practice %t say practice: %t, want %t", test.variable, test.bot, got, test.want)
		}
		cancel()
		<-ended
	}
	t.Setenv("FLIP7_PRACTICE", "yes")
	if err := flip7.Play(t.Context(), flip7.Bot{Decide: stay, Token: "x"}); err == nil || !strings.Contains(err.Error(), "FLIP7_PRACTICE") {
		t.Errorf("FLIP7_PRACTICE=yes: %v, want it refused", err)
	}
}

// TestProgram runs Main as the program that it is.
func TestProgram(t *testing.T) {
	program := func(addr, token string) (*exec.Cmd, *bytes.Buffer) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), asProgram+"=1", "FLIP7_CA=", "FLIP7_ADDR="+addr, "FLIP7_TOKEN="+token)
		said := new(bytes.Buffer)
		cmd.Stderr = said
		return cmd, said
	}
	t.Run("that was started wrongly", func(t *testing.T) {
		cmd, said := program("127.0.0.1:1", "")
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != 2 || !strings.HasPrefix(said.String(), "flip7: FLIP7_TOKEN is not set") {
			t.Errorf("got exit %d and %q, want 2 and FLIP7_TOKEN named", got, said)
		}
	})
	t.Run("that the arena sends away", func(t *testing.T) {
		cmd, said := program(serve(t, fullHouse{}), "x")
		cmd.Run()
		if got := cmd.ProcessState.ExitCode(); got != 1 || !strings.Contains(said.String(), "flip7: another stream of the same instance took over: reached\n") {
			t.Errorf("got exit %d and %q, want 1 and the arena's reason", got, said)
		}
	})
	t.Run("that is interrupted", func(t *testing.T) {
		house := waitingHouse{arrived: make(chan struct{})}
		cmd, said := program(serve(t, house), "x")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		<-house.arrived
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
		cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != 0 || !strings.Contains(said.String(), "interrupt again to leave at once") {
			t.Errorf("got exit %d and %q, want 0 and a word about leaving", got, said)
		}
	})
}

// TestReadme holds the bot in the README to the one that compiles.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	odds, err := os.ReadFile("examples/odds/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, bot, _ := strings.Cut(string(odds), "\npackage main")
	if !strings.Contains(string(readme), "```go\npackage main"+bot+"```\n") {
		t.Error("README.md does not hold examples/odds/main.go as it is")
	}
	// What is beside it here is not where `flip7 new-bot` copies it to.
	for _, link := range regexp.MustCompile(`\]\(([^)]*)\)`).FindAllSubmatch(readme, -1) {
		if !bytes.HasPrefix(link[1], []byte("https://")) {
			t.Errorf("README.md links to %s, which leads nowhere in a copy", link[1])
		}
	}
}
