package table_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

func TestLimit(t *testing.T) {
	start := time.Unix(1_000_000, 0)
	const total = 8 * time.Minute // of four bots: two minutes each
	for _, test := range []struct {
		name   string
		used   []time.Duration
		after  time.Duration
		normal time.Duration
		want   time.Duration
		hurry  bool
	}{
		{"before the limit nobody is hurried", []time.Duration{time.Hour}, total - 1, time.Second, time.Second, false},
		{"nor at the limit", []time.Duration{time.Hour}, total, time.Second, time.Second, false},
		{"beyond it whoever used more than its share is", []time.Duration{2*time.Minute + 1}, total + 1, time.Second, 50 * time.Millisecond, true},
		{"in parts too", []time.Duration{time.Minute, time.Minute, 1}, total + 1, time.Second, 50 * time.Millisecond, true},
		{"and who used its share is not", []time.Duration{2 * time.Minute}, total + time.Hour, time.Second, time.Second, false},
		{"a timeout that is shorter stays", []time.Duration{time.Hour}, total + 1, 20 * time.Millisecond, 20 * time.Millisecond, true},
	} {
		l := table.NewLimit(total, 4, start)
		for _, used := range test.used {
			l.Charge(2, used)
		}
		got, hurried := l.Timeout(2, start.Add(test.after), test.normal)
		if got != test.want || hurried != test.hurry {
			t.Errorf("%s: got %v, %v, want %v, %v", test.name, got, hurried, test.want, test.hurry)
		}
		if got, hurried := l.Timeout(1, start.Add(test.after), test.normal); got != test.normal || hurried {
			t.Errorf("%s: another bot has %v, %v", test.name, got, hurried)
		}
	}
}

// TestLimitOfATable has one slow bot in a table of four, which sits in another seat in each game, one game after the
// other.
func TestLimitOfATable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const total = 40 * time.Second // ten for each bot
		start := time.Now()
		limit := table.NewLimit(total, 4, start)
		var used time.Duration // by the slow bot
		hurried := 0
		for number := range 8 {
			s, bots := botGame()
			s.Seed = [32]byte{byte(number)}
			s.Deal = deal.NewKeyed(s.Seed)
			s.Limit = limit
			s.Bots = []int{0, 1, 2, 3}
			slow := number % 4
			s.Bots[slow], s.Bots[3] = 3, s.Bots[slow] // bot 3 is the slow one
			for seat, b := range bots {
				b.answer = func(q table.Question) table.Answer {
					a := decide(q)
					wantTimeout, wantBank := s.Info.Timeout, s.Info.Bank
					if seat == slow {
						a.Took = 900 * time.Millisecond
						if time.Since(start) > total && used > total/4 {
							wantTimeout, wantBank = 50*time.Millisecond, 0
							hurried++
						}
					}
					if q.Timeout != wantTimeout || q.Banks[seat] != wantBank {
						t.Errorf("game %d, decision %d: seat %d has %v and a bank of %v, want %v and %v",
							number, q.Number, seat, q.Timeout, q.Banks[seat], wantTimeout, wantBank)
					}
					if seat == slow {
						used += min(a.Took, q.Budget())
					}
					return a
				}
			}
			out := play(t, s)
			if faults := out.Faults[slow]; (faults > 0) != (hurried > 0) {
				t.Errorf("game %d: the slow bot has %d faults, and was hurried %d times so far", number, faults, hurried)
			}
		}
		if hurried == 0 {
			t.Error("the slow bot was never hurried")
		}
	})
}

func TestLimitCountsDecisionsSoFar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := func(limit *table.Limit) (table.Setup, []*bot) {
			s, bots := botGame()
			s.Limit, s.Bots = limit, []int{0, 1, 2, 3}
			bots[1].answer = func(q table.Question) table.Answer {
				a := decide(q)
				a.Took = time.Second
				return a
			}
			return s, bots
		}
		whole := &memory{}
		s, _ := begin(table.NewLimit(time.Hour, 4, time.Now()))
		s.Journal = whole
		play(t, s)

		var used time.Duration
		for _, e := range whole.entries[:20] {
			used += e.Took
		}
		s, bots := begin(table.NewLimit(4*used-4, 4, time.Now().Add(-time.Hour)))
		s.Sofar = whole.entries[:20]
		play(t, s)
		if got, want := bots[1].asked[0].timeout, 50*time.Millisecond; got != want {
			t.Errorf("the bot that used %v before the game broke off has %v, want %v", used, got, want)
		}
	})
}

