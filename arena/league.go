package arena

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/flip7-arena/flip7/arena/rating"
)

// Elo is the table of a league: the rating of record, with all that tells how sure it is.
type Elo struct {
	League      string
	Tournaments int // that are rated
	Games       int
	Anchor      string // the bot whose rating is 1500; empty: the mean is
	Rows        []EloRow
	Alike       []rating.Run // stretches of Rows that cannot be told apart
	Excluded    []Exclusion
}

// Candidate is the bot that will have 1500 once enough is known of it, and the mean until then.
const Candidate = anchorStrategy

// Zero says what has 1500, and what will change that.
func (e *Elo) Zero() string {
	clusters := 0
	for _, row := range e.Rows {
		if row.Bot == Candidate && row.Build == "" {
			clusters = row.Clusters
		}
	}
	return rating.ZeroSays(e.Anchor, Candidate, clusters)
}

// Exclusion is a result that was taken out of the rating.
type Exclusion struct {
	Tournament int64
	Excluded
}

// EloRow is a bot's build, or its older builds folded under the newest.
type EloRow struct {
	Rank        rating.Rank
	Place       int // in the group, from 1
	Group       int // rows of different groups cannot be compared
	Bot, Build  string
	Owner       string
	Elo         float64
	Interval    float64 // half of the 95 % interval; +Inf when nothing can be said
	Bound       rating.Bound
	Naive       float64 // standard error as if pairs were independent
	Robust      float64 // standard error
	LOS         float64 // against the next row of the group; NaN for the last, and where nothing can be said
	Provisional bool
	Nights      int
	Games       int
	Clusters    int
	Placement   float64
	Firsts      float64 // share of games won
	Performance float64 // rating of the bot's last tournament alone, against what its opponents have now; NaN if it won or lost everything
	Points      float64 // mean of a game
	Busts       float64 // share of rounds
	Faults      float64 // share of requests
	P99         time.Duration
	Live        float64 // for show
	Older       []EloRow
}

// pool is the rated games of tournaments.
type pool struct {
	games       rating.Games
	tournaments int
	clusters    int
	index       map[build]int // into games.Names
	builds      []buildStats  // by index
	newest      map[string]build
	first       []int // the first game of each tournament, and at the end the number of games
}

type build struct{ bot, build string }

// String names the build in the rating.
func (b build) String() string {
	if b.build == "" {
		return b.bot
	}
	return b.bot + "\x00" + b.build // which is in no name, so that no two builds are called the same
}

type buildStats struct {
	build
	owner  string
	nights int
	last   int // the last tournament it played in, counted from 1
	Stats
}

func newPool() *pool {
	return &pool{index: map[build]int{}, newest: map[string]build{}, first: []int{0}}
}

// add takes a tournament's games in the order pairing round, table, game. A rotation is a cluster; a table during which a
// bot lost its stream is one cluster as a whole.
func (p *pool) add(t *Tournament, stats []Stats) {
	p.tournaments++
	defer func() { p.first = append(p.first, len(p.games.List)) }()
	for i, e := range t.Entries {
		if stats[i].Games == 0 || e.FillIn {
			continue
		}
		b := build{e.Name, e.Build}
		at, there := p.index[b]
		if !there {
			at = len(p.builds)
			p.index[b] = at
			p.builds = append(p.builds, buildStats{build: b})
			p.games.Names = append(p.games.Names, b.String())
		}
		p.newest[e.Name] = b
		p.builds[at].owner = e.Owner
		p.builds[at].nights++
		p.builds[at].last = p.tournaments
		p.builds[at].merge(stats[i])
	}
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			if tab.State != Complete {
				continue
			}
			rotation := -1
			for _, g := range tab.Games {
				if slices.ContainsFunc(t.Excluded, func(e Excluded) bool { return e.covers(r.Number, tab.Number, g.Number) }) {
					continue
				}
				rated := p.rated(t, g)
				if len(rated.Players) < 2 {
					continue
				}
				if now := (g.Number - 1) / len(tab.Bots); rotation < 0 || now != rotation && !tab.Lost {
					rotation = now
					p.clusters++
				}
				rated.Cluster = p.clusters
				p.games.List = append(p.games.List, rated)
			}
		}
	}
}

