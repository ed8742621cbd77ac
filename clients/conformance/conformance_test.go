package conformance

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"google.golang.org/grpc/test/bufconn"

	flip7 "github.com/flip7-arena/flip7/clients/go"
)

// town is where addresses lead, in memory: so a check of many seconds takes none.
type town struct {
	mu    sync.Mutex
	doors map[string]*bufconn.Listener
	next  int
}

// listen is net.Listen.
func (t *town) listen(addr string) (net.Listener, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if addr == anywhere {
		t.next++
		addr = fmt.Sprintf("127.0.0.1:%d", t.next)
	}
	l := bufconn.Listen(64 << 10)
	t.doors[addr] = l
	return named{l, addr}, nil
}

// named is a listener that knows its address.
type named struct {
	*bufconn.Listener
	addr string
}

func (n named) Addr() net.Addr { return n }

func (n named) Network() string { return "town" }
func (n named) String() string  { return n.addr }

// dial finds who listens at an address.
func (t *town) dial(ctx context.Context, addr string) (net.Conn, error) {
	t.mu.Lock()
	l := t.doors[addr]
	t.mu.Unlock()
	return l.DialContext(ctx)
}

// task is a bot that runs in here instead of in a process of its own.
type task struct {
	gone chan struct{}
	err  error
	end  context.CancelFunc
}

func (t *task) Gone() <-chan struct{} { return t.gone }
func (t *task) Err() error            { return t.err }

func (t *task) End() {
	t.end()
	<-t.gone
}

// bot plays until it is to end; env is what it finds in its environment.
type bot func(ctx context.Context, env map[string]string, output io.Writer, dial func(context.Context, string) (net.Conn, error)) error

// check plays scripts against a bot, in no time.
func check(t *testing.T, b bot, config Config) (report Report) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		town := &town{doors: make(map[string]*bufconn.Listener)}
		config.listen = town.listen
		config.Begin = func(variables []string, output io.Writer) (Process, error) {
			env := make(map[string]string)
			for _, v := range variables {
				key, value, _ := strings.Cut(v, "=")
				env[key] = value
			}
			ctx, cancel := context.WithCancel(t.Context())
			run := &task{gone: make(chan struct{}), end: cancel}
			go func() {
				defer close(run.gone)
				run.err = b(ctx, env, output, town.dial)
			}()
			return run, nil
		}
		var err error
		if report, err = Check(t.Context(), config); err != nil {
			t.Fatal(err)
		}
	})
	return report
}

// kit is the bot "first" of the Go kit.
func kit(ctx context.Context, env map[string]string, output io.Writer, dial func(context.Context, string) (net.Conn, error)) error {
	return flip7.Play(ctx, flip7.Bot{
		Decide: func(v *flip7.View) flip7.Decision { return v.Legal()[0] },
		Addr:   "http://" + env["FLIP7_ADDR"], Token: env["FLIP7_TOKEN"], Dial: dial, Log: slog.New(slog.NewTextHandler(output, nil)),
	})
}

// overMemory are the scripts that can be played here: FLIP7_CA is for processes.
func overMemory() []Script {
	return slices.DeleteFunc(Scripts(), func(s Script) bool {
		return slices.ContainsFunc(s.steps, func(at step) bool { begin, is := at.act.(start); return is && begin.tls })
	})
}

func TestTheGoKitPassesEveryScript(t *testing.T) {
	report := check(t, kit, Config{Scripts: overMemory()})
	for _, r := range report.Results {
		if r.Outcome != Passed {
			t.Errorf("%s: %s %s: %v", r.Script, r.Outcome, r.Note, r.Failure)
		}
	}
	if report.Kit != "go" || !report.Conforms() {
		t.Errorf("got %s", report)
	}
}
