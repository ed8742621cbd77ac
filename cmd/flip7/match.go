package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/match"
	"github.com/flip7-arena/flip7/arena/rating"
	"github.com/flip7-arena/flip7/server/launch"
)

type matchCmd struct {
	Players     []string `arg:"" name:"player" help:"house:STRATEGY or 'cmd:COMMAND', two or more; the match starts a COMMAND with FLIP7_ADDR and FLIP7_TOKEN. A name of your own goes before it: 'new=cmd:./bot'."`
	Games       *int     `help:"Games, rounded up to whole rotations; left out, 20000 between house bots, 400 with programs and 100000 with --sprt."`
	SPRT        *sprt    `name:"sprt" placeholder:"ELO0,ELO1" help:"End as soon as it is decided whether the first player is ELO1 stronger than the second rather than ELO0, as 0,20; at most 5 % wrong either way. Exits with 1 if it does not say ELO1."`
	Seats       int      `help:"Seats at the table; left out, as many as players, and 4 for two. With fewer players than seats they repeat around the table."`
	Seed        *uint64  `help:"Makes the match reproducible; left out, a random one, which is printed."`
	Concurrency int      `help:"Rotations side by side; 0 for one for each processor, or as many as the programs take games for."`
	NoTimeout   bool     `help:"Programs have no limit for a decision, for debuggers. Else as on a league night: 1 s, then 10 s for the rest of the game."`
	Verbose     bool     `help:"Show what the programs write; left out, only the last of it when something goes wrong."`
}

const (
	localGames   = 20000 // of a match between house bots, if nothing else is said
	programGames = 400   // with programs
	sprtGames    = 100_000

	// The limits of a league night, if nothing else is said there.
	decisionTimeout = time.Second
	timeBank        = 10 * time.Second
	// aDay is no limit: kits count the time for a decision down, and some timers cannot count much further.
	aDay = 24 * time.Hour

	// mostRotations are as many as bots of a great capacity play side by side: those that are under way when a match is
	// broken off do not count.
	mostRotations = 16

	longestGiven = 32 // characters of a name that a player is given
)

// contestant is a player of a match: a program that the match starts, or a strategy of the house.
type contestant struct {
	name     string
	command  string // empty: a strategy
	strategy house.Strategy
}

// Run plays the match. Broken off, it prints the table so far.
func (c *matchCmd) Run(ctx context.Context, p *program) error {
	players, err := contestants(c.Players)
	if err != nil {
		return err
	}
	m, err := c.match(players)
	if err != nil {
		return err
	}
	if !p.json && c.Games != nil && m.Games != *c.Games {
		fmt.Fprintf(p.err, "%d games, rounded up to whole rotations of %d.\n", m.Games, m.Seats)
	}
	b := &board{out: p.err, redrawn: onTerminal(p) && !c.Verbose, silent: p.json, last: time.Now()}
	var ps *programs
	if slices.ContainsFunc(players, contestant.started) {
		if ctx, ps, err = openPrograms(ctx, c.NoTimeout); err != nil {
			return err
		}
		defer ps.close()
		err = c.seat(ctx, ps, players, &m, b)
		if err != nil && !errors.Is(err, context.Canceled) { // an interrupted match has a table of no games
			return broken(p, err)
		}
	} else if c.NoTimeout || c.Verbose {
		return errors.New("--no-timeout, --verbose: are for programs (cmd:COMMAND), and no player is one")
	}
	m.Progress = b.progress
	begun := time.Now()
	accompanied, leave := context.WithCancel(ctx)
	var beside sync.WaitGroup
	if ps != nil {
		beside.Go(func() { b.accompany(accompanied, ps, m.Seats) })
	}
	result, err := match.Run(ctx, m)
	leave()
	beside.Wait()
	b.clear()
	if result == nil {
		return err
	}
	if p.json {
		shown := struct {
			Seed uint64 `json:"seed"`
			*match.Result
		}{m.Seed, result}
		return cmp.Or(json.NewEncoder(p.out).Encode(shown), broken(p, err), sprtExit(result))
	}
	if result.Games == 0 {
		fmt.Fprintln(p.out, "Broken off before a rotation was finished: there is nothing to show.")
		if ps != nil {
			fmt.Fprintf(p.out, "By then: %v.\n", &ps.played)
			printWarnings(p.out, ps)
		}
		return cmp.Or(broken(p, err), sprtExit(result))
	}
	decided := result.SPRT != nil && result.SPRT.Taken != ""
	if result.Games < result.Of && !decided {
		fmt.Fprintf(p.out, "Broken off after %d of %d games.\n", result.Games, result.Of)
	}
	fmt.Fprintf(p.out, "%d games in %.1f s, tables of %d, seed %d\n\n", result.Games, time.Since(begun).Seconds(), result.Seats, m.Seed)
	printMatch(p.out, result)
	if result.SPRT != nil {
		fmt.Fprintf(p.out, "\n%s", sprtText(result))
	}
	if ps != nil {
		printWrongs(p.out, result, ps)
		printWarnings(p.out, ps)
	}
	return cmp.Or(broken(p, err), sprtExit(result))
}

