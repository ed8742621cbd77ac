package arena

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/flip7-arena/flip7/arena/table"
)

// Memory is a Store, and Journals, that forgets everything when the program ends: for rehearsals.
type Memory struct {
	mu       sync.Mutex
	nights   []*Tournament // nights[i].ID is i+1
	requests map[string]int64
	games    map[GameID]Played
	acts     map[int64][]Act
}

// NewMemory is an empty store.
func NewMemory() *Memory {
	return &Memory{requests: map[string]int64{}, games: map[GameID]Played{}, acts: map[int64][]Act{}}
}

func (m *Memory) find(id int64) (*Tournament, error) {
	if id < 1 || id > int64(len(m.nights)) {
		return nil, fmt.Errorf("tournament %d: %w", id, ErrNotFound)
	}
	return m.nights[id-1], nil
}

// Create implements Store.
func (m *Memory) Create(_ context.Context, t *Tournament, requestID string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id, there := m.requests[requestID]; there && requestID != "" {
		*t = *m.nights[id-1].clone()
		return nil
	}
	t.ID = int64(len(m.nights) + 1)
	m.nights = append(m.nights, t.clone())
	m.requests[requestID] = t.ID
	return nil
}

// Tournament implements Store.
func (m *Memory) Tournament(_ context.Context, id int64) (*Tournament, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, err := m.find(id)
	if err != nil {
		return nil, err
	}
	return t.clone(), nil
}

// Tournaments implements Store.
func (m *Memory) Tournaments(_ context.Context, before int64, limit int) ([]Tournament, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var list []Tournament
	for _, t := range slices.Backward(m.nights) {
		if before != 0 && t.ID >= before {
			continue
		}
		if len(list) == limit {
			break
		}
		head := *t
		head.Entries, head.Rounds = nil, nil
		list = append(list, head)
	}
	return list, nil
}

// Live implements Store.
func (m *Memory) Live(context.Context) ([]*Tournament, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var live []*Tournament
	for _, t := range m.nights {
		if t.State == Open || t.State.Live() {
			live = append(live, t.clone())
		}
	}
	return live, nil
}

// Rated implements Store.
func (m *Memory) Rated(_ context.Context, league string) ([]int64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var ids []int64
	for _, t := range m.nights {
		if t.Settings.League == league && t.Unrated() == "" {
			ids = append(ids, t.ID)
		}
	}
	return ids, nil
}

// Leagues implements Store.
func (m *Memory) Leagues(context.Context) ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var names []string
	for _, t := range m.nights {
		names = append(names, t.Settings.League)
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// update changes a tournament under the lock.
func (m *Memory) update(id int64, change func(*Tournament)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	t, err := m.find(id)
	if err != nil {
		return err
	}
	change(t)
	return nil
}

// SaveHead implements Store.
func (m *Memory) SaveHead(_ context.Context, t *Tournament) error {
	return m.update(t.ID, func(kept *Tournament) {
		head := *t
		head.Entries, head.Rounds = kept.Entries, kept.Rounds
		head.Excluded = slices.Clone(t.Excluded)
		*kept = head
	})
}

// SaveEntries implements Store.
func (m *Memory) SaveEntries(_ context.Context, id int64, entries ...Entry) error {
	return m.update(id, func(t *Tournament) {
		for _, e := range entries {
			if at, there := slices.BinarySearchFunc(t.Entries, e.Number, func(e Entry, n int) int { return e.Number - n }); there {
				t.Entries[at] = e
			} else {
				t.Entries = slices.Insert(t.Entries, at, e)
			}
		}
	})
}

// SaveRound implements Store.
func (m *Memory) SaveRound(_ context.Context, id int64, round Round) error {
	return m.update(id, func(t *Tournament) {
		round.Tables = slices.Clone(round.Tables)
		t.Rounds = append(t.Rounds, round)
	})
}

// SaveTable implements Store.
func (m *Memory) SaveTable(_ context.Context, id int64, round int, tab Table) error {
	return m.update(id, func(t *Tournament) {
		kept := &t.Rounds[round-1].Tables[tab.Number-1]
		kept.State, kept.Why, kept.VoidFrom, kept.Lost = tab.State, tab.Why, tab.VoidFrom, tab.Lost
	})
}

// SaveGame implements Store.
func (m *Memory) SaveGame(_ context.Context, id GameID, p Played) error {
	return m.update(id.Tournament, func(t *Tournament) {
		if _, there := m.games[id]; there {
			return
		}
		m.games[id] = p
		tab := &t.Rounds[id.Round-1].Tables[id.Table-1]
		at, _ := slices.BinarySearchFunc(tab.Games, id.Number, func(g Game, n int) int { return g.Number - n })
		tab.Games = slices.Insert(slices.Clone(tab.Games), at, p.Game)
	})
}

// Games implements Store.
func (m *Memory) Games(_ context.Context, id int64, do func(GameID, Played) error) error {
	m.mu.Lock()
	var ids []GameID
	for g := range m.games {
		if g.Tournament == id {
			ids = append(ids, g)
		}
	}
	m.mu.Unlock()
	slices.SortFunc(ids, func(a, b GameID) int {
		return cmp.Or(a.Round-b.Round, a.Table-b.Table, a.Number-b.Number)
	})
	for _, g := range ids {
		m.mu.Lock()
		p := m.games[g]
		m.mu.Unlock()
		if err := do(g, p); err != nil {
			return err
		}
	}
	return nil
}

// Game implements Store.
func (m *Memory) Game(_ context.Context, id GameID) (Played, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, there := m.games[id]
	if !there {
		return Played{}, fmt.Errorf("game %d/%d/%d/%d: %w", id.Tournament, id.Round, id.Table, id.Number, ErrNotFound)
	}
	return p, nil
}

// Audit implements Store.
func (m *Memory) Audit(_ context.Context, id int64, act Act) error {
	return m.update(id, func(*Tournament) { m.acts[id] = append(m.acts[id], act) })
}

// Acts implements Store.
func (m *Memory) Acts(_ context.Context, id int64) ([]Act, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.acts[id]), nil
}

// Open implements Journals: nothing of an unfinished game outlives the program, so nothing is written.
func (m *Memory) Open(int64) (Journal, error) { return noJournal{}, nil }

type noJournal struct{}

func (noJournal) Begun(int, int, int) (int, []table.Entry)        { return 0, nil }
func (noJournal) Begin(int, int, int, int) (table.Journal, error) { return noJournal{}, nil }
func (noJournal) Ended(int, int, int) error                       { return nil }
func (noJournal) Close(bool) error                                { return nil }
func (noJournal) Write(table.Entry) error                         { return nil }
