package rating

import "slices"

const (
	// LiveStart is where every live rating begins.
	LiveStart = 1500
	// LiveK is the step of the live rating; small, for a game of Flip 7 says little.
	LiveK = 4
)

// Update returns the ratings after one game of Elo over all its pairs. Seat i was rated ratings[i] and came at
// places[i], the least being the best; a pair moves both by 2k/n of what it was a surprise by, n the number of seats.
func Update(ratings []float64, places []int, k float64) []float64 {
	after := slices.Clone(ratings)
	step := 2 * k / float64(len(ratings))
	for i := range ratings {
		for j := range ratings {
			if i != j {
				after[i] += step * (float64(halves(places[i], places[j]))/2 - chance(ratings[i], ratings[j]))
			}
		}
	}
	return after
}

// Live returns the live rating of each name after the games in the order given: for show, and quick to tell of, but
// the order of games moves it and luck never leaves it. A name in several seats gains or loses the sum of them.
func Live(games Games) []float64 {
	ratings := make([]float64, len(games.Names))
	for bot := range ratings {
		ratings[bot] = LiveStart
	}
	for _, game := range games.List {
		before := make([]float64, len(game.Players))
		for seat, bot := range game.Players {
			before[seat] = ratings[bot]
		}
		for seat, after := range Update(before, game.Places, LiveK) {
			ratings[game.Players[seat]] += after - before[seat]
		}
	}
	return ratings
}
