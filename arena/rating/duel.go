package rating

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// Cells count the results of one side of a duel by score, evenly spaced from 0 to 1: losses, draws and wins of single
// games; or, for pairs of games on one deal with sides changed, five cells (pentanomial): both lost; one lost and one
// drawn; a win and a loss or two draws; one won and one drawn; both won. What is said of them is as fastchess and
// fishtest say it.
type Cells []int

// Duel is what Cells tell.
type Duel struct {
	Score float64 // mean, from 0 to 1
	Elo   float64 // the difference that expects this score; infinite for 0 and 1
	Error float64 // half the 95 % interval in Elo by the normal quantile; +Inf where it reaches 0 or 1
	LOS   float64 // likelihood of superiority, from 0 to 1
}

// Duel returns score, Elo and how sure they are. Without results nothing is known: 0 +- Inf.
func (c Cells) Duel() Duel {
	n, sum, squares := 0.0, 0.0, 0.0
	for i, count := range c {
		score := cellScore(i, len(c))
		n += float64(count)
		sum += float64(count) * score
		squares += float64(count) * score * score
	}
	if n == 0 {
		return Duel{Score: 0.5, Error: math.Inf(1), LOS: 0.5}
	}
	mean := sum / n
	variance := max(0, squares/n-mean*mean)
	deviation := math.Sqrt(variance / n)
	d := Duel{Score: mean, Elo: eloOf(mean), Error: math.Inf(1), LOS: 0.5}
	margin := distuv.UnitNormal.Quantile(0.975) * deviation
	if low, high := mean-margin, mean+margin; low > 0 && high < 1 {
		d.Error = (eloOf(high) - eloOf(low)) / 2
	}
	switch {
	case deviation > 0:
		d.LOS = distuv.UnitNormal.CDF((mean - 0.5) / deviation)
	case mean != 0.5: // every result was the same
		d.LOS = math.Round(mean)
	}
	return d
}

// LLR returns the log-likelihood ratio of the generalised sequential probability ratio test: how much likelier the
// results are if the true difference is elo1 than if it is elo0, each at the likeliest distribution over the cells that
// has that mean (Van den Bergh, Comments on normalized Elo). Compare it to [WaldBounds].
func (c Cells) LLR(elo0, elo1 float64) float64 {
	seen, n := c.shares()
	under0, under1 := likeliest(seen, chance(elo0, 0)), likeliest(seen, chance(elo1, 0))
	sum := 0.0
	for i := range seen {
		sum += seen[i].share * math.Log(under1[i]/under0[i])
	}
	return n * sum
}

// WaldBounds returns the ratios at which a sequential test ends: at the lower one elo0 is taken, at the upper one elo1,
// wrongly with probability alpha (elo1 taken) or beta (elo0 taken).
func WaldBounds(alpha, beta float64) (lower, upper float64) {
	return math.Log(beta / (1 - alpha)), math.Log((1 - beta) / alpha)
}

// share is how often a score was seen, of all results.
type share struct{ score, share float64 }

// shares returns the scores that were seen, and the number of results. The lowest and the highest score count a
// thousandth of a result if they were not, or no distribution over the others might have the mean that is asked for.
func (c Cells) shares() (seen []share, n float64) {
	for i, count := range c {
		results := float64(count)
		if i == 0 || i == len(c)-1 {
			results = max(results, 1e-3)
		}
		if results > 0 {
			seen = append(seen, share{cellScore(i, len(c)), results})
			n += results
		}
	}
	for i := range seen {
		seen[i].share /= n
	}
	return seen, n
}

// likeliest returns the distribution over the scores nearest to what was seen (of the greatest likelihood) with the given
// mean: p / (1 + x(score - mean)), with x such that it sums to 1.
func likeliest(seen []share, mean float64) []float64 {
	excess := func(x float64) float64 {
		sum := 0.0
		for _, s := range seen {
			d := s.score - mean
			sum += s.share * d / (1 + x*d)
		}
		return sum
	}
	x := root(-1/(1-mean), 1/mean, excess)
	likely := make([]float64, len(seen))
	for i, s := range seen {
		likely[i] = s.share / (1 + x*(s.score-mean))
	}
	return likely
}

// root finds where a falling function crosses 0 between low and high, to the last bit.
func root(low, high float64, f func(float64) float64) float64 {
	for {
		middle := low + (high-low)/2
		if middle <= low || middle >= high {
			return middle
		}
		if f(middle) > 0 {
			low = middle
		} else {
			high = middle
		}
	}
}

// cellScore is the score of cell i of n.
func cellScore(i, n int) float64 { return float64(i) / float64(n-1) }

func eloOf(score float64) float64 { return eloPerTheta * math.Log(score/(1-score)) }
