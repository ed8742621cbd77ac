package bridge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

const (
	// longestLine is how long a line of the command may be. An answer with the longest note has 400 bytes.
	longestLine = 1 << 20
	// longestShown bounds a line on standard error, mostShown all that one process writes there.
	longestShown = 8 << 10
	mostShown    = 10 << 20
	// newsWaiting is how many lines may wait for a command that does not read before it is told no more news.
	newsWaiting = 256
	// lastWords is how long a process that is ended may take to read what waits for it.
	lastWords = 500 * time.Millisecond
	// mostStrange is how many lines in a row may be no answers; so many end the process.
	mostStrange = 3
)

// flushHint is what an author has to know whose bot seems to be silent.
const flushHint = "it takes too long, or does not flush what it writes (Python: print(..., flush=True), C: setvbuf(stdout, NULL, _IOLBF, 0), Perl: $| = 1)"

// run is one process of the command.
type run struct {
	child   *child
	process Process
	stdout  *lines
	stderr  *lines
	out     chan []byte   // lines to be written
	written chan struct{} // closed when nothing will be written any more
	ready   chan struct{} // closed when it has said so
	failed  chan error    // has room for one: why the process is of no use any more

	// Owned by who hears standard output.
	said    bool // that it is ready
	strange int  // lines in a row that were no answers

	// Guarded by child.mu.
	answers int
	hinted  bool
}

// begin begins a process and says hello to it.
func (c *child) begin() (*run, error) {
	r := &run{
		child:   c,
		out:     make(chan []byte, newsWaiting+c.config.MaxOpen+1),
		written: make(chan struct{}),
		ready:   make(chan struct{}),
		failed:  make(chan error, 1),
	}
	r.stdout = &lines{most: longestLine, each: r.heard, tooLong: func() {
		r.fail(fmt.Errorf("the command wrote a line of more than %d bytes to its standard output", longestLine))
	}}
	r.stderr = r.show()
	cmd := exec.Command(c.config.Command[0], c.config.Command[1:]...)
	cmd.Env = c.config.Env
	cmd.Stdout = r.stdout
	cmd.Stderr = r.stderr
	process, err := c.config.Begin(cmd)
	if err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	r.process = process
	r.out <- lineOf(hello{Type: "hello", Protocol: protocol, Process: c.number, Of: c.config.Procs, MaxOpen: c.config.MaxOpen})
	go r.write()
	return r, nil
}

// end ends the process, with its process group, when it was told what there is to tell or does not read that. Nobody
// tells it anything any more.
func (r *run) end() {
	close(r.out)
	select {
	case <-r.written:
	case <-time.After(lastWords):
	}
	r.process.End()
	<-r.written
	if last := r.stderr.unended(); last != "" {
		r.stderr.each([]byte(last))
	}
}

