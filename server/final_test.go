package server

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestAFinalTableIsToldAsItStands(t *testing.T) {
	h := host(t)
	seed := uint64(4)
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 1, FinalTable: 3, UntilDecided: true, MaxGames: 1200, Seed: &seed},
		"house:racer", "house:random", "house:cards-5", "house:stay-15")
	if open := h.get(id); open.GetGames() != 4*2+1200 || open.GetFinalTable() != nil || open.GetExpectedEndTime() == nil || open.GetLatestEndTime() == nil {
		t.Errorf("open: %v", open)
	}
	night := h.play(id)
	f, standings := night.GetFinalTable(), h.standings(id, 0)
	if len(f.GetBots()) != 3 || !f.GetDecided() || f.GetLeader() != "racer" || f.GetGames() != 3*f.GetRotations() || f.GetRotations() < 100 || f.GetPBest() < 0.9 || f.GetGamesToGo() != 0 {
		t.Errorf("the final table: %v", f)
	}
	for _, pair := range f.GetPairs() {
		if pair.GetBot() == "racer" || !pair.GetDecided() || pair.GetDifference() <= pair.GetMargin() {
			t.Errorf("a pair of it: %v", pair)
		}
	}
	if len(f.GetPairs()) != 2 || night.GetGames() != 8+f.GetGames() || night.GetGamesFinished() != night.GetGames() {
		t.Errorf("finished: %v", night)
	}
	if want := "decided: racer is the best of the finalists, after "; !bytes.HasPrefix([]byte(night.GetConclusion()), []byte(want)) {
		t.Errorf("conclusion %q, want %s...", night.GetConclusion(), want)
	}
	sum := 0.0
	for i, s := range standings {
		if finalist := slices.Contains(f.GetBots(), s.GetBot()); finalist != (i < 3) || finalist != (s.FinalPlacement != nil) || s.GetRank() != uint32(i+1) {
			t.Errorf("line %d: %v", i+1, s)
		}
		sum += s.GetFinalPlacement()
	}
	if math.Abs(sum-1.5) > 1e-9 || standings[0].GetBot() != "racer" || standings[0].GetLikeAbove() || standings[1].GetLikeAbove() || standings[0].GetGames() != 8+f.GetGames() {
		t.Errorf("standings: %v", standings)
	}
	// As they stood before the final nobody had played it.
	if before := h.standings(id, 1); before[0].FinalPlacement != nil || before[0].GetGames() != 8 {
		t.Errorf("after the pairing round: %v", before)
	}
	tables, err := h.ListPairings(t.Context(), &flip7v1.ListPairingsRequest{TournamentId: id, PairingRound: night.GetPairingRound()})
	if err != nil {
		t.Fatal(err)
	}
	if tab := tables.GetTables()[0]; tab.GetGames() != 30 || tab.GetGamesFinished() != 30 || len(tab.GetRepeats()) != 0 || tab.GetExplanation() == "" {
		t.Errorf("a leg: %v", tab)
	}
	if v, err := arena.Verify(bytes.NewReader(h.exported(id, flip7v1.ExportPart_EXPORT_PART_RESULTS))); err != nil || v.Conclusion != night.GetConclusion() {
		t.Errorf("the export: %+v, %v", v, err)
	}
}