// broken is the end of a match that an error has ended. An interrupt is none.
func broken(p *program, err error) error {
	switch {
	case errors.Is(err, context.Canceled):
		return nil
	case isLost(err):
		fmt.Fprintln(p.err, "flip7:", err)
		return exit(exitNo)
	}
	return err
}

// contestants reads who plays. Who is given no name has that of its strategy or command.
func contestants(players []string) ([]contestant, error) {
	if len(players) < 2 {
		return nil, fmt.Errorf("player: %d of them, want 2 or more", len(players))
	}
	var all []contestant
	for _, player := range players {
		given, unnamed, named := strings.Cut(player, "=")
		if named = named && !strings.Contains(given, ":"); !named { // the "=" is the command's
			unnamed = player
		}
		kind, what, _ := strings.Cut(unnamed, ":")
		next := contestant{name: what}
		var err error
		switch kind {
		case "house":
			next.strategy, err = house.New(what)
		case "cmd":
			next.command = what
			next.name = unique(what, all)
			err = launch.Check(what)
		case "bot":
			err = fmt.Errorf("%q plays in the tournaments of an arena; a match starts its programs itself, as 'cmd:python3 bot.py'", unnamed)
		default:
			err = fmt.Errorf("%q is neither house:STRATEGY nor 'cmd:COMMAND'; the house bots are %s", unnamed, strings.Join(house.Names(), ", "))
		}
		if err != nil {
			return nil, fmt.Errorf("player: %w", err)
		}
		if named {
			next.name = given
			if err := arena.CheckName("player name", given, longestGiven); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(all, next.same) {
			return nil, fmt.Errorf("player: two are called %q; a name before one tells them apart, as in a=%s", next.name, unnamed)
		}
		all = append(all, next)
	}
	return all, nil
}

// unique is a name for a command that nobody has yet: a program may play itself.
func unique(command string, all []contestant) string {
	name := command
	for n := 2; slices.ContainsFunc(all, contestant{name: name}.same); n++ {
		name = fmt.Sprintf("%s #%d", command, n)
	}
	return name
}

func (c contestant) same(other contestant) bool { return c.name == other.name }
func (c contestant) started() bool              { return c.command != "" }

// match is what is to be played, complete, between house bots.
func (c *matchCmd) match(players []contestant) (match.Match, error) {
	// A random seed is one that programs find in JSON as it is: many read numbers as floats of 53 bits.
	m := match.Match{Seats: c.Seats, Games: localGames, Rules: game.Rules{BustedAssigns: true}, Seed: rand.Uint64N(1 << 53), Concurrency: c.Concurrency}
	if c.Seed != nil {
		m.Seed = *c.Seed
	}
	if slices.ContainsFunc(players, contestant.started) {
		m.Games = programGames
	}
	if c.SPRT != nil {
		m.SPRT, m.Games = (*match.SPRT)(c.SPRT), sprtGames
	}
	if c.Games != nil {
		m.Games = *c.Games
	}
	var strategies []house.Strategy
	for _, player := range players {
		m.Names = append(m.Names, player.name)
		strategies = append(strategies, player.strategy)
	}
	m.Play = match.Local(strategies)
	m, err := m.Complete()
	if err != nil {
		return m, fmt.Errorf("--%w", err)
	}
	return m, nil
}

// seat starts the programs and has the match played at tables, with clocks, as soon as they are there.
func (c *matchCmd) seat(ctx context.Context, ps *programs, players []contestant, m *match.Match, b *board) error {
	var echo io.Writer
	if c.Verbose {
		echo = b
	}
	if err := ps.start(players, echo); err != nil {
		return err
	}
	tables := match.Tables{Names: m.Names, Timeout: decisionTimeout, Bank: timeBank}
	patience := helloPatience
	if c.NoTimeout {
		tables.Timeout, tables.Bank, patience = aDay, 0, aDay
	}
	if err := ps.greet(ctx, patience, b.waiting); err != nil {
		return err
	}
	most, of := ps.rotations(*m)
	if c.Concurrency > most {
		return fmt.Errorf("--concurrency: %d rotations side by side are more games than %s takes; it takes those of %d", c.Concurrency, of, most)
	}
	if c.Concurrency == 0 {
		m.Concurrency = min(most, mostRotations)
	}
	for _, player := range players {
		if player.started() {
			tables.Players = append(tables.Players, ps.sitDown(player.name))
		} else {
			tables.Players = append(tables.Players, match.House(player.strategy))
		}
	}
	m.Play = ps.played.counting(tables.Play)
	return nil
}

// board shows a match while it is played: a table that is redrawn on a terminal, elsewhere a line now and then.
type board struct {
	redrawn bool
	silent  bool

	mu     sync.Mutex
	out    io.Writer
	last   time.Time
	beaten time.Time     // when it was told last that the match is going on
	pause  time.Duration // until the next look
	games  int           // that are counted
	shown  *match.Result // drawn last; nil: none yet
	lines  int           // on the terminal
}

// Write lets others write beside the board, line by line.
func (b *board) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase() // it is drawn again below
	return b.out.Write(p)
}

