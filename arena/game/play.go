package game

import "fmt"

// run plays on until a choice has to be asked or the game is over: first a running Flip Three, then the cards that wait,
// then the next turn (R6, R18).
func (s *State) run() error {
	for {
		var err error
		switch {
		case s.end != Running:
			s.endRound()
			if s.over {
				return nil
			}
			s.startRound()
		case s.request.Kind != Nothing:
			return nil
		case s.three:
			err = s.runThree()
		case s.queued > 0:
			s.takeEffect()
		case s.active == 0:
			s.end = AllOut // R8
		default:
			if at, asked := s.nextTurn(); asked {
				s.request = Request{Seat: at, Kind: Turn}
			} else {
				err = s.drawFor(at)
			}
		}
		if err != nil {
			return err
		}
	}
}

// startRound makes every playing seat active, with nothing in front of it; the seat left of the dealer begins (R3).
func (s *State) startRound() {
	s.round++
	s.roundDraws = 0
	s.end, s.seven = Running, -1
	s.active, s.visited = s.playing, 0
	s.turn = s.dealer
	for i := range s.n {
		at := &s.seats[i]
		*at = seat{total: at.total}
		if !s.playing.Has(Seat(i)) {
			at.status = Out
		}
	}
	if s.observer != nil {
		s.tell(Event{Kind: RoundStarted, Seat: s.dealer})
	}
}

// nextTurn goes to the next active seat clockwise: it is asked if anything lies in front of it, else dealt a card (R5).
func (s *State) nextTurn() (at Seat, asked bool) {
	at = s.active.After(s.turn)
	firstPass := !s.visited.Has(at)
	s.turn = at
	s.visited |= 1 << at
	return at, s.seats[at].cards > 0 && !(firstPass && s.rules.Deal == DealEveryone)
}

// drawFor turns up a card for a seat and does what the card says.
func (s *State) drawFor(at Seat) error {
	copied, card, err := s.take(at)
	if err != nil || s.end != Running {
		return err
	}
	seat := &s.seats[at]
	if s.observer != nil {
		s.tell(Event{Kind: Drawn, Seat: at, Card: card})
	}
	switch {
	case card.Number() && !seat.row.Has(card): // R9
		seat.row |= 1 << card
		seat.sum += uint16(card)
		seat.cards++
		if seat.row.Len() == 7 { // R15
			s.end, s.seven = Flip7, at
			if s.observer != nil {
				s.tell(Event{Kind: MadeFlip7, Seat: at})
			}
		}
	case card.Number() && seat.second: // R9: both go to the discard pile, the seat stays active
		seat.second = false
		seat.cards--
		s.discard.add(copied)
		s.discard.add(seat.chance)
		if s.observer != nil {
			s.tell(Event{Kind: Saved, Seat: at, Card: card})
		}
	case card.Number(): // R13: the duplicate stays in front of the seat
		seat.bust = card
		seat.cards++
		s.left = 0 // R17: a Flip Three stops
		s.leave(at, Busted)
	case card.Modifier(): // R10
		seat.mods[card-Plus2]++
		seat.plus += uint16(card.plus())
		seat.cards++
	case card == Second:
		s.drawSecond(at, copied)
	case s.three: // R18
		s.aside[s.asides] = copied
		s.asides++
		if s.observer != nil {
			s.tell(Event{Kind: SetAside, Seat: at, Card: card})
		}
	default:
		s.askTarget(at, copied) // R12
	}
	return nil
}

// take removes the card that the deal names from the draw pile, shuffling the discards for a new one if need be (R23).
// If none can be drawn the round ends (R24).
func (s *State) take(at Seat) (Copy, Card, error) {
	if s.roundDraws >= 1000*s.rules.Decks {
		s.end = Exhausted
		return 0, 0, nil
	}
	if s.draw.left == 0 {
		if s.discard.onlyActions() {
			s.end = Exhausted
			return 0, 0, nil
		}
		s.draw = s.discard
		s.discard = Pack{decks: s.draw.decks}
		s.reshuffles++
		s.since = 0
		if s.observer != nil {
			s.tell(Event{Kind: Reshuffled, Seat: at})
		}
	}
	seat := &s.seats[at]
	copied, err := s.deal.Draw(Draw{Pile: &s.draw, Round: s.round, Seat: at, Nth: int(seat.drawn),
		Reshuffles: s.reshuffles, Since: s.since})
	if err != nil || !s.draw.Has(copied) {
		return 0, 0, s.failed(at, copied, err)
	}
	card := s.draw.remove(copied)
	seat.drawn++
	s.since++
	s.roundDraws++
	return copied, card, nil
}

// failed says at which card a deal failed.
func (s *State) failed(at Seat, copied Copy, err error) error {
	if err == nil {
		err = fmt.Errorf("the deal names copy %d, which is not in the draw pile", copied)
	}
	return fmt.Errorf("round %d, card %d of seat %d: %w", s.round, s.seats[at].drawn+1, at, err)
}

// leave takes a seat out of the round.
func (s *State) leave(at Seat, status Status) {
	s.seats[at].status = status
	s.active &^= 1 << at
	if s.observer != nil {
		s.tell(Event{Kind: Left, Seat: at, Card: s.seats[at].bust, Status: status})
	}
}

