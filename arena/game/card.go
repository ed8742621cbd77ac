package game

import (
	"fmt"
	"iter"
	"math/bits"
)

// Card is one of the 22 kinds of card (R1). The order of the constants is the order in which the copies of a deck are
// numbered: 0..12, the modifiers, the actions.
type Card uint8

// The number cards 0..12 are Card(0)..Card(12).
const (
	Plus2  Card = iota + 13 // +2
	Plus4                   // +4
	Plus6                   // +6
	Plus8                   // +8
	Plus10                  // +10
	X2                      // doubles the row (R21)
	Freeze                  // R16
	Flip3                   // Flip Three, R17
	Second                  // Second Chance, R11

	// Kinds is how many kinds of card there are.
	Kinds = 22
	// DeckSize is how many cards one deck has (R1).
	DeckSize = 94
)

var cardNames = [Kinds]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12",
	"+2", "+4", "+6", "+8", "+10", "x2", "freeze", "flip3", "second"}

// String is the written name of the card: "0".."12", "+2".."+10", "x2", "freeze", "flip3", "second".
func (c Card) String() string {
	if int(c) < Kinds {
		return cardNames[c]
	}
	return fmt.Sprintf("card(%d)", uint8(c))
}

// ParseCard reads a written name.
func ParseCard(name string) (Card, error) {
	for i, n := range cardNames {
		if n == name {
			return Card(i), nil
		}
	}
	return 0, fmt.Errorf("%q is no card; cards are 0..12, +2 +4 +6 +8 +10, x2, freeze, flip3, second", name)
}

// Number reports whether the card is a number card; its value then is int(c).
func (c Card) Number() bool { return c <= 12 }

// Modifier reports whether the card is one of +2 +4 +6 +8 +10 x2.
func (c Card) Modifier() bool { return c >= Plus2 && c <= X2 }

// Action reports whether the card is a Freeze, a Flip Three or a Second Chance.
func (c Card) Action() bool { return c >= Freeze && int(c) < Kinds }

// PerDeck is how many copies of the card one deck holds (R1).
func (c Card) PerDeck() int {
	switch {
	case c == 0:
		return 1
	case c.Number():
		return int(c)
	case c.Modifier():
		return 1
	case c.Action():
		return 3
	}
	return 0
}

// plus is what a + modifier adds.
func (c Card) plus() int {
	if c >= Plus2 && c <= Plus10 {
		return 2 * int(c-Plus2+1)
	}
	return 0
}

// oneDeck lists the copies of a single deck in their numbered order.
var oneDeck = func() (deck [DeckSize]Card) {
	i := 0
	for c := range Card(Kinds) {
		for range c.PerDeck() {
			deck[i] = c
			i++
		}
	}
	return deck
}()

// Copy is one card of the pack, numbered 0..N-1: card kinds in the order of Card, all copies of a kind together.
type Copy uint16

// MaxDecks bounds Rules.Decks; 16 decks are enough for 288 seats, far more than can play.
const MaxDecks = 16

// firstCopies is the lowest copy of each kind in so many decks.
func firstCopies(decks int) (first [Kinds]Copy) {
	for c := range Card(Kinds - 1) {
		first[c+1] = first[c] + Copy(decks*c.PerDeck())
	}
	return first
}

// Pack is a set of copies: a pile, as nobody may know its order before a card is drawn.
type Pack struct {
	bits  [(MaxDecks*DeckSize + 63) / 64]uint64
	kinds counts
	left  uint16
	decks uint16
}

// NewPack is all the cards of so many decks.
func NewPack(decks int) Pack {
	p := Pack{decks: uint16(decks)}
	p.complement(&Pack{decks: p.decks})
	return p
}

// Size is N, the number of copies of all decks, in the pile or not.
func (p *Pack) Size() int { return int(p.decks) * DeckSize }

// Left is how many copies are in the pile.
func (p *Pack) Left() int { return int(p.left) }

// Count is how many copies of a kind are in the pile.
func (p *Pack) Count(c Card) int { return p.kinds.of(c) }

// Has reports whether a copy is in the pile.
func (p *Pack) Has(c Copy) bool {
	word := int(c >> 6)
	return word < len(p.bits) && p.bits[word]&(1<<(c&63)) != 0
}

// Card is the kind of a copy.
func (p *Pack) Card(c Copy) Card {
	if p.decks > 1 { // all copies of a kind are together, whatever the number of decks
		c /= Copy(p.decks)
	}
	return oneDeck[c]
}

// First is the lowest copy in the pile at or after from, and false if there is none.
func (p *Pack) First(from Copy) (Copy, bool) {
	w := int(from >> 6)
	if w >= len(p.bits) {
		return 0, false
	}
	word := p.bits[w] &^ (1<<(from&63) - 1)
	for word == 0 {
		if w++; w >= len(p.bits) {
			return 0, false
		}
		word = p.bits[w]
	}
	return Copy(w<<6 + bits.TrailingZeros64(word)), true
}

// All yields the copies in the pile in ascending order.
func (p *Pack) All() iter.Seq[Copy] {
	return func(yield func(Copy) bool) {
		for c, ok := p.First(0); ok; c, ok = p.First(c + 1) {
			if !yield(c) {
				return
			}
		}
	}
}

// Remove takes a copy out of the pile, if it is there.
func (p *Pack) Remove(c Copy) {
	if p.Has(c) {
		p.remove(c)
	}
}

func (p *Pack) add(c Copy) {
	p.bits[c>>6] |= 1 << (c & 63)
	p.kinds.add(p.Card(c))
	p.left++
}

// remove takes out a copy that is in the pile, and says what it is.
func (p *Pack) remove(c Copy) Card {
	kind := p.Card(c)
	p.bits[c>>6] &^= 1 << (c & 63)
	p.kinds.remove(kind)
	p.left--
	return kind
}

// onlyActions reports whether nothing but actions, or nothing, is in the pile (R24).
func (p *Pack) onlyActions() bool {
	return int(p.left) == p.Count(Freeze)+p.Count(Flip3)+p.Count(Second)
}

// complement makes p all the cards that other does not hold.
func (p *Pack) complement(other *Pack) {
	p.decks = other.decks
	size := other.Size()
	words := (size + 63) / 64
	for w := range words {
		p.bits[w] = ^other.bits[w]
	}
	if tail := size & 63; tail != 0 {
		p.bits[words-1] &= 1<<tail - 1
	}
	for i, n := range deckCounts {
		p.kinds[i] = uint64(other.decks)*n - other.kinds[i]
	}
	p.left = uint16(size) - other.left
}

// counts is how many cards there are of each kind, four kinds to a word of four times sixteen bits: so the counts of all
// kinds are multiplied and subtracted in six words.
type counts [(Kinds + 3) / 4]uint64

func (n *counts) of(c Card) int { return int(uint16(n[c/4] >> (c % 4 * 16))) }

func (n *counts) add(c Card) { n[c/4] += 1 << (c % 4 * 16) }

func (n *counts) remove(c Card) { n[c/4] -= 1 << (c % 4 * 16) }

var deckCounts = func() (n counts) {
	for _, c := range oneDeck {
		n.add(c)
	}
	return n
}()
