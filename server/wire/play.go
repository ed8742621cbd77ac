package wire

import (
	"fmt"
	"math/bits"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Request is the decision request of one seat in one game with the storage of all its parts, so that filling it again
// allocates next to nothing. While it is being sent it must not be filled or timed.
type Request struct {
	message flip7v1.ArenaMessage
	oneof   flip7v1.ArenaMessage_Request
	request flip7v1.DecisionRequest
	view    flip7v1.View
	three   flip7v1.FlipThree
	waiting []*flip7v1.AssignedCard // as many as there ever were

	left, bank, last durationpb.Duration
}

// NewRequest makes the storage for the requests of a seat in a game.
func NewRequest(info *flip7v1.GameInfo, seat game.Seat) *Request {
	r := new(Request)
	r.message.Message = &r.oneof
	r.oneof.Request = &r.request
	r.request.Game, r.request.Seat, r.request.View = info, uint32(seat), &r.view
	r.request.TimeLeft, r.request.TimeBank = &r.left, &r.bank
	seats := make([]flip7v1.Seat, len(info.Bots))
	for i := range seats {
		seats[i].Row = make([]flip7v1.Card, 0, 8) // R15: seven numbers end the round; a bust has its duplicate besides
		r.view.Seats = append(r.view.Seats, &seats[i])
	}
	r.view.DrawPile = make([]uint32, game.Kinds)
	r.view.DiscardPile = make([]uint32, game.Kinds)
	return r
}

// Fill makes it the request that a question puts, under an id. Banks are what is told of everybody's time bank, by seat.
// The times of the seat itself are set by Time.
func (r *Request) Fill(id string, v game.View, banks []time.Duration) {
	asked := v.Request()
	r.request.RequestId = id
	r.request.Kind = kinds.to(asked.Kind)
	r.request.Legal = legalTurn
	r.request.LegalSeats = r.request.LegalSeats[:0]
	if asked.Kind != game.Turn {
		r.request.Legal = legalGive
		r.request.LegalSeats = appendSeats(r.request.LegalSeats, asked.Targets)
	}
	r.fillView(v, banks)
}

// The lists of legal answers, shared by all requests and never changed.
var (
	legalTurn = []flip7v1.Answer{flip7v1.Answer_ANSWER_HIT, flip7v1.Answer_ANSWER_STAY}
	legalGive = []flip7v1.Answer{flip7v1.Answer_ANSWER_GIVE}
)

// Legal is what a request allows, as DecisionRequest and Verdict say it.
func Legal(r game.Request) (answers []flip7v1.Answer, seats []uint32) {
	if r.Kind == game.Turn {
		return legalTurn, nil
	}
	return legalGive, appendSeats(nil, r.Targets)
}

func appendSeats(to []uint32, seats game.Seats) []uint32 {
	for ; seats != 0; seats &= seats - 1 {
		to = append(to, uint32(bits.TrailingZeros64(uint64(seats))))
	}
	return to
}

func (r *Request) fillView(v game.View, banks []time.Duration) {
	to := &r.view
	next, _ := v.Next()
	to.Round, to.Dealer, to.NextSeat = uint32(v.Round()), uint32(v.Dealer()), uint32(next)
	for i, seat := range to.Seats {
		fillSeat(seat, v, game.Seat(i))
		seat.BankSeconds = 0
		if i < len(banks) {
			seat.BankSeconds = uint32((banks[i] + time.Second - 1) / time.Second)
		}
	}
	to.Waiting = to.Waiting[:0]
	for w := range v.Waiting() {
		n := len(to.Waiting)
		if n == len(r.waiting) {
			r.waiting = append(r.waiting, new(flip7v1.AssignedCard))
		}
		r.waiting[n].Card, r.waiting[n].Seat = Card(w.Card), uint32(w.Seat)
		to.Waiting = append(to.Waiting, r.waiting[n])
	}
	to.FirstPass = v.Dealing()
	to.FlipThree = nil
	if of, left, running := v.FlipThree(); running {
		to.FlipThree = &r.three
		r.three.Seat, r.three.DrawsLeft, r.three.SetAside = uint32(of), uint32(left), r.three.SetAside[:0]
		for c := range v.Aside() {
			r.three.SetAside = append(r.three.SetAside, Card(c))
		}
	}
	for c := range game.Card(game.Kinds) {
		to.DrawPile[c], to.DiscardPile[c] = uint32(v.InDraw(c)), uint32(v.InDiscard(c))
	}
}

func fillSeat(to *flip7v1.Seat, v game.View, s game.Seat) {
	to.Status = statuses.to(v.Status(s))
	to.SecondChance = v.SecondChance(s)
	to.Points, to.Total = uint32(v.Points(s)), uint32(v.Total(s))
	to.ToBeDealt = toBeDealt(v, s)

	to.Row = to.Row[:0]
	duplicate, busted := v.Duplicate(s)
	for row := v.Row(s); row != 0; row &= row - 1 {
		c := game.Card(bits.TrailingZeros16(uint16(row)))
		to.Row = append(to.Row, Card(c))
		if busted && c == duplicate {
			to.Row = append(to.Row, Card(c))
		}
	}
	to.Modifiers = to.Modifiers[:0]
	for m := game.Plus2; m <= game.X2; m++ {
		to.Modifiers = repeat(to.Modifiers, m, v.Modifiers(s, m))
	}
	to.Actions = repeat(to.Actions[:0], game.Freeze, v.Freezes(s))
	to.Actions = repeat(to.Actions, game.Flip3, v.Flip3s(s))
}

func repeat(to []flip7v1.Card, c game.Card, n int) []flip7v1.Card {
	for range n {
		to = append(to, Card(c))
	}
	return to
}

// toBeDealt reports whether a seat will be dealt a card when its turn comes, and not asked (R5).
func toBeDealt(v game.View, s game.Seat) bool {
	switch {
	case v.Status(s) != game.Active:
		return false
	case v.Cards(s) == 0:
		return true
	case v.Rules().Deal != game.DealEveryone || !v.Dealing():
		return false
	}
	// The first pass goes clockwise from the turn to the dealer: seats beyond have had their card.
	n := game.Seat(v.Seats())
	after := func(s game.Seat) game.Seat { return (s - v.Turn() + n - 1) % n }
	return after(s) <= after(v.Dealer())
}

// Time sets the time that is left, the part of it that is bank, and how long the last decision took (negative: none).
func (r *Request) Time(left, bank, last time.Duration) {
	setDuration(&r.left, left)
	setDuration(&r.bank, bank)
	r.request.LastLatency = nil
	if last >= 0 {
		setDuration(&r.last, last)
		r.request.LastLatency = &r.last
	}
}

// Mark sets whether the request was sent before, and whether the bot is absent.
func (r *Request) Mark(resent, absent bool) { r.request.Resent, r.request.Absent = resent, absent }

// Message is the message to send. It is part of r.
func (r *Request) Message() *flip7v1.ArenaMessage { return &r.message }

// RequestSize is what any request of a game has at most when it is sent, in bytes.
func RequestSize(info *flip7v1.GameInfo) int {
	seats, cards := len(info.GetBots()), int(info.GetRules().GetDecks())*game.DeckSize
	return proto.Size(info) + 200 + 40*seats + cards + 8*game.Kinds
}

// Again is the same request once more, with the time that is left now. It shares its lists with r, which may be on its
// way meanwhile, and changes nothing in it.
func (r *Request) Again(left, bank time.Duration) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Request{Request: &flip7v1.DecisionRequest{
		RequestId:   r.request.RequestId,
		Kind:        r.request.Kind,
		Game:        r.request.Game,
		Seat:        r.request.Seat,
		View:        r.request.View,
		Legal:       r.request.Legal,
		LegalSeats:  r.request.LegalSeats,
		TimeLeft:    durationpb.New(left),
		TimeBank:    durationpb.New(bank),
		LastLatency: r.request.LastLatency,
		Resent:      true,
	}}}
}

