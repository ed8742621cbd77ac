package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// gameView is the page of a game, running or over.
type gameView struct {
	Title      string `json:"-"`
	Tournament int64  `json:"tournament"`
	Night      string `json:"name"`
	Round      int    `json:"pairing_round"`
	Where      string `json:"-"` // the pairing round in words
	Table      int    `json:"table"`
	Game       int    `json:"game"`
	Of         int    `json:"of"`
	Attempt    int    `json:"attempt"`
	Frame      frame  `json:"frame"`
	Running    bool   `json:"running"`
	Timeout    string `json:"decision_timeout"`
	Bank       string `json:"time_bank"`
	Seed       string `json:"seed,omitempty"` // when the table is over
	Path       string `json:"-"`
	Live       string `json:"-"`
	Thought    string `json:"thought,omitempty"` // how long a decision took; when the table is over
	fixed      bool
}

func (g gameView) lasts() bool { return g.fixed }

// Steps are the addresses of the steps around the one that is shown.
func (g gameView) Steps() (steps struct{ First, Back, On, Last int }) {
	steps.First, steps.Back, steps.On, steps.Last = 1, max(1, g.Frame.Step-1), min(g.Frame.Last, g.Frame.Step+1), g.Frame.Last
	return steps
}

// number is a part of an address that has to be a number from 1, and written in one way: pages with other addresses are other
// pages, each made for itself.
func number(r *http.Request, name string) (int, error) {
	text := strings.TrimSuffix(r.PathValue(name), ".json")
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || text != strconv.Itoa(n) {
		return 0, missing("There is no %s %q; they are numbered from 1.", name, text)
	}
	return n, nil
}

// gameID is the game that an address names.
func gameID(r *http.Request) (id arena.GameID, err error) {
	t, err := number(r, "tournament")
	id.Tournament = int64(t)
	for name, n := range map[string]*int{"round": &id.Round, "table": &id.Table, "game": &id.Number} {
		if err == nil {
			*n, err = number(r, name)
		}
	}
	return id, err
}

// game is the page of a game at the step of the query; without one, a game that is over is shown at its beginning and one that
// runs as far as it has got.
func (p *Pages) game(ctx context.Context, r *http.Request) (view, error) {
	id, err := gameID(r)
	if err != nil {
		return nil, err
	}
	step := 0
	if text := r.URL.Query().Get("step"); text != "" {
		if step, err = strconv.Atoi(text); err != nil || step < 1 {
			return nil, &wrong{http.StatusBadRequest, fmt.Sprintf("step: %q is not a number from 1.", text)}
		}
	}
	return p.gameAt(ctx, id, step)
}

// gameAt is a game at a step; 0 for where one would begin to look.
func (p *Pages) gameAt(ctx context.Context, id arena.GameID, step int) (*gameView, error) {
	t, err := p.shown(ctx, id.Tournament)
	if err != nil {
		return nil, err
	}
	if id.Round > len(t.Rounds) || id.Table > len(t.Rounds[id.Round-1].Tables) {
		return nil, missing("There is no such table.")
	}
	tab := t.Rounds[id.Round-1].Tables[id.Table-1]
	of := t.Settings.Games(id.Round, len(tab.Bots))
	path := fmt.Sprintf("/g/%d/%d/%d/%d", id.Tournament, id.Round, id.Table, id.Number)
	g := &gameView{Title: fmt.Sprintf("Game %d, table %d", id.Number, id.Table), Tournament: id.Tournament, Night: t.Settings.Name, Round: id.Round, Where: roundName(t, id.Round),
		Table: id.Table, Game: id.Number, Of: of, Path: path,
		Timeout: short(t.Settings.DecisionTimeout), Bank: short(max(t.Settings.TimeBank, 0))}

	at := step
	if at == 0 {
		at = -1
	}
	shot := &camera{step: at}
	running, there, err := p.Watch.Follow(id, shot)
	switch {
	case err != nil:
		return nil, err
	case there:
		g.Attempt, g.Running = running.Attempt, !running.Ended
		shot.bots, shot.moves = running.Info.Bots, running.Moves
		shot.now(running.State)
		g.Frame = shot.frame()
		if step == 0 {
			g.Live = path + "/live"
		}
		return g, nil
	}
	played, err := p.Arena.Store.Game(ctx, id)
	if errors.Is(err, arena.ErrNotFound) {
		return nil, missing("This game has not begun, or was never played.")
	}
	if err != nil {
		return nil, err
	}
	if step == 0 {
		shot.step = 1
	}
	shot.bots, shot.moves = namesOf(t, played.Game.Seats), played.Record.Moves
	if _, err := played.Record.Replay(deal.NewKeyed(played.Record.Seed), shot); err != nil {
		return nil, fmt.Errorf("replay game %s: %w", path, err)
	}
	g.Attempt, g.Frame = played.Game.Attempt, shot.frame()
	if tab.State == arena.Complete || tab.State == arena.Void { // only then others' thinking times and the seed are public
		g.Seed, g.fixed = fmt.Sprintf("%x", played.Record.Seed), true
		if shot.event.Kind == game.Decided && shot.decided <= len(played.Timings) {
			if took := played.Timings[shot.decided-1].Took; took > 0 { // house bots take no time
				g.Thought = short(took)
			}
		}
	}
	return g, nil
}

// namesOf are the names of entries by their numbers.
func namesOf(t *arena.Tournament, numbers []int) []string {
	names := make([]string, len(numbers))
	for i, number := range numbers {
		names[i] = t.Entries[number-1].Name
	}
	return names
}

// gameSource is a game as it is being played.
func (p *Pages) gameSource(r *http.Request) (source, error) {
	id, err := gameID(r)
	if err != nil {
		return source{}, err
	}
	seen, err := p.gameAt(r.Context(), id, 0)
	if err != nil {
		return source{}, err
	}
	return source{key: r.URL.Path, parts: []string{"table", "controls", "deal"}, pause: 100 * time.Millisecond,
		changed: func() <-chan struct{} { return p.Watch.Played(id.Tournament) },
		find: func(ctx context.Context) (view, error) {
			g, err := p.gameAt(ctx, id, 0)
			if gone, is := errors.AsType[*wrong](err); is && gone.status == http.StatusNotFound {
				return seen.brokenOff(), nil
			}
			if err == nil && g.Live == "" { // it ended with its table: the page is a replay from now on, shown at its end
				g, err = p.gameAt(ctx, id, g.Frame.Last)
				if err == nil {
					g.fixed = true
				}
			}
			if err == nil {
				seen = g
			}
			return g, err
		}}, nil
}

// brokenOff is the page of a running game as it was last, now that there is no such game any more: its table was made void, or
// its tournament cancelled. There is no replay of it.
func (g gameView) brokenOff() *gameView {
	g.Running, g.Live, g.fixed = false, "", true
	g.Frame.Says, g.Frame.Asks = "The game was broken off; nothing of it counts.", ""
	return &g
}
