package arena

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/flip7-arena/flip7/arena/rating"
)

// Season is the games of a league that count: what its Elo table, its histories and comparisons of bots are made of. It
// does not change when further tournaments finish. It is not safe for concurrent use.
type Season struct {
	League   string
	Excluded []Exclusion // of all its tournaments

	pool   *pool
	nights []seasonNight
	house  map[build]bool
	kicked map[build]bool // out of one of the nights
	table  *rating.Table  // nil until it is asked for
}

// seasonNight is a tournament that counts.
type seasonNight struct {
	RatedNight
	ended  time.Time
	builds map[string]build // of the bots that played
}

// RatedNight is a tournament that counts in an Elo table, and what its exported results do not say of that.
type RatedNight struct {
	Tournament int64
	Commitment [32]byte
	Lost       []TableID  // during which a bot lost its stream: the games of each are one cluster
	Excluded   []Excluded // tables and games
}

// TableID names a table of a tournament.
type TableID struct{ Round, Table int }

// RatedNights are the tournaments that count, the oldest first. With their exported results they are all that the table is made
// of.
func (s *Season) RatedNights() []RatedNight {
	nights := make([]RatedNight, len(s.nights))
	for i, night := range s.nights {
		nights[i] = night.RatedNight
	}
	return nights
}

// SeasonOptions choose what a season is made of.
type SeasonOptions struct {
	Since time.Time // tournaments that ended before are left out; zero: none is
	// Only are the tournaments to look at, those that are unrated or predictable too: whoever names them knows what they
	// are. Empty: all rated ones of the league.
	Only []int64
}

func newSeason(league string) *Season {
	return &Season{League: league, pool: newPool(), house: map[build]bool{}, kicked: map[build]bool{}}
}

// Season gathers what counts in a league: the games at finished tables of its finished tournaments, but for what was
// taken out.
func (a *Arena) Season(ctx context.Context, league string, o SeasonOptions) (*Season, error) {
	ids := slices.Clone(o.Only)
	if len(ids) == 0 {
		rated, err := a.Store.Rated(ctx, league)
		if err != nil {
			return nil, fmt.Errorf("rated tournaments of league %q: %w", league, err)
		}
		ids = rated
	}
	slices.Sort(ids)
	s := newSeason(league)
	for _, id := range slices.Compact(ids) {
		t, err := a.Store.Tournament(ctx, id)
		switch {
		case err != nil:
			return nil, fmt.Errorf("tournament %d: %w", id, err)
		case t.Settings.League != league:
			return nil, &StateError{fmt.Sprintf("tournament %d is in league %q, not in %q", id, t.Settings.League, league)}
		case t.State != Finished:
			return nil, t.unfit("only a finished one can be rated")
		case t.Ended.Before(o.Since):
			continue
		}
		if err := s.add(ctx, a, t); err != nil {
			return nil, fmt.Errorf("tournament %d: %w", id, err)
		}
	}
	return s, nil
}

func (s *Season) add(ctx context.Context, a *Arena, t *Tournament) error {
	whole := false
	for _, e := range t.Excluded {
		s.Excluded = append(s.Excluded, Exclusion{t.ID, e})
		whole = whole || e.Round == 0
	}
	if whole {
		return nil
	}
	stats, err := a.counting(ctx, t)
	if err != nil {
		return err
	}
	s.count(t, stats)
	return nil
}

// count takes a tournament that counts; stats are those of its entrants in the games that do.
func (s *Season) count(t *Tournament, stats []Stats) {
	s.pool.add(t, stats)
	night := seasonNight{RatedNight: RatedNight{Tournament: t.ID, Commitment: t.Commitment(), Excluded: t.Excluded},
		ended: t.Ended, builds: map[string]build{}}
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			if tab.Lost {
				night.Lost = append(night.Lost, TableID{r.Number, tab.Number})
			}
		}
	}
	for i, e := range t.Entries {
		if stats[i].Games > 0 {
			b := build{e.Name, e.Build}
			night.builds[e.Name] = b
			s.house[b] = !e.remote()
			s.kicked[b] = s.kicked[b] || e.State == Kicked
		}
	}
	s.nights = append(s.nights, night)
}

