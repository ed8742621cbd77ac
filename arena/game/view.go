package game

import (
	"iter"
	"math/bits"
)

// Row is the number cards of a seat as a set: bit v is set if the number v lies there.
type Row uint16

// Has reports whether a number lies in the row.
func (r Row) Has(number Card) bool { return r&(1<<number) != 0 }

// Len is how many number cards lie in the row.
func (r Row) Len() int { return bits.OnesCount16(uint16(r)) }

// All yields the numbers of the row in ascending order.
func (r Row) All() iter.Seq[Card] {
	return func(yield func(Card) bool) {
		for ; r != 0; r &= r - 1 {
			if !yield(Card(bits.TrailingZeros16(uint16(r)))) {
				return
			}
		}
	}
}

// View is the game as a player sees it: all that lies on the table and what the piles are made of, not the order in
// which cards will come. It looks at a State and is good until that State is changed in place.
type View struct {
	state *State
	Me    Seat // whose view it is
}

// View is the game as a seat sees it. In Flip 7 everything on the table is public, so views differ only in Me.
func (s *State) View(me Seat) View { return View{state: s, Me: me} }

// Seats is how many seats the table has.
func (v View) Seats() int { return v.state.n }

// Rules are the rule options of the game, complete.
func (v View) Rules() Rules { return v.state.rules }

// Round is the number of the round, from 1.
func (v View) Round() int { return v.state.round }

// Dealer is the dealer of the round.
func (v View) Dealer() Seat { return v.state.dealer }

// Request is the pending request.
func (v View) Request() Request { return v.state.request }

// Over reports whether the game has ended.
func (v View) Over() bool { return v.state.over }

// Turn is the seat whose deal or hit is being resolved or that is asked to hit or stay; play goes on left of it (R7).
func (v View) Turn() Seat { return v.state.turn }

// Active is the set of active seats (R4).
func (v View) Active() Seats { return v.state.active }

// Playing is the set of seats that play this round (R26).
func (v View) Playing() Seats { return v.state.playing }

// Next is the seat whose turn comes after the present one if nothing changes, and false if no seat is active.
func (v View) Next() (Seat, bool) {
	if v.state.active == 0 {
		return 0, false
	}
	return v.state.active.After(v.state.turn), true
}

// Dealing reports whether the first pass is going on (R5): it has not reached the next active seat.
func (v View) Dealing() bool {
	next, ok := v.Next()
	return ok && !v.state.visited.Has(next)
}

// Drawn is how many cards a seat has drawn in this round.
func (v View) Drawn(s Seat) int { return int(v.state.seats[s].drawn) }

// Reshuffles is how often the discard pile has become the draw pile in this game (R23).
func (v View) Reshuffles() int { return v.state.reshuffles }

// Status is how a seat stands in the round.
func (v View) Status(s Seat) Status { return v.state.seats[s].status }

// Row is the number cards in front of a seat, without the duplicate of a bust.
func (v View) Row(s Seat) Row { return v.state.seats[s].row }

// Duplicate is the card on which a busted seat went bust (R13).
func (v View) Duplicate(s Seat) (Card, bool) {
	seat := &v.state.seats[s]
	return seat.bust, seat.status == Busted
}

// Modifiers is how many of a modifier lie in front of a seat; 0 for a card that is none.
func (v View) Modifiers(s Seat, m Card) int {
	if !m.Modifier() {
		return 0
	}
	return int(v.state.seats[s].mods[m-Plus2])
}

// SecondChance reports whether a seat holds a Second Chance.
func (v View) SecondChance(s Seat) bool { return v.state.seats[s].second }

// Freezes is how many Freeze cards lie in front of a seat.
func (v View) Freezes(s Seat) int { return int(v.state.seats[s].freezes) }

// Flip3s is how many Flip Three cards lie in front of a seat.
func (v View) Flip3s(s Seat) int { return int(v.state.seats[s].flips) }

// Cards is how many cards lie in front of a seat, of any kind.
func (v View) Cards(s Seat) int { return int(v.state.seats[s].cards) }

// Front yields the cards in front of a seat in the order of Card, the duplicate of a bust at its number.
func (v View) Front(s Seat) iter.Seq[Card] {
	return func(yield func(Card) bool) {
		seat := &v.state.seats[s]
		for c := range Card(Kinds) {
			var n int
			switch {
			case c.Number():
				if seat.row.Has(c) {
					n++
				}
				if seat.status == Busted && seat.bust == c {
					n++
				}
			case c.Modifier():
				n = int(seat.mods[c-Plus2])
			case c == Freeze:
				n = int(seat.freezes)
			case c == Flip3:
				n = int(seat.flips)
			case seat.second:
				n = 1
			}
			for range n {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// Points is what a seat would score if the round ended now (R21), and at the end of a round what it scored.
func (v View) Points(s Seat) int { return v.state.points(s) }

// Total is the points of a seat over the rounds that are over.
func (v View) Total(s Seat) int { return v.state.seats[s].total }

// InDraw is how many cards of a kind the draw pile holds.
func (v View) InDraw(c Card) int { return v.state.draw.Count(c) }

// DrawLeft is how many cards the draw pile holds.
func (v View) DrawLeft() int { return v.state.draw.Left() }

// InDiscard is how many cards of a kind the discard pile holds.
func (v View) InDiscard(c Card) int { return v.state.discard.Count(c) }

// DiscardLeft is how many cards the discard pile holds.
func (v View) DiscardLeft() int { return v.state.discard.Left() }

// Waiting is an assigned card that has not taken effect, and the seat in front of which it lies.
type Waiting struct {
	Card Card
	Seat Seat
}

// Waiting yields the assigned cards in the order in which they will take effect (R18).
func (v View) Waiting() iter.Seq[Waiting] {
	return func(yield func(Waiting) bool) {
		for i := range v.state.queued {
			w := &v.state.queue[(v.state.front+i)%len(v.state.queue)]
			if !yield(Waiting{Card: w.card, Seat: w.seat()}) {
				return
			}
		}
	}
}

// FlipThree is a running Flip Three: who takes the cards, and how many are still to be drawn; false if none runs.
func (v View) FlipThree() (of Seat, left int, running bool) {
	if !v.state.three {
		return 0, 0, false
	}
	return v.state.threeOf, v.state.left, true
}

// Aside yields the cards that the running Flip Three has set aside and that are not assigned yet, in the order drawn
// (R18). The card that a pending request is about is the first that is missing.
func (v View) Aside() iter.Seq[Card] {
	return func(yield func(Card) bool) {
		for _, c := range v.state.aside[v.state.assigned:v.state.asides] {
			if !yield(v.state.draw.Card(c)) {
				return
			}
		}
	}
}
