// Package wire converts between the words of the game as they travel (package flip7v1) and as the arena knows them, both
// ways. It is the only place that knows both; it opens no connection and decides nothing.
//
// What is made for the wire is complete. What comes from the wire was said by a stranger: every function that takes it
// refuses what it does not know, and its error names the field as the proto files do.
package wire

import (
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Card is a card for the wire, where 0 is no card.
func Card(c game.Card) flip7v1.Card { return flip7v1.Card(c) + 1 }

// CardOf is a card from the wire.
func CardOf(c flip7v1.Card) (game.Card, error) {
	if c < 1 || c > game.Kinds {
		return 0, fmt.Errorf("%v is no card", c)
	}
	return game.Card(c - 1), nil
}

var (
	tieBreaks = enum[game.TieBreak, flip7v1.TieBreak]{"tie_break", []flip7v1.TieBreak{
		game.AllPlay:  flip7v1.TieBreak_TIE_BREAK_ALL_PLAY,
		game.TiedPlay: flip7v1.TieBreak_TIE_BREAK_TIED_PLAY,
		game.Shared:   flip7v1.TieBreak_TIE_BREAK_SHARED,
	}}
	dealings = enum[game.Dealing, flip7v1.Deal]{"deal", []flip7v1.Deal{
		game.DealOnce:     flip7v1.Deal_DEAL_ONCE,
		game.DealEveryone: flip7v1.Deal_DEAL_EVERYONE,
	}}
	statuses = enum[game.Status, flip7v1.SeatStatus]{"status", []flip7v1.SeatStatus{
		game.Active: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE,
		game.Stayed: flip7v1.SeatStatus_SEAT_STATUS_STAYED,
		game.Frozen: flip7v1.SeatStatus_SEAT_STATUS_FROZEN,
		game.Busted: flip7v1.SeatStatus_SEAT_STATUS_BUSTED,
		game.Out:    flip7v1.SeatStatus_SEAT_STATUS_OUT,
	}}
	kinds = enum[game.Kind, flip7v1.RequestKind]{"kind", []flip7v1.RequestKind{
		game.Nothing:    flip7v1.RequestKind_REQUEST_KIND_UNSPECIFIED,
		game.Turn:       flip7v1.RequestKind_REQUEST_KIND_TURN,
		game.GiveFreeze: flip7v1.RequestKind_REQUEST_KIND_FREEZE,
		game.GiveFlip3:  flip7v1.RequestKind_REQUEST_KIND_FLIP_THREE,
		game.GiveSecond: flip7v1.RequestKind_REQUEST_KIND_SECOND_CHANCE,
	}}
	causes = enum[game.Cause, flip7v1.Cause]{"cause", []flip7v1.Cause{
		game.Chosen:       flip7v1.Cause_CAUSE_CHOSEN,
		game.Passed:       flip7v1.Cause_CAUSE_PASSED,
		game.Illegal:      flip7v1.Cause_CAUSE_ILLEGAL,
		game.Disconnected: flip7v1.Cause_CAUSE_DISCONNECTED,
		game.TimedOut:     flip7v1.Cause_CAUSE_TIMED_OUT,
	}}
	ends = enum[game.End, flip7v1.RoundEnd]{"end", []flip7v1.RoundEnd{
		game.Running:   flip7v1.RoundEnd_ROUND_END_UNSPECIFIED,
		game.AllOut:    flip7v1.RoundEnd_ROUND_END_ALL_OUT,
		game.Flip7:     flip7v1.RoundEnd_ROUND_END_FLIP_7,
		game.Exhausted: flip7v1.RoundEnd_ROUND_END_EXHAUSTED,
	}}
)

// enum pairs the values of an arena type, which are the indices, with those of the wire.
type enum[A ~uint8, W interface {
	~int32
	fmt.Stringer
}] struct {
	field string
	wire  []W
}

func (e enum[A, W]) to(a A) W { return e.wire[a] }

func (e enum[A, W]) from(w W) (A, error) {
	for a, known := range e.wire {
		if known == w {
			return A(a), nil
		}
	}
	return 0, fmt.Errorf("%s: %v is not one that can be", e.field, w)
}

// RequestKind is what is asked, for the wire.
func RequestKind(k game.Kind) flip7v1.RequestKind { return kinds.to(k) }

// Cause is a cause for the wire.
func Cause(c game.Cause) flip7v1.Cause { return causes.to(c) }

// CauseOf is a cause from the wire.
func CauseOf(c flip7v1.Cause) (game.Cause, error) { return causes.from(c) }

// Rules are complete rules for the wire, every option filled in.
func Rules(r game.Rules) *flip7v1.Rules {
	return &flip7v1.Rules{
		Version:       game.Version,
		TieBreak:      tieBreaks.to(r.TieBreak),
		BustedAssigns: proto.Bool(r.BustedAssigns),
		Deal:          dealings.to(r.Deal),
		TargetScore:   uint32(r.TargetScore),
		MaxRounds:     uint32(r.MaxRounds),
		Decks:         uint32(r.Decks),
	}
}

// RulesOf are rules from the wire, checked but for target score, rounds and decks that are 0 and so left to
// game.Rules.Complete. Nil is the default rules.
func RulesOf(w *flip7v1.Rules) (game.Rules, error) {
	if v := w.GetVersion(); v != "" && v != game.Version {
		return game.Rules{}, fmt.Errorf("version: %q is not %q, which is what this arena plays", v, game.Version)
	}
	r := game.Rules{
		BustedAssigns: w == nil || w.BustedAssigns == nil || w.GetBustedAssigns(),
		TargetScore:   int(w.GetTargetScore()),
		MaxRounds:     int(w.GetMaxRounds()),
		Decks:         int(w.GetDecks()),
	}
	var err error
	if t := w.GetTieBreak(); t != flip7v1.TieBreak_TIE_BREAK_UNSPECIFIED {
		if r.TieBreak, err = tieBreaks.from(t); err != nil {
			return game.Rules{}, err
		}
	}
	if d := w.GetDeal(); d != flip7v1.Deal_DEAL_UNSPECIFIED {
		if r.Deal, err = dealings.from(d); err != nil {
			return game.Rules{}, err
		}
	}
	return r, r.Complete(game.MinSeats).Check()
}

// GameInfo is what stays the same during a game, for the wire. It is made once and then part of every request, so it
// must not be changed.
func GameInfo(info table.Info) *flip7v1.GameInfo {
	return &flip7v1.GameInfo{
		GameId:          info.ID,
		Attempt:         uint32(info.Attempt),
		TournamentId:    info.Tournament,
		PairingRound:    uint32(info.Round),
		PairingRounds:   uint32(info.Rounds),
		Rated:           info.Rated,
		Practice:        info.Practice,
		Table:           uint32(info.Table),
		Game:            uint32(info.Number),
		Games:           uint32(info.Of),
		Rules:           Rules(info.Rules),
		Bots:            info.Bots,
		DecisionTimeout: durationpb.New(info.Timeout),
		TimeBank:        durationpb.New(info.Bank),
	}
}

// setDuration is durationpb.New in place.
func setDuration(to *durationpb.Duration, d time.Duration) {
	to.Seconds, to.Nanos = int64(d/time.Second), int32(d%time.Second)
}
