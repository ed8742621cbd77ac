package bridge

import (
	"bytes"
	"fmt"
	"io"
	"sync"
)

// lines takes apart what a process writes. It is the io.Writer of one pipe.
type lines struct {
	most    int          // bytes of a line
	each    func([]byte) // is given each line without its end, and may not keep it
	tooLong func()       // is told once of a line that is longer, which is then left out

	mu      sync.Mutex
	begun   []byte // of the line that is being written
	skipped bool   // the line that is being written is too long
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	written := len(p)
	for {
		line, rest, ended := bytes.Cut(p, []byte("\n"))
		if !l.skipped && len(l.begun)+len(line) > l.most {
			l.skipped, l.begun = true, nil
			l.tooLong()
		}
		switch {
		case l.skipped:
			l.skipped = !ended
		case ended:
			l.each(append(l.begun, line...))
			l.begun = l.begun[:0]
		default:
			l.begun = append(l.begun, line...)
		}
		if !ended {
			return written, nil
		}
		p = rest
	}
}

// unended is what was written of a line that has no end yet.
func (l *lines) unended() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return string(l.begun)
}

// shared is a writer that several processes write lines to. nil: nobody wants them.
type shared struct {
	mu sync.Mutex
	to io.Writer
}

func sharedOf(to io.Writer) *shared {
	if to == nil {
		return nil
	}
	return &shared{to: to}
}

// line writes a line behind a prefix. If that fails nothing is lost but what somebody might have looked at.
func (s *shared) line(prefix string, line []byte) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	fmt.Fprintf(s.to, "%s%s\n", prefix, bytes.TrimSuffix(line, []byte("\n")))
}
