// Package arena is what a tournament is: who enters, who meets whom in which pairing round, what the games ended in, who
// stands where and how strong everybody is. It runs tournaments so that nothing that was acknowledged is lost when the
// program stops. It knows no gRPC, SQL or HTTP: whoever starts it hands in a Store, Journals, Bots and an Audience.
//
// An Arena has a night for each tournament that is open or running. A night's state is changed under its lock, and kept
// in the Store before anybody sees it. While it runs, one goroutine takes it from pairing round to pairing round, each
// table has one, and each game under way has one.
package arena

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/table"
)

// Outside is what the arena needs of the world.
type Outside struct {
	Store    Store
	Journals Journals
	Bots     Bots
	Audience Audience
	Log      *slog.Logger
}

// Arena runs tournaments.
type Arena struct {
	Outside
	ctx  context.Context
	stop context.CancelCauseFunc
	work sync.WaitGroup

	closing sync.Mutex // held while work begins, and while Close says that none does any more

	mu     sync.Mutex
	nights map[int64]*night
	// playing says in which live tournament a bot plays: it may be one at a time. Held together with mu.
	playing map[string]int64
	ended   int               // nights that were forgotten, since they are over
	counted map[int64][]Stats // of finished tournaments
}

// ErrStopping is why games are broken off when the program stops; they go on when it is started again.
var ErrStopping = fmt.Errorf("the arena is stopping: %w", table.ErrInterrupted)

// StateError is a request that does not fit the state of a tournament.
type StateError struct{ Wrong string }

func (e *StateError) Error() string { return e.Wrong }

// unfit says in what state a tournament is, and what would be right.
func (t *Tournament) unfit(right string) *StateError {
	state := t.State.String()
	if t.State == Draft {
		state = "a draft"
	}
	return &StateError{fmt.Sprintf("tournament %d is %s; %s", t.ID, state, right)}
}

// closed is the answer of a tournament that is not open yet, or over.
func (t *Tournament) closed() *StateError {
	if t.State == Draft {
		return t.unfit("open it first")
	}
	return t.unfit("it does not change any more")
}

// New is an arena in which nothing runs yet.
func New(outside Outside) *Arena {
	ctx, stop := context.WithCancelCause(context.Background())
	return &Arena{Outside: outside, ctx: ctx, stop: stop, nights: map[int64]*night{}, playing: map[string]int64{}, counted: map[int64][]Stats{}}
}

// Resume goes on with every tournament that was live when the program ended. Call it once, before anything else.
func (a *Arena) Resume(ctx context.Context) error {
	live, err := a.Store.Live(ctx)
	if err != nil {
		return fmt.Errorf("read the tournaments that run: %w", err)
	}
	var awaited []*night // by those who called Wait before: they look again
	defer func() {
		for _, n := range awaited {
			n.mu.Lock()
			n.wake()
			n.mu.Unlock()
		}
	}()
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, t := range live {
		if n := a.nights[t.ID]; n != nil {
			awaited = append(awaited, n)
		}
		n := a.add(t)
		if t.State == Held { // what held it is tried anew
			t.State, t.Why = Running, ""
		}
		if t.State.Live() {
			for _, e := range t.Entries {
				if e.State == Entered {
					a.playing[e.Name] = t.ID
				}
			}
			a.Log.Info("tournament goes on", "tournament", t.ID, "name", t.Settings.Name, "round", len(t.Rounds))
			n.begin()
		} else if !t.StartAt.IsZero() {
			n.startLater()
		}
	}
	return nil
}

// Close breaks off what runs and waits until it stands; tournaments stay as they are in the store.
func (a *Arena) Close() {
	a.closing.Lock()
	a.stop(ErrStopping)
	a.closing.Unlock()
	a.work.Wait()
}

// do does something in a goroutine that Close waits for; after that it does nothing.
func (a *Arena) do(work func()) {
	a.closing.Lock()
	defer a.closing.Unlock()
	if a.ctx.Err() == nil {
		a.work.Go(work)
	}
}

