package arena

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flip7-arena/flip7/arena/swiss"
)

// night is a tournament that is not over.
type night struct {
	arena  *Arena
	id     int64
	cancel context.CancelCauseFunc // breaks off what runs; nil until it is live
	later  *time.Timer             // starts it at Tournament.StartAt

	mu     sync.Mutex
	t      *Tournament
	woken  chan struct{} // closed and replaced when something changes that run may wait for
	held   int           // games and tables that stand still for a reason of the arena's
	why    string        // the last such reason
	broken map[tableKey]context.CancelCauseFunc

	finalBegan time.Time // since the program started; only run looks at it

	kicked sync.Map // of entry numbers: their games go on with default decisions
}

type tableKey struct{ round, table int }

// wake lets run look again; n.mu is held.
func (n *night) wake() {
	close(n.woken)
	n.woken = make(chan struct{})
}

// tell tells the audience; n.mu is held, so that events come in the order of what they tell.
func (n *night) tell(e Event) {
	e.Tournament, e.At = n.id, time.Now().UTC()
	n.arena.Audience.Happened(e)
}

// snapshot is a copy of the tournament that is the caller's.
func (n *night) snapshot() *Tournament {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.t.clone()
}

func (t *Tournament) clone() *Tournament {
	c := *t
	c.Entries = slices.Clone(t.Entries)
	c.Rounds = slices.Clone(t.Rounds)
	for i := range c.Rounds {
		// The games of a table are shared: who adds one makes a new slice.
		c.Rounds[i].Tables = slices.Clone(c.Rounds[i].Tables)
	}
	return &c
}

// keepEntries keeps entries in the store and then in the tournament; n.mu is held.
func (n *night) keepEntries(ctx context.Context, entries ...Entry) error {
	if len(entries) == 0 {
		return nil
	}
	if err := n.arena.Store.SaveEntries(ctx, n.id, entries...); err != nil {
		return fmt.Errorf("keep the entries of tournament %d: %w", n.id, err)
	}
	for _, e := range entries {
		if e.Number > len(n.t.Entries) {
			n.t.Entries = append(n.t.Entries, e)
		} else {
			n.t.Entries[e.Number-1] = e
		}
	}
	n.tell(Event{Kind: EntriesChanged, Entries: entries})
	return nil
}

// keepTable keeps how a table stands, but not its games; n.mu is held.
func (n *night) keepTable(ctx context.Context, round int, t Table) error {
	if err := n.arena.Store.SaveTable(ctx, n.id, round, t); err != nil {
		return fmt.Errorf("keep table %d of pairing round %d: %w", t.Number, round, err)
	}
	n.t.Rounds[round-1].Tables[t.Number-1] = t
	n.tell(Event{Kind: TableChanged, Round: round, Table: t.Number, Text: t.State.String()})
	if t.State == Complete || t.State == Void {
		n.tell(Event{Kind: StandingsChanged, Round: round})
	}
	return nil
}

// startLater starts the tournament at the time it is set to start; n.mu is held, or nobody knows n yet.
func (n *night) startLater() {
	if n.later != nil {
		n.later.Stop()
	}
	at := n.t.StartAt
	if at.IsZero() {
		return
	}
	n.later = time.AfterFunc(time.Until(at), func() {
		n.startAtLast(at)
	})
}

// startRetry is how long a tournament that could not start at its time waits before it tries again.
const startRetry = 30 * time.Second

// startAtLast starts the tournament whose time has come. While it cannot start it says why, and tries again.
func (n *night) startAtLast(at time.Time) {
	a, id := n.arena, n.id
	act := Act{Who: "arena", What: "start", Why: "it was set for " + at.Format(time.RFC3339)}
	err := a.start(a.ctx, id, time.Time{}, at, act)
	if err == nil || a.ctx.Err() != nil {
		return
	}
	a.Log.Error("a tournament did not start at its time", "tournament", id, "err", err)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.t.State != Open || !n.t.StartAt.Equal(at) {
		return // set to another time, or broken off
	}
	n.t.Why = "it did not start at its time: " + err.Error()
	n.tell(Event{Kind: StateChanged, Text: n.t.State.String()})
	n.later = time.AfterFunc(startRetry, func() { n.startAtLast(at) })
}

// claimAll makes a tournament that starts the one in which its bots play.
func (n *night) claimAll(t *Tournament) error {
	for _, e := range t.Entries {
		if e.State == Entered {
			if _, err := n.arena.claim(t.ID, e); err != nil {
				return err
			}
		}
	}
	return nil
}

