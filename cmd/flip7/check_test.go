//go:build unix

package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flip7-arena/flip7/clients/conformance"
	"github.com/flip7-arena/flip7/server/launch"
)

// checkOf is the command line that checks a bot of the Go kit in a process of its own, and the lock that it has.
func checkOf(t *testing.T, flags ...string) (args []string, lock string) {
	command, err := launch.Split(strings.TrimPrefix(strategyProgram(t, "odds"), "cmd:"))
	if err != nil {
		t.Fatal(err)
	}
	return append(append(append([]string{"check"}, flags...), "--"), command...), command[len(command)-1]
}

func TestABotInAProcessOfItsOwnIsChecked(t *testing.T) {
	args, _ := checkOf(t, "--only", "hello,tls,second-chance,restart,takeover")
	text, code := said(t, args...)
	if want := "5 of 5 scripts passed by a bot of the kit go 0.1.0. "; code != 0 || !strings.Contains(text, want) {
		t.Errorf("exit code %d and\n%s, want 0 and %q", code, text, want)
	}

	args, _ = checkOf(t, "--json", "--only", "ping,freeze")
	text, code = said(t, args...)
	var report conformance.Report
	if err := json.Unmarshal([]byte(text), &report); err != nil || code != 0 {
		t.Fatalf("exit code %d and %q: %v", code, text, err)
	}
	if report.Kit != "go" || report.Of != 2 || report.Count(conformance.Passed) != 2 {
		t.Errorf("got %+v, want two passed by the kit go", report)
	}
}

func TestABotThatCannotStartIsShownWithWhatItWrote(t *testing.T) {
	text, code := said(t, "check", "cmd:sh -c 'echo no cards; exit 3'")
	for _, want := range []string{"came:     the bot ended: exit status 3\n", "         | no cards\n", "scripts passed by the bot, 1 failed, "} {
		if code != exitNo || !strings.Contains(text, want) {
			t.Errorf("exit code %d and\n%s, want %d and %q", code, text, exitNo, want)
		}
	}
}

func TestACheckThatIsInterruptedLeavesNoProgram(t *testing.T) {
	args, lock := checkOf(t, "--only", "hello,silence")
	ctx, interrupt := context.WithCancel(t.Context())
	var problem strings.Builder
	code := run(ctx, args, program{out: &firstWrite{then: interrupt}, err: &problem}) // the hello is told
	if code != exitNo || problem.String() != "Broken off.\n" {
		t.Errorf("exit code %d and %q, want %d and that it was broken off", code, problem.String(), exitNo)
	}
	file, err := os.Open(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Errorf("the bot still runs: its lock is taken (%v)", err)
	}
}

func TestTheOutcomeOfACheckIsWrittenIntoATable(t *testing.T) {
	table := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(table, []byte("| mine | Go | | | |\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.Open(table) // as whoever reads it meanwhile
	if err != nil {
		t.Fatal(err)
	}
	defer before.Close()
	link := filepath.Join(t.TempDir(), "README.md")
	if err := os.Symlink(table, link); err != nil {
		t.Fatal(err)
	}
	c := checkCmd{Readme: link, Kit: "mine"}
	if err := c.tabulate(conformance.Report{Kit: "go", Version: "1.2", Of: 3}); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(table)
	if want := "| mine | Go | 1.2 | 0 of 3 | none |\n"; string(got) != want || err != nil {
		t.Errorf("got %q and %v, want %q", got, err, want)
	}
	if old, err := io.ReadAll(before); string(old) != "| mine | Go | | | |\n" || err != nil {
		t.Errorf("the file as it was holds %q and %v, want all that it held: it could not be written whole", old, err)
	}
	info, err := os.Stat(table)
	if left, glob := filepath.Glob(filepath.Join(filepath.Dir(table), "*")); err != nil || glob != nil || info.Mode().Perm() != 0o600 || len(left) != 1 {
		t.Errorf("there are %v, the file with %v (%v), want it alone and with the rights that it had", left, info.Mode(), err)
	}
}

func TestCheckListsItsScripts(t *testing.T) {
	text, code := said(t, "check", "--list", "--only", "absent,silence")
	const want = "absent                 must    A bot that is marked absent, after three faults in a row, ends that by answering"
	if code != 0 || !strings.HasPrefix(text, want) || !strings.Contains(text, "\nsilence                should  ") {
		t.Errorf("exit code %d and\n%s, want 0 and two lines, the first %q", code, text, want)
	}
}

func TestCheckRefusesWrongUse(t *testing.T) {
	known := filepath.Join(t.TempDir(), "known.txt")
	if err := os.WriteFile(known, []byte("go luck it has none\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"", `command: missing: write it behind --, as in "flip7 check -- python3 bot.py"`},
		{"-- no-such-program", `command: exec: "no-such-program": executable file not found`},
		{"--only luck -- true", `--only: there is no script "luck"; there are hello, tls,`},
		{"--concurrency 0 -- true", "--concurrency: 0 is not 1 or more"},
		{"--readme " + known + " --only hello -- true", "--readme: the table is about all scripts"},
		{"--known " + known + " -- true", "--known: " + known + `: line 1: there is no script "luck"`},
	} {
		text, code := said(t, append([]string{"check"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.HasPrefix(text, "flip7: "+c.want) {
			t.Errorf("check %s: exit code %d and %q, want %d and %q", c.args, code, text, exitUsage, "flip7: "+c.want)
		}
	}
}
