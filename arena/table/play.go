package table

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
)

// Setup is a game to be played, or to be gone on with.
type Setup struct {
	Info    Info
	Seed    [32]byte  // for the record
	Deal    game.Deal // usually the keyed deal of Seed
	Players []Player  // by seat

	// Sofar are the decisions that were made before the game broke off, as the journal has them. They are played again
	// and their banks restored, and nobody is asked for them. The Deal must be one without memory then.
	Sofar   []Entry
	Journal Journal // where decisions go before they have consequences; nil: nowhere

	Limit *Limit // of the table, shared by the games that run side by side; nil: none
	Bots  []int  // by seat: the number, from 0, by which Limit knows the bot; not needed without Limit

	// Observer is told of everything that happens, in order and from the first card on, so of what happened before the
	// game broke off too. It is called between requests: whoever it tells learns of an event no later and hardly earlier
	// than the seat that is asked next. Nil: nobody.
	Observer game.Observer
	// Decided is told of each decision and its cause right before the Observer sees the decision. Nil: nobody.
	Decided func(Entry)
	// Resumed is called once when a game with decisions so far goes on: what the Observer was told until then is told
	// again. Nil: nobody.
	Resumed func()
}

// Outcome is how a game ended. But for Slips and Timings it is a function of the cards and the decisions.
type Outcome struct {
	Record  game.Record
	Faults  []int    // by seat: requests that ended in the default decision
	Slips   []int    // by seat: requests with illegal decisions that were mended in time
	Timings []Timing // in the order asked
}

// Timing is what the clock touched of one request.
type Timing struct {
	Seat   game.Seat
	Number int // of the request, from 1
	Queued time.Duration
	Took   time.Duration
	Absent bool
	Cause  game.Cause
}

const (
	// tries is how often a question is put, or an entry written, before the game is held.
	tries = 3
	// journalPause is the wait between two tries to write an entry: long enough for a disk to come to its senses, short
	// enough not to be seen.
	journalPause = 100 * time.Millisecond
)

// Play plays a game to its end. It asks the seats one after the other in the calling goroutine and starts none of its
// own. Every player is told of the beginning before the first card and of the end last of all, also when the game breaks
// off: by a ctx that ends, whose cause is the error then; by [ErrHeld]; by a deal that fails; or by a panic of a player
// or observer, which goes on to the caller. Decisions that do not fit the game are [ErrJournal], and nobody is told of it.
func Play(ctx context.Context, s Setup) (Outcome, error) {
	if err := s.check(); err != nil {
		return Outcome{}, err
	}
	p := play{Setup: s}
	if len(s.Sofar) > 0 {
		// Once without an audience, so that nobody is told of a game that cannot be rebuilt.
		if err := p.rebuild(nil, nil); err != nil {
			return Outcome{}, err
		}
	}

	begun, how := 0, Failed
	defer func() {
		result := p.state.Result()
		for _, player := range s.Players[:begun] {
			player.End(result, how)
		}
	}()
	s.Info.Resumed, s.Info.Faults, s.Info.Slips = len(s.Sofar) > 0, p.out.Faults, p.out.Slips
	for seat, player := range s.Players {
		begun++
		player.Begin(s.Info, game.Seat(seat))
	}

	if err := p.rebuild(s.Observer, s.Decided); err != nil {
		return Outcome{}, err
	}
	if len(s.Sofar) > 0 {
		for _, t := range p.out.Timings {
			p.charge(t.Seat, t.Took)
		}
		if s.Resumed != nil {
			s.Resumed()
		}
	}
	for !p.state.Over() {
		if err := p.step(ctx); err != nil {
			how = p.ending(ctx, err)
			return Outcome{}, err
		}
	}
	how = Finished
	p.out.Record.Result = p.state.Result()
	return p.out, nil
}

// ending is what an error in mid-game means to those at the table.
func (p *play) ending(ctx context.Context, err error) Ending {
	switch {
	case errors.Is(err, ErrCalledAway):
		return CalledAway
	case errors.Is(err, ErrHeld) && p.Info.Practice: // nobody would go on with it
		return Failed
	case errors.Is(err, ErrHeld), errors.Is(err, ErrInterrupted):
		return Interrupted
	case ctx.Err() != nil:
		return BrokenOff
	}
	return Failed
}

