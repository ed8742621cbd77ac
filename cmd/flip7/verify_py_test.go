package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/table"
)

// verifyPy is the verifier that shares no code with the arena.
const verifyPy = "../../clients/python/verify.py"

// python runs a program of the Python kit, and returns its exit code and all it printed.
func python(t *testing.T, args ...string) (int, string) {
	t.Helper()
	program, err := exec.LookPath("python3")
	if err != nil {
		if os.Getenv("KITS") == "required" {
			t.Fatal("KITS=required, and there is no python3")
		}
		t.Skip("there is no python3; KITS=required would make this fail")
	}
	cmd := exec.CommandContext(t.Context(), program, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// guests are the Bots of an arena in this process. They bring something to the seeds, play at random, and leave every
// fifth request to the default decision.
type guests struct{}

func (guests) Player(bot string) table.Player {
	random, err := house.New("random")
	if err != nil {
		panic(err)
	}
	return guest{table.House(random, func(request int) uint64 { return house.Chance(uint64(len(bot)), 0, request) })}
}

func (guests) Presence(bot string) (arena.Presence, bool) {
	p := arena.Presence{Build: "v1", MaxGames: 8}
	copy(p.Contribution[:], bot)
	return p, true
}

func (guests) Changed() <-chan struct{}   { return nil }
func (guests) Lost(string) int            { return 0 }
func (guests) Absent(string) bool         { return false }
func (guests) Pin(string, string)         {}
func (guests) Unpin(string)               {}
func (guests) Start(string, string) error { return nil }
func (guests) Stop(string)                {}

type guest struct{ table.Player }

// Ask implements table.Player.
func (g guest) Ask(ctx context.Context, q table.Question) (table.Answer, error) {
	if q.Number%5 == 0 {
		return table.Answer{Passed: true}, nil
	}
	return g.Player.Ask(ctx, q)
}

// deaf is an Audience that does not listen.
type deaf struct{}

func (deaf) Happened(arena.Event) {}

// playedNight plays a night in memory, with a guest in every other entry and house bots in the others, and returns its
// exported results.
func playedNight(t *testing.T, s arena.Settings, entries int) []byte {
	t.Helper()
	memory, by := arena.NewMemory(), arena.Act{Who: "test"}
	a := arena.New(arena.Outside{Store: memory, Journals: memory, Bots: guests{}, Audience: deaf{}, Log: slog.New(slog.DiscardHandler)})
	defer a.Close()
	night, err := a.Create(t.Context(), s, "", arena.Act{})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Open(t.Context(), night.ID, by); err != nil {
		t.Fatal(err)
	}
	for i := range entries {
		who := arena.Entrant{Player: "bot:guest", Name: fmt.Sprint("player-", i+1), ByOrganiser: true}
		if i%2 == 1 {
			who.Player = "house:" + house.Names()[i%len(house.Names())]
		}
		if _, err := a.Enter(t.Context(), night.ID, who, by); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Start(t.Context(), night.ID, time.Time{}, by); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Wait(t.Context(), night.ID); err != nil {
		t.Fatal(err)
	}
	var results bytes.Buffer
	if err := a.ExportResults(t.Context(), night.ID, &results); err != nil {
		t.Fatal(err)
	}
	return results.Bytes()
}

func TestPythonDealsAsTheVectorsSay(t *testing.T) {
	const vectors = "../../arena/deal/testdata/keyed.json"
	if code, out := python(t, verifyPy, "--vectors", vectors); code != 0 || !strings.Contains(out, "13 orders of copies and 20 draws") {
		t.Errorf("exit code %d: %s", code, out)
	}
	known, err := os.ReadFile(vectors)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	if err := os.WriteFile(other, bytes.Replace(known, []byte("[49, 23,"), []byte("[49, 24,"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out := python(t, verifyPy, "--vectors", other); code != exitNo || !strings.Contains(out, "round 1, seat 0, nth 0") {
		t.Errorf("with another copy, exit code %d: %s", code, out)
	}
}

// TestPythonVerifiesNights: the rules and deals of two languages come to the same for every reading of the rules and
// every size of table, on deals of a seed and on secret ones.
func TestPythonVerifiesNights(t *testing.T) {
	args, want := []string{verifyPy}, ""
	for i, rules := range everyReading() {
		s := arena.Settings{Name: fmt.Sprint("night ", i+1), Seats: 3 + i%6, Rounds: 2, Rotations: 1, Rules: rules}
		if i%2 == 0 {
			s.Seed = new(uint64(i))
		}
		if i == 1 { // a final table, whose last leg is short
			s.FinalTable, s.MaxGames = 3, 39
		}
		results := playedNight(t, s, s.Seats+3)
		seen, err := arena.Verify(bytes.NewReader(results))
		if err != nil {
			t.Fatalf("%v: %v", s, err)
		}
		file := filepath.Join(t.TempDir(), "night.jsonl")
		if err := os.WriteFile(file, results, 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, file)
		want += fmt.Sprintf("%s: holds. 'night %d': %d games, %d decisions played again.\n", file, i+1, seen.Games, seen.Decisions)
		if seen.Predictable {
			want += "The deals were made from a seed: whoever knew that could foretell them.\n"
		} else {
			want += "The commitment, to be compared with the one shown before the start: " + field[string](t, results, "commitment") + "\n"
		}
	}
	if code, out := python(t, args...); code != 0 || out != want {
		t.Errorf("exit code %d:\n%s\nwant\n%s", code, out, want)
	}
}

// everyReading are all combinations of the rule options. Low targets let ties for the lead come about.
func everyReading() (all []game.Rules) {
	for _, tie := range []game.TieBreak{game.AllPlay, game.TiedPlay, game.Shared} {
		for _, deal := range []game.Dealing{game.DealOnce, game.DealEveryone} {
			for _, assigns := range []bool{true, false} {
				all = append(all, game.Rules{TieBreak: tie, Deal: deal, BustedAssigns: assigns, TargetScore: []int{30, 200, 60}[len(all)%3]})
			}
		}
	}
	all[5].Decks = 2
	return all
}

// field is what the first line of results has under a key.
func field[T any](t *testing.T, results []byte, key string) (value T) {
	t.Helper()
	head, _, _ := bytes.Cut(results, []byte("\n"))
	var line map[string]any
	if err := json.Unmarshal(head, &line); err != nil {
		t.Fatal(err)
	}
	value, _ = line[key].(T)
	return value
}

// object is a line of results, or a part of one.
type object = map[string]any

func TestPythonNamesWhatDoesNotHold(t *testing.T) {
	s := arena.Settings{Name: "tampered", Rounds: 2, Rotations: 1, Unrated: true}
	s.Rules.BustedAssigns = true
	results := playedNight(t, s, 7)
	record := func(line object) object { return line["record"].(object) }
	cases := []struct {
		name string
		line string // the first of this kind is changed
		turn func(line object)
		want string
	}{
		{"a secret", "tournament", func(l object) { l["secret"] = strings.Repeat("0", 64) }, "line 1: commitment: SHA-256 of the secret"},
		{"a reading of the rules", "tournament", func(l object) { l["settings"].(object)["rules"].(object)["deal"] = "everyone" },
			"pairing round 1, table 1, game 1: rules: not those of the tournament"},
		{"what a bot brought", "entry", func(l object) { l["contribution"] = strings.Repeat("0", 64) },
			"pairing round 1, table 1, game 1: the secret and what the bots brought make the seed"},
		{"how many pairing rounds there were", "tournament", func(l object) { l["settings"].(object)["pairing_rounds"] = 3 },
			"the tournament is finished, and 2 of its 3 pairing rounds are here"},
		{"who sits at a table", "pairing_round", func(l object) { l["tables"].([]any)[0].(object)["bots"] = []any{1, 1, 2, 3} },
			"pairing round 1: an entry that sits there does not exist, or sits twice"},
		{"a seed", "game", func(l object) { record(l)["seed"] = strings.Repeat("0", 64) },
			"pairing round 1, table 1, game 1: the secret and what the bots brought make the seed"},
		{"a seat", "game", func(l object) { seats := l["seats"].([]any); seats[0], seats[1] = seats[1], seats[0] },
			"pairing round 1, table 1, game 2: "},
		{"a decision", "game", func(l object) { moves := record(l)["moves"].([]any); moves[slices.Index(moves, any("hit"))] = "stay" },
			"pairing round 1, table 1, game 1: "},
		{"a decision that is none", "game", func(l object) { record(l)["moves"].([]any)[0] = true }, "game 1: moves: one is not"},
		{"a decision that was not made", "game", func(l object) {
			moves := record(l)["moves"].([]any)
			record(l)["faults"] = []any{object{"move": slices.Index(moves, any("hit")), "cause": "timed_out"}}
		}, "(timed_out) was played 'hit', and the default is 'stay'"},
		{"a decision too many", "game", func(l object) { record(l)["moves"] = append(record(l)["moves"].([]any), "stay") },
			"game 1: the game is over after move"},
		{"a total", "game", func(l object) { record(l)["totals"].([]any)[0] = 1000 }, "game 1: totals: the record says [1000, "},
		{"a place", "game", func(l object) { record(l)["places"].([]any)[0] = 4.5 }, "game 1: places: the record says [4.5, "},
		{"the rounds", "game", func(l object) { record(l)["rounds"] = 1 }, "game 1: rounds: the record says 1, the cards say"},
		{"a game that is gone", "game", func(l object) { clear(l) }, "pairing round 1, table 1: it is finished with"},
	}
	args := []string{verifyPy}
	for _, c := range cases {
		args = append(args, filepath.Join(t.TempDir(), c.name))
		if err := os.WriteFile(args[len(args)-1], tampered(t, results, c.line, c.turn), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	code, out := python(t, args...)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	if code != exitNo || len(lines) != len(cases) {
		t.Fatalf("exit code %d, %d lines, want %d and %d:\n%s", code, len(lines), exitNo, len(cases), out)
	}
	for i, c := range cases {
		if want := args[1+i] + ": does NOT hold: "; !strings.HasPrefix(lines[i], want) || !strings.Contains(lines[i], c.want) {
			t.Errorf("%s: got %q, want %q and %q in it", c.name, lines[i], want, c.want)
		}
	}
	if code, out := python(t, verifyPy, filepath.Join(t.TempDir(), "nothing")); code != exitUsage {
		t.Errorf("a file that is not there: exit code %d: %s", code, out)
	}
}

// tampered are results with the first line of a kind changed, or left out if nothing is left of it.
func tampered(t *testing.T, results []byte, kind string, turn func(object)) []byte {
	t.Helper()
	changed := false
	var out bytes.Buffer
	for raw := range bytes.Lines(results) {
		if changed || !bytes.HasPrefix(raw, []byte(`{"line":"`+kind+`"`)) {
			out.Write(raw)
			continue
		}
		changed = true
		var line object
		if err := json.Unmarshal(raw, &line); err != nil {
			t.Fatal(err)
		}
		turn(line)
		if len(line) == 0 {
			continue
		}
		if err := json.NewEncoder(&out).Encode(line); err != nil {
			t.Fatal(err)
		}
	}
	return out.Bytes()
}