// TestLimitOfGamesSideBySide counts what bots use in eight games at once, each bot in another seat in each game.
func TestLimitOfGamesSideBySide(t *testing.T) {
	const seats, games = 4, 8
	run := func(limit *table.Limit) (used [seats]time.Duration) {
		outs := make([]table.Outcome, games)
		var group sync.WaitGroup
		for number := range games {
			group.Go(func() {
				s := houseGame(seats, byte(number))
				s.Limit = limit
				for seat := range seats {
					s.Bots = append(s.Bots, (seat+number)%seats)
					s.Players[seat] = &bot{answer: func(q table.Question) table.Answer {
						a := decide(q)
						a.Took = time.Duration(q.Number * (seat + 1))
						return a
					}}
				}
				out, err := table.Play(t.Context(), s)
				if err != nil {
					t.Errorf("game %d: %v", number, err)
				}
				outs[number] = out
			})
		}
		group.Wait()
		for number, out := range outs {
			for _, timing := range out.Timings {
				used[(int(timing.Seat)+number)%seats] += timing.Took
			}
		}
		return used
	}
	used := run(table.NewLimit(time.Hour, seats, time.Now()))
	for b, want := range used {
		for _, share := range []time.Duration{want, want - 1} {
			limit := table.NewLimit(share*seats, seats, time.Now().Add(time.Hour)) // not over while the games run
			run(limit)
			if _, hurried := limit.Timeout(b, time.Now().Add(2*time.Hour), time.Second); hurried != (want > share) {
				t.Errorf("bot %d used %v of a share of %v, and hurried is %v", b, want, share, hurried)
			}
		}
	}
}

// TestRequestsInGame plays games in greedy ways that make them long, and holds them against the bound. A plan of one game
// with a nanosecond a request ends after as many nanoseconds as there can be requests.
func TestRequestsInGame(t *testing.T) {
	games := 600
	if testing.Short() {
		games = 150
	}
	for seats := game.MinSeats; seats <= game.MaxSeats; seats++ {
		for _, rounds := range []int{1, 2, 30} {
			rules := game.Rules{BustedAssigns: true, MaxRounds: rounds, TargetScore: 1_000_000}
			bound := int(table.Plan{Seats: seats, Games: 1, Rules: rules, Timeout: 1}.Latest())
			longest := 0
			var s game.State
			for n := range max(3, games/seats/rounds) {
				err := s.Reset(game.Setup{Seats: seats, Rules: rules, Deal: deal.NewFast(uint64(n), uint64(seats))})
				requests := 0
				for ; err == nil && !s.Over(); requests++ {
					err = s.Apply(lengthen(s.View(s.Request().Seat), n%3))
				}
				if err != nil {
					t.Fatal(err)
				}
				longest = max(longest, requests)
			}
			if longest > bound {
				t.Errorf("%d seats, %d rounds: a game had %d requests, and the bound is %d", seats, rounds, longest, bound)
			}
		}
	}
}

// lengthen decides so that the round has many requests: it hits while that is not likely to end in a bust, or always.
func lengthen(v game.View, style int) game.Decision {
	r := v.Request()
	row := v.Row(v.Me).Len()
	switch {
	case r.Kind == game.Turn && (style == 0 || row < 4+style || v.SecondChance(v.Me)):
		return game.Hit
	case r.Kind == game.Turn:
		return game.Stay
	case r.Kind == game.GiveFreeze: // to whom has most, so that the others play on
		best := r.Targets.After(-1)
		for s := range r.Targets.All() {
			if v.Row(s).Len() > v.Row(best).Len() {
				best = s
			}
		}
		return game.Give(best)
	}
	return r.Default()
}

