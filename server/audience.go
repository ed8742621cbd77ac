package server

import (
	"maps"
	"sync"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/server/hub"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/wire"
)

// audience is told by the arena what happens, and tells it on: to the metrics, to the bots at the table that want to know,
// and last to the spectators, who hear nothing earlier than they.
type audience struct {
	metrics *metrics
	bots    *remote.Bots
	hub     spectators

	mu    sync.Mutex
	games map[arena.GameID]*retold // those of which a bot wants the events
}

// spectators are told last. Game is a game as they know it.
type spectators interface {
	arena.Audience
	Game(id arena.GameID, after int) (hub.Game, bool)
}

// retold is a game that is played again for bots that want its events. One goroutine at a time plays it: that of the game.
type retold struct {
	follower *hub.Follower
	bots     *remote.Bots
	number   int
}

// Observe implements game.Observer.
func (r *retold) Observe(s *game.State, e game.Event) {
	r.number++
	r.bots.Event(wire.Event(r.follower.Info.ID, r.follower.Attempt, r.number, s, e))
}

// Happened implements arena.Audience.
func (a *audience) Happened(e arena.Event) {
	a.metrics.Happened(e)
	id := arena.GameID{Tournament: e.Tournament, Round: e.Round, Table: e.Table, Number: e.Game}
	switch e.Kind {
	case arena.GamePlay:
		a.retell(id, e)
	case arena.GameBegan, arena.GameEnded:
		a.mu.Lock()
		delete(a.games, id)
		a.mu.Unlock()
	case arena.TableChanged:
		a.forget(func(g arena.GameID) bool {
			return g.Tournament == e.Tournament && g.Round == e.Round && g.Table == e.Table
		})
	}
	a.hub.Happened(e)
	if e.Kind == arena.StateChanged && e.Text == arena.Cancelled.String() { // no table of it will be said to be over
		a.forget(func(g arena.GameID) bool { return g.Tournament == e.Tournament })
	}
}

// forget forgets games that are broken off or over.
func (a *audience) forget(which func(arena.GameID) bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	maps.DeleteFunc(a.games, func(id arena.GameID, _ *retold) bool { return which(id) })
}

// retell tells the bots of a game what a decision led to. The first bot that wants to know makes the game be played again
// from its beginning.
func (a *audience) retell(id arena.GameID, e arena.Event) {
	a.mu.Lock()
	r := a.games[id]
	a.mu.Unlock()
	if r == nil {
		if !a.bots.Wanted(wire.GameID(id), e.Attempt) {
			return
		}
		g, there := a.hub.Game(id, 0) // without this decision, of which the hub is told last
		if !there {
			return
		}
		r = &retold{follower: &hub.Follower{Info: g.Info, Attempt: g.Attempt}, bots: a.bots}
		follower, err := hub.Follow(g, r)
		if err != nil {
			return // it is played from the same decisions: the table fails the same way, and says so
		}
		r.follower = follower
		a.mu.Lock()
		a.games[id] = r
		a.mu.Unlock()
	}
	_ = r.follower.Catch(e.Moves)
}