// rated is a game as the rating takes it: without house bots that only filled the table up.
func (p *pool) rated(t *Tournament, g Game) (rated rating.Game) {
	for seat, number := range g.Seats {
		if e := t.Entries[number-1]; !e.FillIn {
			rated.Players = append(rated.Players, p.index[build{e.Name, e.Build}])
			rated.Places = append(rated.Places, g.Result.Places[seat])
		}
	}
	return rated
}

// show fills in the table from the fit of the pool.
func (p *pool) show(fit *rating.Table, elo *Elo) {
	scale := fit.Scale(anchorStrategy)
	elo.Anchor = scale.Anchor
	ranks := fit.Ranks(1)
	live := rating.Live(p.games)
	shown := make([]float64, len(p.games.Names))
	for _, row := range fit.Rows {
		shown[row.Bot] = scale.Elo(row)
	}
	var rows []EloRow
	position := make([]int, len(fit.Rows)) // of a row of the fit among rows, or -1 for one that is folded
	older := map[string][]EloRow{}
	place, group := 0, -1
	for i, row := range fit.Rows {
		stats := p.builds[row.Bot]
		if row.Group != group {
			place, group = 0, row.Group
		}
		place++
		r := EloRow{
			Rank: ranks[i], Place: place, Group: row.Group, Bot: stats.bot, Build: stats.build.build, Owner: stats.owner,
			Elo: scale.Elo(row), Interval: fit.Interval(i), Bound: row.Bound, Naive: row.Naive, Robust: row.Robust,
			LOS: math.NaN(), Provisional: fit.Provisional(i, stats.nights), Nights: stats.nights, Games: row.Games,
			Clusters: row.Clusters, Placement: row.Placement, Firsts: row.Firsts / float64(row.Games),
			Performance: p.performance(row.Bot, stats.last, shown), Points: stats.MeanPoints(), Busts: stats.BustRate(),
			Faults: stats.FaultRate(), P99: stats.Latency.Quantile(0.99), Live: live[row.Bot],
		}
		position[i] = -1
		if p.newest[stats.bot] != stats.build {
			older[stats.bot] = append(older[stats.bot], r)
			continue
		}
		position[i] = len(rows)
		rows = append(rows, r)
	}
	p.compare(fit, rows, position)
	for i := range rows {
		rows[i].Older = older[rows[i].Bot]
	}
	elo.Rows = rows
	for _, run := range fit.Alike() {
		elo.Alike = append(elo.Alike, shownRun(run, position)...)
	}
}

// compare says of each shown row how likely it is stronger than the next shown one, where something can be said of their
// difference.
func (p *pool) compare(fit *rating.Table, rows []EloRow, position []int) {
	before := -1
	for i := range fit.Rows {
		if position[i] < 0 {
			continue
		}
		if before >= 0 && fit.Rows[before].Group == fit.Rows[i].Group {
			if d := fit.Difference(before, i); !math.IsInf(d.Interval(), 1) {
				rows[position[before]].LOS = d.LOS()
			}
		}
		before = i
	}
}

// shownRun is a run of rows of the fit as a run of shown rows, if two or more of them are shown.
func shownRun(run rating.Run, position []int) []rating.Run {
	var shown []int
	for i := run.First; i <= run.Last; i++ {
		if position[i] >= 0 {
			shown = append(shown, position[i])
		}
	}
	if len(shown) < 2 {
		return nil
	}
	return []rating.Run{{First: shown[0], Last: shown[len(shown)-1]}}
}

// performance is the rating that a bot's last tournament alone would give it, its opponents having what they have now.
func (p *pool) performance(bot, tournament int, shown []float64) float64 {
	games := rating.Games{Names: p.games.Names, List: p.games.List[p.first[tournament-1]:p.first[tournament]]}
	elo, bound := rating.Performance(games, bot, shown)
	if bound != rating.Exact {
		return math.NaN()
	}
	return elo
}

// Leagues are the names of all leagues, sorted.
func (a *Arena) Leagues(ctx context.Context) ([]string, error) {
	names, err := a.Store.Leagues(ctx)
	if err != nil {
		return nil, fmt.Errorf("list leagues: %w", err)
	}
	slices.Sort(names)
	return names, nil
}

// Unrated says why no game of the tournament is in the rating; empty if that is not so.
func (t *Tournament) Unrated() string {
	switch {
	case t.State != Finished:
		return "it is not finished"
	case t.Settings.Predictable():
		return "its deals were predictable (--seed)"
	case t.Settings.Unrated:
		return "it was announced as unrated"
	}
	return ""
}