// becomeReady waits until the process says that it is ready.
func (r *run) becomeReady(ctx context.Context, patience time.Duration) error {
	late := false
	select {
	case <-r.ready:
	case err := <-r.failed:
		r.fail(err) // it is looked at below
	case <-r.process.Gone():
	case <-time.After(patience):
		late = true
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	// More than one may have come by now: then what the process said comes before its end.
	select {
	case <-r.ready:
		return nil
	default:
	}
	select {
	case err := <-r.failed:
		return &CommandError{err.Error()}
	default:
	}
	if late {
		return commandError("the command did not write {\"ready\":true} as a line within %v; %s", patience, r.silence())
	}
	return commandError("%v before it wrote {\"ready\":true}", r.ended())
}

// silence is the likely reason why nothing is heard of the process.
func (r *run) silence() string {
	if begun := r.stdout.unended(); begun != "" {
		return fmt.Sprintf("what it wrote, %.80q, has no newline at its end", begun)
	}
	return flushHint
}

// over says why the process, which is gone, is of no use: what it did wrong before it ended says more.
func (r *run) over() error {
	select {
	case err := <-r.failed:
		return err
	default:
		return r.ended()
	}
}

// ended says what the process, which is gone, ended in.
func (r *run) ended() error {
	if err := r.process.Err(); err != nil {
		return fmt.Errorf("the command ended (%w)", err)
	}
	return errors.New("the command ended (exit status 0)")
}

// fail says why the process is of no use any more. The first reason counts.
func (r *run) fail(err error) {
	select {
	case r.failed <- err:
	default:
	}
}

// ask puts a request to the process. Call with child.mu held.
func (r *run) ask(line []byte) {
	select {
	case r.out <- line:
	default: // it answers what it has not read
		r.fail(errors.New("the command does not read its standard input"))
	}
}

// tell tells the process something that wants no answer, unless it is far behind. Call with child.mu held.
func (r *run) tell(line []byte) {
	if len(r.out) < newsWaiting {
		r.out <- line // under the lock nobody else takes the room
	}
}

// write writes what waits, as much at once as there is.
func (r *run) write() {
	defer close(r.written)
	var text []byte
	for {
		select {
		case <-r.process.Gone():
			return
		case line, more := <-r.out:
			if !more {
				return
			}
			text = r.next(text[:0], line)
			for more := len(r.out); more > 0; more-- {
				text = r.next(text, <-r.out)
			}
		}
		if _, err := r.process.Write(text); err != nil {
			return // it closed its standard input, or is about to end
		}
	}
}

func (r *run) next(text, line []byte) []byte {
	r.child.lines.line(r.child.name+"> ", line)
	return append(text, line...)
}

// heard takes a line of standard output.
func (r *run) heard(line []byte) {
	c := r.child
	c.lines.line(c.name+"< ", line)
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	if !object(line) {
		r.useless(line, "it is no JSON object")
		return
	}
	var s said
	err := json.Unmarshal(line, &s)
	if bad, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		err = fmt.Errorf("%s is a %s, want a %s", bad.Field, bad.Value, bad.Type)
	}
	switch {
	case r.said && s.Ready:
	case r.said:
		if not := c.decided(r, s, err); not != nil {
			r.useless(line, not.Error())
			return
		}
		r.strange = 0
	case s.Ready:
		r.said = true
		close(r.ready)
	default:
		r.fail(fmt.Errorf(`the command's first line is %.80q, want {"ready":true}`, line))
	}
}

// useless takes a line that is no answer to anything.
func (r *run) useless(line []byte, why string) {
	r.strange++
	if r.strange == mostStrange {
		r.fail(fmt.Errorf("%d lines in a row on the command's standard output are no use, the last is %.80q: %s; only decisions belong there, all else on standard error",
			mostStrange, line, why))
		return
	}
	r.child.log.Warn("a line on the command's standard output is not taken: "+why+"; only decisions belong there, all else on standard error",
		"line", fmt.Sprintf("%.200s", line))
}

// hint says once, when the time of a request is up, why a process that never answered may seem to be silent.
func (r *run) hint() {
	r.child.mu.Lock()
	silent := r.answers == 0 && !r.hinted
	r.hinted = true
	r.child.mu.Unlock()
	if silent {
		r.child.log.Warn("the time of a request is up, and the command has answered nothing since it is ready; " + r.silence())
	}
}

// show shows what the process writes to standard error, up to a bound.
func (r *run) show() *lines {
	c := r.child
	room := mostShown
	return &lines{
		most: longestShown,
		each: func(line []byte) {
			if room < 0 {
				return
			}
			if room -= len(line) + 1; room < 0 {
				line = fmt.Appendf(nil, "(more than %d bytes on standard error: the rest is not shown)", mostShown)
			}
			c.shown.line(c.name+": ", line)
		},
		tooLong: func() {
			c.shown.line(c.name+": ", fmt.Appendf(nil, "(a line of more than %d bytes is not shown)", longestShown))
		},
	}
}
