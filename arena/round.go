package arena

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/table"
)

// attempts is how often a game is begun before its table is void.
const attempts = 2

// absentTables is at the end of how many tables running a bot is absent before it is withdrawn.
const absentTables = 2

// playRound plays the tables of a pairing round that are not over, side by side.
func (n *night) playRound(ctx context.Context, journal Journal, number int) error {
	t := n.snapshot()
	slots := newSlots(t.Settings.Concurrency)
	var work sync.WaitGroup
	errs := make([]error, len(t.Rounds[number-1].Tables))
	for i, tab := range t.Rounds[number-1].Tables {
		if tab.State == Complete || tab.State == Void {
			continue
		}
		work.Go(func() {
			s := &sitting{night: n, t: t, journal: journal, slots: slots, round: number, table: tab}
			errs[i] = s.play(ctx)
		})
	}
	work.Wait()
	return errors.Join(errs...)
}

// slots bound the games that run at once in a tournament; nil does not bound them.
type slots chan struct{}

func newSlots(n int) slots {
	if n == 0 {
		return nil
	}
	return make(slots, n)
}

func (s slots) take(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if s == nil {
		return nil
	}
	select {
	case s <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s slots) free() {
	if s != nil {
		<-s
	}
}

// sitting is one table while its games are played.
type sitting struct {
	*night
	t       *Tournament // as it was when the pairing round began: what of it is read here does not change
	journal Journal
	slots   slots
	round   int
	table   Table
	limit   *table.Limit
}

// play plays the games that have no result yet, as many side by side as the bots can take, and ends the table.
func (s *sitting) play(ctx context.Context) error {
	games, breakOff := context.WithCancelCause(ctx) // what is to be kept of the table is not broken off with them
	defer breakOff(nil)
	key := tableKey{s.round, s.table.Number}
	s.mu.Lock()
	void := s.now().State == Void // by hand, a moment ago
	s.broken[key] = breakOff
	for _, e := range s.night.t.Entries {
		if e.State == Kicked { // a moment ago, or before the arena was restarted
			s.breakLeg(e)
		}
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.broken, key)
		s.mu.Unlock()
	}()
	if void {
		return nil
	}

	if err := s.mark(ctx, Playing, ""); err != nil {
		return err
	}
	lost := s.lostStreams()
	s.limit = table.NewLimit(s.t.Settings.tableLimit(s.round), len(s.table.Bots), time.Now())
	err := s.playGames(games)
	if broken := (*voidError)(nil); errors.As(err, &broken) {
		if err := s.mark(ctx, Void, broken.why); err != nil {
			return err
		}
		return s.noteAbsence(ctx)
	}
	if err != nil {
		return err
	}
	s.table.Lost = s.lostStreams() != lost
	if err := s.mark(ctx, Complete, ""); err != nil {
		return err
	}
	s.reveal()
	return s.noteAbsence(ctx)
}

// now is the table as the night has it at the moment; n.mu is held, as long as it is looked at.
func (s *sitting) now() *Table { return &s.night.t.Rounds[s.round-1].Tables[s.table.Number-1] }

// mark keeps a new state of the table, unless it was made void by hand.
func (s *sitting) mark(ctx context.Context, state TableState, why string) error {
	return s.persist(ctx, fmt.Sprintf("mark table %d as %v", s.table.Number, state), func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		now := *s.now()
		if now.State == Void {
			return nil
		}
		now.State, now.Why, now.Lost = state, why, s.table.Lost
		return s.keepTable(ctx, s.round, now)
	})
}

// lostStreams is how many streams the table's bots have lost, in all, since the program started.
func (s *sitting) lostStreams() (lost int) {
	for _, number := range s.table.Bots {
		if e := s.t.Entries[number-1]; e.remote() {
			lost += s.arena.Bots.Lost(e.Name)
		}
	}
	return lost
}

// reveal makes the seeds of the table's games public, if it is complete.
func (s *sitting) reveal() {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	if now.State != Complete {
		return
	}
	for _, g := range now.Games {
		s.tell(Event{Kind: GameRevealed, Round: s.round, Table: s.table.Number, Game: g.Number, Attempt: g.Attempt,
			Seed: s.t.GameSeed(s.round, s.table.Number, g.Number, g.Attempt)})
	}
}

// noteAbsence withdraws bots that were absent at the end of two tables running; not from the final, which would end then.
func (s *sitting) noteAbsence(ctx context.Context) error {
	if s.t.Settings.Leg(s.round) {
		return nil
	}
	return s.persist(ctx, "keep who was absent", func() error {
		s.mu.Lock()
		defer s.mu.Unlock()
		var changed []Entry
		for _, number := range s.table.Bots {
			e := s.night.t.Entries[number-1]
			before := e
			if e.remote() && s.arena.Bots.Absent(e.Name) {
				if e.AbsentTables++; e.AbsentTables >= absentTables && e.State == Entered {
					e.State = Withdrawn
					act := Act{Who: "arena", What: "withdraw " + e.Name, Why: fmt.Sprintf("absent at the end of %d tables running", absentTables)}
					if err := s.arena.audit(ctx, s.id, act); err != nil {
						return err
					}
				}
			} else {
				e.AbsentTables = 0
			}
			if e != before {
				changed = append(changed, e)
			}
		}
		return s.keepEntries(ctx, changed...)
	})
}

