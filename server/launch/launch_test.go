//go:build unix

package launch

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// long is how long a test waits for what should come at once.
const long = 20 * time.Second

// stage is where a program under test can be heard: a named pipe that it, and what it starts, has open as file 3. The
// pipe ends when the last of them is gone.
type stage struct {
	t    *testing.T
	path string
	from *os.File
	*bufio.Reader
}

func newStage(t *testing.T) *stage {
	path := filepath.Join(t.TempDir(), "heard")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return &stage{t: t, path: path}
}

// script is a command line for a shell script that has the pipe open.
func (s *stage) script(lines string) string {
	file := s.path + ".sh"
	if err := os.WriteFile(file, []byte("exec 3>"+s.path+"\n"+lines), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return "/bin/sh '" + file + "'"
}

// open waits until a program has opened the pipe.
func (s *stage) open(flag int) {
	from, err := os.OpenFile(s.path, flag, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { from.Close() })
	s.from, s.Reader = from, bufio.NewReader(from)
}

// line is the next line that a program says.
func (s *stage) line() string {
	s.t.Helper()
	s.from.SetReadDeadline(time.Now().Add(long))
	line, err := s.ReadString('\n')
	if err != nil {
		s.t.Fatalf("heard %q, then %v", line, err)
	}
	return strings.TrimSpace(line)
}

// rest is what is said until the last of the programs is gone.
func (s *stage) rest() string {
	s.t.Helper()
	s.from.SetReadDeadline(time.Now().Add(long))
	rest, err := io.ReadAll(s.Reader)
	if err != nil {
		s.t.Fatalf("heard %q, then %v: a process is still there", rest, err)
	}
	return strings.TrimSpace(string(rest))
}

func TestHowProgramsEnd(t *testing.T) {
	for _, test := range []struct {
		name     string
		patience Patience
		script   string
		says     string // after it was told to end
	}{
		{"one that reads ends when its standard input does", Patience{Stdin: long, Terminate: long},
			"echo ready >&3; read line; echo eof >&3", "eof"},
		{"one that does not read ends on SIGTERM", Patience{Stdin: time.Millisecond, Terminate: long},
			"trap 'echo term >&3; exit' TERM; echo ready >&3; sleep 1000 & wait", "term"},
		{"one that ignores SIGTERM is killed", Patience{Stdin: time.Millisecond, Terminate: time.Millisecond},
			"trap '' TERM; echo ready >&3; sleep 1000; echo survived >&3", ""},
		{"what it started ends with it", Patience{Stdin: long, Terminate: long},
			"trap '' TERM; (sleep 1000; echo survived >&3) & (sleep 1000) & echo ready >&3; read line", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			l := New(slog.New(slog.DiscardHandler), test.patience)
			defer l.Close()
			stage := newStage(t)
			if err := l.Start("bot", stage.script(test.script), nil); err != nil {
				t.Fatal(err)
			}
			stage.open(os.O_RDONLY)
			if got := stage.line(); got != "ready" {
				t.Fatalf("the program says %q, want ready", got)
			}
			l.Stop("bot")
			if l.Running("bot") {
				t.Error("the program is wanted after Stop")
			}
			if got := stage.rest(); got != test.says {
				t.Errorf("told to end, the program says %q, want %q", got, test.says)
			}
		})
	}
}

// told is a log that hands over what it is told.
type told struct {
	slog.Handler
	records chan slog.Record
}

func (told) Enabled(context.Context, slog.Level) bool { return true }

func (l told) Handle(_ context.Context, r slog.Record) error {
	select {
	case l.records <- r:
	default:
	}
	return nil
}

func TestProgramsThatEndAreStartedAgain(t *testing.T) {
	log := told{slog.DiscardHandler, make(chan slog.Record, 2)}
	l := New(slog.New(log), Patience{Again: time.Millisecond})
	defer l.Close()
	stage := newStage(t)
	if err := l.Start("bot", stage.script("echo why it ended; echo and more >&2; echo run >&3; exit 3"), nil); err != nil {
		t.Fatal(err)
	}
	stage.open(os.O_RDWR) // so that the pipe is there between two runs
	for range 3 {
		if got := stage.line(); got != "run" {
			t.Fatalf("the program says %q, want run", got)
		}
	}
	for run := range 2 {
		attrs := map[string]string{}
		record := <-log.records
		record.Attrs(func(a slog.Attr) bool { attrs[a.Key] = a.Value.String(); return true })
		if attrs["ended"] != "exit status 3" || attrs["output"] != "why it ended\nand more" {
			t.Errorf("the log says that run %d ended with %q and wrote %q; want exit status 3 and the two lines of that run", run, attrs["ended"], attrs["output"])
		}
	}
	if got := l.Output("bot"); len(got) < 4 || got[0] != "why it ended" {
		t.Errorf("the output is %q, want what the runs wrote", got)
	}
}

