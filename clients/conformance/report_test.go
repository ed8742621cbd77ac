package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// chosen are scripts by name.
func chosen(names ...string) []Script {
	return slices.DeleteFunc(Scripts(), func(s Script) bool { return !slices.Contains(names, s.Name) })
}

func TestAFailureSaysWhatWasExpectedWhatCameAndWhere(t *testing.T) {
	report := check(t, sinner("comes back whatever it is told"), Config{Scripts: chosen("ping", "takeover")})
	var text strings.Builder
	for _, r := range report.Results {
		r.Seconds = 0.1
		if err := r.Write(&text, false); err != nil {
			t.Fatal(err)
		}
	}
	const want = `  1  ping                   ok         0.1 s
  2  takeover               FAILED     0.1 s
       A bot whose place is taken by a newer stream of the same name ends and does not come back: two would fight for ever.
       line 6:  within 15s expect exit
       expected: the bot ends within 15s and does not come back
       came:     a new stream of the bot
       The last that the bot wrote:
         | coming back
`
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
	if got, want := report.String(), "1 of 2 scripts passed by the bot, 1 failed."; got != want || report.Conforms() {
		t.Errorf("got %q, conforms: %v; want %q", got, report.Conforms(), want)
	}
}

func TestFailuresOfOneCauseAreToldOnce(t *testing.T) {
	scripts := chosen("ping", "turn", "freeze", "reconnect")
	const turn = `  2  turn                   FAILED     0.1 s
       Asked whether to hit or to stay, a bot says which: early in a round, late, with modifiers, with a Second Chance.
       line 6:  expect decision g1/1 legal
       expected: a legal decision for g1/1 within 5s
       came:     pass for g1/1, legal is hit or stay
       perhaps:  a pass asks for the default decision; a kit passes when the bot's function fails or its decision is not legal, and writes why
       The last that the bot wrote:
         | the function failed
`
	const want = `  1  ping                   ok         0.1 s
` + turn + `  3  freeze                 FAILED     0.1 s  like turn: pass for g1/1, legal is give to one of the seats [0 1 2 3]
  4  reconnect              FAILED     0.1 s  like turn: pass for g1/1, legal is hit or stay
`
	var text strings.Builder
	report := check(t, sinner("passes"), Config{Scripts: scripts})
	for _, r := range report.Results {
		r.Seconds = 0.1
		var all strings.Builder
		if err := errors.Join(r.Write(&text, false), r.Write(&all, true)); err != nil {
			t.Fatal(err)
		}
		if told := strings.Contains(all.String(), "| the function failed"); told != (r.Failure != nil) {
			t.Errorf("what the bot wrote stands in all that there is: %v:\n%s", told, &all)
		}
	}
	if text.String() != want {
		t.Errorf("got\n%swant\n%s", text.String(), want)
	}
	if got, want := report.Advice(), "3 of the 3 that do not pass are like turn: mend what is said there first."; got != want {
		t.Errorf("got the advice %q, want %q", got, want)
	}
	if r := report.Results[2]; r.Like != "turn" || r.Failure == nil || len(r.Failure.Output) == 0 || len(r.Steps) == 0 {
		t.Errorf("for programs there is %+v; want all of it", r)
	}
}

func TestFailuresOfSeveralCausesAreEachTold(t *testing.T) {
	for _, c := range []struct {
		sin     string
		scripts []string
		advice  string
	}{
		{"takes more than 2 seconds", []string{"many-games", "latency"}, ""},
		{"ends with the stream", []string{"reconnect", "unknown-reason"}, ""},
		{"comes back whatever it is told", []string{"takeover", "token-revoked", "unknown-reason"}, "3 of the 3 that do not pass are like takeover: mend what is said there first."},
	} {
		report := check(t, sinner(c.sin), Config{Scripts: chosen(append(c.scripts, "ping")...)})
		if got := report.Advice(); got != c.advice {
			t.Errorf("a bot that %s: got the advice %q, want %q", c.sin, got, c.advice)
			for _, r := range report.Results {
				t.Logf("%s like %q: %v", r.Script, r.Like, r.Failure)
			}
		}
	}
}

