package remote

import (
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	// patience is how many ping intervals a bot may be silent.
	patience = 3

	// beat is how often a handler looks after its stream.
	beat = time.Second

	// farewell is how long a Goodbye may take.
	farewell = time.Second

	// spareItems is room in the queue of a stream beside what its games and messages call for.
	spareItems = 256
)

// session is one stream of a bot. Guarded by the bot's mutex but for what says otherwise.
type session struct {
	who    Session // more of it from Hello on
	bot    *bot
	stream grpc.BidiStreamingServer[flip7v1.PlayRequest, flip7v1.PlayResponse]
	since  time.Time

	done    chan struct{} // closed with ending
	ending  *end          // why it ends, once it does
	written chan struct{} // closed when the writer is through

	welcomed bool
	practice bool
	lane     *lane
	events   *ring // nil: they are not wanted

	out     []item // to be sent
	next    int    // the first of out
	most    int    // items that may wait
	idle    bool   // the writer sleeps and has to be woken
	wake    chan struct{}
	writing atomic.Int64 // when the running Send began, in ns since `since`; 0: none runs

	tail       tail
	heard      time.Time
	pings      pings
	retryAfter time.Duration // 0: not told yet
}

// Serve is the life of one stream of a bot that the caller knows by its token. It returns what the stream ends with.
func (b *Bots) Serve(name string, stream grpc.BidiStreamingServer[flip7v1.PlayRequest, flip7v1.PlayResponse]) error {
	s, refusal := b.open(name, stream)
	if s == nil {
		return refusal.status()
	}
	defer b.gone(s)
	go s.read()
	go s.write()

	heart := time.NewTicker(beat)
	defer heart.Stop()
	for {
		select {
		case now := <-heart.C:
			s.look(now)
		case <-s.done: // by the reader, when the connection is gone: it knows best why
			return s.leave()
		}
	}
}

// open makes the session of a stream, or says why not.
func (b *Bots) open(name string, stream grpc.BidiStreamingServer[flip7v1.PlayRequest, flip7v1.PlayResponse]) (*session, end) {
	bot := b.bot(name)
	now := time.Now()
	bot.mu.Lock()
	plays := bot.pinned
	bot.mu.Unlock()
	b.mu.Lock()
	switch {
	case b.draining != nil:
		e := ending(flip7v1.EndReason_END_REASON_DRAINING, "the arena is about to stop")
		e.retry = b.draining.retry()
		b.mu.Unlock()
		return nil, e
	case b.streams >= b.limits.Streams && !plays: // whoever plays in a tournament is not kept out by those who do not
		b.mu.Unlock()
		return nil, ending(flip7v1.EndReason_END_REASON_SERVER_FULL, fmt.Sprintf("the arena has %d streams, the most it takes", b.limits.Streams))
	}
	b.streams++
	b.number++
	number := b.number
	b.serving.Add(1)
	b.mu.Unlock()

	s := &session{
		who:     Session{Bot: name, ID: fmt.Sprintf("%x-%d", b.began.Unix(), number)},
		bot:     bot,
		stream:  stream,
		since:   now,
		done:    make(chan struct{}),
		written: make(chan struct{}),
		wake:    make(chan struct{}, 1),
		heard:   now,
		most:    spareItems + 4*b.limits.MaxGames + b.limits.MessageBurst,
	}
	bot.mu.Lock()
	defer bot.mu.Unlock()
	// Streams that say no Hello take part of the room of all; a bot needs few of them.
	if most := 2 * b.limits.Instances; len(bot.streams) >= most {
		b.forget()
		return nil, ending(flip7v1.EndReason_END_REASON_TOO_MANY_INSTANCES, fmt.Sprintf("the bot has %d streams, some without a Hello", most))
	}
	if !bot.opened.AllowN(now, 1) {
		b.forget()
		return nil, ending(flip7v1.EndReason_END_REASON_FLOOD, fmt.Sprintf("more than %d streams a second", streamsPerSecond))
	}
	bot.streams[s] = struct{}{}
	if b.drained() != nil { // a moment ago, and Close has not seen the stream
		s.stop(s.drainEnd())
	}
	return s, end{}
}

// gone forgets a stream, also if its handler panics.
func (b *Bots) gone(s *session) {
	s.bot.mu.Lock()
	s.stop(ending(flip7v1.EndReason_END_REASON_INTERNAL, "the arena failed"))
	s.bot.part(s, nil, time.Now())
	delete(s.bot.streams, s)
	s.bot.mu.Unlock()
	b.forget()
}

func (b *Bots) forget() {
	b.mu.Lock()
	b.streams--
	b.mu.Unlock()
	b.serving.Done()
}

// stop has the stream end, for the first reason that is given. The bot's mutex is held.
func (s *session) stop(e end) {
	if s.ending == nil {
		s.ending = &e
		close(s.done)
	}
}

// end is stop without the mutex.
func (s *session) end(e end) {
	s.bot.mu.Lock()
	defer s.bot.mu.Unlock()
	s.stop(e)
}