// Answer is a decision for the wire: what is answered, and the seat if a card is given.
func Answer(d game.Decision) (flip7v1.Answer, *uint32) {
	if to, gives := d.Target(); gives {
		seat := uint32(to)
		return flip7v1.Answer_ANSWER_GIVE, &seat
	}
	switch d {
	case game.Hit:
		return flip7v1.Answer_ANSWER_HIT, nil
	case game.Stay:
		return flip7v1.Answer_ANSWER_STAY, nil
	}
	return flip7v1.Answer_ANSWER_UNSPECIFIED, nil
}

// Decision is what a bot says to a request; 0 asks for the default (ANSWER_PASS).
func Decision(id string, d game.Decision) *flip7v1.Decision {
	if d == 0 {
		return &flip7v1.Decision{RequestId: id, Answer: flip7v1.Answer_ANSWER_PASS}
	}
	answer, seat := Answer(d)
	return &flip7v1.Decision{RequestId: id, Answer: answer, Seat: seat}
}

// DecisionOf is what a bot said, and whether it asked for the default. What makes no sense is 0, which no request
// allows; whether the rest is legal is for the request to say.
func DecisionOf(w *flip7v1.Decision) (d game.Decision, pass bool) {
	switch w.GetAnswer() {
	case flip7v1.Answer_ANSWER_HIT:
		return game.Hit, false
	case flip7v1.Answer_ANSWER_STAY:
		return game.Stay, false
	case flip7v1.Answer_ANSWER_GIVE:
		if w.Seat != nil && w.GetSeat() < game.MaxSeats {
			return game.Give(game.Seat(w.GetSeat())), false
		}
	case flip7v1.Answer_ANSWER_PASS:
		return 0, true
	}
	return 0, false
}

