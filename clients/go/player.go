package flip7

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime/debug"
	"sync"
	"time"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	// shortestWait and longestWait bound the back-off: before try n a stream is awaited for a random time of at most
	// shortestWait doubled n times, never more than longestWait. A stream that lived longer than that starts anew.
	shortestWait = 200 * time.Millisecond
	longestWait  = 15 * time.Second
	// leaveWait is how long the arena has to close the stream of a bot that leaves.
	leaveWait = 5 * time.Second
	// eventsWaiting is how many messages may wait before events are dropped. The others are bounded by the bot's
	// capacity: per game a start, an end, an open request and what is said of it.
	eventsWaiting = 4096
	// mostGuests is how many games of other instances are remembered. Nothing tells when those are over.
	mostGuests = 64
)

// player plays a bot over as many streams as it takes. Three kinds of goroutine work for it: who reads the stream fills
// the inbox, one listener empties it and owns what is known of the games, and MaxOpen thinkers call Decide.
type player struct {
	bot   Bot
	arena arena
	inbox *queue[heard]
	work  *queue[*thought]
	left  chan struct{} // closed when the bot has left and no game is to be played

	// Owned by the listener.
	games   map[gameKey]*running
	lost    map[gameKey]*running // of streams before, as long as they may be told again
	toCome  int                  // games of the welcome that are still to be told
	guests  []gameKey            // of games of which only requests were heard, the oldest first
	leaving bool
	strange map[Kind]bool // unknown kinds that were logged

	met bool // the arena welcomed the bot once; owned by who reads the stream

	mu     sync.Mutex
	out    *queue[*flip7v1.BotMessage] // of the stream that is up; nil: none
	hangUp func()                      // ends the stream that is up or being opened
	leaves bool                        // the next hello asks for no games
}

// heard is a message as it waits in the inbox; none: the bot wants to leave.
type heard struct {
	message *flip7v1.ArenaMessage
	at      time.Time
}

// gameKey names an attempt at a game.
type gameKey struct {
	id      string
	attempt uint32
}

// running is a game that is played. It remembers its last few requests, so that one that comes again is answered as it
// was, and not thought about again.
type running struct {
	game     *Game
	thoughts [4]*thought // a ring
	asked    int         // requests so far; the last is thoughts[(asked-1)%4]
	// told is that it began, on this stream. If not, it is another instance's, which has had its time for a request.
	told bool
}

// thought is a request and what became of it.
type thought struct {
	id   string
	view *View
	use  use

	// Guarded by player.mu.
	done     bool     // decision holds
	decision Decision //
	void     bool     // the game went on or is over: not worth thinking about
	shown    bool     // its position was logged
	over     bool     // the game is over: nobody to tell
}

func newPlayer(bot Bot, arena arena) *player {
	return &player{
		bot:     bot,
		arena:   arena,
		inbox:   newQueue[heard](),
		work:    newQueue[*thought](),
		left:    make(chan struct{}),
		games:   make(map[gameKey]*running),
		strange: make(map[Kind]bool),
	}
}

