package server

import (
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/server/remote"
)

// value is that of a metric without labels.
func value(t *testing.T, s *Server, name string) float64 {
	t.Helper()
	families, err := s.metrics.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == name {
			m := family.GetMetric()[0]
			return m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no metric %s", name)
	return 0
}

func TestMetricsAndHealthAreServed(t *testing.T) {
	r := start(t, func(c *Config) { c.Metrics = "127.0.0.1:0" })
	for path, want := range map[string]string{
		"/healthz": "ok\n",
		"/metrics": "flip7_decisions_total{outcome=\"timed_out\"} 0\n",
	} {
		resp, err := http.Get("http://" + r.MetricsAddr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("GET %s: %s, %v, %d bytes; want %q in them", path, resp.Status, err, len(body), want)
		}
	}
}

func TestConnectionsToTheMetricsAreBounded(t *testing.T) {
	r := start(t, func(c *Config) { c.Metrics = "127.0.0.1:0" })
	const most = metricsConnections / 2 // from one address
	for n := range most + 5 {
		conn, err := net.Dial("tcp", r.MetricsAddr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if n < most {
			continue
		}
		if _, err := conn.Read(make([]byte, 1)); err == nil {
			t.Errorf("connection %d is answered before it has asked", n+1)
		}
	}
	if got := value(t, r.Server, "flip7_connections_refused_total"); got != 5 {
		t.Errorf("%v connections are refused, want the 5 beyond %d", got, most)
	}
}

func TestGamesThatRunAreCounted(t *testing.T) {
	probe := remote.NewProbe()
	defer probe.Close()
	m := newMetrics("test", probe)
	event := func(kind arena.EventKind, tournament int64, number, game int, text string) arena.Event {
		return arena.Event{Kind: kind, Tournament: tournament, Round: 1, Table: number, Game: game, Text: text}
	}
	for _, step := range []struct {
		what string
		arena.Event
		want int
	}{
		{"a game begins", event(arena.GameBegan, 1, 1, 1, ""), 1},
		{"another at its table", event(arena.GameBegan, 1, 1, 2, ""), 2},
		{"one at another table", event(arena.GameBegan, 1, 2, 1, ""), 3},
		{"a second attempt at it", event(arena.GameBegan, 1, 2, 1, ""), 3},
		{"one of another tournament", event(arena.GameBegan, 2, 1, 1, ""), 4},
		{"the first ends", event(arena.GameEnded, 1, 1, 1, ""), 3},
		{"its table goes on", event(arena.TableChanged, 1, 1, 0, "running"), 3},
		{"its table is void", event(arena.TableChanged, 1, 1, 0, "void"), 2},
		{"a tournament is held", event(arena.StateChanged, 1, 0, 0, "held: no room"), 2},
		{"and cancelled", event(arena.StateChanged, 1, 0, 0, "cancelled"), 1},
	} {
		m.Happened(step.Event)
		if got := m.games(); got != step.want {
			t.Errorf("%s: %d games run, want %d", step.what, got, step.want)
		}
	}
}
