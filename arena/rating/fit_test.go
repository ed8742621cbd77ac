package rating

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// simulate plays games a cluster among bots of the given strengths at each table: the ranking of Plackett and Luce,
// in which a bot finishes before another exactly as often as the model of Bradley and Terry says.
func simulate(rng *rand.Rand, theta []float64, tables [][]int, perCluster, clusters int) Games {
	games := Games{Names: make([]string, len(theta))}
	for bot := range theta {
		games.Names[bot] = fmt.Sprintf("bot-%04d", bot)
	}
	cluster := 0
	for _, table := range tables {
		for range clusters {
			for range perCluster {
				games.List = append(games.List, Game{Players: table, Places: places(rng, theta, table), Cluster: cluster})
			}
			cluster++
		}
	}
	return games
}

// places ranks the bots of a table by strength plus Gumbel noise.
func places(rng *rand.Rand, theta []float64, table []int) []int {
	noisy := make([]float64, len(table))
	for seat, bot := range table {
		noisy[seat] = theta[bot] - math.Log(rng.ExpFloat64())
	}
	places := make([]int, len(table))
	for seat := range table {
		places[seat] = 1
		for _, other := range noisy {
			if other > noisy[seat] {
				places[seat]++
			}
		}
	}
	return places
}

func TestFitHoldsPerfectScoresByThePrior(t *testing.T) {
	games := read(t, strings.Repeat("A=1 B=2 C=3\nA=1 B=3 C=2\n", 10)+"D=3 B=1 C=2\n")
	table := fit(t, games, DefaultPrior)
	for _, c := range []struct {
		name  string
		bound Bound
		sign  string
	}{{"A", AtLeast, ">"}, {"B", Exact, ""}, {"C", Exact, ""}, {"D", AtMost, "<"}} {
		row := named(t, table, c.name)
		if row.Bound != c.bound || row.Bound.String() != c.sign {
			t.Errorf("%s: got bound %d %q, want %d %q", c.name, row.Bound, row.Bound, c.bound, c.sign)
		}
		if math.Abs(row.Elo) > 1000 || math.IsNaN(row.Robust) {
			t.Errorf("%s: got %v +- %v, want a sane rating", c.name, row.Elo, row.Robust)
		}
		if infinite := math.IsInf(table.Interval(table.Row(c.name)), 1); infinite != (c.bound != Exact) {
			t.Errorf("%s: got interval %v for bound %d", c.name, table.Interval(table.Row(c.name)), c.bound)
		}
	}
	// Twenty games that never varied are no proof to four digits.
	if d := table.Difference(table.Row("A"), table.Row("B")); d.Error < spread(table.naive, 0, 1) {
		t.Errorf("A - B: got error %v, want the naive one %v at least", d.Error, spread(table.naive, 0, 1))
	}
}

