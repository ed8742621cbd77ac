package launch

import (
	"bytes"
	"slices"
	"sync"
	"unicode/utf8"
)

const (
	tailLines = 50  // of output that are kept
	lineBytes = 400 // of a line; the rest is cut off
)

// tail keeps the last lines of what is written to it.
type tail struct {
	mu      sync.Mutex
	lines   []string
	count   int    // of lines so far, also those that are gone
	partial []byte // of the line that is not ended yet, at most lineBytes
}

// Write never fails, so a program that says much is not stopped by it.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte{'\n'})
		t.partial = append(t.partial, line[:min(len(line), lineBytes-len(t.partial))]...)
		if ended {
			t.add(string(t.partial))
			t.partial = t.partial[:0]
		}
		rest = after
	}
	return len(p), nil
}

func (t *tail) add(line string) {
	if len(t.lines) == tailLines {
		copy(t.lines, t.lines[1:])
		t.lines = t.lines[:tailLines-1]
	}
	t.lines = append(t.lines, printable(line))
	t.count++
}

// mark is where the output stands now, for since.
func (t *tail) mark() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.count
}

// since is the lines that were written after a mark and are still there, oldest first.
func (t *tail) since(mark int) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := slices.Clone(t.lines[max(0, len(t.lines)-(t.count-mark)):])
	if len(t.partial) > 0 {
		lines = append(lines, printable(string(t.partial)))
	}
	return lines
}

// all is the lines that are still there.
func (t *tail) all() []string { return t.since(0) }

// printable is a line that does nothing to a terminal: a program's output is shown to people.
func printable(line string) string {
	out := make([]rune, 0, len(line))
	for _, r := range line {
		switch {
		case r == '\t':
			r = ' '
		case r == '\r':
			continue
		case r < ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == utf8.RuneError:
			r = '\uFFFD'
		}
		out = append(out, r)
	}
	return string(out)
}
