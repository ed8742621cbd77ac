// Package storetest is what every arena.Store has to hold to, so that the arena can be tested on one and trusted on
// another.
package storetest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// TestStore holds a store to the contract. Open is called once for each part of it and gives an empty store, which it
// closes at the end of the test that it is given.
func TestStore(t *testing.T, open func(t *testing.T) arena.Store) {
	for _, part := range []struct {
		name string
		test func(*testing.T, suite)
	}{
		{"a tournament comes back as it was created", created},
		{"a request id creates one tournament", createdOnce},
		{"concurrent calls with one request id create one tournament", createdOnceByMany},
		{"a head is kept without entries and rounds", head},
		{"entries are kept new and changed", entries},
		{"rounds and tables come back with their games", rounds},
		{"a result lands once", landsOnce},
		{"results that land at the same time all land", landTogether},
		{"games come in order of round, table and number", inOrder},
		{"reading games stops where it is told to", stops},
		{"a game lands while games are read", landsWhileRead},
		{"tournaments are listed newest first, in pages", listed},
		{"the live are those that the arena goes on with", live},
		{"the rated are a league's finished ones with secret deals", rated},
		{"leagues are sorted", leagues},
		{"acts are kept in order", acts},
		{"what is not there is not found", notFound},
		{"what was read is the caller's", callersOwn},
	} {
		t.Run(part.name, func(t *testing.T) { part.test(t, suite{t, open(t)}) })
	}
}

// suite is a store under test.
type suite struct {
	t *testing.T
	arena.Store
}

// at is a time that any store keeps exactly: whole microseconds in UTC.
func at(minutes int) time.Time {
	return time.Date(2026, 11, 30, 20, minutes, 0, 123_456_000, time.UTC)
}

// night is a tournament with every field set.
func night(name string) *arena.Tournament {
	s := arena.DefaultSettings()
	fill(reflect.ValueOf(&s).Elem(), new(int))
	s.Name, s.League = name, "main"
	s.Schedule, s.Anchor = arena.Planned, arena.AnchorOff
	s.TimeBank = -1 // none
	s.Rules = game.Rules{TieBreak: 1, BustedAssigns: true, Deal: 1, TargetScore: 300, MaxRounds: 50, Decks: 2}
	seed := uint64(1<<64 - 1)
	s.Seed = &seed
	return &arena.Tournament{Settings: s, State: arena.Open, Why: "no reason", Secret: [32]byte{1, 31: 2},
		Excluded: []arena.Excluded{{Round: 1, Table: 2, Game: 3, Why: "power cut"}, {Why: "all of it"}},
		StartAt:  at(1), Created: at(2), Started: at(3), Ended: at(4)}
}

// plain is a tournament as they usually are.
func plain(name, league string, state arena.State) *arena.Tournament {
	s := arena.DefaultSettings()
	s.Name, s.League = name, league
	return &arena.Tournament{Settings: s, State: state, Created: at(0)}
}

// fill sets every field to another value, so that one that is not kept is found.
func fill(v reflect.Value, next *int) {
	*next++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), next)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), next)
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*next))
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d é \" ", *next))
	}
}

func (s suite) create(t *arena.Tournament) *arena.Tournament {
	s.t.Helper()
	if err := s.Create(s.t.Context(), t, ""); err != nil {
		s.t.Fatal(err)
	}
	return t
}

func (s suite) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// holds checks that the store has the tournament as it is said to be.
func (s suite) holds(want *arena.Tournament) {
	s.t.Helper()
	got, err := s.Tournament(s.t.Context(), want.ID)
	if err != nil {
		s.t.Fatal(err)
	}
	s.same(got, want)
}

