package game

import (
	"fmt"
	"slices"
)

// Position is a game in progress as plain data: everything on the table, which is everything that is public. It can be
// sent over a wire and played on from at the other end, on cards of its own (At).
type Position struct {
	Rules   Rules // complete
	Round   int   // from 1
	Dealer  Seat
	Turn    Seat       // whose deal or hit is being resolved or who is asked to hit or stay; play goes on left of it (R7)
	Dealing bool       // the next active seat after Turn has not been reached by the first pass (R5)
	Seats   []Standing // by seat, 3..36 of them

	Draw, Discard [Kinds]int // how many cards of each kind the piles hold
	Reshuffles    int        // of the game so far
	Since         int        // cards drawn since the last reshuffle, or since the beginning

	Waiting   []Waiting // assigned cards in the order in which they will take effect (R18); nil if none wait
	FlipThree FlipThree
	Aside     []Card // set aside by the running Flip Three and not assigned yet, without the card of Request; nil if none

	Request Request // Nothing if the game is over
	End     End     // how the last round ended; Running until the game is over
	Seven   Seat    // who made the Flip 7 that ended the last round, or -1
}

// Standing is one seat of a Position.
type Standing struct {
	Status    Status
	Row       Row
	Duplicate Card   // on which a busted seat went bust (R13); 0 for the others
	Modifiers [6]int // how many of +2 +4 +6 +8 +10 x2 lie in front of the seat
	Second    bool   // holds a Second Chance
	Freezes   int    // lying in front of the seat, waiting ones too (R16)
	Flip3s    int    // lying in front of the seat, waiting ones too (R20)
	Drawn     int    // cards drawn in this round
	Total     int    // points of the rounds that are over
}

// FlipThree is the Flip Three that is being carried out, if one is; others wait.
type FlipThree struct {
	Running bool
	Of      Seat // who takes the cards
	Left    int  // how many are still to be drawn; 0 while the cards set aside are assigned
}

// Position is the game as plain data. Between the decisions it is complete; while an Observer is told of an Event, the
// card in question may be on its way.
func (s *State) Position() Position {
	v := s.View(0)
	p := Position{
		Rules: s.rules, Round: s.round, Dealer: s.dealer, Turn: s.turn, Dealing: v.Dealing(), Seats: make([]Standing, s.n),
		Reshuffles: s.reshuffles, Since: s.since,
		Waiting: slices.Collect(v.Waiting()), Aside: slices.Collect(v.Aside()),
		Request: s.request, End: s.end, Seven: s.seven,
	}
	for i := range p.Seats {
		at := &s.seats[i]
		p.Seats[i] = Standing{Status: at.status, Row: at.row, Duplicate: at.bust, Second: at.second,
			Freezes: int(at.freezes), Flip3s: int(at.flips), Drawn: int(at.drawn), Total: at.total}
		for m, n := range at.mods {
			p.Seats[i].Modifiers[m] = int(n)
		}
	}
	for c := range Card(Kinds) {
		p.Draw[c], p.Discard[c] = s.draw.Count(c), s.discard.Count(c)
	}
	if s.three {
		p.FlipThree = FlipThree{Running: true, Of: s.threeOf, Left: s.left}
	}
	return p
}

// Position is the game as plain data.
func (v View) Position() Position { return v.state.Position() }

// At is the game that stands at a position and is played on with cards from a deal. Which copies of a kind lie where is
// not public, so the lowest lie in the draw pile, the next in the discard pile and the highest on the table. A position
// that no game could have is refused; the error names the field.
func At(p Position, deal Deal, observer Observer) (State, error) {
	if deal == nil {
		return State{}, errDeal
	}
	if err := p.check(); err != nil {
		return State{}, err
	}
	n := len(p.Seats)
	s := State{rules: p.Rules, deal: deal, observer: observer, n: n, round: p.Round, dealer: p.Dealer, turn: p.Turn,
		reshuffles: p.Reshuffles, since: p.Since, request: p.Request, end: p.End, seven: p.Seven,
		over: p.Request.Kind == Nothing}
	s.draw.decks, s.discard.decks = uint16(p.Rules.Decks), uint16(p.Rules.Decks)

	next := firstCopies(p.Rules.Decks)
	take := func(c Card) Copy {
		next[c]++
		return next[c] - 1
	}
	for c := range Card(Kinds) {
		for range p.Draw[c] {
			s.draw.add(take(c))
		}
		for range p.Discard[c] {
			s.discard.add(take(c))
		}
	}
	for i, at := range p.Seats {
		s.seats[i] = at.seat()
		s.roundDraws += at.Drawn
		if at.Second {
			s.seats[i].chance = take(Second)
		}
		if at.Status != Out {
			s.playing |= 1 << i
		}
		if at.Status == Active {
			s.active |= 1 << i
		}
	}
	s.visited = s.playing
	if p.Dealing { // the first pass has reached the seats from the left of the dealer to the turn
		s.visited = 0
		for at := s.playing.After(p.Dealer); ; at = s.playing.After(at) {
			s.visited |= 1 << at
			if at == p.Turn {
				break
			}
		}
	}
	for _, w := range p.Waiting {
		s.queue[s.queued] = waiting{card: w.Card, at: uint8(w.Seat), copied: take(w.Card)}
		s.queued++
	}
	if f := p.FlipThree; f.Running {
		s.three, s.threeOf, s.threeOn, s.left = true, f.Of, take(Flip3), f.Left
	}
	for _, c := range p.Aside {
		s.aside[s.asides] = take(c)
		s.asides++
	}
	if c, gives := p.Request.Kind.Card(); gives {
		s.hand = take(c)
	}
	if v := s.View(0); v.Dealing() != p.Dealing {
		return State{}, fmt.Errorf("dealing: %t, but it is the turn of seat %d and seat %d deals", p.Dealing, p.Turn, p.Dealer)
	}
	if s.over && !s.decided() && s.round < s.rules.MaxRounds {
		return State{}, fmt.Errorf("request: nothing is asked, but after round %d the game is not over", p.Round)
	}
	return s, nil
}

