package web

import (
	"context"
	"fmt"
	"iter"
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
	House     bool        `json:"house,omitempty"` // the server plays it
	Rating    *eloLine    `json:"rating,omitempty"`
	History   []point     `json:"history"`
	Chart     *chart      `json:"-"`
	Opponents []opponent  `json:"opponents"`
	Builds    []buildView `json:"builds"`
	Games     []botGame   `json:"games"` // the newest, the newest first
	Nights    []nightLink `json:"tournaments"`
	Reader    string      `json:"-"`             // who has signed in
	Mine      bool        `json:"-"`             // and may see the log
	Log       []LogLine   `json:"log,omitempty"` // the newest first
	Cut       bool        `json:"-"`             // there are older lines
}

const (
	// gamesOfBot is how many games the page of a bot lists, and nightsOfGames in how many tournaments they are looked for.
	gamesOfBot    = 12
	nightsOfGames = 3
)

// botGame is a game of a bot that is over.
type botGame struct {
	Path  string    `json:"path"`
	Where string    `json:"where"`
	Place int       `json:"place"`
	Total int       `json:"points"`
	Bots  []string  `json:"against"`
	Night nightLink `json:"night"`
}

// SeveralNights reports whether the games that are listed are of more than one night.
func (b botView) SeveralNights() bool {
	return len(b.Games) > 0 && slices.ContainsFunc(b.Games, func(g botGame) bool { return g.Night.ID != b.Games[0].Night.ID })
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
	Anchor     string    `json:"anchor,omitempty"` // has 1500; else the mean has. Points of different anchors cannot be compared.
}

// opponent is another bot, and how this one did against it.
type opponent struct {
	Bot      string   `json:"bot"`
	Meetings int      `json:"meetings"`
	Above    int      `json:"above"`
	Tied     int      `json:"tied"`
	Elo      float64  `json:"elo_difference"`
	Margin   *float64 `json:"margin,omitempty"`
	Stronger *float64 `json:"los,omitempty"` // absent, as Margin, where nothing can be said
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
	Share int    `json:"-"`               // of all, percent
	Limit string `json:"limit,omitempty"` // what lies between this bar and the one before; such a bucket has no bar
}

// limits are what a bot may take for a decision in the tournament that it entered last.
type limits struct{ timeout, bank time.Duration }

