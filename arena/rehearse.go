package arena

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/flip7-arena/flip7/arena/swiss"
	"github.com/flip7-arena/flip7/arena/table"
)

// Rehearsal is what a night would come to with house bots in the place of others.
type Rehearsal struct {
	Tournament *Tournament
	Standings  []Standing
	Conclusion Conclusion
	Games      int
	Decisions  int
	Span       Span
}

// understudies play the parts of bots that are not the arena's own, in this order.
var understudies = []string{"stay-25", "odds", "stay-20", "racer", "cards-5", "stay-15", "stay-30", "random"}

// Rehearse plays a whole night at once, with house bots for everybody who is not one, on deals of the seed in the
// settings (0 if there is none). Nothing of it is kept. Happened is told what happens, if it is not nil.
func Rehearse(ctx context.Context, s Settings, entries []Entry, happened func(Event)) (*Rehearsal, error) {
	if s.Seed == nil {
		s.Seed = new(uint64)
	}
	memory, audience := &counting{Memory: NewMemory()}, audienceFunc(happened)
	a := New(Outside{Store: memory, Journals: memory, Bots: nobody{}, Audience: audience, Log: slog.New(slog.DiscardHandler)})
	defer a.Close()
	t, err := a.Create(ctx, s, "", Act{})
	if err != nil {
		return nil, err
	}
	act := Act{Who: "rehearsal"}
	if err := a.Open(ctx, t.ID, act); err != nil {
		return nil, err
	}
	for i, e := range entries {
		player := e.Player
		if !strings.HasPrefix(player, "house:") {
			player = "house:" + understudies[i%len(understudies)]
		}
		if _, err := a.Enter(ctx, t.ID, Entrant{Player: player, Name: e.Name, Owner: e.Owner, ByOrganiser: true}, act); err != nil {
			return nil, fmt.Errorf("enter %q: %w", e.Name, err)
		}
	}
	if err := a.Start(ctx, t.ID, time.Time{}, act); err != nil {
		return nil, err
	}
	if t, err = a.Wait(ctx, t.ID); err != nil {
		return nil, err
	}
	played := t.Settings
	if f := t.Final(); f != nil {
		played.MaxGames = max(f.Games, len(f.Bots)) // what was expected of the final table is known by now
	}
	r := &Rehearsal{Tournament: t, Games: memory.games, Decisions: memory.decisions, Span: Estimate(played, len(entries))}
	if r.Standings, err = t.Standings(); err != nil {
		return nil, err
	}
	r.Conclusion, err = t.Conclude()
	return r, err
}

// counting is a Memory that counts games and decisions and keeps no record: a long night has gigabytes of them.
type counting struct {
	*Memory
	mu               sync.Mutex
	games, decisions int
}

// SaveGame implements Store.
func (c *counting) SaveGame(ctx context.Context, id GameID, p Played) error {
	c.mu.Lock()
	c.games++
	c.decisions += len(p.Record.Moves)
	c.mu.Unlock()
	return c.Memory.SaveGame(ctx, id, Played{Game: p.Game})
}

// Wait returns a tournament when it is over. It may be called before Resume.
func (a *Arena) Wait(ctx context.Context, id int64) (*Tournament, error) {
	for {
		n, err := a.night(ctx, id)
		if _, over := errors.AsType[*StateError](err); over {
			return a.Store.Tournament(ctx, id)
		}
		if err != nil {
			return nil, err
		}
		n.mu.Lock()
		over, woken := n.t.State.Over(), n.woken
		n.mu.Unlock()
		if over {
			return n.snapshot(), nil
		}
		a.mu.Lock()
		gone := a.nights[id] != n // Resume has put another in its place: what woke those who waited is past
		a.mu.Unlock()
		if gone {
			continue
		}
		select {
		case <-woken:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// Span is how long a night lasts.
type Span struct {
	Expected time.Duration // with bots that answer in 20 ms, as those on other machines do
	Latest   time.Duration // whatever the bots do
	Final    time.Duration // the part of Latest that is the final table's
}

// Estimate says how long a night of so many bots lasts, each able to play 8 games side by side.
func Estimate(s Settings, bots int) Span {
	const (
		answer = 20 * time.Millisecond
		aside  = 8
	)
	s = s.complete()
	bots = max(bots, swiss.MinSeats)
	plan := func(round, seats int) table.Plan {
		return table.Plan{Seats: seats, Games: s.Games(round, seats), AtOnce: aside, Rules: s.Rules, Timeout: s.DecisionTimeout,
			Bank: max(s.TimeBank, 0), Limit: s.tableLimit(round), Allowance: answer}
	}
	full, largest := plan(1, swiss.Sizes(bots, s.Seats)[0]), plan(1, largestTable(bots, s.Seats))
	span := Span{Expected: times(s.Rounds, full.Expected(answer)), Latest: times(s.Rounds, max(s.CheckIn, 0)+min(largest.Latest(), forever/2))}
	if s.FinalTable > 0 {
		leg := plan(s.Rounds+1, min(s.FinalTable, bots))
		all := leg
		all.Games = s.MaxGames
		span.Expected += min(all.Expected(answer), s.finalLimit())
		span.Final = s.finalLimit() + max(s.CheckIn, 0) + min(leg.Latest(), forever/2) // the last leg begins within the limit
		span.Latest = sum(span.Latest, span.Final)
	}
	return span
}

// largestTable is how many sit at the largest table of a night of so many bots, some of whom may be away: five bots sit at
// one table, also where tables have four seats.
func largestTable(bots, seats int) (largest int) {
	for present := swiss.MinSeats; present <= min(bots, 2*swiss.MaxSeats); present++ { // with more the tables are no larger
		largest = max(largest, swiss.Sizes(present, seats)[0])
	}
	return largest
}

// forever is the longest duration there is.
const forever = time.Duration(math.MaxInt64)

// times is n times a duration, and forever if that is longer than any.
func times(n int, d time.Duration) time.Duration {
	if d > forever/time.Duration(n) {
		return forever
	}
	return time.Duration(n) * d
}

// sum is the sum of two durations, and forever if that is longer than any.
func sum(a, b time.Duration) time.Duration {
	if a > forever-b {
		return forever
	}
	return a + b
}

type audienceFunc func(Event)

func (f audienceFunc) Happened(e Event) {
	if f != nil {
		f(e)
	}
}

// nobody is the Bots of an arena in which only house bots play.
type nobody struct{}

var errNobody = errors.New("only house bots play here")

func (nobody) Player(string) table.Player       { panic(errNobody) }
func (nobody) Presence(string) (Presence, bool) { return Presence{}, false }
func (nobody) Changed() <-chan struct{}         { return nil }
func (nobody) Lost(string) int                  { return 0 }
func (nobody) Absent(string) bool               { return false }
func (nobody) Pin(string, string)               {}
func (nobody) Unpin(string)                     {}
func (nobody) Start(string, string) error       { return errNobody }
func (nobody) Stop(string)                      {}
