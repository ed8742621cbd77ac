package remote

import (
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	protocol = 1 // that is spoken here

	batchMessages = 64 // in a batch, either way
	batchBytes    = 16 << 10

	// A bot that says nothing of its capacity gets this.
	usualGames = 8
	usualOpen  = 1

	// patience is how many ping intervals a bot may be silent.
	patience = 3

	// beat is how often a handler looks after its stream.
	beat = time.Second

	// farewell is how long a Goodbye may take.
	farewell = time.Second
)

// session is one stream of a bot. Guarded by the bot's mutex but for what says otherwise.
type session struct {
	id     string
	bot    *bot
	stream grpc.BidiStreamingServer[flip7v1.PlayRequest, flip7v1.PlayResponse]
	since  time.Time

	done    chan struct{} // closed with ending
	ending  *end          // why it ends, once it does
	written chan struct{} // closed when the writer is through

	welcomed bool
	instance string
	build    string
	practice bool
	lane     *lane
	events   *ring // nil: they are not wanted

	out     []item // to be sent
	next    int    // the first of out
	most    int    // items that may wait
	idle    bool   // the writer sleeps and has to be woken
	wake    chan struct{}
	writing atomic.Int64 // when the running Send began, in ns since `since`; 0: none runs

	heard      time.Time
	pings      pings
	retryAfter time.Duration // 0: not told yet
}

// item is something to be sent.
type item struct {
	kind    itemKind
	message *flip7v1.ArenaMessage // plain
	player  *player               // request, notice
	number  int                   // request
}

type itemKind uint8

const (
	plain   itemKind = iota
	request          // the open request of a player, if it still is
	notice           // the request that a player's absent bot is shown
	ping
)

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
	b.mu.Lock()
	switch {
	case b.draining != nil:
		e := ending(flip7v1.EndReason_END_REASON_DRAINING, "the arena is about to stop")
		e.retry = b.draining.retry()
		b.mu.Unlock()
		return nil, e
	case b.streams >= b.limits.Streams:
		b.mu.Unlock()
		return nil, ending(flip7v1.EndReason_END_REASON_SERVER_FULL, fmt.Sprintf("the arena has %d streams, the most it takes", b.limits.Streams))
	}
	b.streams++
	b.number++
	number := b.number
	b.serving.Add(1)
	b.mu.Unlock()

	s := &session{
		id:      fmt.Sprintf("%x-%d", b.began.Unix(), number),
		bot:     bot,
		stream:  stream,
		since:   now,
		done:    make(chan struct{}),
		written: make(chan struct{}),
		wake:    make(chan struct{}, 1),
		heard:   now,
		most:    256 + 4*b.limits.MaxGames + b.limits.MessageBurst,
	}
	bot.mu.Lock()
	defer bot.mu.Unlock()
	// Streams that say no Hello take part of the room of all; a bot needs few of them.
	if most := 2 * b.limits.Instances; len(bot.streams) >= most {
		b.forget()
		return nil, ending(flip7v1.EndReason_END_REASON_TOO_MANY_INSTANCES, fmt.Sprintf("the bot has %d streams, some without a Hello", most))
	}
	bot.streams[s] = struct{}{}
	return s, end{}
}

// gone forgets a stream.
func (b *Bots) gone(s *session) {
	s.bot.mu.Lock()
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
	e := *s.ending
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
	b.arena.log.Info("stream ended", "bot", b.name, "session", s.id, "reason", e.name(), "text", e.text)
	b.arena.hooks.ended(b.arena.log, b.name, e)
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

// drain tells the bot that the arena stops.
func (s *session) drain() {
	d := s.bot.arena.drained()
	s.send(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Drain{Drain: &flip7v1.Drain{
		Grace: durationpb.New(max(time.Until(d.until), 0)), RetryAfter: durationpb.New(s.retry(d))}}})
}