// begin runs the tournament in a goroutine of its own.
func (n *night) begin() {
	ctx, cancel := context.WithCancelCause(n.arena.ctx)
	n.cancel = cancel
	n.arena.do(func() {
		defer cancel(nil)
		if err := n.run(ctx); err != nil && !errors.Is(err, ErrStopping) && !errors.Is(err, errCancelled) {
			n.arena.Log.Error("a tournament stands still", "tournament", n.id, "err", err)
		}
	})
}

// run takes the tournament from where it is to its end. An error is why it stopped before: the arena stops, it was
// cancelled, or a fault of ours that was logged.
func (n *night) run(ctx context.Context) error {
	var journal Journal
	err := n.persist(ctx, "open the journal", func() (err error) {
		journal, err = n.arena.Journals.Open(n.id)
		return err
	})
	if err != nil {
		return err
	}
	discard := false
	defer func() {
		if err := journal.Close(discard); err != nil {
			n.arena.Log.Error("close the journal", "tournament", n.id, "err", err)
		}
	}()
	n.call() // a command may have been ended with another tournament just as it was entered here
	for {
		if err := n.waitWhilePaused(ctx); err != nil {
			discard = errors.Is(err, errCancelled)
			n.release(discard)
			return err
		}
		t := n.snapshot()
		done := len(t.Rounds)
		var err error
		switch {
		case done > 0 && !t.Rounds[done-1].over():
			err = n.playRound(ctx, journal, done)
		case done < t.Settings.Rounds:
			err = n.pairNext(ctx, done+1)
		case !t.finalOver(len(t.legs())):
			err = n.pairLeg(ctx, done+1)
		default:
			n.release(true)
			if discard, err = n.finish(ctx); discard {
				return nil
			}
			n.call()
		}
		if err != nil {
			discard = errors.Is(err, errCancelled)
			n.release(discard)
			return err
		}
	}
}

// over reports whether all tables of the pairing round have ended.
func (r *Round) over() bool {
	for _, t := range r.Tables {
		if t.State != Complete && t.State != Void {
			return false
		}
	}
	return true
}

func (n *night) waitWhilePaused(ctx context.Context) error {
	for {
		n.mu.Lock()
		state, woken := n.t.State, n.woken
		n.mu.Unlock()
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if state != Paused && state != Cancelled { // then ctx ends in a moment
			return nil
		}
		select {
		case <-woken:
		case <-ctx.Done():
		}
	}
}

// release lets go of the bots, but for what other tournaments have of them: a bot may have left this one and play there by
// now, and a command may have been entered for the next night. Commands end with the tournament, not when the arena merely
// stops, and side by side: each may take seconds.
func (n *night) release(over bool) {
	var ending sync.WaitGroup
	defer ending.Wait()
	for _, e := range n.snapshot().Entries {
		if !e.remote() {
			continue
		}
		if !n.arena.playsElsewhere(n.id, e.Name) {
			n.arena.Bots.Unpin(e.Name)
		}
		if over && !n.arena.enteredElsewhere(n.id, e.Name) {
			ending.Go(func() { n.arena.Bots.Stop(e.Name) })
		}
	}
}

// call has the bots play that have entered: it holds those that were paired to their builds, and starts the commands that do
// not run. Release is the opposite.
func (n *night) call() {
	t := n.snapshot()
	if t.State.Over() {
		return
	}
	for _, e := range t.Entries {
		if e.State != Entered || !e.remote() {
			continue
		}
		if e.Build != "" {
			n.arena.Bots.Pin(e.Name, e.Build)
		}
		command, is := strings.CutPrefix(e.Player, "cmd:")
		if !is {
			continue
		}
		if err := n.arena.Bots.Start(e.Name, command); err != nil { // it is a bot that is not there
			n.arena.Log.Error("a program cannot be started again", "tournament", n.id, "bot", e.Name, "err", err)
		}
	}
}

// finish ends the night, and reports whether it did: one that was paused or cancelled before is not over by that, nor is
// a final whose last leg was made void.
func (n *night) finish(ctx context.Context) (over bool, err error) {
	err = n.persist(ctx, "finish", func() error {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.t.State == Paused || n.t.State == Cancelled || !n.t.finalOver(len(n.t.legs())) {
			return nil // run looks again
		}
		next := *n.t
		next.State, next.Why, next.Ended = Finished, "", time.Now().UTC()
		if err := n.arena.Store.SaveHead(ctx, &next); err != nil {
			return err
		}
		*n.t = next
		n.tell(Event{Kind: StateChanged, Text: next.State.String()})
		n.wake()
		n.arena.forget(n.id)
		over = true
		return nil
	})
	return over, err
}

