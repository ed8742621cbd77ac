// Package hub spreads what happens in tournaments to any number of spectators. It keeps the newest events of each
// tournament in a ring and the decisions of each running game; a spectator reads from a position at its own pace, so that
// the slowest of them costs a table nothing and misses, at worst, what the ring no longer holds. It knows no wire: whoever
// serves spectators turns events into messages.
package hub

import (
	"slices"
	"sync"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// overKept is how many tournaments that are over keep their events, for spectators who come back late.
const overKept = 8

// kept is how many events of a tournament are kept: a pairing round of 1000 bots at tables of 4 has about 4,500.
const kept = 8192

// Hub is an arena.Audience with room for spectators.
type Hub struct {
	mu    sync.Mutex
	feeds map[int64]*feed
	over  []int64 // tournaments that are over and still have a feed, in the order in which they ended
}

// New is an empty hub.
func New() *Hub { return &Hub{feeds: map[int64]*feed{}} }

// feed is one tournament.
type feed struct {
	ring    []arena.Event // ring[n%kept] is event number n
	last    uint64        // number of the newest event, from 1
	games   map[arena.GameID]*live
	changed chan struct{} // closed and replaced at an event
	played  chan struct{} // closed at the next event or decision; nil: nobody waits for it
}

// live is a game whose table is not over.
type live struct {
	info    table.Info
	seed    [32]byte
	moves   []game.Move
	ended   bool
	attempt int
}

func (h *Hub) feed(tournament int64) *feed {
	f := h.feeds[tournament]
	if f == nil {
		f = &feed{games: map[arena.GameID]*live{}, changed: make(chan struct{})}
		h.feeds[tournament] = f
	}
	return f
}

// Happened implements arena.Audience. It never waits for a spectator.
func (h *Hub) Happened(e arena.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feed(e.Tournament)
	id := arena.GameID{Tournament: e.Tournament, Round: e.Round, Table: e.Table, Number: e.Game}
	switch e.Kind {
	case arena.GamePlay:
		if g := f.games[id]; g != nil && g.attempt == e.Attempt {
			g.moves = append(g.moves, e.Moves...)
		}
		f.wakePlayed()
		return
	case arena.GameBegan:
		f.games[id] = &live{info: *e.Info, seed: e.Seed, moves: slices.Clone(e.Moves), attempt: e.Attempt}
		f.add(e)
	case arena.GameEnded:
		if g := f.games[id]; g != nil {
			g.ended = true
		}
		f.add(e)
	case arena.TableChanged:
		if e.Text == arena.Complete.String() || e.Text == arena.Void.String() {
			for g := range f.games {
				if g.Round == e.Round && g.Table == e.Table {
					delete(f.games, g)
				}
			}
		}
		f.add(e)
	default:
		f.add(e)
	}
	if e.Kind == arena.StateChanged && (e.Text == arena.Finished.String() || e.Text == arena.Cancelled.String()) {
		clear(f.games) // those that were broken off: no table of theirs will be said to be over
		h.end(e.Tournament)
	}
	close(f.changed)
	f.changed = make(chan struct{})
	f.wakePlayed()
}

// wakePlayed wakes those who wait for a decision. There are many decisions, and hardly ever somebody who does.
func (f *feed) wakePlayed() {
	if f.played != nil {
		close(f.played)
		f.played = nil
	}
}

// end forgets the oldest of the tournaments that are over, if there are too many.
func (h *Hub) end(tournament int64) {
	h.over = append(h.over, tournament)
	if len(h.over) > overKept {
		delete(h.feeds, h.over[0])
		h.over = slices.Delete(h.over, 0, 1)
	}
}

// add puts an event into the ring, without what spectators must not know yet.
func (f *feed) add(e arena.Event) {
	if e.Kind == arena.GameBegan {
		e.Seed, e.Moves = [32]byte{}, nil
	}
	f.last++
	if len(f.ring) < kept {
		f.ring = append(f.ring, e)
		return
	}
	f.ring[(f.last-1)%kept] = e
}

// Last is the number of the newest event of a tournament; 0 if nothing has happened yet.
func (h *Hub) Last(tournament int64) uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.feed(tournament).last
}

// Changed is closed at the next event of a tournament. Take it before looking at what there is.
func (h *Hub) Changed(tournament int64) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.feed(tournament).changed
}

// Played is closed at the next event of a tournament or decision in one of its games.
func (h *Hub) Played(tournament int64) <-chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feed(tournament)
	if f.played == nil {
		f.played = make(chan struct{})
	}
	return f.played
}

// Events are those after a number, at most limit, and how many before them are no longer kept.
func (h *Hub) Events(tournament int64, after uint64, limit int) (events []arena.Event, missed uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feed(tournament)
	if after >= f.last {
		return nil, 0
	}
	first := after + 1
	if oldest := f.last - uint64(len(f.ring)) + 1; first < oldest {
		missed, first = oldest-first, oldest
	}
	for n := first; n <= f.last && len(events) < limit; n++ {
		events = append(events, f.ring[(n-1)%kept])
	}
	return events, missed
}

// Games are the games of a tournament whose tables are not over, in order.
func (h *Hub) Games(tournament int64) []arena.GameID {
	h.mu.Lock()
	defer h.mu.Unlock()
	var ids []arena.GameID
	for id := range h.feed(tournament).games {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, compare)
	return ids
}

func compare(a, b arena.GameID) int {
	for _, d := range []int{a.Round - b.Round, a.Table - b.Table, a.Number - b.Number} {
		if d != 0 {
			return d
		}
	}
	return 0
}

// Game is a running game as far as it has got: what spectators may know of it, and the decisions after the first so many.
type Game struct {
	Info    table.Info
	Attempt int
	Moves   []game.Move // after those that were asked to be left out
	Ended   bool
	seed    [32]byte
}

// Game finds a game whose table is not over.
func (h *Hub) Game(id arena.GameID, after int) (Game, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	g := h.feed(id.Tournament).games[id]
	if g == nil {
		return Game{}, false
	}
	return Game{Info: g.info, Attempt: g.attempt, Moves: slices.Clone(g.moves[min(after, len(g.moves)):]), Ended: g.ended, seed: g.seed}, true
}

// Follower plays a running game again as its decisions become known, so that a spectator sees every card.
type Follower struct {
	Info    table.Info
	Attempt int
	State   game.State
	moves   int // played so far
}

// Follow begins to follow a game; tell is told of everything that happened so far, and by Catch of what happens then.
func Follow(g Game, tell game.Observer) (*Follower, error) {
	f := &Follower{Info: g.Info, Attempt: g.Attempt}
	seats := len(g.Info.Bots)
	err := f.State.Reset(game.Setup{Seats: seats, Rules: g.Info.Rules, Dealer: g.Info.Dealer, Deal: deal.NewKeyed(g.seed), Observer: tell})
	if err != nil {
		return nil, err
	}
	return f, f.Catch(g.Moves)
}

// Moves is how many decisions have been played: what to leave out of the next Game.
func (f *Follower) Moves() int { return f.moves }

// Catch plays further decisions.
func (f *Follower) Catch(moves []game.Move) error {
	for _, m := range moves {
		if err := f.State.Apply(m.Decision); err != nil {
			return err
		}
		f.moves++
	}
	return nil
}
