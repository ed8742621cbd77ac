package remote

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// player is a seat of a bot in one game, and the request that is open there. All of it is guarded by the bot's mutex but
// what says otherwise.
type player struct {
	bot  *bot
	key  string // of game and attempt
	info table.Info
	wire *flip7v1.GameInfo // shared by all its messages
	seat game.Seat
	size int // of a request, at most

	home *lane
	told bool // of the game's beginning

	// Owned by the goroutine of the game. The frame is the writers' too while the request is open or noticed.
	frame    *frame
	skipped  bool            // the last question was
	id       []byte          // the key and room for a number
	round    int             // of the last request
	banks    []time.Duration // of everybody, at this seat's first request of that round
	answered chan struct{}   // holds one

	// The request.
	open    bool
	notice  bool // it is not open and only to be shown: the default was played
	queued  bool // to be shown, in the queue of the home's session
	number  int
	asked   game.Request
	timeout time.Duration
	bank    time.Duration
	asking  time.Time // since when
	sent    int       // how often since then
	written int       // the number of the last request that was ever sent
	places  []place   // the lanes in which it is
	overdue bool      // the timeout is over; it is offered to all instances
	illegal int
	answer  table.Answer

	// The clock.
	ticking   bool
	since     time.Time
	lost      time.Duration // the arena's stalls when it started
	allowance time.Duration
	timer     *time.Timer

	quota  time.Duration // of the network's delay
	last   time.Duration // that the last decision took; negative: there was none
	done   []outcome     // by number
	faults int
	slips  int
}

// place says in which lane a request is, and whether it has a slot there or waits for one.
type place struct {
	lane *lane
	slot bool
}

// frame is a request as it is sent, with how many batches it is part of that are being written.
type frame struct {
	*wire.Request
	uses atomic.Int32
}

// outcome is what became of a request.
type outcome struct {
	number   int
	decision game.Decision
	cause    game.Cause
}

// keyOf names an attempt at a game, as request ids begin.
func keyOf(gameID string, attempt int) string { return gameID + "/" + strconv.Itoa(attempt) }

// splitID takes a request id apart; number 0 if it is none.
func splitID(id string) (key string, number int) {
	slash := strings.LastIndexByte(id, '/')
	if slash < 0 || len(id) > 64 || slash+1 == len(id) || id[slash+1] == '0' {
		return "", 0
	}
	for _, c := range []byte(id[slash+1:]) {
		if c < '0' || c > '9' || number > 1e8 {
			return "", 0
		}
		number = 10*number + int(c-'0')
	}
	return id[:slash], number
}

// Begin implements [table.Player].
func (p *player) Begin(info table.Info, seat game.Seat) {
	p.info, p.seat, p.key = info, seat, keyOf(info.ID, info.Attempt)
	p.wire = wire.GameInfo(info)
	p.frame = &frame{Request: wire.NewRequest(p.wire, seat)}
	p.size = wire.RequestSize(p.wire)
	p.id = append(append(p.id, p.key...), '/')
	p.banks = slices.Repeat([]time.Duration{info.Bank}, len(info.Bots))
	p.answered = make(chan struct{}, 1)
	p.quota, p.last = quotaStart, -1
	if info.Resumed {
		p.faults, p.slips = info.Faults[seat], info.Slips[seat]
	}
	p.timer = time.AfterFunc(time.Hour, p.expire)
	p.timer.Stop()

	b := p.bot
	b.mu.Lock()
	b.players = append(b.players, p)
	b.byKey[p.key] = p
	p.move(b.home(), time.Now())
	b.mu.Unlock()

	b.arena.mu.Lock()
	b.arena.games[p.key] = append(slices.Clip(b.arena.games[p.key]), p)
	b.arena.mu.Unlock()
}

// End implements [table.Player].
func (p *player) End(result game.Result, how table.Ending) {
	b := p.bot
	b.arena.mu.Lock()
	seats := slices.DeleteFunc(slices.Clone(b.arena.games[p.key]), func(other *player) bool { return other == p })
	if b.arena.games[p.key] = seats; len(seats) == 0 {
		delete(b.arena.games, p.key)
	}
	b.arena.mu.Unlock()

	b.mu.Lock()
	defer b.mu.Unlock()
	p.timer.Stop()
	p.close(time.Now())
	p.home.games--
	if s := p.home.session; s != nil && how != table.Interrupted { // a bot need not know of a pause
		s.push(item{kind: plain, message: p.finished(result, how)})
	}
	b.players = slices.DeleteFunc(b.players, func(other *player) bool { return other == p })
	if b.byKey[p.key] == p {
		delete(b.byKey, p.key)
	}
}

