package conformance

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"unicode"
)

const (
	outputBytes = 8 << 10 // of what a bot wrote last that are kept
	outputLines = 12      // of these that are shown
)

// tail keeps the end of what is written to it.
type tail struct {
	json chan struct{} // closed when a line comes by which a bot that speaks lines of JSON begins

	mu      sync.Mutex
	text    []byte
	partial []byte // of the line that is being written, as far as it is looked at
	speaks  bool   // json is closed
	strays  strays
}

// strays are lines that the bridge did not take for decisions: it goes on without them, and says so each time.
type strays struct {
	n     int
	first string // what the bridge said of it
}

// notTaken is what the bridge says of such a line.
const notTaken = "a line on the command's standard output is not taken"

// mostOfLine is how much of a line is looked at.
const mostOfLine = 1 << 10

func newTail() *tail { return &tail{json: make(chan struct{})} }

// Write never fails: a bot that says much is not stopped by it.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-outputBytes):]...)
	t.text = t.text[max(0, len(t.text)-outputBytes):]
	for rest := b; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		t.partial = append(t.partial, line[:min(len(line), mostOfLine-len(t.partial))]...)
		if rest = after; ended {
			t.line(t.partial)
			t.partial = t.partial[:0]
		}
	}
	return len(b), nil
}

// line looks at what was written.
func (t *tail) line(line []byte) {
	if bytes.Contains(line, []byte(notTaken)) {
		if t.strays.n++; t.strays.n == 1 {
			t.strays.first = string(line[bytes.Index(line, []byte(notTaken)):])
		}
	}
	var first map[string]any
	if !t.speaks && json.Unmarshal(line, &first) == nil && len(first) == 1 && first["ready"] == true {
		t.speaks = true
		close(t.json)
	}
}

// stray are the lines that the bridge did not take.
func (t *tail) stray() strays {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.strays
}

// lines are the last lines, without what would do something to a terminal.
func (t *tail) lines() []string {
	t.mu.Lock()
	text := strings.TrimRight(string(t.text), "\r\n")
	t.mu.Unlock()
	if text == "" {
		return nil
	}
	shown := strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		if r == '\t' {
			return ' '
		}
		return -1
	}, text)
	lines := strings.Split(shown, "\n")
	return lines[max(0, len(lines)-outputLines):]
}
