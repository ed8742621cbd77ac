package conformance

import (
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
	mu   sync.Mutex
	text []byte
}

// Write never fails: a bot that says much is not stopped by it.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b[max(0, len(b)-outputBytes):]...)
	t.text = t.text[max(0, len(t.text)-outputBytes):]
	return len(b), nil
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