func TestWhatAProgramLeavesBehindEnds(t *testing.T) {
	l := New(slog.New(slog.DiscardHandler), Patience{Again: long})
	defer l.Close()
	stage := newStage(t)
	if err := l.Start("bot", stage.script("trap '' TERM HUP; sleep 1000 >/dev/null 2>&1 & echo left >&3"), nil); err != nil {
		t.Fatal(err)
	}
	stage.open(os.O_RDONLY)
	if got := stage.rest(); got != "left" {
		t.Errorf("the program says %q, want left", got)
	}
}

func TestWhatAProgramFindsInItsEnvironment(t *testing.T) {
	t.Setenv("FLIP7_ADMIN_TOKEN", "secret of the organiser")
	t.Setenv("ORDINARY", "kept")
	l := New(slog.New(slog.DiscardHandler), Patience{})
	defer l.Close()
	stage := newStage(t)
	command := stage.script(`echo "$FLIP7_ADDR|$FLIP7_ADMIN_TOKEN|$ORDINARY|$1" >&3; read line`) + ` "two words"`
	if err := l.Start("bot", command, []string{"FLIP7_ADDR=127.0.0.1:1"}); err != nil {
		t.Fatal(err)
	}
	stage.open(os.O_RDONLY)
	if got, want := stage.line(), "127.0.0.1:1||kept|two words"; got != want {
		t.Errorf("address, admin's token, other variable, argument: got %q, want %q", got, want)
	}
}

func TestWhatCannotBeStartedIsSaid(t *testing.T) {
	l := New(slog.New(slog.DiscardHandler), Patience{})
	if err := l.Start("bot", "no-such-program-anywhere --flag", nil); err == nil || !strings.Contains(err.Error(), "no-such-program-anywhere") {
		t.Errorf("a program that is not there: error %v, want one that names it", err)
	}
	if l.Running("bot") {
		t.Error("a program that could not be started is wanted")
	}
	l.Close()
	if err := l.Start("bot", "/bin/true", nil); err != errClosed {
		t.Errorf("after Close: error %v, want %v", err, errClosed)
	}
}

func TestWhatRunsIsLeftAlone(t *testing.T) {
	l := New(slog.New(slog.DiscardHandler), Patience{})
	defer l.Close()
	stage := newStage(t)
	command := stage.script("echo run $$ >&3; read line")
	for range 2 {
		if err := l.Start("bot", command, nil); err != nil {
			t.Fatal(err)
		}
	}
	stage.open(os.O_RDONLY)
	stage.line()
	l.Stop("bot")
	if got := stage.rest(); got != "" {
		t.Errorf("Start twice started a second one, which says %q", got)
	}
	l.Stop("bot") // nothing is there: harmless
}

func TestSplit(t *testing.T) {
	for _, test := range []struct {
		command string
		want    []string
		wrong   string // part of the error
	}{
		{command: `python3 bot.py`, want: []string{"python3", "bot.py"}},
		{command: "  ./bot\t--level  3 ", want: []string{"./bot", "--level", "3"}},
		{command: `"my bot" 'it''s' a\ b ""`, want: []string{"my bot", "its", "a b", ""}},
		{command: `sh -c 'echo $X | cat; exit'`, want: []string{"sh", "-c", "echo $X | cat; exit"}},
		{command: `a "b\"c\\d\$e\f" '\'`, want: []string{"a", `b"c\d$e\f`, `\`}},
		{command: `python3 bot.py | tee log`, wrong: "'|', which only a shell understands"},
		{command: `$HOME/bot`, wrong: "'$', which"},
		{command: "bot \"`date`\"", wrong: "'`', which"},
		{command: `bot "open`, wrong: `a " that is not closed`},
		{command: `bot \`, wrong: "ends with a backslash"},
		{command: " ", wrong: "names no program"},
		{command: `"" x`, wrong: "names no program"},
		{command: "bot \x00", wrong: "zero byte"},
	} {
		got, err := Split(test.command)
		switch {
		case test.wrong == "" && (err != nil || !slices.Equal(got, test.want)):
			t.Errorf("Split(%q) = %q, %v, want %q", test.command, got, err, test.want)
		case test.wrong != "" && (err == nil || !strings.Contains(err.Error(), test.wrong)):
			t.Errorf("Split(%q) = %q, %v, want an error with %q", test.command, got, err, test.wrong)
		}
	}
}

func TestTailKeepsTheLastLines(t *testing.T) {
	var out tail
	for i := range 3 * tailLines {
		io.WriteString(&out, strings.Repeat("x", i)+"\n")
	}
	io.WriteString(&out, "begun \x1b[31mred")
	io.WriteString(&out, strings.Repeat("y", 10_000))
	lines := out.all()
	if len(lines) != tailLines+1 || len(lines[0]) != 2*tailLines {
		t.Fatalf("%d lines, the first of %d bytes; want the last %d, from the one of %d bytes, and the one begun", len(lines), len(lines[0]), tailLines, 2*tailLines)
	}
	last := lines[tailLines]
	if !strings.HasPrefix(last, "begun \uFFFD[31mred") || len(last) > lineBytes+len("\uFFFD") {
		t.Errorf("the line begun is %q of %d bytes, want no escape in it and no more than %d", last[:20], len(last), lineBytes)
	}
}
