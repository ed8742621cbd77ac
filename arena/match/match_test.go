package match_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/match"
)

// local is a match between house bots.
func local(t testing.TB, games int, names ...string) match.Match {
	t.Helper()
	var strategies []house.Strategy
	for _, name := range names {
		strategy, err := house.New(name)
		if err != nil {
			t.Fatal(err)
		}
		strategies = append(strategies, strategy)
	}
	return match.Match{Names: names, Games: games, Rules: game.Rules{BustedAssigns: true}, Seed: 7, Play: match.Local(strategies)}
}

func run(t testing.TB, m match.Match) *match.Result {
	t.Helper()
	r, err := match.Run(t.Context(), m)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func names(r *match.Result) (list []string) {
	for _, line := range r.Lines {
		list = append(list, line.Name)
	}
	return list
}

func line(t *testing.T, r *match.Result, name string) match.Line {
	t.Helper()
	i := slices.Index(names(r), name)
	if i < 0 {
		t.Fatalf("the table is of %v, and not of %s", names(r), name)
	}
	return r.Lines[i]
}

func TestTheLadderIsInOrder(t *testing.T) {
	for _, ladder := range [][]string{
		{"racer", "odds"},
		{"odds", "stay-25", "stay-20", "stay-15", "random"},
		{"stay-25", "cards-5", "random"},
	} {
		r := run(t, local(t, 4000, slices.Sorted(slices.Values(ladder))...))
		if got := names(r); !slices.Equal(got, ladder) {
			t.Errorf("got %v, want %v", got, ladder)
		}
		for i, line := range r.Lines[:len(ladder)-1] {
			if next := r.Lines[i+1]; line.Placement <= next.Placement || *line.LOS < 0.99 {
				t.Errorf("%s has %.4f and %s %.4f, LOS %.4f; want that to be clear", line.Name, line.Placement, next.Name, next.Placement, *line.LOS)
			}
		}
	}
}

func TestTheResultDoesNotDependOnTheConcurrency(t *testing.T) {
	for _, m := range []match.Match{
		local(t, 400, "odds", "random", "stay-25"),
		local(t, 400, "racer", "random"),
	} {
		m.Concurrency = 1
		one := run(t, m)
		m.Concurrency = 4
		four := run(t, m)
		if !reflect.DeepEqual(one, four) {
			t.Errorf("%v: with 1 game at once got %+v, with 4 %+v", m.Names, one, four)
		}
		m.Seed++
		if other := run(t, m); reflect.DeepEqual(one, other) {
			t.Errorf("%v: another seed gave the same result", m.Names)
		}
	}
}

func TestWhoSitsWhere(t *testing.T) {
	for _, c := range []struct {
		says  string
		names string
		seats int
		want  int // seats at the table
		each  int // seats of a name at the table, at least
	}{
		{"four names sit at a table of four", "a b c d", 0, 4, 1},
		{"three names sit at a table of three", "a b c", 0, 3, 1},
		{"two names sit at a table of four", "a b", 0, 4, 2},
		{"two names may sit at a table of three", "a b", 3, 3, 1},
		{"three names share a table of eight", "a b c", 8, 8, 2},
	} {
		t.Run(c.says, func(t *testing.T) {
			var mu sync.Mutex
			var games []match.Game
			m := match.Match{Names: strings.Fields(c.names), Seats: c.seats, Games: 10 * c.want, Seed: 3}
			m.Play = func(_ context.Context, g match.Game) (match.Played, error) {
				mu.Lock()
				defer mu.Unlock()
				games = append(games, g)
				return played(make([]int, len(g.Seats))), nil
			}
			run(t, m)
			slices.SortFunc(games, func(a, b match.Game) int { return a.Number - b.Number })
			if len(games) != 10*c.want {
				t.Fatalf("%d games were played, want %d", len(games), 10*c.want)
			}
			seeds, orders := map[[32]byte]bool{}, map[string]bool{}
			for i, g := range games {
				if g.Number != i+1 || g.Of != len(games) || g.Dealer != game.Seat(c.want-1) || len(g.Seats) != c.want {
					t.Errorf("game %d is %+v", i+1, g)
				}
				seeds[g.Seed] = true
			}
			if len(seeds) != len(games) {
				t.Errorf("%d games have %d deals", len(games), len(seeds))
			}
			for rotation := range slices.Chunk(games, c.want) {
				orders[textOf(rotation[0].Seats)] = true
				checkRotation(t, rotation, len(m.Names), c.each)
			}
			if len(orders) < 2 {
				t.Errorf("all rotations start from the order %v", orders)
			}
		})
	}
}

func textOf(seats []int) string {
	text, _ := json.Marshal(seats)
	return string(text)
}

// checkRotation checks that everybody moves on by a seat a game, and that the names repeat around the table.
func checkRotation(t *testing.T, rotation []match.Game, names, each int) {
	t.Helper()
	for i, g := range rotation {
		held := make([]int, names)
		for seat, name := range g.Seats {
			held[name]++
			if first := rotation[0].Seats[(seat+i)%len(g.Seats)]; name != first {
				t.Errorf("game %d of the rotation %v is %v, not moved on by %d", i+1, rotation[0].Seats, g.Seats, i)
			}
			if first := rotation[0].Seats; seat >= names && first[seat] != first[seat-names] {
				t.Errorf("the names do not repeat in %v", first)
			}
		}
		if slices.Min(held) < each {
			t.Errorf("in %v the names hold %v seats, want at least %d each", g.Seats, held, each)
		}
	}
}

// played is a game that ended with these totals.
func played(totals []int) match.Played {
	return match.Played{Result: game.Result{Rounds: 1, Totals: totals, Places: game.Places(totals)}}
}

// byName is a play in which each seat gets what its name gets; a seat further on gets one point less for each it holds.
func byName(totals ...int) match.Play {
	return func(_ context.Context, g match.Game) (match.Played, error) {
		held := make([]int, len(totals))
		var list []int
		for _, name := range g.Seats {
			list = append(list, totals[name]-held[name])
			held[name]++
		}
		return played(list), nil
	}
}

func TestOnlyPairsOfDifferentNamesCount(t *testing.T) {
	for _, c := range []struct {
		says                      string
		totals                    []int
		seats                     int
		placement, points, firsts float64 // of the first name
	}{
		{"a name that beats all others has 1, whatever its seats do to each other", []int{200, 100}, 4, 1, 199.5, 1},
		{"a name that loses to all others has 0", []int{100, 200}, 4, 0, 99.5, 0},
		{"seats that lie between each other count pair by pair", []int{200, 200}, 4, 0.5, 199.5, 0.5},
		{"one point less: the first seat is tied with the second of the other", []int{199, 200}, 4, 0.125, 198.5, 0},
		{"among three the middle has a half", []int{150, 200, 100}, 3, 0.5, 150, 0},
	} {
		t.Run(c.says, func(t *testing.T) {
			m := match.Match{Names: []string{"x", "y", "z"}[:len(c.totals)], Seats: c.seats, Games: 40, Play: byName(c.totals...)}
			got := line(t, run(t, m), "x")
			if got.Placement != c.placement || got.Points != c.points || got.Firsts != c.firsts {
				t.Errorf("got placement %v, points %v, firsts %v, want %v, %v, %v", got.Placement, got.Points, got.Firsts, c.placement, c.points, c.firsts)
			}
		})
	}
}

func TestMarginsAreByRotation(t *testing.T) {
	// x wins all games of a rotation or none: five rotations won of ten. By rotations the standard deviation of the mean
	// is sqrt(0.25/9), and Student's quantile with 9 degrees of freedom 2.262157; by games both would be less.
	m := match.Match{Names: []string{"x", "y", "z"}, Games: 30}
	m.Play = func(ctx context.Context, g match.Game) (match.Played, error) {
		if (g.Number-1)/3%2 == 0 {
			return byName(200, 100, 100)(ctx, g)
		}
		return byName(0, 100, 100)(ctx, g)
	}
	got := line(t, run(t, m), "x")
	if want := 2.262157 * math.Sqrt(0.25/9); math.Abs(*got.PlacementMargin-want) > 1e-6 {
		t.Errorf("the margin of the placement is %v, want %v", *got.PlacementMargin, want)
	}
	if got.EloMargin == nil || *got.EloMargin < 100 {
		t.Errorf("the margin of Elo is %v, want one that knows how few rotations there are", got.EloMargin)
	}
}

func TestGamesAreRoundedUpToWholeRotations(t *testing.T) {
	for _, c := range []struct{ names, games, want int }{{4, 1, 4}, {4, 4, 4}, {4, 10, 12}, {3, 10, 12}, {2, 9, 12}, {5, 20000, 20000}} {
		m := match.Match{Names: []string{"a", "b", "c", "d", "e"}[:c.names], Games: c.games, Play: byName(1, 2, 3, 4, 5)}
		full, err := m.Complete()
		if err != nil || full.Games != c.want {
			t.Errorf("%d games of %d names: %d, %v, want %d", c.games, c.names, full.Games, err, c.want)
		}
		if c.games < 100 {
			if r := run(t, m); r.Games != c.want || r.Of != c.want || r.Rotations*r.Seats != c.want {
				t.Errorf("%d games of %d names: %+v, want %d games", c.games, c.names, r, c.want)
			}
		}
	}
}

func TestWhatCannotBePlayedIsRefusedByTheNameOfTheField(t *testing.T) {
	for field, spoil := range map[string]func(*match.Match){
		"names":        func(m *match.Match) { m.Names = m.Names[:1] },
		`names: "a"`:   func(m *match.Match) { m.Names[1] = "a" },
		"seats: 2":     func(m *match.Match) { m.Seats = 2 },
		"seats: 37":    func(m *match.Match) { m.Seats = 37 },
		"seats: 3":     func(m *match.Match) { m.Seats = 3 },
		"games":        func(m *match.Match) { m.Games = 0 },
		"concurrency":  func(m *match.Match) { m.Concurrency = -1 },
		"play":         func(m *match.Match) { m.Play = nil },
		"rules.target": func(m *match.Match) { m.Rules.TargetScore = -1 },
		"sprt: 5,5":    func(m *match.Match) { m.SPRT = &match.SPRT{Elo0: 5, Elo1: 5} },
		"sprt: NaN,5":  func(m *match.Match) { m.SPRT = &match.SPRT{Elo0: math.NaN(), Elo1: 5} },
		"sprt: 0,2001": func(m *match.Match) { m.SPRT = &match.SPRT{Elo1: 2001} },
	} {
		m := match.Match{Names: []string{"a", "b", "c", "d"}, Games: 4, Play: byName(1, 2, 3, 4)}
		spoil(&m)
		r, err := match.Run(t.Context(), m)
		if err == nil || !strings.HasPrefix(err.Error(), field) || r != nil {
			t.Errorf("got %v, %v, want no result and an error that begins with %q", r, err, field)
		}
	}
}

func TestAMatchThatBreaksOffHasTheTableOfItsWholeRotations(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		says string
		at   func(cancel context.CancelCauseFunc, number int) error // before a game is played
		want error
	}{
		{"by its context", func(cancel context.CancelCauseFunc, number int) error {
			if number == 42 {
				cancel(broken)
			}
			return nil
		}, broken},
		{"by a game that fails", func(_ context.CancelCauseFunc, number int) error {
			if number == 42 {
				return broken
			}
			return nil
		}, broken},
	} {
		t.Run(c.says, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left behind
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				m := local(t, 4000, "stay-25", "stay-20", "stay-15", "random")
				play := m.Play
				m.Concurrency = 3
				m.Play = func(ctx context.Context, g match.Game) (match.Played, error) {
					if err := c.at(cancel, g.Number); err != nil {
						return match.Played{}, err
					}
					return play(ctx, g)
				}
				r, err := match.Run(ctx, m)
				if !errors.Is(err, c.want) {
					t.Fatalf("got %v, want %v", err, c.want)
				}
				if r.Of != 4000 || r.Games > 40 || r.Games%4 != 0 {
					t.Fatalf("got %d games of %d, want whole rotations before game 42", r.Games, r.Of)
				}
				if r.Games == 0 {
					return
				}
				shorter := m
				shorter.Games, shorter.Play = r.Games, play
				want := run(t, shorter)
				want.Of = r.Of
				if !reflect.DeepEqual(r, want) {
					t.Errorf("got %+v, want the result of a match of that length: %+v", r, want)
				}
			})
		})
	}
}

