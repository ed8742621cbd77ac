package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/clients/conformance"
	"github.com/flip7-arena/flip7/server/launch"
)

type checkCmd struct {
	Command     []string `arg:"" optional:"" name:"command" help:"The bot and its arguments, behind --. It finds the arena in FLIP7_ADDR, FLIP7_TOKEN and FLIP7_CA."`
	Only        []string `help:"Play these scripts alone." placeholder:"SCRIPT"`
	List        bool     `help:"Print the scripts and what each of them proves."`
	Verbose     bool     `help:"Print all steps of the scripts, and all of each failure." short:"v"`
	Concurrency int      `help:"Scripts side by side, each with a bot of its own." default:"4"`
	Known       string   `help:"A file of known failures, a line each: kit, script, reason; left out, those of the kits of this project." type:"existingfile"`
	Kit         string   `help:"The kit, for known failures and --readme; left out, as the bot says."`
	Readme      string   `help:"Write the outcome into the kit's row of the table in this file." type:"existingfile"`
}

// Run checks a bot, or lists what it would be checked for.
func (c *checkCmd) Run(ctx context.Context, p *program) error {
	scripts, err := c.scripts()
	if err != nil {
		return err
	}
	if c.List {
		return listScripts(p, scripts)
	}
	config, err := c.config(p, scripts)
	if err != nil {
		return err
	}
	begun := time.Now()
	report, err := conformance.Check(ctx, config)
	if err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if p.json {
		if err := json.NewEncoder(p.out).Encode(report); err != nil {
			return err
		}
	} else {
		fmt.Fprintf(p.out, "\n%s %.1f s.\n", report, time.Since(begun).Seconds())
		if advice := report.Advice(); advice != "" {
			fmt.Fprintln(p.out, advice)
		}
		if strays := report.Strays(); strays != "" {
			fmt.Fprintln(p.out, strays)
		}
	}
	if err != nil {
		fmt.Fprintln(p.err, "Broken off.")
		return exit(exitNo)
	}
	if c.Readme != "" {
		if err := c.tabulate(report); err != nil {
			return err
		}
	}
	if !report.Conforms() {
		return exit(exitNo)
	}
	return nil
}

// scripts are those to be played.
func (c *checkCmd) scripts() ([]conformance.Script, error) {
	all := conformance.Scripts()
	var names []string
	for _, s := range all {
		names = append(names, s.Name)
	}
	for _, name := range c.Only {
		if !slices.Contains(names, name) {
			return nil, fmt.Errorf("--only: there is no script %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	if c.Only == nil {
		return all, nil
	}
	return slices.DeleteFunc(all, func(s conformance.Script) bool { return !slices.Contains(c.Only, s.Name) }), nil
}

func (c *checkCmd) config(p *program, scripts []conformance.Script) (conformance.Config, error) {
	config := conformance.Config{Begin: c.begin, Scripts: scripts, Concurrency: c.Concurrency, Kit: c.Kit, Known: conformance.KnownFailures()}
	switch {
	case len(c.Command) == 0:
		return config, errors.New(`command: missing: write it behind --, as in "flip7 check -- python3 bot.py"`)
	case c.Concurrency < 1:
		return config, fmt.Errorf("--concurrency: %d is not 1 or more", c.Concurrency)
	case c.Readme != "" && c.Only != nil:
		return config, errors.New("--readme: the table is about all scripts, so not with --only")
	}
	_, err := exec.LookPath(c.Command[0])
	if words, wrong := launch.Split(strings.TrimPrefix(c.Command[0], "cmd:")); err != nil && wrong == nil && len(c.Command) == 1 {
		c.Command = words // as other verbs take a program
		_, err = exec.LookPath(words[0])
	}
	if err != nil {
		return config, fmt.Errorf("command: %w", err)
	}
	if c.Known != "" {
		text, err := os.ReadFile(c.Known)
		if err != nil {
			return config, err
		}
		if config.Known, err = conformance.ReadKnown(string(text)); err != nil {
			return config, fmt.Errorf("--known: %s: %w", c.Known, err)
		}
	}
	if !p.json {
		config.Told = func(r conformance.Result) { _ = r.Write(p.out, c.Verbose) }
	}
	return config, nil
}

// begin starts the bot.
func (c *checkCmd) begin(env []string, output io.Writer) (conformance.Process, error) {
	cmd := exec.Command(c.Command[0], c.Command[1:]...)
	cmd.Env = launch.Environment(env)
	cmd.Stdout, cmd.Stderr = output, output
	process, err := launch.Begin(cmd)
	if err != nil {
		return nil, fmt.Errorf("command: %w", err)
	}
	return checked{process}, nil
}

// checked is a bot that is ended without much ado: its games are none that anybody waits for.
type checked struct{ *launch.Process }

func (c checked) End() {
	c.Process.End(launch.Patience{Stdin: time.Millisecond, Terminate: 100 * time.Millisecond})
}

// tabulate writes the outcome into a table.
func (c *checkCmd) tabulate(report conformance.Report) error {
	text, err := os.ReadFile(c.Readme)
	if err != nil {
		return err
	}
	if c.Kit != "" {
		report.Kit = c.Kit
	}
	table, err := report.Tabulate(string(text))
	if err != nil {
		return fmt.Errorf("--readme: %s: %w", c.Readme, err)
	}
	return rewrite(c.Readme, table)
}

// rewrite gives a file that is there other content: all of it, or none.
func rewrite(file, content string) error {
	file, err := filepath.EvalSymlinks(file) // a link stays one
	if err != nil {
		return err
	}
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	next, err := os.CreateTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return err
	}
	defer os.Remove(next.Name()) // fails once the file has its name
	_, err = next.WriteString(content)
	if err = errors.Join(err, os.Chmod(next.Name(), info.Mode().Perm()), next.Sync(), next.Close()); err != nil {
		return err
	}
	return os.Rename(next.Name(), file)
}

// listScripts prints scripts.
func listScripts(p *program, scripts []conformance.Script) error {
	if p.json {
		return json.NewEncoder(p.out).Encode(scripts)
	}
	for _, s := range scripts {
		rank := "should"
		if s.Must {
			rank = "must"
		}
		fmt.Fprintf(p.out, "%-22s %-6s  %s\n", s.Name, rank, s.Proves)
	}
	return nil
}
