package arena

import (
	"math"

	"github.com/flip7-arena/flip7/arena/rating"
)

// Placement is how an entrant came out of its games on average.
type Placement struct {
	Games    int
	Clusters int     // rotations; a table during which a bot lost its stream is one
	Mean     float64 // of (opponents beaten + half of those tied) / opponents, 0..1; NaN without a game
	Margin   float64 // half of the 95 % interval of Mean, by clusters; +Inf if less than two of them
}

// Placements are the placements of all entrants by entry, of all games at tables that are not void. The interval is that
// of a ratio of two sums over clusters, with Student's quantile for the clusters less one.
func (t *Tournament) Placements() []Placement {
	type cluster struct{ placement, games float64 }
	clusters := make([][]cluster, len(t.Entries))
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			if tab.State == Void {
				continue
			}
			rotation := -1
			for _, g := range tab.Games {
				now := (g.Number - 1) / len(tab.Bots)
				begins := rotation < 0 || now != rotation && !tab.Lost
				rotation = now
				for seat, number := range g.Seats {
					own := &clusters[number-1]
					if begins || len(*own) == 0 {
						*own = append(*own, cluster{})
					}
					last := &(*own)[len(*own)-1]
					last.placement += placement(g.Result.Places, seat)
					last.games++
				}
			}
		}
	}
	placements := make([]Placement, len(t.Entries))
	for i, own := range clusters {
		p := Placement{Clusters: len(own), Margin: math.Inf(1)}
		var sum, games, squares float64
		for _, c := range own {
			sum += c.placement
			games += c.games
		}
		p.Games, p.Mean = int(games), sum/games
		for _, c := range own {
			off := c.placement - p.Mean*c.games
			squares += off * off
		}
		if n := float64(len(own)); n >= 2 {
			deviation := math.Sqrt(n/(n-1)*squares) / games
			p.Margin = rating.Difference{Error: deviation, Degrees: len(own) - 1}.Interval()
		}
		placements[i] = p
	}
	return placements
}

// placement is what a seat made of a game.
func placement(places []int, seat int) float64 {
	halves := 0
	for other, place := range places {
		switch {
		case other == seat:
		case places[seat] < place:
			halves += 2
		case places[seat] == place:
			halves++
		}
	}
	return float64(halves) / float64(2*(len(places)-1))
}