// waiting tells that a program takes its time.
func (b *board) waiting(name string) {
	if !b.silent {
		fmt.Fprintf(b, "Waiting for %s to say hello to the arena.\n", name)
	}
}

const (
	redrawPause = 300 * time.Millisecond
	linePause   = 10 * time.Second
	// restPerLook keeps looking cheap: the table so far is a fit of all games.
	restPerLook = 20
)

// progress is told after each rotation.
func (b *board) progress(games int, sofar func() (*match.Result, error)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.games = games
	if b.pause == 0 {
		b.pause = linePause
		if b.redrawn {
			b.pause = redrawPause
		}
	}
	if b.silent || time.Since(b.last) < b.pause {
		return
	}
	began := time.Now()
	r, err := sofar()
	if err != nil {
		return // the end of the match tells it
	}
	b.draw(r)
	b.last, b.shown = time.Now(), r
	b.pause = max(b.pause, restPerLook*b.last.Sub(began))
}

func (b *board) draw(r *match.Result) {
	if !b.redrawn {
		var lines []string
		for _, l := range r.Lines {
			line := fmt.Sprintf("%s %s%+.1f Elo", l.Name, l.Bound, tenths(l.Elo))
			if l.EloMargin != nil {
				line += " +-" + margin(l.EloMargin, 1)
			}
			lines = append(lines, fmt.Sprintf("%s, %s", line, counted(l.Faults, "fault", "faults")))
		}
		if r.SPRT != nil {
			bound := r.SPRT.Upper
			if r.SPRT.LLR < 0 {
				bound = r.SPRT.Lower
			}
			lines = append(lines, fmt.Sprintf("LLR %.2f of %.2f", r.SPRT.LLR, bound))
		}
		fmt.Fprintf(b.out, "%d of %d games: %s\n", r.Games, r.Of, strings.Join(lines, "; "))
		return
	}
	b.erase()
	// Lines that are too long are cut by the terminal, so that the next drawing knows how many there are.
	fmt.Fprintf(b.out, "\033[?7l%d of %d games, %d %%\n\n", r.Games, r.Of, 100*r.Games/r.Of)
	printMatch(b.out, r)
	b.lines = 3 + len(r.Lines)
	if r.SPRT != nil {
		text := sprtText(r)
		fmt.Fprintf(b.out, "\n%s", text)
		b.lines += 1 + strings.Count(text, "\n")
	}
	fmt.Fprint(b.out, "\033[?7h")
}

