package rating

import "math"

// Performance returns the rating, on the scale of the others, at which one bot's results in the games are likeliest if
// the others' ratings are as given (by index into Names): how strong it played in one tournament. Pairs weigh as in
// [Fit]. A bot that won or lost everything gets the bound that a drawn game against a ghost at its opponents' mean sets.
// Without an opponent it is NaN.
func Performance(games Games, bot int, ratings []float64) (float64, Bound) {
	type meeting struct{ opponent, weight, points float64 }
	var meetings []meeting
	mean, won, of := 0.0, 0, 0
	for _, game := range games.List {
		for seat, player := range game.Players {
			for other, opponent := range game.Players {
				if player != bot || opponent == bot {
					continue
				}
				half := halves(game.Places[seat], game.Places[other])
				won, of = won+half, of+2
				mean += ratings[opponent]
				meetings = append(meetings, meeting{ratings[opponent], pairWeight(len(game.Players)), float64(half) / 2})
			}
		}
	}
	if of == 0 {
		return math.NaN(), Exact
	}
	bound := Exact
	switch won {
	case of:
		bound = AtLeast
	case 0:
		bound = AtMost
	}
	if bound != Exact {
		meetings = append(meetings, meeting{mean / float64(len(meetings)), DefaultPrior, 0.5})
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, m := range meetings {
		low, high = min(low, m.opponent), max(high, m.opponent)
	}
	// A score short of perfect by half a point in a million games is 5,000 Elo from its opponents.
	const beyond = 10_000
	return root(low-beyond, high+beyond, func(rating float64) float64 {
		surprise := 0.0
		for _, m := range meetings {
			surprise += m.weight * (m.points - chance(rating, m.opponent))
		}
		return surprise
	}), bound
}
