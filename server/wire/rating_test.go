package wire_test

import (
	"math"
	"reflect"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/rating"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// statsOf are those of a remote bot that timed out once, and of house bots.
func statsOf(bot, build string) (arena.Stats, bool) {
	var s arena.Stats
	s.Latency.Add(20 * time.Millisecond)
	s.Faults[game.TimedOut] = 1
	return s, build == ""
}

func row(bot, build string) arena.EloRow {
	return arena.EloRow{Bot: bot, Build: build, Elo: 1512.5, Interval: 30, Naive: 10, Robust: 14, LOS: 0.7, Performance: 1600, P99: 20 * time.Millisecond,
		Rank: rating.Rank{Low: 1, High: 3, Best: 0.4}}
}

func TestWhatCannotBeSaidOfARatingIsAbsent(t *testing.T) {
	sure, unsure := row("sure", "v1"), row("unsure", "")
	unsure.Interval, unsure.Naive, unsure.Robust = math.Inf(1), math.Inf(1), math.Inf(1)
	unsure.LOS, unsure.Performance, unsure.Bound = math.NaN(), math.NaN(), rating.AtLeast
	lines := wire.Ratings(&arena.Elo{Rows: []arena.EloRow{sure, unsure}}, statsOf)
	if w := sent(t, lines[0]); w.GetMargin() != 30 || w.GetNaiveError() != 10 || w.GetRobustError() != 14 || w.GetLosNext() != 0.7 || w.GetPerformance() != 1600 ||
		w.GetBound() != flip7v1.RatingBound_RATING_BOUND_EXACT || w.GetP99().AsDuration() != 20*time.Millisecond || w.GetHouse() ||
		w.GetFaults().GetTimedOut() != 1 || w.GetRankBest() != 1 || w.GetRankWorst() != 3 || w.GetPBest() != 0.4 {
		t.Errorf("got %v", w)
	}
	if w := sent(t, lines[1]); w.Margin != nil || w.NaiveError != nil || w.RobustError != nil || w.LosNext != nil || w.Performance != nil ||
		w.GetBound() != flip7v1.RatingBound_RATING_BOUND_AT_LEAST || w.P99 != nil || !w.GetHouse() {
		t.Errorf("got %v, want nothing that is infinite", w)
	}
}

func TestRanksCountTheNewestBuildsOfAGroup(t *testing.T) {
	elo := &arena.Elo{Rows: []arena.EloRow{row("a", "v2"), row("b", "v1"), row("c", "v1"), row("d", "v1")}}
	elo.Rows[0].Place, elo.Rows[1].Place = 1, 3 // an older build of a stands between them
	elo.Rows[0].Older = []arena.EloRow{row("a", "v1")}
	elo.Rows[2].Group, elo.Rows[3].Group = 1, 1
	lines := wire.Ratings(elo, statsOf)
	for i, want := range []uint32{1, 2, 1, 2} {
		if lines[i].GetRank() != want {
			t.Errorf("line %d has rank %d, want %d", i+1, lines[i].GetRank(), want)
		}
	}
	if older := lines[0].GetOlderBuilds(); len(older) != 1 || older[0].GetRank() != 0 || older[0].GetBuild() != "v1" {
		t.Errorf("older builds %v, want v1 with rank 0", older)
	}
}

func TestRunsOfThoseThatCannotBeToldApart(t *testing.T) {
	for _, c := range []struct {
		runs  []rating.Run
		below []uint32
		tied  []uint32
	}{
		{nil, []uint32{0, 0, 0, 0, 0, 0}, []uint32{0, 0, 0, 0, 0, 0}},
		{[]rating.Run{{First: 0, Last: 1}, {First: 3, Last: 5}}, []uint32{1, 0, 0, 2, 1, 0}, []uint32{1, 1, 0, 2, 2, 2}},
		{[]rating.Run{{First: 0, Last: 2}, {First: 1, Last: 4}}, []uint32{2, 3, 2, 1, 0, 0}, []uint32{1, 1, 1, 2, 2, 0}},
		{[]rating.Run{{First: 0, Last: 2}, {First: 2, Last: 3}, {First: 3, Last: 4}}, []uint32{2, 1, 1, 1, 0, 0}, []uint32{1, 1, 1, 2, 2, 0}},
	} {
		elo := &arena.Elo{Alike: c.runs}
		for range 6 {
			elo.Rows = append(elo.Rows, row("x", "v1"))
		}
		var below, tied []uint32
		for _, line := range wire.Ratings(elo, statsOf) {
			below, tied = append(below, line.GetAlikeBelow()), append(tied, line.GetTiedGroup())
		}
		if !reflect.DeepEqual(below, c.below) || !reflect.DeepEqual(tied, c.tied) {
			t.Errorf("runs %v: %v below and numbers %v, want %v and %v", c.runs, below, tied, c.below, c.tied)
		}
	}
}

func TestAPointOfAHistoryIsThatOfItsTournament(t *testing.T) {
	m := &arena.Moment{Tournament: 7, Ended: time.Unix(100, 0), Points: map[string]arena.Point{
		"odds": {Build: "v3", Anchor: "stay-25", Elo: 1530, Interval: math.Inf(1), Performance: math.NaN(), Live: 1501, Rank: 2, Games: 48}}}
	w := sent(t, wire.RatingPoint(m, "odds"))
	if w.GetTournamentId() != "7" || w.GetTime().GetSeconds() != 100 || w.GetBuild() != "v3" || w.GetElo() != 1530 || w.Margin != nil || w.Performance != nil ||
		w.GetLive() != 1501 || w.GetRank() != 2 || w.GetGames() != 48 || w.GetAnchor() != "stay-25" {
		t.Errorf("got %v", w)
	}
	if w := wire.Comparison(arena.Comparison{Interval: math.Inf(1), LOS: 0.5}); w.Margin != nil || w.GetLos() != 0.5 {
		t.Errorf("bots that cannot be compared: %v", w)
	}
}