// clear takes the board off the terminal.
func (b *board) clear() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
}

func (b *board) erase() {
	if b.lines > 0 {
		fmt.Fprintf(b.out, "\033[%dA\033[J", b.lines)
		b.lines = 0
	}
}

// onTerminal reports whether somebody may be looking at lines that are redrawn.
func onTerminal(p *program) bool {
	f, is := p.err.(*os.File)
	if p.json || !is {
		return false
	}
	_, terminal := windowRows(f) // other devices, such as /dev/null, are files too
	return terminal
}

// printMatch prints the table: a line of heads and one for each name.
func printMatch(out io.Writer, r *match.Result) {
	timed := slices.ContainsFunc(r.Lines, func(l match.Line) bool { return l.P99 > 0 || l.Faults > 0 })
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "BOT\tPLACEMENT\t+-95 %\tPOINTS\tFIRST\tELO\t+-95 %\tLOS\t")
	if timed {
		fmt.Fprint(t, "FAULTS\tP50\tP99\t")
	}
	fmt.Fprintln(t)
	for _, l := range r.Lines {
		los := "-"
		if l.LOS != nil {
			los = rating.Percent(*l.LOS, 2)
		}
		fmt.Fprintf(t, "%s\t%.4f\t%s\t%.1f\t%.1f %%\t%s%+.1f\t%s\t%s\t", l.Name, l.Placement, margin(l.PlacementMargin, 4), l.Points,
			100*l.Firsts, l.Bound, tenths(l.Elo), margin(l.EloMargin, 1), los)
		if timed {
			fmt.Fprintf(t, "%d\t%s\t%s\t", l.Faults, latency(durationpb.New(l.P50), l.P50 > 0), latency(durationpb.New(l.P99), l.P99 > 0))
		}
		fmt.Fprintln(t)
	}
	_ = t.Flush() // of what cannot be written nobody can be told either
}

// sprt is --sprt as it is typed.
type sprt match.SPRT

// Decode implements [kong.MapperValue].
func (s *sprt) Decode(ctx *kong.DecodeContext) error {
	var text string
	if err := ctx.Scan.PopValueInto("ELO0,ELO1", &text); err != nil {
		return err
	}
	elo0, elo1, _ := strings.Cut(text, ",")
	var err0, err1 error
	s.Elo0, err0 = strconv.ParseFloat(elo0, 64)
	s.Elo1, err1 = strconv.ParseFloat(elo1, 64)
	if err0 != nil || err1 != nil {
		return fmt.Errorf("%q is not ELO0,ELO1, two numbers such as 0,20", text)
	}
	return nil
}

