package flip7_test

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// crowded is a request in which every field is set, as well as can be.
func crowded() *flip7v1.DecisionRequest {
	return &flip7v1.DecisionRequest{
		RequestId: "12/3/14/8/1/107",
		Kind:      flip7v1.RequestKind_REQUEST_KIND_FREEZE,
		Game: &flip7v1.GameInfo{
			GameId: "12/3/14/8", Attempt: 2, TournamentId: "12", PairingRound: 3, PairingRounds: 7, Table: 14, Game: 5, Games: 8,
			Rules: &flip7v1.Rules{
				Version: "flip7/1", TieBreak: flip7v1.TieBreak_TIE_BREAK_TIED_PLAY, BustedAssigns: new(true),
				Deal: flip7v1.Deal_DEAL_EVERYONE, TargetScore: 200, MaxRounds: 100, Decks: 1,
			},
			Bots:            []string{"ann", "bob", "cyd"},
			DecisionTimeout: durationpb.New(time.Second), TimeBank: durationpb.New(10 * time.Second),
			Rated: true, Practice: true, FinalTable: true,
		},
		Seat: 2,
		View: &flip7v1.View{
			Round: 6, Dealer: 1, NextSeat: 0,
			Seats: []*flip7v1.Seat{
				{
					Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE, Row: []flip7v1.Card{1, 13}, Modifiers: []flip7v1.Card{14, 19},
					Actions: []flip7v1.Card{21}, Points: 26, Total: 155, BankSeconds: 9,
				},
				{Status: flip7v1.SeatStatus_SEAT_STATUS_BUSTED, Row: []flip7v1.Card{9, 12, 12}, Total: 98, BankSeconds: 7},
				{Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE, SecondChance: true, Total: 120, BankSeconds: 10, ToBeDealt: true},
			},
			Waiting:     []*flip7v1.AssignedCard{{Card: flip7v1.Card_CARD_FLIP_THREE, Seat: 1}},
			FlipThree:   &flip7v1.FlipThree{Seat: 2, DrawsLeft: 1, SetAside: []flip7v1.Card{20, 21}},
			DrawPile:    []uint32{1, 1, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 5, 1, 0, 1, 0, 1, 0, 1, 0, 3},
			DiscardPile: []uint32{0, 0, 1},
			FirstPass:   true,
		},
		Legal:       []flip7v1.Answer{flip7v1.Answer_ANSWER_GIVE},
		LegalSeats:  []uint32{0, 2},
		TimeLeft:    durationpb.New(11 * time.Second),
		TimeBank:    durationpb.New(9970 * time.Millisecond),
		LastLatency: durationpb.New(1300 * time.Microsecond),
		Resent:      true,
		Absent:      true,
	}
}

