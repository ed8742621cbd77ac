package arena

import (
	"errors"
	"fmt"
	"slices"
)

// VerifiedSeason is the season that the tournaments of an Elo table make, from their exported results, which must have been
// verified. What nobody can tell from those is left out of it: when a tournament ended, busts, faults and latencies. The
// error is the first thing that does not hold: a tournament that must not count, or one that must and does not.
func VerifiedSeason(nights []RatedNight, verified []Verification) (*Season, error) {
	s := newSeason("")
	for i, night := range nights {
		t, err := night.verified(verified)
		switch {
		case err != nil:
		case slices.ContainsFunc(nights[:i], night.same):
			err = errors.New("it is counted twice")
		case i > 0 && t.Settings.League != s.League:
			err = fmt.Errorf("it is of league %q, and those before it are of %q", t.Settings.League, s.League)
		}
		if err != nil {
			return nil, fmt.Errorf("tournament %d of %d of the table: %w", i+1, len(nights), err)
		}
		s.League = t.Settings.League
		s.count(t, t.gamesThatCount())
	}
	for _, v := range verified {
		if v.night == nil || v.night.Unrated() != "" || len(nights) > 0 && v.night.Settings.League != s.League {
			continue
		}
		if !slices.ContainsFunc(nights, RatedNight{Commitment: v.night.Commitment()}.same) {
			return nil, fmt.Errorf("it leaves out %q, which is rated; if all of that was taken out (\"flip7 league show\" tells), or the table is of other nights, verify it without that file", v.Name)
		}
	}
	return s, nil
}

func (n RatedNight) same(other RatedNight) bool { return n.Commitment == other.Commitment }

// verified finds the tournament among the verified ones, and adds what its results do not say.
func (n RatedNight) verified(all []Verification) (*Tournament, error) {
	at := slices.IndexFunc(all, func(v Verification) bool { return v.night != nil && v.night.Commitment() == n.Commitment })
	if at < 0 {
		return nil, fmt.Errorf("its results, of commitment %x, are not among the files", n.Commitment)
	}
	t := all[at].night.clone()
	if why := t.Unrated(); why != "" {
		return nil, fmt.Errorf("%q does not count: %s", t.Settings.Name, why)
	}
	t.Excluded = n.Excluded
	for _, lost := range n.Lost {
		if lost.Round < 1 || lost.Round > len(t.Rounds) || lost.Table < 1 || lost.Table > len(t.Rounds[lost.Round-1].Tables) {
			return nil, fmt.Errorf("table %d of pairing round %d is not there", lost.Table, lost.Round)
		}
		t.Rounds[lost.Round-1].Tables[lost.Table-1].Lost = true
	}
	return t, nil
}

// gamesThatCount are the statistics of the entrants as far as games and what is not taken out of them tell.
func (t *Tournament) gamesThatCount() []Stats {
	stats := make([]Stats, len(t.Entries))
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			for _, g := range tab.Games {
				if tab.State == Void || slices.ContainsFunc(t.Excluded, func(e Excluded) bool { return e.covers(r.Number, tab.Number, g.Number) }) {
					continue
				}
				for seat, number := range g.Seats {
					stats[number-1].Games++
					stats[number-1].Points += g.Result.Totals[seat]
				}
			}
		}
	}
	return stats
}
