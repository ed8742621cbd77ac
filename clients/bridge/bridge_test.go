package bridge_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/clients/bridge"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestWhatACommandMaySay(t *testing.T) {
	const ok = `{"id":"ID","decision":"hit"}`
	for _, test := range []struct {
		name  string
		lines []string
		want  string
		logs  string
	}{
		{"the id may be left out", []string{`{"decision":"stay"}`}, "r1: stay", ""},
		{"a note, and keys that are nobody's", []string{`{"decision":"hit","note":"why","mood":7}`}, "r1: hit (why)", ""},
		{"blank lines, blanks, the line ends of Windows", []string{"", "  " + ok + " \r"}, "r1: hit", ""},
		{"more than 64 KiB", []string{`{"decision":"hit","notes":"LONG"}`}, "r1: hit", ""},
		{"something that is no JSON", []string{"thinking ...", `"hit"`, ok}, "r1: hit", "line=\"thinking ...\""},
		{"a decision that is not legal is for the arena to refuse", []string{`{"decision":"give 2"}`}, "r1: give 2", ""},
		{"no such decision", []string{`{"decision":"raise"}`}, `r1: pass (decide failed: decision "raise" is none of hit, stay)`, `decision \"raise\" is none of hit, stay`},
		{"a seat that cannot be", []string{`{"decision":"give -1"}`}, `r1: pass (decide failed: decision "give -1" is none of hit, stay)`, `decision \"give -1\" is none of`},
		{"no decision", []string{`{"id":"ID"}`}, `r1: pass (decide failed: decision "" is none of hit, stay)`, `decision \"\" is none of`},
		{"a decision that is no text", []string{`{"decision":3}`}, "r1: pass (decide failed: decision is a number, want a string)", "decision is a number, want a string"},
		{"a request that is not open", []string{`{"id":"r0","decision":"stay"}`, ok}, "r1: hit", `no request \"r0\" is open`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := play(t, bridge.Config{Command: command(append([]string{"says"}, test.lines...)...)})
			a.hello()
			a.ask("r1")
			a.expect(test.want)
			a.logs(test.logs)
		})
	}
}

func TestACommandThatFailsIsStartedAndAskedAgain(t *testing.T) {
	for _, test := range []struct {
		name string
		says []string // the first process, to its first request
		logs string
	}{
		{"it ends", []string{"END"}, "the command ended (exit status 3); the command is started again"},
		{"it prints on and on what is no JSON", []string{"a", "b", "c"}, `are no use, the last is \"c\": it is no JSON object; only decisions belong there`},
		{"it writes a line that does not end", []string{"ENDLESSx"}, "a line of more than 1048576 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			which := filepath.Join(t.TempDir(), "which")
			a := play(t, bridge.Config{Command: command(append([]string{"fragile", which}, test.says...)...)})
			a.hello()
			a.ask("r1")
			a.expect("r1: hit (again)")
			a.logs(test.logs)
		})
	}
}

func TestACommandThatAnswersMayEndAsOftenAsItLikes(t *testing.T) {
	a := play(t, bridge.Config{Command: command("mortal")})
	a.hello()
	for n := range 12 {
		id := fmt.Sprint("r", n)
		a.ask(id)
		a.expect(id + ": hit")
	}
}

func TestARequestThatEndsProcessesIsPassed(t *testing.T) {
	a := play(t, bridge.Config{Command: command("deadly")})
	a.hello()
	a.ask("deadly")
	a.expect("deadly: pass (decide failed: 2 processes ended over this request; the last: the command ended (exit status 3))")
	a.logs("2 processes ended over this request")
	a.ask("r2")
	a.expect("r2: hit")
}

func TestACommandThatHangsIsStartedAgain(t *testing.T) {
	which := filepath.Join(t.TempDir(), "which")
	a := play(t, bridge.Config{Command: command("fragile", which), Patience: bridge.Patience{Hung: time.Millisecond}})
	a.hello()
	a.askFor("r1", time.Millisecond)
	a.expect("r1: pass")
	a.ask("r2")
	a.expect("r2: hit") // by another process, and not asked again: the one that hangs was not asked it
	a.logs("request r1 is not answered though its time was up 1ms ago; the command is started again")
	a.logs("the command has answered nothing since it is ready; it takes too long, or does not flush what it writes (Python")
}

func TestALateDecisionIsNotTakenForTheNextRequest(t *testing.T) {
	a := play(t, bridge.Config{Command: command("late"), Patience: bridge.Patience{Hung: long}})
	a.hello()
	a.askFor("r1", time.Millisecond)
	a.ask("r2")
	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Verdict{Verdict: &flip7v1.Verdict{
		RequestId: "r1", Code: flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED, Answer: flip7v1.Answer_ANSWER_STAY, Cause: flip7v1.Cause_CAUSE_TIMED_OUT,
	}}})
	a.expect("r1: stay")
	a.expect("r2: hit")
}

// hung is a process that answers the request r1 only as it is put another one.
type hung struct {
	stdout io.Writer
	asked  int
	gone   chan struct{}
}

func (p *hung) Write(text []byte) (int, error) {
	for line := range bytes.Lines(text) {
		switch {
		case bytes.Contains(line, []byte(`"type":"hello"`)):
			fmt.Fprintln(p.stdout, `{"ready":true}`)
		case bytes.Contains(line, []byte(`"type":"request"`)):
			if p.asked++; p.asked > 1 {
				fmt.Fprintln(p.stdout, `{"decision":"stay","note":"to r1"}`)
			} else if !bytes.Contains(line, []byte(`"id":"r1"`)) {
				fmt.Fprintln(p.stdout, `{"decision":"hit"}`)
			}
		}
	}
	return len(text), nil
}

