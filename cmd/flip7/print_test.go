package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestARefusalNamesTheFlag(t *testing.T) {
	for refusal, want := range map[string]string{
		"settings.pairing_rounds: must be less than or equal to 100": "--rounds: must be less than or equal to 100",
		"settings.rules: target_score: 0 is not 1..1000000":          "--target-score: 0 is not 1..1000000",
		"settings.max_bots_per_owner: no":                            "--bots-per-owner: no",
		`as_name: "a:b" has a colon in it`:                           `--as: "a:b" has a colon in it`,
		`player: no house bot is named "nope"`:                       `no house bot is named "nope"`,
		"authorization: the token is unknown":                        "the token is unknown",
		"why: is empty":                                              "--why: is empty",
		`name: "a:b" has a colon in it`:                              `name: "a:b" has a colon in it`,
		"tournament 7: not found":                                    "tournament 7: not found",
		"the arena is full":                                          "the arena is full",
	} {
		if got := asTyped(refusal); got != want {
			t.Errorf("%q is told as %q, want %q", refusal, got, want)
		}
	}
}

func TestARefusalSaysAFieldOnce(t *testing.T) {
	const wrong = "target_score: 4294967295 is not 1..10000"
	st, err := status.New(codes.InvalidArgument, "settings.rules: "+wrong).WithDetails(&errdetails.BadRequest{
		FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "settings.rules", Description: wrong}}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := refusal(st.Err()).Error(), "--target-score: 4294967295 is not 1..10000"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFilesThatAreEmptyOrMarked(t *testing.T) {
	t.Chdir(t.TempDir())
	const mark = "\ufeff"
	for file, text := range map[string]string{
		"empty": "", "field": mark + `{"seats": 3, "bots": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}`,
		"games": mark + "a=1 b=2\na=2 b=1\n", "config": mark + `{"nope": 1}`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"pair empty", "flip7: empty: is empty\n"},
		{"scenario run empty", "empty: not a scenario: it is empty\n"},
		{"serve --config empty", "/empty is empty; want a JSON object\n"},
		{"elo fit empty", "flip7: empty: no games:"},
		{"pair field", `{"tables":[["a","b","c"]]`},
		{"elo fit games", "  name   Elo"},
		{"serve --config config", `"nope" is no flag of serve`},
	} {
		if text, _ := said(t, strings.Fields(c.args)...); !strings.Contains(text, c.want) {
			t.Errorf("flip7 %s says %q, want %q", c.args, text, c.want)
		}
	}
}

func TestSettingsOfAFinalTableNeedOne(t *testing.T) {
	for _, flag := range []string{"--until=decided", "--until=max-games", "--max-games=400"} {
		name, _, _ := strings.Cut(flag, "=")
		text, code := said(t, "tournament", "create", "night", flag)
		if want := "flip7: " + name + ": is for a final table"; code != exitUsage || !strings.HasPrefix(text, want) {
			t.Errorf("%s: exit code %d and %q, want %d and %q", flag, code, text, exitUsage, want)
		}
	}
}