// add makes a night of a tournament; a.mu is held.
func (a *Arena) add(t *Tournament) *night {
	n := &night{arena: a, id: t.ID, t: t, woken: make(chan struct{}), broken: map[tableKey]context.CancelCauseFunc{}}
	for _, e := range t.Entries {
		if e.State == Kicked {
			n.kicked.Store(e.Number, true)
		}
	}
	a.nights[t.ID] = n
	return n
}

// night finds an unfinished tournament.
func (a *Arena) night(ctx context.Context, id int64) (*night, error) {
	for {
		a.mu.Lock()
		n, ended := a.nights[id], a.ended
		a.mu.Unlock()
		if n != nil {
			return n, nil
		}
		t, err := a.Store.Tournament(ctx, id)
		if err != nil {
			return nil, fmt.Errorf("tournament %d: %w", id, err)
		}
		if t.State.Over() {
			return nil, t.closed()
		}
		a.mu.Lock()
		if n = a.nights[id]; n == nil && a.ended == ended { // else it may have ended since it was read
			n = a.add(t)
		}
		a.mu.Unlock()
		if n != nil {
			return n, nil
		}
	}
}

// Create makes a draft. A request id that made a tournament before answers with that one.
func (a *Arena) Create(ctx context.Context, s Settings, requestID string, act Act) (*Tournament, error) {
	s = s.complete()
	if err := s.Check(); err != nil {
		return nil, err
	}
	t := &Tournament{Settings: s, State: Draft, Secret: newSecret(s.Seed), Created: time.Now().UTC()}
	if err := a.Store.Create(ctx, t, requestID); err != nil {
		return nil, fmt.Errorf("create a tournament: %w", err)
	}
	acts, err := a.Store.Acts(ctx, t.ID)
	if err == nil && len(acts) == 0 { // else the request came before; it may have ended right here
		err = a.audit(ctx, t.ID, act)
	}
	if err != nil {
		return nil, fmt.Errorf("keep the audit log of tournament %d: %w", t.ID, err)
	}
	return t, nil
}

// Tournament is a tournament as it is now; it is the caller's. Only what Tournament.Public leaves may be shown.
func (a *Arena) Tournament(ctx context.Context, id int64) (*Tournament, error) {
	a.mu.Lock()
	n := a.nights[id]
	a.mu.Unlock()
	if n != nil {
		return n.snapshot(), nil
	}
	t, err := a.Store.Tournament(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("tournament %d: %w", id, err)
	}
	return t, nil
}

// Open lets bots enter and makes the commitment public.
func (a *Arena) Open(ctx context.Context, id int64, act Act) error {
	return a.change(ctx, id, act, func(n *night, t *Tournament) error {
		switch t.State {
		case Draft:
			t.State = Open
		case Open:
			return errAsItWas
		default:
			return t.unfit("only a draft can be opened")
		}
		return nil
	})
}

// errAsItWas is the answer of an act that changes nothing.
var errAsItWas = errors.New("it is so already")

// change applies an organiser's act to the head of a tournament: kept, noted in the audit log, then told. One that changes
// nothing is not noted.
func (a *Arena) change(ctx context.Context, id int64, act Act, apply func(*night, *Tournament) error) error {
	n, err := a.night(ctx, id)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	next := *n.t
	if err := apply(n, &next); err != nil {
		if errors.Is(err, errAsItWas) {
			return nil
		}
		return err
	}
	starts := !n.t.State.Live() && next.State.Live()
	if err := a.Store.SaveHead(ctx, &next); err != nil {
		if starts {
			a.free(id)
		}
		return fmt.Errorf("keep tournament %d: %w", id, err)
	}
	changed, set := n.t.State != next.State, !n.t.StartAt.Equal(next.StartAt)
	*n.t = next
	if set {
		n.startLater()
	}
	if starts {
		n.begin()
	}
	if changed {
		n.tell(Event{Kind: StateChanged, Text: next.State.String()})
	}
	n.wake()
	if next.State.Over() {
		if n.later != nil {
			n.later.Stop()
		}
		a.forget(id)
	}
	if err := a.audit(ctx, id, act); err != nil {
		return fmt.Errorf("keep the audit log of tournament %d: %w", id, err)
	}
	return nil
}