// bot is the page of a bot: what it made of the games of a league that count.
func (p *Pages) bot(ctx context.Context, r *http.Request) (view, error) {
	name := strings.TrimSuffix(r.PathValue("bot"), ".json")
	b := &botView{Title: name, Bot: name, League: mainLeague, Here: p.Present(name), History: []point{}, Opponents: []opponent{}, Builds: []buildView{},
		Games: []botGame{}, Nights: []nightLink{}}
	if league := r.URL.Query().Get("league"); league != "" {
		b.League = league
	}
	if _, err := p.otherLeagues(ctx, b.League); err != nil {
		return nil, err
	}
	entered, err := p.Entered(ctx, name, nightsShown)
	if err != nil {
		return nil, fmt.Errorf("tournaments of bot %q: %w", name, err)
	}
	for _, head := range entered {
		b.Nights = append(b.Nights, link(head))
	}
	if b.Games, err = p.gamesOf(ctx, name, entered); err != nil {
		return nil, err
	}
	allowed, anchor := limitsOf(entered), ""
	err = p.Season(ctx, b.League, func(s *arena.Season, elo *arena.Elo) error {
		for _, row := range elo.Rows {
			if row.Bot != name {
				continue
			}
			line := lineOf(row)
			b.Rating = &line
			if row.Group == 0 {
				anchor = elo.Anchor
			}
			for _, build := range append([]arena.EloRow{row}, row.Older...) {
				stats, house := s.Stats(name, build.Build)
				b.House = house
				b.Builds = append(b.Builds, buildOf(build.Build, stats, s.Kicked(name, build.Build), allowed))
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
				b.Opponents = append(b.Opponents, against(other.Bot, c))
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
	b.Chart = drawn(b.History, anchor)
	if err := p.log(ctx, r, b); err != nil {
		return nil, err
	}
	if b.Rating == nil && len(b.Nights) == 0 && !b.Here && !b.Mine {
		return nil, missing("No bot %q has played here.", name)
	}
	return b, nil
}

// against is how a bot did against another.
func against(other string, c arena.Comparison) opponent {
	o := opponent{Bot: other, Meetings: c.Meetings, Above: c.Wins, Tied: c.Ties, Elo: c.Elo, Margin: finite(c.Interval)}
	if o.Margin != nil {
		o.Stronger = &c.LOS
	}
	return o
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
		points[i] = point{m.Tournament, m.Ended, at.Elo, finite(at.Interval), at.Anchor}
	}
	return points, nil
}

// gamesOf are the newest games of a bot at tables of the tournaments that it entered last.
func (p *Pages) gamesOf(ctx context.Context, bot string, entered []arena.Tournament) ([]botGame, error) {
	games := []botGame{}
	for _, head := range entered[:min(len(entered), nightsOfGames)] {
		t, err := p.shown(ctx, head.ID)
		if err != nil {
			return nil, err
		}
		e, there := t.Entry(bot)
		for _, round := range slices.Backward(t.Rounds) {
			for _, tab := range round.Tables {
				if !there || !slices.Contains(tab.Bots, e.Number) {
					continue
				}
				for _, g := range slices.Backward(tab.Games) {
					if len(games) == gamesOfBot {
						return games, nil
					}
					seat := slices.Index(g.Seats, e.Number)
					games = append(games, botGame{Path: fmt.Sprintf("/g/%d/%d/%d/%d", t.ID, round.Number, tab.Number, g.Number),
						Where: fmt.Sprintf("%s, table %d, game %d", roundName(t, round.Number), tab.Number, g.Number), Place: g.Result.Places[seat], Total: g.Result.Totals[seat],
						Bots: namesOf(t, slices.Delete(slices.Clone(g.Seats), seat, seat+1)), Night: link(head)})
				}
			}
		}
	}
	return games, nil
}

// limitsOf are the limits of the newest of some tournaments; zero if there is none.
func limitsOf(entered []arena.Tournament) limits {
	if len(entered) == 0 {
		return limits{}
	}
	s := entered[0].Settings
	return limits{s.DecisionTimeout, max(s.TimeBank, 0)}
}

func buildOf(name string, stats arena.Stats, kicked bool, of limits) buildView {
	b := buildView{Build: name, Games: stats.Games, Points: stats.MeanPoints(), Busts: stats.BustRate(), Requests: stats.Requests, Slips: stats.Slips,
		Faults: faultsOf(kicked, &stats), Latency: []bucket{}, P50: felt(stats.Latency.Quantile(.5)), P99: felt(stats.Latency.Quantile(.99)), Max: felt(stats.Latency.Max())}
	if stats.Latency.Max() > 0 { // house bots take no time
		b.Latency = histogram(stats.Latency.Buckets(), stats.Latency.Count(), of)
	}
	return b
}

// histogram has a bar for each power of four from 64 us up, of which eight cover what the limits allow, and between them the
// limits.
func histogram(counts iter.Seq2[time.Duration, int], all int, of limits) []bucket {
	bars := []bucket{}
	marks := []struct {
		at   time.Duration
		says string
	}{{of.timeout, short(of.timeout) + ": the decision timeout; then the bank runs"},
		{of.timeout + of.bank, short(of.timeout+of.bank) + ": the bank is empty too; the default decision is played"}}
	mark := func(bound time.Duration) {
		for len(marks) > 0 && marks[0].at <= bound {
			if of.timeout > 0 {
				bars = append(bars, bucket{Limit: marks[0].says})
			}
			marks = marks[1:]
		}
	}
	bound, n := 64*time.Microsecond, 0
	bar := func() {
		mark(bound / 2)
		bars = append(bars, bucket{UpTo: short(bound), N: n, Share: (100*n + all/2) / max(all, 1)})
		bound, n = 4*bound, 0
	}
	for upTo, count := range counts {
		for upTo > bound {
			bar()
		}
		n += count
	}
	if n > 0 {
		bar()
		mark(math.MaxInt64)
	}
	return bars
}

// short is a duration to two digits or so.
func short(d time.Duration) string {
	for _, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond} {
		if d >= 10*unit {
			d = d.Round(unit)
			break
		}
		if d >= unit {
			d = d.Round(unit / 10)
			break
		}
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	return text
}

// felt is a measured time; below a tenth of a millisecond it is the clock's and not the bot's.
func felt(d time.Duration) string {
	if d > 0 && d < 100*time.Microsecond {
		return "<0.1ms"
	}
	return short(d)
}

func finite(x float64) *float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return nil
	}
	return &x
}

// chart is the history as a picture, in a box of 640 by 220.
type chart struct {
	Lines, Bands []string // points of SVG polylines and polygons: one for each run of nights with the same anchor
	Dots         []dot
	Scale        []tick
	Anchor       string // of the rating that the bot has now
}

// Zero says what has 1500 in the chart.
func (c *chart) Zero() string {
	apart := slices.ContainsFunc(c.Dots, func(d dot) bool { return d.Apart })
	switch {
	case c.Anchor == "" && apart:
		return "The mean is 1500; at the hollow dots another bot had 1500, and no line joins what cannot be compared."
	case c.Anchor == "":
		return "The mean is 1500."
	case apart:
		return c.Anchor + " has 1500; at the hollow dots, before this bot could be compared with " + c.Anchor + ", the mean has: no line joins what cannot be compared."
	}
	return c.Anchor + " has 1500 throughout."
}

// dot is how the bot stood after a night, with the interval from Low to High.
type dot struct {
	X, Y, Low, High float64
	At              point
	Apart           bool // with another anchor than the rating that the bot has now
}

// tick is a line of the scale.
type tick struct {
	Y   float64
	Elo float64
}

// drawn is the chart of a history, nil if there is nothing to draw; anchor is that of the rating that the bot has now.
func drawn(history []point, anchor string) *chart {
	if len(history) == 0 {
		return nil
	}
	margin := func(p point) float64 {
		if p.Margin == nil {
			return 0
		}
		return *p.Margin
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range history {
		low, high = min(low, p.Elo-margin(p)), max(high, p.Elo+margin(p))
	}
	low, high = low-10, high+10
	y := func(elo float64) float64 { return math.Round(10*(10+200*(high-elo)/(high-low))) / 10 }
	c := &chart{Anchor: anchor}
	for _, share := range []float64{0, .25, .5, .75, 1} {
		elo := math.Round(low + share*(high-low))
		c.Scale = append(c.Scale, tick{y(elo), elo})
	}
	var line, above, below []string
	join := func() {
		if len(line) > 1 {
			slices.Reverse(below)
			c.Lines = append(c.Lines, strings.Join(line, " "))
			c.Bands = append(c.Bands, strings.Join(append(above, below...), " "))
		}
		line, above, below = nil, nil, nil
	}
	for i, p := range history {
		x := 350.0
		if len(history) > 1 {
			x = math.Round(10*(80+540*float64(i)/float64(len(history)-1))) / 10
		}
		d := dot{x, y(p.Elo), y(p.Elo - margin(p)), y(p.Elo + margin(p)), p, p.Anchor != anchor}
		c.Dots = append(c.Dots, d)
		if i > 0 && history[i-1].Anchor != p.Anchor {
			join()
		}
		line = append(line, at(x, d.Y))
		above = append(above, at(x, d.High))
		below = append(below, at(x, d.Low))
	}
	join()
	return c
}

func at(x, y float64) string {
	return strconv.FormatFloat(x, 'f', 1, 64) + "," + strconv.FormatFloat(y, 'f', 1, 64)
}