// recovered ends the stream when one of its goroutines panics.
func (s *session) recovered(what string) {
	if r := recover(); r != nil {
		s.bot.arena.log.Error("panic", "in", what, "bot", s.bot.name, "session", s.id, "panic", r, "stack", string(debug.Stack()))
		s.end(ending(flip7v1.EndReason_END_REASON_INTERNAL, "the arena failed"))
	}
}

// batch is what is sent at once, with room that is used again.
type batch struct {
	response flip7v1.PlayResponse
	messages [batchMessages]*flip7v1.ArenaMessage
	frames   []*frame // that are part of it
	bytes    int
}

func (b *batch) add(m *flip7v1.ArenaMessage, size int) {
	b.response.Messages = append(b.response.Messages, m)
	b.bytes += size
}

// fits reports whether another message may come in.
func (b *batch) fits(size int) bool {
	n := len(b.response.Messages)
	return n == 0 || n < batchMessages && b.bytes+size <= batchBytes
}

// release gives the frames back to the games.
func (b *batch) release() {
	for _, f := range b.frames {
		f.uses.Add(-1)
	}
	b.frames = b.frames[:0]
}

// write is the writer: it sends what there is and never waits for more.
func (s *session) write() {
	defer close(s.written)
	defer s.recovered("writer")
	var b batch
	for {
		ends := s.gather(&b)
		if len(b.response.Messages) > 0 {
			s.writing.Store(max(int64(time.Since(s.since)), 1))
			err := s.stream.Send(&b.response)
			s.writing.Store(0)
			b.release()
			if err != nil {
				s.end(gone())
				return
			}
			if !ends {
				continue
			}
		}
		if ends {
			return
		}
		select {
		case <-s.wake:
		case <-s.done:
		}
	}
}

// gather makes the next batch, and reports whether it is the last. Right after it the batch is sent, so this is where
// clocks start.
func (s *session) gather(to *batch) (last bool) {
	to.response.Messages, to.bytes = to.messages[:0], 0
	s.bot.mu.Lock()
	defer s.bot.mu.Unlock()
	last = s.ending != nil
	now := time.Now()
	for s.next < len(s.out) {
		size := s.size(s.out[s.next])
		if !to.fits(size) {
			return false
		}
		if m := s.render(s.out[s.next], to, now); m != nil {
			to.add(m, size)
		}
		s.out[s.next] = item{}
		s.next++
	}
	s.out, s.next = s.out[:0], 0
	for s.events != nil && s.events.n > 0 {
		size := proto.Size(s.events.peek())
		if !to.fits(size) {
			return false
		}
		to.add(s.events.take(), size)
	}
	if !last {
		s.idle = len(to.response.Messages) == 0
		return false
	}
	goodbye := s.ending.goodbye()
	if goodbye == nil {
		return true
	}
	if !to.fits(textBytes + 64) {
		return false
	}
	to.add(goodbye, 0)
	return true
}

// size is that of an item when it is sent, at most.
func (s *session) size(i item) int {
	switch i.kind {
	case plain:
		return proto.Size(i.message)
	case ping:
		return 32
	}
	return i.player.size
}

// render is the message of an item, or nil if it is of no interest any more.
func (s *session) render(i item, to *batch, now time.Time) *flip7v1.ArenaMessage {
	switch i.kind {
	case request:
		if s.ending != nil {
			return nil
		}
		return i.player.render(s, i.number, to, now)
	case notice:
		return i.player.renderNotice(s, to)
	case ping:
		return s.pings.render(now)
	}
	return i.message
}

// render is the open request as it is sent now, or nil if it is not open here any more.
func (p *player) render(s *session, number int, to *batch, now time.Time) *flip7v1.ArenaMessage {
	at := p.placed(s.lane)
	if !p.open || p.number != number || at == nil || !at.slot {
		return nil
	}
	trip, _ := s.pings.smallest()
	p.start(now, trip)
	left, bank := p.left(now)
	p.frame.uses.Add(1)
	to.frames = append(to.frames, p.frame)
	if p.sent { // the frame is in use elsewhere
		return p.frame.Again(left, bank)
	}
	p.frame.Time(left, bank, p.last)
	p.frame.Mark(p.written == number, false)
	p.sent, p.written = true, number
	return p.frame.Message()
}

