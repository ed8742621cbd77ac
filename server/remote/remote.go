// Package remote is bots at the far end of streams, as players at a table. It holds the streams, keeps the clocks where
// they are held, and answers a table's questions; it does not know who may connect, what a tournament is, or the rules
// beyond what a request allows.
//
// [Bots.Serve] is the life of one stream, [Bots.Player] a seat for a bot in one game. Between the two stands the bot: its
// streams come and go, several may share its games, and a game is never told. What happens to a decision on its way:
//
//   - The goroutine of the game calls Ask, which fills the request and leaves it in the lane of the instance that has the
//     game. A lane has as many slots as the instance takes requests at once; a request without a slot waits there, its
//     clock stopped.
//   - The writer of the stream takes what lies in its lane, in batches, and starts the clocks right before it sends. A game
//     never waits for a stream to take a byte.
//   - The reader of the stream stops the clock right after it has received, judges the decision by the request, and
//     wakes the game. The first legal one counts.
//   - A timer that belongs to the seat ends the request when its time is used up, if the arena itself has lost none.
//
// Each stream has two goroutines beside its handler: a reader, which the handler never waits for, since it ends only when
// the handler returns; and a writer, which it waits for no longer than a Goodbye takes. All that belongs to one bot is
// guarded by one mutex, which nothing holds while it waits.
package remote

