package arena

import (
	"fmt"
	"math"
	"slices"
)

// PrintedElo is an Elo table that somebody was shown, as far as it can be computed again.
type PrintedElo struct {
	Nights []RatedNight
	Rows   []PrintedRating
}

// PrintedRating is a line of it: a bot's build.
type PrintedRating struct {
	Bot, Build      string
	Elo, Interval   float64 // half of the 95 % interval; +Inf when nothing is said
	Games, Clusters int
}

// printedWithin is how far a number may be from one computed again: both are rounded to hundredths somewhere.
const printedWithin = 0.02

// VerifyElo computes an Elo table again from the exported results of its tournaments, which must have been verified. The
// error is the first thing that does not hold.
func VerifyElo(printed PrintedElo, verified []Verification) error {
	elo, err := rateAgain(printed.Nights, verified)
	if err != nil {
		return err
	}
	var again []EloRow
	for _, row := range elo.Rows {
		again = append(append(again, row), row.Older...)
	}
	for _, row := range printed.Rows {
		at := slices.IndexFunc(again, func(r EloRow) bool { return r.Bot == row.Bot && r.Build == row.Build })
		name := build{row.Bot, row.Build}.shown()
		if at < 0 {
			return fmt.Errorf("rating of %s: it is in no game that counts", name)
		}
		if err := row.compare(again[at]); err != nil {
			return fmt.Errorf("rating of %s: %w", name, err)
		}
		again = slices.Delete(again, at, at+1)
	}
	if len(again) > 0 {
		return fmt.Errorf("rating of %s: the games rate it, and the table does not have it", build{again[0].Bot, again[0].Build}.shown())
	}
	return nil
}

// rateAgain is the table of the nights, made of what was verified.
func rateAgain(nights []RatedNight, verified []Verification) (*Elo, error) {
	p := newPool()
	for i, night := range nights {
		at := slices.IndexFunc(verified, func(v Verification) bool { return v.night != nil && v.night.Commitment() == night.Commitment })
		if at < 0 {
			return nil, fmt.Errorf("tournament %d of %d of the table: its results, of commitment %x, are not among the files", i+1, len(nights), night.Commitment)
		}
		t := *verified[at].night
		t.Excluded = night.Excluded
		t.Rounds = slices.Clone(t.Rounds)
		for at := range t.Rounds {
			t.Rounds[at].Tables = slices.Clone(t.Rounds[at].Tables)
		}
		for _, lost := range night.Lost {
			if lost.Round < 1 || lost.Round > len(t.Rounds) || lost.Table < 1 || lost.Table > len(t.Rounds[lost.Round-1].Tables) {
				return nil, fmt.Errorf("tournament %d of the table: table %d of pairing round %d is not there", i+1, lost.Table, lost.Round)
			}
			t.Rounds[lost.Round-1].Tables[lost.Table-1].Lost = true
		}
		p.add(&t, t.gamesThatCount())
	}
	elo := new(Elo)
	return elo, p.rate(elo)
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
				for _, number := range g.Seats {
					stats[number-1].Games++
				}
			}
		}
	}
	return stats
}

// compare says what of a line is not as it comes out again.
func (r PrintedRating) compare(again EloRow) error {
	switch {
	case !alike(r.Elo, again.Elo):
		return fmt.Errorf("%.2f, and the games make it %.2f", r.Elo, again.Elo)
	case !alike(r.Interval, again.Interval):
		return fmt.Errorf("+-%.2f, and the games make it +-%.2f", r.Interval, again.Interval)
	case r.Games != again.Games:
		return fmt.Errorf("%d games, and %d count", r.Games, again.Games)
	case r.Clusters != again.Clusters:
		return fmt.Errorf("%d clusters, and there are %d", r.Clusters, again.Clusters)
	}
	return nil
}

func alike(a, b float64) bool { return a == b || math.Abs(a-b) <= printedWithin }

// shown is the build as tables name it.
func (b build) shown() string {
	if b.build == "" {
		return b.bot
	}
	return b.bot + "@" + b.build
}
