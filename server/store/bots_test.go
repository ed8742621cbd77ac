package store_test

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/server/store"
)

// at is a time that is kept exactly.
func at(minutes int) time.Time { return time.Date(2026, 11, 30, 20, minutes, 0, 1000, time.UTC) }

func token(n byte) [32]byte { return [32]byte{n, 31: n} }

func TestBots(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{}), t.Context()
	add := func(name, owner string, n byte, wantMade bool) {
		t.Helper()
		if made, err := s.AddBot(ctx, name, owner, token(n), token(100+n), at(int(n))); err != nil || made != wantMade {
			t.Fatalf("%s: got %t, %v; want %t", name, made, err, wantMade)
		}
	}
	add("zoe", "", 1, false)
	add("Ärger", "ann", 2, true)
	add("bob", "ann", 3, false)
	add("Carl", "joe", 4, true)
	zoe, anger := store.Bot{Name: "zoe", Created: at(1)}, store.Bot{Name: "Ärger", Owner: "ann", Created: at(2)}
	bob, carl := store.Bot{Name: "bob", Owner: "ann", Created: at(3)}, store.Bot{Name: "Carl", Owner: "joe", Created: at(4)}

	for n, want := range map[byte]store.Bot{1: zoe, 2: anger, 3: bob, 4: carl} {
		got, err := s.BotByToken(ctx, token(n))
		if err != nil || got != want {
			t.Errorf("token %d: got %+v, %v; want %+v", n, got, err, want)
		}
		if got, err = s.Bot(ctx, want.Name); err != nil || got != want {
			t.Errorf("%s: got %+v, %v; want %+v", want.Name, got, err, want)
		}
	}
	list := func(after string, limit int, retired bool, want ...store.Bot) {
		t.Helper()
		got, err := s.Bots(ctx, after, limit, retired)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	list("", 3, false, bob, carl, zoe)
	list("zoe", 3, false, anger) // by code point, not by any country's alphabet
	list("Ärger", 3, false)
	of := func(owner, after string, limit int, retired bool, want ...store.Bot) {
		t.Helper()
		got, err := s.BotsOf(ctx, owner, after, limit, retired)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("of %s: got %+v, %v; want %+v", owner, got, err, want)
		}
	}
	of("ann", "", 10, false, bob, anger)
	of("ann", "bob", 10, false, anger)
	of("nobody", "", 10, true)

	// A new token ends the old one.
	if err := s.RotateBot(ctx, "bob", token(30), at(30)); err != nil {
		t.Fatal(err)
	}
	bob.Rotated = at(30)
	if got, err := s.BotByToken(ctx, token(30)); err != nil || got != bob {
		t.Errorf("the new token: got %+v, %v; want %+v", got, err, bob)
	}
	wantNot(t, "the old token", second(s.BotByToken(ctx, token(3))), arena.ErrNotFound)

	// A retired bot has no token, keeps its name, and is listed only when asked for.
	for minute := 40; minute < 42; minute++ {
		if err := s.RetireBot(ctx, "bob", at(minute)); err != nil {
			t.Fatal(err)
		}
	}
	bob.Retired = at(40)
	wantNot(t, "a retired bot's token", second(s.BotByToken(ctx, token(30))), arena.ErrNotFound)
	wantNot(t, "another token for it", s.RotateBot(ctx, "bob", token(31), at(50)), store.ErrRetired)
	wantNot(t, "another bot of its name", second(s.AddBot(ctx, "BOB", "", token(32), token(0), at(50))), store.ErrTaken)
	list("", 10, false, carl, zoe, anger)
	list("", 10, true, bob, carl, zoe, anger)
	of("ann", "", 10, false, anger)
	of("ann", "", 10, true, bob, anger)

	wantNot(t, "Bot", second(s.Bot(ctx, "carl")), arena.ErrNotFound) // that is not how it is written
	wantNot(t, "RotateBot", s.RotateBot(ctx, "carl", token(33), at(50)), arena.ErrNotFound)
	wantNot(t, "RetireBot", s.RetireBot(ctx, "nobody", at(50)), arena.ErrNotFound)
}

func second[T any](_ T, err error) error { return err }

