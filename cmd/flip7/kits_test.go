//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// TestNightOfKits lets the example bots of the kits play a night against house bots, as programs that the server starts.
// Which those are, .ci/kits says, which has made them ready: lines of NAME=COMMAND.
func TestNightOfKits(t *testing.T) {
	kits := os.Getenv("FLIP7_KITS")
	if kits == "" {
		t.Skip("FLIP7_KITS names no bots; make kits does")
	}
	n := openNight(t, filepath.Join(t.TempDir(), "data"))
	n.verb("tournament", "create", "kits", "--open", "--rounds", "3", "--checkin", "2m")
	n.verb("tournament", "enter", tournament, "house:odds", "house:stay-25", "house:racer")
	for line := range strings.Lines(kits) {
		name, command, _ := strings.Cut(strings.TrimSpace(line), "=")
		n.verb("tournament", "enter", tournament, "cmd:"+command, "--as", name)
	}
	n.verb("tournament", "start", tournament, "--watch")

	standings, err := allStandings(n.ctx, flip7v1.NewTournamentServiceClient(n.conn), tournament)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range standings.GetStandings() {
		t.Logf("%s: %d games, placement %.3f", s.GetBot(), s.GetGames(), s.GetPlacement())
		if s.GetGames() == 0 || s.GetMissed() > 0 || faults(s.GetFaults()) > 0 || s.GetSlips() > 0 {
			t.Errorf("%s has %d games, missed %d pairing rounds and has %d faults and %d slips, want games and nothing else",
				s.GetBot(), s.GetGames(), s.GetMissed(), faults(s.GetFaults()), s.GetSlips())
		}
	}
	if want := 3 + strings.Count(strings.TrimSpace(kits), "\n") + 1; len(standings.GetStandings()) != want {
		t.Errorf("%d bots have played, want %d", len(standings.GetStandings()), want)
	}
}
