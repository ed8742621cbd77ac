package arena

import (
	"fmt"
	"strings"

	"github.com/flip7-arena/flip7/arena/rating"
)

// Conclusion is how a night ended, and how sure that is.
type Conclusion struct {
	Leader    int    // number of the entry; 0 if nobody played
	Decided   bool   // the leader is the best of the finalists, wrongly in 5 % of all nights at the most
	Rotations int    // of the final, that count
	Text      string // one sentence
}

func (c Conclusion) line() conclusionLine {
	return conclusionLine{Line: "conclusion", Leader: c.Leader, Decided: c.Decided, Rotations: c.Rotations, Text: c.Text}
}

// Conclude says how the games so far end the night. Only a final table decides: it plays on until luck cannot be the
// reason any more, which the few games of a pairing round cannot exclude. It depends on the results alone, so that
// whoever has an export comes to the same conclusion.
func (t *Tournament) Conclude() (Conclusion, error) {
	if f := t.Final(); f != nil && f.Games > 0 {
		return t.concludeFinal(f), nil
	}
	c, err := t.concludeRounds()
	if err == nil && c.Leader > 0 && t.Settings.FinalTable > 0 {
		c.Text += "; no rotation of it was played"
	}
	return c, err
}

func (t *Tournament) concludeFinal(f *Final) Conclusion {
	d := f.Decision()
	c := Conclusion{Leader: f.Bots[d.Leader], Decided: d.Decided, Rotations: f.Rotations(), Text: d.Sentence(t.names(f.Bots), len(f.Bots))}
	if f.Ended != "" && !d.Decided {
		c.Text += "; the final table ended early: " + f.Ended
	}
	return c
}

// concludeRounds is the conclusion of a night without a final: who leads the standings, and the probability that a fit of
// the night's games gives it, which takes into account whom everybody met.
func (t *Tournament) concludeRounds() (c Conclusion, err error) {
	standings, err := t.Standings()
	if err != nil {
		return c, err
	}
	var leaders []string
	for _, s := range standings {
		if s.Games > 0 && s.Rank == 1 {
			leaders = append(leaders, s.Name)
			if c.Leader == 0 {
				c.Leader = s.Entry.Number
			}
		}
	}
	switch len(leaders) {
	case 0:
		return Conclusion{Text: "not decided: nobody played"}, nil
	case 1:
	default:
		c.Text = fmt.Sprintf("not decided: %s share the lead; a final table would tell", strings.Join(leaders, " and "))
		return c, nil
	}
	best, sure, err := t.best(c.Leader)
	if err != nil {
		return c, err
	}
	c.Text = fmt.Sprintf("not decided: %s leads, P(best) %s; a final table would tell", leaders[0], rating.Percent(best, 0))
	if !sure {
		c.Text = fmt.Sprintf("not decided: %s leads, after too few meetings to say how sure that is; a final table would tell", leaders[0])
	}
	return c, nil
}

// best is the probability that an entrant is the best of all who played in the pairing rounds and may win; anchors, who play
// outside the ranks, only help to compare them. Sure is false where some of them cannot be compared, or have played too
// little. That a stream was lost changes nothing: the results do not tell of it.
func (t *Tournament) best(number int) (p float64, sure bool, err error) {
	index := map[int]int{} // into games.Names, by entry
	games := rating.Games{}
	for _, e := range t.Entries {
		if !e.FillIn {
			index[e.Number] = len(games.Names)
			games.Names = append(games.Names, e.Name)
		}
	}
	cluster := 0
	for _, r := range t.Rounds[:min(len(t.Rounds), t.Settings.Rounds)] {
		for _, tab := range r.Tables {
			if tab.State != Complete {
				continue
			}
			for _, g := range tab.Games {
				one := rating.Game{Cluster: cluster + (g.Number-1)/len(tab.Bots)}
				for seat, entrant := range g.Seats {
					if at, plays := index[entrant]; plays {
						one.Players, one.Places = append(one.Players, at), append(one.Places, g.Result.Places[seat])
					}
				}
				if len(one.Players) >= 2 {
					games.List = append(games.List, one)
				}
			}
			cluster += t.Settings.Rotations
		}
	}
	if len(games.List) == 0 {
		return 0, false, nil
	}
	fit, err := rating.Fit(games, rating.DefaultPrior)
	if err != nil {
		return 0, false, fmt.Errorf("how sure the lead of tournament %d is: %w", t.ID, err)
	}
	row := fit.Row(t.Entries[number-1].Name)
	if row < 0 {
		return 0, false, nil
	}
	for _, r := range fit.Rows {
		if r.Group != fit.Rows[row].Group || r.Clusters < fewestClusters {
			return 0, false, nil
		}
	}
	ranked := map[string]bool{}
	for _, e := range t.Entries {
		ranked[e.Name] = !e.Anchor && !e.FillIn
	}
	return fit.Best(1, row, func(r rating.Row) bool { return ranked[games.Names[r.Bot]] }), true, nil
}
