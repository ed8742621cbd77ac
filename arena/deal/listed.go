package deal

import (
	"fmt"

	"github.com/flip7-arena/flip7/arena/game"
)

// Listed deals the cards of a list: the top of the first draw pile, and then each new draw pile whole. Beyond the lists
// the lowest copy in the pile is on top, which is the order in which the cards of a deck are numbered.
type Listed struct {
	top        []game.Card
	reshuffles [][]game.Card
}

// NewListed checks that the top cards are in the decks. The reshuffles can only be checked when they happen.
func NewListed(decks int, top []game.Card, reshuffles [][]game.Card) (*Listed, error) {
	var counts [game.Kinds]int
	for i, c := range top {
		if counts[c]++; counts[c] > decks*c.PerDeck() {
			return nil, fmt.Errorf("deck[%d]: %v is there %d times, and the %d deck(s) have %d", i, c, counts[c], decks, decks*c.PerDeck())
		}
	}
	return &Listed{top: top, reshuffles: reshuffles}, nil
}

// Draw implements game.Deal. It fails when a listed reshuffle is not exactly the cards of the discard pile.
func (l *Listed) Draw(d game.Draw) (game.Copy, error) {
	list := l.top
	if d.Reshuffles > 0 {
		list = nil
		if i := d.Reshuffles - 1; i < len(l.reshuffles) {
			list = l.reshuffles[i]
			if d.Since == 0 {
				if err := exactly(list, d.Pile); err != nil {
					return 0, fmt.Errorf("reshuffles[%d]: %w", i, err)
				}
			}
		}
	}
	if d.Since >= len(list) {
		c, _ := d.Pile.First(0)
		return c, nil
	}
	for c := range d.Pile.All() {
		if d.Pile.Card(c) == list[d.Since] {
			return c, nil
		}
	}
	return 0, fmt.Errorf("no %v is left in the draw pile", list[d.Since])
}

// exactly reports how a list differs from the cards of a pile.
func exactly(list []game.Card, pile *game.Pack) error {
	var counts [game.Kinds]int
	for _, c := range list {
		counts[c]++
	}
	for c := range game.Card(game.Kinds) {
		if counts[c] != pile.Count(c) {
			return fmt.Errorf("%v is listed %d times, and the discard pile has %d of it", c, counts[c], pile.Count(c))
		}
	}
	return nil
}
