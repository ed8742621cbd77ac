package arena

import (
	"context"
	"fmt"
)

// Tally counts what happened at the tables of one tournament, each once when it has ended, so that a night that is looked
// at all the time is not counted from the beginning each time. The zero value has counted none. It is not safe for
// concurrent use.
type Tally struct {
	Stats   []Stats // by entry
	Aims    Aims
	counted map[tableKey]bool
}

// Tables is how many tables have been counted.
func (t *Tally) Tables() int { return len(t.counted) }

// Count brings a tally up to the tournament: tables that have ended since are added. Void tables count nothing; if one
// that was counted has been made void, all is counted anew. Whoever breaks off may go on later: the tables that were
// counted until then stay so.
func (a *Arena) Count(ctx context.Context, t *Tournament, tally *Tally) error {
	if tally.counted == nil || tally.outdated(t) {
		*tally = Tally{counted: map[tableKey]bool{}}
	}
	for len(tally.Stats) < len(t.Entries) {
		tally.Stats = append(tally.Stats, Stats{})
	}
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			key := tableKey{r.Number, tab.Number}
			if tab.State != Complete || tally.counted[key] {
				continue
			}
			games, err := a.played(ctx, t.ID, r.Number, tab)
			if err == nil {
				err = tally.add(games)
			}
			if err != nil {
				return fmt.Errorf("count table %d of pairing round %d of tournament %d: %w", tab.Number, r.Number, t.ID, err)
			}
			tally.counted[key] = true
		}
	}
	return nil
}

// outdated reports whether a table that was counted is void now.
func (t *Tally) outdated(night *Tournament) bool {
	for key := range t.counted {
		if key.round > len(night.Rounds) || night.Rounds[key.round-1].Tables[key.table-1].State == Void {
			return true
		}
	}
	return false
}

// add counts the games of a table. If one of them cannot be replayed nothing is counted any more.
func (t *Tally) add(games []Played) (err error) {
	defer func() {
		if err != nil {
			*t = Tally{}
		}
	}()
	for _, p := range games {
		if err := count(t.Stats, p); err != nil {
			return err
		}
	}
	return t.Aims.Add(games)
}

// played are the games of a table that have ended, with their records.
func (a *Arena) played(ctx context.Context, id int64, round int, tab Table) ([]Played, error) {
	games := make([]Played, len(tab.Games))
	for i, g := range tab.Games {
		p, err := a.Store.Game(ctx, GameID{Tournament: id, Round: round, Table: tab.Number, Number: g.Number})
		if err != nil {
			return nil, fmt.Errorf("game %d: %w", g.Number, err)
		}
		games[i] = p
	}
	return games, nil
}