// sprtText says how the test stands: two lines.
func sprtText(r *match.Result) string {
	a := r.SPRT
	elo := "-"
	if a.Elo != nil {
		elo = fmt.Sprintf("%+.1f", tenths(*a.Elo))
	}
	text := fmt.Sprintf("%s against %s alone: %s Elo, +-95 %% %s; ELO above is by all pairs.\nSPRT: ", a.First, a.Second, elo, margin(a.EloMargin, 1))
	switch a.Taken {
	case "elo0":
		return text + fmt.Sprintf("the first %s the second: LLR %.2f is at most %.2f.\n", notAbove(a.Elo1), a.LLR, a.Lower)
	case "elo1":
		return text + fmt.Sprintf("the first %s the second: LLR %.2f is at least %.2f.\n", above(a.Elo0), a.LLR, a.Upper)
	}
	return text + fmt.Sprintf("undecided, LLR %.2f: at %.2f the first %s, at %.2f it %s.\n", a.LLR,
		a.Upper, strings.TrimSuffix(above(a.Elo0), " than"), a.Lower, strings.TrimSuffix(notAbove(a.Elo1), " than"))
}

// above says in words that the difference is more than elo.
func above(elo float64) string {
	switch {
	case elo > 0:
		return fmt.Sprintf("is more than %g Elo stronger than", elo)
	case elo < 0:
		return fmt.Sprintf("is not %g Elo weaker than", -elo)
	}
	return "is stronger than"
}

// notAbove says in words that the difference is less than elo.
func notAbove(elo float64) string {
	switch {
	case elo > 0:
		return fmt.Sprintf("is not %g Elo stronger than", elo)
	case elo < 0:
		return fmt.Sprintf("is more than %g Elo weaker than", -elo)
	}
	return "is weaker than"
}

// sprtExit is the end of a match whose test does not say what was hoped for.
func sprtExit(r *match.Result) error {
	if r.SPRT == nil || r.SPRT.Taken == "elo1" {
		return nil
	}
	return exit(exitNo)
}

// printWrongs says what the programs did wrong, in words.
func printWrongs(out io.Writer, r *match.Result, ps *programs) {
	for _, l := range r.Lines {
		if l.Faults == 0 && l.Slips == 0 {
			continue
		}
		var what []string
		for cause := game.Passed; cause <= game.TimedOut; cause++ {
			if n := l.Causes[cause.String()]; n > 0 {
				what = append(what, fmt.Sprintf("%d %s", n, strings.ReplaceAll(cause.String(), "_", " ")))
			}
		}
		if l.Absent > 0 {
			what = append(what, fmt.Sprintf("%d of them not waited for", l.Absent))
		}
		if l.Slips > 0 {
			what = append(what, fmt.Sprintf("%d illegal at first and mended in time", l.Slips))
		}
		fmt.Fprintf(out, "\nWhat %s did wrong with its requests: %s.\n", l.Name, strings.Join(what, ", "))
		if wrong := ps.wrong(l.Name); wrong != "" {
			fmt.Fprintf(out, "  The first that it was told: %s.\n", wrong)
		}
		if l.Causes[game.Passed.String()] > 0 {
			fmt.Fprintln(out, "  To pass is to ask for the default decision, as kits do when the bot's function fails.")
		}
		if words := ps.wrote(l.Name); len(words) > 0 {
			fmt.Fprintf(out, "  What it had written last at its first fault; --verbose shows all:\n    %s\n", strings.Join(words, "\n    "))
		}
	}
}

// printWarnings says what the programs warned of: a night would show it to nobody but their authors.
func printWarnings(out io.Writer, ps *programs) {
	for _, l := range ps.all {
		if first, n := l.output.warnings(); n > 0 {
			fmt.Fprintf(out, "\n%s wrote %s, the first: %s\n", l.name, counted(n, "warning", "warnings"), first)
		}
	}
}

// tenths is a number rounded to tenths, of which none is -0.0.
func tenths(x float64) float64 { return math.Round(10*x)/10 + 0 }

// margin writes half of an interval, or a dash where nothing can be said.
func margin(m *float64, decimals int) string {
	if m == nil {
		return "-"
	}
	return number(*m, decimals)
}