// renderNotice is the request that an absent bot is shown, or nil if it is not absent any more.
func (p *player) renderNotice(s *session, to *batch) *flip7v1.ArenaMessage {
	if p.home != s.lane {
		return nil
	}
	p.queued = false
	if !p.notice {
		return nil
	}
	p.notice = false
	p.frame.Time(0, 0, p.last)
	p.frame.Mark(false, true)
	p.written = p.number
	p.frame.uses.Add(1)
	to.frames = append(to.frames, p.frame)
	return p.frame.Message()
}

// read is the reader. It ends when the handler has returned.
func (s *session) read() {
	defer s.recovered("reader")
	for {
		m, err := s.stream.Recv()
		now := time.Now()
		if err != nil {
			s.end(s.readEnd(err))
			return
		}
		if !s.take(m.GetMessages(), now) {
			return
		}
	}
}

// readEnd is why nothing more can be read.
func (s *session) readEnd(err error) end {
	if errors.Is(err, io.EOF) {
		return ending(flip7v1.EndReason_END_REASON_CLOSED, "the bot closed its side")
	}
	switch status.Code(err) {
	case codes.Unauthenticated: // as the stream says that looks at the token again
		return ending(flip7v1.EndReason_END_REASON_TOKEN_REVOKED, status.Convert(err).Message())
	case codes.ResourceExhausted, codes.Internal, codes.Unimplemented: // too large, not to be read, compressed in vain
		return ending(flip7v1.EndReason_END_REASON_GARBAGE, err.Error())
	}
	return gone()
}

// gone is the end when there is nobody to be told.
func gone() end { return end{code: codes.Canceled, text: "the connection is gone"} }

// take does what a batch says, and reports whether the stream goes on.
func (s *session) take(messages []*flip7v1.BotMessage, now time.Time) bool {
	b := s.bot
	b.mu.Lock()
	defer b.mu.Unlock()
	s.heard = now
	b.messages += len(messages)
	unasked := 0 // what nobody had asked for
	if len(messages) == 0 {
		unasked++
		s.problem(now, "EMPTY_BATCH", "a batch holds 1 to 64 messages; this one is empty")
	}
	for i, m := range messages {
		if s.ending != nil {
			return false
		}
		if i == batchMessages {
			unasked += len(messages) - i
			s.problem(now, "BATCH_TOO_LONG", fmt.Sprintf("a batch holds 1 to 64 messages; this one has %d, and what comes after 64 is ignored", len(messages)))
			break
		}
		if !s.hear(m, now) {
			unasked++
		}
	}
	if unasked > 0 && !b.flood.AllowN(now, min(unasked, b.arena.limits.MessageBurst)) {
		s.stop(ending(flip7v1.EndReason_END_REASON_FLOOD, fmt.Sprintf("more than %d messages a second that nobody asked for",
			b.arena.limits.MessagesPerSecond)))
	}
	return s.ending == nil
}

// hear does what a message says, and reports whether the arena had asked for it.
func (s *session) hear(m *flip7v1.BotMessage, now time.Time) (asked bool) {
	hello := m.GetHello()
	if !s.welcomed {
		if hello == nil {
			e := ending(flip7v1.EndReason_END_REASON_NO_HELLO, "something else came before Hello")
			e.code = codes.FailedPrecondition
			s.stop(e)
			return false
		}
		if e := s.hello(hello, now); e.reason != 0 {
			s.stop(e)
		}
		return false
	}
	switch m := m.GetMessage().(type) {
	case *flip7v1.BotMessage_Decision:
		return s.decide(m.Decision, now)
	case *flip7v1.BotMessage_Pong:
		if m.Pong.GetNumber() == 0 || m.Pong.GetNumber() > s.pings.number {
			s.problem(now, "UNKNOWN_PING", fmt.Sprintf("there was no ping %d", m.Pong.GetNumber()))
			return false
		}
		return s.pings.answer(m.Pong.GetNumber(), now)
	case *flip7v1.BotMessage_Capacity:
		s.capacity(m.Capacity)
		s.lane.fill(now)
		s.bot.arena.change()
	case *flip7v1.BotMessage_Hello:
		s.problem(now, "HELLO_TWICE", "Hello is the first message of a stream, and only the first")
	default:
		s.problem(now, "UNKNOWN_MESSAGE", "a message without content, or of a kind that this arena does not know")
	}
	return false
}

