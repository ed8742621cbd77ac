package deal_test

import "math/rand/v2"

// bare is the ceiling that the engine is measured against: the default rules for four seats of stay-25, written out by
// hand in one loop, with no state to look at, no options, no requests, no record and no deal but its own shuffle.
type bare struct {
	pcg     *rand.PCG
	draw    [94]uint8
	discard [94]uint8
	front   [94]uint8 // what lies before all seats together and in nobody's pile
	left    int
	thrown  int
	laid    int

	seats  [4]bareSeat
	active int

	queue      [12]bareCard
	head, tail int

	three  bool // a Flip Three is running
	aside  [3]uint8
	asides int

	rounds, cards, turns, targets int
}

type bareSeat struct {
	row                uint16
	sum, plus, total   int
	numbers, lying     int
	second, in, double bool
	busted             bool
}

type bareCard struct {
	kind uint8
	seat int
}

const (
	bareX2 = 18 + iota
	bareFreeze
	bareFlip3
	bareSecond
)

func (s *bareSeat) points() int {
	if s.busted {
		return 0
	}
	if s.double {
		return 2*s.sum + s.plus
	}
	return s.sum + s.plus
}

// play plays a game from a fresh deck; seat 0 acts first.
func (b *bare) play() {
	b.left, b.thrown = 0, 0
	for kind := range uint8(22) {
		copies := int(kind)
		switch {
		case kind == 0 || kind >= 13 && kind <= bareX2:
			copies = 1
		case kind > bareX2:
			copies = 3
		}
		for range copies {
			b.draw[b.left] = kind
			b.left++
		}
	}
	b.seats = [4]bareSeat{}
	for dealer := 3; !b.over(); dealer = (dealer + 1) % 4 {
		b.round(dealer)
	}
}

func (b *bare) over() bool {
	best, leaders := 0, 0
	for i := range b.seats {
		switch t := b.seats[i].total; {
		case t > best:
			best, leaders = t, 1
		case t == best:
			leaders++
		}
	}
	return best >= 200 && leaders == 1
}

func (b *bare) round(dealer int) {
	b.rounds++
	for i := range b.seats {
		b.seats[i] = bareSeat{total: b.seats[i].total, in: true}
	}
	b.active, b.laid, b.head, b.tail, b.three = 4, 0, 0, 0, false
	seven := -1
	for turn := (dealer + 1) % 4; b.active > 0; turn = (turn + 1) % 4 {
		s := &b.seats[turn]
		if !s.in {
			continue
		}
		if s.lying > 0 {
			b.turns++
			if s.points() >= 25 {
				s.in = false
				b.active--
				continue
			}
		}
		if b.turnUp(turn) || b.resolve() {
			for i := range b.seats {
				if b.seats[i].numbers == 7 {
					seven = i
				}
			}
			break
		}
	}
	for i := range b.seats {
		b.seats[i].total += b.seats[i].points()
		if i == seven {
			b.seats[i].total += 15
		}
	}
	copy(b.discard[b.thrown:], b.front[:b.laid])
	b.thrown += b.laid
}

// resolve lets the waiting cards take effect, and reports whether the round is over.
func (b *bare) resolve() bool {
	for b.head != b.tail {
		card := b.queue[b.head%12]
		b.head++
		s := &b.seats[card.seat]
		switch {
		case !s.in:
			b.throw(s, card.kind)
		case card.kind == bareFreeze:
			s.in = false
			b.active--
		default:
			b.three, b.asides = true, 0
			for left := 3; left > 0 && s.in; left-- {
				if b.turnUp(card.seat) {
					return true
				}
			}
			b.three = false
			for _, kind := range b.aside[:b.asides] {
				b.assign(card.seat, kind)
			}
			b.throw(s, bareFlip3)
		}
	}
	return false
}

// turnUp draws a card for a seat; it reports whether the round is over.
func (b *bare) turnUp(seat int) bool {
	if b.left == 0 {
		b.draw, b.left, b.thrown = b.discard, b.thrown, 0
	}
	b.cards++
	at := int(b.pcg.Uint64() >> 32 * uint64(b.left) >> 32)
	b.left--
	kind := b.draw[at]
	b.draw[at] = b.draw[b.left]
	b.front[b.laid] = kind
	b.laid++
	s := &b.seats[seat]
	s.lying++
	switch {
	case kind <= 12 && s.row&(1<<kind) == 0:
		s.row |= 1 << kind
		s.sum += int(kind)
		s.numbers++
		return s.numbers == 7
	case kind <= 12 && s.second:
		s.second = false
		b.throw(s, kind)
		b.throw(s, bareSecond)
	case kind <= 12:
		s.busted, s.in = true, false
		b.active--
	case kind < bareX2:
		s.plus += 2 * int(kind-12)
	case kind == bareX2:
		s.double = true
	case kind == bareSecond && !s.second:
		s.second = true
	case kind == bareSecond:
		b.pass(seat)
	case b.three:
		s.lying--
		b.aside[b.asides] = kind
		b.asides++
	default:
		s.lying--
		b.assign(seat, kind)
	}
	return false
}

// throw puts a card that lies before a seat on the discard pile.
func (b *bare) throw(s *bareSeat, kind uint8) {
	s.lying--
	b.unlay(kind)
}

func (b *bare) unlay(kind uint8) {
	for i := b.laid - 1; ; i-- {
		if b.front[i] == kind {
			b.laid--
			b.front[i] = b.front[b.laid]
			break
		}
	}
	b.discard[b.thrown] = kind
	b.thrown++
}

// assign gives a Freeze or Flip Three to the other active seat with most total + points.
func (b *bare) assign(from int, kind uint8) {
	best, most, others := from, -1, 0
	for i := range b.seats {
		if i != from && b.seats[i].in {
			others++
			if p := b.seats[i].total + b.seats[i].points(); p > most {
				best, most = i, p
			}
		}
	}
	if others > 1 || others == 1 && b.seats[from].in {
		b.targets++
	}
	if others == 0 && !b.seats[from].in {
		b.unlay(kind)
		return
	}
	b.seats[best].lying++
	b.queue[b.tail%12] = bareCard{kind, best}
	b.tail++
}

// pass gives a further Second Chance to the active seat without one with least total + points.
func (b *bare) pass(from int) {
	b.seats[from].lying--
	best, least, without := -1, 1<<30, 0
	for i := range b.seats {
		if s := &b.seats[i]; s.in && !s.second {
			without++
			if p := s.total; p < least {
				best, least = i, p
			}
		}
	}
	if without == 0 {
		b.unlay(bareSecond)
		return
	}
	if without > 1 {
		b.targets++
	}
	b.seats[best].second = true
	b.seats[best].lying++
}