// counting are the statistics of those games of a finished tournament that count.
func (a *Arena) counting(ctx context.Context, t *Tournament) ([]Stats, error) {
	if len(t.Excluded) == 0 {
		return a.stats(ctx, t)
	}
	stats := make([]Stats, len(t.Entries))
	err := a.Store.Games(ctx, t.ID, func(id GameID, p Played) error {
		out := slices.ContainsFunc(t.Excluded, func(e Excluded) bool { return e.covers(id.Round, id.Table, id.Number) })
		if out || t.Rounds[id.Round-1].Tables[id.Table-1].State == Void {
			return nil
		}
		return count(stats, p)
	})
	return stats, err
}

// Elo is the table of the season, older builds with the newest first.
func (s *Season) Elo() (*Elo, error) {
	elo := &Elo{League: s.League, Tournaments: len(s.nights), Games: len(s.pool.games.List), Excluded: s.Excluded}
	if elo.Games == 0 {
		return elo, nil
	}
	fit, err := s.fit()
	if err != nil {
		return nil, err
	}
	s.pool.show(fit, elo)
	last := func(r EloRow) int { return s.pool.builds[s.pool.index[build{r.Bot, r.Build}]].last }
	for _, row := range elo.Rows {
		slices.SortStableFunc(row.Older, func(a, b EloRow) int { return last(b) - last(a) })
	}
	return elo, nil
}

// Clusters is how many clusters count.
func (s *Season) Clusters() int { return s.pool.clusters }

// Ended is when the newest tournament that counts ended; zero if none does.
func (s *Season) Ended() (newest time.Time) {
	for _, night := range s.nights {
		if night.ended.After(newest) {
			newest = night.ended
		}
	}
	return newest
}