// playGames plays the games without a result in workers, as many as the bots can take at the moment.
func (s *sitting) playGames(ctx context.Context) error {
	total := s.t.Settings.Games(s.round, len(s.table.Bots))
	done := make(map[int]bool, total)
	for _, g := range s.table.Games {
		done[g.Number] = true
	}
	ctx, breakOff := context.WithCancelCause(ctx)
	defer breakOff(nil)
	var work sync.WaitGroup
	defer work.Wait()
	ended := make(chan error)
	running, next := 0, 1
	for {
		for done[next] {
			next++
		}
		for next <= total && running < s.capacity() {
			number := next
			running++
			work.Go(func() {
				err := s.slots.take(ctx)
				if err == nil {
					err = s.playGame(ctx, number)
					s.slots.free()
				}
				ended <- err
			})
			for next++; done[next]; next++ {
			}
		}
		if running == 0 {
			return nil
		}
		err := <-ended
		running--
		if err != nil {
			breakOff(err)
			for ; running > 0; running-- {
				<-ended
			}
			return err
		}
	}
}

// capacity is how many games the bots of the table can take side by side: at least one, for a bot that can take none has
// a clock that runs.
func (s *sitting) capacity() int {
	least := s.t.Settings.Games(s.round, len(s.table.Bots))
	for _, number := range s.table.Bots {
		e := s.t.Entries[number-1]
		if !e.remote() {
			continue
		}
		if p, connected := s.arena.Bots.Presence(e.Name); connected {
			least = min(least, p.MaxGames)
		}
	}
	return max(least, 1)
}

// playGame plays a game until it has a result; an attempt that fails through a fault of ours is followed by another one
// on a fresh deal, and when that fails too the table is void.
func (s *sitting) playGame(ctx context.Context, number int) error {
	first, sofar := s.journal.Begun(s.round, s.table.Number, number)
	if first == 0 {
		first = 1
	}
	var failure error
	for attempt := first; attempt <= attempts; attempt++ {
		played, err := s.attempt(ctx, number, attempt, sofar)
		sofar = nil
		if err == nil {
			return s.land(ctx, number, played)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		failure = err
		s.arena.Log.Error("an attempt at a game failed", "tournament", s.t.ID, "round", s.round, "table", s.table.Number,
			"game", number, "attempt", attempt, "err", err)
	}
	return &voidError{fmt.Sprintf("game %d failed in %d attempts: %v", number, attempts, failure)}
}

// attempt plays one attempt at a game to its end, however often it is held in between.
func (s *sitting) attempt(ctx context.Context, number, attempt int, sofar []table.Entry) (Played, error) {
	var log *gameLog
	err := s.persist(ctx, fmt.Sprintf("begin game %d", number), func() error {
		begun, err := s.journal.Begin(s.round, s.table.Number, number, attempt)
		log = &gameLog{sitting: s, journal: begun, number: number, attempt: attempt, entries: slices.Clone(sofar)}
		return err
	})
	if err != nil {
		return Played{}, err
	}
	defer log.goesOn()
	setup := s.setup(number, attempt)
	setup.Journal = log
	s.announce(setup, log.entries)
	for {
		setup.Sofar = slices.Clone(log.entries)
		outcome, err := playSafely(ctx, setup)
		if errors.Is(err, table.ErrHeld) && ctx.Err() == nil {
			// Each try is one more chance for what held the game to have passed.
			if err := log.heldFor(ctx, err); err != nil {
				return Played{}, err
			}
			continue
		}
		if err != nil {
			return Played{}, err
		}
		return Played{
			Game: Game{Number: number, Attempt: attempt, Seats: s.t.order(s.round, s.table, number),
				Result: outcome.Record.Result, Faults: outcome.Faults, Slips: outcome.Slips},
			Record:  outcome.Record,
			Timings: outcome.Timings,
		}, nil
	}
}

// panicked is a fault of ours in the middle of a game.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// playSafely plays a game and makes an error of a panic: one broken game must not take the others along.
func playSafely(ctx context.Context, setup table.Setup) (outcome table.Outcome, err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicked{value, debug.Stack()}
		}
	}()
	return table.Play(ctx, setup)
}

