package web

import (
	"context"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// botView is the page of a bot.
type botView struct {
	Title     string      `json:"-"`
	Bot       string      `json:"bot"`
	League    string      `json:"league"`
	Here      bool        `json:"connected"`
	Rating    *eloLine    `json:"rating,omitempty"`
	History   []point     `json:"history"`
	Chart     *chart      `json:"-"`
	Opponents []opponent  `json:"opponents"`
	Builds    []buildView `json:"builds"`
	Nights    []nightLink `json:"tournaments"`
	Reader    string      `json:"-"`             // who has signed in
	Mine      bool        `json:"-"`             // and may see the log
	Log       []LogLine   `json:"log,omitempty"` // the newest first
	Cut       bool        `json:"-"`             // there are older lines
}

// logLines is how many lines of a log the page of a bot has.
const logLines = 200

// personal reports whether the page is for its reader alone.
func (b *botView) personal() bool { return b.Reader != "" }

func (botView) lasts() bool { return false }

// point is how a bot stood after a tournament.
type point struct {
	Tournament int64     `json:"tournament"`
	When       time.Time `json:"when"`
	Elo        float64   `json:"elo"`
	Margin     *float64  `json:"margin,omitempty"`
}

// opponent is another bot, and how this one did against it.
type opponent struct {
	Bot      string   `json:"bot"`
	Meetings int      `json:"meetings"`
	Above    int      `json:"above"`
	Tied     int      `json:"tied"`
	Elo      float64  `json:"elo_difference"`
	Margin   *float64 `json:"margin,omitempty"`
	Stronger float64  `json:"los"`
}

// buildView is what a build did in the games that count.
type buildView struct {
	Build    string   `json:"build"`
	Games    int      `json:"games"`
	Points   float64  `json:"points"`
	Busts    float64  `json:"bust_rate"`
	Requests int      `json:"requests"`
	Faults   []count  `json:"faults"`
	Slips    int      `json:"slips"`
	Latency  []bucket `json:"latency"`
	P50      string   `json:"p50"`
	P99      string   `json:"p99"`
	Max      string   `json:"max"`
}

// bucket is a bar of a histogram of latencies.
type bucket struct {
	UpTo  string `json:"up_to"`
	N     int    `json:"n"`
	Width int    `json:"-"` // of the widest, percent
}

// bot is the page of a bot: what it made of the games of a league that count.
func (p *Pages) bot(ctx context.Context, r *http.Request) (view, error) {
	name := strings.TrimSuffix(r.PathValue("bot"), ".json")
	b := &botView{Title: name, Bot: name, League: mainLeague, Here: p.Present(name), History: []point{}, Opponents: []opponent{}, Builds: []buildView{},
		Nights: []nightLink{}}
	if league := r.URL.Query().Get("league"); league != "" {
		b.League = league
	}
	err := p.Season(ctx, b.League, func(s *arena.Season, elo *arena.Elo) error {
		for _, row := range elo.Rows {
			if row.Bot != name {
				continue
			}
			line := eloLine{Rank: row.Place, Low: row.Rank.Low, High: row.Rank.High, Bot: row.Bot, Build: row.Build, Owner: row.Owner, Elo: row.Elo,
				Margin: finite(row.Interval), Sign: row.Bound.String(), Best: row.Rank.Best, Placement: row.Placement, Firsts: row.Firsts, Games: row.Games,
				Provisional: row.Provisional}
			b.Rating = &line
			for _, of := range append([]arena.EloRow{row}, row.Older...) {
				stats, _ := s.Stats(name, of.Build)
				b.Builds = append(b.Builds, buildOf(of.Build, stats))
			}
		}
		if b.Rating == nil {
			return nil
		}
		for _, other := range elo.Rows {
			if other.Bot == name {
				continue
			}
			c, err := s.Compare(name, other.Bot)
			if err != nil {
				return err
			}
			if c.Meetings > 0 {
				b.Opponents = append(b.Opponents, opponent{other.Bot, c.Meetings, c.Wins, c.Ties, c.Elo, finite(c.Interval), c.LOS})
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if b.History, err = p.history(ctx, b.League, name); err != nil {
		return nil, err
	}
	b.Chart = drawn(b.History)
	if b.Nights, err = p.nightsOf(ctx, name); err != nil {
		return nil, err
	}
	if err := p.log(ctx, r, b); err != nil {
		return nil, err
	}
	if b.Rating == nil && len(b.Nights) == 0 && !b.Here && !b.Mine {
		return nil, missing("No bot %q has played here.", name)
	}
	return b, nil
}

// log adds what the one who has signed in may see alone.
func (p *Pages) log(ctx context.Context, r *http.Request, b *botView) error {
	who, signedIn, err := p.reader(ctx, r)
	if err != nil || !signedIn {
		return err
	}
	b.Reader = who.String()
	lines, mine, err := p.Trouble(ctx, who, b.Bot)
	if err != nil {
		return err
	}
	b.Mine, b.Cut = mine, len(lines) > logLines
	b.Log = lines[max(0, len(lines)-logLines):]
	slices.Reverse(b.Log)
	return nil
}

// history is how a bot stood after each of its tournaments, the oldest first.
func (p *Pages) history(ctx context.Context, league, bot string) ([]point, error) {
	moments, err := p.History(ctx, league, bot)
	if err != nil {
		return nil, err
	}
	points := make([]point, len(moments))
	for i, m := range moments {
		at := m.Points[bot]
		points[i] = point{m.Tournament, m.Ended, at.Elo, finite(at.Interval)}
	}
	return points, nil
}

// nightsOf are the newest tournaments that a bot has entered.
func (p *Pages) nightsOf(ctx context.Context, bot string) ([]nightLink, error) {
	heads, err := p.Arena.Store.Tournaments(ctx, 0, nightsShown)
	if err != nil {
		return nil, err
	}
	links := []nightLink{}
	for _, head := range heads {
		if head.State == arena.Draft {
			continue
		}
		t, err := p.Arena.Tournament(ctx, head.ID)
		if err != nil {
			return nil, err
		}
		if _, entered := t.Entry(bot); entered {
			links = append(links, link(head))
		}
	}
	return links, nil
}

func buildOf(name string, stats arena.Stats) buildView {
	b := buildView{Build: name, Games: stats.Games, Points: stats.MeanPoints(), Busts: stats.BustRate(), Requests: stats.Requests, Slips: stats.Slips,
		Faults: []count{}, Latency: []bucket{}, P50: short(stats.Latency.Quantile(.5)), P99: short(stats.Latency.Quantile(.99)), Max: short(stats.Latency.Max())}
	for _, f := range faultNames {
		if n := stats.Faults[f.cause]; n > 0 {
			b.Faults = append(b.Faults, count{f.name, n})
		}
	}
	// A bar for each power of four from 64 us up: eight of them cover what the limits allow.
	bound, n, most := 64*time.Microsecond, 0, 1
	add := func() {
		b.Latency = append(b.Latency, bucket{UpTo: short(bound), N: n})
		most = max(most, n)
	}
	for upTo, count := range stats.Latency.Buckets() {
		for upTo > bound {
			add()
			bound, n = 4*bound, 0
		}
		n += count
	}
	if n > 0 {
		add()
	}
	for i := range b.Latency {
		b.Latency[i].Width = 100 * b.Latency[i].N / most
	}
	return b
}

// short is a duration to two digits or so.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= 10*unit {
			return d.Round(unit).String()
		}
		if d >= unit {
			return d.Round(unit / 10).String()
		}
	}
	return d.String()
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// chart is the history as a picture, in a box of 600 by 200.
type chart struct {
	Line, Band  string // points of an SVG polyline and polygon
	Dots        []dot
	Top, Bottom float64 // of the scale
}

type dot struct {
	X, Y float64
	At   point
}

// drawn is the chart of a history, nil if there is nothing to draw.
func drawn(history []point) *chart {
	if len(history) == 0 {
		return nil
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range history {
		margin := 0.0
		if p.Margin != nil {
			margin = *p.Margin
		}
		low, high = min(low, p.Elo-margin), max(high, p.Elo+margin)
	}
	low, high = low-10, high+10
	y := func(elo float64) float64 { return math.Round(10*(200-200*(elo-low)/(high-low))) / 10 }
	c := &chart{Top: high, Bottom: low}
	var line, above, below []string
	for i, p := range history {
		x := 300.0
		if len(history) > 1 {
			x = math.Round(10*(20+560*float64(i)/float64(len(history)-1))) / 10
		}
		margin := 0.0
		if p.Margin != nil {
			margin = *p.Margin
		}
		c.Dots = append(c.Dots, dot{x, y(p.Elo), p})
		line = append(line, at(x, y(p.Elo)))
		above = append(above, at(x, y(p.Elo+margin)))
		below = append([]string{at(x, y(p.Elo-margin))}, below...)
	}
	c.Line, c.Band = strings.Join(line, " "), strings.Join(append(above, below...), " ")
	return c
}

func at(x, y float64) string {
	return strconv.FormatFloat(x, 'f', 1, 64) + "," + strconv.FormatFloat(y, 'f', 1, 64)
}
