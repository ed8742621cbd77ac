package arena

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/table"
)

// roster is the Bots of a test: bots that are there or not, play as told, and are remembered by their names.
type roster struct {
	mu      sync.Mutex
	there   map[string]Presence
	absent  map[string]bool
	lost    map[string]int
	pinned  map[string]string
	changed chan struct{}
	decide  func(bot string, q table.Question) table.Answer // nil: like stay-25
	ending  time.Duration                                   // how long Stop takes
}

func newRoster(bots ...string) *roster {
	r := &roster{there: map[string]Presence{}, absent: map[string]bool{}, lost: map[string]int{}, pinned: map[string]string{}, changed: make(chan struct{})}
	for _, bot := range bots {
		r.there[bot] = presence(bot)
	}
	return r
}

func presence(bot string) Presence {
	p := Presence{Build: "v1", MaxGames: 4}
	copy(p.Contribution[:], bot)
	return p
}

func (r *roster) change(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
	close(r.changed)
	r.changed = make(chan struct{})
}

func (r *roster) Player(bot string) table.Player { return &seated{roster: r, bot: bot} }

func (r *roster) Presence(bot string) (Presence, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p, there := r.there[bot]
	return p, there
}

func (r *roster) Changed() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.changed
}

func (r *roster) Lost(bot string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lost[bot]
}

func (r *roster) Absent(bot string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.absent[bot]
}

func (r *roster) Pin(bot, build string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.pinned[bot] = build
}

func (r *roster) Unpin(bot string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.pinned, bot)
}

func (r *roster) Start(string, string) error { return nil }
func (r *roster) Stop(string)                { time.Sleep(r.ending) }

type seated struct {
	roster *roster
	bot    string
}

func (s *seated) Begin(table.Info, game.Seat)   {}
func (s *seated) End(game.Result, table.Ending) {}

func (s *seated) Ask(ctx context.Context, q table.Question) (table.Answer, error) {
	if ctx.Err() != nil {
		return table.Answer{}, context.Cause(ctx)
	}
	if s.roster.decide != nil {
		return s.roster.decide(s.bot, q), nil
	}
	return table.Answer{Decision: stay25(q)}, nil
}

func stay25(q table.Question) game.Decision {
	strategy, err := house.New("stay-25")
	if err != nil {
		panic(err)
	}
	return strategy.Decide(q.View, 0)
}

// notebook is Journals that remember as long as the test runs.
type notebook struct {
	mu   sync.Mutex
	logs map[[3]int]*notebookGame
	full bool // nothing can be written
}

type notebookGame struct {
	attempt int
	entries []table.Entry
}

var errFull = errors.New("no space left on device")

func newNotebook() *notebook { return &notebook{logs: map[[3]int]*notebookGame{}} }

func (n *notebook) Open(int64) (Journal, error) { return n, nil }
func (n *notebook) Close(bool) error            { return nil }

func (n *notebook) Begun(round, tab, number int) (int, []table.Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	g := n.logs[[3]int{round, tab, number}]
	if g == nil {
		return 0, nil
	}
	return g.attempt, slices.Clone(g.entries)
}

func (n *notebook) Begin(round, tab, number, attempt int) (table.Journal, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	key := [3]int{round, tab, number}
	if g := n.logs[key]; g == nil || g.attempt != attempt {
		n.logs[key] = &notebookGame{attempt: attempt}
	}
	return &notebookPage{n, key}, nil
}

func (n *notebook) Ended(round, tab, number int) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.logs, [3]int{round, tab, number})
	return nil
}

type notebookPage struct {
	*notebook
	key [3]int
}

func (p *notebookPage) Write(e table.Entry) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.full {
		return errFull
	}
	p.logs[p.key].entries = append(p.logs[p.key].entries, e)
	return nil
}

// eve is an open tournament that has not begun.
type eve struct {
	*Arena
	t      *testing.T
	id     int64
	bots   *roster
	store  *Memory
	book   *notebook
	events *[]Event
}

var organiser = Act{Who: "test"}

// prepare opens a tournament and enters the bots.
func prepare(t *testing.T, s Settings, bots *roster, names ...string) *eve {
	t.Helper()
	var mu sync.Mutex
	events := new([]Event)
	audience := audienceFunc(func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		*events = append(*events, e)
	})
	e := &eve{t: t, bots: bots, store: NewMemory(), book: newNotebook(), events: events}
	e.Arena = New(Outside{Store: e.store, Journals: e.book, Bots: bots, Audience: audience, Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() { e.Arena.Close() })
	s.Rules.BustedAssigns = true
	if s.Name == "" {
		s.Name = "night"
	}
	night, err := e.Create(t.Context(), s, "", organiser)
	if err != nil {
		t.Fatal(err)
	}
	e.id = night.ID
	if err := e.Open(t.Context(), e.id, organiser); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		e.enter(name)
	}
	return e
}

func (e *eve) enter(name string) {
	e.t.Helper()
	if _, err := e.Enter(e.t.Context(), e.id, Entrant{Player: "bot:" + name}, organiser); err != nil {
		e.t.Fatal(err)
	}
}

func (e *eve) start() {
	e.t.Helper()
	if err := e.Start(e.t.Context(), e.id, time.Time{}, organiser); err != nil {
		e.t.Fatal(err)
	}
}

func (e *eve) wait() *Tournament {
	e.t.Helper()
	night, err := e.Wait(e.t.Context(), e.id)
	if err != nil {
		e.t.Fatal(err)
	}
	return night
}

func (e *eve) now() *Tournament {
	e.t.Helper()
	night, err := e.Tournament(e.t.Context(), e.id)
	if err != nil {
		e.t.Fatal(err)
	}
	return night
}

// standing finds a bot in the standings.
func standing(t *testing.T, night *Tournament, name string) Standing {
	t.Helper()
	all, err := night.Standings()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("%q is not in the standings %v", name, all)
	return Standing{}
}

func names(n int) []string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf("bot-%02d", i+1))
	}
	return list
}

// satAt counts how often each entry sits in each seat.
func satAt(tab Table) map[int]map[int]int {
	counts := map[int]map[int]int{}
	for _, g := range tab.Games {
		for seat, entry := range g.Seats {
			if counts[entry] == nil {
				counts[entry] = map[int]int{}
			}
			counts[entry][seat]++
		}
	}
	return counts
}

func sortedKeys[V any](m map[int]V) []int { return slices.Sorted(maps.Keys(m)) }
