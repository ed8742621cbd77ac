package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/match"
	"github.com/flip7-arena/flip7/arena/rating"
)

type matchCmd struct {
	Players     []string `arg:"" name:"player" help:"house:STRATEGY, two or more different ones."`
	Games       int      `help:"Games, rounded up to whole rotations." default:"20000"`
	Seats       int      `help:"Seats at the table; left out, as many as players, and 4 for two. With fewer players than seats they repeat around the table."`
	Seed        *uint64  `help:"Makes the match reproducible; left out, a random one, which is printed."`
	Concurrency int      `help:"Rotations side by side; 0 for one for each processor."`
}

// Run plays the match. Broken off, it prints the table so far.
func (c *matchCmd) Run(ctx context.Context, p *program) error {
	m, err := c.match()
	if err != nil {
		return err
	}
	if !p.json && m.Games != c.Games {
		fmt.Fprintf(p.err, "%d games, rounded up to whole rotations of %d.\n", m.Games, m.Seats)
	}
	m.Progress = progress(p, m.Games)
	begun := time.Now()
	result, err := match.Run(ctx, m)
	if result == nil || err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	if p.json {
		return json.NewEncoder(p.out).Encode(struct {
			Seed uint64 `json:"seed"`
			*match.Result
		}{m.Seed, result})
	}
	if onTerminal(p) {
		fmt.Fprint(p.err, clearLine)
	}
	if result.Games < result.Of {
		fmt.Fprintf(p.out, "Broken off after %d of %d games.\n", result.Games, result.Of)
	}
	fmt.Fprintf(p.out, "%d games in %.1f s, tables of %d, seed %d\n\n", result.Games, time.Since(begun).Seconds(), result.Seats, m.Seed)
	return printMatch(p, result)
}

// match is what is to be played, complete.
func (c *matchCmd) match() (match.Match, error) {
	m := match.Match{Seats: c.Seats, Games: c.Games, Rules: game.Rules{BustedAssigns: true}, Seed: rand.Uint64(), Concurrency: c.Concurrency}
	if c.Seed != nil {
		m.Seed = *c.Seed
	}
	var strategies []house.Strategy
	for _, player := range c.Players {
		name, is := strings.CutPrefix(player, "house:")
		if !is {
			return m, fmt.Errorf("player: %q is not house:STRATEGY; the house bots are %s", player, strings.Join(house.Names(), ", "))
		}
		strategy, err := house.New(name)
		if err != nil {
			return m, fmt.Errorf("player: %w", err)
		}
		strategies = append(strategies, strategy)
		m.Names = append(m.Names, name)
	}
	m.Play = match.Local(strategies)
	return m.Complete()
}

// clearLine takes back a line of progress.
const clearLine = "\r\033[K"

// progress draws a line on a terminal, now and then, and nothing anywhere else.
func progress(p *program, of int) func(games int, sofar func() (*match.Result, error)) {
	if !onTerminal(p) {
		return nil
	}
	last := time.Now()
	return func(games int, _ func() (*match.Result, error)) {
		if time.Since(last) > 100*time.Millisecond {
			last = time.Now()
			fmt.Fprintf(p.err, "%s%d of %d games, %d %%", clearLine, games, of, 100*games/of)
		}
	}
}

// onTerminal reports whether somebody may be looking at lines that are redrawn.
func onTerminal(p *program) bool {
	f, is := p.err.(*os.File)
	if p.json || !is {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}

func printMatch(p *program, r *match.Result) error {
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "BOT\tPLACEMENT\t+-95 %\tPOINTS\tFIRST\tELO\t+-95 %\tLOS\t")
	for _, l := range r.Lines {
		los := "-"
		if l.LOS != nil {
			los = rating.Percent(*l.LOS, 2)
		}
		fmt.Fprintf(t, "%s\t%.4f\t%s\t%.1f\t%.1f %%\t%s%+.1f\t%s\t%s\t\n", l.Name, l.Placement, margin(l.PlacementMargin, 4), l.Points,
			100*l.Firsts, l.Bound, l.Elo, margin(l.EloMargin, 1), los)
	}
	return t.Flush()
}

// margin writes half of an interval, or a dash where nothing can be said.
func margin(m *float64, decimals int) string {
	if m == nil {
		return "-"
	}
	return number(*m, decimals)
}