// Position is the game that a request shows, to be played on from with game.At. Some things are not told, since what
// comes depends on them no further than the deal and the limit of R24 do: the draws of each seat in this round (0 here),
// the reshuffles (0) and the cards drawn since (all that are not in the draw pile); and during a Flip Three, whose turn it
// is (a seat just before the next that acts).
func Position(w *flip7v1.DecisionRequest) (game.Position, error) {
	p, err := position(w)
	if err != nil {
		return game.Position{}, fmt.Errorf("decision request: %w", err)
	}
	return p, nil
}

func position(w *flip7v1.DecisionRequest) (game.Position, error) {
	v := w.GetView()
	n := len(v.GetSeats())
	if n < game.MinSeats || n > game.MaxSeats {
		return game.Position{}, fmt.Errorf("view.seats: %d is not %d..%d", n, game.MinSeats, game.MaxSeats)
	}
	rules, err := RulesOf(w.GetGame().GetRules())
	if err != nil {
		return game.Position{}, fmt.Errorf("game.rules.%w", err)
	}
	p := game.Position{Rules: rules.Complete(n), Round: int(v.GetRound()), Dealer: game.Seat(v.GetDealer()), Seven: -1,
		Seats: make([]game.Standing, n)}
	for i, seat := range v.GetSeats() {
		if p.Seats[i], err = standing(seat); err != nil {
			return game.Position{}, fmt.Errorf("view.seats[%d].%w", i, err)
		}
	}
	for i, waiting := range v.GetWaiting() {
		card, err := CardOf(waiting.GetCard())
		if err != nil {
			return game.Position{}, fmt.Errorf("view.waiting[%d].card: %w", i, err)
		}
		p.Waiting = append(p.Waiting, game.Waiting{Card: card, Seat: game.Seat(waiting.GetSeat())})
	}
	if three := v.GetFlipThree(); three != nil {
		p.FlipThree = game.FlipThree{Running: true, Of: game.Seat(three.GetSeat()), Left: int(three.GetDrawsLeft())}
		for i, aside := range three.GetSetAside() {
			card, err := CardOf(aside)
			if err != nil {
				return game.Position{}, fmt.Errorf("view.flip_three.set_aside[%d]: %w", i, err)
			}
			p.Aside = append(p.Aside, card)
		}
	}
	if p.Draw, err = counts(v.GetDrawPile()); err != nil {
		return game.Position{}, fmt.Errorf("view.draw_pile: %w", err)
	}
	if p.Discard, err = counts(v.GetDiscardPile()); err != nil {
		return game.Position{}, fmt.Errorf("view.discard_pile: %w", err)
	}
	p.Since = p.Rules.Decks * game.DeckSize
	for _, count := range p.Draw {
		p.Since -= count
	}
	if p.Request, err = requestOf(w); err != nil {
		return game.Position{}, err
	}
	if v.GetNextSeat() >= uint32(n) {
		return game.Position{}, fmt.Errorf("view.next_seat: %d is not a seat 0..%d", v.GetNextSeat(), n-1)
	}
	p.Turn = turn(p, game.Seat(v.GetNextSeat()))
	p.Dealing = v.GetFirstPass()
	return p, nil
}

