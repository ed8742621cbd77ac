// Package bridge lets a bot that speaks no gRPC play: it starts the author's command, writes a line of JSON to its standard
// input for each request, and takes a line with the decision from its standard output. README.md is what an author has to
// know, schema.json the lines.
//
// It stands on the Go kit, which holds the conversation with the arena. What is added here is all that goes wrong between
// two pipes: a command that does not flush, prints what is no JSON, writes lines without end, hangs or dies. It starts a
// command again that does, and asks it again. How processes are begun and ended it is told by whoever uses it.
package bridge

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"sync"
	"time"

	flip7 "github.com/flip7-arena/flip7/clients/go"
)

// protocol is the version of the lines. New keys and new types of line do not change it.
const protocol = 1

// Config is a command and how it is to play. Bot, Command and Begin must be set.
type Config struct {
	// Bot is what the kit is told, such as where the arena is. The bridge sets its functions, MaxOpen and Kit.
	Bot flip7.Bot
	// Command is the program and its arguments.
	Command []string
	// Env is the environment of the command. The bot's token has no business in it.
	Env []string
	// Begin begins a process.
	Begin func(*exec.Cmd) (Process, error)
	// Procs is how many processes of the command there are. 0: 1.
	Procs int
	// MaxOpen is how many requests one process is given at once. 0: 1.
	MaxOpen int
	// Stderr is where the command's standard error is shown, each line behind its name.
	Stderr io.Writer
	// Lines, if set, is where every line is written to, both ways.
	Lines io.Writer

	Patience Patience
}

// Process is one run of the command. Write writes to its standard input, End ends it with all that is still in its
// process group, and returns when it is gone. Err, what it ended in, may be asked when Gone is closed.
type Process interface {
	io.Writer
	Gone() <-chan struct{}
	Err() error
	End()
}

// Patience is how long the bridge waits. The zero value of a field stands for its default.
type Patience struct {
	Ready time.Duration // for a process that was started to say that it is ready; default 10 s
	Hung  time.Duration // for an answer whose time is up, before the process is started again; default 10 s
	Again time.Duration // before the first restart, doubled up to 64 times that; default 200 ms
}

func (p Patience) complete() Patience {
	p.Ready = cmp.Or(p.Ready, 10*time.Second)
	p.Hung = cmp.Or(p.Hung, 10*time.Second)
	p.Again = cmp.Or(p.Again, 200*time.Millisecond)
	return p
}

// CommandError says that the command cannot play, and what to do about it.
type CommandError struct{ Message string }

func (e *CommandError) Error() string { return e.Message }

func commandError(format string, args ...any) error {
	return &CommandError{fmt.Sprintf(format, args...)}
}

// Play starts the command and, when all its processes are ready, plays as flip7.Play does, with the same errors. It returns
// a *CommandError when the command cannot play. When it has returned, no process is left.
func Play(ctx context.Context, config Config) error {
	if len(config.Command) == 0 || config.Begin == nil {
		return errors.New("Config.Command and Config.Begin have to be set")
	}
	if config.Procs < 0 || config.MaxOpen < 0 {
		return fmt.Errorf("%d processes with %d open requests each, want 0 (the default) or more", config.Procs, config.MaxOpen)
	}
	config.Procs = cmp.Or(config.Procs, 1)
	config.MaxOpen = cmp.Or(config.MaxOpen, 1)
	config.Bot.Log = cmp.Or(config.Bot.Log, slog.Default())
	config.Patience = config.Patience.complete()

	b := &bridge{config: config, free: make(chan *child, config.Procs*config.MaxOpen)}
	bot := b.bot()
	if err := bot.Check(); err != nil { // before a process is started in vain
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var own sync.WaitGroup
	defer own.Wait()
	defer cancel(nil)
	ready := make(chan struct{}, config.Procs)
	shown, lines := sharedOf(config.Stderr), sharedOf(config.Lines)
	for number := range config.Procs {
		c := &child{config: &b.config, log: config.Bot.Log, number: number + 1, name: "bot", shown: shown, lines: lines}
		if config.Procs > 1 {
			c.name = fmt.Sprintf("bot %d", c.number)
			c.log = c.log.With("process", c.number)
		}
		b.children = append(b.children, c)
		for range config.MaxOpen {
			b.free <- c
		}
		own.Go(func() {
			if err := c.keep(ctx, ready); err != nil {
				cancel(err)
			}
		})
	}
	for range config.Procs { // start-up is not charged to the first decision
		select {
		case <-ready:
		case <-config.Bot.Leave:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return flip7.Play(ctx, bot)
}

// bridge is one Play.
type bridge struct {
	config   Config
	children []*child
	free     chan *child // each as often as it can take another request
}

// bot is what plays in the arena.
func (b *bridge) bot() flip7.Bot {
	bot := b.config.Bot
	bot.Kit = "bridge"
	bot.MaxOpen = cap(b.free)
	bot.Decide = func(v *flip7.View) flip7.Decision {
		c := <-b.free
		defer func() { b.free <- c }()
		return c.ask(v)
	}
	bot.GameStarted = func(g flip7.GameStarted) {
		bot.Log.Info(fmt.Sprintf("game %s, at seat %d of %d", g.Game.ID, g.Me, len(g.Game.Bots)), "resumed", g.Resumed)
		b.tell(startedOf(g))
	}
	bot.GameFinished = func(g flip7.GameFinished) {
		bot.Log.Info(g.String())
		b.tell(finishedOf(g))
	}
	bot.Verdict = func(v flip7.Verdict) {
		var position []any
		if v.Code == flip7.VerdictIllegal && v.View != nil { // of what was passed it was logged then
			position = []any{"position", v.View}
		}
		bot.Log.Warn(v.String(), position...)
		b.tell(verdictOf(v))
	}
	return bot
}

// tell tells all processes something that wants no answer.
func (b *bridge) tell(news any) {
	line := lineOf(news)
	for _, c := range b.children {
		c.tell(line)
	}
}

// lineOf writes a message as a line.
func lineOf(message any) []byte {
	line, err := json.Marshal(message)
	if err != nil {
		panic(err) // no message holds what JSON has no word for
	}
	return append(line, '\n')
}
