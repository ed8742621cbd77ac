//go:build unix

package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bridged is a player that a match starts: the test binary as the bridge of a command.
func bridged(command string) string { return "cmd:'" + os.Args[0] + "' bridge -- " + command }

func TestTheExamplesOfTheBridgePlay(t *testing.T) {
	t.Setenv(asProgram, "1")
	for _, test := range []struct{ tool, file string }{
		{"bash", "bot.sh"}, {"perl", "bot.pl"}, {"python3", "bot.py"}, {"node", "bot.mjs"}, {"cc", "bot.c"},
	} {
		t.Run(test.file, func(t *testing.T) {
			tool, err := exec.LookPath(test.tool)
			if err != nil {
				if os.Getenv("KITS") == "required" {
					t.Fatal("KITS=required: ", err)
				}
				t.Skip(err, "; KITS=required would make this fail")
			}
			file, err := filepath.Abs("../../clients/bridge/examples/" + test.file)
			if err != nil {
				t.Fatal(err)
			}
			command := "'" + tool + "' '" + file + "'"
			if test.tool == "cc" {
				built := filepath.Join(t.TempDir(), "bot")
				if out, err := exec.CommandContext(t.Context(), tool, "-Wall", "-Wextra", "-Werror", "-o", built, file).CombinedOutput(); err != nil {
					t.Fatalf("cc: %v\n%s", err, out)
				}
				command = "'" + built + "'"
			}
			for _, l := range playMatch(t, bridged(command), "house:stay-20", "house:odds", "--games", "12", "--seed", "7").Lines {
				if l.Faults+l.Slips > 0 || l.Points < 50 {
					t.Errorf("%s has %d faults, %d slips and %.1f points a game, want a bot that plays", l.Name, l.Faults, l.Slips, l.Points)
				}
			}
		})
	}
}

func TestTheBridgeStartedWrongly(t *testing.T) {
	t.Setenv("FLIP7_TOKEN", "")
	for _, test := range []struct {
		args string
		code int
		want string
	}{
		{"", exitUsage, `expected "<command> ..."`},
		{"--procs 0 -- cat", exitUsage, "--procs: 0 is not 1..1000"},
		{"--ready-timeout 0s -- cat", exitUsage, "--ready-timeout: 0s is not positive"},
		{"--lines /no/such/folder/lines -- cat", exitUsage, "--lines: open /no/such/folder/lines"},
		{"-- echo hit", exitUsage, "FLIP7_TOKEN is not set"}, // and nothing is started
		{"--token t --address nowhere -- echo hit", exitUsage, `"nowhere" is not host:port`},
		{"--token t -- no-such-program-anywhere", exitUsage, "no-such-program-anywhere"},
		{"--token t -- echo hit", exitNo, `the command ended (exit status 0) before it wrote {"ready":true}`},
	} {
		t.Run(test.args, func(t *testing.T) {
			var out, problems bytes.Buffer
			code := run(t.Context(), append([]string{"bridge"}, strings.Fields(test.args)...), program{out: &out, err: &problems})
			if code != test.code || !strings.Contains(problems.String(), test.want) {
				t.Errorf("got exit code %d and %q, want %d and %q", code, problems.String(), test.code, test.want)
			}
		})
	}
}

func TestTheBridgeKeepsItsTokenFromTheCommand(t *testing.T) {
	t.Setenv("FLIP7_TOKEN", "s3cret")
	var problems bytes.Buffer
	code := run(t.Context(), []string{"bridge", "--", "sh", "-c", `echo "token: $FLIP7_TOKEN, buffered: $PYTHONUNBUFFERED" >&2`}, program{err: &problems})
	if want := "bot: token: , buffered: 1\n"; code != exitNo || !strings.Contains(problems.String(), want) {
		t.Errorf("got exit code %d and %q, want %d and %q", code, problems.String(), exitNo, want)
	}
}

func TestTheBridgeAddsLinesToAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lines")
	if err := os.WriteFile(file, []byte("of yesterday\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t.Context(), []string{"bridge", "--token", "t", "--lines", file, "--", "echo", "hit"}, program{err: io.Discard})
	if got, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(got), "of yesterday\n") || !strings.Contains(string(got), "hit") {
		t.Errorf("the file holds %q, %v; want the line of today added", got, err)
	}
}
