package web

import (
	"context"
	"net/http"
	"time"
)

// screenView is the page for the room: who leads, and the game that is the most exciting now.
type screenView struct {
	Title string     `json:"-"`
	Night *nightView `json:"tonight,omitempty"`
	Elo   eloView    `json:"elo"`
	Game  *gameView  `json:"game,omitempty"`
	Live  string     `json:"-"`
}

func (screenView) lasts() bool { return false }

// afterglow is how long the screen goes on to show a night that is over, if no other has begun.
const afterglow = 12 * time.Hour

// linesOnScreen is how many lines of a table can be read from the back of a room.
const linesOnScreen = 12

// Leaders are the lines of the standings that fit.
func (s screenView) Leaders() []standing {
	if s.Night == nil {
		return nil
	}
	return s.Night.Standings[:min(len(s.Night.Standings), linesOnScreen)]
}

func (p *Pages) screen(ctx context.Context, _ *http.Request) (view, error) { return p.screenPage(ctx) }

func (p *Pages) screenPage(ctx context.Context) (*screenView, error) {
	home, err := p.homePage(ctx, "")
	if err != nil {
		return nil, err
	}
	s := &screenView{Title: "Flip 7 Arena", Night: home.Tonight, Elo: home.Elo, Live: "/screen/live"}
	s.Elo.Rows = s.Elo.Rows[:min(len(s.Elo.Rows), linesOnScreen)]
	if s.Night == nil {
		s.Night, err = p.justOver(ctx, home.Past)
		return s, err
	}
	// The most is at stake where a bot at the table is nearest to its end: by what it has and what lies in front of it.
	most := -1
	for _, id := range p.Watch.Running(s.Night.ID) {
		g, err := p.gameAt(ctx, id, 0)
		if err != nil || !g.Running {
			continue // it ended while we looked
		}
		for _, seat := range g.Frame.Seats {
			if stake := seat.Total + seat.Points; stake > most {
				most, s.Game = stake, g
			}
		}
	}
	return s, nil
}

// justOver is the night that ended last, if that is not long ago.
func (p *Pages) justOver(ctx context.Context, past []nightLink) (*nightView, error) {
	if len(past) == 0 || time.Since(past[0].When) > afterglow {
		return nil, nil
	}
	t, err := p.shown(ctx, past[0].ID)
	if err != nil {
		return nil, err
	}
	return p.night(ctx, t)
}

// screenSource is the page for the room as things go on.
func (p *Pages) screenSource(*http.Request) (source, error) {
	return source{key: "/screen/live", parts: []string{"screen"}, pause: time.Second,
		find: func(ctx context.Context) (view, error) { return p.screenPage(ctx) }}, nil
}
