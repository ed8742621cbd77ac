package flip7

import (
	"math/bits"
	"strconv"
	"strings"
)

// Card is one of the 22 kinds of card (R1). The number cards 0 to 12 are Card(0) to Card(12).
type Card int

// The cards that are not numbers.
const (
	Plus2  Card = iota + 13 // a modifier, 2 points
	Plus4                   // a modifier, 4 points
	Plus6                   // a modifier, 6 points
	Plus8                   // a modifier, 8 points
	Plus10                  // a modifier, 10 points
	X2                      // a modifier, doubles the sum of the row (R21)
	Freeze                  // its seat banks and is out of the round (R16)
	Flip3                   // its seat draws three cards (R17)
	Second                  // saves its seat from one duplicate (R9)

	// Kinds is how many kinds of card there are.
	Kinds = 22
)

// written are the names of the cards as every file, log and text of the arena writes them.
const written = "0 1 2 3 4 5 6 7 8 9 10 11 12 +2 +4 +6 +8 +10 x2 freeze flip3 second"

// String is the written name: "0" to "12", "+2" to "+10", "x2", "freeze", "flip3", "second".
func (c Card) String() string {
	if names := strings.Fields(written); c >= 0 && int(c) < len(names) {
		return names[c]
	}
	return "card(" + strconv.Itoa(int(c)) + ")"
}

// Number reports whether the card is a number card; it is worth int(c) points.
func (c Card) Number() bool { return c >= 0 && c <= 12 }

// Modifier reports whether the card is one of +2 +4 +6 +8 +10 x2.
func (c Card) Modifier() bool { return c >= Plus2 && c <= X2 }

// Action reports whether the card is a Freeze, a Flip Three or a Second Chance.
func (c Card) Action() bool { return c >= Freeze && c <= Second }

// Counts is how many cards of each kind there are: Counts[12] counts the twelves, Counts[X2] the x2.
type Counts [Kinds]int

// Total is how many cards that is.
func (c Counts) Total() int {
	total := 0
	for _, n := range c {
		total += n
	}
	return total
}

// String lists the cards that are there, such as "3x12 +4 2xfreeze", and "nothing" for none.
func (c Counts) String() string {
	var parts []string
	for card, n := range c {
		switch {
		case n == 1:
			parts = append(parts, Card(card).String())
		case n > 1:
			parts = append(parts, strconv.Itoa(n)+"x"+Card(card).String())
		}
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, " ")
}

// Points is what cards lying in front of a seat score (R21): the sum of the numbers, doubled once if there is an x2,
// then every + modifier, then 15 for seven different numbers. With a number twice, a bust, it is 0. Actions score
// nothing.
func Points(cards ...Card) int {
	return handOf(cards).points()
}

// hand is what counts of the cards in front of a seat.
type hand struct {
	numbers uint16 // bit n: the number n lies there
	sum     int    // of the numbers
	plus    int    // of the + modifiers
	doubled bool
	bust    bool
}

func handOf(cards []Card) hand {
	var h hand
	for _, c := range cards {
		h = h.with(c)
	}
	return h
}

// has reports whether a number lies there.
func (h hand) has(c Card) bool { return h.numbers&(1<<c) != 0 }

// with is the hand after one more card.
func (h hand) with(c Card) hand {
	switch {
	case c.Number() && h.has(c):
		h.bust = true
	case c.Number():
		h.numbers |= 1 << c
		h.sum += int(c)
	case c == X2:
		h.doubled = true
	case c.Modifier():
		h.plus += 2 * int(c-Plus2+1)
	}
	return h
}

func (h hand) points() int {
	if h.bust {
		return 0
	}
	points := h.sum
	if h.doubled {
		points *= 2
	}
	points += h.plus
	if bits.OnesCount16(h.numbers) >= 7 {
		points += 15
	}
	return points
}
