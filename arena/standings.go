package arena

import (
	"fmt"
	"math"
	"math/big"

	"github.com/flip7-arena/flip7/arena/swiss"
)

// Standing is a line of the standings.
type Standing struct {
	Entry          Entry
	swiss.Standing          // of the pairing rounds, but for the rank and the number of games
	Final          *big.Rat // mean placement in the final; nil for who did not play it
}

// Standings rank the entrants by the games so far; the games of a table that is still playing count as far as they are
// over. Finalists stand before all others, in the order in which the final has them. House bots that only fill a table
// up do not stand anywhere.
func (t *Tournament) Standings() ([]Standing, error) {
	rounds := min(len(t.Rounds), t.Settings.Rounds)
	ranked, err := swiss.Standings(t.swissEntries(), t.swissTables(rounds, math.MaxInt), rounds)
	if err != nil {
		return nil, fmt.Errorf("standings of tournament %d: %w", t.ID, err)
	}
	standings := make([]Standing, len(ranked))
	for i, s := range ranked {
		e, _ := t.Entry(s.Name)
		standings[i] = Standing{Entry: *e, Standing: s}
	}
	return t.finalFirst(standings), nil
}

func (s Standing) line() standingLine {
	line := standingLine{Line: "standing", Rank: s.Rank, Entry: s.Entry.Number, Name: s.Name, Score: s.Score.RatString()}
	if s.Final != nil {
		line.Final = s.Final.RatString()
	}
	return line
}

// scores are the scores after so many pairing rounds in one integer unit, by entry number, for everybody who may be
// paired: those outside the ranks too.
func (t *Tournament) scores(rounds int) ([]int64, error) {
	entries := t.swissEntries()
	for i := range entries {
		entries[i].FillIn = false
	}
	ranked, err := swiss.Standings(entries, t.swissTables(rounds, rounds+1), rounds)
	if err != nil {
		return nil, fmt.Errorf("scores after %d pairing rounds: %w", rounds, err)
	}
	exact := make([]*big.Rat, len(ranked))
	for i, s := range ranked {
		exact[i] = s.Score
	}
	units, err := swiss.Units(exact)
	if err != nil {
		return nil, fmt.Errorf("scores after %d pairing rounds: %w", rounds, err)
	}
	scores := make([]int64, len(t.Entries)+1)
	for i, s := range ranked {
		e, _ := t.Entry(s.Name)
		scores[e.Number] = units[i]
	}
	return scores, nil
}

func (t *Tournament) swissEntries() []swiss.Entry {
	entries := make([]swiss.Entry, len(t.Entries))
	for i, e := range t.Entries {
		entries[i] = swiss.Entry{Name: e.Name, Withdrawn: e.State != Entered, Anchor: e.Anchor, FillIn: e.FillIn}
	}
	return entries
}

// swissTables are the tables of the first pairing rounds as they are known when a later one is paired: a table that is made
// void by hand after that still counted.
func (t *Tournament) swissTables(rounds, known int) []swiss.Table {
	var tables []swiss.Table
	for _, r := range t.Rounds[:rounds] {
		for _, tab := range r.Tables {
			st := swiss.Table{Round: r.Number, Bots: t.names(tab.Bots), Void: tab.State == Void && tab.VoidFrom <= known}
			for _, g := range tab.Games {
				st.Games = append(st.Games, swiss.Game{Bots: t.names(g.Seats), Places: g.Result.Places, Points: g.Result.Totals, Faults: g.Faults})
			}
			tables = append(tables, st)
		}
	}
	return tables
}

// names are the names of entries by their numbers.
func (t *Tournament) names(numbers []int) []string {
	names := make([]string, len(numbers))
	for i, n := range numbers {
		names[i] = t.Entries[n-1].Name
	}
	return names
}