func (s suite) same(got, want any) {
	s.t.Helper()
	if !reflect.DeepEqual(got, want) {
		s.t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func created(t *testing.T, s suite) {
	first, second := s.create(night("first")), s.create(plain("second", "main", arena.Draft))
	if first.ID < 1 || second.ID <= first.ID {
		t.Errorf("the IDs are %d and %d, want them positive and ascending", first.ID, second.ID)
	}
	s.holds(first)
	s.holds(second)
}

func createdOnce(t *testing.T, s suite) {
	first := night("first")
	s.must(s.Create(t.Context(), first, "request"))
	first.State, first.Why = arena.Running, "it goes on"
	s.must(s.SaveHead(t.Context(), first))
	first.Entries = []arena.Entry{{Number: 1, Name: "a", Player: "bot:a"}}
	s.must(s.SaveEntries(t.Context(), first.ID, first.Entries...))

	again := night("another name")
	s.must(s.Create(t.Context(), again, "request"))
	s.same(again, first)

	other := night("other")
	s.must(s.Create(t.Context(), other, "another request"))
	if other.ID == first.ID {
		t.Errorf("another request id has tournament %d too", other.ID)
	}
	if a, b := s.create(night("x")), s.create(night("y")); a.ID == b.ID {
		t.Errorf("without a request id there is one tournament %d for two calls", a.ID)
	}
}

func createdOnceByMany(t *testing.T, s suite) {
	var work sync.WaitGroup
	nights := make([]*arena.Tournament, 16)
	errs := make([]error, len(nights))
	for i := range nights {
		nights[i] = plain(fmt.Sprint("night ", i), "main", arena.Draft)
		work.Go(func() { errs[i] = s.Create(t.Context(), nights[i], "request") })
	}
	work.Wait()
	s.must(errors.Join(errs...))
	for _, n := range nights {
		s.same(n, nights[0])
	}
	list, err := s.Tournaments(t.Context(), 0, 100)
	s.must(err)
	if len(list) != 1 {
		t.Errorf("there are %d tournaments, want 1", len(list))
	}
}

func head(t *testing.T, s suite) {
	n := s.create(plain("before", "main", arena.Draft))
	entry := arena.Entry{Number: 1, Name: "a", Player: "bot:a", From: 1}
	s.must(s.SaveEntries(t.Context(), n.ID, entry))

	changed := night("after")
	changed.ID = n.ID
	changed.Settings.League, changed.State = "other", arena.Held
	s.must(s.SaveHead(t.Context(), changed))
	changed.Entries = []arena.Entry{entry}
	s.holds(changed)

	changed.StartAt, changed.Started, changed.Ended = time.Time{}, time.Time{}, time.Time{}
	changed.Settings.Seed, changed.Excluded, changed.Why = nil, nil, ""
	s.must(s.SaveHead(t.Context(), changed))
	s.holds(changed)
}

func entries(t *testing.T, s suite) {
	n := s.create(night("night"))
	var want []arena.Entry
	next := 0
	for i := range 5 {
		var e arena.Entry
		fill(reflect.ValueOf(&e).Elem(), &next)
		e.Number, e.State = i+1, arena.EntryState(i%3)
		e.Contribution = [32]byte{byte(i), 31: 255}
		want = append(want, e)
	}
	s.must(s.SaveEntries(t.Context(), n.ID))
	s.must(s.SaveEntries(t.Context(), n.ID, want[0], want[1]))
	s.must(s.SaveEntries(t.Context(), n.ID, want[2:]...))
	n.Entries = want
	s.holds(n)

	want[1] = arena.Entry{Number: 2, Name: "changed", Player: "house:odds", State: arena.Withdrawn}
	want[4].AbsentTables++
	s.must(s.SaveEntries(t.Context(), n.ID, want[4], want[1]))
	s.holds(n)

	other := s.create(plain("other", "main", arena.Open))
	s.must(s.SaveEntries(t.Context(), other.ID, want[0]))
	other.Entries = want[:1]
	s.holds(other)
	s.holds(n)
}

// paired creates a tournament with so many rounds of so many tables.
func (s suite) paired(rounds, tables int) *arena.Tournament {
	s.t.Helper()
	n := s.create(plain("paired", "main", arena.Running))
	for r := range rounds {
		round := arena.Round{Number: r + 1, Missing: []int{3, 7}, Cost: 1 << 40, Shares: 2, Spread: "123456789012345678901234567890", Repeats: r}
		for i := range tables {
			round.Tables = append(round.Tables, arena.Table{Number: i + 1, Bots: []int{9 * i, 1, 5}})
		}
		s.must(s.SaveRound(s.t.Context(), n.ID, round))
		n.Rounds = append(n.Rounds, round)
	}
	return n
}

// played is a game with every field set.
func played(number int) arena.Played {
	totals := []int{200 + number, 0, -1}
	result := game.Result{Rounds: 7, Totals: totals, Places: game.Places(totals)}
	p := arena.Played{
		Game: arena.Game{Number: number, Attempt: 2, Seats: []int{5, 1, 9}, Result: result, Faults: []int{0, 1, 2}, Slips: []int{3, 0, 0}},
		Record: game.Record{Seats: 3, Rules: game.DefaultRules(3), Dealer: 2, Seed: [32]byte{byte(number), 31: 1}, Result: result,
			Moves: []game.Move{{Decision: game.Hit}, {Decision: game.Stay, Cause: game.TimedOut}, {Decision: game.Give(2), Cause: game.Illegal}}},
		Timings: []table.Timing{
			{Seat: 0, Number: 1, Queued: 1, Took: time.Second + 1},
			{Seat: 1, Number: 2, Took: 11 * time.Second, Cause: game.TimedOut},
			{Seat: 2, Number: 3, Absent: true, Cause: game.Illegal},
		},
	}
	return p
}

func rounds(t *testing.T, s suite) {
	n := s.paired(3, 2)
	s.holds(n)

	tab := &n.Rounds[1].Tables[1]
	tab.State, tab.Why, tab.VoidFrom, tab.Lost = arena.Void, "the lights went out", 3, true
	s.must(s.SaveTable(t.Context(), n.ID, 2, *tab))
	s.holds(n)

	for _, number := range []int{2, 10, 1} {
		p := played(number)
		s.must(s.SaveGame(t.Context(), arena.GameID{Tournament: n.ID, Round: 2, Table: 2, Number: number}, p))
		tab.Games = append(tab.Games, p.Game)
	}
	slices.SortFunc(tab.Games, func(a, b arena.Game) int { return a.Number - b.Number })
	s.holds(n)

	// The state of a table is kept without its games, and its bots stay as paired.
	tab.State = arena.Complete
	s.must(s.SaveTable(t.Context(), n.ID, 2, arena.Table{Number: 2, State: arena.Complete, Why: tab.Why, VoidFrom: 3, Lost: true}))
	s.holds(n)

	empty := arena.Round{Number: 4, Spread: "0"}
	s.must(s.SaveRound(t.Context(), n.ID, empty))
	n.Rounds = append(n.Rounds, empty)
	s.holds(n)
}

func landsOnce(t *testing.T, s suite) {
	n := s.paired(1, 1)
	id := arena.GameID{Tournament: n.ID, Round: 1, Table: 1, Number: 1}
	first := played(1)
	s.must(s.SaveGame(t.Context(), id, first))
	second := played(1)
	second.Game.Attempt, second.Record.Seed, second.Timings = 3, [32]byte{}, nil
	s.must(s.SaveGame(t.Context(), id, second))
	got, err := s.Game(t.Context(), id)
	s.must(err)
	s.same(got, first)
	n.Rounds[0].Tables[0].Games = []arena.Game{first.Game}
	s.holds(n)
}

func landTogether(t *testing.T, s suite) {
	const tables, games = 8, 24
	n := s.paired(1, tables)
	var work sync.WaitGroup
	errs := make([]error, tables)
	for i := range tables {
		work.Go(func() {
			for number := 1; number <= games; number++ {
				id := arena.GameID{Tournament: n.ID, Round: 1, Table: i + 1, Number: number}
				errs[i] = errors.Join(errs[i], s.SaveGame(context.WithoutCancel(t.Context()), id, played(number)))
			}
		})
	}
	work.Wait()
	s.must(errors.Join(errs...))
	for i := range tables {
		for number := 1; number <= games; number++ {
			n.Rounds[0].Tables[i].Games = append(n.Rounds[0].Tables[i].Games, played(number).Game)
		}
	}
	s.holds(n)
}

func inOrder(t *testing.T, s suite) {
	n, other := s.paired(3, 12), s.paired(1, 1)
	want := map[arena.GameID]arena.Played{}
	// More than any page, and saved in an order that is not that of numbers nor of words.
	for i := range 3 * 12 * 11 {
		j := i * 101 % (3 * 12 * 11)
		id := arena.GameID{Tournament: n.ID, Round: 1 + j%3, Table: 1 + j/3%12, Number: 1 + j/36}
		want[id] = played(id.Number)
		s.must(s.SaveGame(t.Context(), id, want[id]))
	}
	s.must(s.SaveGame(t.Context(), arena.GameID{Tournament: other.ID, Round: 1, Table: 1, Number: 1}, played(1)))

	var last arena.GameID
	err := s.Games(t.Context(), n.ID, func(id arena.GameID, p arena.Played) error {
		if last.Round > id.Round || last.Round == id.Round && (last.Table > id.Table || last.Table == id.Table && last.Number >= id.Number) {
			t.Errorf("%+v comes after %+v", id, last)
		}
		last = id
		s.same(p, want[id])
		delete(want, id)
		return nil
	})
	s.must(err)
	if len(want) > 0 {
		t.Errorf("%d games were left out", len(want))
	}
}

func stops(t *testing.T, s suite) {
	n := s.paired(1, 1)
	for number := 1; number <= 5; number++ {
		s.must(s.SaveGame(t.Context(), arena.GameID{Tournament: n.ID, Round: 1, Table: 1, Number: number}, played(number)))
	}
	errEnough := errors.New("enough")
	seen := 0
	err := s.Games(t.Context(), n.ID, func(arena.GameID, arena.Played) error {
		if seen++; seen == 3 {
			return errEnough
		}
		return nil
	})
	if !errors.Is(err, errEnough) || seen != 3 {
		t.Errorf("got %v after %d games, want %v after 3", err, seen, errEnough)
	}
}

func landsWhileRead(t *testing.T, s suite) {
	n := s.paired(2, 1)
	id := arena.GameID{Tournament: n.ID, Round: 1, Table: 1, Number: 1}
	s.must(s.SaveGame(t.Context(), id, played(1)))
	err := s.Games(t.Context(), n.ID, func(id arena.GameID, _ arena.Played) error {
		if id.Round == 2 {
			return nil
		}
		id.Round = 2
		if err := s.SaveGame(t.Context(), id, played(1)); err != nil {
			return err
		}
		_, err := s.Game(t.Context(), id)
		return err
	})
	s.must(err)
}

func listed(t *testing.T, s suite) {
	var want []arena.Tournament
	for i := range 5 {
		n := s.create(night(fmt.Sprint("night ", i)))
		want = append(want, *n)
		s.must(s.SaveEntries(t.Context(), n.ID, arena.Entry{Number: 1, Name: "a", Player: "bot:a"}))
		s.must(s.SaveRound(t.Context(), n.ID, arena.Round{Number: 1, Spread: "0"}))
	}
	slices.Reverse(want)
	list, err := s.Tournaments(t.Context(), 0, 2)
	s.must(err)
	s.same(list, want[:2])
	list, err = s.Tournaments(t.Context(), list[1].ID, 100)
	s.must(err)
	s.same(list, want[2:])
	list, err = s.Tournaments(t.Context(), list[2].ID, 100)
	s.must(err)
	if len(list) != 0 {
		t.Errorf("before the first there are %d", len(list))
	}
}

func live(t *testing.T, s suite) {
	var want []*arena.Tournament
	for state := arena.Draft; state <= arena.Cancelled; state++ {
		n := s.create(plain(state.String(), "main", arena.Draft))
		n.State = state
		s.must(s.SaveHead(t.Context(), n))
		n.Entries = []arena.Entry{{Number: 1, Name: "a", Player: "bot:a"}}
		s.must(s.SaveEntries(t.Context(), n.ID, n.Entries...))
		switch state {
		case arena.Open, arena.Running, arena.Paused, arena.Held:
			want = append(want, n)
		}
	}
	got, err := s.Live(t.Context())
	s.must(err)
	s.same(got, want)
}

func rated(t *testing.T, s suite) {
	seed := uint64(7)
	var want []int64
	for _, test := range []struct {
		rated  bool
		change func(*arena.Tournament)
	}{
		{true, func(*arena.Tournament) {}},
		{false, func(n *arena.Tournament) { n.Settings.League = "other" }},
		{false, func(n *arena.Tournament) { n.Settings.Unrated = true }},
		{false, func(n *arena.Tournament) { n.Settings.Seed = &seed }},
		{false, func(n *arena.Tournament) { n.State = arena.Cancelled }},
		{false, func(n *arena.Tournament) { n.State = arena.Running }},
		{true, func(n *arena.Tournament) { n.Excluded = []arena.Excluded{{Round: 1, Table: 1, Why: "a wrong table"}} }},
		{true, func(*arena.Tournament) {}},
	} {
		n := s.create(plain("night", "main", arena.Draft))
		n.State = arena.Finished
		test.change(n)
		s.must(s.SaveHead(t.Context(), n))
		if test.rated {
			want = append(want, n.ID)
		}
	}
	got, err := s.Rated(t.Context(), "main")
	s.must(err)
	s.same(got, want)
	got, err = s.Rated(t.Context(), "no such league")
	s.must(err)
	if len(got) != 0 {
		t.Errorf("a league that is not there has rated tournaments: %v", got)
	}
}

func leagues(t *testing.T, s suite) {
	got, err := s.Leagues(t.Context())
	s.must(err)
	if len(got) != 0 {
		t.Errorf("an empty store has leagues: %v", got)
	}
	for _, name := range strings.Fields("spring main autumn main main-2 spring") {
		s.create(plain("night", name, arena.Draft))
	}
	got, err = s.Leagues(t.Context())
	s.must(err)
	s.same(got, []string{"autumn", "main", "main-2", "spring"})
}

func acts(t *testing.T, s suite) {
	n, other := s.create(night("night")), s.create(night("other"))
	var want []arena.Act
	for i, what := range []string{"open", "start", "void 1/2", "open"} {
		act := arena.Act{At: at(10 - i), Who: "admin", What: what, Why: "because"}
		s.must(s.Audit(t.Context(), n.ID, act))
		want = append(want, act)
		s.must(s.Audit(t.Context(), other.ID, arena.Act{At: at(0), Who: "other"}))
	}
	got, err := s.Acts(t.Context(), n.ID)
	s.must(err)
	s.same(got, want)
}

func notFound(t *testing.T, s suite) {
	n := s.paired(1, 1)
	none := n.ID + 1
	_, tournament := s.Tournament(t.Context(), none)
	ghost := night("ghost")
	ghost.ID = none
	_, gameHere := s.Game(t.Context(), arena.GameID{Tournament: n.ID, Round: 1, Table: 1, Number: 1})
	_, gameThere := s.Game(t.Context(), arena.GameID{Tournament: none, Round: 1, Table: 1, Number: 1})
	for what, err := range map[string]error{
		"Tournament":                   tournament,
		"SaveHead":                     s.SaveHead(t.Context(), ghost),
		"SaveEntries":                  s.SaveEntries(t.Context(), none, arena.Entry{Number: 1, Name: "a"}),
		"SaveRound":                    s.SaveRound(t.Context(), none, arena.Round{Number: 1, Spread: "0"}),
		"SaveTable":                    s.SaveTable(t.Context(), none, 1, arena.Table{Number: 1}),
		"SaveGame":                     s.SaveGame(t.Context(), arena.GameID{Tournament: none, Round: 1, Table: 1, Number: 1}, played(1)),
		"Audit":                        s.Audit(t.Context(), none, arena.Act{}),
		"Game of a tournament":         gameHere,
		"Game of no tournament at all": gameThere,
	} {
		if !errors.Is(err, arena.ErrNotFound) {
			t.Errorf("%s: got %v, want %v", what, err, arena.ErrNotFound)
		}
	}
	list, err := s.Live(t.Context())
	s.must(err)
	if len(list) != 1 {
		t.Errorf("there are %d live tournaments, want the one that was created", len(list))
	}
	s.must(s.Games(t.Context(), none, func(arena.GameID, arena.Played) error { return errors.New("there is a game") }))
	if acts, err := s.Acts(t.Context(), none); err != nil || len(acts) != 0 {
		t.Errorf("got %v and %v, want no acts and no error", acts, err)
	}
}

func callersOwn(t *testing.T, s suite) {
	n := s.paired(1, 1)
	n.Entries = []arena.Entry{{Number: 1, Name: "a", Player: "bot:a"}}
	s.must(s.SaveEntries(t.Context(), n.ID, n.Entries...))
	got, err := s.Tournament(t.Context(), n.ID)
	s.must(err)
	got.Entries[0].Name, got.Rounds[0].Tables[0].State = "scribbled on", arena.Void
	s.holds(n)
}
