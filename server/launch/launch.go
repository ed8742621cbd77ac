// Package launch starts programs and keeps them running for as long as they are wanted. It is for bots that an organiser
// enters as "cmd:python3 bot.py"; it knows processes, and neither what a bot is nor how one talks to the arena.
//
// Each program is a process group of its own, so that what it starts ends with it. To end one, its standard input is
// closed, then its group gets SIGTERM, then SIGKILL; on Windows its process tree is ended. A program that ends by itself is started again,
// later each time if it ends soon. The last lines that it wrote are kept, for whoever has to find out why it does not run.
package launch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	p := &program{name: name, command: command, args: args, env: Environment(env), unwant: unwant, ended: make(chan struct{})}
	run, mark, err := p.start()
	if err != nil {
		unwant()
		return err
	}
	l.programs[name] = p
	go l.keep(ctx, p, run, mark)
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

// Environment is what a program finds: ours without what is meant for us, which may be the token of an organiser, and
// what is added. Python would keep in a buffer what it prints, so that nobody sees why it fails.
func Environment(added []string) []string {
	env := slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "FLIP7_") })
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
func (l *Launcher) Stop(name string) { <-l.Unwant(name) }

// Unwant is Stop that does not wait: the channel is closed when the program is gone. The name is free at once.
func (l *Launcher) Unwant(name string) (gone <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.programs[name]
	if p == nil {
		none := make(chan struct{})
		close(none)
		return none
	}
	delete(l.programs, name)
	p.unwant()
	return p.ended
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
func (l *Launcher) keep(ctx context.Context, p *program, run *Process, mark int) {
	defer close(p.ended)
	for pause := l.patience.Again; ; pause = min(2*pause, 64*l.patience.Again) {
		if run != nil {
			began := time.Now()
			err := run.Wait(ctx, l.patience)
			if ctx.Err() != nil {
				return
			}
			ran := time.Since(began)
			if ran >= l.patience.Steady {
				pause = l.patience.Again
			}
			l.log.Warn("program ended", "name", p.name, "command", p.command, "ended", ended(err), "ran", ran.Round(time.Millisecond),
				"again_in", pause, "output", strings.Join(p.output.since(mark), "\n"))
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
		var err error
		if run, mark, err = p.start(); err != nil {
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

// start begins a run of the program and says where its output begins.
func (p *program) start() (run *Process, mark int, err error) {
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env = p.env
	cmd.Stdout = &p.output
	cmd.Stderr = &p.output
	mark = p.output.mark()
	if run, err = Begin(cmd); err != nil {
		return nil, 0, fmt.Errorf("command %q: %w", p.command, err)
	}
	return run, mark, nil
}