func TestAScriptThatShouldPassIsAWarning(t *testing.T) {
	report := check(t, sinner("hears no silence"), Config{Scripts: chosen("ping", "silence")})
	if r := report.Results[1]; r.Outcome != Warned || !report.Conforms() {
		t.Errorf("got %s, conforms: %v; want a warning and that it conforms", r.Outcome, report.Conforms())
	}
}

func TestTheReportIsASentence(t *testing.T) {
	var r Report
	for outcome, n := range map[Outcome]int{Passed: 1, Failed: 3, Warned: 2, Known: 1} {
		for range n {
			r.Results, r.Of = append(r.Results, Result{Outcome: outcome}), r.Of+1
		}
	}
	if got, want := r.String(), "1 of 7 scripts passed by the bot, 3 failed, 1 known to fail, 2 warnings (they should pass)."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestABotThatComputesWithoutEndIsToldWhy(t *testing.T) {
	f := check(t, sinner("breaks off when it is asked"), Config{Scripts: chosen("freeze")}).Results[0].Failure
	if f == nil || f.Came != "the bot broke off the stream" || f.Hint != slowHint {
		t.Errorf("got %+v, want that it broke off the stream, with the hint that it may take too long", f)
	}
}

func TestAPassWhenTimeIsUpIsNotTakenForAFailure(t *testing.T) {
	for sin, want := range map[string]string{"passes": passHint, "passes when its time is up": slowHint} {
		f := check(t, sinner(sin), Config{Scripts: chosen("latency")}).Results[0].Failure
		if f == nil || !strings.HasPrefix(f.Came, "pass for ") || f.Hint != want {
			t.Errorf("%s: got %+v, want the hint %q", sin, f, want)
		}
	}
}

func TestABotThatSpeaksJSONIsToldOfTheBridgeAtOnce(t *testing.T) {
	mute := func(ctx context.Context, _ map[string]string, output io.Writer, _ func(context.Context, string) (net.Conn, error)) error {
		io.WriteString(output, "loaded\n{\"rea") // as a pipe may cut it
		io.WriteString(output, "dy\": true}\n")
		<-ctx.Done()
		return ctx.Err()
	}
	report := check(t, mute, Config{})
	if f := report.Results[0].Failure; len(report.Results) != 1 || f.Came != jsonCame || f.Hint != jsonHint {
		t.Errorf("got %d results, %+v; want one, and to start it by the bridge", len(report.Results), f)
	}
}

func TestLinesThatTheBridgeDoesNotTakeAreAWarning(t *testing.T) {
	report := Report{}
	if got := report.Strays(); got != "" {
		t.Errorf("without any: %q, want nothing", got)
	}
	for range 2 {
		output := newTail()
		io.WriteString(output, "level=WARN msg=\""+notTaken+": it is no JSON object\" line=debug\nlevel=INFO msg=hello\n")
		io.WriteString(output, "level=WARN msg=\""+notTaken+": no request is open\"\n")
		report.Results = append(report.Results, Result{strays: output.stray()})
	}
	if got, want := report.Strays(), "Warning: the bridge says, 4 times in all: "+notTaken+": it is no JSON object\" line=debug"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestABotThatTakesFewGamesIsSparedTheRest(t *testing.T) {
	report := check(t, sinner("takes one game"), Config{Scripts: chosen("ping", "many-games")})
	r := report.Results[1]
	if want := "needs 8 games at once, the bot takes 1"; r.Outcome != Skipped || r.Note != want || !report.Conforms() {
		t.Errorf("got %s, %q; want %q", r.Outcome, r.Note, want)
	}
}

func TestAKnownFailureIsPlayedAndHasToBeTrue(t *testing.T) {
	known := []KnownFailure{{"kit", "takeover", "it is stubborn"}, {"kit", "ping", "it was deaf once"}, {"other", "hello", "it is shy"}}
	report := check(t, sinner("comes back whatever it is told"), Config{Scripts: chosen("hello", "ping", "takeover"), Kit: "kit", Known: known})
	var got []Outcome
	for _, r := range report.Results {
		got = append(got, r.Outcome)
	}
	if want := []Outcome{Passed, NotFailed, Known}; !slices.Equal(got, want) || report.Conforms() {
		t.Errorf("got %v, conforms: %v; want %v", got, report.Conforms(), want)
	}
	report = check(t, sinner("comes back whatever it is told"), Config{Scripts: chosen("hello", "ping", "takeover"), Kit: "kit", Known: known[:1]})
	if !report.Conforms() {
		t.Errorf("got %s want that it conforms", report)
	}
	report.Kit, report.Version = "kit", "1.2"
	table, err := report.Tabulate("| kit |\n| [go](go/README.md) | Go | 1 | 2 of 3 | none |\n| [kit](x) | Kit | | | |\n")
	want := "| kit |\n| [go](go/README.md) | Go | 1 | 2 of 3 | none |\n| [kit](x) | Kit | 1.2 | 2 of 3 | takeover: it is stubborn |\n"
	if table != want || err != nil {
		t.Errorf("got %q and %v, want %q", table, err, want)
	}
	report.Kit = "none"
	if _, err := report.Tabulate(table); err == nil || !strings.Contains(err.Error(), `no row is about the kit "none"`) {
		t.Errorf("got %v, want that there is no row", err)
	}
}

func TestTheTableOfKitsIsAboutTheseScripts(t *testing.T) {
	table, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| .* \| (\d+) of (\d+) \| .* \|$`).FindAllStringSubmatch(string(table), -1)
	for _, row := range rows {
		if want := strconv.Itoa(len(Scripts())); row[2] != want {
			t.Errorf("%s: want of %s; `make kits` writes it", row[0], want)
		}
	}
	if len(rows) == 0 {
		t.Error("no kit is in the table")
	}
}

func TestAListOfKnownFailuresIsReadLineByLine(t *testing.T) {
	got, err := ReadKnown("# why\n\n  go takeover  it is  stubborn\n")
	if want := []KnownFailure{{"go", "takeover", "it is stubborn"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %v and %v, want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"go takeover\n":  `line 1: "go takeover", want the kit, the script and the reason`,
		"\ngo luck no\n": `line 2: there is no script "luck"`,
	} {
		if _, err := ReadKnown(text); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %q", text, err, want)
		}
	}
}

func TestWhoOpensNoStreamIsNotAskedForMore(t *testing.T) {
	crash := func(_ context.Context, _ map[string]string, output io.Writer, _ func(context.Context, string) (net.Conn, error)) error {
		_, err := io.WriteString(output, "no module named \x1b[31mgrpc\n")
		return err
	}
	for name, c := range map[string]struct {
		b    bot
		came string
	}{
		"a bot that ends":          {crash, "the bot ended: exit status 0"},
		"a bot with another token": {sinner("has another token"), `a stream with the metadata authorization ["Bearer another"], want "Bearer " and what is in FLIP7_TOKEN`},
	} {
		report := check(t, c.b, Config{})
		if len(report.Results) != 1 || report.Results[0].Failure.Came != c.came {
			t.Errorf("%s: got %d results, %v; want one, %q", name, len(report.Results), report.Results[0].Failure, c.came)
		}
		all := len(Scripts())
		if want := fmt.Sprintf("0 of %d scripts passed by the bot, 1 failed, %d not played.", all, all-1); report.String() != want || report.Conforms() {
			t.Errorf("%s: got %q, want %q", name, report, want)
		}
		if name == "a bot that ends" && !slices.Equal(report.Results[0].Failure.Output, []string{"no module named [31mgrpc"}) {
			t.Errorf("got the output %q, want it without what changes a terminal", report.Results[0].Failure.Output)
		}
	}
}
