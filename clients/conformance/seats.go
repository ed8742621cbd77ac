package conformance

import (
	"slices"
	"strings"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// What lies on the table is written seat by seat, by the written names of the cards:
//
//	seats="12 5 +4 | second 0 7 | frozen 3 | busted 5 5"
//
// A seat is active if it does not begin with stayed, frozen, busted or out. Points at stake, who is still to be dealt a
// card, and the draw pile are counted from that, so that each view is one that can be; a card that somebody is asked
// about is in none of the lists. Left out, every seat has one number.

// written are the names of the cards, in the order of their values.
var written = strings.Fields("0 1 2 3 4 5 6 7 8 9 10 11 12 +2 +4 +6 +8 +10 x2 freeze flip3 second")

// deck is how many of each card there are in a deck (R1).
var deck = [22]int{1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 1, 1, 1, 1, 1, 3, 3, 3}

// decks is how many decks are played with (R2).
func decks(players int) int { return (players + 17) / 18 }

// card reads a written name.
func (a *args) card(name string) flip7v1.Card {
	i := slices.Index(written, name)
	if i < 0 {
		a.fail("%q is no card: want one of %s", name, strings.Join(written, " "))
	}
	return flip7v1.Card(i + 1)
}

// view reads what lies on the table of a game, when a card, if any, is to be given.
func view(g *seated, asked flip7v1.Card, a *args) *flip7v1.View {
	n := len(g.info.GetBots())
	v := &flip7v1.View{
		Round: uint32(a.number("round", 1)), Dealer: uint32(a.number("dealer", n-1)), NextSeat: uint32(a.number("next", (int(g.me)+1)%n)),
		FirstPass: a.flag("first_pass"),
	}
	var pile [22]int
	for i, copies := range deck {
		pile[i] = copies * decks(n)
	}
	take := func(c flip7v1.Card) {
		if c == 0 {
			return
		}
		if pile[c-1]--; pile[c-1] < 0 {
			a.fail("more cards %s are there than the deck has", written[c-1])
		}
	}
	take(asked)

	seats, given := a.value("seats")
	if !given {
		seats = strings.Join(slices.Repeat([]string{"12", "11", "10", "9", "8", "7"}, 6)[:n], "|")
	}
	rows := strings.Split(seats, "|")
	if len(rows) != n {
		a.fail("seats: %d of them, the game has %d players", len(rows), n)
	}
	for _, row := range rows {
		s := a.seat(row)
		for _, c := range slices.Concat(s.Row, s.Modifiers, s.Actions) {
			take(c)
		}
		if s.GetSecondChance() {
			take(flip7v1.Card_CARD_SECOND_CHANCE)
		}
		v.Seats = append(v.Seats, s)
	}
	if totals, given := a.value("totals"); given {
		words := strings.Fields(totals)
		if len(words) != len(v.Seats) {
			a.fail("totals: %d of them, there are %d seats", len(words), len(v.Seats))
		}
		for i, total := range words[:min(len(words), len(v.Seats))] {
			v.Seats[i].Total = a.uint(total)
		}
	}
	if waiting, given := a.value("waiting"); given {
		for _, word := range strings.Fields(waiting) {
			name, seat, _ := strings.Cut(word, ">")
			v.Waiting = append(v.Waiting, &flip7v1.AssignedCard{Card: a.card(name), Seat: a.uint(seat)})
		}
	}
	if drawing, given := a.value("drawing"); given {
		v.FlipThree = &flip7v1.FlipThree{Seat: a.uint(drawing), DrawsLeft: uint32(a.number("left", 0))}
		aside, _ := a.value("aside")
		for _, name := range strings.Fields(aside) {
			c := a.card(name)
			take(c)
			v.FlipThree.SetAside = append(v.FlipThree.SetAside, c)
		}
	}
	discarded := make([]uint32, len(deck))
	discard, _ := a.value("discard")
	for _, name := range strings.Fields(discard) {
		if c := a.card(name); a.err == nil {
			take(c)
			discarded[c-1]++
		}
	}
	v.DiscardPile = discarded
	for _, copies := range pile {
		v.DrawPile = append(v.DrawPile, uint32(max(copies, 0)))
	}
	return v
}

// seat reads what lies in front of a seat.
func (a *args) seat(row string) *flip7v1.Seat {
	s := &flip7v1.Seat{Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE, BankSeconds: uint32(timeBank.Seconds())}
	words := strings.Fields(row)
	if len(words) > 0 {
		if status, is := flip7v1.SeatStatus_value["SEAT_STATUS_"+strings.ToUpper(words[0])]; is {
			s.Status = flip7v1.SeatStatus(status)
			words = words[1:]
		}
	}
	for _, name := range words {
		switch c := a.card(name); {
		case c == flip7v1.Card_CARD_SECOND_CHANCE:
			s.SecondChance = true
		case c >= flip7v1.Card_CARD_FREEZE:
			s.Actions = append(s.Actions, c)
		case c >= flip7v1.Card_CARD_PLUS_2:
			s.Modifiers = append(s.Modifiers, c)
		default:
			s.Row = append(s.Row, c)
		}
	}
	slices.Sort(s.Row)
	slices.Sort(s.Modifiers)
	slices.Sort(s.Actions)
	active := s.Status == flip7v1.SeatStatus_SEAT_STATUS_ACTIVE
	s.ToBeDealt = active && len(s.Row)+len(s.Modifiers) == 0 && !s.SecondChance
	if s.Status != flip7v1.SeatStatus_SEAT_STATUS_BUSTED && s.Status != flip7v1.SeatStatus_SEAT_STATUS_OUT {
		s.Points = points(s)
	}
	return s
}

// points is what a seat that is not out would score (R21).
func points(s *flip7v1.Seat) uint32 {
	var numbers, plus uint32
	for _, c := range s.GetRow() {
		numbers += uint32(c - flip7v1.Card_CARD_NUMBER_0)
	}
	if slices.Contains(s.GetModifiers(), flip7v1.Card_CARD_X2) {
		numbers *= 2
	}
	for _, c := range s.GetModifiers() {
		if c != flip7v1.Card_CARD_X2 {
			plus += 2 * uint32(c-flip7v1.Card_CARD_PLUS_2+1)
		}
	}
	if len(s.GetRow()) == 7 {
		plus += 15
	}
	return numbers + plus
}

// legal reads the legal decisions. Left out, they are hit and stay, or who may be given the card.
func legal(r *flip7v1.DecisionRequest, a *args) (answers []flip7v1.Answer, seats []uint32) {
	if words, given := a.value("legal"); given {
		for _, word := range strings.Fields(words) {
			one := args{words: []string{word}}
			answers = append(answers, flip7v1.Answer(one.enum("ANSWER_", flip7v1.Answer_value)))
			if one.err != nil {
				a.fail("legal: %w", one.err)
			}
		}
	} else if r.GetKind() == flip7v1.RequestKind_REQUEST_KIND_TURN {
		answers = []flip7v1.Answer{flip7v1.Answer_ANSWER_HIT, flip7v1.Answer_ANSWER_STAY}
	} else {
		answers = []flip7v1.Answer{flip7v1.Answer_ANSWER_GIVE}
	}
	if slices.Contains(answers, flip7v1.Answer_ANSWER_GIVE) {
		for i, s := range r.GetView().GetSeats() {
			spare := r.GetKind() == flip7v1.RequestKind_REQUEST_KIND_SECOND_CHANCE && s.GetSecondChance()
			if s.GetStatus() == flip7v1.SeatStatus_SEAT_STATUS_ACTIVE && !spare {
				seats = append(seats, uint32(i))
			}
		}
	}
	return answers, seats
}

// isLegal reports whether a decision is one of the legal ones that are not a pass.
func isLegal(r *flip7v1.DecisionRequest, d *flip7v1.Decision) bool {
	if !slices.Contains(r.GetLegal(), d.GetAnswer()) {
		return false
	}
	return d.GetAnswer() != flip7v1.Answer_ANSWER_GIVE || d.Seat != nil && slices.Contains(r.GetLegalSeats(), d.GetSeat())
}