func TestView(t *testing.T) {
	request := crowded()
	v := flip7.NewView(request)
	for _, test := range []struct {
		what      string
		got, want any
	}{
		{"Kind", v.Kind, flip7.GiveFreeze},
		{"Me", v.Me, 2},
		{"Targets", v.Targets, []int{0, 2}},
		{"Game", *v.Game, flip7.Game{
			ID: "12/3/14/8", Attempt: 2, Tournament: "12", PairingRound: 3, PairingRounds: 7, Table: 14, Number: 5, Of: 8,
			Rules: flip7.Rules{
				Version: "flip7/1", TieBreak: flip7.TieTiedPlay, BustedAssigns: true, DealEveryone: true,
				TargetScore: 200, MaxRounds: 100, Decks: 1,
			},
			Bots: []string{"ann", "bob", "cyd"}, DecisionTimeout: time.Second, TimeBank: 10 * time.Second,
			Rated: true, Practice: true, FinalTable: true,
		}},
		{"Round, Dealer, Next", [3]int{v.Round, v.Dealer, v.Next}, [3]int{6, 1, 0}},
		{"Seats", v.Seats, []flip7.Seat{
			{
				Status: flip7.Active, Row: []flip7.Card{0, 12}, Modifiers: []flip7.Card{flip7.Plus2, flip7.X2},
				Actions: []flip7.Card{flip7.Flip3}, Points: 26, Total: 155, Bank: 9 * time.Second,
			},
			{
				Status: flip7.Busted, Row: []flip7.Card{8, 11, 11}, Modifiers: []flip7.Card{}, Actions: []flip7.Card{},
				Total: 98, Bank: 7 * time.Second,
			},
			{
				Status: flip7.Active, Row: []flip7.Card{}, Modifiers: []flip7.Card{}, Actions: []flip7.Card{},
				SecondChance: true, Total: 120, Bank: 10 * time.Second, ToBeDealt: true,
			},
		}},
		{"Mine", v.Mine().SecondChance, true},
		{"Waiting", v.Waiting, []flip7.Assigned{{Card: flip7.Flip3, Seat: 1}}},
		{"FlipThree", *v.FlipThree, flip7.FlipThree{Seat: 2, Left: 1, Aside: []flip7.Card{flip7.Freeze, flip7.Flip3}}},
		{"DrawPile", v.DrawPile.String(), "0 1 2 2x3 2x4 3x5 4x6 4x7 5x8 6x9 6x10 7x11 5x12 +2 +6 +10 freeze 3xsecond"},
		{"DiscardPile", v.DiscardPile.String(), "2"},
		{"FirstPass", v.FirstPass, true},
		{"TimeBank, LastLatency", [2]time.Duration{v.TimeBank, v.LastLatency}, [2]time.Duration{9970 * time.Millisecond, 1300 * time.Microsecond}},
		{"Resent, Absent", [2]bool{v.Resent, v.Absent}, [2]bool{true, true}},
		{"Legal", v.Legal(), []flip7.Decision{v.Give(0), v.Give(2)}},
		{"Request", v.Request(), request},
		{"String", v.String(), "game 12/3/14/8 attempt 2, round 6, seat 2 is asked freeze:" +
			" [0 ann active 0 12 +2 x2 flip3 = 26, total 155] [1 bob busted 8 11 11 = 0, total 98]" +
			" [2 cyd active second = 0, total 120] flip3 of seat 2: 1 to draw, aside [freeze flip3]; flip3 waits for seat 1;" +
			" draw pile 54, discard pile 1, legal: give to seat 0, give to seat 2"},
	} {
		if !reflect.DeepEqual(test.got, test.want) {
			t.Errorf("%s: got %+v, want %+v", test.what, test.got, test.want)
		}
	}
	if left := v.TimeLeft(); left > 11*time.Second || left < 10*time.Second {
		t.Errorf("TimeLeft: got %v, want 11s", left)
	}
}

// TestViewOfAnything: a request with holes in it does not bring the kit down.
func TestViewOfAnything(t *testing.T) {
	for _, request := range []*flip7v1.DecisionRequest{
		nil,
		{},
		{Seat: 7, View: &flip7v1.View{Seats: []*flip7v1.Seat{nil, {}}, Waiting: []*flip7v1.AssignedCard{nil}}},
		{Legal: []flip7v1.Answer{flip7v1.Answer_ANSWER_GIVE, 99}},
	} {
		v := flip7.NewView(request)
		if got, want := v.Legal(), []flip7.Decision{v.Pass()}; !slices.Equal(got, want) {
			t.Errorf("%v: legal are %v, want %v", request, got, want)
		}
		if v.String() == "" || v.Context().Err() != nil {
			t.Errorf("%v: got %q, %v", request, v, v.Context().Err())
		}
	}
}

func TestDecisionsInWords(t *testing.T) {
	v := flip7.NewView(crowded())
	for want, d := range map[string]flip7.Decision{
		"hit": v.Hit(), "stay": v.Stay(), "give to seat 2": v.Give(2), "pass": v.Pass().Note("why not"), "no decision": {},
	} {
		if got := d.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if seat, gives := v.Give(2).Target(); seat != 2 || !gives {
		t.Errorf("Give(2) names %d, %t", seat, gives)
	}
	if _, gives := v.Hit().Target(); gives {
		t.Error("Hit names a seat")
	}
}