func TestAMatchThatFailsSaysInWhichGame(t *testing.T) {
	m := match.Match{Names: []string{"a", "b", "c"}, Games: 30, Concurrency: 1}
	m.Play = func(ctx context.Context, g match.Game) (match.Played, error) {
		if g.Number == 17 {
			return match.Played{}, errors.New("the bot is gone")
		}
		return byName(3, 2, 1)(ctx, g)
	}
	r, err := match.Run(t.Context(), m)
	if err == nil || err.Error() != "game 17: the bot is gone" {
		t.Errorf("got %v", err)
	}
	if r.Games != 15 {
		t.Errorf("%d games count, want the 15 of the rotations before", r.Games)
	}
}

func TestAMatchThatNeverBeganHasATableOfNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r, err := match.Run(ctx, local(t, 100, "stay-25", "stay-20", "random"))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if r.Games != 0 || !slices.Equal(names(r), []string{"stay-25", "stay-20", "random"}) {
		t.Errorf("got %+v, want no games, and the names as given", r)
	}
}

func TestProgressIsToldAfterEachRotation(t *testing.T) {
	m := local(t, 40, "odds", "stay-25", "stay-20", "random")
	m.Concurrency = 3
	var told []int
	var last *match.Result
	m.Progress = func(games int, sofar func() (*match.Result, error)) {
		told = append(told, games)
		r, err := sofar()
		if err != nil || r.Games != games {
			t.Errorf("after %d games the table is of %d, %v", games, r.Games, err)
		}
		last = r
	}
	r := run(t, m)
	if want := []int{4, 8, 12, 16, 20, 24, 28, 32, 36, 40}; !slices.Equal(told, want) {
		t.Errorf("told after %v games, want %v", told, want)
	}
	if !reflect.DeepEqual(last, r) {
		t.Errorf("the last table told is %+v, the result %+v", last, r)
	}
}