// check refuses a setup that is not one; the error names the field. The rest is for [game.State.Reset] to refuse.
func (s *Setup) check() error {
	if i := slices.Index(s.Players, nil); i >= 0 {
		return fmt.Errorf("players: nobody sits in seat %d", i)
	}
	if s.Info.Timeout <= 0 {
		return fmt.Errorf("info.timeout: %v is not more than 0", s.Info.Timeout)
	}
	if s.Info.Bank < 0 {
		return fmt.Errorf("info.bank: %v is less than 0", s.Info.Bank)
	}
	if s.Limit == nil {
		return nil
	}
	if len(s.Bots) != len(s.Players) {
		return fmt.Errorf("bots: %d numbers for %d seats", len(s.Bots), len(s.Players))
	}
	for seat, bot := range s.Bots {
		if bot < 0 || bot >= len(s.Limit.used) {
			return fmt.Errorf("bots: %d in seat %d is not one of the %d bots of the limit", bot, seat, len(s.Limit.used))
		}
	}
	return nil
}

// play is a game in progress.
type play struct {
	Setup
	state game.State
	banks []time.Duration // by seat
	out   Outcome         // of the decisions until now
}

// next is the number of the pending request, from 1.
func (p *play) next() int { return len(p.out.Record.Moves) + 1 }

// rebuild begins the game and plays the decisions so far.
func (p *play) rebuild(observer game.Observer, decided func(Entry)) error {
	seats := len(p.Players)
	err := p.state.Reset(game.Setup{Seats: seats, Rules: p.Info.Rules, Dealer: p.Info.Dealer, Deal: p.Deal, Observer: observer})
	if err != nil {
		return err
	}
	p.banks = slices.Repeat([]time.Duration{p.Info.Bank}, seats)
	p.out = Outcome{
		Record: game.Record{
			Seats:  seats,
			Rules:  p.Info.Rules.Complete(seats),
			Dealer: p.Info.Dealer,
			Seed:   p.Seed,
			Moves:  make([]game.Move, 0, usual*(seats+1)),
		},
		Faults:  make([]int, seats),
		Slips:   make([]int, seats),
		Timings: make([]Timing, 0, usual*(seats+1)),
	}
	for i, e := range p.Sofar {
		if i > 0 && e == p.Sofar[i-1] {
			continue // written again because the first writing seemed to fail
		}
		if err := p.fits(e); err != nil {
			return fmt.Errorf("%w: entry %d: %w", ErrJournal, i, err)
		}
		if err := p.apply(e, decided); err != nil {
			return fmt.Errorf("%w: entry %d: %w", ErrJournal, i, err)
		}
	}
	return nil
}

// fits says why an entry of the journal cannot be the next decision. Whether the decision is legal is left to the rules.
func (p *play) fits(e Entry) error {
	request := p.state.Request()
	if p.state.Over() {
		return fmt.Errorf("the game is over after %d decisions", p.next()-1)
	}
	if want := p.next(); e.Number != want {
		return fmt.Errorf("it is decision %d, and %d is next", e.Number, want)
	}
	if e.Seat != request.Seat {
		return fmt.Errorf("seat %d decides, and seat %d is asked", e.Seat, request.Seat)
	}
	if e.Move.Cause > game.TimedOut {
		return fmt.Errorf("%v is unknown", e.Move.Cause)
	}
	if e.Move.Cause.Fault() && e.Move.Decision != request.Default() {
		return fmt.Errorf("%v for a seat that was %v; the default is %v", e.Move.Decision, e.Move.Cause, request.Default())
	}
	if e.Bank < 0 || e.Bank > p.banks[e.Seat] {
		return fmt.Errorf("seat %d has a time bank of %v, and had %v before", e.Seat, e.Bank, p.banks[e.Seat])
	}
	if e.Illegal < 0 || e.Queued < 0 || e.Took < 0 {
		return errors.New("counts and times are less than 0")
	}
	return nil
}

