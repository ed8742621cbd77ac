package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"github.com/flip7-arena/flip7/clients/bridge"
	flip7 "github.com/flip7-arena/flip7/clients/go"
	"github.com/flip7-arena/flip7/server/launch"
)

type bridgeCmd struct {
	Command []string `arg:"" help:"The program that decides, and its arguments, behind two dashes: flip7 bridge -- python3 bot.py"`

	Address      string        `help:"Where the arena is: HOST:PORT, https://HOST[:PORT] or http://HOST:PORT." aliases:"addr" env:"FLIP7_ADDR" default:"127.0.0.1:7777"`
	Token        string        `help:"The token of the bot." env:"FLIP7_TOKEN"`
	Build        string        `help:"Version of the bot, such as a git revision; ratings belong to a bot and its build."`
	MaxGames     int           `help:"Games side by side." default:"8"`
	Procs        int           `help:"Processes of the command." default:"1"`
	MaxOpen      int           `help:"Requests that one process is given at once; with more than one, its answers need the id." default:"1"`
	Practice     bool          `help:"Play unrated practice games while no tournament needs the bot."`
	ReadyTimeout time.Duration `help:"How long the command has to say that it is ready." default:"10s"`
	Lines        string        `help:"A file to add every line to that passes, both ways." placeholder:"FILE"`
}

// Run plays until it is interrupted.
func (c *bridgeCmd) Run(ctx context.Context, p *program) error {
	for _, flag := range []struct {
		name string
		is   int
	}{{"--max-games", c.MaxGames}, {"--procs", c.Procs}, {"--max-open", c.MaxOpen}} {
		if flag.is < 1 || flag.is > 1000 {
			return fmt.Errorf("%s: %d is not 1..1000", flag.name, flag.is)
		}
	}
	if c.ReadyTimeout <= 0 {
		return fmt.Errorf("--ready-timeout: %v is not positive", c.ReadyTimeout)
	}
	var lines io.Writer
	if c.Lines != "" {
		file, err := os.OpenFile(c.Lines, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
		if err != nil {
			return fmt.Errorf("--lines: %w", err)
		}
		defer file.Close()
		lines = file
	}
	log := slog.New(slog.NewTextHandler(p.err, nil))
	leave := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		log.Info("leaving when the games that run are over; interrupt again to leave at once")
		close(leave)
	})
	defer stop()
	err := bridge.Play(context.WithoutCancel(ctx), bridge.Config{
		Bot: flip7.Bot{
			Addr: c.Address, Token: c.Token, Build: c.Build, MaxGames: c.MaxGames, Practice: c.Practice, Leave: leave, Log: log,
		},
		Command:  c.Command,
		Env:      launch.Environment(nil),
		Begin:    begin,
		Procs:    c.Procs,
		MaxOpen:  c.MaxOpen,
		Stderr:   p.err,
		Lines:    lines,
		Patience: bridge.Patience{Ready: c.ReadyTimeout},
	})
	_, away := errors.AsType[*flip7.EndError](err)
	_, broken := errors.AsType[*bridge.CommandError](err)
	if away || broken {
		fmt.Fprintln(p.err, "flip7:", err)
		return exit(exitNo)
	}
	return err
}

// begin begins a process as programs of the server are begun: in a group of its own, and dead when we are.
func begin(cmd *exec.Cmd) (bridge.Process, error) {
	p, err := launch.Begin(cmd)
	if err != nil {
		return nil, err
	}
	return process{p}, nil
}

type process struct{ *launch.Process }

func (p process) Write(text []byte) (int, error) { return p.Stdin.Write(text) }

func (p process) End() { p.Process.End(launch.Patience{}) }