// problem says that something meant nothing. Too much of that ends the stream.
func (s *session) problem(now time.Time, reason, text string) {
	if !s.bot.garbage.AllowN(now, 1) {
		s.stop(ending(flip7v1.EndReason_END_REASON_GARBAGE, "too much that means nothing, at last: "+text))
		return
	}
	s.send(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Problem{Problem: &flip7v1.Problem{
		Code: uint32(codes.InvalidArgument), Reason: reason, Message: cut(text, textBytes)}}})
}

// decide does what a decision says, and reports whether it answers an open request.
func (s *session) decide(d *flip7v1.Decision, now time.Time) bool {
	b := s.bot
	key, number := splitID(d.GetRequestId())
	if p := b.byKey[key]; p != nil {
		if p.open && p.number == number && p.written == number {
			b.note(p, number, d.GetNote())
			p.decide(s, d, now)
			return true
		}
		if o, known := p.outcome(number); known {
			b.note(p, number, d.GetNote())
			b.alive()
			p.late(s, d, o)
			return false
		}
	}
	s.verdict(&flip7v1.Verdict{
		RequestId: cut(d.GetRequestId(), 64),
		Code:      flip7v1.VerdictCode_VERDICT_CODE_UNKNOWN_REQUEST,
		Message:   "the bot has no such request in a running game",
	})
	return false
}

// hello welcomes the bot, or says why not.
func (s *session) hello(h *flip7v1.Hello, now time.Time) end {
	b, arena := s.bot, s.bot.arena
	if err := checkHello(h); err != nil {
		return ending(flip7v1.EndReason_END_REASON_BAD_HELLO, err.Error())
	}
	if arena.drained() != nil {
		return s.drainEnd()
	}
	if b.pinned && h.GetBuild() != b.pin {
		return buildChanged(b.pin, h.GetBuild())
	}
	old := b.instance(h.GetInstanceId())
	if old == nil && len(b.sessions) >= arena.limits.Instances {
		return ending(flip7v1.EndReason_END_REASON_TOO_MANY_INSTANCES, fmt.Sprintf("the bot has %d instances, the most it may", len(b.sessions)))
	}
	if old != nil {
		old.stop(ending(flip7v1.EndReason_END_REASON_REPLACED, "a newer stream of the same instance took over"))
	}
	s.welcomed, s.instance, s.build, s.practice = true, h.GetInstanceId(), h.GetBuild(), h.GetPractice()
	b.build, b.contribution = h.GetBuild(), [32]byte{}
	copy(b.contribution[:], h.GetContribution())
	if h.GetWantsEvents() {
		s.events = new(ring)
	}
	s.lane = &lane{session: s}
	capacity := h.GetCapacity()
	if capacity == nil {
		capacity = &flip7v1.Capacity{MaxGames: usualGames, MaxOpen: usualOpen}
	}
	s.capacity(capacity)

	welcome := &flip7v1.Welcome{
		Protocol:  min(h.GetProtocol(), protocol),
		Bot:       b.name,
		SessionId: s.id,
		Arena:     arena.arena,
		Capacity:  &flip7v1.Capacity{MaxGames: uint32(s.lane.maxGames), MaxOpen: uint32(s.lane.maxOpen)},
		Events:    s.events != nil,
		Practice:  s.practice,
		Limits:    arena.limits.wire(),
	}
	s.send(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Welcome{Welcome: welcome}})
	b.join(s, old, now)
	welcome.Games = uint32(s.lane.games)
	s.pings.due = now.Add(arena.limits.PingInterval)
	s.push(item{kind: ping}) // so that the round trip is known before it is needed
	arena.log.Info("stream welcomed", "bot", b.name, "session", s.id, "instance", s.instance, "build", s.build,
		"kit", h.GetKitName()+" "+h.GetKitVersion())
	b.connected()
	return end{}
}

