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
	Margin   float64 // half of the 95 % interval of Mean, by clusters; +Inf if there are too few of them

	clusters []cluster // in order of number
}

// cluster is a bot's part in games that belong together.
type cluster struct {
	number    int // within the tournament
	placement float64
	games     float64
}

// Placements are the placements of all entrants by entry, of all games of pairing rounds at tables that are not void. The
// interval is that of a ratio of two sums over clusters, with Student's quantile for the clusters less one.
func (t *Tournament) Placements() []Placement {
	placements := make([]Placement, len(t.Entries))
	number := 0
	for _, r := range t.Rounds[:min(len(t.Rounds), t.Settings.Rounds)] {
		for _, tab := range r.Tables {
			if tab.State == Void {
				continue
			}
			rotation := -1
			for _, g := range tab.Games {
				if now := (g.Number - 1) / len(tab.Bots); rotation < 0 || now != rotation && !tab.Lost {
					rotation = now
					number++
				}
				for seat, entrant := range g.Seats {
					placements[entrant-1].add(number, PlacementOf(g.Result.Places, seat))
				}
			}
		}
	}
	for i := range placements {
		placements[i].Mean, placements[i].Margin = placements[i].from(Placement{})
	}
	return placements
}

func (p *Placement) add(number int, placement float64) {
	if n := len(p.clusters); n == 0 || p.clusters[n-1].number != number {
		p.clusters = append(p.clusters, cluster{number: number})
		p.Clusters++
	}
	last := &p.clusters[len(p.clusters)-1]
	last.placement += placement
	last.games++
	p.Games++
}

// fewestClusters is below how many clusters nothing is said of how sure something is: two or three may happen to agree, and
// then look as sure as a thousand.
const fewestClusters = 4

// From is how far the mean is above that of another bot, and half of the 95 % interval of that: smaller than both margins
// together where they seldom met, larger where the gain of one is the other's loss. NaN without a game of both.
func (p Placement) From(other Placement) (lead, margin float64) {
	if other.Games == 0 {
		return math.NaN(), math.Inf(1)
	}
	return p.from(other)
}

// from is From; the zero Placement is no other bot, but the number 0.
func (p Placement) from(other Placement) (lead, margin float64) {
	own, ownOff := p.residuals()
	others, otherOff := other.residuals()
	if other.Games > 0 {
		own -= others
	}
	clusters, squares := 0, 0.0
	for i, j := 0, 0; i < len(p.clusters) || j < len(other.clusters); clusters++ {
		mine := j == len(other.clusters) || i < len(p.clusters) && p.clusters[i].number <= other.clusters[j].number
		theirs := i == len(p.clusters) || j < len(other.clusters) && other.clusters[j].number <= p.clusters[i].number
		off := 0.0
		if mine {
			off += ownOff[i]
			i++
		}
		if theirs {
			off -= otherOff[j]
			j++
		}
		squares += off * off
	}
	least := p.Clusters
	if other.Games > 0 {
		least = min(least, other.Clusters)
	}
	if least < fewestClusters {
		return own, math.Inf(1)
	}
	n := float64(clusters)
	return own, rating.Difference{Error: math.Sqrt(n / (n - 1) * squares), Degrees: least - 1}.Interval()
}

// residuals are the mean, and by how much each cluster moves it.
func (p Placement) residuals() (mean float64, off []float64) {
	sum, games := 0.0, 0.0
	for _, c := range p.clusters {
		sum += c.placement
		games += c.games
	}
	mean = sum / games
	off = make([]float64, len(p.clusters))
	for i, c := range p.clusters {
		off[i] = (c.placement - mean*c.games) / games
	}
	return mean, off
}

// PlacementOf is what a seat made of a game.
func PlacementOf(places []int, seat int) float64 {
	return float64(halvesOf(places, seat)) / float64(2*(len(places)-1))
}

// halvesOf is how many opponents a seat has beaten, twice, and how many it is tied with.
func halvesOf(places []int, seat int) (halves int) {
	for other, place := range places {
		switch {
		case other == seat:
		case places[seat] < place:
			halves += 2
		case places[seat] == place:
			halves++
		}
	}
	return halves
}

// Alike reports for each line of standings whether the games cannot tell its bot from the one of the line above: the
// interval of the difference of their placements holds 0. Finalists are compared by the final, all others by the pairing
// rounds. Of bots without a game nothing is said, nor where it is not the games that put a bot below the other: where it
// stands outside the ranks, or has left and the other has not.
func (t *Tournament) Alike(standings []Standing) []bool {
	alike := make([]bool, len(standings))
	placements, final := t.Placements(), t.Final()
	for i := 1; i < len(standings); i++ {
		above, below := standings[i-1], standings[i]
		if below.Rank == 0 || below.Withdrawn != above.Withdrawn {
			continue
		}
		lead, margin := placements[above.Entry.Number-1].From(placements[below.Entry.Number-1])
		if above.Final != nil && below.Final != nil {
			lead, margin = final.Lead(final.position(above), final.position(below))
		}
		alike[i] = math.Abs(lead) <= margin
	}
	return alike
}