// Bots are the names of all bots that are rated, sorted.
func (s *Season) Bots() []string {
	var names []string
	for _, b := range s.pool.builds {
		names = append(names, b.bot)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Stats are what a build did in the games that count, and whether it is a house bot.
func (s *Season) Stats(bot, buildOf string) (stats Stats, house bool) {
	b := build{bot, buildOf}
	if at, there := s.pool.index[b]; there {
		stats = s.pool.builds[at].Stats
	}
	return stats, s.house[b]
}

// Kicked reports whether a build was kicked out of a tournament that counts: its faults there may be that.
func (s *Season) Kicked(bot, buildOf string) bool { return s.kicked[build{bot, buildOf}] }

// fit is the strengths in all games.
func (s *Season) fit() (*rating.Table, error) {
	if s.table == nil {
		table, err := rating.Fit(s.pool.games, rating.DefaultPrior)
		if err != nil {
			return nil, fmt.Errorf("rate league %q: %w", s.League, err)
		}
		s.table = table
	}
	return s.table, nil
}

// Comparison says how sure it is that one bot is stronger than another.
type Comparison struct {
	Elo                  float64 // of the one less that of the other
	Interval             float64 // half of the 95 % interval; +Inf if they cannot be compared
	LOS                  float64 // 1/2 if they cannot be compared
	Meetings, Wins, Ties int     // games in which they met, in which the one came before the other, in which they shared a place
}

// Compare compares the newest builds of two bots.
func (s *Season) Compare(bot, other string) (c Comparison, err error) {
	var index [2]int
	for i, name := range [2]string{bot, other} {
		newest, there := s.pool.newest[name]
		if !there {
			return c, fmt.Errorf("bot %q in the rating of league %q: %w", name, s.League, ErrNotFound)
		}
		index[i] = s.pool.index[newest]
	}
	fit, err := s.fit()
	if err != nil {
		return c, err
	}
	row := func(name int) int {
		return slices.IndexFunc(fit.Rows, func(r rating.Row) bool { return r.Bot == name })
	}
	d := fit.Difference(row(index[0]), row(index[1]))
	c.Elo, c.Interval, c.LOS = d.Elo, d.Interval(), d.LOS()
	for _, g := range s.pool.games.List {
		one, two := slices.Index(g.Players, index[0]), slices.Index(g.Players, index[1])
		if one < 0 || two < 0 || one == two {
			continue
		}
		c.Meetings++
		switch {
		case g.Places[one] < g.Places[two]:
			c.Wins++
		case g.Places[one] == g.Places[two]:
			c.Ties++
		}
	}
	return c, nil
}

// Nights is how many tournaments count.
func (s *Season) Nights() int { return len(s.nights) }

// Tournament is the ID of one of them, by its number from 1.
func (s *Season) Tournament(night int) int64 { return s.nights[night-1].Tournament }

// Played are the tournaments that a bot played in, as numbers for Moment.
func (s *Season) Played(bot string) (nights []int) {
	for i, night := range s.nights {
		if _, played := night.builds[bot]; played {
			nights = append(nights, i+1)
		}
	}
	return nights
}

// Moment is how those who played in a tournament stood after it.
type Moment struct {
	Tournament int64
	Ended      time.Time
	Points     map[string]Point // by bot
}

// Point is how a bot stood after a tournament.
type Point struct {
	Build       string // that played
	Anchor      string // the bot that has 1500; empty: the mean of the group has. Points of different anchors cannot be compared.
	Elo         float64
	Interval    float64 // half of the 95 % interval; +Inf if none can be given
	Performance float64 // in this tournament; NaN if the bot won or lost everything
	Live        float64
	Rank        int // among the newest builds of its group
	Games       int // that counted until then
}

// Moment says how the league stood when so many of its tournaments were over. It is a fit of all games until then, shown
// with the 1500 of today's table: else all would seem to rise or fall together when the anchor takes over from the mean.
// Who was in no group with the anchor yet has the mean, and the point says so.
func (s *Season) Moment(nights int) (*Moment, error) {
	if nights < 1 || nights > len(s.nights) {
		return nil, fmt.Errorf("tournament number %d of league %q: %w", nights, s.League, ErrNotFound)
	}
	night := s.nights[nights-1]
	first, end := s.pool.first[nights-1], s.pool.first[nights]
	until := rating.Games{Names: s.pool.games.Names, List: s.pool.games.List[:end]}
	fit, err := rating.Fit(until, rating.DefaultPrior)
	if err != nil {
		return nil, fmt.Errorf("rate league %q after tournament %d: %w", s.League, night.Tournament, err)
	}
	today, err := s.fit()
	if err != nil {
		return nil, err
	}
	scale := rating.Mean()
	if today.Scale(anchorStrategy).Anchor != "" {
		scale = fit.Anchored(anchorStrategy)
	}
	newest := map[string]build{}
	for _, earlier := range s.nights[:nights] {
		for bot, b := range earlier.builds {
			newest[bot] = b
		}
	}
	live := rating.Live(until)
	shown := make([]float64, len(until.Names))
	for _, row := range fit.Rows {
		shown[row.Bot] = scale.Elo(row)
	}
	m := &Moment{Tournament: night.Tournament, Ended: night.ended, Points: map[string]Point{}}
	rank, group := 0, -1
	for i, row := range fit.Rows {
		b := s.pool.builds[row.Bot].build
		if row.Group != group {
			rank, group = 0, row.Group
		}
		if newest[b.bot] != b {
			continue
		}
		rank++
		if night.builds[b.bot] != b {
			continue
		}
		performance, bound := rating.Performance(rating.Games{Names: until.Names, List: until.List[first:end]}, row.Bot, shown)
		if bound != rating.Exact {
			performance = math.NaN()
		}
		m.Points[b.bot] = Point{Build: b.build, Anchor: scale.Zero(row), Elo: shown[row.Bot], Interval: fit.Interval(i),
			Performance: performance, Live: live[row.Bot], Rank: rank, Games: row.Games}
	}
	return m, nil
}
