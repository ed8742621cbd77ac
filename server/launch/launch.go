// Package launch starts programs and keeps them running for as long as they are wanted. It is for bots that an organiser
// enters as "cmd:python3 bot.py"; it knows processes, and neither what a bot is nor how one talks to the arena.
//
// Each program is a process group of its own, so that what it starts ends with it (not on Windows). To end one, its
// standard input is closed, then its group gets SIGTERM, then SIGKILL. A program that ends by itself is started again,
// later each time if it ends soon. The last lines that it wrote are kept, for whoever has to find out why it does not run.
package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"
)

// Patience is how long a Launcher waits. The zero value of a field stands for its default.
type Patience struct {
	Stdin     time.Duration // after closing standard input, before SIGTERM; default 500 ms
	Terminate time.Duration // after SIGTERM, before SIGKILL; default 2 s
	Again     time.Duration // before the first restart, doubled up to 64 times that; default 200 ms
	Steady    time.Duration // a program that ran for so long starts with Again anew; default 30 s
}

func (p Patience) complete() Patience {
	p.Stdin = cmp.Or(p.Stdin, 500*time.Millisecond)
	p.Terminate = cmp.Or(p.Terminate, 2*time.Second)
	p.Again = cmp.Or(p.Again, 200*time.Millisecond)
	p.Steady = cmp.Or(p.Steady, 30*time.Second)
	return p
}

// Launcher has programs running, by name. Its methods may be called from any goroutine.
type Launcher struct {
	log      *slog.Logger
	patience Patience

	mu       sync.Mutex
	programs map[string]*program
	closed   bool
}

// New is a launcher of which nothing runs. Close ends it.
func New(log *slog.Logger, patience Patience) *Launcher {
	return &Launcher{log: log, patience: patience.complete(), programs: map[string]*program{}}
}

// program is one that is wanted. The goroutine of keep owns its process.
type program struct {
	name    string
	command string
	args    []string
	env     []string
	output  tail
	unwant  context.CancelFunc
	ended   chan struct{} // closed when its last process is gone and no other will be started
}

// errClosed is what Start says after Close.
var errClosed = errors.New("no programs are started any more: the arena stops")

// Start starts a command under a name, with variables "KEY=value" added to the environment, and keeps it running until
// Stop. The error says why it could not be started the first time. What runs under the name already is left alone.
func (l *Launcher) Start(name, command string, env []string) error {
	args, err := Split(command)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return errClosed
	}
	if l.programs[name] != nil {
		return nil
	}
	ctx, unwant := context.WithCancel(context.Background())
	p := &program{name: name, command: command, args: args, env: environment(os.Environ(), env), unwant: unwant, ended: make(chan struct{})}
	process, err := p.start()
	if err != nil {
		unwant()
		return err
	}
	l.programs[name] = p
	go l.keep(ctx, p, process)
	return nil
}

// Check says why a command could not be started, as far as that can be known without starting it.
func Check(command string) error {
	args, err := Split(command)
	if err != nil {
		return err
	}
	if _, err := exec.LookPath(args[0]); err != nil {
		return fmt.Errorf("start %s: %w", args[0], err)
	}
	return nil
}

// environment is what a program finds: ours without what is meant for us, which may be the token of an organiser, and
// what is added. Python would keep in a buffer what it prints, so that nobody sees why it fails.
func environment(own, added []string) []string {
	env := slices.DeleteFunc(slices.Clone(own), func(variable string) bool { return strings.HasPrefix(variable, "FLIP7_") })
	return append(append(env, "PYTHONUNBUFFERED=1"), added...)
}

// Running reports whether a program is wanted under a name.
func (l *Launcher) Running(name string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.programs[name] != nil
}

// Output is the last lines that the program of a name wrote, oldest first, each of at most 400 bytes.
func (l *Launcher) Output(name string) []string {
	l.mu.Lock()
	p := l.programs[name]
	l.mu.Unlock()
	if p == nil {
		return nil
	}
	return p.output.all()
}

// Stop ends the program of a name with all it has started, and returns when it is gone. There need not be one.
func (l *Launcher) Stop(name string) {
	l.mu.Lock()
	p := l.programs[name]
	delete(l.programs, name)
	l.mu.Unlock()
	if p != nil {
		p.unwant()
		<-p.ended
	}
}

// Close ends all programs and returns when they are gone; none is started after that.
func (l *Launcher) Close() {
	l.mu.Lock()
	l.closed = true
	programs := make([]*program, 0, len(l.programs))
	for _, p := range l.programs {
		p.unwant()
		programs = append(programs, p)
	}
	clear(l.programs)
	l.mu.Unlock()
	for _, p := range programs {
		<-p.ended
	}
}

// keep starts a program again whenever it ends, until it is not wanted any more.
func (l *Launcher) keep(ctx context.Context, p *program, run *process) {
	defer close(p.ended)
	for pause := l.patience.Again; ; pause = min(2*pause, 64*l.patience.Again) {
		if run != nil {
			began := time.Now()
			err := run.wait(ctx, l.patience)
			if ctx.Err() != nil {
				return
			}
			ran := time.Since(began)
			if ran >= l.patience.Steady {
				pause = l.patience.Again
			}
			l.log.Warn("program ended", "name", p.name, "command", p.command, "ended", ended(err), "ran", ran.Round(time.Millisecond),
				"again_in", pause, "output", strings.Join(p.output.since(run.mark), "\n"))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		var err error
		if run, err = p.start(); err != nil {
			l.log.Warn("program cannot be started", "name", p.name, "error", err)
		}
	}
}

func ended(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// process is one run of a program.
type process struct {
	first *os.Process // after which its group is named
	stdin io.Closer
	mark  int        // of the output, where it began
	gone  chan error // takes what Wait said, once
}

// start begins a run of the program.
func (p *program) start() (*process, error) {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env = p.env
	cmd.Stdout = &p.output
	cmd.Stderr = &p.output
	ownGroup(cmd)
	// Output ends when all who have it end; a grandchild that left the group is not waited for.
	cmd.WaitDelay = time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("command %q: %w", p.command, err)
	}
	mark := p.output.mark()
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("command %q: %w", p.command, err)
	}
	run := &process{first: cmd.Process, stdin: stdin, mark: mark, gone: make(chan error, 1)}
	go func() { run.gone <- cmd.Wait() }()
	return run, nil
}

// wait returns when a run has ended, by itself or because ctx did, with what it ended in. Then nothing of its group is
// left either.
func (r *process) wait(ctx context.Context, patience Patience) error {
	defer killGroup(r.first) // what the program started, and left behind
	select {
	case err := <-r.gone:
		return err
	case <-ctx.Done():
	}
	r.stdin.Close() // many programs end on that
	if err, gone := r.within(patience.Stdin); gone {
		return err
	}
	terminateGroup(r.first)
	if err, gone := r.within(patience.Terminate); gone {
		return err
	}
	killGroup(r.first)
	return <-r.gone
}

// within waits for the end of a run, but not for ever.
func (r *process) within(d time.Duration) (err error, gone bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case err := <-r.gone:
		return err, true
	case <-timer.C:
		return nil, false
	}
}