func wantNot(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestOwners(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{}), t.Context()
	if err := s.AddOwner(ctx, "joe", token(1), at(1)); err != nil {
		t.Fatal(err)
	}
	for i, bot := range []string{"a", "b", "c"} {
		if _, err := s.AddBot(ctx, bot, "ann", token(byte(10+i)), token(2), at(2)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RetireBot(ctx, "b", at(3)); err != nil {
		t.Fatal(err)
	}
	joe, ann := store.Owner{Name: "joe", Created: at(1)}, store.Owner{Name: "ann", Created: at(2), Bots: 2}
	list := func(after string, limit int, retired bool, want ...store.Owner) {
		t.Helper()
		got, err := s.Owners(ctx, after, limit, retired)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("got %+v, %v; want %+v", got, err, want)
		}
	}
	list("", 10, false, ann, joe)
	list("", 1, false, ann)
	list("ann", 10, false, joe)
	if got, err := s.OwnerByToken(ctx, token(2)); err != nil || got != ann {
		t.Errorf("got %+v, %v; want %+v", got, err, ann)
	}
	wantNot(t, "a second one of the name", s.AddOwner(ctx, "ＡＮＮ", token(3), at(4)), store.ErrTaken)
	wantNot(t, "one by another spelling", second(s.AddBot(ctx, "d", "Ann", token(13), token(3), at(4))), store.ErrTaken)
	wantNot(t, "the bot that was to have it", second(s.Bot(ctx, "d")), arena.ErrNotFound)

	if err := s.RotateOwner(ctx, "ann", token(20), at(5)); err != nil {
		t.Fatal(err)
	}
	ann.Rotated = at(5)
	wantNot(t, "the old token", second(s.OwnerByToken(ctx, token(2))), arena.ErrNotFound)
	if got, err := s.OwnerByToken(ctx, token(20)); err != nil || got != ann {
		t.Errorf("got %+v, %v; want %+v", got, err, ann)
	}

	for minute := 6; minute < 8; minute++ {
		if err := s.RetireOwner(ctx, "ann", at(minute)); err != nil {
			t.Fatal(err)
		}
	}
	ann.Retired, ann.Bots = at(6), 0
	list("", 10, false, joe)
	list("", 10, true, ann, joe)
	if got, err := s.Owner(ctx, "ann"); err != nil || got != ann {
		t.Errorf("got %+v, %v; want %+v", got, err, ann)
	}
	for name, retired := range map[string]time.Time{"a": at(6), "b": at(3), "c": at(6)} {
		if got, err := s.Bot(ctx, name); err != nil || !got.Retired.Equal(retired) {
			t.Errorf("bot %s: got %+v, %v; want it retired at %v", name, got, err, retired)
		}
	}
	wantNot(t, "the token of a bot of a retired owner", second(s.BotByToken(ctx, token(10))), arena.ErrNotFound)
	wantNot(t, "a retired owner's token", second(s.OwnerByToken(ctx, token(20))), arena.ErrNotFound)
	wantNot(t, "another token for it", s.RotateOwner(ctx, "ann", token(21), at(9)), store.ErrRetired)
	wantNot(t, "a bot for it", second(s.AddBot(ctx, "e", "ann", token(14), token(3), at(9))), store.ErrRetired)
	wantNot(t, "Owner", second(s.Owner(ctx, "JOE")), arena.ErrNotFound)
	wantNot(t, "RetireOwner", s.RetireOwner(ctx, "nobody", at(9)), arena.ErrNotFound)
}

func TestABotThatIsRefusedMakesNoOwner(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{}), t.Context()
	if _, err := s.AddBot(ctx, "odd", "", token(1), token(0), at(1)); err != nil {
		t.Fatal(err)
	}
	made, err := s.AddBot(ctx, "ODD", "ann", token(2), token(3), at(2))
	wantNot(t, "AddBot", err, store.ErrTaken)
	if made {
		t.Error("it says that an owner was made")
	}
	wantNot(t, "Owner", second(s.Owner(ctx, "ann")), arena.ErrNotFound)
}

func TestReservedNames(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{Reserved: []string{"admin", "stay-25"}}), t.Context()
	for _, name := range []string{"admin", "Admin", "ＳＴＡＹ－２５"} {
		wantNot(t, name+" as a bot", second(s.AddBot(ctx, name, "", token(1), token(0), at(1))), store.ErrTaken)
		wantNot(t, name+" as an owner", s.AddOwner(ctx, name, token(1), at(1)), store.ErrTaken)
		wantNot(t, name+" as an owner along with a bot", second(s.AddBot(ctx, "bot", name, token(1), token(2), at(1))), store.ErrTaken)
	}
	err := s.AddOwner(ctx, "\u3164", token(1), at(1)) // HANGUL FILLER counts as printable
	if wrong, is := errors.AsType[*arena.SettingError](err); !is || wrong.Field != "name" {
		t.Errorf("a name that shows nothing: got %v, want an error about the name", err)
	}
}

