package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server"
	"github.com/flip7-arena/flip7/server/store"
)

// arenaHere serves an arena in this process until the test ends, and returns how a verb is run with it, and where it is.
func arenaHere(t *testing.T) (verb func(args ...string) string, here remoteFlags) {
	t.Helper()
	folder, log := t.TempDir(), slog.New(slog.DiscardHandler)
	kept, err := store.Open(t.Context(), folder, store.Options{Reserved: server.ReservedNames(), Log: log})
	if err != nil {
		t.Fatal(err)
	}
	s, err := server.New(server.Config{Folder: folder, Address: "127.0.0.1:0", Metrics: "off"}, server.Deps{Store: kept, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	return func(args ...string) string {
		t.Helper()
		var out, wrong bytes.Buffer
		args = append(args, "--address", s.Addr().String(), "--data", folder)
		if code := run(t.Context(), args, program{in: strings.NewReader(""), out: &out, err: &wrong}); code != 0 {
			t.Fatalf("flip7 %s: exit code %d: %s", strings.Join(args, " "), code, wrong.String())
		}
		return out.String()
	}, remoteFlags{Address: s.Addr().String(), Data: folder}
}

func TestShowSaysWhoAimedAtWhom(t *testing.T) {
	flip7, _ := arenaHere(t)
	flip7("tournament", "create", "aimed", "--open", "--rounds", "2", "--seed", "3")
	flip7("tournament", "enter", "1", "house:odds", "house:stay-25", "house:stay-20", "house:random")
	if out := flip7("tournament", "show", "1", "--aim"); !strings.HasPrefix(out, "At the tables that have ended nobody gave") {
		t.Errorf("before the start: %s", out)
	}
	flip7("tournament", "start", "1", "--watch")
	out := flip7("tournament", "show", "1", "--aim")
	if lines := strings.Split(out, "\n"); !strings.HasPrefix(lines[2], "BOT") || len(strings.Fields(lines[3])) < 10 || !strings.Contains(out, "Of the 24 such rows") {
		t.Errorf("of four bots, twelve pairs and two cards: %s", out)
	}
	var all struct {
		Aims []struct {
			Bot     string  `json:"bot"`
			Chances int     `json:"chances"`
			Error   float64 `json:"error"`
		} `json:"aims"`
	}
	if err := json.Unmarshal([]byte(flip7("tournament", "show", "1", "--aim", "--json")), &all); err != nil {
		t.Fatal(err)
	}
	if len(all.Aims) != 24 || all.Aims[0].Chances == 0 || all.Aims[0].Error == 0 || !strings.Contains(out, "\n"+all.Aims[0].Bot) {
		t.Errorf("as JSON: %+v, want 24 aims, the first of them that of the table", all.Aims)
	}
}

func TestShowSaysHowLateTheArenaWas(t *testing.T) {
	lag := &flip7v1.ArenaLag{P50: durationpb.New(80 * time.Microsecond), P99: durationpb.New(730 * time.Microsecond), Max: durationpb.New(3010 * time.Millisecond),
		Stalls: 2, Stalled: durationpb.New(3042 * time.Millisecond)}
	calm := &flip7v1.ArenaLag{P50: durationpb.New(0), P99: durationpb.New(time.Millisecond), Max: durationpb.New(2 * time.Millisecond), Stalled: durationpb.New(0)}
	for _, c := range []struct {
		lag  *flip7v1.ArenaLag
		want string
	}{
		{nil, ""},
		{calm, "The arena's own lag, by 100 looks a second: <0.1ms half of the time, 1ms 99 % of the time, 2ms at most. Stalls are never charged to bots.\n"},
		{lag, "The arena's own lag, by 100 looks a second: <0.1ms half of the time, 730µs 99 % of the time, 3.01s at most. By 1000 looks a second, which miss less, it stood still for more than 5ms 2 times, 3.04s in all. Stalls are never charged to bots.\n"},
	} {
		var out strings.Builder
		if printLag(&out, c.lag); out.String() != c.want {
			t.Errorf("got %q, want %q", out.String(), c.want)
		}
	}
}

// The last line says who won and how sure that is, with and without a final table.
func TestTheLastLineOfANightIsItsConclusion(t *testing.T) {
	flip7, _ := arenaHere(t)
	last := func(out string) string {
		lines := strings.Split(strings.TrimSpace(out), "\n")
		return lines[len(lines)-1]
	}
	if out := last(flip7("tournament", "rehearse", "--rounds", "2", "--bots", "8")); !strings.HasPrefix(out, "not decided: ") || !strings.HasSuffix(out, "; a final table would tell") {
		t.Errorf("a rehearsal without a final table ends in: %s", out)
	}
	flip7("tournament", "create", "final", "--open", "--rounds", "1", "--seed", "4", "--final-table", "3", "--max-games", "1200")
	flip7("tournament", "enter", "1", "house:racer", "house:random", "house:cards-5", "house:stay-15")
	watched := flip7("tournament", "start", "1", "--watch")
	shown := flip7("tournament", "show", "1")
	for _, out := range []string{watched, shown} {
		if !strings.HasPrefix(last(out), "decided: racer is the best of the finalists, after ") {
			t.Errorf("want the conclusion as the last line of:\n%s", out)
		}
	}
	for _, want := range []string{"Then the best 3 play on at a final table, until the best is decided, 1200 games at most.", "\nFinal table, leg 10\n", "AHEAD OF", " FINAL SCORE "} {
		if !strings.Contains(shown, want) {
			t.Errorf("want %q in:\n%s", want, shown)
		}
	}
	if n := strings.Count(watched, "  the tournament is running\n"); n != 1 {
		t.Errorf("it is told %d times that the tournament runs, want once:\n%s", n, watched)
	}
	leaders := regexp.MustCompile("leader: .*").FindAllString(watched, -1)
	if len(leaders) == 0 || len(slices.Compact(slices.Clone(leaders))) < len(leaders) {
		t.Errorf("leaders are told as %q, want one whenever it is another", leaders)
	}
	if !strings.Contains(watched, "  final table, leg 10, table 1 is finished: ") || strings.Contains(watched, "pairing round 2") {
		t.Errorf("watched:\n%s", watched)
	}
}

func TestAWatchFromTheStartMissesNothingOfAShortNight(t *testing.T) {
	flip7, _ := arenaHere(t)
	flip7("tournament", "create", "short", "--open", "--rounds", "1", "--seed", "4")
	flip7("tournament", "enter", "1", "house:racer", "house:odds", "house:stay-25")
	watched := flip7("tournament", "start", "1", "--watch")
	for _, want := range []string{"  the tournament is running\n", "  pairing round 1: 1 table, ", "  pairing round 1, table 1 is finished: ", "  leader: ", "  the tournament is finished\n"} {
		if strings.Count(watched, want) != 1 {
			t.Errorf("want %q once in:\n%s", want, watched)
		}
	}
}

// What was taken out is said once, be it all of a tournament or a part of it.
func TestALeagueShowsWhatWasTakenOut(t *testing.T) {
	flip7, here := arenaHere(t)
	for range 2 {
		flip7("tournament", "create", "one", "--open", "--rounds", "1")
	}
	for _, id := range []string{"1", "2"} {
		flip7("tournament", "enter", id, "house:odds", "house:racer", "house:random")
		flip7("tournament", "start", id, "--watch")
	}
	var wrong bytes.Buffer
	late := []string{"tournament", "void", "1", "1", "1", "--why", "late", "--address", here.Address, "--data", here.Data}
	if code := run(t.Context(), late, program{out: io.Discard, err: &wrong}); code != exitUsage || !strings.HasSuffix(wrong.String(), "flip7 league exclude 1/1/1 --why REASON\n") {
		t.Errorf("a table of a night that is over is made void: exit code %d, %q", code, &wrong)
	}
	flip7("league", "exclude", "1", "--why", "a storm")
	flip7("league", "exclude", "2/1/1/3", "--why", "a wrong card")
	shown := flip7("league", "show")
	for _, want := range []string{"a storm", "taken out: 2/1/1/3 (a wrong card)"} {
		if strings.Count(shown, want) != 1 {
			t.Errorf("want %q once in\n%s", want, shown)
		}
	}
}
