package remote

import (
	"slices"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// bot is a bot with all its streams and games. Its mutex guards the sessions, lanes and players too that belong to it.
type bot struct {
	name  string
	arena *Bots

	mu       sync.Mutex
	streams  map[*session]struct{} // served now, with or without Hello
	sessions []*session            // welcomed, oldest first
	spare    *lane                 // has the games while no session is there
	players  []*player             // its seats in running games, in the order in which they began
	byKey    map[string]*player

	newest       Session // that said Hello
	contribution [32]byte
	pinned       bool
	pin          string

	streak int // requests in a row that it left unanswered, over all its games
	absent bool

	messages int
	lost     int
	causes   [game.TimedOut + 1]int
	slips    int
	absences int
	dropped  int
	latency  table.Latency

	flood   *rate.Limiter // of messages nobody asked for, over all streams
	garbage *rate.Limiter // of messages that mean nothing
	opened  *rate.Limiter // of streams
}

const (
	// A bot may say some things that mean nothing, as one of another version does, and not only such things.
	garbagePerSecond = 1
	garbageBurst     = 64

	// Streams that a bot may open: many more than a kit does that has lost them.
	streamsPerSecond = 10
	streamBurst      = 100

	// usualBytes are those of a message, with a note of its full length.
	usualBytes = 512
)

func newBot(arena *Bots, name string) *bot {
	return &bot{
		name:    name,
		arena:   arena,
		streams: make(map[*session]struct{}),
		// Without a stream requests go one after the other, as to a bot that has not said what it can take: so a bot that
		// is lost for a moment loses time in one game only. Until the grace is over none go.
		spare:   &lane{maxOpen: 1, held: time.Since(arena.began) < arena.limits.ReconnectGrace},
		byKey:   make(map[string]*player),
		flood:   rate.NewLimiter(rate.Limit(arena.limits.MessagesPerSecond), arena.limits.MessageBurst),
		garbage: rate.NewLimiter(garbagePerSecond, garbageBurst),
		opened:  rate.NewLimiter(streamsPerSecond, streamBurst),
	}
}

// lane is what one instance of a bot has to do: its games, and the requests that are open there or wait for a slot.
type lane struct {
	session  *session // nil: nobody is there
	maxGames int
	maxOpen  int
	held     bool // nothing leaves, clocks stand
	games    int  // whose home it is
	open     int  // slots taken
	waiting  []*player
}

// offer gives the lane a request to answer: now if a slot is free, else as soon as one is. One whose clock runs already
// goes before those whose clocks stand.
func (l *lane) offer(p *player, now time.Time) {
	p.places = append(p.places, place{lane: l})
	at := len(l.waiting)
	if p.ticking {
		at = l.ticking()
	}
	l.waiting = slices.Insert(l.waiting, at, p)
	l.fill(now)
}

// ticking is how many of those who wait have their clocks running. They are in front.
func (l *lane) ticking() int {
	n := 0
	for n < len(l.waiting) && l.waiting[n].ticking {
		n++
	}
	return n
}

// fill gives free slots to those who wait.
func (l *lane) fill(now time.Time) {
	for !l.held && l.open < l.maxOpen && len(l.waiting) > 0 {
		p := l.waiting[0]
		l.waiting = slices.Delete(l.waiting, 0, 1)
		l.open++
		p.placed(l).slot = true
		if l.session == nil {
			p.start(now, 0)
		} else {
			l.session.push(item{kind: request, player: p, number: p.number})
		}
	}
}

// leave takes a request out of the lane.
func (l *lane) leave(p *player, slot bool, now time.Time) {
	if !slot {
		l.waiting = slices.DeleteFunc(l.waiting, func(other *player) bool { return other == p })
		return
	}
	l.open--
	l.fill(now)
}

// room is for how many more games there is room in the lane, negative if there are too many.
func (l *lane) room() int { return l.maxGames - l.games }

// home is the lane for another game: of the instances the one with most room, or nobody's.
func (b *bot) home() *lane {
	if len(b.sessions) == 0 {
		return b.spare
	}
	best := b.sessions[0].lane
	for _, s := range b.sessions[1:] {
		if s.lane.room() > best.room() {
			best = s.lane
		}
	}
	return best
}

// join takes a session in that has said Hello, instead of old if that is not nil. It gets the games of old, and those that
// are nobody's.
func (b *bot) join(s, old *session, now time.Time) {
	b.alive()
	b.sessions = append(b.sessions, s)
	if s.events != nil {
		b.arena.curious.Add(1)
	}
	if old != nil {
		b.part(old, s.lane, now)
	}
	b.spare.held = true
	b.moveAll(b.spare, s.lane, now)
	b.spare.held = false
	for _, p := range b.players {
		if p.open && p.overdue && p.placed(s.lane) == nil {
			s.lane.offer(p, now) // another instance has had its time
		}
	}
}

// part takes a session out. Its games go to a lane, or by nil to where there is room.
func (b *bot) part(s *session, to *lane, now time.Time) {
	i := slices.Index(b.sessions, s)
	if i < 0 {
		return
	}
	b.sessions = slices.Delete(b.sessions, i, i+1)
	if s.events != nil {
		b.arena.curious.Add(-1)
	}
	b.lost++
	b.spare.maxOpen = s.lane.maxOpen
	s.lane.held = true
	for _, p := range b.players {
		switch at := p.placed(s.lane); {
		case at == nil:
		case p.home != s.lane:
			p.displace(s.lane, now)
		case at.slot:
			p.start(now, 0) // what the stream did not send in time stops no clock
		}
	}
	b.moveAll(s.lane, to, now)
}

// moveAll moves all games of a lane, by nil to where there is room: first those whose clocks run, which so keep slots.
func (b *bot) moveAll(from, to *lane, now time.Time) {
	for _, ticking := range []bool{true, false} {
		for _, p := range b.players {
			if p.home != from || p.ticking != ticking {
				continue
			}
			if to != nil {
				p.move(to, now)
			} else {
				p.move(b.home(), now)
			}
		}
	}
}

// release lets the requests go of a bot that has not been here since the arena started.
func (b *bot) release(now time.Time) {
	b.spare.held = false
	b.spare.fill(now)
}

// alive notes that the bot decides: it is not absent.
func (b *bot) alive() { b.streak, b.absent = 0, false }

// failed notes that the bot left a request unanswered.
func (b *bot) failed() {
	if b.streak++; b.streak >= faultsToAbsence {
		b.absent = true
	}
}

// practises reports whether the bot is here and would practise, whichever of its instances gets the game.
func (b *bot) practises() bool {
	return len(b.sessions) > 0 && !slices.ContainsFunc(b.sessions, func(s *session) bool { return !s.practice })
}

// instance is the session of an instance id, or nil.
func (b *bot) instance(id string) *session {
	for _, s := range b.sessions {
		if s.who.Instance == id {
			return s
		}
	}
	return nil
}

// connected tells who wants to know of a change of presence.
func (b *bot) connected() {
	b.arena.hooks.connected(b.arena.log, b.name, len(b.sessions))
	b.arena.change()
}

// ring keeps the newest events for a bot that wants them.
type ring struct {
	events [256]*flip7v1.ArenaMessage // some rounds of a large table
	first  int
	n      int
}

// add puts an event in, and reports whether another fell out.
func (r *ring) add(e *flip7v1.ArenaMessage) (fell bool) {
	if r.n == len(r.events) {
		r.events[r.first] = e
		r.first = (r.first + 1) % len(r.events)
		return true
	}
	r.events[(r.first+r.n)%len(r.events)] = e
	r.n++
	return false
}

// peek is the oldest; there must be one.
func (r *ring) peek() *flip7v1.ArenaMessage { return r.events[r.first] }

// take takes the oldest out.
func (r *ring) take() *flip7v1.ArenaMessage {
	e := r.peek()
	r.events[r.first] = nil
	r.first = (r.first + 1) % len(r.events)
	r.n--
	return e
}