// step asks for one decision and plays it.
func (p *play) step(ctx context.Context) error {
	entry, err := p.ask(ctx)
	if err != nil {
		return err
	}
	if err := p.write(ctx, entry); err != nil {
		return err
	}
	p.charge(entry.Seat, entry.Took)
	return p.apply(entry, p.Decided)
}

// ask puts the pending request to its seat, again if the arena lost time.
func (p *play) ask(ctx context.Context) (Entry, error) {
	seat := p.state.Request().Seat
	q := Question{Number: p.next(), View: p.state.View(seat), Banks: p.banks}
	for range tries {
		if ctx.Err() != nil {
			return Entry{}, context.Cause(ctx)
		}
		q.Timeout = p.timeout(seat)
		answer, err := p.Players[seat].Ask(ctx, q)
		if err != nil {
			if ctx.Err() != nil {
				return Entry{}, context.Cause(ctx)
			}
			return Entry{}, fmt.Errorf("ask seat %d for decision %d: %w", seat, q.Number, err)
		}
		if !answer.Stalled {
			return entry(q, answer), nil
		}
	}
	return Entry{}, fmt.Errorf("%w: seat %d was asked %d times for decision %d, and the arena lost time each time",
		ErrHeld, seat, tries, q.Number)
}

// timeout is what the seat has for its request before its bank runs.
func (p *play) timeout(seat game.Seat) time.Duration {
	if p.Limit == nil {
		return p.Info.Timeout
	}
	timeout, hurried := p.Limit.Timeout(p.Bots[seat], time.Now(), p.Info.Timeout)
	if hurried {
		p.banks[seat] = 0
	}
	return timeout
}

// entry is what an answer makes of a question.
func entry(q Question, a Answer) Entry {
	took := max(a.Took, 0)
	return Entry{
		Number:  q.Number,
		Seat:    q.View.Me,
		Move:    move(q.View.Request(), a),
		Bank:    q.bank(took),
		Illegal: max(a.Illegal, 0),
		Absent:  a.Absent,
		Queued:  max(a.Queued, 0),
		Took:    took,
	}
}

// move is the decision that is played, and its cause.
func move(request game.Request, a Answer) game.Move {
	if request.Allows(a.Decision) {
		return game.Move{Decision: a.Decision}
	}
	m := game.Move{Decision: request.Default(), Cause: game.TimedOut}
	switch {
	case a.Decision != 0: // a player hands on legal decisions only; this one is broken
		m.Cause = game.Illegal
	case a.Passed:
		m.Cause = game.Passed
	case a.Illegal > 0:
		m.Cause = game.Illegal
	case a.Gone:
		m.Cause = game.Disconnected
	}
	return m
}

// write puts a decision into the journal, again if that fails.
func (p *play) write(ctx context.Context, e Entry) error {
	if p.Journal == nil {
		return nil
	}
	err := p.Journal.Write(e)
	for range tries - 1 {
		if err == nil {
			return nil
		}
		select {
		case <-time.After(journalPause):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		err = p.Journal.Write(e)
	}
	if err != nil {
		return fmt.Errorf("%w: write decision %d to the journal: %w", ErrHeld, e.Number, err)
	}
	return nil
}

// charge counts the time of a decision towards the limit of the table.
func (p *play) charge(seat game.Seat, took time.Duration) {
	if p.Limit != nil {
		p.Limit.Charge(p.Bots[seat], took)
	}
}

// apply plays a decision that is safe.
func (p *play) apply(e Entry, decided func(Entry)) error {
	if decided != nil {
		decided(e)
	}
	p.banks[e.Seat] = e.Bank
	p.out.Record.Moves = append(p.out.Record.Moves, e.Move)
	p.out.Timings = append(p.out.Timings,
		Timing{Seat: e.Seat, Number: e.Number, Queued: e.Queued, Took: e.Took, Absent: e.Absent, Cause: e.Move.Cause})
	if e.Move.Cause.Fault() {
		p.out.Faults[e.Seat]++
	} else if e.Illegal > 0 {
		p.out.Slips[e.Seat]++
	}
	return p.state.Apply(e.Move.Decision)
}
