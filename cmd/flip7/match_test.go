//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/match"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

// strategyProgram is a player that the match starts: the test binary, playing a strategy of the house.
func strategyProgram(t *testing.T, strategy string) string {
	t.Helper()
	t.Setenv(asProgram, "1")
	return "cmd:'" + os.Args[0] + "' commanded " + strategy + " '" + filepath.Join(t.TempDir(), "lock") + "'"
}

func playMatch(t *testing.T, args ...string) match.Result {
	t.Helper()
	var r match.Result
	if err := json.Unmarshal(verb(t, append([]string{"--json", "match"}, args...)...), &r); err != nil {
		t.Fatal(err)
	}
	for i := range r.Lines {
		r.Lines[i].P50, r.Lines[i].P99 = 0, 0 // the clock's, not the seed's
	}
	return r
}

func TestAMatchWithProgramsIsWhatTheSeedMakesOfThem(t *testing.T) {
	bot := strategyProgram(t, "stay-20")
	args := []string{bot, bot, "new=" + bot, "twin=house:odds", "house:odds", "--seats", "6", "--games", "24", "--seed", "7"}
	first := playMatch(t, append(args, "--concurrency", "1")...)
	again := playMatch(t, append(args, "--no-timeout")...)
	if !reflect.DeepEqual(first, again) {
		t.Errorf("got %+v, and again %+v", first, again)
	}
	names := map[string]bool{}
	for _, l := range first.Lines {
		names[l.Name] = true
		if l.Faults+l.Slips > 0 || l.Points < 50 {
			t.Errorf("%s has %d faults, %d slips and %.1f points a game, want a bot that plays", l.Name, l.Faults, l.Slips, l.Points)
		}
	}
	command := strings.TrimPrefix(bot, "cmd:")
	if want := map[string]bool{command: true, command + " #2": true, "new": true, "twin": true, "odds": true}; !reflect.DeepEqual(names, want) || first.Games != 24 {
		t.Errorf("%d games of %v, want 24 of %v", first.Games, names, want)
	}
}

func TestAProgramThatEndsIsShownWithWhatItWrote(t *testing.T) {
	text, code := said(t, "match", "cmd:sh -c 'echo reading the cards; echo no cards >&2; exit 3'", "house:odds")
	want := "ended (exit status 3); the last it wrote:\n  reading the cards\n  no cards\n"
	if code != exitNo || !strings.HasSuffix(text, want) {
		t.Errorf("exit code %d and %q, want %d and at the end %q", code, text, exitNo, want)
	}
}