// persist does what the night cannot go on without, again and again until it is done: a full disk holds the night, and it
// goes on when there is room.
func (n *night) persist(ctx context.Context, what string, do func() error) error {
	err := do()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil { // that is why, most likely
		return context.Cause(ctx)
	}
	n.hold(fmt.Sprintf("%s: %v", what, err))
	defer n.goOn()
	for wait := time.Second; ; wait = min(2*wait, 15*time.Second) {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if err = do(); err == nil {
			return nil
		}
	}
}

// hold notes that something stands still. It tries to keep that, but what holds the night may be that nothing can be kept.
func (n *night) hold(why string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.arena.Log.Error("a tournament is held", "tournament", n.id, "why", why)
	n.held++
	n.why = why
	if n.t.State == Running {
		n.t.State, n.t.Why = Held, why
		_ = n.arena.Store.SaveHead(n.arena.ctx, n.t)
		n.tell(Event{Kind: StateChanged, Text: Held.String() + ": " + why})
	}
}

func (n *night) goOn() {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.held--; n.held == 0 && n.t.State == Held {
		n.t.State, n.t.Why = Running, ""
		_ = n.arena.Store.SaveHead(n.arena.ctx, n.t)
		n.arena.Log.Info("a tournament goes on", "tournament", n.id)
		n.tell(Event{Kind: StateChanged, Text: Running.String()})
	}
}

// pairNext checks in, fills up and pairs the next round.
func (n *night) pairNext(ctx context.Context, number int) error {
	var asked []int
	present, over, err := n.checkIn(ctx, fmt.Sprintf("pairing round %d", number), func(t *Tournament) []int {
		asked = t.entrants(number)
		return asked
	})
	if err != nil || !over {
		return err // nil: run looks again
	}
	return n.persist(ctx, fmt.Sprintf("pair round %d", number), func() error {
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.t.State == Paused || n.t.State == Cancelled || ctx.Err() != nil || n.stale(number, asked, present) {
			return nil // run looks again
		}
		if number == 1 {
			if err := n.addAnchor(ctx, &present); err != nil {
				return err
			}
			asked = n.t.entrants(number)
		}
		if err := n.admit(ctx, number, present); err != nil {
			return err
		}
		seated := present
		if !slices.ContainsFunc(present, func(number int) bool { return !n.t.Entries[number-1].Anchor }) {
			seated = nil // the anchor does not play by itself
		} else if len(present) < swiss.MinSeats {
			fill, err := n.fillIn(ctx, swiss.MinSeats-len(present))
			if err != nil {
				return err
			}
			seated = append(slices.Clone(present), fill...)
		}
		round, err := n.t.pair(number, seated)
		if err != nil {
			return err
		}
		entrants := n.t.entrants(number)
		for _, entrant := range entrants {
			if !slices.Contains(present, entrant) {
				round.Missing = append(round.Missing, entrant)
			}
		}
		return n.keepRound(ctx, round, entrants)
	})
}

// stale reports whether a check-in of those that were asked does not hold any more: somebody has entered or left since, or
// is gone before it is known which build of it plays. n.mu is held.
func (n *night) stale(number int, asked, present []int) bool {
	return !slices.Equal(asked, n.t.entrants(number)) || slices.ContainsFunc(present, func(number int) bool {
		e := n.t.Entries[number-1]
		return e.Build == "" && !n.there(e)
	})
}

// keepRound keeps a new pairing round or leg; who does not stay may play elsewhere from now on. n.mu is held.
func (n *night) keepRound(ctx context.Context, round Round, stay []int) error {
	if err := n.arena.Store.SaveRound(ctx, n.id, round); err != nil {
		return err
	}
	n.t.Rounds = append(n.t.Rounds, round)
	n.arena.free(n.id, n.t.names(stay)...)
	n.tell(Event{Kind: RoundPaired, Round: round.Number})
	return nil
}