// endings are how games end, in the words of the wire.
var endings = map[table.Ending]flip7v1.GameEnd{
	table.Finished:   flip7v1.GameEnd_GAME_END_COMPLETE,
	table.Failed:     flip7v1.GameEnd_GAME_END_FAILED,
	table.BrokenOff:  flip7v1.GameEnd_GAME_END_VOID,
	table.CalledAway: flip7v1.GameEnd_GAME_END_CALLED_AWAY,
}

func (p *player) finished(result game.Result, how table.Ending) *flip7v1.ArenaMessage {
	f := &flip7v1.GameFinished{
		GameId:  p.info.ID,
		Attempt: uint32(p.info.Attempt),
		End:     endings[how],
		Seat:    uint32(p.seat),
		Rounds:  uint32(result.Rounds),
		Faults:  uint32(p.faults),
		Slips:   uint32(p.slips),
	}
	if how == table.Finished {
		f.Places, f.Totals = wire.Numbers(result.Places), wire.Numbers(result.Totals)
	}
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_GameFinished{GameFinished: f}}
}

// Ask implements [table.Player].
func (p *player) Ask(ctx context.Context, q table.Question) (table.Answer, error) {
	now := time.Now()
	p.fill(q)
	if answer, absent := p.put(q, now); absent {
		return answer, nil
	}
	select {
	case <-p.answered:
		return p.answer, nil
	case <-ctx.Done():
	}
	p.bot.mu.Lock()
	defer p.bot.mu.Unlock()
	select {
	case <-p.answered: // at the same time
		return p.answer, nil
	default:
	}
	p.close(time.Now())
	return table.Answer{}, context.Cause(ctx)
}

// put opens the request, or answers it if the bot is absent.
func (p *player) put(q table.Question, now time.Time) (answer table.Answer, absent bool) {
	b := p.bot
	b.mu.Lock()
	defer b.mu.Unlock()
	p.number, p.asked, p.timeout, p.bank = q.Number, q.View.Request(), q.Timeout, q.Banks[q.View.Me]
	p.asking, p.sent, p.overdue, p.illegal = now, 0, false, 0
	if n := len(p.done); n > 0 && p.done[n-1].number == q.Number {
		p.done = p.done[:n-1] // it is put again
	}
	if b.absent {
		return p.skip(), true
	}
	p.open = true
	p.home.offer(p, now)
	return table.Answer{}, false
}

// fill makes the request ready to be sent.
func (p *player) fill(q table.Question) {
	if p.skipped { // it may still be on its way
		p.bot.mu.Lock()
		p.notice, p.skipped = false, false
		p.bot.mu.Unlock()
	}
	if p.frame.uses.Load() > 0 {
		p.frame = &frame{Request: wire.NewRequest(p.wire, p.seat)}
	}
	if round := q.View.Round(); round != p.round {
		p.round = round
		copy(p.banks, q.Banks)
	}
	p.id = strconv.AppendInt(p.id[:len(p.key)+1], int64(q.Number), 10)
	p.frame.Fill(string(p.id), q.View, p.banks)
}

// skip answers for an absent bot, and lets it know.
func (p *player) skip() table.Answer {
	answer := table.Answer{Absent: true, Gone: len(p.bot.sessions) == 0}
	p.record(p.home.session, answer, outcome{p.number, p.asked.Default(), defaulted(answer)}, "")
	if s := p.home.session; s != nil {
		p.notice, p.skipped = true, true
		if !p.queued {
			p.queued = true
			s.push(item{kind: notice, player: p})
		}
	}
	return answer
}

// defaulted is the cause that the table gives a default decision.
func defaulted(a table.Answer) game.Cause {
	switch {
	case a.Passed:
		return game.Passed
	case a.Illegal > 0:
		return game.Illegal
	case a.Gone:
		return game.Disconnected
	}
	return game.TimedOut
}

// placed is where in a lane the request is, or nil.
func (p *player) placed(l *lane) *place {
	for i := range p.places {
		if p.places[i].lane == l {
			return &p.places[i]
		}
	}
	return nil
}

// displace takes the request out of a lane.
func (p *player) displace(l *lane, now time.Time) {
	for i, at := range p.places {
		if at.lane == l {
			p.places = slices.Delete(p.places, i, i+1)
			l.leave(p, at.slot, now)
			return
		}
	}
}

// move makes a lane the game's home, and brings what is open there.
func (p *player) move(to *lane, now time.Time) {
	from := p.home
	p.home, p.queued = to, false
	to.games++
	if s := to.session; s != nil {
		s.push(item{kind: plain, message: p.begun()})
		p.told = true
	}
	if p.open && p.placed(to) == nil {
		to.offer(p, now)
	}
	if from != nil {
		from.games--
		p.displace(from, now)
	}
}