// leave takes the session out of the bot, lets the writer say goodbye, and is what the stream ends with.
func (s *session) leave() error {
	b := s.bot
	b.mu.Lock()
	b.part(s, nil, time.Now())
	e, who, last := *s.ending, s.who, s.tail.lines()
	if s.welcomed {
		b.connected()
	}
	b.mu.Unlock()

	if e.reason != flip7v1.EndReason_END_REASON_TOO_SLOW {
		patience := time.NewTimer(farewell)
		defer patience.Stop()
		select {
		case <-s.written:
		case <-patience.C:
		case <-s.stream.Context().Done():
		}
	}
	b.arena.log.Info("stream ended", "bot", b.name, "session", s.who.ID, "reason", e.name(), "text", e.text)
	b.arena.hooks.last(b.arena.log, who, e, last)
	b.arena.hooks.ended(b.arena.log, who, e)
	return e.status()
}

// look ends a stream that says no Hello, takes nothing or is silent, and pings.
func (s *session) look(now time.Time) {
	limits := &s.bot.arena.limits
	s.bot.mu.Lock()
	defer s.bot.mu.Unlock()
	stuck := time.Duration(0)
	if writing := s.writing.Load(); writing != 0 {
		stuck = now.Sub(s.since) - time.Duration(writing)
	}
	switch {
	case stuck >= limits.WriteTimeout:
		s.stop(ending(flip7v1.EndReason_END_REASON_TOO_SLOW, fmt.Sprintf("nothing could be written for %v", stuck.Round(time.Millisecond))))
		return
	case stuck >= beat && s.welcomed:
		// What waits behind what the bot does not read is on the bot's time.
		for _, p := range s.bot.players {
			if at := p.placed(s.lane); at != nil && at.slot {
				p.start(now, 0)
			}
		}
	}
	switch {
	case !s.welcomed && now.Sub(s.since) >= limits.HelloTimeout:
		s.stop(ending(flip7v1.EndReason_END_REASON_NO_HELLO, fmt.Sprintf("no Hello in %v", limits.HelloTimeout)))
	case !s.welcomed:
	case now.Sub(s.heard) >= patience*limits.PingInterval:
		s.stop(ending(flip7v1.EndReason_END_REASON_SILENT, fmt.Sprintf("nothing was heard for %v", patience*limits.PingInterval)))
	case !now.Before(s.pings.due):
		s.pings.due = now.Add(limits.PingInterval)
		s.push(item{kind: ping})
	}
}

// push puts something into the queue of the stream. It never waits: a bot that lets the queue fill up is too slow.
func (s *session) push(i item) {
	if len(s.out)-s.next >= s.most {
		s.stop(ending(flip7v1.EndReason_END_REASON_TOO_SLOW, fmt.Sprintf("%d messages wait to be written", s.most)))
		return
	}
	if len(s.out) == cap(s.out) { // a queue that is never empty must not wander through memory
		s.out, s.next = slices.Delete(s.out, 0, s.next), 0
	}
	s.out = append(s.out, i)
	s.wakeUp()
}

func (s *session) wakeUp() {
	if s.idle {
		s.idle = false
		s.wake <- struct{}{} // has room: the writer is idle once for each
	}
}

func (s *session) send(m *flip7v1.ArenaMessage) { s.push(item{kind: plain, message: m}) }

func (s *session) verdict(v *flip7v1.Verdict) {
	s.send(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Verdict{Verdict: v}})
}

// judge tells the bot, and who keeps its log, that a decision was not simply taken. With a p it is about one of its
// requests.
func (s *session) judge(d *flip7v1.Decision, p *player, number int, v *flip7v1.Verdict) {
	s.verdict(v)
	j := Judged{Bot: s.bot.name, Session: s.who, Verdict: v, Note: cut(d.GetNote(), noteBytes)}
	if p != nil {
		j.Game, j.Attempt, j.Number = p.info.ID, p.info.Attempt, number
	}
	s.bot.arena.hooks.judged(s.bot.arena.log, j)
}

// drain tells the bot that the arena stops.
func (s *session) drain() {
	d := s.bot.arena.drained()
	s.send(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Drain{Drain: &flip7v1.Drain{
		Grace: durationpb.New(max(time.Until(d.until), 0)), RetryAfter: durationpb.New(s.retry(d))}}})
}

// recovered ends the stream when one of its goroutines panics.
func (s *session) recovered(what string) {
	if r := recover(); r != nil {
		s.bot.arena.log.Error("panic", "in", what, "bot", s.bot.name, "session", s.who.ID, "panic", r, "stack", string(debug.Stack()))
		s.end(ending(flip7v1.EndReason_END_REASON_INTERNAL, "the arena failed"))
	}
}

// drainEnd is the end of a stream when the arena stops.
func (s *session) drainEnd() end {
	e := ending(flip7v1.EndReason_END_REASON_DRAINING, "the arena is about to stop")
	e.retry = s.retry(s.bot.arena.drained())
	return e
}

// retry is when the bot should come back after the arena has stopped: what it was told once.
func (s *session) retry(d *draining) time.Duration {
	if s.retryAfter == 0 {
		s.retryAfter = d.retry()
	}
	return s.retryAfter
}
