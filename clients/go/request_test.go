package flip7_test

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// turn is a request to hit or stay in a four-seat game.
func turn(game, id string) *flip7v1.DecisionRequest {
	seat := func(total uint32, row ...flip7v1.Card) *flip7v1.Seat {
		return &flip7v1.Seat{Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE, Row: row, Total: total, BankSeconds: 10}
	}
	return &flip7v1.DecisionRequest{
		RequestId: id,
		Kind:      flip7v1.RequestKind_REQUEST_KIND_TURN,
		Game: &flip7v1.GameInfo{
			GameId: game, Attempt: 1,
			Rules:           &flip7v1.Rules{Version: "flip7/1", TargetScore: 200, MaxRounds: 100, Decks: 1},
			Bots:            []string{"ann", "bob", "cyd", "dot"},
			DecisionTimeout: durationpb.New(time.Second),
			TimeBank:        durationpb.New(10 * time.Second),
		},
		Seat: 2,
		View: &flip7v1.View{
			Round: 3, Dealer: 1, NextSeat: 3,
			Seats: []*flip7v1.Seat{
				seat(0, flip7v1.Card_CARD_NUMBER_3), seat(20, flip7v1.Card_CARD_NUMBER_12),
				seat(40, flip7v1.Card_CARD_NUMBER_7, flip7v1.Card_CARD_NUMBER_9), seat(0),
			},
			DrawPile:    []uint32{1, 1, 2, 2, 4, 5, 6, 6, 8, 8, 10, 11, 11, 1, 1, 1, 1, 1, 1, 3, 3, 3},
			DiscardPile: make([]uint32, 22),
		},
		Legal:    []flip7v1.Answer{flip7v1.Answer_ANSWER_HIT, flip7v1.Answer_ANSWER_STAY},
		TimeLeft: durationpb.New(11 * time.Second),
		TimeBank: durationpb.New(10 * time.Second),
	}
}

func requestMessage(r *flip7v1.DecisionRequest) *flip7v1.ArenaMessage {
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Request{Request: r}}
}
