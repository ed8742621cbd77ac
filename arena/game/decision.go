package game

import (
	"fmt"
	"iter"
	"math/bits"
	"strconv"
)

// Seat is a place at the table, numbered 0..n-1 clockwise.
type Seat int

// Seats is a set of seats.
type Seats uint64

// Has reports whether the seat is in the set.
func (s Seats) Has(seat Seat) bool { return seat >= 0 && seat < 64 && s&(1<<seat) != 0 }

// Len is how many seats are in the set.
func (s Seats) Len() int { return bits.OnesCount64(uint64(s)) }

// All yields the seats in ascending order.
func (s Seats) All() iter.Seq[Seat] {
	return func(yield func(Seat) bool) {
		for ; s != 0; s &= s - 1 {
			if !yield(Seat(bits.TrailingZeros64(uint64(s)))) {
				return
			}
		}
	}
}

// After is the next seat of the set clockwise after a seat, that seat itself last; after -1 it is the lowest. The set
// must not be empty.
func (s Seats) After(seat Seat) Seat {
	from := int(seat) + 1
	return Seat((from + bits.TrailingZeros64(bits.RotateLeft64(uint64(s), -from))) & 63)
}

// Decision is what a seat says to a Request: Hit, Stay, or the seat that gets a card. The zero value is no decision.
type Decision uint8

const (
	Hit  Decision = 1
	Stay Decision = 2
)

// Give is the decision to give the card in question to a seat.
func Give(to Seat) Decision { return Decision(to + 3) }

// Target is the seat that gets the card, and false for Hit and Stay.
func (d Decision) Target() (Seat, bool) { return Seat(d) - 3, d >= 3 }

// String is "hit", "stay" or the number of the seat.
func (d Decision) String() string {
	switch {
	case d == 0:
		return "none"
	case d == Hit:
		return "hit"
	case d == Stay:
		return "stay"
	}
	return strconv.Itoa(int(d) - 3)
}

// ParseDecision reads what String writes.
func ParseDecision(text string) (Decision, error) {
	switch text {
	case "hit":
		return Hit, nil
	case "stay":
		return Stay, nil
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < MaxSeats && strconv.Itoa(n) == text {
		return Give(Seat(n)), nil
	}
	return 0, fmt.Errorf("%q is no decision; decisions are hit, stay or a seat number", text)
}

// Kind is what a Request asks.
type Kind uint8

const (
	Nothing    Kind = iota // no request is pending: the game is over
	Turn                   // hit or stay (R5)
	GiveFreeze             // who is frozen (R12)
	GiveFlip3              // who takes three cards (R12)
	GiveSecond             // who gets the further Second Chance (R11)
)

var kindNames = [...]string{"nothing", "turn", "freeze", "flip3", "second"}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Card is the card that a request is about, and false if it is about none.
func (k Kind) Card() (Card, bool) {
	switch k {
	case GiveFreeze:
		return Freeze, true
	case GiveFlip3:
		return Flip3, true
	case GiveSecond:
		return Second, true
	}
	return 0, false
}

// Request is a choice that a seat has to make: only real choices are asked (R14).
type Request struct {
	Seat    Seat
	Kind    Kind
	Targets Seats // the seats that may get the card; empty for a Turn
}

// Allows reports whether the decision is legal.
func (r Request) Allows(d Decision) bool {
	if r.Kind == Turn {
		return d == Hit || d == Stay
	}
	to, gives := d.Target()
	return gives && r.Targets.Has(to)
}

// Legal yields the legal decisions: hit and stay, or the seats in ascending order.
func (r Request) Legal() iter.Seq[Decision] {
	return func(yield func(Decision) bool) {
		if r.Kind == Turn {
			_ = yield(Hit) && yield(Stay)
			return
		}
		for seat := range r.Targets.All() {
			if !yield(Give(seat)) {
				return
			}
		}
	}
}

// Default is played for a seat that does not decide: stay; a card goes to the seat itself if that is legal, else to the
// next legal seat clockwise.
func (r Request) Default() Decision {
	switch {
	case r.Kind == Nothing:
		return 0
	case r.Kind == Turn:
		return Stay
	case r.Targets.Has(r.Seat):
		return Give(r.Seat)
	}
	return Give(r.Targets.After(r.Seat))
}
