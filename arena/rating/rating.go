// Package rating makes the Elo table of a league: who is how strong, how sure that is, and when a night is decided.
// It knows results (who finished before whom, and which games belong together) and nothing of cards, clocks or networks.
//
// # The rating of record
//
// A game of m players is read as its m(m-1)/2 pairs; a tie is half a win for both. [Fit] finds the strengths theta
// that maximise the Bradley-Terry likelihood
//
//	P(i before j) = 1 / (1 + exp(theta_j - theta_i)),  Elo = theta * 400 / ln 10
//
// with every pair of a game weighing 3/(m+1). The pairs of one game are not independent: among equals the score of a
// bot over its m-1 pairs varies (m+1)/3 times as much as that of m-1 separate duels, so weighing them by the inverse
// makes the information of a game 3(m-1)/(4(m+1)) for each of its players, the truth for equal ones, and lets games of
// different sizes stand beside each other fairly.
//
// The prior is a ghost that sits at the mean and plays each bot to a draw; it keeps a bot that won everything finite.
//
// # Errors
//
// The games of a rotation share their table, and the pairs of a game share their cards. Standard errors are therefore
// cluster-robust: the sandwich A^-1 B A^-1 times G/(G-1), where A is the information (ghost included), B the sum over
// the G clusters of the outer products of their scores (gradients; the ghost is no data and has none), all in the frame
// of mean 0. Intervals take Student's t with the bot's own clusters - 1 degrees of freedom: a night gives a bot a dozen
// clusters, and the normal quantile would cover 91 to 92 % instead of 95. Liang and Zeger, Biometrika 73 (1986).
//
// # Determinism
//
// The same games in the same order give the same bits on one kind of processor (others round products differently).
// Strengths, Elo and naive errors do not depend on the order of games or of names at all, for they are computed from
// integer counts in order of name. Robust errors are sums over clusters in the order given, and agree between orders up
// to rounding. [Table.Ranks] draws by cluster: to it another order is another seed.
package rating

import "math"

// eloPerTheta converts strengths in natural units (log odds) to Elo points.
const eloPerTheta = 400 / math.Ln10

// chance returns the probability that a bot rated a finishes before one rated b, both in Elo points.
func chance(a, b float64) float64 {
	return 1 / (1 + math.Exp((b-a)/eloPerTheta))
}

// pairWeight is what a pair of a game of m players weighs.
func pairWeight(m int) float64 {
	return 3 / float64(m+1)
}

// halves returns what the first of two places earns of their pair, in half points: 2 a win, 1 a tie, 0 a loss.
func halves(own, other int) int {
	switch {
	case own < other:
		return 2
	case own == other:
		return 1
	}
	return 0
}
