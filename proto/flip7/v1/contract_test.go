package flip7v1_test

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// fourSeats is a request from the middle of a four-seat game with long names,
// a Flip Three under way and a card waiting: larger than most.
func fourSeats() *flip7v1.DecisionRequest {
	return &flip7v1.DecisionRequest{
		RequestId: "12/3/14/8/1/107",
		Kind:      flip7v1.RequestKind_REQUEST_KIND_FREEZE,
		Game: &flip7v1.GameInfo{
			GameId:        "12/3/14/8",
			Attempt:       1,
			TournamentId:  "12",
			PairingRound:  3,
			PairingRounds: 7,
			Table:         14,
			Game:          8,
			Games:         8,
			Rules: &flip7v1.Rules{
				Version:       "flip7/1",
				TieBreak:      flip7v1.TieBreak_TIE_BREAK_ALL_PLAY,
				BustedAssigns: proto.Bool(true),
				Deal:          flip7v1.Deal_DEAL_ONCE,
				TargetScore:   200,
				MaxRounds:     100,
				Decks:         1,
			},
			Bots:            []string{"counting-crow", "stay-or-go", "house:stay-25", "grandmother-2"},
			DecisionTimeout: durationpb.New(time.Second),
			TimeBank:        durationpb.New(10 * time.Second),
			Rated:           true,
		},
		Seat: 2,
		View: &flip7v1.View{
			Round:    6,
			Dealer:   1,
			NextSeat: 3,
			Seats: []*flip7v1.Seat{
				{
					Status: flip7v1.SeatStatus_SEAT_STATUS_STAYED,
					Row:    []flip7v1.Card{4, 8, 11}, Modifiers: []flip7v1.Card{15},
					Points: 25, Total: 141, BankSeconds: 10,
				},
				{
					Status: flip7v1.SeatStatus_SEAT_STATUS_BUSTED,
					Row:    []flip7v1.Card{9, 12, 12, 13},
					Total:  98, BankSeconds: 7,
				},
				{
					Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE,
					Row:    []flip7v1.Card{6, 7, 10, 13}, Modifiers: []flip7v1.Card{19},
					SecondChance: true, Actions: []flip7v1.Card{21},
					Points: 66, Total: 120, BankSeconds: 10,
				},
				{
					Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE,
					Row:    []flip7v1.Card{5, 13}, Actions: []flip7v1.Card{21},
					Points: 16, Total: 155, BankSeconds: 9,
				},
			},
			Waiting:     []*flip7v1.AssignedCard{{Card: flip7v1.Card_CARD_FLIP_THREE, Seat: 3}},
			FlipThree:   &flip7v1.FlipThree{Seat: 2, SetAside: []flip7v1.Card{20}},
			DrawPile:    []uint32{1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 5, 1, 0, 1, 0, 1, 0, 1, 0, 1},
			DiscardPile: []uint32{0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3, 2, 4, 0, 0, 0, 1, 0, 0, 1, 1, 1},
		},
		Legal:       []flip7v1.Answer{flip7v1.Answer_ANSWER_GIVE},
		LegalSeats:  []uint32{2, 3},
		TimeLeft:    durationpb.New(10970 * time.Millisecond),
		TimeBank:    durationpb.New(9970 * time.Millisecond),
		LastLatency: durationpb.New(1304 * time.Microsecond),
	}
}

func decision() *flip7v1.Decision {
	return &flip7v1.Decision{
		RequestId: "12/3/14/8/1/107",
		Answer:    flip7v1.Answer_ANSWER_GIVE,
		Seat:      proto.Uint32(3),
	}
}

func TestHotMessagesAreSmall(t *testing.T) {
	for _, test := range []struct {
		name string
		msg  proto.Message
		most int
	}{
		{"a whole four-seat request, alone in its batch", &flip7v1.PlayResponse{Messages: []*flip7v1.ArenaMessage{
			{Message: &flip7v1.ArenaMessage_Request{Request: fourSeats()}}}}, 400},
		{"a decision, alone in its batch", &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{
			{Message: &flip7v1.BotMessage_Decision{Decision: decision()}}}}, 40},
	} {
		if got := proto.Size(test.msg); got > test.most {
			t.Errorf("%s: got %d bytes, want at most %d", test.name, got, test.most)
		} else {
			t.Logf("%s: %d bytes", test.name, got)
		}
	}
}

// TestPlayFilesStandAlone holds what lets every language take the play files
// as they are: no import but well-known types, and no 64-bit integer, which
// TypeScript would turn into a bigint.
func TestPlayFilesStandAlone(t *testing.T) {
	for _, file := range []protoreflect.FileDescriptor{
		flip7v1.File_flip7_v1_game_proto,
		flip7v1.File_flip7_v1_play_service_proto,
	} {
		for i := range file.Imports().Len() {
			path := file.Imports().Get(i).Path()
			if path != flip7v1.File_flip7_v1_game_proto.Path() && !strings.HasPrefix(path, "google/protobuf/") {
				t.Errorf("%s imports %s, want well-known types and game.proto only", file.Path(), path)
			}
		}
		for i := range file.Messages().Len() {
			fields := file.Messages().Get(i).Fields()
			for j := range fields.Len() {
				switch f := fields.Get(j); f.Kind() {
				case protoreflect.Int64Kind, protoreflect.Uint64Kind, protoreflect.Sint64Kind,
					protoreflect.Fixed64Kind, protoreflect.Sfixed64Kind:
					t.Errorf("%s is a 64-bit integer, want uint32 or string", f.FullName())
				}
			}
		}
	}
}

// TestStreamsHoldMessages: each way of the play stream is one oneof of
// messages, so that either side can add one and the other ignore it.
func TestStreamsHoldMessages(t *testing.T) {
	for _, m := range []proto.Message{&flip7v1.BotMessage{}, &flip7v1.ArenaMessage{}} {
		d := m.ProtoReflect().Descriptor()
		if got := d.Oneofs().Len(); got != 1 {
			t.Errorf("%s has %d oneofs, want 1", d.Name(), got)
		}
		for i := range d.Fields().Len() {
			if f := d.Fields().Get(i); f.ContainingOneof() == nil || f.Message() == nil {
				t.Errorf("%s is not a message of the oneof", f.FullName())
			}
		}
	}
}

func BenchmarkMarshalRequest(b *testing.B) {
	msg := fourSeats()
	var buf []byte
	for b.Loop() {
		var err error
		if buf, err = (proto.MarshalOptions{}).MarshalAppend(buf[:0], msg); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(buf)), "B/request")
}

func BenchmarkUnmarshalDecision(b *testing.B) {
	raw, err := proto.Marshal(decision())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := proto.Unmarshal(raw, &flip7v1.Decision{}); err != nil {
			b.Fatal(err)
		}
	}
}