import (
	"cmp"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Config is what a server says of its bots. The zero value of a field stands for its default.
type Config struct {
	Arena  string       // version of the arena, for bots' logs
	Limits Limits       // default: as said there
	Log    *slog.Logger // default: slog.Default()
	Hooks  Hooks        // default: nobody is told
	// NoPractice tells bots that would practise that nobody does here.
	NoPractice bool
	// Stalls is the time that the arena itself has lost so far: it never counts against a bot. Default: a [Probe].
	Stalls func() time.Duration
}

// Limits are the numbers that bots are held to. The zero value of a field stands for its default.
type Limits struct {
	Streams           int           // in all, but for bots with a pinned build; default 1024
	Instances         int           // of one bot; default 4
	MaxGames          int           // of an instance; default 256
	MaxOpen           int           // requests of an instance; default 256
	BatchBytes        int           // of a PlayRequest, as the gRPC server is set to; default 64 KiB
	MessagesPerSecond int           // of a bot, beyond the answers it was asked for, 512 bytes each; default 200
	MessageBurst      int           // on top of that; default 1000
	HelloTimeout      time.Duration // default 5 s
	PingInterval      time.Duration // default 12 s
	WriteTimeout      time.Duration // default 5 s
	ReconnectGrace    time.Duration // after New; default 30 s, negative: none
}

const (
	noteBytes       = 256 // of Decision.note
	illegalTries    = 10  // for one request
	faultsToAbsence = 3   // in a row

	// The network's delay is given back out of a quota, so that lying about it gains the quota at most (as at Lichess).
	quotaStart = 200 * time.Millisecond
	quotaGain  = 20 * time.Millisecond // for each decision
	quotaMost  = 500 * time.Millisecond

	// tooLate is how long after the deadline its timer may fire: beyond it the arena was not there for the bot.
	tooLate = 100 * time.Millisecond
)

func (l Limits) complete() Limits {
	l.Streams = cmp.Or(l.Streams, 1024)
	l.Instances = cmp.Or(l.Instances, 4)
	l.MaxGames = cmp.Or(l.MaxGames, 256)
	l.MaxOpen = cmp.Or(l.MaxOpen, 256)
	l.BatchBytes = cmp.Or(l.BatchBytes, 64<<10)
	l.MessagesPerSecond = cmp.Or(l.MessagesPerSecond, 200)
	l.MessageBurst = cmp.Or(l.MessageBurst, 1000)
	l.HelloTimeout = cmp.Or(l.HelloTimeout, 5*time.Second)
	l.PingInterval = cmp.Or(l.PingInterval, 12*time.Second)
	l.WriteTimeout = cmp.Or(l.WriteTimeout, 5*time.Second)
	l.ReconnectGrace = max(cmp.Or(l.ReconnectGrace, 30*time.Second), 0)
	return l
}

// Bots are the bots of one server. All methods may be called by several goroutines.
type Bots struct {
	arena  string
	limits Limits
	log    *slog.Logger
	hooks  Hooks
	stalls func() time.Duration
	probe  *Probe // nil: stalls are somebody else's
	began  time.Time
	grace  *time.Timer // until bots that have not been back are no longer waited for

	noPractice bool

	serving sync.WaitGroup
	curious atomic.Int64 // welcomed streams that want events

	mu       sync.Mutex // never held while that of a bot is taken
	bots     map[string]*bot
	games    map[string][]*player // by key: the seats of remote bots
	streams  int
	number   int           // of the newest stream
	changed  chan struct{} // closed at the next change of a presence
	draining *draining     // nil: no
}

// draining is how the arena is about to stop.
type draining struct {
	until  time.Time
	spread time.Duration
}

// retry is when a bot should come back: not all at once.
func (d *draining) retry() time.Duration {
	if d.spread <= 0 {
		return time.Second
	}
	return time.Second + rand.N(d.spread)
}

// New makes the bots of a server; none is connected. Close ends it.
func New(c Config) *Bots {
	b := &Bots{
		arena:   c.Arena,
		limits:  c.Limits.complete(),
		log:     cmp.Or(c.Log, slog.Default()),
		hooks:   c.Hooks,
		stalls:  c.Stalls,
		began:   time.Now(),
		bots:    make(map[string]*bot),
		games:   make(map[string][]*player),
		changed: make(chan struct{}),

		noPractice: c.NoPractice,
	}
	if b.stalls == nil {
		b.probe = NewProbe()
		b.stalls = b.probe.Lost
	}
	b.grace = time.AfterFunc(b.limits.ReconnectGrace, b.endGrace)
	return b
}

// watch says that the clocks of so many more requests run, or fewer.
func (b *Bots) watch(more int) {
	if b.probe != nil {
		b.probe.Watch(more)
	}
}

// bot is a bot by name. It is made when the name is first mentioned.
func (b *Bots) bot(name string) *bot {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.bots[name]
	if known == nil {
		known = newBot(b, name)
		b.bots[name] = known
	}
	return known
}

// known is a bot by name, or nil if it was never mentioned: asking about names makes no bots.
func (b *Bots) known(name string) *bot {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.bots[name]
}

// all is every bot there is.
func (b *Bots) all() []*bot {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := make([]*bot, 0, len(b.bots))
	for _, bot := range b.bots {
		all = append(all, bot)
	}
	return all
}

// Player is a seat for a bot in one game. What the table's contract asks of it holds whether or not the bot is connected.
func (b *Bots) Player(name string) table.Player { return &player{bot: b.bot(name)} }

// endGrace lets the clocks run of bots that have not been back since the arena started.
func (b *Bots) endGrace() {
	for _, bot := range b.all() {
		bot.mu.Lock()
		bot.release(time.Now())
		bot.mu.Unlock()
	}
}

// Presence is how a bot is connected.
type Presence struct {
	Newest       Session  // that said Hello, be it gone
	Contribution [32]byte // of its Hello
	Instances    int      // welcomed streams
	MaxGames     int      // games side by side, of all instances; 0: it takes no new ones
	MaxOpen      int      // requests at once, of all instances
	Games        int      // it sits in now
	Practice     bool     // it would practise, with all its instances
	Absent       bool
	RoundTrip    time.Duration // the smallest of the last pings of any instance; 0: none yet
}

// Presence is how a bot is connected, and whether it is. One that is not keeps what its last Hello said.
func (b *Bots) Presence(name string) (Presence, bool) {
	bot := b.known(name)
	if bot == nil {
		return Presence{}, false
	}
	bot.mu.Lock()
	defer bot.mu.Unlock()
	p := Presence{Newest: bot.newest, Contribution: bot.contribution, Instances: len(bot.sessions), Games: len(bot.players),
		Practice: bot.practises(), Absent: bot.absent}
	for _, s := range bot.sessions {
		p.MaxGames += s.lane.maxGames
		p.MaxOpen += s.lane.maxOpen
		if trip, ok := s.pings.smallest(); ok && (p.RoundTrip == 0 || trip < p.RoundTrip) {
			p.RoundTrip = trip
		}
	}
	return p, p.Instances > 0
}

// Practising are the bots that are here and would practise, in no order.
func (b *Bots) Practising() (names []string) {
	for _, bot := range b.all() {
		bot.mu.Lock()
		if bot.practises() {
			names = append(names, bot.name)
		}
		bot.mu.Unlock()
	}
	return names
}

// Changed is closed at the next change of any bot's presence. To wait for one: take Changed, look at Presence, then wait.
func (b *Bots) Changed() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.changed
}

func (b *Bots) change() {
	b.mu.Lock()
	defer b.mu.Unlock()
	close(b.changed)
	b.changed = make(chan struct{})
}

// Absent reports whether a bot has left so many requests unanswered that it is not waited for.
func (b *Bots) Absent(name string) bool {
	bot := b.known(name)
	if bot == nil {
		return false
	}
	bot.mu.Lock()
	defer bot.mu.Unlock()
	return bot.absent
}

// Lost is how many streams of a bot have been lost or ended so far. It grew in a time in which the bot lost its stream.
func (b *Bots) Lost(name string) int {
	bot := b.known(name)
	if bot == nil {
		return 0
	}
	bot.mu.Lock()
	defer bot.mu.Unlock()
	return bot.lost
}