func (p *player) begun() *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_GameStarted{GameStarted: &flip7v1.GameStarted{
		Game: p.wire, Seat: uint32(p.seat), Resumed: p.told || p.info.Resumed}}}
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
	if p.sent++; p.sent > 1 { // the frame is in use elsewhere
		return p.frame.Again(left, bank)
	}
	p.frame.Time(left, bank, p.last)
	p.frame.Mark(p.written == number, false)
	p.written = number
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

// fail ends the request without a decision.
func (p *player) fail(now time.Time) {
	b := p.bot
	answer := table.Answer{Illegal: p.illegal, Gone: len(b.sessions) == 0, Queued: p.waited(now), Took: p.took(now)}
	o := outcome{p.number, p.asked.Default(), defaulted(answer)}
	p.close(now)
	s := p.home.session
	p.record(s, answer, o, "")
	b.failed()
	if s != nil {
		s.verdict(p.verdict(flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED, o))
	}
	p.reply(answer)
}

// decide takes what the bot says to the open request, at the time at which it was received.
func (p *player) decide(s *session, d *flip7v1.Decision, now time.Time) {
	decision, pass := wire.DecisionOf(d)
	if !pass && !p.asked.Allows(decision) {
		p.refuse(s, d, now)
		return
	}
	p.bot.alive()
	answer := table.Answer{Decision: decision, Passed: pass, Illegal: p.illegal, Queued: p.waited(now), Took: p.took(now)}
	p.last = answer.Took
	p.close(now)
	o := outcome{p.number, decision, game.Chosen}
	if pass {
		o.decision, o.cause = p.asked.Default(), game.Passed
		s.verdict(p.verdict(flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED, o))
	}
	p.record(s, answer, o, d.GetNote())
	p.reply(answer)
}

// refuse answers an illegal decision; the clock runs on unless there were too many.
func (p *player) refuse(s *session, d *flip7v1.Decision, now time.Time) {
	p.illegal++
	left, _ := p.left(now)
	v := &flip7v1.Verdict{
		RequestId: d.GetRequestId(),
		Code:      flip7v1.VerdictCode_VERDICT_CODE_ILLEGAL,
		Message:   illegalText(d, p.asked),
		TriesLeft: uint32(illegalTries - p.illegal),
		TimeLeft:  durationpb.New(left),
	}
	v.Legal, v.LegalSeats = wire.Legal(p.asked)
	s.judge(d, p, p.number, v)
	if p.illegal == illegalTries {
		p.fail(now)
	}
}

// close ends the request, and gives its slots to others.
func (p *player) close(now time.Time) {
	if p.ticking {
		p.bot.arena.watch(-1)
	}
	p.open, p.ticking = false, false
	for _, at := range p.places {
		at.lane.leave(p, at.slot, now)
	}
	p.places = p.places[:0]
}

// record remembers what became of the request, for those who ask and for those who decide too late. The session, nil for
// none, is the one that answered, with a note, or else has the game.
func (p *player) record(s *session, a table.Answer, o outcome, note string) {
	b := p.bot
	p.done = append(p.done, o)
	b.causes[o.cause]++
	switch {
	case o.cause.Fault():
		p.faults++
	case a.Illegal > 0:
		p.slips++
		b.slips++
	}
	switch {
	case a.Absent:
		b.absences++
	case o.cause == game.Chosen || o.cause == game.Passed:
		b.latency.Add(a.Took)
	}
	told := Answered{Bot: b.name, Game: p.info.ID, Attempt: p.info.Attempt, Number: o.number, Kind: p.asked.Kind, Seat: p.seat,
		Decision: o.decision, Cause: o.cause, Absent: a.Absent, Illegal: a.Illegal, Sent: p.sent, Queued: a.Queued, Took: a.Took,
		Note: cut(note, noteBytes)}
	if s != nil {
		told.Session = s.who
	}
	b.arena.hooks.answered(b.arena.log, told)
}

// reply wakes the game.
func (p *player) reply(a table.Answer) {
	p.answer = a
	p.answered <- struct{}{}
}

// outcome is what became of a request, if it was one of this seat and is over.
func (p *player) outcome(number int) (outcome, bool) {
	i, found := slices.BinarySearchFunc(p.done, number, func(o outcome, number int) int { return o.number - number })
	if !found {
		return outcome{}, false
	}
	return p.done[i], true
}

// late answers a decision for a request that is over. The same decision once more needs no answer.
func (p *player) late(s *session, d *flip7v1.Decision, o outcome) {
	decision, pass := wire.DecisionOf(d)
	switch {
	case o.cause != game.Chosen && o.cause != game.Passed:
		s.judge(d, p, o.number, p.verdict(flip7v1.VerdictCode_VERDICT_CODE_LATE, o))
	case decision != o.decision && !(pass && o.cause == game.Passed):
		s.judge(d, p, o.number, p.verdict(flip7v1.VerdictCode_VERDICT_CODE_DUPLICATE, o))
	}
}