func TestWhatAProgramDoesWrongIsSaidInWords(t *testing.T) {
	t.Setenv(asProgram, "1")
	bot := filepath.Join(t.TempDir(), "bot.sh")
	script := `echo '{"ready":true}'; while read -r line; do case $line in *'"type":"request"'*) echo '{"decision":"give 17"}'; esac; done`
	if err := os.WriteFile(bot, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	text, code := said(t, "match", "cmd:'"+os.Args[0]+"' bridge -- sh '"+bot+"'", "house:odds", "house:racer", "--games", "3", "--seed", "1")
	for _, want := range []string{" did wrong with its requests: ", " passed.\n",
		"  The first that it was told: give to seat 17 does not answer "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// jsonBot is a JSON bot as a shell script, behind the bridge or not.
func jsonBot(t *testing.T, script string) (alone, behind string) {
	t.Helper()
	t.Setenv(asProgram, "1")
	bot := filepath.Join(t.TempDir(), "bot.sh")
	if err := os.WriteFile(bot, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	return "cmd:sh '" + bot + "'", "cmd:'" + os.Args[0] + "' bridge -- sh '" + bot + "'"
}

func TestABotThatWantsTheBridgeIsToldSoAtOnce(t *testing.T) {
	alone, _ := jsonBot(t, `echo '{"ready":true}'; while read -r line; do :; done`)
	text, code := said(t, "match", alone, "house:odds")
	if want := " speaks lines of JSON, not gRPC: start it by the bridge, as \"cmd:flip7 bridge -- sh "; code != exitNo || !strings.Contains(text, want) {
		t.Errorf("match: exit code %d and %q, want %d and %q", code, text, exitNo, want)
	}
	text, code = said(t, "check", alone)
	if want := "perhaps:  start it by the bridge: flip7 bridge -- COMMAND\n"; code != exitNo || !strings.Contains(text, want) {
		t.Errorf("check: exit code %d and %q, want %d and %q", code, text, exitNo, want)
	}
}

func TestWhatABotWritesBesideItsDecisionsIsAWarningAtTheEnd(t *testing.T) {
	_, behind := jsonBot(t, `echo '{"ready":true}'
while read -r line; do
  case $line in *'"type":"request"'*) echo thinking; echo cannot decide >&2; echo '{"decision":"pass"}';; esac
done`)
	text, code := said(t, "match", behind, "house:odds", "house:racer", "--games", "3")
	for _, want := range []string{" warnings, the first: level=WARN msg=\"a line on the command's standard output is not taken",
		"What it had written last at its first fault; --verbose shows all:\n", "bot: cannot decide\n"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Errorf("match: exit code %d and no %q in\n%s", code, want, text)
		}
	}
	text, _ = said(t, "check", "--only", "second-chance", behind)
	if want := "Warning: the bridge says, "; !strings.Contains(text, want) {
		t.Errorf("check: no %q in\n%s", want, text)
	}
}

func TestTheFirstTroubleOfAProgramIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		b := &board{out: &out, last: time.Now()}
		l := &launched{name: "ada", output: &output{}}
		ps := &programs{all: []*launched{l}, troubles: make(chan trouble, troubleKinds)}
		ctx, leave := context.WithCancel(t.Context())
		var beside sync.WaitGroup
		beside.Go(func() { b.accompany(ctx, ps, 3) })
		for range 3 {
			ps.answered(remote.Answered{Bot: "ada", Cause: game.Passed})
		}
		io.WriteString(l.output, "Traceback\nKeyError: 7\ntime=now level=INFO msg=\"passed for it\"\n") // behind the fault
		ps.ended(remote.Session{Bot: "ada"}, flip7v1.EndReason_END_REASON_UNSPECIFIED, "")
		time.Sleep(lastWords + time.Millisecond)
		synctest.Wait()
		want := "ada has its first fault: the default decision was played, the cause is \"passed\"; the last it wrote:\n  Traceback\n  KeyError: 7\n" +
			"ada has left its stream and may come back; the last it wrote:\n  Traceback\n  KeyError: 7\n"
		if out.String() != want {
			t.Errorf("got %q, want %q", out.String(), want)
		}
		if got := l.output.atFault(); !slices.Equal(got, []string{"Traceback", "KeyError: 7"}) {
			t.Errorf("kept %q, want what was shown", got)
		}

		out.Reset()
		ps.played.begun.Add(2)
		time.Sleep(firstBeat + time.Second)
		synctest.Wait()
		if got, want := out.String(), "So far 2 games begun, 0 over, 3 decisions by programs, 3 faults; the table counts whole rotations of 3 games.\n"; got != want {
			t.Errorf("before the first rotation is over: got %q, want %q", got, want)
		}
		leave()
		beside.Wait()
	})
}

func TestAMatchWithoutAGameShowsNoTable(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	interrupt()
	for args, want := range map[string]int{"house:racer house:odds": 0, "house:racer house:odds --sprt 0,20": exitNo} {
		var out bytes.Buffer
		code := run(ctx, append([]string{"match"}, strings.Fields(args)...), program{out: &out, err: &out})
		if text := "Broken off before a rotation was finished: there is nothing to show.\n"; code != want || out.String() != text {
			t.Errorf("match %s: exit code %d and %q, want %d and %q", args, code, out.String(), want, text)
		}
	}
}

