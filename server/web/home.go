package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// nightsShown is how many past nights the home page lists.
const nightsShown = 30

// mainLeague is the league of tournaments that name none.
const mainLeague = "main"

// homeView is the first page.
type homeView struct {
	Title   string      `json:"-"`
	Tonight *nightView  `json:"tonight,omitempty"`
	Next    []nightLink `json:"open"` // others that can be entered or run
	Past    []nightLink `json:"past"`
	Elo     eloView     `json:"elo"`
	Leagues []string    `json:"other_leagues,omitempty"`
	Address string      `json:"address"`
	Trust   string      `json:"ca_file,omitempty"` // which comes from the organiser
	Live    string      `json:"-"`
}

func (homeView) lasts() bool { return false }

// nightLink names a tournament.
type nightLink struct {
	ID     int64     `json:"id"`
	Name   string    `json:"name"`
	League string    `json:"league"`
	State  string    `json:"state"`
	When   time.Time `json:"when"`
}

// eloView is the Elo table of a league.
type eloView struct {
	League string    `json:"league"`
	Games  int       `json:"games"`
	Nights int       `json:"tournaments"`
	Anchor string    `json:"anchor,omitempty"` // has 1500; else the mean has
	Zero   string    `json:"-"`                // says so
	Rows   []eloLine `json:"rows"`
	Out    []string  `json:"excluded,omitempty"` // what was taken out, and why
}

// eloLine is a line of it.
type eloLine struct {
	Rank        int      `json:"rank"`
	Low         int      `json:"rank_best"`
	High        int      `json:"rank_worst"`
	Group       int      `json:"group"` // bots of different groups cannot be compared
	Bot         string   `json:"bot"`
	Build       string   `json:"build,omitempty"`
	Owner       string   `json:"owner,omitempty"`
	Elo         float64  `json:"elo"`
	Margin      *float64 `json:"margin,omitempty"`
	Sign        string   `json:"bound,omitempty"` // ">" or "<" where the rating is a bound
	LOS         *float64 `json:"los,omitempty"`   // against the next one
	Best        float64  `json:"p_best"`
	Placement   float64  `json:"placement"`
	Firsts      float64  `json:"first_places"`
	Games       int      `json:"games"`
	Provisional bool     `json:"provisional,omitempty"`
	Alike       bool     `json:"like_the_next,omitempty"` // cannot be told apart from the line below
}

// home is the first page: the newest tournament that runs or can be entered, the Elo table, and what was before.
func (p *Pages) home(ctx context.Context, r *http.Request) (view, error) {
	return p.homePage(ctx, r.URL.Query().Get("league"))
}

// homePage is the first page with the Elo table of a league; "" for that of tonight, or of the last night that is rated.
func (p *Pages) homePage(ctx context.Context, league string) (*homeView, error) {
	h := &homeView{Title: "Flip 7 Arena", Address: p.Address, Live: "/live", Next: []nightLink{}, Past: []nightLink{}}
	if p.Trust != "" {
		h.Trust = filepath.Base(p.Trust)
	}
	if league != "" {
		h.Live += "?league=" + url.QueryEscape(league)
	}
	heads, err := p.Arena.Store.Tournaments(ctx, 0, nightsShown)
	if err != nil {
		return nil, fmt.Errorf("list tournaments: %w", err)
	}
	tonight := slices.IndexFunc(heads, func(t arena.Tournament) bool { return t.State.Live() })
	if tonight < 0 {
		tonight = slices.IndexFunc(heads, func(t arena.Tournament) bool { return t.State == arena.Open })
	}
	over := pastOf(heads)
	for _, head := range over {
		h.Past = append(h.Past, link(head))
	}
	for i, head := range heads {
		switch {
		case i == tonight:
			league = cmp.Or(league, head.Settings.League)
			t, err := p.shown(ctx, head.ID)
			if err == nil {
				h.Tonight, err = p.night(ctx, t)
			}
			if err != nil {
				return nil, err
			}
		case head.State != arena.Draft && !head.State.Over():
			h.Next = append(h.Next, link(head))
		}
	}
	if last := slices.IndexFunc(over, func(t arena.Tournament) bool { return t.Unrated() == "" }); last >= 0 {
		league = cmp.Or(league, over[last].Settings.League)
	}
	league = cmp.Or(league, mainLeague)
	if h.Leagues, err = p.otherLeagues(ctx, league); err != nil {
		return nil, err
	}
	h.Elo, err = p.elo(ctx, league)
	return h, err
}

