package house

import "github.com/flip7-arena/flip7/arena/game"

// odds counts cards: it hits while that is expected to bring points. The expectation is exact for the one card that comes
// next, drawn uniformly from the pile as it is: a number joins the row, and a seventh brings the 15 of a Flip 7; a
// duplicate costs all points at stake, or nothing if a Second Chance lies there; a + modifier adds, and an x2 adds the
// row once more. A Freeze, a Flip Three or a Second Chance brings nothing, for the first two go to somebody else, and
// what a Second Chance may save later is not points yet. (Counting what it saves makes odds play worse: whoever stays in
// is whom others flip three cards for.)
type odds struct{}

func (odds) Decide(v game.View, _ uint64) game.Decision {
	r := v.Request()
	if r.Kind != game.Turn {
		return shrewdGift(v, r)
	}
	pile := pileFor(v, 1)
	o := outlookOf(v, v.Me, &pile)
	return hitUnless(o.gain() <= 0)
}

// shrewdGift gives a card where that does most for the giver's place. What a card costs its target counts by how close
// the target's total and points at stake are to the giver's, for between seats that are far apart little is to be
// decided; what it brings the giver itself counts against every rival. So a Freeze goes to a dangerous seat with few
// cards, a Flip Three to a middling row, which is likely to bust on it, or to the giver while that has little to lose,
// and a Second Chance to the seat that has least to save.
func shrewdGift(v game.View, r game.Request) game.Decision {
	draws := 1
	if r.Kind == game.GiveFlip3 {
		draws = 3
	}
	pile := pileFor(v, draws)
	var weight [game.MaxSeats]int
	rivals := 0
	mine := v.Total(v.Me) + v.Points(v.Me)
	for at := range (v.Playing() &^ (1 << v.Me)).All() {
		weight[at] = closeness(mine - v.Total(at) - v.Points(at))
		rivals += weight[at]
	}
	weight[v.Me] = -rivals
	return game.Give(best(r.Targets, func(at game.Seat) int {
		o := outlookOf(v, at, &pile)
		return weight[at] * o.loss(r.Kind, &pile)
	}))
}

// closeness is how much is open between two seats so many points apart, in thousandths: it is halved at 40 points, two
// good rounds.
func closeness(points int) int { return 1000 * 40 / (40 + max(points, -points)) }

// loss is how many points a card is expected to cost the seat it is given to, in a unit that is the same for all seats.
// A seat that is not given the card is taken to do what is better for it, stay or hit once more.
func (o *outlook) loss(kind game.Kind, pile *pile) int {
	switch kind {
	case game.GiveFreeze:
		return max(0, o.gain())
	case game.GiveFlip3:
		return (o.left*o.points()+max(0, o.gain()))*(o.left-1)*(o.left-2) - o.afterThree(pile)
	}
	return -o.dups * o.points() // the next duplicate would cost nothing
}
