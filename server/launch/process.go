package launch

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// Process is one run of a program, the first of a process group of its own.
type Process struct {
	// Stdin is the program's standard input. End closes it.
	Stdin io.WriteCloser

	first *os.Process // after which its group is named
	gone  chan struct{}
	err   error // what it ended in; set before gone is closed
}

// Begin starts a command, which must have no standard input yet, with a process group of its own. On Linux the program
// is killed when we die, however that happens.
func Begin(cmd *exec.Cmd) (*Process, error) {
	ownGroup(cmd)
	// Output ends when all who have it end; a grandchild that left the group is not waited for.
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p := &Process{Stdin: stdin, gone: make(chan struct{})}
	begun := make(chan error)
	go func() {
		// Linux takes the end of the thread that started a program for the end of us, so that thread has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		p.first = cmd.Process
		begun <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.gone)
		}
	}()
	if err := <-begun; err != nil {
		return nil, err
	}
	return p, nil
}

// Gone is closed when the program has ended and its output is at an end.
func (p *Process) Gone() <-chan struct{} { return p.gone }

// Err is what the program ended in, nil for exit status 0. It may be asked when Gone is closed.
func (p *Process) Err() error { return p.err }

// Wait returns what the program ended in, by itself or, when ctx is over, by End. Then nothing of its group is left
// either.
func (p *Process) Wait(ctx context.Context, patience Patience) error {
	select {
	case <-p.gone:
	case <-ctx.Done():
	}
	p.End(patience)
	return p.err
}

// End ends the program with all it has started, and returns when it is gone: its standard input is closed, then its group
// gets SIGTERM, then SIGKILL.
func (p *Process) End(patience Patience) {
	defer killGroup(p.first) // what the program started, and left behind
	patience = patience.complete()
	p.Stdin.Close() // many programs end on that
	if p.within(patience.Stdin) {
		return
	}
	terminateGroup(p.first)
	if p.within(patience.Terminate) {
		return
	}
	killGroup(p.first)
	<-p.gone
}

// within waits for the end of the program, but not for ever.
func (p *Process) within(d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-p.gone:
		return true
	case <-timer.C:
		return false
	}
}
