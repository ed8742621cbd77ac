package flip7_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	answers := make(chan []*flip7v1.ArenaMessage, 1024)
	answers <- []*flip7v1.ArenaMessage{{Message: &flip7v1.ArenaMessage_Welcome{Welcome: &flip7v1.Welcome{Protocol: 1}}}}
	failed := make(chan error, 1)
	go func() { failed <- a.ask(stream, answers) }()
	room := make([]*flip7v1.ArenaMessage, 0, 64)
	for {
		select {
		case err := <-failed:
			return err
		case room = <-answers:
		}
	drain:
		for len(room) < 64 {
			select {
			case more := <-answers:
				room = append(room, more...)
			default:
				break drain
			}
		}
		if err := stream.Send(&flip7v1.PlayResponse{Messages: room}); err != nil {
			return err
		}
	}
}

// ask reads decisions and answers each with the next request of its game.
func (a *askingArena) ask(stream flip7v1.PlayService_PlayServer, answers chan<- []*flip7v1.ArenaMessage) error {
	<-a.begin
	for game := range a.games {
		answers <- []*flip7v1.ArenaMessage{requestMessage(turn(fmt.Sprint(game), fmt.Sprint(game, "/", 0)))}
	}
	for decided := 0; decided < a.enough; {
		batch, err := stream.Recv()
		if err != nil {
			return err
		}
		for _, m := range batch.GetMessages() {
			if d := m.GetDecision(); d != nil {
				var game, number int
				if _, err := fmt.Sscanf(d.GetRequestId(), "%d/%d", &game, &number); err != nil {
					return err
				}
				decided++
				answers <- []*flip7v1.ArenaMessage{requestMessage(turn(fmt.Sprint(game), fmt.Sprint(game, "/", number+1)))}
			}
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