func TestFitWithoutPriorNamesWhoWonEverything(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"one winner", "A=1 B=2\nB=1 C=2\nC=1 B=2", "no finite rating without a prior: A took every point from B, C"},
		{"one loser", "A=1 B=1\nA=1 C=2\n", "no finite rating without a prior: A, B took every point from C"},
		{"two camps", "A=1 B=2\nB=1 A=2\nC=1 D=1\nC=1 A=2\nD=1 B=2\n", "no finite rating without a prior: C, D took every point from A, B"},
		{"one of two groups", "A=1 B=1\nC=1 D=2", "no finite rating without a prior: C took every point from D"},
		{"many", "A=1 B=2 C=2 D=2 E=2 F=2 G=2 H=2 I=2", "no finite rating without a prior: A took every point from B, C, D, E, F, G and 2 more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Fit(read(t, c.text), 0)
			if _, ok := errors.AsType[*SplitError](err); !ok || err.Error() != c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestFitKeepsUnconnectedGroupsApart(t *testing.T) {
	games := read(t, "A=1 B=2\nB=1 A=2\nA=1 B=2\nX=1 Y=2 Z=3\nZ=1 Y=2 X=2\nX=1 Z=2\n")
	for _, prior := range []float64{0, DefaultPrior} {
		table := fit(t, games, prior)
		var order []string
		for _, row := range table.Rows {
			order = append(order, fmt.Sprintf("%s%d", row.Name, row.Group))
		}
		if got, want := strings.Join(order, " "), "X0 Z0 Y0 A1 B1"; got != want {
			t.Errorf("prior %v: got rows %s, want %s", prior, got, want)
		}
		alone := fit(t, read(t, "A=1 B=2\nB=1 A=2\nA=1 B=2\n"), prior)
		if got, want := named(t, table, "A").Elo, named(t, alone, "A").Elo; math.Abs(got-want) > 1e-9 {
			t.Errorf("prior %v: A got %v beside strangers, %v without", prior, got, want)
		}
		d := table.Difference(table.Row("A"), table.Row("X"))
		if !math.IsInf(d.Error, 1) || d.LOS() != 0.5 || d.Distinct() {
			t.Errorf("prior %v: A against X: got %+v, LOS %v, want nothing known", prior, d, d.LOS())
		}
	}
}

func TestFitRefuses(t *testing.T) {
	for _, c := range []struct {
		name  string
		games Games
		want  string
	}{
		{"a player beyond the names", Games{Names: []string{"A"}, List: []Game{{Players: []int{0, 1}, Places: []int{1, 2}}}}, "game 0: player 1, want an index into 1 names"},
		{"a place too few", Games{Names: []string{"A", "B"}, List: []Game{{Players: []int{0, 1}, Places: []int{1}}}}, "game 0: 1 places for 2 players"},
		{"nobody to play with", Games{Names: []string{"A"}, List: []Game{{Players: []int{0}, Places: []int{1}}}}, "game 0: 1 players, want two or more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Fit(c.games, DefaultPrior); err == nil || err.Error() != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
	var crowd strings.Builder
	for i := range maxBots {
		fmt.Fprintf(&crowd, "bot-%d=1 bot-%d=2\n", i, i+1)
	}
	if _, err := Fit(read(t, crowd.String()), DefaultPrior); err == nil || err.Error() != "4097 bots: want 4096 at the most" {
		t.Errorf("4097 bots: got %v", err)
	}
	for _, prior := range []float64{-1, math.NaN(), math.Inf(1)} {
		if _, err := Fit(Games{}, prior); err == nil {
			t.Errorf("prior %v was taken", prior)
		}
	}
	if table := fit(t, Games{Names: []string{"A"}}, DefaultPrior); len(table.Rows) != 0 {
		t.Errorf("a name without games has a row: %+v", table.Rows)
	}
}

// Two names at four seats: only pairs of different names count, four of six.
func TestFitCountsOnlyPairsOfDifferentNames(t *testing.T) {
	seats := []int{0, 1, 0, 1}
	games := Games{Names: []string{"A", "B"}, List: []Game{
		{Players: seats, Places: []int{1, 2, 3, 4}, Cluster: 0},
		{Players: seats, Places: []int{1, 1, 3, 4}, Cluster: 1},
		{Players: seats, Places: []int{4, 2, 3, 1}, Cluster: 2},
	}}
	table := fit(t, games, 0)
	// A took 3 + 2.5 + 0 of 12 points: wins over B3, B4 and B2 in the first, and so on.
	a := named(t, table, "A")
	printed(t, "A's odds", math.Exp(2*a.Theta), "0.846154") // 5.5 to 6.5
	if a.Games != 3 || a.Clusters != 3 {
		t.Errorf("A: got %d games in %d clusters, want 3 in 3", a.Games, a.Clusters)
	}
	printed(t, "A's placement", a.Placement, "0.458333") // 5.5 of 12
	printed(t, "A's first places", a.Firsts, "1.5")
	self := fit(t, Games{Names: []string{"A"}, List: []Game{{Players: []int{0, 0}, Places: []int{1, 2}}}}, DefaultPrior)
	if row := self.Rows[0]; row.Elo != 0 || !math.IsInf(row.Robust, 1) || !math.IsInf(row.Naive, 1) {
		t.Errorf("a bot that met itself alone: got %+v, want 0 +- Inf", row)
	}
}

// For every order of the games: the same bits where they are promised, the same up to rounding elsewhere.
func TestFitDoesNotDependOnTheOrderOfGames(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	theta := []float64{0.4, 0.1, 0, -0.1, -0.4}
	games := simulate(rng, theta, [][]int{{0, 1, 2, 3}, {1, 2, 3, 4}, {0, 4, 2}}, 4, 6)
	want := fit(t, games, DefaultPrior)
	if again := fit(t, games, DefaultPrior); !slices.Equal(again.Rows, want.Rows) {
		t.Errorf("the same games in the same order:\n got %v\nwant %v", again.Rows, want.Rows)
	}
	for range 20 {
		mixed := Games{Names: make([]string, len(games.Names))}
		to := rng.Perm(len(games.Names))
		for from, name := range games.Names {
			mixed.Names[to[from]] = name
		}
		for _, i := range rng.Perm(len(games.List)) {
			game := games.List[i]
			moved := Game{Cluster: -game.Cluster}
			for _, seat := range rng.Perm(len(game.Players)) {
				moved.Players = append(moved.Players, to[game.Players[seat]])
				moved.Places = append(moved.Places, game.Places[seat])
			}
			mixed.List = append(mixed.List, moved)
		}
		for i, got := range fit(t, mixed, DefaultPrior).Rows {
			want := want.Rows[i]
			if got.Name != want.Name || got.Theta != want.Theta || got.Elo != want.Elo || got.Naive != want.Naive {
				t.Errorf("row %d: got %+v, want the bits of %+v", i, got, want)
			}
			if math.Abs(got.Robust-want.Robust) > 1e-9 {
				t.Errorf("row %d: got robust error %v, want %v", i, got.Robust, want.Robust)
			}
		}
	}
}

// Any prior either gives finite ratings or is said to be too small; none hangs.
func TestFitTakesEveryPrior(t *testing.T) {
	games := read(t, strings.Repeat("A=1 B=2 C=3\n", 1000))
	for _, prior := range []float64{1e-300, 1e-20, 1e-9, 1e-3, 1, 1e3, 1e9} {
		table, err := Fit(games, prior)
		if err != nil {
			if prior > 1e-9 || err != errNotConverged {
				t.Errorf("prior %g: %v", prior, err)
			}
			continue
		}
		if a := named(t, table, "A"); !(a.Elo > 0 && a.Elo < 2e4) {
			t.Errorf("prior %g: got %+v", prior, a)
		}
	}
}

// The maximum is where the gradient vanishes, whatever the games: also far from the start, where Newton overshoots.
func TestFitFindsTheMaximum(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 2))
		theta := make([]float64, 3+rng.IntN(6))
		for bot := range theta {
			theta[bot] = 4 * rng.NormFloat64()
		}
		games := simulate(rng, theta, [][]int{rng.Perm(len(theta)), rng.Perm(len(theta))[:2+rng.IntN(2)]}, 1+rng.IntN(30), 1)
		for _, prior := range []float64{0.001, 1, 20} {
			table := fit(t, games, prior)
			for bot, g := range table.model.gradient(table.theta) {
				if math.Abs(g) > 1e-9 {
					t.Errorf("seed %d, prior %v: gradient %g at bot %d of %v", seed, prior, g, bot, table.theta)
				}
			}
		}
	}
}