func TestARandomSeedIsANumberOfJavaScript(t *testing.T) {
	for range 20 { // of any 64 bits, hardly one would be
		m, err := new(matchCmd).match([]contestant{{name: "racer"}, {name: "odds"}})
		if err != nil || m.Seed >= 1<<53 {
			t.Errorf("the seed is %d (%v), want one below 2^53", m.Seed, err)
		}
	}
}

func TestAMatchThatIsInterruptedLeavesNoProgram(t *testing.T) {
	bot := strategyProgram(t, "stay-20")
	ctx, interrupt := context.WithCancel(t.Context())
	var out bytes.Buffer
	told := &firstWrite{then: interrupt}
	code := run(ctx, []string{"match", bot, "house:odds", "--games", "100000", "--verbose"}, program{out: &out, err: told})
	if code != 0 || !strings.Contains(out.String(), "Broken off ") {
		t.Errorf("exit code %d and %q, want 0 and the table so far", code, out.String())
	}
	lock, err := os.Open(found(t, `'([^']*/lock)'`, bot))
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("the program still runs: its lock is taken (%v)", err)
	}
}

// firstWrite does something when something is written, and forgets it.
type firstWrite struct{ then func() }

func (w *firstWrite) Write(p []byte) (int, error) {
	w.then()
	return len(p), nil
}

