// Command flip7 is the arena: it serves games to bots, runs league nights, rates them, and holds the tools of those who
// write bots. Each verb has a file; what they do is in the packages they call.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	JSON bool `help:"Print JSON for programs instead of text for people." name:"json"`

	Serve      serveCmd      `cmd:"" help:"Serve an arena."`
	Demo       demoCmd       `cmd:"" help:"See it all at once: a server, eight bots over gRPC, a tournament, the Elo table."`
	Scenario   scenarioCmd   `cmd:"" help:"Play games with nothing left to chance and compare what came of them."`
	Pair       pairCmd       `cmd:"" help:"Pair bots for the next round from a file of scores and past meetings."`
	Elo        eloCmd        `cmd:"" help:"Rate bots: the Elo table of a league, or of a file of results."`
	Bot        botCmd        `cmd:"" help:"Register bots, look after their tokens, read their logs."`
	Owner      ownerCmd      `cmd:"" help:"Those who answer for bots: register, invite, look after their tokens."`
	Tournament tournamentCmd `cmd:"" aliases:"night" help:"League nights: create, run, show, export."`
	League     leagueCmd     `cmd:"" help:"The tournaments that feed one Elo table."`
	Replay     replayCmd     `cmd:"" help:"Print what happened in a game, card by card."`
	Match      matchCmd      `cmd:"" help:"Play many games between programs and house bots, without a tournament."`
	NewBot     newBotCmd     `cmd:"" help:"Write a bot to start from, with its kit, into a folder of its own."`
	Bridge     bridgeCmd     `cmd:"" help:"Let a program play that speaks JSON on its standard input and output."`
	Check      checkCmd      `cmd:"" help:"Play the arena from scripts and say what a bot does wrong."`
	Verify     verifyCmd     `cmd:"" help:"Compute exported results again: cards, points, pairings, standings."`
	Backup     backupCmd     `cmd:"" help:"Write a data folder to a file, while its server runs or not."`
	Restore    restoreCmd    `cmd:"" help:"Make a data folder of a backup."`
	Version    versionCmd    `cmd:"" help:"Print the version."`
}

// Exit codes: 0 done, 1 the check said no, 2 wrong use.
const (
	exitNo    = 1
	exitUsage = 2
)

// exit is an error that has been told already and only ends the program with a code.
type exit int

func (e exit) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// program is what every verb needs to know: where to read and write, and for whom.
type program struct {
	in       io.Reader
	out, err io.Writer
	json     bool
}

// file is what the output goes to if that is a file, such as a terminal.
func (p *program) file() (*os.File, bool) {
	out := p.out
	if o, is := out.(*outlet); is {
		out = o.to
	}
	file, is := out.(*os.File)
	return file, is
}

// outlet is the output of a verb. It remembers that something could not be written, as on a full disk: who prints goes on.
type outlet struct {
	to io.Writer

	mu   sync.Mutex
	lost error
}

// Write implements io.Writer.
func (o *outlet) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, err := o.to.Write(text)
	o.lost = cmp.Or(o.lost, err)
	return n, err
}

// all is how a verb has ended: not well if some of what it said was lost, of which nobody else was told.
func (o *outlet) all(err error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, told := errors.AsType[exit](err); o.lost != nil && (told || err == nil) {
		return o.lost
	}
	return err
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], program{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	os.Exit(code)
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, args []string, p program) int {
	var c cli
	code := -1
	out := &outlet{to: p.out}
	p.out = out
	parser, err := kong.New(&c,
		kong.Name("flip7"),
		kong.Description("Flip 7 Arena: bots play the card game Flip 7 against each other."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Writers(p.out, p.err),
		kong.Exit(func(c int) { code = c }),
		kong.Configuration(readConfig),
		kong.Bind(&p),
		kong.BindTo(ctx, (*context.Context)(nil)),
	)
	if err != nil {
		fmt.Fprintln(p.err, "flip7:", err)
		return exitUsage
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if code >= 0 { // --help
		return code
	}
	if err == nil {
		p.json = c.JSON
		err = out.all(parsed.Run())
	}
	if err == nil {
		return 0
	}
	if code, told := errors.AsType[exit](err); told {
		return int(code)
	}
	fmt.Fprintln(p.err, "flip7:", strings.Replace(err.Error(), `"EOL" (<EOL>)`, "nothing", 1))
	return exitUsage
}
