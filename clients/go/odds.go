package flip7

// Unseen is how many cards of each kind the next card is drawn from, each of them equally likely: the draw pile or, when
// that is empty, the discard pile, which is shuffled before the next draw (R23). All zero: no card can be drawn, a hit
// ends the round and every active seat banks (R24: an empty draw pile, and nothing but actions in the discard pile).
func (v *View) Unseen() Counts {
	if v.DrawPile.Total() > 0 {
		return v.DrawPile
	}
	actions := v.DiscardPile[Freeze] + v.DiscardPile[Flip3] + v.DiscardPile[Second]
	if v.DiscardPile.Total() == actions {
		return Counts{}
	}
	return v.DiscardPile
}

// BustProbability is the probability, 0 to 1, that the next card busts a seat if it is the one that draws: the share of
// the Unseen cards whose number is in its row. It is 0 for a seat with a Second Chance, for one that is not active, and
// when no card can be drawn.
func (v *View) BustProbability(seat int) float64 {
	s := &v.Seats[seat]
	unseen := v.Unseen()
	total := unseen.Total()
	if s.Status != Active || s.SecondChance || total == 0 {
		return 0
	}
	duplicates := 0
	for _, c := range s.Row {
		duplicates += unseen[c]
	}
	return float64(duplicates) / float64(total)
}

// ExpectedPoints is the mean, over the Unseen cards, of the points at stake of a seat right after it drew one of them:
//
//   - a number that is not in its row: the points with it, with the 15 of a seventh (R15, R21);
//   - a number that is in its row: 0, or its points as they are if it has a Second Chance (R9);
//   - a modifier: the points with it (a second x2 adds nothing);
//   - a Freeze, a Flip Three, a Second Chance: its points as they are. What the card does then is not looked into.
//
// It is the seat's points as they are for a seat that is not active, and when no card can be drawn. The sum is taken in
// integers and divided once, so that every language gets the same float64.
func (v *View) ExpectedPoints(seat int) float64 {
	s := &v.Seats[seat]
	unseen := v.Unseen()
	total := unseen.Total()
	if s.Status != Active || total == 0 {
		return float64(s.Points)
	}
	now := handOf(s.Row)
	for _, c := range s.Modifiers {
		now = now.with(c)
	}
	sum := 0
	for card, n := range unseen {
		c := Card(card)
		switch {
		case n == 0:
		case c.Action(), c.Number() && now.has(c) && s.SecondChance:
			sum += n * now.points()
		default:
			sum += n * now.with(c).points()
		}
	}
	return float64(sum) / float64(total)
}
