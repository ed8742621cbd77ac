package wire

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// TournamentID is the id of a tournament for the wire: its number, decimal.
func TournamentID(id int64) string { return strconv.FormatInt(id, 10) }

// TournamentIDOf reads the id of a tournament; false if no tournament can have it.
func TournamentIDOf(text string) (int64, bool) {
	id, err := strconv.ParseInt(text, 10, 64)
	return id, err == nil && id > 0 && TournamentID(id) == text
}

// GameID is the id of a game for the wire: the numbers of its tournament, pairing round and table, and its own.
func GameID(id arena.GameID) string {
	return fmt.Sprintf("%d/%d/%d/%d", id.Tournament, id.Round, id.Table, id.Number)
}

// GameIDOf reads the id of a game; false if no game can have it.
func GameIDOf(text string) (id arena.GameID, ok bool) {
	n, err := fmt.Sscanf(text, "%d/%d/%d/%d", &id.Tournament, &id.Round, &id.Table, &id.Number)
	return id, n == 4 && err == nil && min(id.Tournament, int64(id.Round), int64(id.Table), int64(id.Number)) > 0 && GameID(id) == text
}

// GameSummary is a game of a tournament that has ended, for the wire. Its faults are told when its table has ended.
func GameSummary(t *arena.Tournament, id arena.GameID, g arena.Game) *flip7v1.GameSummary {
	tab := t.Rounds[id.Round-1].Tables[id.Table-1]
	info := table.Info{
		ID: GameID(id), Attempt: g.Attempt, Tournament: TournamentID(id.Tournament), Round: id.Round, Table: id.Table, Number: id.Number,
		Rounds: t.Settings.Rounds, Rated: t.Settings.Rated(),
		Of: t.Settings.Games(id.Round, len(tab.Bots)), Rules: t.Settings.Rules.Complete(len(g.Seats)),
		Timeout: t.Settings.DecisionTimeout, Bank: max(t.Settings.TimeBank, 0),
	}
	w := &flip7v1.GameSummary{
		State: flip7v1.GameState_GAME_STATE_ENDED, End: flip7v1.GameEnd_GAME_END_COMPLETE,
		Places: Numbers(g.Result.Places), Totals: Numbers(g.Result.Totals), Rounds: uint32(g.Result.Rounds),
		UnratedWhy: unratedWhy(t, id, tab),
	}
	for _, number := range g.Seats {
		e := t.Entries[number-1]
		info.Bots = append(info.Bots, e.Name)
		w.Builds = append(w.Builds, e.Build)
	}
	w.Game = GameInfo(info)
	if tab.State == arena.Complete || tab.State == arena.Void {
		w.Faults = Numbers(g.Faults)
	}
	return w
}

// unratedWhy says why a game does not count for the Elo table; empty if it does, or will.
func unratedWhy(t *arena.Tournament, id arena.GameID, tab arena.Table) string {
	switch {
	case !t.Settings.Rated() || t.State == arena.Cancelled:
		return t.Unrated()
	case tab.State == arena.Void:
		return "its table is void: " + tab.Why
	}
	for _, e := range t.Excluded {
		if (e.Round == 0 || e.Round == id.Round) && (e.Table == 0 || e.Table == id.Table) && (e.Game == 0 || e.Game == id.Number) {
			return "it was taken out: " + e.Why
		}
	}
	return ""
}

// Record is all that replays a game, for the wire. Its seed is told when its table has ended: whoever asks sees to that.
func Record(t *arena.Tournament, id arena.GameID, p arena.Played) (*flip7v1.GameRecord, error) {
	w := &flip7v1.GameRecord{Game: GameSummary(t, id, p.Game), Seed: p.Record.Seed[:], Dealer: uint32(p.Record.Dealer)}
	asked := &requests{}
	if _, err := p.Record.Replay(deal.NewKeyed(p.Record.Seed), asked); err != nil {
		return nil, fmt.Errorf("game %s: %w", GameID(id), err)
	}
	for i, move := range p.Record.Moves {
		answer, target := Answer(move.Decision)
		d := &flip7v1.RecordedDecision{Seat: uint32(asked.list[i].Seat), Kind: kinds.to(asked.list[i].Asked), Answer: answer, Target: target,
			Cause: causes.to(move.Cause)}
		house := isHouse(t.Entries[p.Game.Seats[asked.list[i].Seat]-1])
		if !house && i < len(p.Timings) {
			timed(d, p.Timings[i])
		}
		w.Decisions = append(w.Decisions, d)
	}
	return w, nil
}

// timed adds to a decision what the clock said of it.
func timed(d *flip7v1.RecordedDecision, timing table.Timing) {
	d.Sent, d.Absent = durationpb.New(timing.Queued), timing.Absent
	if timing.Cause == game.Chosen || timing.Cause == game.Passed {
		d.Answered = durationpb.New(timing.Took)
	}
}

func isHouse(e arena.Entry) bool { return strings.HasPrefix(e.Player, "house:") }

// requests collects who was asked what in a game that is replayed.
type requests struct{ list []game.Event }

// Observe implements game.Observer.
func (r *requests) Observe(_ *game.State, e game.Event) {
	if e.Kind == game.Decided {
		r.list = append(r.list, e)
	}
}

// RecordOf is what replays a game, from the wire.
func RecordOf(w *flip7v1.GameRecord) (game.Record, error) {
	record, err := recordOf(w)
	if err != nil {
		return game.Record{}, fmt.Errorf("record of game %s: %w", w.GetGame().GetGame().GetGameId(), err)
	}
	return record, nil
}

func recordOf(w *flip7v1.GameRecord) (r game.Record, err error) {
	summary := w.GetGame()
	r.Seats = len(summary.GetGame().GetBots())
	if r.Rules, err = RulesOf(summary.GetGame().GetRules()); err != nil {
		return r, fmt.Errorf("game.game.rules.%w", err)
	}
	r.Rules = r.Rules.Complete(r.Seats)
	if len(w.GetSeed()) != len(r.Seed) {
		return r, fmt.Errorf("seed: %d bytes; it takes %d", len(w.GetSeed()), len(r.Seed))
	}
	copy(r.Seed[:], w.GetSeed())
	if r.Dealer = game.Seat(w.GetDealer()); int(r.Dealer) >= r.Seats {
		return r, fmt.Errorf("dealer: %d is not a seat 0..%d", r.Dealer, r.Seats-1)
	}
	for i, d := range w.GetDecisions() {
		var move game.Move
		move.Decision, _ = DecisionOf(&flip7v1.Decision{Answer: d.GetAnswer(), Seat: d.Target})
		if move.Decision == 0 {
			return r, fmt.Errorf("decisions[%d].answer: %v is no decision that can be played", i, d.GetAnswer())
		}
		if move.Cause, err = causes.from(d.GetCause()); err != nil {
			return r, fmt.Errorf("decisions[%d].%w", i, err)
		}
		r.Moves = append(r.Moves, move)
	}
	if len(summary.GetPlaces()) != r.Seats || len(summary.GetTotals()) != r.Seats {
		return r, fmt.Errorf("game.places, game.totals: %d and %d; there are %d seats", len(summary.GetPlaces()), len(summary.GetTotals()), r.Seats)
	}
	r.Result = game.Result{Rounds: int(summary.GetRounds()), Totals: numbersOf(summary.GetTotals()), Places: numbersOf(summary.GetPlaces())}
	return r, nil
}

// numbersOf is what Numbers made.
func numbersOf(w []uint32) []int {
	n := make([]int, len(w))
	for i, value := range w {
		n[i] = int(value)
	}
	return n
}