// play holds one stream after the other.
func (p *player) play(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var own sync.WaitGroup
	defer own.Wait()
	defer p.work.close()
	defer p.inbox.close()
	defer cancel()
	own.Go(func() { p.listen(ctx) })
	for range p.bot.MaxOpen {
		own.Go(func() { p.think(ctx) })
	}
	own.Go(func() {
		select {
		case <-p.bot.Leave:
			p.inbox.push(heard{})
		case <-ctx.Done():
		}
	})
	for try := 0; ; try++ {
		begun := time.Now()
		e := p.converse(ctx)
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case p.hasLeft():
			return nil
		case !e.comeBack:
			return &EndError{Reason: e.reason, Message: e.words}
		}
		if time.Since(begun) > longestWait {
			try = 0
		}
		wait := e.retryAfter
		if wait <= 0 {
			wait = backOff(try)
		}
		p.bot.Log.Warn(e.words+"; trying again", "in", max(wait.Round(time.Millisecond), time.Millisecond))
		select {
		case <-time.After(wait):
		case <-p.left:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// backOff is how long to wait after a number of tries: full jitter, so that bots that were lost together do not come
// back together.
func backOff(tries int) time.Duration {
	most := longestWait
	if tries < 10 {
		most = min(shortestWait<<tries, longestWait)
	}
	return rand.N(most) + 1
}

func (p *player) hasLeft() bool {
	select {
	case <-p.left:
		return true
	default:
		return false
	}
}

// listen empties the inbox: it keeps the games, calls the author's callbacks and gives the thinkers their work.
func (p *player) listen(ctx context.Context) {
	room := make([]heard, 64)
	for {
		batch := p.inbox.take(room)
		if len(batch) == 0 {
			return
		}
		for _, h := range batch {
			p.hear(ctx, h)
			p.settle()
		}
	}
}

func (p *player) hear(ctx context.Context, h heard) {
	switch m := h.message.GetMessage().(type) {
	case nil:
		p.leave()
	case *flip7v1.ArenaMessage_Welcome:
		p.welcomed(int(m.Welcome.GetGames()))
	case *flip7v1.ArenaMessage_GameStarted:
		p.started(m.GameStarted)
	case *flip7v1.ArenaMessage_Request:
		p.asked(ctx, m.Request, h.at)
	case *flip7v1.ArenaMessage_Verdict:
		p.judged(m.Verdict)
	case *flip7v1.ArenaMessage_GameFinished:
		p.finished(m.GameFinished)
	case *flip7v1.ArenaMessage_Event:
		if p.bot.Event != nil {
			p.tell(func() { p.bot.Event(eventOf(m.Event)) })
		}
	}
}

// leave asks for no more games.
func (p *player) leave() {
	p.leaving = true
	p.mu.Lock()
	defer p.mu.Unlock()
	p.leaves = true
	if p.out != nil {
		p.out.push(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Capacity{Capacity: p.capacity()}})
	}
}

// settle ends a bot that leaves when it has nothing more to play: it closes its side of the stream, and the arena the
// other.
func (p *player) settle() {
	if !p.leaving || p.hasLeft() || p.toCome > 0 { // only as long as games are to come some may be lost
		return
	}
	for _, g := range p.games {
		if g.told {
			return
		}
	}
	close(p.left)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.out != nil:
		p.out.close()
		time.AfterFunc(leaveWait, p.hangUp)
	case p.hangUp != nil:
		p.hangUp()
	}
}

// welcomed begins a new stream, of which so many games are the first to be told, those that began while the bot was away
// included. Others that it had are over. Those that the stream before left untold, because it broke, may still be told.
func (p *player) welcomed(games int) {
	maps.Copy(p.games, p.lost)
	p.lost, p.toCome = p.games, games
	for _, g := range p.lost {
		g.told = false
	}
	p.games = make(map[gameKey]*running)
	p.forget()
}

// forget drops the games of streams before once all that still run were told again.
func (p *player) forget() {
	if p.toCome > 0 {
		return
	}
	for _, g := range p.lost {
		p.drop(g)
	}
	p.lost = nil
}

// game is a game that runs, new or known from this stream or the one before.
func (p *player) game(info *flip7v1.GameInfo) *running {
	key := gameKey{info.GetGameId(), info.GetAttempt()}
	g, known := p.games[key]
	if known {
		return g
	}
	if g = p.lost[key]; g == nil {
		g = &running{game: gameOf(info)}
	}
	delete(p.lost, key)
	p.games[key] = g
	return g
}

// visited is a game that a request is about. Of those that are other instances' the last few are remembered.
func (p *player) visited(info *flip7v1.GameInfo) *running {
	before := len(p.games)
	g := p.game(info)
	if g.told || len(p.games) == before {
		return g
	}
	p.guests = append(p.guests, gameKey{info.GetGameId(), info.GetAttempt()})
	if len(p.guests) > mostGuests {
		if oldest := p.games[p.guests[0]]; oldest != nil && !oldest.told {
			delete(p.games, p.guests[0])
		}
		p.guests = p.guests[1:]
	}
	return g
}

func (p *player) started(m *flip7v1.GameStarted) {
	g := p.game(m.GetGame())
	g.told = true
	if p.toCome > 0 {
		p.toCome--
		p.forget()
	}
	if p.bot.GameStarted == nil {
		how := "begins"
		if m.GetResumed() {
			how = "goes on"
		}
		p.bot.Log.Info(fmt.Sprintf("game %s %s, at seat %d of %d", g.game.ID, how, m.GetSeat(), len(g.game.Bots)))
		return
	}
	p.tell(func() { p.bot.GameStarted(startedOf(m, g.game)) })
}

