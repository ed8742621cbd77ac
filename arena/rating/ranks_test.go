package rating

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRanks(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 11))
	// One far ahead, two clones, one far behind.
	games := simulate(rng, []float64{-2, 0, 0, 2}, [][]int{{0, 1, 2, 3}}, 4, 50)
	table := fit(t, games, DefaultPrior)
	ranks := table.Ranks(1)
	for i, want := range []Rank{{1, 1, 1}, {2, 3, 0}, {2, 3, 0}, {4, 4, 0}} {
		if ranks[i] != want {
			t.Errorf("row %d: got %+v, want %+v", i, ranks[i], want)
		}
	}
	if again := table.Ranks(1); !slices.Equal(again, ranks) {
		t.Errorf("the same seed: got %v, then %v", ranks, again)
	}
	if got, want := fmt.Sprint(table.Alike()), "[{1 2}]"; got != want {
		t.Errorf("alike: got %s, want %s", got, want)
	}
}

// In one cluster a bot does not show how much it varies, which is not that it varies little.
func TestOneClusterDoesNotSayWhoIsTheBest(t *testing.T) {
	rotation := []Game{ // won by the last bot but for one game
		{Players: []int{0, 1, 2}, Places: []int{3, 2, 1}}, {Players: []int{0, 1, 2}, Places: []int{2, 3, 1}}, {Players: []int{0, 1, 2}, Places: []int{1, 2, 3}}}
	alone := Games{Names: []string{"a", "b", "new"}, List: rotation}
	league := simulate(rand.New(rand.NewPCG(1, 14)), []float64{0.3, 0, 0}, [][]int{{0, 1}}, 2, 200)
	for _, g := range rotation {
		g.Cluster = 200
		league.List = append(league.List, g)
	}
	for name, games := range map[string]Games{"alone": alone, "in a league": league} {
		table := fit(t, games, DefaultPrior)
		newcomer := slices.IndexFunc(table.Rows, func(r Row) bool { return r.Bot == 2 })
		if got := table.Ranks(1)[newcomer]; got.Low != 1 || got.High != 3 || got.Best < 0.3 || got.Best > 0.9 {
			t.Errorf("%s: after one rotation the ranks of the one in front are %+v, want that it may be any", name, got)
		}
	}
}

// P(best) of two bots is, up to the noise of a thousand draws, the LOS of the one against the other.
func TestPBestOfTwoIsLOS(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 12))
	games := simulate(rng, []float64{0.1, 0}, [][]int{{0, 1}}, 2, 150)
	table := fit(t, games, DefaultPrior)
	ranks := table.Ranks(3)
	los := table.Difference(0, 1).LOS()
	if math.Abs(ranks[0].Best-los) > 0.05 || los < 0.6 || los > 0.99 {
		t.Errorf("got P(best) %v, LOS %v: want them alike and in doubt", ranks[0].Best, los)
	}
	if sum := ranks[0].Best + ranks[1].Best; math.Abs(sum-1) > 1e-12 {
		t.Errorf("P(best) sums to %v", sum)
	}
}

// One that cannot win, such as an anchor, helps to compare the others and takes nothing from their P(best).
func TestBestIsAmongRivals(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 13))
	table := fit(t, simulate(rng, []float64{2, 0.1, 0}, [][]int{{0, 1, 2}}, 3, 150), DefaultPrior)
	all := func(Row) bool { return true }
	for i, rank := range table.Ranks(3) {
		if got := table.Best(3, i, all); got != rank.Best {
			t.Errorf("%s among all: got %v, want %v as Ranks has it", table.Rows[i].Name, got, rank.Best)
		}
	}
	second, third := table.Rows[1].Name, table.Rows[2].Name
	los := table.Difference(1, 2).LOS()
	got := table.Best(3, 1, func(r Row) bool { return r.Name == second || r.Name == third })
	if among := table.Best(3, 1, all); math.Abs(got-los) > 0.05 || los < 0.6 || los > 0.99 || among > 0.01 {
		t.Errorf("the second: P(best) %v beside the third (LOS %v), %v of all", got, los, among)
	}
}

func TestRanksAndRunsStayWithinGroups(t *testing.T) {
	games := read(t, "A=1 B=2\nB=1 A=2\nA=1 B=2\nX=1 Y=2\nY=1 X=2\n")
	table := fit(t, games, DefaultPrior)
	for i, rank := range table.Ranks(0) {
		if rank.Low != 1 || rank.High != 2 {
			t.Errorf("row %d: got %+v, want ranks 1 to 2 of its group", i, rank)
		}
	}
	if got, want := fmt.Sprint(table.Alike()), "[{0 1} {2 3}]"; got != want {
		t.Errorf("alike: got %s, want %s", got, want)
	}
}

// A pair is told apart exactly if no run holds both.
func TestAlikeRunsCoverExactlyWhatCannotBeToldApart(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 13))
		theta := make([]float64, 12)
		for bot := range theta {
			theta[bot] = 0.3 * rng.NormFloat64()
		}
		var tables [][]int
		for range 12 {
			tables = append(tables, rng.Perm(len(theta))[:4])
		}
		table := fit(t, simulate(rng, theta, tables, 4, 5), DefaultPrior)
		runs := table.Alike()
		for _, run := range runs {
			for i := run.First; i <= run.Last; i++ {
				for j := i + 1; j <= run.Last; j++ {
					if table.Difference(i, j).Distinct() {
						t.Errorf("seed %d: run %v holds %d and %d, which are distinct", seed, run, i, j)
					}
				}
			}
		}
		for i := range len(table.Rows) - 1 {
			together := slices.ContainsFunc(runs, func(r Run) bool { return r.First <= i && i+1 <= r.Last })
			if together == table.Difference(i, i+1).Distinct() {
				t.Errorf("seed %d: neighbours %d and %d: in one run %v", seed, i, i+1, together)
			}
		}
	}
}

func TestProvisional(t *testing.T) {
	rng := rand.New(rand.NewPCG(14, 0))
	theta := []float64{0.1, 0, -0.1}
	sure := fit(t, simulate(rng, theta, [][]int{{0, 1, 2}}, 30, 20), DefaultPrior)
	few := fit(t, simulate(rng, theta, [][]int{{0, 1, 2}}, 60, 19), DefaultPrior)
	vague := fit(t, simulate(rng, theta, [][]int{{0, 1, 2}}, 3, 20), DefaultPrior)
	for _, c := range []struct {
		name   string
		table  *Table
		nights int
		want   bool
	}{
		{"20 clusters, narrow, third night", sure, 3, false},
		{"second night", sure, 2, true},
		{"19 clusters", few, 3, true},
		{"wider than 50", vague, 3, true},
	} {
		if got := c.table.Provisional(0, c.nights); got != c.want {
			t.Errorf("%s (%d clusters, +-%.1f): got %v, want %v", c.name, c.table.Rows[0].Clusters, c.table.Interval(0), got, c.want)
		}
	}
}