// otherLeagues are the leagues but for one, which there must be: whoever makes names up would have their tables made.
func (p *Pages) otherLeagues(ctx context.Context, league string) ([]string, error) {
	leagues, err := p.Arena.Leagues(ctx)
	if err != nil {
		return nil, err
	}
	if league != mainLeague && !slices.Contains(leagues, league) {
		return nil, missing("There is no league %q.", league)
	}
	return slices.DeleteFunc(leagues, func(name string) bool { return name == league }), nil
}

// pastOf are those of some tournaments that are over, the one that ended last first: a night may outlast a newer one.
func pastOf(heads []arena.Tournament) []arena.Tournament {
	over := slices.DeleteFunc(slices.Clone(heads), func(t arena.Tournament) bool { return !t.State.Over() })
	slices.SortFunc(over, func(a, b arena.Tournament) int {
		return cmp.Or(link(b).When.Compare(link(a).When), cmp.Compare(b.ID, a.ID))
	})
	return over
}

func link(t arena.Tournament) nightLink {
	when := t.Created
	for _, at := range []time.Time{t.StartAt, t.Started, t.Ended} {
		if !at.IsZero() {
			when = at
		}
	}
	return nightLink{t.ID, t.Settings.Name, t.Settings.League, t.State.String(), when}
}

func (p *Pages) elo(ctx context.Context, league string) (eloView, error) {
	shown := eloView{League: league, Rows: []eloLine{}}
	err := p.Season(ctx, league, func(_ *arena.Season, elo *arena.Elo) error {
		shown.Games, shown.Nights, shown.Anchor, shown.Zero = elo.Games, elo.Tournaments, elo.Anchor, elo.Zero()
		for _, out := range elo.Excluded {
			shown.Out = append(shown.Out, outSays(out))
		}
		for _, row := range elo.Rows {
			shown.Rows = append(shown.Rows, lineOf(row))
		}
		for _, run := range elo.Alike {
			for i := run.First; i < run.Last; i++ {
				shown.Rows[i].Alike = true
			}
		}
		return nil
	})
	return shown, err
}

func lineOf(row arena.EloRow) eloLine {
	return eloLine{Rank: row.Place, Low: row.Rank.Low, High: row.Rank.High, Group: row.Group, Bot: row.Bot, Build: row.Build, Owner: row.Owner,
		Elo: row.Elo, Margin: finite(row.Interval), Sign: row.Bound.String(), LOS: finite(row.LOS), Best: row.Rank.Best, Placement: row.Placement,
		Firsts: row.Firsts, Games: row.Games, Provisional: row.Provisional}
}

// outSays says what was taken out of the rating, and why.
func outSays(out arena.Exclusion) string {
	what := fmt.Sprintf("tournament %d", out.Tournament)
	for _, part := range []struct {
		name   string
		number int
	}{{"pairing round", out.Round}, {"table", out.Table}, {"game", out.Game}} {
		if part.number > 0 {
			what += fmt.Sprintf(", %s %d", part.name, part.number)
		}
	}
	return what + ": " + out.Why
}

// homeSource is the home page as things go on. Nothing tells of all tournaments at once, so it looks now and then.
func (p *Pages) homeSource(r *http.Request) (source, error) {
	league := r.URL.Query().Get("league")
	if _, err := p.otherLeagues(r.Context(), cmp.Or(league, mainLeague)); err != nil {
		return source{}, err
	}
	return source{key: "/live?" + league, parts: []string{"tonight", "elo", "nights"}, pause: 2 * time.Second,
		find: func(ctx context.Context) (view, error) { return p.homePage(ctx, league) }}, nil
}
