package rating

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"
)

// Final gathers the rotations of a final table, all of its finalists playing in each, and says when they are decided.
// The zero Final is ready for use.
//
// It may be asked after every rotation: the bound holds at all times together, where a 95 % interval looked at again
// and again ends up excluding the truth (Robbins, Statistical methods related to the law of the iterated logarithm,
// 1970; Howard et al., Time-uniform confidence sequences, 2021).
type Final struct {
	rotations int
	sums      []float64   // of placement, by finalist
	products  [][]float64 // sums of the products of two finalists' placements
	gaps      [][]float64 // sums of their squared differences
}

// Add takes one rotation: the mean placement of each finalist over its games, from 0 to 1.
func (f *Final) Add(placements []float64) error {
	n := len(placements)
	switch {
	case n < 2:
		return fmt.Errorf("a rotation of %d finalists: want two or more", n)
	case f.rotations > 0 && n != len(f.sums):
		return fmt.Errorf("a rotation of %d finalists among those of %d", n, len(f.sums))
	}
	for i, p := range placements {
		if !(p >= 0 && p <= 1) {
			return fmt.Errorf("placement %v of finalist %d: want 0 to 1", p, i)
		}
	}
	if f.rotations == 0 {
		f.sums, f.products, f.gaps = make([]float64, n), square(n), square(n)
	}
	f.rotations++
	for i, p := range placements {
		f.sums[i] += p
		for j, q := range placements[:i+1] {
			f.products[i][j] += p * q
			f.gaps[i][j] += (p - q) * (p - q)
		}
	}
	return nil
}

func square(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, n)
	}
	return rows
}

// Decision is the state of a final.
type Decision struct {
	Decided   bool
	Leader    int     // of the greatest mean placement, the earlier finalist of equal ones; the winner once Decided
	Best      float64 // P(best) of the leader, from 0 to 1
	Rotations int     // played
	More      int     // rotations that would decide it if the leads seen are the true ones; 0 once Decided, -1 if out of reach
}

const (
	decideLevel = 0.05 // shared out among the leader's rivals
	// DecideFrom is how many rotations are played before anything is decided: the variance is not known well enough earlier.
	DecideFrom = 100
	// mixtureBest is where the bound is tightest, in rotations.
	mixtureBest = 500
	// outOfReach is how many rotations nobody waits for.
	outOfReach = 1_000_000
)

// Decided reports whether the leader is the best of the finalists, wrongly with a probability of 5 % at the most in all
// the times it may be asked. It is what a running night asks after each rotation; [Final.Decision] tells the rest.
func (f *Final) Decided() bool {
	leader := f.leader()
	for rival := range f.sums {
		if rival != leader && !f.ahead(leader, rival, f.level()) {
			return false
		}
	}
	return f.rotations >= DecideFrom
}

// Decision says who leads, how sure that is, and how many rotations more would tell. Before the first rotation nobody
// leads, and it is the zero Decision but for More.
func (f *Final) Decision() Decision {
	if f.rotations == 0 {
		return Decision{More: -1}
	}
	d := Decision{Decided: f.Decided(), Leader: f.leader(), Rotations: f.rotations}
	d.Best = f.best(d.Leader)
	if d.Decided {
		return d
	}
	for rival := range f.sums {
		if rival == d.Leader {
			continue
		}
		needed := f.needed(d.Leader, rival)
		if needed >= outOfReach {
			d.More = -1
			return d
		}
		d.More = max(d.More, needed-f.rotations, 1)
	}
	return d
}

func (f *Final) leader() int {
	leader := 0
	for i, sum := range f.sums {
		if sum > f.sums[leader]+1e-9 { // equal but for the rounding of their parts
			leader = i
		}
	}
	return leader
}

// level is the probability of error that each comparison of the leader with a rival may have.
func (f *Final) level() float64 { return decideLevel / float64(len(f.sums)-1) }

// Lead returns how far the mean placement of one finalist is ahead of that of another, and half the width of the interval
// that holds at every look together with those of the leader's other rivals. They are told apart if that leaves out 0.
func (f *Final) Lead(first, second int) (lead, margin float64) {
	if f.rotations < 2 {
		return 0, math.Inf(1)
	}
	n := float64(f.rotations)
	return (f.sums[first] - f.sums[second]) / n, bound(f.rotations, f.variance(first, second), f.level()) / n
}