func TestScale(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	games := simulate(rng, []float64{0.3, 0, -0.3}, [][]int{{0, 1, 2}}, 3, anchorClusters)
	for _, c := range []struct {
		name   string
		games  Games
		anchor string
		fixed  bool
	}{
		{"20 clusters anchor the table", games, "bot-0001", true},
		{"19 do not", Games{Names: games.Names, List: games.List[3:]}, "bot-0001", false},
		{"nor does one who never came", games, "stay-25", false},
		{"nor one in a group apart", Games{Names: append(slices.Clone(games.Names), "bot-0003", "bot-0004"), List: append(slices.Clone(games.List),
			simulate(rng, []float64{0, 0, 0, 0, 0}, [][]int{{3, 4}}, 2, anchorClusters).List...)}, "bot-0003", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := fit(t, c.games, DefaultPrior)
			scale := table.Scale(c.anchor)
			if fixed := scale.Anchor != ""; fixed != c.fixed {
				t.Fatalf("got %+v, want anchored %v", scale, c.fixed)
			}
			if c.fixed {
				printed(t, "anchor", scale.Elo(named(t, table, c.anchor)), "1500")
				return
			}
			sum, n := 0.0, 0
			for _, row := range table.Rows {
				if row.Group == 0 {
					sum += scale.Elo(row)
					n++
				}
			}
			printed(t, "mean", sum/float64(n), "1500")
		})
	}
}

func TestAMomentIsShownWithTheAnchorOfALaterTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	equal := make([]float64, 8)
	games := simulate(rng, equal, [][]int{{0, 1, 2}}, 3, 2)
	games.List = append(games.List, simulate(rng, equal, [][]int{{3, 4}}, 2, 5).List...)
	games.List = append(games.List, Game{Players: []int{5, 0}, Places: []int{1, 2}, Cluster: 100})
	for _, c := range []struct {
		name, anchor string
		beside, far  string // rows of its group and of another
		fixed        bool
	}{
		{"after two clusters", "bot-0001", "bot-0002", "bot-0003", true},
		{"in a group apart", "bot-0003", "bot-0004", "bot-0002", true},
		{"not if it won everything, for then its rating is the prior's", "bot-0005", "bot-0002", "bot-0003", false},
		{"not if it never came", "bot-0007", "bot-0002", "bot-0003", false},
	} {
		table := fit(t, games, DefaultPrior)
		scale := table.Anchored(c.anchor)
		beside, far := table.Rows[table.Row(c.beside)], table.Rows[table.Row(c.far)]
		if got := scale.Elo(far); got != 1500+far.Elo || scale.Zero(far) != "" {
			t.Errorf("%s: %s of another group has %.2f and zero %q, want the mean of its group at 1500", c.name, c.far, got, scale.Zero(far))
		}
		if !c.fixed {
			if got := scale.Elo(beside); got != 1500+beside.Elo || scale.Zero(beside) != "" {
				t.Errorf("%s: %s has %.2f and zero %q, want the mean at 1500", c.name, c.beside, got, scale.Zero(beside))
			}
			continue
		}
		anchor := table.Rows[table.Row(c.anchor)]
		if got, want := scale.Elo(beside), 1500+beside.Elo-anchor.Elo; scale.Elo(anchor) != 1500 || math.Abs(got-want) > 1e-9 || scale.Zero(beside) != c.anchor {
			t.Errorf("%s: %s has %.2f and zero %q, want %.2f beside %.2f of the anchor", c.name, c.beside, got, scale.Zero(beside), want, scale.Elo(anchor))
		}
	}
}

