package rating

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// Among equals, pairs of one game taken for independent make errors too small by sqrt((m+1)/3).
func TestRobustOverNaive(t *testing.T) {
	for m, want := range map[int]float64{2: 1, 3: 1.1547, 4: 1.2910, 5: 1.4142, 6: 1.5275} {
		seats := make([]int, m)
		for i := range seats {
			seats[i] = i
		}
		games := simulate(rand.New(rand.NewPCG(uint64(m), 3)), make([]float64, m), [][]int{seats}, 1, 20_000)
		for _, row := range fit(t, games, 0).Rows {
			if ratio := row.Robust / row.Naive; math.Abs(ratio/want-1) > 0.03 {
				t.Errorf("m = %d, %s: got robust / naive = %.4f, want %.4f +- 3 %%", m, row.Name, ratio, want)
			}
		}
	}
}

// The share of 95 % intervals, over all bots of simulated leagues paired without a look at the scores, that hold the
// truth. A league's intervals hang together, hence its own slack rather than that of independent ones.
func TestCoverage(t *testing.T) {
	for _, c := range []struct{ bots, rounds int }{{8, 5}, {16, 7}, {32, 7}} {
		t.Run(fmt.Sprintf("%d bots, %d pairing rounds", c.bots, c.rounds), func(t *testing.T) {
			leagues := 100
			if soak {
				leagues = 300
			}
			covered, naively, normally, all := 0, 0, 0, 0
			for league := range leagues {
				rng := rand.New(rand.NewPCG(uint64(league), uint64(c.bots)))
				theta := make([]float64, c.bots)
				mean := 0.0
				for bot := range theta {
					theta[bot] = 0.25 * rng.NormFloat64()
					mean += theta[bot] / float64(c.bots)
				}
				var tables [][]int
				for range c.rounds {
					order := rng.Perm(c.bots)
					for at := 0; at < c.bots; at += 4 {
						tables = append(tables, order[at:at+4])
					}
				}
				table := fit(t, simulate(rng, theta, tables, 4, 2), DefaultPrior)
				for i, row := range table.Rows {
					off := math.Abs(row.Elo - eloPerTheta*(theta[row.Bot]-mean))
					all++
					if off <= table.Interval(i) {
						covered++
					}
					if off <= 1.96*row.Robust {
						normally++
					}
					if off <= 1.96*row.Naive {
						naively++
					}
				}
			}
			share := func(n int) float64 { return 100 * float64(n) / float64(all) }
			t.Logf("%d leagues: intervals cover %.1f %%; robust errors with the normal quantile %.1f %%, naive ones %.1f %%", leagues, share(covered), share(normally), share(naively))
			if got := share(covered); got < 93 || got > 97 {
				t.Errorf("intervals cover %.1f %%, want 93 to 97", got)
			}
			if got := share(naively); got > 91 {
				t.Errorf("naive intervals cover %.1f %%: want them to be too narrow, or this test shows nothing", got)
			}
		})
	}
}

// Over 1000 nights of four clones the 95 % interval of a difference misses 0 in 3 to 7 %.
func TestClonesAreToldApartAsOftenAsPromised(t *testing.T) {
	missed := 0
	const nights = 1000
	for night := range uint64(nights) {
		rng := rand.New(rand.NewPCG(night, 4))
		var tables [][]int
		for range 7 {
			tables = append(tables, rng.Perm(4))
		}
		table := fit(t, simulate(rng, make([]float64, 4), tables, 4, 2), DefaultPrior)
		if table.Difference(table.Row("bot-0000"), table.Row("bot-0001")).Distinct() {
			missed++
		}
	}
	t.Logf("a given difference misses 0 in %.1f %% of nights", 100*float64(missed)/nights)
	if missed < 30 || missed > 70 {
		t.Errorf("a given difference misses 0 in %d nights of %d, want 30 to 70", missed, nights)
	}
}
