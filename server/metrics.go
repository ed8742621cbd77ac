package server

import (
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	grpcprom "github.com/grpc-ecosystem/go-grpc-middleware/providers/prometheus"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

// metrics is what is counted, in a registry of its own. It is told of games as an arena.Audience and of decisions by the
// hooks of remote. The probe measures the arena's own stalls for as long as a game is played, and the meter its lag.
type metrics struct {
	probe    *remote.Probe
	lag      *lagMeter
	registry *prometheus.Registry
	calls    *grpcprom.ServerMetrics // of all but Play, whose streams last as long as a bot does

	outcomes [game.TimedOut + 1]prometheus.Counter // by cause
	absent   prometheus.Counter
	latency  prometheus.Histogram
	illegal  prometheus.Counter
	plays    prometheus.Counter
	ends     *prometheus.CounterVec
	journal  prometheus.Counter
	panics   prometheus.Counter
	logLost  prometheus.Counter
	refused  prometheus.Counter
	practice prometheus.Counter

	mu      sync.Mutex
	running map[gameKey]bool
	streams map[string]int       // by bot, those that have any
	left    map[string]time.Time // by bot, when it was last heard of, those that have none
}

// gameKey names a game in the arena.
type gameKey struct {
	tournament           int64
	round, table, number int
}

// Decisions are mostly answered within a millisecond; beyond the timeout the time bank runs.
var latencyBuckets = []float64{.0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10}

func newMetrics(version string, probe *remote.Probe) *metrics {
	decisions := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "flip7_decisions_total",
		Help: "Requests to bots by what became of them: chosen, passed, illegal, disconnected, timed_out, or absent for those that were not waited for."}, []string{"outcome"})
	m := &metrics{
		probe:    probe,
		registry: prometheus.NewRegistry(),
		calls:    grpcprom.NewServerMetrics(grpcprom.WithServerHandlingTimeHistogram()),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "flip7_decision_seconds",
			Help: "Time that bots were charged for the decisions they made, network allowance taken off.", Buckets: latencyBuckets}),
		illegal: prometheus.NewCounter(prometheus.CounterOpts{Name: "flip7_illegal_decisions_total",
			Help: "Illegal decisions of bots, also those that were mended in time."}),
		plays: prometheus.NewCounter(prometheus.CounterOpts{Name: "flip7_plays_total",
			Help: "Decisions played at tables of tournaments, those of house bots too."}),
		ends: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "flip7_streams_ended_total",
			Help: "Streams of bots by why they ended; lost if the connection went away."}, []string{"reason"}),
		journal: prometheus.NewCounter(prometheus.CounterOpts{Name: "flip7_journal_errors_total",
			Help: "Writes to a journal that failed; the tournament is held until they do not."}),
		panics: prometheus.NewCounter(prometheus.CounterOpts{Name: "flip7_panics_total",
			Help: "Calls that ended in a panic; the log has the stack."}),
		logLost: prometheus.NewCounter(prometheus.CounterOpts{Name: "flip7_log_entries_lost_total",
			Help: "Entries of the logs of bots that came faster than they could be kept, or could not be kept at all."}),
		refused: prometheus.NewCounter(prometheus.CounterOpts{Name: "flip7_connections_refused_total",
			Help: "Connections that were closed at once, since as many were there as may be, in all or from their address."}),
		practice: prometheus.NewCounter(prometheus.CounterOpts{Name: "flip7_practice_games_total",
			Help: "Practice games that were begun; their decisions count among all others."}),
		absent:  decisions.WithLabelValues("absent"),
		running: map[gameKey]bool{},
		streams: map[string]int{},
		left:    map[string]time.Time{},
	}
	m.registry.MustRegister(
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.calls, decisions, m.latency, m.illegal, m.plays, m.ends, m.journal, m.panics, m.logLost, m.refused, m.practice,
		gauge("flip7_games_running", "Games that are being played.", func() float64 { return float64(m.games()) }),
		gauge("flip7_bots_connected", "Bots that have a stream.", func() float64 { bots, _ := m.connected(); return float64(bots) }),
		gauge("flip7_streams", "Streams of bots.", func() float64 { _, streams := m.connected(); return float64(streams) }),
		prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "flip7_stall_seconds_total",
			Help: "Time that the arena itself lost while games were played; bots are given it back."}, func() float64 { return probe.Lost().Seconds() }),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "flip7_info", Help: "Always 1; says which version runs.",
			ConstLabels: prometheus.Labels{"version": version}}, func() float64 { return 1 }),
	)
	lag := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "flip7_lag_seconds",
		Help: "How late the arena itself was, looked at a hundred times a second while games were played.", Buckets: latencyBuckets})
	m.registry.MustRegister(lag)
	m.lag = newLagMeter(probe.Lost, func(late time.Duration) { lag.Observe(late.Seconds()) })
	for cause := range m.outcomes {
		m.outcomes[cause] = decisions.WithLabelValues(game.Cause(cause).String())
	}
	return m
}