func TestWhatIsForPrograms(t *testing.T) {
	serving(t, "closed")
	must := func(args ...string) string {
		t.Helper()
		text, code := said(t, args...)
		if code != 0 {
			t.Fatalf("flip7 %s: exit code %d: %s", strings.Join(args, " "), code, text)
		}
		return text
	}
	must("tournament", "create", "one", "--open", "--rounds", "1", "--rotations", "1")
	must("tournament", "enter", "1", "house:odds", "house:stay-25", "house:racer")
	watched := must("tournament", "start", "1", "--watch")
	if !strings.Contains(watched, "pairing round 1: 1 table, 0 repeat meetings") {
		t.Errorf("the watch says\n%s", watched)
	}
	t.Run("a tournament is one document", func(t *testing.T) {
		var shown struct {
			Tournament struct{ Name string }
			Standings  []struct{ Bot string }
			Tables     []struct{ Bots []string }
		}
		if err := json.Unmarshal([]byte(must("tournament", "show", "1", "--json")), &shown); err != nil {
			t.Fatal(err)
		}
		if shown.Tournament.Name != "one" || len(shown.Standings) != 3 || len(shown.Tables) != 1 || len(shown.Tables[0].Bots) != 3 {
			t.Errorf("got %+v", shown)
		}
	})
	t.Run("so is a rehearsal", func(t *testing.T) {
		var came struct {
			Tournament struct{ State string }
			Standings  []struct{ Bot string }
		}
		if err := json.Unmarshal([]byte(must("tournament", "rehearse", "--bots", "4", "--rounds", "2", "--rotations", "1", "--json")), &came); err != nil {
			t.Fatal(err)
		}
		if came.Tournament.State != "TOURNAMENT_STATE_FINISHED" || len(came.Standings) != 4 {
			t.Errorf("got %+v", came)
		}
	})
	t.Run("cells of CSV are numbers", func(t *testing.T) {
		rows, err := csv.NewReader(strings.NewReader(must("elo", "--csv"))).ReadAll()
		if err != nil || len(rows) != 4 || !slices.Equal(rows[0], csvColumns) {
			t.Fatalf("got %v, %v", rows, err)
		}
		words := []string{"bot", "build", "owner", "bound", "provisional"}
		for _, row := range rows[1:] {
			for i, cell := range row {
				if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" && !slices.Contains(words, csvColumns[i]) {
					t.Errorf("%s of %s is %q", csvColumns[i], row[3], cell)
				}
			}
		}
	})
	t.Run("an export and a scenario come from standard input", func(t *testing.T) {
		scenario, err := os.ReadFile("../../arena/scenario/testdata/199-is-not-enough.json")
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct{ verb, in string }{
			{"verify -", must("tournament", "export", "1")},
			{"scenario run -", string(scenario)},
		} {
			var out, problem bytes.Buffer
			if code := run(t.Context(), strings.Fields(test.verb), program{in: strings.NewReader(test.in), out: &out, err: &problem}); code != 0 || out.Len() == 0 {
				t.Errorf("%s: exit code %d, %s%s", test.verb, code, &out, &problem)
			}
		}
	})
	t.Run("an export replaces nothing and leaves nothing half-done", func(t *testing.T) {
		must("tournament", "create", "draft")
		t.Chdir(t.TempDir())
		must("tournament", "export", "1", "-o", "night.jsonl")
		if got, err := os.ReadFile("night.jsonl"); err != nil || string(got) != must("tournament", "export", "1") {
			t.Fatalf("the file holds other than what is printed, or %v", err)
		}
		if err := os.WriteFile("mine", []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct{ night, file, want string }{
			{"1", "mine", "mine is there already; an export replaces nothing"},
			{"2", "draft.jsonl", "tournament 2"}, // it has no results yet
			{"1", "nowhere/night.jsonl", "nowhere"},
		} {
			if text, code := said(t, "tournament", "export", c.night, "-o", c.file); code != exitUsage || !strings.Contains(text, c.want) {
				t.Errorf("exit code %d and %q, want %d and %q in it", code, text, exitUsage, c.want)
			}
		}
		if got, err := os.ReadFile("mine"); err != nil || string(got) != "precious" {
			t.Errorf("what was there now holds %.40q, %v", got, err)
		}
		if left, err := filepath.Glob("*"); err != nil || !slices.Equal(left, []string{"mine", "night.jsonl"}) {
			t.Errorf("there are now %q, %v", left, err)
		}
	})
	t.Run("who is withdrawn is told the way back", func(t *testing.T) {
		must("tournament", "create", "later", "--open")
		must("tournament", "enter", "3", "house:racer")
		must("tournament", "enter", "3", "house:racer", "--as", "fast")
		for bot, enter := range map[string]string{"racer": "house:racer", "fast": "house:racer --as fast"} {
			want := bot + " is withdrawn. Until the last pairing round begins, this brings it back: flip7 tournament enter 3 " + enter
			if got := must("tournament", "withdraw", "3", bot); !strings.Contains(got, want) {
				t.Errorf("got %q, want %q in it", got, want)
			}
		}
	})
	t.Run("an Elo table is computed again from exports", func(t *testing.T) {
		dir := t.TempDir()
		file := func(name, text string) string {
			path := filepath.Join(dir, name)
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		night, table := file("night.jsonl", must("tournament", "export", "1")), must("elo", "--json")
		for _, c := range []struct {
			table, want string
			code        int
		}{
			{table, "holds. Every column computed again from these exports, but for bust_rate, faults, p99.", 0},
			{"{}", `does NOT hold: it leaves out "one", which is rated`, exitNo},
			{"[]", "--elo: ", exitUsage},
			{regexp.MustCompile(`"placement": *[0-9.]+`).ReplaceAllString(table, `"placement":0.99`), "placement: 0.99, and the games make it", exitNo},
		} {
			if text, code := said(t, "verify", night, "--elo", file("elo.json", c.table)); code != c.code || !strings.Contains(text, c.want) {
				t.Errorf("exit code %d and %q; want %d and %q in it", code, text, c.code, c.want)
			}
		}
	})
	t.Run("what cannot be is refused", func(t *testing.T) {
		for _, test := range []struct{ verb, want string }{
			{"league show nosuch", "league nosuch: there is none of that name, but main\n"},
			{"elo --league nosuch", "league nosuch: there is none"},
			{"tournament show 1 --round 7", "--round: 7 is not a pairing round of tournament 1, which has had 1"},
			{"tournament create two --seats 99", "--seats: must be"},
			{"tournament show --watch", "tournament: is left out"},
			{"tournament show 1 --watch --audit", "--audit and --watch can't be used together"},
			{"elo --tournament x", "--tournament: \"x\" is no number of a tournament"},
			{"tournament void 1 0 1 --why late", "round: must be"},
			{"owner invite --uses 0", "--uses: 0 is not 1 or more"},
			{"tournament rehearse 1 --rounds 2", "tournament: 1 has settings"},
			{"tournament rehearse 1 --bots 3", "tournament: 1 has settings"},
			{"tournament rehearse --bots 0", "--bots: 0 is not 1 or more"},
			{"demo --json", "--json: the demo is for people"},
		} {
			if text, code := said(t, strings.Fields(test.verb)...); code != exitUsage || !strings.Contains(text, test.want) {
				t.Errorf("flip7 %s: exit code %d, %q; want %d and %q in it", test.verb, code, text, exitUsage, test.want)
			}
		}
	})
}

func TestStandingsFitATerminal(t *testing.T) {
	one := func(name string) *flip7v1.Standing {
		return &flip7v1.Standing{Rank: 12, LikeAbove: true, Bot: name, Score: 12.345, Placement: 0.612, PlacementMargin: new(0.034), FirstPlaces: 0.385, Points: 173.8,
			Games: 10056, Faults: &flip7v1.FaultCounts{TimedOut: 3}, Latency: &flip7v1.LatencySummary{Decisions: 1, P99: durationpb.New(123456 * time.Microsecond), Max: durationpb.New(time.Second)}}
	}
	for _, c := range []struct {
		name  string
		final bool
		want  string
	}{
		{"odds", false, "  RANK   BOT   SCORE  PLACEMENT  +-95 %   FIRST  POINTS  GAMES  FAULTS    P99\n" +
			"   ~12  odds  12.345      0.612   0.034  38.5 %   173.8  10056       3  123ms\n"},
		{"stay-25 (out)", false, "RANK           BOT  SCORE PLACEMENT +-95 %  FIRST POINTS GAMES FAULTS   P99\n" +
			" ~12 stay-25 (out) 12.345     0.612  0.034 38.5 %  173.8 10056      3 123ms\n"},
		{"my-bot-two", true, "RANK        BOT FINAL  SCORE PLACEMENT +-95 %  FIRST POINTS GAMES FAULTS   P99\n" +
			" ~12 my-bot-two 0.553 12.345     0.612  0.034 38.5 %  173.8 10056      3 123ms\n"},
	} {
		s := one(c.name)
		if c.final {
			s.FinalPlacement = new(0.553)
		}
		var out strings.Builder
		printStandings(&out, []*flip7v1.Standing{s})
		if !strings.HasPrefix(out.String(), c.want) {
			t.Errorf("%s: got\n%swant\n%s", c.name, &out, c.want)
		}
		if text := "SCORE to POINTS: of the pairing rounds; GAMES, FAULTS, P99: of the final too.\n"; strings.HasSuffix(out.String(), text) != c.final {
			t.Errorf("with a final: %v, and below the standings:\n%s", c.final, &out)
		}
		for line := range strings.Lines(out.String()) {
			if len(line) > len("\n")+80 {
				t.Errorf("%s: %d columns, want 80 at most: %s", c.name, len(line), line)
			}
		}
	}
}

// Who has played no game has no means of games, which are not 0.
func TestWhoHasNotPlayedHasNoMeans(t *testing.T) {
	var out strings.Builder
	printStandings(&out, []*flip7v1.Standing{{Rank: 1, Bot: "ada"}})
	_, row, _ := strings.Cut(out.String(), "\n")
	if got, want := strings.Join(strings.Fields(row), " "), "1 ada 0.000 - - - - 0 0 -"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// House bots take no time, which is no time of theirs to be compared.
func TestWhoTakesNoTimeHasNone(t *testing.T) {
	var out strings.Builder
	printStandings(&out, []*flip7v1.Standing{{Bot: "odds", Latency: &flip7v1.LatencySummary{Decisions: 40, P99: durationpb.New(0), Max: durationpb.New(0)}}})
	if !strings.HasSuffix(out.String(), " -\n") {
		t.Errorf("got\n%swant no P99", &out)
	}
}

func TestTheLeaderOfAFinalIsComparedWithTheNearestFirst(t *testing.T) {
	var out strings.Builder
	printFinal(&out, &flip7v1.FinalTable{Games: 9, Rotations: 3, Leader: "ada", Pairs: []*flip7v1.FinalPair{{Bot: "far", Difference: 0.2}, {Bot: "near", Difference: 0.1}}})
	if near, far := strings.Index(out.String(), "near"), strings.Index(out.String(), "far"); near < 0 || near > far {
		t.Errorf("got %s", &out)
	}
}

func TestAServeThatIsRefusedLeavesNothingBehind(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	text, code := said(t, "serve", "--data", folder, "--address", ":0", "--metrics", "off", "--web", "off")
	if _, err := os.Stat(folder); code != exitUsage || !strings.Contains(text, "clear text") || !os.IsNotExist(err) {
		t.Errorf("exit code %d, %q, and the folder: %v; want %d, that clear text is refused, and no folder", code, text, err, exitUsage)
	}
}

func TestALatestEndIsNotTakenForThePlan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		28*time.Second + 400*time.Millisecond: "28s", 90 * time.Second: "2m", time.Hour: "1h", 10*time.Hour + 33*time.Minute: "10h33m",
	} {
		if got := rounded(d); got != want {
			t.Errorf("%v is written as %q, want %q", d, got, want)
		}
	}
	serving(t, "closed")
	text, _ := said(t, "tournament", "create", "one", "--open")
	found(t, `It will take about [0-9]+s; at the latest after ([0-9]+h[0-9]*m?), were every game as long and every bot as slow as can be\.`, text)
}