// capacity sets what the instance can take, as far as the limits let it.
func (s *session) capacity(c *flip7v1.Capacity) {
	limits := &s.bot.arena.limits
	s.lane.maxGames = int(min(uint64(c.GetMaxGames()), uint64(limits.MaxGames)))
	s.lane.maxOpen = int(min(max(uint64(c.GetMaxOpen()), 1), uint64(limits.MaxOpen)))
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

// checkHello says what is out of its bounds.
func checkHello(h *flip7v1.Hello) error {
	if h.GetProtocol() == 0 {
		return errors.New("protocol: 0; it must be set, now to 1")
	}
	if n := len(h.GetInstanceId()); n < 1 || n > 64 {
		return fmt.Errorf("instance_id: %d bytes, not 1 to 64", n)
	}
	for _, c := range []byte(h.GetInstanceId()) {
		if c < ' ' || c > '~' {
			return errors.New("instance_id: not all printable ASCII")
		}
	}
	for _, f := range []struct{ name, text string }{
		{"build", h.GetBuild()}, {"kit_name", h.GetKitName()}, {"kit_version", h.GetKitVersion()},
	} {
		if len(f.text) > 64 {
			return fmt.Errorf("%s: %d bytes, more than 64", f.name, len(f.text))
		}
		for _, r := range f.text {
			if r == utf8.RuneError || !unicode.IsPrint(r) {
				return fmt.Errorf("%s: not all printable", f.name)
			}
		}
	}
	if n := len(h.GetContribution()); n != 0 && n != 32 {
		return fmt.Errorf("contribution: %d bytes, not 32", n)
	}
	return nil
}

// wire is the limits as a bot is told them.
func (l *Limits) wire() *flip7v1.Limits {
	return &flip7v1.Limits{
		MaxGames:          uint32(l.MaxGames),
		MaxOpen:           uint32(l.MaxOpen),
		MaxInstances:      uint32(l.Instances),
		MaxBatchBytes:     uint32(l.BatchBytes),
		MessagesPerSecond: uint32(l.MessagesPerSecond),
		MessageBurst:      uint32(l.MessageBurst),
		MaxNoteBytes:      noteBytes,
		IllegalTries:      illegalTries,
		FaultsToAbsence:   faultsToAbsence,
		PingInterval:      durationpb.New(l.PingInterval),
		NetworkAllowance:  durationpb.New(quotaMost),
		WriteTimeout:      durationpb.New(l.WriteTimeout),
		ReconnectGrace:    durationpb.New(l.ReconnectGrace),
	}
}

// pings measures the round trip of a stream.
type pings struct {
	due    time.Time // when the next is sent
	number uint32    // of the newest
	sent   time.Time
	trips  [8]time.Duration // the last ones, in no order
	n      int              // answered
	open   bool             // the newest is not answered
}

func (p *pings) render(now time.Time) *flip7v1.ArenaMessage {
	p.number++
	p.sent, p.open = now, true
	m := &flip7v1.Ping{Number: p.number}
	if trip, ok := p.smallest(); ok {
		m.RoundTrip = durationpb.New(trip)
	}
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Ping{Ping: m}}
}

// answer notes a pong, and reports whether it was awaited.
func (p *pings) answer(number uint32, now time.Time) bool {
	if !p.open || number != p.number {
		return false
	}
	p.open = false
	p.trips[p.n%len(p.trips)] = now.Sub(p.sent)
	p.n++
	return true
}

// smallest is the smallest of the last round trips, and false if there is none.
func (p *pings) smallest() (time.Duration, bool) {
	if p.n == 0 {
		return 0, false
	}
	smallest := p.trips[0]
	for _, trip := range p.trips[1:min(p.n, len(p.trips))] {
		smallest = min(smallest, trip)
	}
	return smallest, true
}