// turn is the seat whose turn it is: the one that is asked, but during a Flip Three any seat that plays and has nobody
// active between it and the next.
func turn(p game.Position, next game.Seat) game.Seat {
	if !p.FlipThree.Running {
		return p.Request.Seat
	}
	n := game.Seat(len(p.Seats))
	for at := (next + n - 1) % n; at != next; at = (at + n - 1) % n {
		if p.Seats[at].Status != game.Out {
			return at
		}
	}
	return next
}

func standing(w *flip7v1.Seat) (game.Standing, error) {
	status, err := statuses.from(w.GetStatus())
	if err != nil {
		return game.Standing{}, err
	}
	at := game.Standing{Status: status, Second: w.GetSecondChance(), Total: int(w.GetTotal())}
	for i, row := range w.GetRow() {
		c, err := CardOf(row)
		switch {
		case err != nil:
			return at, fmt.Errorf("row[%d]: %w", i, err)
		case !c.Number():
			return at, fmt.Errorf("row[%d]: %v is no number", i, c)
		case at.Row.Has(c):
			at.Duplicate = c
		}
		at.Row |= 1 << c
	}
	for i, modifier := range w.GetModifiers() {
		c, err := CardOf(modifier)
		switch {
		case err != nil:
			return at, fmt.Errorf("modifiers[%d]: %w", i, err)
		case !c.Modifier():
			return at, fmt.Errorf("modifiers[%d]: %v is no modifier", i, c)
		}
		at.Modifiers[c-game.Plus2]++
	}
	for i, action := range w.GetActions() {
		switch action {
		case flip7v1.Card_CARD_FREEZE:
			at.Freezes++
		case flip7v1.Card_CARD_FLIP_THREE:
			at.Flip3s++
		default:
			return at, fmt.Errorf("actions[%d]: %v is no freeze or flip3", i, action)
		}
	}
	return at, nil
}

func counts(w []uint32) (n [game.Kinds]int, err error) {
	if len(w) != game.Kinds {
		return n, fmt.Errorf("%d entries; there are %d kinds of card", len(w), game.Kinds)
	}
	for i, count := range w {
		n[i] = int(count)
	}
	return n, nil
}

// requestOf is what is asked.
func requestOf(w *flip7v1.DecisionRequest) (game.Request, error) {
	kind, err := kinds.from(w.GetKind())
	if err != nil || kind == game.Nothing {
		return game.Request{}, fmt.Errorf("kind: %v is not one that can be answered", w.GetKind())
	}
	r := game.Request{Seat: game.Seat(w.GetSeat()), Kind: kind}
	for i, seat := range w.GetLegalSeats() {
		if seat >= game.MaxSeats {
			return game.Request{}, fmt.Errorf("legal_seats[%d]: %d is not a seat", i, seat)
		}
		r.Targets |= 1 << seat
	}
	return r, nil
}