func TestWhatHas1500IsSaidAndWhatWillHaveIt(t *testing.T) {
	for _, c := range []struct {
		anchor   string
		clusters int
		want     string
	}{
		{"stay-25", 20, "stay-25 has 1500."},
		{"", 0, "The mean is 1500."},
		{"", 14, "The mean is 1500; once stay-25 has 20 rotations (it has 14) it will have 1500, and all ratings move together."},
		{"", 20, "The mean is 1500; once stay-25 can be compared with all it will have 1500, and all ratings move together."},
	} {
		if got := ZeroSays(c.anchor, "stay-25", c.clusters); got != c.want {
			t.Errorf("anchor %q, %d clusters: %q, want %q", c.anchor, c.clusters, got, c.want)
		}
	}
}

func TestIntervalsUseTheBotsOwnClusters(t *testing.T) {
	table := fit(t, read(t, threeClusters), 0)
	a, b := table.Row("A"), table.Row("B")
	// Two degrees of freedom: Student's quantile is 4.302653.
	printed(t, "A +-", table.Interval(a), strings.TrimSpace(fmt.Sprintf("%.4f", 4.302652730*60.386417)))
	d := table.Difference(a, b)
	if d.Degrees != 2 {
		t.Errorf("got %d degrees of freedom, want 2", d.Degrees)
	}
	back := table.Difference(b, a)
	if d.Elo != -back.Elo || d.Error != back.Error || math.Abs(d.LOS()+back.LOS()-1) > 1e-12 {
		t.Errorf("A - B is %+v (LOS %v), B - A is %+v (LOS %v)", d, d.LOS(), back, back.LOS())
	}
	printed(t, "A - B +-", d.Interval(), fmt.Sprintf("%.4f", 4.302652730*d.Error))
	// Student's distribution function with two degrees of freedom has a closed form.
	x := d.Elo / d.Error
	printed(t, "LOS", d.LOS(), fmt.Sprintf("%.6f", 0.5+x/(2*math.Sqrt(2+x*x))))
	if one := fit(t, read(t, "@cluster\nA=1 B=2\nB=1 A=2\n"), 0); !math.IsInf(one.Interval(0), 1) || !math.IsInf(one.Rows[0].Robust, 1) {
		t.Errorf("one cluster: got %v +- %v, want no interval", one.Rows[0], one.Interval(0))
	}
}

func TestPercent(t *testing.T) {
	for _, c := range []struct {
		p        float64
		decimals int
		want     string
	}{
		{0.7149, 0, "71 %"},
		{0.99601, 2, "99.60 %"},
		{0.99997, 2, ">99.99 %"},
		{0.99997, 3, "99.997 %"},
		{1, 2, ">99.99 %"},
		{0.99994, 2, "99.99 %"},
		{0, 2, "<0.01 %"},
		{0.00005, 2, "0.01 %"},
		{0.00004, 2, "<0.01 %"},
		{1, 0, ">99 %"},
		{0, 1, "<0.1 %"},
		{0.5, 2, "50.00 %"},
	} {
		if got := Percent(c.p, c.decimals); got != c.want {
			t.Errorf("Percent(%v, %d): got %q, want %q", c.p, c.decimals, got, c.want)
		}
	}
}

func TestLive(t *testing.T) {
	games := read(t, "A=1 B=2\nB=2 C=1\nA=1 B=1 C=1")
	want := []float64{LiveStart, LiveStart, LiveStart}
	two := Update(want[:2], []int{1, 2}, LiveK)
	bc := Update([]float64{two[1], LiveStart}, []int{2, 1}, LiveK)
	want = Update([]float64{two[0], bc[0], bc[1]}, []int{1, 1, 1}, LiveK)
	if got := Live(games); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	// A name at several seats neither wins nor loses against itself.
	if got := Live(Games{Names: []string{"A"}, List: []Game{{Players: []int{0, 0}, Places: []int{1, 2}}}}); got[0] != LiveStart {
		t.Errorf("a bot against itself: got %v, want %v", got[0], LiveStart)
	}
}