// drawSecond keeps a Second Chance, or has it passed on to an active seat without one, or discards it (R11).
func (s *State) drawSecond(at Seat, copied Copy) {
	if !s.seats[at].second {
		s.giveSecond(at, at, copied)
		return
	}
	var targets Seats
	for to := range s.active.All() {
		if !s.seats[to].second {
			targets |= 1 << to
		}
	}
	switch targets.Len() {
	case 0:
		s.toDiscard(at, Second, copied)
	case 1: // R14
		s.giveSecond(at, targets.After(at), copied)
	default:
		s.hand = copied
		s.request = Request{Seat: at, Kind: GiveSecond, Targets: targets}
	}
}

func (s *State) giveSecond(from, to Seat, copied Copy) {
	seat := &s.seats[to]
	seat.second, seat.chance = true, copied
	seat.cards++
	if s.observer != nil && from != to {
		s.tell(Event{Kind: Given, Seat: from, Target: to, Card: Second})
	}
}

// askTarget has a seat assign a Freeze or Flip Three to an active seat; a sole target gets it unasked (R12, R14), and
// without an active seat the card is discarded (R19).
func (s *State) askTarget(from Seat, copied Copy) {
	switch card := s.draw.Card(copied); s.active.Len() {
	case 0:
		s.toDiscard(from, card, copied)
	case 1:
		s.assign(from, s.active.After(from), copied)
	default:
		kind := GiveFreeze
		if card == Flip3 {
			kind = GiveFlip3
		}
		s.hand = copied
		s.request = Request{Seat: from, Kind: kind, Targets: s.active}
	}
}

// assign lays a Freeze or Flip Three in front of its target, where it waits for its turn at the end of the queue (R18).
func (s *State) assign(from, to Seat, copied Copy) {
	card, seat := s.draw.Card(copied), &s.seats[to]
	if card == Freeze {
		seat.freezes++
	} else {
		seat.flips++
	}
	seat.cards++
	s.queue[(s.front+s.queued)%len(s.queue)] = waiting{card: card, at: uint8(to), copied: copied}
	s.queued++
	if s.observer != nil {
		s.tell(Event{Kind: Given, Seat: from, Target: to, Card: card})
	}
}

// takeEffect resolves the first waiting card. One whose seat is no longer active is discarded (R18).
func (s *State) takeEffect() {
	w := s.queue[s.front]
	s.front = (s.front + 1) % len(s.queue)
	s.queued--
	seat := &s.seats[w.seat()]
	switch {
	case seat.status != Active:
		if w.card == Freeze {
			seat.freezes--
		} else {
			seat.flips--
		}
		seat.cards--
		s.toDiscard(w.seat(), w.card, w.copied)
	case w.card == Freeze: // R16: the card lies there till the round ends
		s.leave(w.seat(), Frozen)
	default: // R17
		s.three, s.threeOf, s.threeOn, s.left = true, w.seat(), w.copied, 3
		s.asides, s.assigned = 0, 0
		if s.observer != nil {
			s.tell(Event{Kind: Flip3Began, Seat: w.seat()})
		}
	}
}

// runThree draws the next of three cards; after the last, or a bust, the cards set aside are assigned in the order
// drawn (R18, R19) and the Flip Three card is discarded (R20).
func (s *State) runThree() error {
	seat := &s.seats[s.threeOf]
	switch {
	case s.left > 0:
		s.left--
		return s.drawFor(s.threeOf)
	case s.assigned < s.asides:
		copied := s.aside[s.assigned]
		s.assigned++
		if seat.status == Busted && !s.rules.BustedAssigns {
			s.toDiscard(s.threeOf, s.draw.Card(copied), copied)
		} else {
			s.askTarget(s.threeOf, copied)
		}
	default:
		s.three = false
		s.asides, s.assigned, s.left = 0, 0, 0
		seat.flips--
		seat.cards--
		s.toDiscard(s.threeOf, Flip3, s.threeOn)
	}
	return nil
}

func (s *State) toDiscard(at Seat, card Card, copied Copy) {
	s.discard.add(copied)
	if s.observer != nil {
		s.tell(Event{Kind: Discarded, Seat: at, Card: card})
	}
}

// endRound scores (R22), gathers the cards (R23) and finds out whether the game is over (R25, R26, R28).
func (s *State) endRound() {
	for i := range s.n {
		seat := &s.seats[i]
		if seat.status != Out {
			seat.total += s.points(Seat(i))
		}
	}
	if s.observer != nil {
		s.tell(Event{Kind: RoundEnded, Seat: s.seven, End: s.end})
	}
	s.over = s.decided() || s.round >= s.rules.MaxRounds
	if s.over {
		if s.observer != nil {
			s.tell(Event{Kind: GameEnded})
		}
		return
	}
	s.three, s.queued, s.asides, s.assigned, s.left = false, 0, 0, 0, 0
	s.discard.complement(&s.draw)
	s.dealer = s.playing.After(s.dealer)
}

// decided reports whether a complete round has made somebody the winner. If the tied play on, it says who plays the next
// round (R26).
func (s *State) decided() bool {
	best := s.seats[0].total
	var leaders Seats
	for i := range s.n {
		switch total := s.seats[i].total; {
		case total > best:
			best, leaders = total, 1<<i
		case total == best:
			leaders |= 1 << i
		}
	}
	if best < s.rules.TargetScore {
		return false
	}
	if leaders.Len() == 1 || s.rules.TieBreak == Shared {
		return true
	}
	if s.rules.TieBreak == TiedPlay {
		s.playing = leaders
	}
	return false
}

// points is what the seat would score if the round ended now (R21).
func (s *State) points(at Seat) int {
	points := s.seats[at].points()
	if s.seven == at {
		points += 15
	}
	return points
}