func TestMatchRefusesWhatItWouldIgnore(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"house:odds", "player: 1 of them, want 2 or more"},
		{"house:odds house:odds", `player: two are called "odds"; a name before one tells them apart, as in a=house:odds`},
		{"a=house:odds a=house:racer", `player: two are called "a"`},
		{"odds=house:racer house:odds", `player: two are called "odds"`},
		{"house:racer =house:odds", "player name: is empty; it takes 1..32 characters"},
		{"house:racer ada=bob", `player: "bob" is neither house:STRATEGY nor 'cmd:COMMAND'`},
		{"house:odds bot:ada", `player: "bot:ada" plays in the tournaments of an arena; a match starts its programs itself`},
		{"house:odds ada", `player: "ada" is neither house:STRATEGY nor 'cmd:COMMAND'`},
		{"house:odds cmd:./no-such-program", "player: start ./no-such-program"},
		{"house:odds house:racer --games 0", "--games: 0 is not 1..100000000"},
		{"house:odds house:racer --seats 2", "--seats: 2 is not 3.."},
		{"house:odds house:racer --concurrency=-1", "--concurrency: -1 is less than 0"},
		{"house:odds house:racer --sprt 20", `--sprt: "20" is not ELO0,ELO1, two numbers such as 0,20`},
		{"house:odds house:racer --sprt", "--sprt: expected ELO0,ELO1 value but got nothing"},
		{"house:odds house:racer --sprt 20,0", "--sprt: 20,0 is not ELO0,ELO1 with ELO0 less than ELO1"},
		{"house:odds house:racer --no-timeout", "--no-timeout, --verbose: are for programs"},
		{"house:odds house:racer --verbose", "--no-timeout, --verbose: are for programs"},
	} {
		text, code := said(t, append([]string{"match"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.HasPrefix(text, "flip7: "+c.want) {
			t.Errorf("match %s: exit code %d and %q, want %d and %q", c.args, code, text, exitUsage, c.want)
		}
	}
}

func TestATestThatIsDecidedEndsTheMatch(t *testing.T) {
	for _, c := range []struct {
		args, want string // the end of what is said
		code       int
	}{
		{"house:racer house:stay-15 house:odds --sprt 0,50", "\nSPRT: the first is stronger than the second: LLR 3.", 0},
		{"house:stay-15 house:racer house:odds --sprt=-50,0", "\nSPRT: the first is weaker than the second: LLR -", exitNo},
		{"house:racer house:odds house:stay-15 --sprt 0,1 --games 30", "\nSPRT: undecided, LLR 0.", exitNo},
	} {
		text, code := said(t, append([]string{"match", "--seed", "1"}, strings.Fields(c.args)...)...)
		if code != c.code || !strings.Contains(text, c.want) || strings.Contains(text, "Broken off") {
			t.Errorf("match %s: exit code %d and %q, want %d and %q", c.args, code, text, c.code, c.want)
		}
	}
	r := playMatch(t, "house:racer", "house:stay-15", "house:odds", "--sprt", "0,50", "--seed", "1")
	if r.SPRT == nil || r.SPRT.First != "racer" || r.SPRT.Second != "stay-15" || r.SPRT.Taken != "elo1" || r.Of != sprtGames+2 { // whole rotations
		t.Errorf("as JSON: %+v of %d games, want racer above stay-15 by elo1 of %d", r.SPRT, r.Of, sprtGames+2)
	}
}

func TestMatchPlaysNoMoreGamesThanAProgramTakes(t *testing.T) {
	text, code := said(t, "match", strategyProgram(t, "stay-20"), "house:odds", "--concurrency", "5")
	if want := "--concurrency: 5 rotations side by side are more games than"; code != exitUsage || !strings.Contains(text, want) {
		t.Errorf("exit code %d and %q, want %d and %q", code, text, exitUsage, want)
	}
}

func TestTheBoardIsDrawnOverItself(t *testing.T) {
	var screen bytes.Buffer
	b := &board{out: &screen, redrawn: true}
	r := &match.Result{Seats: 3, Rotations: 1, Games: 3, Of: 30, Lines: []match.Line{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	b.draw(r)
	drawn := strings.Count(screen.String(), "\n")
	screen.Reset()
	b.clear()
	if got, want := screen.String(), "\033[6A\033[J"; got != want || drawn != 6 {
		t.Errorf("%d lines were drawn and %q takes them off, want 6 and %q", drawn, got, want)
	}
	screen.Reset()
	r.SPRT = &match.Answer{First: "a", Second: "b"}
	b.draw(r)
	drawn = strings.Count(screen.String(), "\n")
	screen.Reset()
	b.clear()
	if got, want := screen.String(), "\033[9A\033[J"; got != want || drawn != 9 {
		t.Errorf("with a test %d lines were drawn and %q takes them off, want 9 and %q", drawn, got, want)
	}
	screen.Reset()
	b.clear()
	if screen.Len() > 0 {
		t.Errorf("an empty board is cleared by %q, want nothing", screen.String())
	}
}

func TestWhereNothingIsRedrawnALineIsWrittenNowAndThen(t *testing.T) {
	var out bytes.Buffer
	r := &match.Result{Games: 3, Of: 30, Lines: []match.Line{{Name: "a", Elo: 12, Faults: 2}, {Name: "b", Elo: -0.04, EloMargin: new(7.5)}}}
	sofar := func() (*match.Result, error) { return r, nil }
	b := &board{out: &out, last: time.Now()}
	b.progress(3, sofar)
	if out.Len() > 0 {
		t.Errorf("at once: %q, want nothing", out.String())
	}
	b.last = time.Now().Add(-linePause)
	b.progress(3, sofar)
	if got, want := out.String(), "3 of 30 games: a +12.0 Elo, 2 faults; b +0.0 Elo +-7.5, 0 faults\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOutputKeepsTheLastLinesAndShowsAll(t *testing.T) {
	var shown strings.Builder
	o := &output{name: "ada", echo: &shown}
	for range outputLines {
		io.WriteString(o, "think")
		io.WriteString(o, "ing\r\n")
	}
	io.WriteString(o, strings.Repeat("x", 2*outputBytes)+"\nhalf")
	lines := o.last()
	if len(lines) != outputLines+1 || lines[0] != "thinking" || len(lines[outputLines-1]) != outputBytes || lines[outputLines] != "half" {
		t.Errorf("kept: %q", lines)
	}
	if got := strings.Count(shown.String(), "ada: thinking\n"); got != outputLines {
		t.Errorf("%d lines are shown, want %d", got, outputLines)
	}
}