func gauge(name, help string, value func() float64) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
}

// hooks are how remote tells of decisions and streams.
func (m *metrics) hooks() remote.Hooks {
	return remote.Hooks{
		Answered: func(a remote.Answered) {
			m.illegal.Add(float64(a.Illegal))
			if a.Absent {
				m.absent.Inc()
				return
			}
			m.outcomes[a.Cause].Inc()
			if a.Cause == game.Chosen {
				m.latency.Observe(a.Took.Seconds())
			}
		},
		Connected: func(bot string, instances int) {
			m.mu.Lock()
			defer m.mu.Unlock()
			if m.streams[bot] = instances; instances == 0 {
				delete(m.streams, bot)
				m.left[bot] = time.Now()
			}
		},
		Ended: func(_ remote.Session, reason flip7v1.EndReason, _ string) {
			label := "lost"
			if reason != flip7v1.EndReason_END_REASON_UNSPECIFIED {
				label = strings.ToLower(strings.TrimPrefix(reason.String(), "END_REASON_"))
			}
			m.ends.WithLabelValues(label).Inc()
		},
	}
}

// connected is how many bots have how many streams.
func (m *metrics) connected() (bots, streams int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, n := range m.streams {
		streams += n
	}
	return len(m.streams), streams
}

// lastSeen is when a bot was last heard of; the zero time if not since the arena started.
func (m *metrics) lastSeen(bot string) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.streams[bot] > 0 {
		return time.Now()
	}
	return m.left[bot]
}

// games is how many games are being played.
func (m *metrics) games() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.running)
}

// Happened implements arena.Audience.
func (m *metrics) Happened(e arena.Event) {
	of := gameKey{e.Tournament, e.Round, e.Table, e.Game}
	switch e.Kind {
	case arena.GamePlay:
		m.plays.Inc()
	case arena.GameBegan:
		m.change(func() { m.running[of] = true })
	case arena.GameEnded:
		m.change(func() { delete(m.running, of) })
	case arena.TableChanged: // a table that is void ends its games without a result
		if e.Text != arena.Playing.String() {
			m.over(func(k gameKey) bool { return k.tournament == e.Tournament && k.round == e.Round && k.table == e.Table })
		}
	case arena.StateChanged:
		if state, err := arena.ParseState(e.Text); err == nil && state.Over() {
			m.over(func(k gameKey) bool { return k.tournament == e.Tournament })
		}
	}
}

// over forgets games.
func (m *metrics) over(which func(gameKey) bool) {
	m.change(func() { maps.DeleteFunc(m.running, func(k gameKey, _ bool) bool { return which(k) }) })
}

// change changes which games are played, and has stalls measured as long as there are any.
func (m *metrics) change(do func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := len(m.running) > 0
	do()
	switch after := len(m.running) > 0; {
	case after && !before:
		m.probe.Watch(+1)
		m.lag.begin(m.playing)
	case before && !after:
		m.probe.Watch(-1)
		m.lag.end()
	}
}

// playing are the tournaments of which a game is being played.
func (m *metrics) playing() []int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []int64
	for k := range m.running {
		if !slices.Contains(ids, k.tournament) { // hardly ever more than one
			ids = append(ids, k.tournament)
		}
	}
	return ids
}

// close ends what measures.
func (m *metrics) close() {
	m.lag.close()
	m.probe.Close()
}

// handler serves what was counted, and whether the server is alive and not about to stop.
func (m *metrics) handler(state *health.Server) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, Timeout: 10 * time.Second}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, r *http.Request) {
		now, err := state.Check(r.Context(), &grpc_health_v1.HealthCheckRequest{})
		if err != nil || now.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
			http.Error(w, "the arena is about to stop", http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, "ok\n")
	})
	return mux
}

// journals counts the writes of an arena's journals that fail.
type journals struct {
	arena.Journals
	failed prometheus.Counter
}

func (j journals) Open(id int64) (arena.Journal, error) {
	opened, err := j.Journals.Open(id)
	if err != nil {
		j.failed.Inc()
		return nil, err
	}
	return journal{opened, j.failed}, nil
}

type journal struct {
	arena.Journal
	failed prometheus.Counter
}

func (j journal) Begin(round, number, game, attempt int) (table.Journal, error) {
	begun, err := j.Journal.Begin(round, number, game, attempt)
	if err != nil {
		j.failed.Inc()
		return nil, err
	}
	return decisions{begun, j.failed}, nil
}

type decisions struct {
	table.Journal
	failed prometheus.Counter
}

func (d decisions) Write(e table.Entry) error {
	err := d.Journal.Write(e)
	if err != nil {
		d.failed.Inc()
	}
	return err
}