// An end that is too far ahead is not told, and the other all the same.
func TestAStartSaysTheEndsThatAreKnown(t *testing.T) {
	at := func(hour int) *timestamppb.Timestamp {
		return timestamppb.New(time.Date(2026, 11, 30, hour, 0, 0, 0, time.Local))
	}
	for want, night := range map[string]*flip7v1.Tournament{
		"":                                    {},
		"Expected end 2026-11-30 21:00:00.\n": {ExpectedEndTime: at(21)},
		"Expected end 2026-11-30 21:00:00; at the latest 2026-11-30 23:00:00, were every game as long and every bot as slow as can be.\n": {ExpectedEndTime: at(21), LatestEndTime: at(23)},
	} {
		if got := ends(night); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestAStartSaysWhoPlaysAlongAndHowToLookOn(t *testing.T) {
	serving(t, "closed")
	said(t, "tournament", "create", "one", "--open", "--rounds", "1", "--checkin", "1h")
	said(t, "bot", "register", "ada")
	if text, code := said(t, "tournament", "enter", "9", "bot:ada"); code != exitUsage || text != "flip7: tournament 9: not found; \"bot:ada\" has not entered\n" {
		t.Errorf("exit code %d and %q, want that there is no tournament 9", code, text)
	}
	said(t, "tournament", "enter", "1", "bot:ada", "house:odds")
	said(t, "tournament", "withdraw", "1", "odds") // and is no company any more
	text, _ := said(t, "tournament", "start", "1")
	want := "Fewer bots than seats (1 of 4): outside the ranks house bot stay-25 plays along as the anchor if it has not entered, and house bots odds and stay-20 fill up where fewer than three would play.\n"
	if !strings.HasSuffix(text, want) {
		t.Errorf("got %q, want at its end %q", text, want)
	}
	text, code := said(t, "tournament", "start", "1", "--watch")
	if want := "flip7: tournament 1 is running already; to look at it: flip7 tournament show 1 --watch\n"; code != exitUsage || text != want {
		t.Errorf("exit code %d and %q, want %q", code, text, want)
	}
}

func TestWhoHasLeftIsToldHowToComeBack(t *testing.T) {
	for _, c := range []struct{ player, name, want string }{
		{"bot:ada", "ada", "bot:ada"}, {"house:odds", "odds", "house:odds"}, {"house:odds", "sparring", "house:odds --as sparring"},
		{"cmd", "ada", "cmd:COMMAND --as ada"}, {"bot:the bot", "the bot", "'bot:the bot'"}, {"cmd", "COMMAND", "cmd:COMMAND --as COMMAND"},
	} {
		want := strings.ReplaceAll(c.want, "'", typed("'", runtime.GOOS)[:1])
		if got := comesBack(&flip7v1.Entry{Player: c.player, Bot: c.name}); got != want {
			t.Errorf("%s as %s: got %s, want %s", c.player, c.name, got, want)
		}
	}
}

func TestWhoIsKickedOutIsOutAlready(t *testing.T) {
	serving(t, "closed")
	said(t, "tournament", "create", "one", "--open")
	said(t, "tournament", "enter", "1", "house:odds")
	for _, c := range []struct{ verb, want string }{
		{"kick 1 odds --why late", "odds is out of tournament 1; only the organiser can bring it back.\n"},
		{"withdraw 1 odds", "flip7: \"odds\" was kicked out of tournament 1; it is out already\n"},
		{"withdraw 1 nobody", "flip7: bot \"nobody\" in tournament 1: there is none\n"},
		{"cancel 1 --why late", ""},
		{"start 1", "flip7: tournament 1 is cancelled; it does not change any more; to look at it: flip7 tournament show 1\n"},
	} {
		if text, _ := said(t, append([]string{"tournament"}, strings.Fields(c.verb)...)...); c.want != "" && text != c.want {
			t.Errorf("flip7 tournament %s says %q, want %q", c.verb, text, c.want)
		}
	}
}

func TestAWatchDoesNotSayTheSameTwice(t *testing.T) {
	w := &watching{}
	is := func(why string) string {
		return w.line(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_Tournament{
			Tournament: &flip7v1.Tournament{State: flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING, StateWhy: why}}})
	}
	leads := func(bot string) string {
		return w.line(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_StandingsChanged{StandingsChanged: &flip7v1.StandingsChanged{Leader: bot}}})
	}
	got := []string{is(""), is(""), is("it waits for ada"), is(""), is(""), leads(""), leads("ada"), leads(""), leads("ada")}
	want := []string{"the tournament is running", "", "the tournament is running: it waits for ada", "the tournament goes on", "", "", "leader: ada", "", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAWatchSaysWhoIsLeftOut(t *testing.T) {
	w := &watching{settings: &flip7v1.TournamentSettings{PairingRounds: 2, FinalTable: 3}}
	paired := func(number uint32, missing ...string) string {
		return w.line(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_PairingRound{
			PairingRound: &flip7v1.PairingRound{Number: number, Tables: 1, Missing: missing}}})
	}
	got := []string{paired(1), paired(2, "cleo", "dora"), paired(2, "cleo", "dora"), paired(3, "cleo"), paired(4)}
	want := []string{"pairing round 1: 1 table, 0 repeat meetings", "pairing round 2: 1 table, 0 repeat meetings; not there, and left out of it: cleo, dora", "",
		"final table: not there, and left out of it: cleo", ""}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	for missing, want := range map[string]string{"": "", "cleo": "Not there, and left out of it: cleo.\n"} {
		night := &flip7v1.ListPairingsResponse{PairingRounds: []*flip7v1.PairingRound{{Missing: strings.Fields(missing)}}, Tables: []*flip7v1.Table{{Number: 1}}}
		var out strings.Builder
		if printMissing(&out, night); out.String() != want {
			t.Errorf("missing %q: show says %q, want %q", missing, &out, want)
		}
		if drawn := picture(&flip7v1.Tournament{}, nil, night, 24); !strings.Contains(drawn, "1 table over; 0 of at most 0 games in all\n"+want+"TABLE ") {
			t.Errorf("missing %q: want %q in what is drawn:\n%s", missing, want, drawn)
		}
	}
}

func TestServeTellsAProgramWhereItIs(t *testing.T) {
	serve := &serveCmd{Data: t.TempDir(), Address: "127.0.0.1:0", Metrics: "off", Durability: "process", Registration: "closed"}
	s, closeStore, err := serve.open(t.Context(), &program{out: io.Discard, err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	serve.greet(&program{out: &out, json: true}, s, true)
	var where map[string]string
	if err := json.Unmarshal(out.Bytes(), &where); err != nil || where["address"] != s.Addr().String() || where["admin_token_file"] != s.AdminTokenFile() {
		t.Errorf("got %s, %v", &out, err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if err := errors.Join(s.Serve(stopped), closeStore()); err != nil {
		t.Error(err)
	}
}

func TestAWatchThatIsBrokenOffSaysSo(t *testing.T) {
	serving(t, "closed")
	said(t, "tournament", "create", "one", "--open")
	broken, off := context.WithCancel(t.Context())
	off()
	var problem bytes.Buffer
	code := run(broken, []string{"tournament", "show", "1", "--watch"}, program{out: io.Discard, err: &problem})
	if code != 0 || !strings.Contains(problem.String(), "the tournament goes on") {
		t.Errorf("exit code %d, %q", code, &problem)
	}
}

func TestTablesOfACancelledTournamentDoNotRun(t *testing.T) {
	tables := []*flip7v1.Table{{Number: 1, State: flip7v1.TableState_TABLE_STATE_RUNNING}, {Number: 2, State: flip7v1.TableState_TABLE_STATE_FINISHED}}
	for state, want := range map[flip7v1.TournamentState][]string{
		flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING:   {"1 running", "2 finished"},
		flip7v1.TournamentState_TOURNAMENT_STATE_CANCELLED: {"1 broken off", "2 finished"},
	} {
		var out strings.Builder
		printTables(&out, tables, state)
		for i, line := range strings.Split(out.String(), "\n")[1:3] {
			if got := strings.Join(strings.Fields(line), " "); !strings.HasPrefix(got, want[i]) {
				t.Errorf("%v: %q, want %q", state, got, want[i])
			}
		}
	}
}

func TestAnExportReplacesNothingThatCameMeanwhile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "night.jsonl")
	err := writeNew(file, func(w io.Writer) error {
		if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
			return err
		}
		_, err := io.WriteString(w, "results")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "is there already; an export replaces nothing") {
		t.Errorf("got %v, want that it is there already", err)
	}
	left, err := os.ReadDir(filepath.Dir(file))
	if got, read := os.ReadFile(file); string(got) != "precious" || len(left) != 1 || err != nil || read != nil {
		t.Errorf("there are %v (%v), and the file holds %q (%v), want what was there", left, err, got, read)
	}
}

// full is a disk with room for so many bytes.
type full int

func (f *full) Write(text []byte) (int, error) {
	n := min(len(text), int(*f))
	if *f -= full(n); n < len(text) {
		return n, syscall.ENOSPC
	}
	return n, nil
}

// TestWhatIsNotPrintedIsNotDone redirects what verbs print to a file for which there is no room: a script that looks for a
// token, or a table, in it is to know.
func TestWhatIsNotPrintedIsNotDone(t *testing.T) {
	for _, args := range []string{"version", "version --json", "match house:odds house:stay-25 --games 4", "match house:stay-25 house:odds --sprt 0,500 --games 4"} {
		room := full(3)
		var problem bytes.Buffer
		code := run(t.Context(), strings.Fields(args), program{out: &room, err: &problem})
		if text := problem.String(); code != exitUsage || strings.Count(text, "no space left on device") != 1 {
			t.Errorf("%s: exit code %d and %q, want %d and, once, why", args, code, text, exitUsage)
		}
	}
}