func (f *Final) ahead(first, second int, a float64) bool {
	return f.sums[first]-f.sums[second] > bound(f.rotations, f.variance(first, second), a)
}

// variance is that of the difference of two finalists' placements in a rotation.
func (f *Final) variance(first, second int) float64 {
	if f.rotations < 2 {
		return 0
	}
	n := float64(f.rotations)
	sum := f.sums[first] - f.sums[second]
	return max(0, f.gaps[max(first, second)][min(first, second)]-sum*sum/n) / (n - 1)
}

// bound is what the sum of n differences of the given variance must exceed.
func bound(n int, variance, a float64) float64 {
	if variance == 0 {
		return 0
	}
	return mixture(float64(n)*variance, precision(variance, a), a)
}

// mixture returns what a sum of mean 0, whose variance so far is v, exceeds in absolute value at any time at all with
// probability a at the most: Robbins' mixture of normal likelihoods, of precision rho.
func mixture(v, rho, a float64) float64 {
	return math.Sqrt((v + rho) * math.Log((v+rho)/(rho*a*a)))
}

// precision makes the mixture tightest after mixtureBest rotations.
func precision(variance, a float64) float64 {
	two := -2 * math.Log(a)
	return mixtureBest * variance / (two + math.Log(1+two))
}

// needed returns after how many rotations the mean lead seen would exceed the bound, up to outOfReach.
func (f *Final) needed(leader, rival int) int {
	n := float64(f.rotations)
	lead, variance, a := (f.sums[leader]-f.sums[rival])/n, f.variance(leader, rival), f.level()
	low, high := DecideFrom-1, outOfReach
	for high-low > 1 {
		middle := (low + high) / 2
		if lead*float64(middle) > bound(middle, variance, a) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// best returns the share of draws in which the leader is the best: of normal variables with the covariance of the mean
// placements. The draws are seeded, the same for every final.
func (f *Final) best(leader int) float64 {
	k, n := len(f.sums), float64(f.rotations)
	if f.rotations < 2 {
		return 1 / float64(k)
	}
	covariance := mat.NewSymDense(k, nil)
	for i := range k {
		for j := range i + 1 {
			covariance.SetSym(i, j, (f.products[i][j]-f.sums[i]*f.sums[j]/n)/(n*(n-1)))
		}
	}
	// Placements of a game sum to a constant, so the covariance has no Cholesky factor; a symmetric root it has.
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return 1 / float64(k)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil)
	rng := rand.New(rand.NewPCG(draws, 0))
	wins := 0
	mean := make([]float64, k)
	for range draws {
		for i := range mean {
			mean[i] = f.sums[i] / n
		}
		for j, value := range values {
			length := math.Sqrt(max(0, value)) * rng.NormFloat64()
			for i := range mean {
				mean[i] += length * vectors.At(i, j)
			}
		}
		won := true
		for i := range mean {
			won = won && mean[i] <= mean[leader]
		}
		if won {
			wins++
		}
	}
	return float64(wins) / draws
}

// Sentence says it in one sentence, for the last line of the night. finalists are their names in the order of the
// placements, games is how many a rotation has.
func (d Decision) Sentence(finalists []string, games int) string {
	switch {
	case d.Rotations == 0:
		return "not decided: no rotation of the final was played"
	case d.Decided:
		return fmt.Sprintf("decided: %s is the best of the finalists, after %s games", finalists[d.Leader], thousands(d.Rotations*games))
	case d.More < 0:
		return fmt.Sprintf("not decided: %s leads, P(best) %s, and no number of games worth playing would tell", finalists[d.Leader], Percent(d.Best, 0))
	}
	return fmt.Sprintf("not decided: %s leads, P(best) %s, about %s more games would tell", finalists[d.Leader], Percent(d.Best, 0), thousands(twoDigits(d.More*games)))
}

// twoDigits rounds up to two digits: an estimate should look like one.
func twoDigits(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return (n + unit - 1) / unit * unit
}

func thousands(n int) string {
	digits := strconv.Itoa(n)
	var b strings.Builder
	for i, digit := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(digit)
	}
	return b.String()
}