func TestSlowRotationsAreNotRunAwayFrom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const concurrency = 4
		release := make(chan struct{})
		var begun atomic.Int64
		m := match.Match{Names: []string{"a", "b", "c"}, Games: 3000, Concurrency: concurrency}
		m.Play = func(ctx context.Context, g match.Game) (match.Played, error) {
			if g.Number == 1 {
				<-release
			}
			begun.Add(1)
			return byName(3, 2, 1)(ctx, g)
		}
		done := make(chan *match.Result)
		go func() { done <- run(t, m) }()
		synctest.Wait()
		if ahead := begun.Load(); ahead > 3*4*concurrency {
			t.Errorf("%d games were played while the first one was", ahead)
		}
		close(release)
		if r := <-done; r.Games != 3000 {
			t.Errorf("%d games count, want 3000", r.Games)
		}
	})
}

func TestResultsAreJSONFromTheFirstRotationOn(t *testing.T) {
	m := match.Match{Names: []string{"a", "b", "c"}, Games: 3, Play: byName(3, 2, 1)}
	text, err := json.Marshal(run(t, m))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"games":3`, `"name":"a"`, `"placement_margin":null`, `"bound":"\u003e"`, `"los_next":null`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("%s has no %s", text, want)
		}
	}
}

// BenchmarkMatch plays 1000 games at a table of four on all processors, the statistics included.
func BenchmarkMatch(b *testing.B) {
	for _, bot := range []string{"stay-25", "odds", "racer"} {
		b.Run(bot, func(b *testing.B) {
			m := local(b, 1000, bot, bot, bot, bot)
			m.Names = []string{"a", "b", "c", "d"}
			b.ReportAllocs()
			for b.Loop() {
				m.Seed++
				run(b, m)
			}
			b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "games/s")
		})
	}
}
