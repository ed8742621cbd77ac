package arena

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func seed(n uint64) *uint64 { return &n }

// house is a night of house bots only, played to its end in memory.
func playHouse(t *testing.T, s Settings, players ...string) (*Arena, *Tournament) {
	t.Helper()
	ctx := t.Context()
	memory := NewMemory()
	a := New(Outside{Store: memory, Journals: memory, Bots: nobody{}, Audience: audienceFunc(nil), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(a.Close)
	night, err := a.Create(ctx, s, "", Act{})
	if err != nil {
		t.Fatal(err)
	}
	act := Act{Who: "test"}
	if err := a.Open(ctx, night.ID, act); err != nil {
		t.Fatal(err)
	}
	for i, player := range players {
		if _, err := a.Enter(ctx, night.ID, Entrant{Player: player, Name: fmt.Sprintf("%s-%d", strings.TrimPrefix(player, "house:"), i+1)}, act); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Start(ctx, night.ID, time.Time{}, act); err != nil {
		t.Fatal(err)
	}
	night, err = a.Wait(ctx, night.ID)
	if err != nil {
		t.Fatal(err)
	}
	return a, night
}

func field(n int) []string {
	var players []string
	for i := range n {
		players = append(players, "house:"+understudies[i%len(understudies)])
	}
	return players
}

func export(t *testing.T, a *Arena, id int64) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := a.ExportResults(context.Background(), id, &out); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestANightOfHouseBotsEndsAndItsExportHolds(t *testing.T) {
	s := Settings{Name: "house night", Rounds: 3, Seed: seed(7)}
	s.Rules.BustedAssigns = true
	a, night := playHouse(t, s, field(13)...)
	if night.State != Finished || len(night.Rounds) != 3 {
		t.Fatalf("the night is %v after %d pairing rounds, want finished after 3", night.State, len(night.Rounds))
	}
	results := export(t, a, night.ID)
	v, err := Verify(bytes.NewReader(results))
	if err != nil {
		t.Fatalf("the export does not hold: %v", err)
	}
	// 13 bots sit at 4+3+3+3; two rotations of each.
	if want := 3 * 2 * 13; v.Games != want || v.Rounds != 3 || v.Tables != 12 {
		t.Errorf("verified %d games, %d pairing rounds, %d tables; want %d, 3, 12", v.Games, v.Rounds, v.Tables, want)
	}
}

func TestTheSameSeedGivesTheSameBytesWhateverTheConcurrency(t *testing.T) {
	var first []byte
	for _, concurrency := range []int{1, 16, 0} {
		s := DefaultSettings()
		s.Name, s.Rounds, s.Seed, s.Concurrency = "twice", 3, seed(42), concurrency
		a, night := playHouse(t, s, field(10)...)
		results := export(t, a, night.ID)
		if first == nil {
			first = results
		} else if !bytes.Equal(first, results) {
			t.Errorf("concurrency %d gives other results than 1", concurrency)
		}
	}
}

func TestARefusalSaysWhatWouldBeRight(t *testing.T) {
	bots := names(3)
	r := newRoster(bots...)
	e := prepare(t, Settings{Rounds: 1, BotsPerOwner: 1}, r)
	draft, err := e.Create(t.Context(), Settings{Name: "draft"}, "", organiser)
	if err != nil {
		t.Fatal(err)
	}
	refused := func(err error, want string) {
		t.Helper()
		if wrong, is := errors.AsType[*StateError](err); !is || wrong.Wrong != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	enter := func(id int64, who Entrant) error {
		_, err := e.Enter(t.Context(), id, who, organiser)
		return err
	}
	of := func(bot string) Entrant { return Entrant{Player: "bot:" + bot, Owner: "ada"} }

	refused(enter(draft.ID, of("bot-01")), "tournament 2 is a draft; open it first")
	refused(e.Start(t.Context(), draft.ID, time.Time{}, organiser), "tournament 2 is a draft; open it first")
	refused(e.Pause(t.Context(), draft.ID, organiser), "tournament 2 is a draft; only a running one can be paused")
	refused(e.Continue(t.Context(), e.id, organiser), "tournament 1 is open; only a paused one can go on")
	refused(e.Start(t.Context(), e.id, time.Time{}, organiser), "nobody has entered tournament 1; enter bots first")

	// Who comes back takes a place of its owner as anybody else does.
	full := "tournament 1 allows an owner 1 at a time, and \"ada\" has as many; a bot that withdraws makes room for \"bot-0%d\""
	for _, err := range []error{enter(e.id, of("bot-01")), e.Withdraw(t.Context(), e.id, "bot-01", organiser), enter(e.id, of("bot-02"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	refused(enter(e.id, of("bot-01")), fmt.Sprintf(full, 1))
	refused(enter(e.id, of("bot-03")), fmt.Sprintf(full, 3))

	if err := errors.Join(e.Kick(t.Context(), e.id, "bot-02", organiser), e.Kick(t.Context(), e.id, "bot-02", organiser)); err != nil {
		t.Fatal(err)
	}
	refused(e.Withdraw(t.Context(), e.id, "bot-02", organiser), "\"bot-02\" was kicked out of tournament 1; it is out already")

	if err := enter(e.id, of("bot-01")); err != nil {
		t.Fatal(err)
	}
	e.start()
	e.wait()
	refused(enter(e.id, of("bot-03")), "tournament 1 is finished; it does not change any more")
}

func TestAnActThatChangesNothingIsNotNoted(t *testing.T) {
	e := prepare(t, Settings{Rounds: 1, CheckIn: time.Hour}, newRoster(), "bot-01") // which is waited for
	act := func(what, why string) Act { return Act{Who: "test", What: what, Why: why} }
	for range 2 {
		for _, err := range []error{
			e.Open(t.Context(), e.id, act("open", "")), e.Start(t.Context(), e.id, time.Time{}, act("start", "")),
			e.Continue(t.Context(), e.id, act("resume", "")), e.Pause(t.Context(), e.id, act("pause", "pizza")),
			e.Pause(t.Context(), e.id, act("pause", "")), e.Continue(t.Context(), e.id, act("resume", "")),
		} {
			if err != nil && !strings.Contains(err.Error(), "only a draft can be opened") {
				t.Fatal(err)
			}
		}
	}
	acts, err := e.store.Acts(t.Context(), e.id)
	if err != nil {
		t.Fatal(err)
	}
	var noted []string
	for _, a := range acts {
		if a.What != "" {
			noted = append(noted, a.What)
		}
	}
	if got, want := strings.Join(noted, " "), "start pause resume pause resume"; got != want {
		t.Errorf("noted are %s, want %s", got, want)
	}
}
