package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestACrowdIsBoundedInAllAndByPlace(t *testing.T) {
	c := newCrowd(3, 2)
	var leave func()
	for _, step := range []struct {
		from string
		want bool
	}{{"a", true}, {"a", true}, {"a", false}, {"b", true}, {"b", false}, {"c", false}} {
		out, ok := c.enter(step.from)
		if ok != step.want {
			t.Errorf("one more from %s, with %d in: let in is %v, want %v", step.from, c.in, ok, step.want)
		}
		if ok {
			leave = out
		}
	}
	leave()
	if _, ok := c.enter("c"); !ok || len(c.from) != 2 {
		t.Errorf("after one has left: let in is %v and %d places are remembered, want true and 2", ok, len(c.from))
	}
}

func TestTextsAreToldWithoutTokens(t *testing.T) {
	token, _ := newToken()
	hidden := "(not told)"
	for text, want := range map[string]string{
		"":                                "",
		"bot odds":                        "bot odds",
		token:                             hidden,
		"Bearer " + token:                 "Bearer " + hidden,
		`bot "` + token + `": not found`:  `bot "` + hidden + `": not found`,
		"?token=" + token + "&x=" + token: "?token=" + hidden + "&x=" + hidden,
		"x" + token:                       hidden, // who knows where it begins
		"IJ2H3MG2WPV4HHQJWA3LIBYSF2":      "IJ2H3MG2WPV4HHQJWA3LIBYSF2",
		strings.Repeat("0a", 32):          strings.Repeat("0a", 32), // a hash
		strings.Repeat("ü", 50):           strings.Repeat("ü", 50),
	} {
		if got := discreetly(text); got != want {
			t.Errorf("%q is told as %q, want %q", text, got, want)
		}
	}
}

func TestALogTellsNoToken(t *testing.T) {
	token, _ := newToken()
	var written bytes.Buffer
	log := slog.New(discreet{slog.NewJSONHandler(&written, nil)})
	log.With("with", token).WithGroup("group").Info("message "+token, "text", token, "error", errors.New("no bot "+token),
		slog.Group("inner", "list", []string{token}), "number", 7, "took", time.Second)
	if strings.Contains(written.String(), token) || strings.Count(written.String(), "(not told)") != 5 {
		t.Errorf("the log says %s", &written)
	}
	if !strings.Contains(written.String(), `"number":7`) || !strings.Contains(written.String(), `"took":1000000000`) {
		t.Errorf("what is no text is not what it was: %s", &written)
	}
}

func TestTheLogOfRefusalsIsBoundedAndSaysWhatIsMissing(t *testing.T) {
	s, now := newSparing(quota{rate: 1, burst: 3}), time.Unix(1e9, 0)
	var lines []string
	for n := range 10 {
		if n == 9 {
			now = now.Add(time.Second)
		}
		if allowed, leftOut := s.line(now); allowed {
			lines = append(lines, fmt.Sprint(n, " after ", leftOut))
		}
	}
	if got, want := strings.Join(lines, ", "), "0 after 0, 1 after 0, 2 after 0, 9 after 6"; got != want {
		t.Errorf("lines %s, want %s", got, want)
	}
}

func TestADeskHasAQueueThatNobodyFillsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		one, other := callFrom("10.0.0.1", ""), callFrom("10.0.0.2", "")
		nothing := func() error { return nil }
		err := d.work(other, func() error {
			gone, cancel := context.WithCancel(one)
			defer cancel()
			waited := make(chan error, d.queue.alike)
			for range d.queue.alike {
				go func() { waited <- d.work(gone, nothing) }()
			}
			synctest.Wait()
			err := d.work(one, nothing)
			if det := detailsOf(t, err); status.Code(err) != codes.ResourceExhausted || det.reason != "BUSY" || det.retry <= 0 {
				t.Errorf("one too many waits: %v %+v, want RESOURCE_EXHAUSTED, BUSY and a time to wait", err, det)
			}
			cancel()
			for range d.queue.alike {
				if err := <-waited; !errors.Is(err, context.Canceled) {
					t.Errorf("who has gone: %v", err)
				}
			}
			return nil
		})
		if err != nil || d.queue.in != 0 {
			t.Errorf("from elsewhere: %v, and %d are in the queue", err, d.queue.in)
		}
	})
}

// TestAnEntranceForgetsWhoIsGone: a connection from the same address and port may be there before the one before is closed.
func TestAnEntranceForgetsWhoIsGone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e := newEntrance(3, prometheus.NewCounter(prometheus.CounterOpts{Name: "x"}))
	e.Listener = listener
	defer e.Close()
	accept := func() net.Conn {
		out, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { out.Close() })
		in, err := e.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return in
	}
	for range 5 {
		in := accept()
		address := in.RemoteAddr().String()
		newer := &connection{Conn: in}
		e.connections[address] = newer
		in.Close()
		in.Close()
		if e.connections[address] != newer || e.crowd.in != 0 {
			t.Errorf("the newer connection is forgotten, or %d are in, want 0", e.crowd.in)
		}
		e.forget(newer)
	}
	if len(e.connections) != 0 {
		t.Errorf("%d connections are remembered, want none", len(e.connections))
	}
}