// setup is an attempt at a game of the table, but for the journal.
func (s *sitting) setup(number, attempt int) table.Setup {
	seats := s.t.order(s.round, s.table, number)
	seed := s.t.GameSeed(s.round, s.table.Number, number, attempt)
	setup := table.Setup{
		Info: table.Info{
			ID:         fmt.Sprintf("%d/%d/%d/%d", s.t.ID, s.round, s.table.Number, number),
			Attempt:    attempt,
			Tournament: strconv.FormatInt(s.t.ID, 10),
			Round:      s.round,
			Rounds:     s.t.Settings.Rounds,
			Rated:      s.t.Settings.Rated(),
			Table:      s.table.Number,
			Number:     number,
			Of:         s.t.Settings.Games(s.round, len(seats)),
			Rules:      s.t.Settings.Rules.Complete(len(seats)),
			Dealer:     game.Seat(len(seats) - 1), // so that seat 0 acts first
			Timeout:    s.t.Settings.DecisionTimeout,
			Bank:       max(s.t.Settings.TimeBank, 0),
		},
		Seed:  seed,
		Deal:  deal.NewKeyed(seed),
		Limit: s.limit,
	}
	for seat, entrant := range seats {
		e := s.t.Entries[entrant-1]
		setup.Info.Bots = append(setup.Info.Bots, e.Name)
		setup.Players = append(setup.Players, s.player(e, game.Seat(seat), seed))
		setup.Bots = append(setup.Bots, slices.Index(s.table.Bots, entrant))
	}
	return setup
}

// player is who sits in a seat.
func (s *sitting) player(e Entry, seat game.Seat, seed [32]byte) table.Player {
	if e.remote() {
		return &kickable{s.arena.Bots.Player(e.Name), s.night, e.Number}
	}
	return housePlayer(e.Player, seat, seed)
}

// kickable is a bot that may be kicked out in mid-game: then it is not asked any more.
type kickable struct {
	table.Player
	night *night
	entry int
}

// Ask implements table.Player.
func (k *kickable) Ask(ctx context.Context, q table.Question) (table.Answer, error) {
	if _, kicked := k.night.kicked.Load(k.entry); kicked {
		return table.Answer{Gone: true, Absent: true}, ctx.Err()
	}
	return k.Player.Ask(ctx, q)
}

// housePlayer is a house bot in a seat of the game of a seed.
func housePlayer(player string, seat game.Seat, seed [32]byte) table.Player {
	strategy, err := house.New(player[len("house:"):])
	if err != nil {
		panic(err) // Enter has checked it
	}
	chance := houseSeed(seed)
	return table.House(strategy, func(number int) uint64 { return house.Chance(chance, seat, number-1) })
}

// announce tells the audience that an attempt begins, or goes on. At a table that was made void nothing begins, nor in a
// night that was cancelled.
func (s *sitting) announce(setup table.Setup, sofar []table.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now().State == Void || s.night.t.State == Cancelled {
		return
	}
	moves := make([]game.Move, len(sofar))
	for i, e := range sofar {
		moves[i] = e.Move
	}
	info := setup.Info // a copy: who keeps the event is not to keep the players and the journal of the game
	s.tell(Event{Kind: GameBegan, Round: s.round, Table: s.table.Number, Game: info.Number, Attempt: info.Attempt, Info: &info,
		Seed: setup.Seed, Moves: moves})
}

// land keeps the result, once, and tells of it.
func (s *sitting) land(ctx context.Context, number int, played Played) error {
	id := GameID{Tournament: s.t.ID, Round: s.round, Table: s.table.Number, Number: number}
	err := s.persist(ctx, fmt.Sprintf("keep the result of game %d", number), func() error {
		return s.arena.Store.SaveGame(ctx, id, played)
	})
	if err != nil {
		return err
	}
	if err := s.journal.Ended(s.round, s.table.Number, number); err != nil {
		// The store has the result and says so when the game is looked for: the journal merely stays longer than it must.
		s.arena.Log.Warn("forget a finished game in the journal", "tournament", s.t.ID, "err", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tab := s.now()
	at, _ := slices.BinarySearchFunc(tab.Games, number, func(g Game, number int) int { return g.Number - number })
	tab.Games = slices.Insert(slices.Clone(tab.Games), at, played.Game)
	result := played.Game // a copy: who keeps the event is not to keep the record
	s.tell(Event{Kind: GameEnded, Round: s.round, Table: s.table.Number, Game: number, Attempt: result.Attempt, Result: &result})
	return nil
}

// gameLog is the journal of a game under way, which also remembers it for going on after it was held, and tells the
// audience of a decision once it is safe.
type gameLog struct {
	*sitting
	journal         table.Journal
	number, attempt int
	entries         []table.Entry
	held            bool // until the next decision is written
}

// heldFor lets the night stand for a moment.
func (l *gameLog) heldFor(ctx context.Context, why error) error {
	if !l.held {
		l.held = true
		l.hold(why.Error())
	}
	select {
	case <-time.After(time.Second):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// goesOn ends that, if it was so.
func (l *gameLog) goesOn() {
	if l.held {
		l.held = false
		l.goOn()
	}
}

// Write implements table.Journal.
func (l *gameLog) Write(e table.Entry) error {
	if err := l.journal.Write(e); err != nil {
		return err
	}
	l.goesOn()
	l.entries = append(l.entries, e)
	l.arena.Audience.Happened(Event{Tournament: l.t.ID, At: time.Now().UTC(), Kind: GamePlay, Round: l.round, Table: l.sitting.table.Number,
		Game: l.number, Attempt: l.attempt, Moves: []game.Move{e.Move}})
	return nil
}