// seat is what the standing says, with the sums that follow from it; the copy of a Second Chance is left open.
func (at Standing) seat() seat {
	out := seat{row: at.Row, freezes: uint8(at.Freezes), flips: uint8(at.Flip3s), bust: at.Duplicate, status: at.Status,
		second: at.Second, drawn: uint16(at.Drawn), total: at.Total}
	for c := range at.Row.All() {
		out.sum += uint16(c)
	}
	for m, n := range at.Modifiers {
		out.mods[m] = uint8(n)
		out.plus += uint16(n * (Plus2 + Card(m)).plus())
	}
	out.cards = uint8(at.cards())
	return out
}

// cards is how many cards lie in front of the seat.
func (at Standing) cards() int {
	n := at.Row.Len() + at.Freezes + at.Flip3s
	for _, m := range at.Modifiers {
		n += m
	}
	if at.Second {
		n++
	}
	if at.Status == Busted {
		n++
	}
	return n
}

// check refuses what no game could come to, part by part.
func (p Position) check() error {
	for _, part := range []func() error{p.checkTable, p.checkSeats, p.checkCards, p.checkWaiting, p.checkFlipThree, p.checkRequest} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

func (p Position) checkTable() error {
	n := len(p.Seats)
	if n < MinSeats || n > MaxSeats {
		return fmt.Errorf("seats: %d is not %d..%d", n, MinSeats, MaxSeats)
	}
	if err := p.Rules.Check(); err != nil {
		return fmt.Errorf("rules.%w", err)
	}
	for _, at := range []struct {
		field string
		seat  Seat
	}{{"dealer", p.Dealer}, {"turn", p.Turn}} {
		if err := p.checkSeat(at.field, at.seat); err != nil {
			return err
		}
		if p.Seats[at.seat].Status == Out {
			return fmt.Errorf("%s: seat %d sits this round out", at.field, at.seat)
		}
	}
	switch {
	case p.Round < 1 || p.Round > p.Rules.MaxRounds:
		return fmt.Errorf("round: %d is not 1..%d", p.Round, p.Rules.MaxRounds)
	case p.Reshuffles < 0:
		return fmt.Errorf("reshuffles: %d is less than 0", p.Reshuffles)
	case int(p.End) >= len(endNames) || (p.End == Running) != (p.Request.Kind != Nothing):
		return fmt.Errorf("end: %v while the request is %v", p.End, p.Request.Kind)
	case p.End == Flip7:
		return p.checkSeat("seven", p.Seven)
	case p.Seven != -1:
		return fmt.Errorf("seven: %d, but the end is %v", p.Seven, p.End)
	}
	return nil
}

// checkSeat refuses a seat that the table does not have.
func (p Position) checkSeat(field string, at Seat) error {
	if at < 0 || int(at) >= len(p.Seats) {
		return fmt.Errorf("%s: %d is not a seat 0..%d", field, at, len(p.Seats)-1)
	}
	return nil
}

func (p Position) checkSeats() error {
	drawn := 0
	for i, at := range p.Seats {
		wrong := func(field, format string, args ...any) error {
			return fmt.Errorf("seats[%d].%s: %s", i, field, fmt.Sprintf(format, args...))
		}
		numbers := 6
		if p.Seven == Seat(i) {
			numbers = 7
		}
		switch {
		case int(at.Status) >= len(statusNames):
			return wrong("status", "%v is unknown", at.Status)
		case at.Row >= 1<<13:
			return wrong("row", "%#x has numbers above 12", uint16(at.Row))
		case at.Row.Len() > numbers || numbers == 7 && at.Row.Len() < 7:
			return wrong("row", "it has %d numbers", at.Row.Len())
		case at.Status == Busted && !(at.Duplicate.Number() && at.Row.Has(at.Duplicate)):
			return wrong("duplicate", "%v is not in the row of the busted seat", at.Duplicate)
		case at.Status == Busted && at.Second:
			return wrong("second", "a busted seat holds a Second Chance") // R9: it would not have busted
		case at.Status != Busted && at.Duplicate != 0:
			return wrong("duplicate", "%v, but the seat is %v", at.Duplicate, at.Status)
		case at.Drawn < 0 || at.Drawn > 1000*p.Rules.Decks:
			return wrong("drawn", "%d is not 0..%d", at.Drawn, 1000*p.Rules.Decks) // R24
		case at.Total < 0:
			return wrong("total", "%d is less than 0", at.Total)
		case at.Freezes < 0 || at.Freezes > 3*p.Rules.Decks:
			return wrong("freezes", "%d is not 0..%d", at.Freezes, 3*p.Rules.Decks)
		case at.Flip3s < 0 || at.Flip3s > 3*p.Rules.Decks:
			return wrong("flip3s", "%d is not 0..%d", at.Flip3s, 3*p.Rules.Decks)
		}
		for m, n := range at.Modifiers {
			if n < 0 || n > p.Rules.Decks {
				return wrong("modifiers", "%d of %v is not 0..%d", n, Plus2+Card(m), p.Rules.Decks)
			}
		}
		switch cards := at.cards(); {
		case at.Status == Out && (cards > 0 || at.Drawn > 0):
			return wrong("status", "out, with %d cards and %d drawn", cards, at.Drawn)
		case (at.Status == Stayed || at.Status == Frozen) && cards == 0:
			return wrong("status", "%v, with nothing in front of it", at.Status) // R5, R16
		}
		drawn += at.Drawn
	}
	if drawn > 1000*p.Rules.Decks {
		return fmt.Errorf("seats: %d cards drawn in this round, and the most are %d", drawn, 1000*p.Rules.Decks) // R24
	}
	return nil
}

// checkCards: every card of the decks is in exactly one place.
func (p Position) checkCards() error {
	var table [Kinds]int // all but the piles
	for _, at := range p.Seats {
		for c := range at.Row.All() {
			table[c]++
		}
		if at.Status == Busted {
			table[at.Duplicate]++
		}
		for m, n := range at.Modifiers {
			table[int(Plus2)+m] += n
		}
		table[Freeze] += at.Freezes
		table[Flip3] += at.Flip3s
		if at.Second {
			table[Second]++
		}
	}
	for i, c := range p.Aside {
		if c != Freeze && c != Flip3 {
			return fmt.Errorf("aside[%d]: %v is no freeze or flip3", i, c) // R18
		}
		table[c]++
	}
	if c, gives := p.Request.Kind.Card(); gives {
		table[c]++
	}
	left, size := 0, p.Rules.Decks*DeckSize
	for c := range Card(Kinds) {
		draw, discard := p.Draw[c], p.Discard[c]
		if draw < 0 || discard < 0 || draw+discard+table[c] != p.Rules.Decks*c.PerDeck() {
			return fmt.Errorf("draw, discard: %d + %d of %v with %d elsewhere; the %d deck(s) have %d", draw, discard, c, table[c],
				p.Rules.Decks, p.Rules.Decks*c.PerDeck())
		}
		left += draw
	}
	if p.Since < 0 || p.Since > size-left || p.Reshuffles == 0 && p.Since != size-left {
		return fmt.Errorf("since: %d, with %d of %d cards in the draw pile after %d reshuffles", p.Since, left, size, p.Reshuffles)
	}
	return nil
}

// checkWaiting: the Freeze and Flip Three cards in front of a seat are those that wait, the one that froze it and the one
// that it is carrying out (R16, R20).
func (p Position) checkWaiting() error {
	freezes, flips := make([]int, len(p.Seats)), make([]int, len(p.Seats))
	for i, w := range p.Waiting {
		if err := p.checkSeat(fmt.Sprintf("waiting[%d].seat", i), w.Seat); err != nil {
			return err
		}
		switch w.Card {
		case Freeze:
			freezes[w.Seat]++
		case Flip3:
			flips[w.Seat]++
		default:
			return fmt.Errorf("waiting[%d].card: %v is no freeze or flip3", i, w.Card)
		}
	}
	for i, at := range p.Seats {
		if at.Status == Frozen {
			freezes[i]++
		}
		if p.FlipThree.Running && p.FlipThree.Of == Seat(i) {
			flips[i]++
		}
		if at.Freezes != freezes[i] {
			return fmt.Errorf("seats[%d].freezes: %d, but %d wait or have taken effect", i, at.Freezes, freezes[i])
		}
		if at.Flip3s != flips[i] {
			return fmt.Errorf("seats[%d].flip3s: %d, but %d wait or are carried out", i, at.Flip3s, flips[i])
		}
	}
	return nil
}

func (p Position) checkFlipThree() error {
	f := p.FlipThree
	if !f.Running {
		switch {
		case f != FlipThree{}:
			return fmt.Errorf("flip_three: seat %d with %d left, but none is running", f.Of, f.Left)
		case len(p.Aside) > 0:
			return fmt.Errorf("aside: %d cards, but no Flip Three is running", len(p.Aside))
		}
		return nil
	}
	if err := p.checkSeat("flip_three.of", f.Of); err != nil {
		return err
	}
	set := len(p.Aside)
	if p.Request.Kind == GiveFreeze || p.Request.Kind == GiveFlip3 {
		set++
	}
	switch status := p.Seats[f.Of].Status; {
	case status != Active && status != Busted:
		return fmt.Errorf("flip_three.of: seat %d is %v", f.Of, status)
	case f.Left < 0 || f.Left > 2 || status == Busted && f.Left > 0:
		return fmt.Errorf("flip_three.left: %d for a seat that is %v", f.Left, status)
	case set+f.Left > 3:
		return fmt.Errorf("aside: %d cards set aside with %d of three to be drawn", set, f.Left)
	}
	return nil
}

// checkRequest: the request is the one that the rest of the position leads to.
func (p Position) checkRequest() error {
	r := p.Request
	if r.Kind == Nothing {
		return p.checkOver()
	}
	if int(r.Kind) >= len(kindNames) {
		return fmt.Errorf("request.kind: %v is unknown", r.Kind)
	}
	if err := p.checkSeat("request.seat", r.Seat); err != nil {
		return err
	}
	var active, without Seats // without a Second Chance
	for i, at := range p.Seats {
		if at.Status == Active {
			active |= 1 << i
			if !at.Second {
				without |= 1 << i
			}
		}
	}
	asked, f := p.Seats[r.Seat], p.FlipThree
	mayGive := asked.Status == Active
	var targets Seats
	switch r.Kind {
	case GiveFreeze, GiveFlip3:
		targets = active
		mayGive = mayGive || asked.Status == Busted && f.Running && p.Rules.BustedAssigns // R19
	case GiveSecond:
		targets = without
		mayGive = mayGive && asked.Second // R11: only a further one is given
	}
	switch {
	case !mayGive:
		return fmt.Errorf("request.seat: seat %d is %v and cannot be asked %v", r.Seat, asked.Status, r.Kind)
	case r.Targets != targets || r.Kind != Turn && targets.Len() < 2: // R14
		return fmt.Errorf("request.targets: %#x, but the seats that may get the card are %#x", r.Targets, targets)
	case f.Running && (r.Kind == Turn || r.Seat != f.Of):
		return fmt.Errorf("request: %v of seat %d during the Flip Three of seat %d", r.Kind, r.Seat, f.Of)
	case f.Running && r.Kind != GiveSecond && f.Left > 0: // R18
		return fmt.Errorf("request: %v of seat %d with %d of its three to be drawn", r.Kind, r.Seat, f.Left)
	case !f.Running && r.Seat != p.Turn:
		return fmt.Errorf("request.seat: %d, but it is the turn of seat %d", r.Seat, p.Turn)
	case !f.Running && len(p.Waiting) > 0: // R6
		return fmt.Errorf("waiting: %d cards, but the request is %v of a turn", len(p.Waiting), r.Kind)
	case r.Kind == Turn && asked.cards() == 0: // R5
		return fmt.Errorf("request: seat %d is asked with nothing in front of it", r.Seat)
	}
	return nil
}

// checkOver: nobody is asked because the last round has ended.
func (p Position) checkOver() error {
	if p.Request != (Request{}) {
		return fmt.Errorf("request: nothing is asked of seat %d", p.Request.Seat)
	}
	if p.End == AllOut {
		for i, at := range p.Seats {
			if at.Status == Active {
				return fmt.Errorf("end: all_out, but seat %d is active", i)
			}
		}
		if len(p.Waiting) > 0 || p.FlipThree.Running {
			return fmt.Errorf("end: all_out, but %d cards wait (a Flip Three running: %t)", len(p.Waiting), p.FlipThree.Running)
		}
	}
	return nil
}