// checkIn waits until all that who names are there or the time for it is over, and says who is there: numbers, ascending.
// Over is false if the night was paused before that: who is missing then is waited for anew, also when the night goes on at
// once.
func (n *night) checkIn(ctx context.Context, what string, who func(*Tournament) []int) (present []int, over bool, err error) {
	timeout := time.NewTimer(max(n.snapshot().Settings.CheckIn, 0))
	defer timeout.Stop()
	for late := false; ; {
		changed := n.arena.Bots.Changed()
		n.mu.Lock()
		entrants, woken, state := who(n.t), n.woken, n.t.State
		present = nil
		for _, number := range entrants {
			if n.there(n.t.Entries[number-1]) {
				present = append(present, number)
			}
		}
		n.mu.Unlock()
		if ctx.Err() != nil {
			return nil, false, context.Cause(ctx)
		}
		everybody := len(entrants) > 0 && len(present) == len(entrants) // of nobody: somebody may come back yet
		over = late || everybody
		if over || state == Paused {
			n.waitFor("")
			return present, over, nil
		}
		n.waitFor(fmt.Sprintf("%s waits for %s, for %v at most", what, n.missing(entrants, present), n.snapshot().Settings.CheckIn))
		select {
		case <-timeout.C:
			late = true
		case <-changed:
		case <-woken:
		case <-ctx.Done():
		}
	}
}

// missing names who of the entrants is not present.
func (n *night) missing(entrants, present []int) string {
	t := n.snapshot()
	var names []string
	for _, number := range entrants {
		if !slices.Contains(present, number) {
			names = append(names, t.Entries[number-1].Name)
		}
	}
	const named = 5
	if more := len(names) - named; more > 0 {
		names = append(names[:named], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, ", ")
}

// waitFor tells what a running night waits for; "" for nothing.
func (n *night) waitFor(what string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.t.State == Running && n.t.Why != what {
		n.t.Why = what
		n.tell(Event{Kind: StateChanged, Text: Running.String()})
	}
}

// there reports whether a bot can be seated.
func (n *night) there(e Entry) bool {
	if !e.remote() {
		return true
	}
	p, connected := n.arena.Bots.Presence(e.Name)
	return connected && p.MaxGames > 0 && (e.Build == "" || e.Build == p.Build)
}

// admit fixes what a bot's first pairing fixes: its build, and before the first pairing round what it brought to the
// seeds; n.mu is held.
func (n *night) admit(ctx context.Context, round int, present []int) error {
	var changed []Entry
	for _, e := range n.t.Entries {
		before := e
		if p, connected := n.arena.Bots.Presence(e.Name); connected && e.remote() {
			if round == 1 {
				e.Contribution = p.Contribution
			}
			if e.Build == "" && slices.Contains(present, e.Number) {
				e.Build = p.Build
				n.arena.Bots.Pin(e.Name, e.Build)
			}
		}
		if e != before {
			changed = append(changed, e)
		}
	}
	return n.keepEntries(ctx, changed...)
}

// addAnchor enters the house bot stay-25 outside the ranks if the settings ask for it; n.mu is held.
func (n *night) addAnchor(ctx context.Context, present *[]int) error {
	s := n.t.Settings
	want := s.Anchor == AnchorOn || s.Anchor == AnchorAuto && s.Rated() && len(*present)%s.Seats != 0
	for _, e := range n.t.Entries {
		want = want && !e.Anchor && e.Player != "house:"+anchorStrategy // one is enough
	}
	if !want || len(*present) == 0 {
		return nil
	}
	anchor := Entry{Number: len(n.t.Entries) + 1, Name: n.freeName(anchorStrategy), Player: "house:" + anchorStrategy, From: 1, Anchor: true}
	if err := n.keepEntries(ctx, anchor); err != nil {
		return err
	}
	*present = append(*present, anchor.Number)
	return nil
}

// anchorStrategy is the house bot whose rating is set to 1500.
const anchorStrategy = "stay-25"

// fillIn are house bots that sit in because hardly anybody is there; n.mu is held.
func (n *night) fillIn(ctx context.Context, count int) ([]int, error) {
	var numbers []int
	for _, e := range n.t.Entries {
		if e.FillIn && len(numbers) < count {
			numbers = append(numbers, e.Number)
		}
	}
	for _, strategy := range []string{"odds", "stay-20"} {
		if len(numbers) == count {
			break
		}
		if slices.ContainsFunc(n.t.Entries, func(e Entry) bool { return e.FillIn && e.Player == "house:"+strategy }) {
			continue
		}
		e := Entry{Number: len(n.t.Entries) + 1, Name: n.freeName(strategy), Player: "house:" + strategy, From: len(n.t.Rounds) + 1, FillIn: true}
		if err := n.keepEntries(ctx, e); err != nil {
			return nil, err
		}
		numbers = append(numbers, e.Number)
	}
	return numbers, nil
}

// freeName is a name that nobody has in the tournament; n.mu is held.
func (n *night) freeName(name string) string {
	for taken := true; taken; {
		if _, taken = n.t.Entry(name); taken {
			name = "house-" + name
		}
	}
	return name
}
