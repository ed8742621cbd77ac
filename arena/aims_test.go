package arena

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/table"
)

// partner plays like another strategy, but gives every Freeze and Flip Three that it can to one seat.
type partner struct {
	table.Strategy
	target game.Seat
}

func (p partner) Decide(v game.View, chance uint64) game.Decision {
	if r := v.Request(); r.Kind != game.GiveSecond && r.Targets.Has(p.target) {
		return game.Give(p.target)
	}
	return p.Strategy.Decide(v, chance)
}

// aimedGame is a game of bots 1, 2, 3 and so on, each playing at random; entry 1 aims at entry 3 if it is to.
func aimedGame(t *testing.T, bots, number int, partners bool) Played {
	t.Helper()
	random, err := house.New("random")
	if err != nil {
		t.Fatal(err)
	}
	seed := [32]byte{byte(number), byte(number >> 8), byte(bots), 1}
	setup := table.Setup{Info: table.Info{Rules: game.DefaultRules(bots), Dealer: game.Seat(bots - 1), Timeout: time.Second}, Seed: seed, Deal: deal.NewKeyed(seed)}
	setup.Info.Rules.MaxRounds = 100
	played := Played{Game: Game{Number: number}}
	for seat := range bots {
		entrant := (seat+number)%bots + 1
		played.Game.Seats = append(played.Game.Seats, entrant)
		setup.Info.Bots = append(setup.Info.Bots, fmt.Sprint(entrant))
	}
	for seat, entrant := range played.Game.Seats {
		var strategy table.Strategy = random
		if partners && entrant == 1 {
			for at, other := range played.Game.Seats {
				if other == 3 {
					strategy = partner{random, game.Seat(at)}
				}
			}
		}
		setup.Players = append(setup.Players, table.House(strategy, func(n int) uint64 { return house.Chance(uint64(number), game.Seat(seat), n) }))
	}
	outcome, err := table.Play(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	played.Record, played.Game.Result = outcome.Record, outcome.Record.Result
	return played
}

func aimsOf(t *testing.T, bots, tables, gamesEach int, partners bool) []Aim {
	t.Helper()
	var aims Aims
	for n := range tables {
		var games []Played
		for g := range gamesEach {
			games = append(games, aimedGame(t, bots, n*gamesEach+g, partners))
		}
		if err := aims.Add(games); err != nil {
			t.Fatal(err)
		}
	}
	return aims.List()
}

func TestAPartnerStandsOut(t *testing.T) {
	aims := aimsOf(t, 5, 3, 10, true)
	for i, card := range []game.Card{aims[0].Card, aims[1].Card} {
		a := aims[i]
		if a.Bot != 1 || a.Target != 3 || a.Times != a.Chances || a.Striking() < 4 {
			t.Errorf("aim %d is %v of entry %d at entry %d, %d of %d times, %.1f errors above the others; want 1 at 3, always, above 4",
				i, card, a.Bot, a.Target, a.Times, a.Chances, a.Striking())
		}
	}
	if aims[0].Luck() > 1e-4 || aims[1].Luck() > 1e-4 {
		t.Errorf("luck would do this with probability %v and %v", aims[0].Luck(), aims[1].Luck())
	}
	if aims[0].Card == aims[1].Card {
		t.Errorf("both are %v, want a Freeze and a Flip Three", aims[0].Card)
	}
	if last := aims[len(aims)-1]; last.Striking() > -1 {
		t.Errorf("the least striking aim is %.1f errors from the others: want those that were spared at the end", last.Striking())
	}
}

func TestBotsThatAimAlikeAreAsFarFromTheAverageAsTheErrorSays(t *testing.T) {
	aims := aimsOf(t, 6, 12, 12, false)
	if len(aims) != 6*5*2 {
		t.Fatalf("%d aims, want one for each pair and card: 60", len(aims))
	}
	sum, squares, times, expected := 0.0, 0.0, 0, 0.0
	for _, a := range aims {
		if a.Chances < 50 {
			t.Fatalf("entry %d could aim a %v at entry %d in %d choices: too few to say anything", a.Bot, a.Card, a.Target, a.Chances)
		}
		sum += a.Striking()
		squares += a.Striking() * a.Striking()
		times += a.Times
		expected += a.Expected
	}
	n := float64(len(aims))
	if mean, deviation := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 0.3 || deviation < 0.75 || deviation > 1.3 {
		t.Errorf("in errors, mean %.2f and deviation %.2f, want 0 and 1", mean, deviation)
	}
	if math.Abs(float64(times)-expected) > 0.05*expected {
		t.Errorf("%d times in all, %.0f expected", times, expected)
	}
}

func TestLuckIsABetaBinomialTail(t *testing.T) {
	for _, c := range []struct {
		name string
		aim  Aim
		want float64
	}{
		{"never aimed: everybody does that", Aim{Chances: 9, Times: 0, Expected: 3, Error: 2}, 1},
		{"binomial: 3 of 4 at 1/2", Aim{Chances: 4, Times: 3, Expected: 2, Error: 1}, 5.0 / 16},
		{"one choice", Aim{Chances: 1, Times: 1, Expected: 0.25, Error: 0.5}, 0.25},
		// The weights 1 and 1 make all of 0..4 equally likely; their variance is n(n+2)/12 = 2.
		{"nothing known: 3 of 4", Aim{Chances: 4, Times: 3, Expected: 2, Error: math.Sqrt2}, 2.0 / 5},
	} {
		if got := c.aim.Luck(); math.Abs(got-c.want) > 1e-5 {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

// TestBotsThatFavourNobodyAreSeldomStriking: few choices must not make a suspect.
func TestBotsThatFavourNobodyAreSeldomStriking(t *testing.T) {
	aims, below := 0, map[float64]int{0.05: 0, 0.01: 0, 0.001: 0}
	for n := range 60 { // tables, each a night of its own
		var night Aims
		var games []Played
		for g := range 8 {
			games = append(games, aimedGame(t, 4, 8*n+g, false))
		}
		if err := night.Add(games); err != nil {
			t.Fatal(err)
		}
		for _, a := range night.List() {
			aims++
			for level := range below {
				if a.Luck() <= level {
					below[level]++
				}
			}
		}
	}
	for level, count := range below {
		if share := float64(count) / float64(aims); share > 1.3*level+0.001 {
			t.Errorf("%.4f of %d aims are said to be luck with a probability of %v at most", share, aims, level)
		}
	}
	t.Logf("%d aims, by how likely they were said to be at most: %v", aims, below)
}

func TestAimsAreWrittenToTheThousandth(t *testing.T) {
	var aims Aims
	for n := range 3 {
		if err := aims.Add([]Played{aimedGame(t, 4, 2*n, false), aimedGame(t, 4, 2*n+1, false)}); err != nil {
			t.Fatal(err)
		}
	}
	list, lines := aims.List(), aims.lines()
	if len(lines) != len(list) || len(lines) < 12 {
		t.Fatalf("%d lines of %d aims, want the same, at least one for each pair", len(lines), len(list))
	}
	inOrder := slices.IsSortedFunc(lines, func(a, b aimLine) int {
		return cmp.Or(cmp.Compare(a.Bot, b.Bot), cmp.Compare(a.Target, b.Target), -cmp.Compare(a.Card, b.Card)) // freeze, flip3
	})
	if !inOrder {
		t.Errorf("not in order of bots, targets and cards: %+v", lines)
	}
	for _, a := range list {
		at := slices.IndexFunc(lines, func(l aimLine) bool { return l.Bot == a.Bot && l.Target == a.Target && l.Card == a.Card.String() })
		if at < 0 {
			t.Errorf("no line is of %+v", a)
			continue
		}
		var expected, deviation float64
		l := lines[at]
		if _, err := fmt.Sscan(l.Expected+" "+l.Error, &expected, &deviation); err != nil {
			t.Fatal(err)
		}
		if l.Chances != a.Chances || l.Times != a.Times || math.Abs(expected-a.Expected) > 0.00051 || math.Abs(deviation-a.Error) > 0.00051 {
			t.Errorf("the line is %+v, want that of %+v", l, a)
		}
	}
}

func TestRootsAreRoundedToTheThousandth(t *testing.T) {
	for square, want := range map[string]string{"0": "0.000", "2": "1.414", "1/3": "0.577", "1/4": "0.500", "9/4000000": "0.002", "8/4000000": "0.001", "1000000": "1000.000"} {
		exact, _ := new(big.Rat).SetString(square)
		if got := root(exact).FloatString(3); got != want {
			t.Errorf("the root of %s: got %s, want %s", square, got, want)
		}
	}
}

func TestDefaultDecisionsAreNobodysAim(t *testing.T) {
	g := aimedGame(t, 4, 7, false)
	var before Aims
	if err := before.Add([]Played{g}); err != nil {
		t.Fatal(err)
	}
	if len(before.List()) == 0 {
		t.Fatal("nobody aimed anything in this game: it shows nothing")
	}
	// The same game in which everything was played by default where the default was what was played.
	moves := append([]game.Move{}, g.Record.Moves...)
	state, err := game.New(game.Setup{Seats: g.Record.Seats, Rules: g.Record.Rules, Dealer: g.Record.Dealer, Deal: deal.NewKeyed(g.Record.Seed)})
	if err != nil {
		t.Fatal(err)
	}
	defaults := 0
	for i, m := range moves {
		if r := state.Request(); r.Kind != game.Turn && m.Decision == r.Default() {
			moves[i].Cause = game.TimedOut
			defaults++
		}
		if err := state.Apply(m.Decision); err != nil {
			t.Fatal(err)
		}
	}
	g.Record.Moves = moves
	var after Aims
	if err := after.Add([]Played{g}); err != nil {
		t.Fatal(err)
	}
	count := func(aims []Aim) (chances int) {
		for _, a := range aims {
			chances += a.Chances
		}
		return chances
	}
	if defaults == 0 || count(after.List()) >= count(before.List()) {
		t.Errorf("%d decisions became default ones, and chances went from %d to %d", defaults, count(before.List()), count(after.List()))
	}
}
