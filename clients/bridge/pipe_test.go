package bridge

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestLinesHoweverTheyArrive(t *testing.T) {
	const text = "one\n\ntwo three\r\ntwelve chars\nmore than twelve chars\nx\nunended"
	want := []string{"one", "", "two three\r", "twelve chars", "too long", "x"}
	for size := 1; size <= len(text); size++ {
		var got []string
		l := &lines{most: 12, each: func(line []byte) { got = append(got, string(line)) }, tooLong: func() { got = append(got, "too long") }}
		for part := range slices.Chunk([]byte(text), size) {
			if n, err := l.Write(part); n != len(part) || err != nil {
				t.Fatalf("Write says %d, %v, want %d", n, err, len(part))
			}
		}
		if !slices.Equal(got, want) || l.unended() != "unended" {
			t.Errorf("in pieces of %d bytes: got %q and %q begun, want %q and \"unended\"", size, got, l.unended(), want)
		}
	}
}

func TestWhyNothingIsHeard(t *testing.T) {
	r := &run{stdout: &lines{most: 100}}
	if got := r.silence(); got != flushHint {
		t.Errorf("of a process that wrote nothing: got %q, want %q", got, flushHint)
	}
	fmt.Fprint(r.stdout, `{"decision":"hit"}`)
	if got, want := r.silence(), `what it wrote, "{\"decision\":\"hit\"}", has no newline at its end`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestACommandThatAnswersWhatItDoesNotRead(t *testing.T) {
	r := &run{out: make(chan []byte), failed: make(chan error, 1)}
	r.ask([]byte("a request\n"))
	select {
	case err := <-r.failed:
		if want := "the command does not read its standard input"; err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	default:
		t.Error("there is no room for a request, and nothing is said")
	}
}

// reader is a process that takes its time to read, and ends when it is told to.
type reader struct {
	takes time.Duration
	read  string
	gone  chan struct{}
}

func (p *reader) Write(text []byte) (int, error) {
	select {
	case <-time.After(p.takes):
		p.read += string(text)
		return len(text), nil
	case <-p.gone:
		return 0, io.ErrClosedPipe
	}
}

func (p *reader) Gone() <-chan struct{} { return p.gone }
func (p *reader) Err() error            { return nil }
func (p *reader) End()                  { close(p.gone) }

func TestAProcessIsToldAllBeforeItsEnd(t *testing.T) {
	for _, test := range []struct {
		name  string
		takes time.Duration
		want  string
	}{
		{"if it reads", lastWords - 1, "news\n"},
		{"but is not waited for for ever", time.Hour, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &reader{takes: test.takes, gone: make(chan struct{})}
				r := &run{child: &child{}, process: p, stderr: &lines{}, out: make(chan []byte, 1), written: make(chan struct{})}
				r.out <- []byte("news\n")
				go r.write()
				r.end()
				if p.read != test.want {
					t.Errorf("it has read %q, want %q", p.read, test.want)
				}
			})
		})
	}
}

func TestWhatIsShownOfStandardErrorIsBounded(t *testing.T) {
	var shown bytes.Buffer
	c := &child{name: "bot", shown: sharedOf(&shown)}
	out := (&run{child: c}).show()
	fmt.Fprintf(out, "%s\n", strings.Repeat("x", longestShown+1))
	line := strings.Repeat("y", longestShown-1) + "\n"
	for range 2 * mostShown / len(line) {
		fmt.Fprint(out, line)
	}
	first, rest, _ := strings.Cut(shown.String(), "\n")
	if want := "bot: (a line of more than 8192 bytes is not shown)"; first != want {
		t.Errorf("of a long line: got %.80q, want %q", first, want)
	}
	if n, want := strings.Count(rest, "y\n"), mostShown/len(line); n != want {
		t.Errorf("%d lines are shown, want %d", n, want)
	}
	if want := "bot: (more than 10485760 bytes on standard error: the rest is not shown)\n"; !strings.HasSuffix(rest, "\n"+want) {
		t.Errorf("at the end: got %q, want %q", rest[len(rest)-len(want):], want)
	}
}