// TestLatest has every bot use all the time it gets, one request at a time, and holds a table against its plan.
func TestLatest(t *testing.T) {
	for _, limit := range []time.Duration{0, 20 * time.Second, 5 * time.Minute} {
		t.Run(fmt.Sprint("limit ", limit), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				plan := table.Plan{Seats: 4, Games: 8, AtOnce: 4, Rules: game.Rules{BustedAssigns: true, MaxRounds: 20},
					Timeout: time.Second, Bank: 10 * time.Second, Limit: limit}
				start := time.Now()
				var shared *table.Limit
				if limit > 0 {
					shared = table.NewLimit(limit, plan.Seats, start)
				}
				bots := make([]chan struct{}, plan.Seats) // taken while the bot answers
				for b := range bots {
					bots[b] = make(chan struct{}, 1)
				}
				var group sync.WaitGroup
				atOnce := make(chan struct{}, plan.AtOnce)
				for number := range plan.Games {
					group.Go(func() {
						atOnce <- struct{}{}
						defer func() { <-atOnce }()
						s := houseGame(plan.Seats, byte(number))
						s.Info.Rules, s.Info.Timeout, s.Info.Bank = plan.Rules, plan.Timeout, plan.Bank
						s.Limit, s.Bots = shared, []int{0, 1, 2, 3}
						for seat := range s.Players {
							s.Players[seat] = dawdler(bots[seat])
						}
						if _, err := table.Play(t.Context(), s); err != nil {
							t.Errorf("game %d: %v", number, err)
						}
					})
				}
				group.Wait()
				if got, latest := time.Since(start), plan.Latest(); got > latest || got < latest/30 {
					t.Errorf("the table took %v; the latest end is after %v", got, latest)
				}
			})
		})
	}
}

// dawdler hits at the last moment, one request at a time.
type dawdler chan struct{}

func (dawdler) Begin(table.Info, game.Seat)   {}
func (dawdler) End(game.Result, table.Ending) {}
func (d dawdler) Ask(ctx context.Context, q table.Question) (table.Answer, error) {
	d <- struct{}{}
	defer func() { <-d }()
	a := table.Answer{Decision: lengthen(q.View, 1), Took: q.Budget()}
	select {
	case <-time.After(a.Took):
		return a, nil
	case <-ctx.Done():
		return table.Answer{}, ctx.Err()
	}
}

func TestPlan(t *testing.T) {
	usual := table.Plan{Seats: 4, Games: 8, AtOnce: 8, Rules: game.Rules{MaxRounds: 100}, Timeout: time.Second,
		Bank: 10 * time.Second, Limit: 10 * time.Minute}
	with := func(change func(*table.Plan)) table.Plan {
		p := usual
		change(&p)
		return p
	}
	for _, test := range []struct {
		name             string
		plan             table.Plan
		expected, latest time.Duration // at 100 ms an answer
	}{
		// 8 games of 3993 requests of 50 ms, twice the limit, and 11 s for 4 seats in 8 games.
		{"a usual table", usual, 20 * time.Second, 1597200*time.Millisecond + 20*time.Minute + 352*time.Second},
		{"without a limit", with(func(p *table.Plan) { p.Limit = 0 }), 20 * time.Second, 31944*time.Second + 320*time.Second},
		{"a limit that is never reached", with(func(p *table.Plan) { p.Limit = 24 * time.Hour }), 20 * time.Second, 31944*time.Second + 320*time.Second},
		{"one game at a time", with(func(p *table.Plan) { p.AtOnce = 1 }), 80 * time.Second, 1597200*time.Millisecond + 20*time.Minute + 44*time.Second},
		{"all games at once", with(func(p *table.Plan) { p.AtOnce = 0 }), 20 * time.Second, 1597200*time.Millisecond + 20*time.Minute + 352*time.Second},
		{"with an allowance", with(func(p *table.Plan) { p.Allowance = 10 * time.Millisecond }), 20 * time.Second, 1916640*time.Millisecond + 20*time.Minute + 352*time.Second},
	} {
		if got := test.plan.Latest(); got != test.latest {
			t.Errorf("%s: the latest end is after %v, want %v", test.name, got, test.latest)
		}
		if got := test.plan.Expected(100 * time.Millisecond); got != test.expected {
			t.Errorf("%s: the expected end is after %v, want %v", test.name, got, test.expected)
		}
	}
	forever := with(func(p *table.Plan) { p.Seats, p.Games, p.Limit, p.Rules.MaxRounds = 18, 1_000_000, 0, 1_000_000 })
	if got := forever.Latest(); got != math.MaxInt64 {
		t.Errorf("the latest end of a plan that is longer than can be said is after %v, want %v", got, time.Duration(math.MaxInt64))
	}
}