// forget takes a tournament that is over out of the arena.
func (a *Arena) forget(id int64) {
	a.free(id)
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.nights, id)
	a.ended++
}

// free lets the bots of a tournament play elsewhere, but for those that stay.
func (a *Arena) free(tournament int64, stay ...string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for bot, id := range a.playing {
		if id == tournament && !slices.Contains(stay, bot) {
			delete(a.playing, bot)
		}
	}
}

// audit keeps who did what. What was done is noted also if whoever did it waits for the answer no more.
func (a *Arena) audit(ctx context.Context, id int64, act Act) error {
	ctx = context.WithoutCancel(ctx)
	if act.At.IsZero() {
		act.At = time.Now().UTC()
	}
	return a.Store.Audit(ctx, id, act)
}

// Entrant is who enters a tournament.
type Entrant struct {
	Player      string // "bot:NAME" for a registered bot; from the organiser also "house:STRATEGY" and "cmd:COMMAND"
	Name        string // to play under; empty: that of the bot or strategy
	Owner       string // "" for the organiser's own
	ByOrganiser bool   // entered by the organiser, who may bring a kicked bot back and exceed an owner's share
}

// Enter puts a player into a tournament. A bot that withdrew, or was withdrawn, comes back. Between pairing rounds it plays
// from the next one.
func (a *Arena) Enter(ctx context.Context, id int64, who Entrant, act Act) (Entry, error) {
	kind, what, _ := strings.Cut(who.Player, ":")
	name := who.Name
	switch kind {
	case "house":
		if _, err := house.New(what); err != nil {
			return Entry{}, &SettingError{"player", err.Error()}
		}
	case "bot", "cmd":
		if what == "" {
			return Entry{}, &SettingError{"player", fmt.Sprintf("%q names nobody; it takes bot:NAME or cmd:COMMAND", who.Player)}
		}
	default:
		return Entry{}, &SettingError{"player", fmt.Sprintf("%q is not bot:NAME, house:STRATEGY or cmd:COMMAND", who.Player)}
	}
	if name == "" && kind != "cmd" {
		name = what
	}
	if err := CheckName("name", name, 32); err != nil {
		return Entry{}, err
	}
	n, err := a.night(ctx, id)
	if err != nil {
		return Entry{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	entry, enters, err := n.t.admits(who, name)
	if err != nil || !enters {
		return entry, err
	}
	if n.t.State.Live() {
		anew, err := a.claim(n.id, entry)
		if err != nil {
			return Entry{}, err
		}
		defer func() {
			if e, there := n.t.Entry(name); anew && (!there || e.State != Entered) { // something failed
				a.unclaim(entry)
			}
		}()
	}
	if kind == "cmd" {
		if err := a.Bots.Start(name, what); err != nil {
			return Entry{}, fmt.Errorf("start %q: %w", what, err)
		}
	}
	if err := n.keepEntries(ctx, entry); err != nil {
		return Entry{}, err
	}
	n.kicked.Delete(entry.Number)
	n.wake()
	if err := a.audit(ctx, id, act); err != nil {
		return Entry{}, fmt.Errorf("keep the audit log of tournament %d: %w", id, err)
	}
	return entry, nil
}

// admits is the entry of a player that enters under a name, and whether that changes anything; or why it cannot enter.
func (t *Tournament) admits(who Entrant, name string) (entry Entry, enters bool, err error) {
	if t.State != Open && !t.State.Live() {
		return Entry{}, false, t.closed()
	}
	next := 1
	if t.State.Live() {
		next = len(t.Rounds) + 1
	}
	old, there := t.Entry(name)
	switch {
	case next > t.Settings.Rounds:
		return Entry{}, false, &StateError{fmt.Sprintf("tournament %d has begun its last pairing round; nobody enters after that", t.ID)}
	case there && (old.Player != who.Player || old.FillIn || old.Anchor):
		return Entry{}, false, &SettingError{"name", fmt.Sprintf("%q has entered tournament %d already", name, t.ID)}
	case there && old.State == Entered:
		return *old, false, nil
	case there && old.State == Kicked && !who.ByOrganiser:
		return Entry{}, false, &StateError{fmt.Sprintf("%q was kicked out of tournament %d; only the organiser can bring it back", name, t.ID)}
	case who.Owner != "" && !who.ByOrganiser && countOwner(t.Entries, who.Owner) >= t.Settings.BotsPerOwner:
		return Entry{}, false, &StateError{fmt.Sprintf("tournament %d allows an owner %d at a time, and %q has as many; a bot that withdraws makes room for %q", t.ID, t.Settings.BotsPerOwner, who.Owner, name)}
	case there:
		entry = *old
		entry.State, entry.AbsentTables = Entered, 0
		return entry, true, nil
	case len(t.Entries) >= t.Settings.MaxBots:
		return Entry{}, false, &StateError{fmt.Sprintf("tournament %d is full: it takes %d bots", t.ID, t.Settings.MaxBots)}
	}
	return Entry{Number: len(t.Entries) + 1, Name: name, Player: who.Player, Owner: who.Owner, From: next}, true, nil
}

func countOwner(entries []Entry, owner string) (count int) {
	for _, e := range entries {
		if e.Owner == owner && e.State == Entered {
			count++
		}
	}
	return count
}

// claim makes a live tournament the one in which the bot of an entry plays, and reports whether it was not that before.
func (a *Arena) claim(id int64, e Entry) (anew bool, err error) {
	if !e.remote() {
		return false, nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	other, there := a.playing[e.Name]
	if there && other != id {
		return false, &StateError{fmt.Sprintf("%q plays in tournament %d, which runs; a bot plays in one at a time", e.Name, other)}
	}
	a.playing[e.Name] = id
	return !there, nil
}

// unclaim lets the bot of an entry play elsewhere.
func (a *Arena) unclaim(e Entry) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.playing, e.Name)
}

// playsElsewhere reports whether a bot plays in another tournament.
func (a *Arena) playsElsewhere(id int64, bot string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	other, there := a.playing[bot]
	return there && other != id
}

// enteredElsewhere reports whether a bot has entered another tournament that is not over.
func (a *Arena) enteredElsewhere(id int64, bot string) bool {
	a.mu.Lock()
	nights := slices.Collect(maps.Values(a.nights)) // whose locks are not taken under this one
	a.mu.Unlock()
	return slices.ContainsFunc(nights, func(n *night) bool {
		if n.id == id {
			return false
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		e, there := n.t.Entry(bot)
		return there && e.State == Entered && !n.t.State.Over()
	})
}

// Plays reports whether a tournament that runs needs a bot.
func (a *Arena) Plays(bot string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, plays := a.playing[bot]
	return plays
}

// remote reports whether the entry is a bot at the far end of a stream.
func (e Entry) remote() bool { return !strings.HasPrefix(e.Player, "house:") }

// Withdraw takes a bot out after the running pairing round; Enter brings it back. Withdrawing twice is harmless; who was
// kicked out is out already.
func (a *Arena) Withdraw(ctx context.Context, id int64, name string, act Act) error {
	return a.leave(ctx, id, name, Withdrawn, act)
}

// Kick takes a bot out for good; only the organiser can bring it back. Its running games go on with default decisions.
func (a *Arena) Kick(ctx context.Context, id int64, name string, act Act) error {
	return a.leave(ctx, id, name, Kicked, act)
}

func (a *Arena) leave(ctx context.Context, id int64, name string, state EntryState, act Act) error {
	n, err := a.night(ctx, id)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.t.State.Over() { // while this waited
		return n.t.closed()
	}
	old, there := n.t.Entry(name)
	if !there {
		return fmt.Errorf("bot %q in tournament %d: %w", name, id, ErrNotFound)
	}
	switch {
	case old.State == state:
		return nil
	case old.State == Kicked:
		return &StateError{fmt.Sprintf("%q was kicked out of tournament %d; it is out already", name, id)}
	}
	entry := *old
	entry.State = state
	if err := n.keepEntries(ctx, entry); err != nil {
		return err
	}
	if state == Kicked {
		n.kicked.Store(entry.Number, true)
		n.breakLeg(entry)
	}
	n.wake()
	if err := a.audit(ctx, id, act); err != nil {
		return fmt.Errorf("keep the audit log of tournament %d: %w", id, err)
	}
	return nil
}

// Start begins the first pairing round, or says when it will begin by itself. Starting what runs is harmless.
func (a *Arena) Start(ctx context.Context, id int64, at time.Time, act Act) error {
	return a.start(ctx, id, at, time.Time{}, act)
}

// start is Start. Due is the time at which the tournament was to start by itself, if that is who starts it.
func (a *Arena) start(ctx context.Context, id int64, at, due time.Time, act Act) error {
	return a.change(ctx, id, act, func(n *night, t *Tournament) error {
		switch {
		case t.State.Live(), !due.IsZero() && !due.Equal(t.StartAt): // it was set to another time a moment ago
			return errAsItWas
		case t.State != Open:
			return t.closed()
		case !at.IsZero() && !at.After(time.Now()):
			return &SettingError{"start_time", fmt.Sprintf("%s is past; leave it out to start now", at.Format(time.RFC3339))}
		case !at.IsZero():
			t.StartAt = at
			return nil
		case len(t.entrants(1)) == 0:
			return &StateError{fmt.Sprintf("nobody has entered tournament %d; enter bots first", id)}
		}
		if err := n.claimAll(t); err != nil {
			a.free(id)
			return err
		}
		t.State, t.Why, t.StartAt, t.Started = Running, "", time.Time{}, time.Now().UTC()
		return nil
	})
}

// Pause ends the running tables and then waits for Continue.
func (a *Arena) Pause(ctx context.Context, id int64, act Act) error {
	return a.change(ctx, id, act, func(_ *night, t *Tournament) error {
		if !t.State.Live() {
			return t.unfit("only a running one can be paused")
		}
		if t.State == Paused && act.Why == "" { // its reason stays
			return errAsItWas
		}
		t.State = Paused
		return nil
	})
}

// Continue goes on after Pause.
func (a *Arena) Continue(ctx context.Context, id int64, act Act) error {
	return a.change(ctx, id, act, func(n *night, t *Tournament) error {
		if !t.State.Live() {
			return t.unfit("only a paused one can go on")
		}
		if t.State != Paused {
			return errAsItWas
		}
		t.State, t.Why = Running, ""
		if n.held > 0 { // still, or anew
			t.State, t.Why = Held, n.why
		}
		return nil
	})
}

// Cancel breaks a tournament off; nothing of it is rated.
func (a *Arena) Cancel(ctx context.Context, id int64, why string, act Act) error {
	var cancelled *night
	err := a.change(ctx, id, act, func(n *night, t *Tournament) error {
		if t.State.Over() { // while this waited
			return t.closed()
		}
		t.State, t.Why, t.Ended = Cancelled, why, time.Now().UTC()
		cancelled = n
		return nil
	})
	switch {
	case err != nil || cancelled == nil:
	case cancelled.cancel != nil:
		cancelled.cancel(errCancelled)
	default: // it had not begun, but its commands are there
		a.do(func() { cancelled.release(true) })
	}
	return err
}

// VoidTable breaks off a table of the running pairing round, or takes the result of one that is over out of the standings
// and the rating: 1/2 for each of its bots. Its records are kept.
func (a *Arena) VoidTable(ctx context.Context, id int64, round, number int, why string, act Act) error {
	n, err := a.night(ctx, id)
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.t.State.Over() { // while this waited
		return n.t.closed()
	}
	if round < 1 || round > len(n.t.Rounds) || number < 1 || number > len(n.t.Rounds[round-1].Tables) {
		return fmt.Errorf("table %d of pairing round %d of tournament %d: %w", number, round, id, ErrNotFound)
	}
	t := n.t.Rounds[round-1].Tables[number-1]
	if t.State == Void {
		return nil
	}
	breakOff := n.broken[tableKey{round, number}]
	if breakOff == nil || t.State == Complete {
		t.VoidFrom = len(n.t.Rounds) + 1
	}
	t.State, t.Why = Void, why
	if err := n.keepTable(ctx, round, t); err != nil {
		return err
	}
	if breakOff != nil {
		breakOff(&voidError{why})
	}
	if err := a.audit(ctx, id, act); err != nil {
		return fmt.Errorf("keep the audit log of tournament %d: %w", id, err)
	}
	return nil
}

// voidError is why a table's games are broken off.
type voidError struct{ why string }

func (e *voidError) Error() string { return e.why }

var errCancelled = errors.New("the tournament was cancelled")

// Exclude takes a result of a finished tournament out of its league's rating, with a reason: a game, a table, or all of it
// where the numbers are 0. Doing so twice is harmless.
func (a *Arena) Exclude(ctx context.Context, id int64, what Excluded, act Act) error {
	if what.Why == "" {
		return &SettingError{"why", "is empty; say why the result is taken out"}
	}
	return a.exclude(ctx, id, what, act, func(t *Tournament, at int) {
		if at < 0 {
			t.Excluded = append(slices.Clone(t.Excluded), what)
		}
	})
}

// Include puts back what Exclude took out; Why does not matter.
func (a *Arena) Include(ctx context.Context, id int64, what Excluded, act Act) error {
	return a.exclude(ctx, id, what, act, func(t *Tournament, at int) {
		if at >= 0 {
			t.Excluded = slices.Delete(slices.Clone(t.Excluded), at, at+1)
		}
	})
}

func (a *Arena) exclude(ctx context.Context, id int64, what Excluded, act Act, change func(t *Tournament, at int)) error {
	t, err := a.Store.Tournament(ctx, id)
	if err != nil {
		return fmt.Errorf("tournament %d: %w", id, err)
	}
	if t.State != Finished {
		return t.unfit("only a finished one is in the rating")
	}
	if !t.has(what) {
		return fmt.Errorf("pairing round %d, table %d, game %d of tournament %d: %w", what.Round, what.Table, what.Game, id, ErrNotFound)
	}
	change(t, slices.IndexFunc(t.Excluded, func(e Excluded) bool {
		return e.Round == what.Round && e.Table == what.Table && e.Game == what.Game
	}))
	if err := a.Store.SaveHead(ctx, t); err != nil {
		return fmt.Errorf("keep tournament %d: %w", id, err)
	}
	if err := a.audit(ctx, id, act); err != nil {
		return fmt.Errorf("keep the audit log of tournament %d: %w", id, err)
	}
	return nil
}

// has reports whether there is such a result in the tournament.
func (t *Tournament) has(what Excluded) bool {
	switch {
	case what.Round == 0:
		return what.Table == 0 && what.Game == 0
	case what.Round < 0 || what.Round > len(t.Rounds):
		return false
	case what.Table == 0:
		return what.Game == 0
	case what.Table < 0 || what.Table > len(t.Rounds[what.Round-1].Tables):
		return false
	}
	return what.Game >= 0 && what.Game <= t.Settings.Games(what.Round, len(t.Rounds[what.Round-1].Tables[what.Table-1].Bots))
}

// Entrants are the numbers of those who may be paired in a round, ascending.
func (t *Tournament) entrants(round int) []int {
	var numbers []int
	for _, e := range t.Entries {
		if e.State == Entered && e.From <= round && !e.FillIn {
			numbers = append(numbers, e.Number)
		}
	}
	slices.SortFunc(numbers, cmp.Compare)
	return numbers
}
