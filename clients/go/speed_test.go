package flip7_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// askingArena asks one bot as fast as it answers: in each of so many games the next request as soon as the last is
// decided, until enough is decided.
type askingArena struct {
	flip7v1.UnimplementedPlayServiceServer
	games, enough int
	begin         chan struct{} // closed: ask
	done          chan struct{} // closed by the arena
}

func (a *askingArena) Play(stream flip7v1.PlayService_PlayServer) error {
	if _, err := stream.Recv(); err != nil {
		return err
	}
	outgoing := make(chan *flip7v1.ArenaMessage, a.games)
	failed := make(chan error, 1)
	go func() { failed <- a.ask(stream, outgoing) }()
	for {
		var batch []*flip7v1.ArenaMessage
		select {
		case err := <-failed:
			return err
		case m := <-outgoing:
			batch = append(batch, m)
		}
		for len(batch) < 64 && len(outgoing) > 0 {
			batch = append(batch, <-outgoing)
		}
		if err := stream.Send(&flip7v1.PlayResponse{Messages: batch}); err != nil {
			return err
		}
	}
}

// ask reads decisions and answers each with the next request of its game. A game has one message, which is not being
// sent any more when its decision comes.
func (a *askingArena) ask(stream flip7v1.PlayService_PlayServer, outgoing chan<- *flip7v1.ArenaMessage) error {
	<-a.begin
	requests := make([]*flip7v1.DecisionRequest, a.games)
	messages := make([]*flip7v1.ArenaMessage, a.games)
	for game := range requests {
		requests[game] = turn(strconv.Itoa(game), strconv.Itoa(game)+"/0")
		messages[game] = requestMessage(requests[game])
		outgoing <- messages[game]
	}
	for decided := 0; decided < a.enough; {
		batch, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, m := range batch.GetMessages() {
			decided++
			name, _, _ := strings.Cut(m.GetDecision().GetRequestId(), "/")
			game, err := strconv.Atoi(name)
			if err != nil {
				return err
			}
			requests[game].RequestId = name + "/" + strconv.Itoa(decided)
			outgoing <- messages[game]
		}
	}
	close(a.done)
	return errors.New("that was all")
}

// BenchmarkDecisions is how many decisions a second the kit makes over a loopback connection, with an arena in the same
// process that does as little as it can.
func BenchmarkDecisions(b *testing.B) {
	for _, games := range []int{1, 16, 64, 256} {
		b.Run(fmt.Sprint("games=", games), func(b *testing.B) {
			arena := &askingArena{games: games, enough: b.N, begin: make(chan struct{}), done: make(chan struct{})}
			addr := serve(b, arena)
			ctx, cancel := context.WithCancel(b.Context())
			played := make(chan error, 1)
			go func() {
				played <- flip7.Play(ctx, flip7.Bot{
					Decide: func(v *flip7.View) flip7.Decision { return v.Stay() },
					Addr:   addr, Token: "bench", MaxGames: games, MaxOpen: games,
					Log: slog.New(slog.DiscardHandler),
				})
			}()
			b.ReportAllocs()
			b.ResetTimer()
			close(arena.begin)
			<-arena.done
			b.StopTimer()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
			cancel()
			<-played
		})
	}
}

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