func (p *player) finished(m *flip7v1.GameFinished) {
	key := gameKey{m.GetGameId(), m.GetAttempt()}
	if g, known := p.games[key]; known {
		p.drop(g)
		delete(p.games, key)
	}
	news := finishedOf(m)
	if p.bot.GameFinished == nil {
		p.bot.Log.Info(news.String())
		return
	}
	p.tell(func() { p.bot.GameFinished(news) })
}

// drop ends all thinking about a game that is over.
func (p *player) drop(g *running) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range g.thoughts {
		if t != nil {
			t.void, t.over = true, true
			t.use.end()
		}
	}
}

// asked gives a request to the thinkers, unless it is known: then what was decided is said again, or is being thought
// about.
func (p *player) asked(ctx context.Context, r *flip7v1.DecisionRequest, at time.Time) {
	g := p.visited(r.GetGame())
	for _, t := range g.thoughts {
		if t != nil && t.id == r.GetRequestId() {
			p.say(t)
			return
		}
	}
	t := &thought{id: r.GetRequestId(), view: viewOf(r, g.game, at)}
	t.use.ctx, t.use.deadline = ctx, t.view.deadline
	t.view.use = &t.use
	if g.asked > 0 {
		p.overtake(g.thoughts[(g.asked-1)%len(g.thoughts)])
	}
	g.thoughts[g.asked%len(g.thoughts)] = t
	g.asked++
	if kind := t.view.Kind; !kind.known() {
		if !p.strange[kind] {
			p.strange[kind] = true
			p.bot.Log.Warn("the arena asks what this kit does not know; such requests are passed: update the kit", "kind", kind)
		}
		p.decided(t, t.view.Pass())
		return
	}
	p.work.push(t) // at most one a game is not void, and the arena bounds the games
}

// overtake says that the game went on without this decision.
func (p *player) overtake(t *thought) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.void = true
	t.use.end()
}

// judged tells a verdict. After an illegal decision the clock runs on and asking the same function again would bring the
// same answer, so the kit passes.
func (p *player) judged(m *flip7v1.Verdict) {
	t := p.thought(m.GetRequestId())
	var view *View
	if t != nil {
		view = t.view
	}
	v := verdictOf(m, view)
	if v.Code == VerdictIllegal && v.TriesLeft > 0 && t != nil {
		p.decided(t, t.view.Pass())
	}
	if p.bot.Verdict != nil {
		p.tell(func() { p.bot.Verdict(v) })
		return
	}
	p.bot.Log.Warn(v.String(), p.show(t)...)
}

// thought is a remembered request, nil if there is none of that id.
func (p *player) thought(id string) *thought {
	for _, g := range p.games {
		for _, t := range g.thoughts {
			if t != nil && t.id == id {
				return t
			}
		}
	}
	return nil
}

// tell calls a callback of the author's.
func (p *player) tell(callback func()) {
	defer func() {
		if r := recover(); r != nil {
			p.bot.Log.Error(fmt.Sprintf("a callback panicked: %v", r), "stack", string(debug.Stack()))
		}
	}()
	callback()
}

// think takes one request after the other.
func (p *player) think(ctx context.Context) {
	room := make([]*thought, 1)
	for {
		work := p.work.take(room)
		if len(work) == 0 {
			return
		}
		if t := work[0]; ctx.Err() == nil && !p.isVoid(t) {
			p.decided(t, p.decide(t))
		}
	}
}

func (p *player) isVoid(t *thought) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return t.void
}

// decide asks the author's function.
func (p *player) decide(t *thought) (d Decision) {
	defer func() {
		if r := recover(); r != nil {
			why := oneLine(fmt.Sprint(r))
			p.bot.Log.Error("Decide panicked: "+why+"; passed for it", append(p.show(t), "stack", string(debug.Stack()))...)
			d = t.view.Pass().Note("decide failed: " + why)
		}
	}()
	return p.bot.Decide(t.view)
}

// show is the position of a request for the log, where it is to stand once.
func (p *player) show(t *thought) []any {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t == nil || t.shown {
		return nil
	}
	t.shown = true
	return []any{"position", t.view}
}

// decided keeps a decision and says it. Also one that comes late: it tells the arena that the bot is there.
func (p *player) decided(t *thought, d Decision) {
	p.mu.Lock()
	t.done, t.decision = true, d
	t.use.end()
	p.mu.Unlock()
	p.say(t)
}

// say sends a decision, if there is one and somebody to hear it. If no stream is up the request comes again on the next.
func (p *player) say(t *thought) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t.done && !t.over && p.out != nil {
		p.out.push(t.decision.message(t.id))
	}
}
