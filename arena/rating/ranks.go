package rating

import (
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Rank says which ranks within its group a bot may truly hold.
type Rank struct {
	Low, High int     // the 95 % interval; 1 is the best
	Best      float64 // P(best): the share of draws in which it came first, from 0 to 1
}

// draws is how many leagues are drawn: P(best) is good to one and a half percentage points.
const draws = 1000

// Ranks returns the rank of every row, by a weighted bootstrap: in each of 1000 draws the clusters weigh as much as
// seeded exponential variables of mean 1, and the strengths move by one Newton step from their fit (Rubin, The Bayesian
// bootstrap, 1981). A bot of one cluster, which does not show how much it varies, moves by its naive error. The same table and
// seed give the same ranks.
func (t *Table) Ranks(seed uint64) []Rank {
	n := len(t.Rows)
	ranks := make([]Rank, n)
	if n == 0 {
		return ranks
	}
	drawn := t.draw(rand.New(rand.NewPCG(seed, 0)))
	held := make([][]int, n) // how often each bot held each rank of its group
	for _, group := range t.model.groups {
		for _, bot := range group {
			held[bot] = make([]int, len(group))
		}
		strength, order := make([]float64, len(group)), make([]int, len(group))
		for d := range draws {
			for k, bot := range group {
				strength[k] = -drawn.At(bot, d)
			}
			floats.Argsort(strength, order)
			for rank, k := range order {
				held[group[k]][rank]++
			}
		}
	}
	for i, row := range t.Rows {
		times := held[t.model.at[row.Bot]]
		ranks[i] = Rank{Low: quantile(times, 0.025), High: quantile(times, 0.975), Best: float64(times[0]) / draws}
	}
	return ranks
}

// Best is P(best) of a row among some of its group, from 0 to 1: the share of the draws of Ranks in which none of those came
// before it. Others take part in the fit alone, as an anchor does that cannot win.
func (t *Table) Best(seed uint64, row int, rivals func(Row) bool) float64 {
	drawn := t.draw(rand.New(rand.NewPCG(seed, 0)))
	first := drawn.RawRowView(t.model.at[t.Rows[row].Bot])
	beaten := make([]bool, draws)
	for i, r := range t.Rows {
		if i == row || r.Group != t.Rows[row].Group || !rivals(r) {
			continue
		}
		for d, strength := range drawn.RawRowView(t.model.at[r.Bot]) {
			beaten[d] = beaten[d] || strength > first[d]
		}
	}
	best := 0
	for _, b := range beaten {
		if !b {
			best++
		}
	}
	return float64(best) / draws
}

// draw returns strengths by bot and draw. At the fit the scores of all clusters and the ghost cancel out, so that only
// what the weights differ from 1 by is left of the gradient.
func (t *Table) draw(rng *rand.Rand) *mat.Dense {
	n := len(t.theta)
	gradient := mat.NewDense(n, draws, nil)
	excess := make([]float64, draws)
	for _, s := range t.scores {
		for d := range excess {
			excess[d] = rng.ExpFloat64() - 1
		}
		for _, entry := range s {
			floats.AddScaled(gradient.RawRowView(entry.bot), entry.value, excess)
		}
	}
	drawn := new(mat.Dense)
	drawn.Mul(mat.DenseCopyOf(t.bread), gradient)
	for bot, theta := range t.theta {
		floats.AddConst(theta, drawn.RawRowView(bot))
	}
	for _, row := range t.Rows {
		if row.Clusters > 1 {
			continue
		}
		strength := drawn.RawRowView(t.model.at[row.Bot])
		for d := range strength {
			strength[d] += rng.NormFloat64() * row.Naive / eloPerTheta
		}
	}
	return drawn
}

// quantile returns the least rank up to which at least the given share of draws lies.
func quantile(times []int, share float64) int {
	sum := 0
	for i, count := range times {
		if sum += count; float64(sum) >= share*draws {
			return i + 1
		}
	}
	return len(times)
}

// Run is a stretch of rows, First and Last included.
type Run struct{ First, Last int }

// Alike returns the longest stretches of two rows or more of which no two can be told apart: the 95 % interval of every
// difference holds 0. They may overlap, for being alike is not transitive; each pair is judged by itself.
func (t *Table) Alike() []Run {
	var runs []Run
	first := 0
	for last := 1; last <= len(t.Rows); last++ {
		// The run first..last-1 ends where last differs from one of it; the next begins behind the last one of those.
		next := first
		if last < len(t.Rows) {
			for i := last - 1; i >= first; i-- {
				if t.Difference(i, last).Distinct() || t.Rows[i].Group != t.Rows[last].Group {
					next = i + 1
					break
				}
			}
		} else {
			next = last
		}
		if next > first {
			if last-first >= 2 {
				runs = append(runs, Run{first, last - 1})
			}
			first = next
		}
	}
	return runs
}