func TestLog(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{}), t.Context()
	for i, bot := range []string{"a", "b"} {
		if _, err := s.AddBot(ctx, bot, "", token(byte(i)), token(0), at(1)); err != nil {
			t.Fatal(err)
		}
	}
	lines := []store.LogLine{
		{At: at(1), Kind: "session", Text: "it came", Session: "s1"},
		{At: at(2), Game: arena.GameID{Tournament: 7, Round: 1, Table: 2, Number: 3}, Attempt: 1, Request: 4, Kind: "note", Text: "hit: 0.31"},
		{At: at(3), Game: arena.GameID{Tournament: 7, Round: 1, Table: 2, Number: 4}, Attempt: 2, Request: 1, Kind: "verdict", Trouble: true, Text: "late"},
		{At: at(4), Game: arena.GameID{Tournament: 7}, Kind: "session", Trouble: true, Text: "it was lost"},
		{At: at(5), Game: arena.GameID{Tournament: 8, Round: 1, Table: 2, Number: 3}, Kind: "note"},
	}
	for _, bot := range []string{"a", "b"} {
		if err := s.AddLog(ctx, store.LogPage{Bot: bot, Lines: lines[:1]}); err != nil {
			t.Fatal(err)
		}
	}
	err := s.AddLog(ctx, store.LogPage{Bot: "a", Lines: lines[1:]}, store.LogPage{Bot: "nobody", Lines: lines}, store.LogPage{Bot: "b", Lines: lines[1:]})
	if err != nil {
		t.Fatal(err)
	}
	for i := range lines {
		lines[i].Number = int64(i + 1)
	}
	for _, test := range []struct {
		name  string
		query store.LogQuery
		want  []store.LogLine
	}{
		{"all", store.LogQuery{Limit: 10}, lines},
		{"a tournament", store.LogQuery{Game: arena.GameID{Tournament: 7}, Limit: 10}, lines[1:4]},
		{"its first page", store.LogQuery{Game: arena.GameID{Tournament: 7}, Limit: 2}, lines[1:3]},
		{"its second page", store.LogQuery{Game: arena.GameID{Tournament: 7}, After: 3, Limit: 2}, lines[3:4]},
		{"a game", store.LogQuery{Game: arena.GameID{Tournament: 7, Round: 1, Table: 2, Number: 3}, Limit: 10}, lines[1:2]},
		{"a table", store.LogQuery{Game: arena.GameID{Tournament: 7, Round: 1, Table: 2}, Limit: 10}, lines[1:3]},
		{"troubles", store.LogQuery{Game: arena.GameID{Tournament: 7}, Troubles: true, Limit: 10}, lines[2:4]},
		{"another tournament", store.LogQuery{Game: arena.GameID{Tournament: 9}, Limit: 10}, nil},
	} {
		for _, test.query.Bot = range []string{"a", "b"} {
			got, cut, err := s.Log(ctx, test.query)
			if err != nil || cut != 0 || !reflect.DeepEqual(got, test.want) {
				t.Errorf("%s of %s: got %+v, %d, %v; want %+v, 0", test.name, test.query.Bot, got, cut, err, test.want)
			}
		}
	}
	_, _, err = s.Log(ctx, store.LogQuery{Bot: "nobody"})
	wantNot(t, "Log", err, arena.ErrNotFound)
}

func TestLogDropsTheOldest(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{}), t.Context()
	if _, err := s.AddBot(ctx, "a", "", token(1), token(0), at(1)); err != nil {
		t.Fatal(err)
	}
	const all = store.LogMost + 1234
	for n := 0; n < all; {
		var lines []store.LogLine
		for ; len(lines) < 999 && n < all; n++ {
			lines = append(lines, store.LogLine{At: at(1), Kind: "note", Text: fmt.Sprint("line ", n+1)})
		}
		if err := s.AddLog(ctx, store.LogPage{Bot: "a", Lines: lines}); err != nil {
			t.Fatal(err)
		}
	}
	got, cut, err := s.Log(ctx, store.LogQuery{Bot: "a", Limit: all})
	if err != nil || cut != 1234 || len(got) != store.LogMost {
		t.Fatalf("got %d lines, %d dropped, %v; want %d and 1234", len(got), cut, err, store.LogMost)
	}
	for i, l := range got {
		if want := 1234 + i + 1; l.Number != int64(want) || !strings.HasSuffix(l.Text, fmt.Sprint(" ", want)) {
			t.Fatalf("line %d is %+v", want, l)
		}
	}
}

func TestPlaying(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{}), t.Context()
	want := map[string]int64{}
	for _, state := range []arena.State{arena.Draft, arena.Open, arena.Running, arena.Paused, arena.Held, arena.Finished, arena.Cancelled} {
		night := &arena.Tournament{State: state, Settings: arena.DefaultSettings()}
		if err := s.Create(ctx, night, ""); err != nil {
			t.Fatal(err)
		}
		here, gone := fmt.Sprint("in ", state), fmt.Sprint("out of ", state)
		err := s.SaveEntries(ctx, night.ID, arena.Entry{Number: 1, Name: here, State: arena.Entered}, arena.Entry{Number: 2, Name: gone, State: arena.Withdrawn})
		if err != nil {
			t.Fatal(err)
		}
		if state.Live() {
			want[here] = night.ID
		}
	}
	if got, err := s.Playing(ctx); err != nil || !maps.Equal(got, want) || len(want) != 3 {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}