// Pin holds a bot to a build: other instances end, and a Hello with another one is refused, until Unpin.
func (b *Bots) Pin(name, build string) {
	bot := b.bot(name)
	bot.mu.Lock()
	defer bot.mu.Unlock()
	if !bot.pinned {
		bot.alive() // what it left unanswered before, as in practice, is not held against it
	}
	bot.pinned, bot.pin = true, build
	for _, s := range bot.sessions {
		if s.who.Build != build {
			s.stop(buildChanged(build, s.who.Build))
		}
	}
}

// Unpin lets a bot come with any build again.
func (b *Bots) Unpin(name string) {
	bot := b.known(name)
	if bot == nil {
		return
	}
	bot.mu.Lock()
	defer bot.mu.Unlock()
	bot.pinned, bot.pin = false, ""
}

// End ends all streams of a bot, those without a Hello too, such as when its token was revoked. Its games go on without it.
func (b *Bots) End(name string, reason flip7v1.EndReason, text string) {
	bot := b.known(name)
	if bot == nil {
		return
	}
	bot.mu.Lock()
	defer bot.mu.Unlock()
	for s := range bot.streams {
		s.stop(ending(reason, text))
	}
}

// Drain tells all bots that the arena stops within grace, and to come back at random within spread and a second after
// that. From now on every Hello is refused. Games and streams go on until Close.
func (b *Bots) Drain(grace, spread time.Duration) {
	b.mu.Lock()
	first := b.draining == nil
	if first {
		b.draining = &draining{until: time.Now().Add(grace), spread: spread}
	}
	b.mu.Unlock()
	if !first {
		return
	}
	for _, bot := range b.all() {
		bot.mu.Lock()
		for _, s := range bot.sessions {
			s.drain()
		}
		bot.mu.Unlock()
	}
}

// drained is how the arena is about to stop, or nil.
func (b *Bots) drained() *draining {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.draining
}

// Close ends all streams, as drained, and returns when they have ended, which takes about a second at most. The games
// should have ended before.
func (b *Bots) Close() {
	b.Drain(0, 0)
	b.grace.Stop()
	for _, bot := range b.all() {
		bot.mu.Lock()
		for s := range bot.streams {
			s.stop(s.drainEnd())
		}
		bot.mu.Unlock()
	}
	b.serving.Wait()
	if b.probe != nil {
		b.probe.Close()
	}
}

// Stats is what was counted of a bot since New.
type Stats struct {
	Latency  table.Latency // what was charged for its decisions, chosen or passed
	Causes   map[game.Cause]int
	Slips    int // requests with illegal decisions that were mended in time
	Absent   int // requests that were not waited for
	Dropped  int // events that did not fit
	Lost     int // streams
	Messages int // received
}

// Stats is what was counted of a bot since New.
func (b *Bots) Stats(name string) Stats {
	bot := b.known(name)
	if bot == nil {
		return Stats{}
	}
	bot.mu.Lock()
	defer bot.mu.Unlock()
	s := Stats{Latency: bot.latency, Causes: make(map[game.Cause]int), Slips: bot.slips, Absent: bot.absences,
		Dropped: bot.dropped, Lost: bot.lost, Messages: bot.messages}
	for cause, n := range bot.causes {
		if n > 0 {
			s.Causes[game.Cause(cause)] = n
		}
	}
	return s
}

// Wanted reports whether a bot in a game wants its events, so that nobody makes them in vain.
func (b *Bots) Wanted(gameID string, attempt int) bool {
	if b.curious.Load() == 0 { // as usual, and asked at each decision: no reason to wait for the bots' mutexes
		return false
	}
	for _, p := range b.seated(gameID, attempt) {
		p.bot.mu.Lock()
		wants := p.home.session != nil && p.home.session.events != nil
		p.bot.mu.Unlock()
		if wants {
			return true
		}
	}
	return false
}

// Event tells the bots in a game, those that want to know, what happened in it. It does not wait: a bot that does not
// keep up misses the oldest, and sees it by their numbers.
func (b *Bots) Event(e *flip7v1.GameEvent) {
	message := &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Event{Event: e}}
	for _, p := range b.seated(e.GetGameId(), int(e.GetAttempt())) {
		p.bot.mu.Lock()
		if s := p.home.session; s != nil && s.events != nil {
			if s.events.add(message) {
				p.bot.dropped++
			}
			s.wakeUp()
		}
		p.bot.mu.Unlock()
	}
}

// seated is the seats of remote bots in a game.
func (b *Bots) seated(gameID string, attempt int) []*player {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.games[keyOf(gameID, attempt)]
}