func (p *hung) Gone() <-chan struct{} { return p.gone }
func (p *hung) Err() error            { return nil }
func (p *hung) End()                  { close(p.gone) }

func TestAProcessThatIsGivenUpIsNotPutTheNextRequest(t *testing.T) {
	for range 30 { // the request that waits is put to a process at the moment at which the other one is given up
		a := play(t, bridge.Config{
			Command: []string{"hung"}, Patience: bridge.Patience{Hung: time.Millisecond},
			Begin: func(cmd *exec.Cmd) (bridge.Process, error) {
				return &hung{stdout: cmd.Stdout, gone: make(chan struct{})}, nil
			},
		})
		a.hello()
		a.askFor("r1", time.Millisecond)
		a.ask("r2")
		a.expect("r1: pass")
		a.expect("r2: hit")
	}
}

func TestSeveralRequestsAtOnceNeedIDs(t *testing.T) {
	a := play(t, bridge.Config{Command: command("pair"), MaxOpen: 2})
	if got := a.hello().GetCapacity().GetMaxOpen(); got != 2 {
		t.Errorf("the arena is told of %d open requests, want 2", got)
	}
	a.ask("r1")
	a.ask("r2")
	got := []string{a.decision(), a.decision()}
	slices.Sort(got) // which of the two was asked first is up to the kit
	if hit, stay := strings.HasSuffix(got[0]+got[1], "hit") || strings.Contains(got[0], ": hit"), strings.Contains(got[0]+got[1], ": stay (unknown_request)"); !hit || !stay || got[0][:2] == got[1][:2] {
		t.Errorf("got %q, want a hit for one request and a stay for the other, with a note of the verdict", got)
	}
}

func TestACommandIsToldWhatIsNoDecision(t *testing.T) {
	a := play(t, bridge.Config{Command: command("corrected")})
	a.hello()
	a.ask("r1")
	a.expect(`r1: pass (decide failed: decision "raise" is none of hit, stay)`)
	a.ask("r2")
	a.expect("r2: hit (unreadable)")
}

func TestThePositionIsLoggedOfAnIllegalDecision(t *testing.T) {
	a := play(t, bridge.Config{Command: command("says", `{"decision":"give 2"}`)})
	a.hello()
	a.ask("r1")
	a.expect("r1: give 2")
	for _, code := range []flip7v1.VerdictCode{flip7v1.VerdictCode_VERDICT_CODE_ILLEGAL, flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED} {
		a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Verdict{Verdict: &flip7v1.Verdict{RequestId: "r1", Code: code}}})
	}
	a.ask("r2")
	a.expect("r2: give 2") // the verdicts have been told
	if got := strings.Count(a.log.String(), "seat 1 is asked turn"); got != 1 {
		t.Errorf("the position is logged %d times, want once\n%s", got, a.log)
	}
}

func TestSeveralProcesses(t *testing.T) {
	a := play(t, bridge.Config{Command: command("waits"), Procs: 2})
	a.hello()
	a.ask("r1")
	a.ask("r2")
	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_GameStarted{GameStarted: &flip7v1.GameStarted{Game: turn("r3").GetGame()}}})
	var notes []string
	for range 2 {
		_, note, _ := strings.Cut(a.decision(), ": ")
		notes = append(notes, note)
	}
	slices.Sort(notes)
	if want := []string{"hit (process 1)", "hit (process 2)"}; !slices.Equal(notes, want) {
		t.Errorf("got %q, want %q", notes, want)
	}
}

func TestACommandThatCannotPlay(t *testing.T) {
	for _, test := range []struct {
		name     string
		command  []string
		patience bridge.Patience
		want     string
	}{
		{"it does not say that it is ready", command("unready"), bridge.Patience{Ready: time.Millisecond},
			`the command did not write {"ready":true} as a line within 1ms; it takes too long, or does not flush what it writes (Python`},
		{"it ends before it is ready", command("ends"), bridge.Patience{}, `the command ended (exit status 3) before it wrote {"ready":true}`},
		{"it says something else first", command("ends", `{"decision":"hit"}`), bridge.Patience{},
			`the command's first line is "{\"decision\":\"hit\"}", want {"ready":true}`},
		{"it always ends", command("ends", `{"ready":true}`), bridge.Patience{},
			"the command ended (exit status 3); that was the 8th time in a row, without an answer in between"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			a := play(t, bridge.Config{Command: test.command, Patience: test.patience})
			err := a.end()
			if _, is := errors.AsType[*bridge.CommandError](err); !is || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the bridge ends with %v, want a CommandError with %q", err, test.want)
			}
		})
	}
	t.Run("there is no such program", func(t *testing.T) {
		err := play(t, bridge.Config{Command: []string{"no-such-program-anywhere"}}).end()
		if _, is := errors.AsType[*bridge.CommandError](err); is || err == nil || !strings.Contains(err.Error(), "no-such-program-anywhere") {
			t.Errorf("the bridge ends with %v, want an error that names the program", err)
		}
	})
}

func TestStandardErrorIsForTheAuthor(t *testing.T) {
	a := play(t, bridge.Config{Command: command("complains"), Procs: 2})
	a.hello()
	close(a.leave)
	a.end()
	a.logs("bot 1: it hurts\n")
	a.logs("bot 2: it hurts\n")
	a.logs("bot 2: a lot\n") // though that line has no end
}
