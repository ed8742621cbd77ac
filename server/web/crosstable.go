package web

import (
	"context"
	"net/http"

	"github.com/flip7-arena/flip7/arena"
)

// crosstable is the page that says who finished above whom: in the row of a bot, how often it came before the bot of the
// column. It has a page of its own since it grows with the square of the field.
type crosstable struct {
	Title      string      `json:"-"`
	Tournament int64       `json:"tournament"`
	Night      string      `json:"name"`
	Bots       []string    `json:"bots"` // in the order of the standings
	Rows       [][]meeting `json:"rows"`
	over       bool
}

func (c crosstable) lasts() bool { return c.over }

// meeting is how two bots did against each other, as the first of them sees it.
type meeting struct {
	Games int `json:"games"`
	Above int `json:"above"`
	Tied  int `json:"tied"`
}

// Share is the share of games in which the first came before the second, those tied half.
func (m meeting) Share() int { return (200*m.Above + 100*m.Tied + m.Games) / (2 * m.Games) }

func (p *Pages) crosstable(ctx context.Context, r *http.Request) (view, error) {
	t, err := p.named(ctx, r)
	if err != nil {
		return nil, err
	}
	standings, err := t.Standings()
	if err != nil {
		return nil, err
	}
	c := &crosstable{Title: "Who finished above whom", Tournament: t.ID, Night: t.Settings.Name, over: t.State.Over()}
	row := make([]int, len(t.Entries)+1) // by the number of the entry; -1 for who does not stand anywhere
	for i := range row {
		row[i] = -1
	}
	for i, s := range standings {
		row[s.Entry.Number] = i
		c.Bots = append(c.Bots, s.Name)
		c.Rows = append(c.Rows, make([]meeting, len(standings)))
	}
	for _, round := range t.Rounds {
		for _, tab := range round.Tables {
			if tab.State == arena.Void {
				continue
			}
			for _, g := range tab.Games {
				c.add(g, row)
			}
		}
	}
	return c, nil
}

// add counts a game; row has the rows of the entries by number.
func (c *crosstable) add(g arena.Game, row []int) {
	places := g.Result.Places
	for one, number := range g.Seats {
		for other, opponent := range g.Seats {
			i, j := row[number], row[opponent]
			if one == other || i < 0 || j < 0 {
				continue
			}
			m := &c.Rows[i][j]
			m.Games++
			switch {
			case places[one] < places[other]:
				m.Above++
			case places[one] == places[other]:
				m.Tied++
			}
		}
	}
}
