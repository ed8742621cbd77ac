package wire

import (
	"fmt"

	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// eventKinds has what the kinds of event are on the wire.
var eventKinds = enum[game.EventKind, flip7v1.EventKind]{"kind", []flip7v1.EventKind{
	0:                 flip7v1.EventKind_EVENT_KIND_UNSPECIFIED,
	game.RoundStarted: flip7v1.EventKind_EVENT_KIND_ROUND_STARTED,
	game.Decided:      flip7v1.EventKind_EVENT_KIND_DECIDED,
	game.Drawn:        flip7v1.EventKind_EVENT_KIND_DRAWN,
	game.Left:         flip7v1.EventKind_EVENT_KIND_LEFT,
	game.Saved:        flip7v1.EventKind_EVENT_KIND_SAVED,
	game.Given:        flip7v1.EventKind_EVENT_KIND_GIVEN,
	game.SetAside:     flip7v1.EventKind_EVENT_KIND_SET_ASIDE,
	game.Discarded:    flip7v1.EventKind_EVENT_KIND_DISCARDED,
	game.Flip3Began:   flip7v1.EventKind_EVENT_KIND_FLIP_THREE_BEGAN,
	game.MadeFlip7:    flip7v1.EventKind_EVENT_KIND_MADE_FLIP_7,
	game.Reshuffled:   flip7v1.EventKind_EVENT_KIND_RESHUFFLED,
	game.RoundEnded:   flip7v1.EventKind_EVENT_KIND_ROUND_ENDED,
	game.GameEnded:    flip7v1.EventKind_EVENT_KIND_GAME_ENDED,
}}

// Event is something that happened in a game, for the wire, with the state in which an Observer is told of it. Number
// counts the events of the attempt from 1.
func Event(id string, attempt, number int, s *game.State, e game.Event) *flip7v1.GameEvent {
	v := s.View(0)
	w := &flip7v1.GameEvent{GameId: id, Attempt: uint32(attempt), Number: uint32(number), Kind: eventKinds.to(e.Kind),
		Round: uint32(v.Round()), Seat: uint32(max(e.Seat, 0))}
	switch e.Kind {
	case game.Decided:
		w.Request = kinds.to(e.Asked)
		answer, seat := Answer(e.Decision)
		if w.Answer = answer; seat != nil {
			w.Target = *seat
		}
	case game.Drawn, game.Saved, game.SetAside, game.Discarded:
		w.Card = Card(e.Card)
	case game.Left:
		w.Status, w.Points = statuses.to(e.Status), uint32(v.Points(e.Seat))
		if e.Status == game.Busted {
			w.Card = Card(e.Card)
		}
	case game.Given:
		w.Card, w.Target = Card(e.Card), uint32(e.Target)
	case game.MadeFlip7:
		w.Points = uint32(v.Points(e.Seat))
	case game.RoundEnded:
		w.End = ends.to(e.End)
		for i := range game.Seat(v.Seats()) {
			w.Scores = append(w.Scores, uint32(v.Points(i)))
			w.Totals = append(w.Totals, uint32(v.Total(i)))
		}
	case game.GameEnded:
		result := s.Result()
		w.Totals, w.Places = Numbers(result.Totals), Numbers(result.Places)
	}
	return w
}

// EventOf is what happened, from the wire.
func EventOf(w *flip7v1.GameEvent) (game.Event, error) {
	e, err := eventOf(w)
	if err != nil {
		return game.Event{}, fmt.Errorf("event %d of %s: %w", w.GetNumber(), w.GetGameId(), err)
	}
	return e, nil
}

func eventOf(w *flip7v1.GameEvent) (e game.Event, err error) {
	if e.Kind, err = eventKinds.from(w.GetKind()); err != nil || e.Kind == 0 {
		return e, fmt.Errorf("kind: %v is not one that is known", w.GetKind())
	}
	e.Seat, e.Target = game.Seat(w.GetSeat()), game.Seat(w.GetTarget())
	if e.Seat >= game.MaxSeats || e.Target >= game.MaxSeats {
		return e, fmt.Errorf("seat, target: %d, %d are not both 0..%d", e.Seat, e.Target, game.MaxSeats-1)
	}
	switch e.Kind {
	case game.Decided:
		if e.Asked, err = kinds.from(w.GetRequest()); err != nil {
			return e, err
		}
		said := flip7v1.Decision{Answer: w.GetAnswer(), Seat: &w.Target}
		if e.Decision, _ = DecisionOf(&said); e.Decision == 0 {
			return e, fmt.Errorf("answer: %v is no decision", w.GetAnswer())
		}
		e.Target = 0
	case game.Left:
		if e.Status, err = statuses.from(w.GetStatus()); err != nil || e.Status != game.Busted {
			return e, err
		}
		e.Card, err = CardOf(w.GetCard())
	case game.Drawn, game.Saved, game.SetAside, game.Discarded, game.Given:
		e.Card, err = CardOf(w.GetCard())
	case game.RoundEnded:
		if e.End, err = ends.from(w.GetEnd()); e.End != game.Flip7 {
			e.Seat = -1
		}
	}
	return e, err
}

// Numbers are counts, points or places for the wire.
func Numbers(n []int) []uint32 {
	w := make([]uint32, len(n))
	for i, value := range n {
		w[i] = uint32(value)
	}
	return w
}
