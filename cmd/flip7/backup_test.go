//go:build unix

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
)

// TestBackupInTheMiddleOfANight restores a backup that was made while the night went on. The backup does not disturb the
// night, and the night goes on elsewhere too: both end with the same results.
func TestBackupInTheMiddleOfANight(t *testing.T) {
	rounds := 3
	if testing.Short() {
		rounds = 1
	}
	want, told := undisturbed(t, rounds)
	first := newNight(t, rounds)
	first.start()
	goOn := first.hold(moment{told: told / 2, kind: asked})
	file := filepath.Join(t.TempDir(), "backup")
	verb(t, "backup", file, "--data", first.server.data)
	goOn()
	first.untilOver()
	if got := first.results(); !bytes.Equal(got, want) {
		t.Errorf("with a backup the results are others: %s", difference(got, want))
	}
	first.end()

	restored := filepath.Join(t.TempDir(), "data")
	verb(t, "restore", file, "--data", restored)
	second := openNight(t, restored)
	shown, err := flip7v1.NewTournamentServiceClient(second.conn).GetTournament(second.ctx, &flip7v1.GetTournamentRequest{TournamentId: tournament})
	if err != nil {
		t.Fatal(err)
	}
	if n := shown.GetTournament(); n.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING || n.GetGamesFinished() >= n.GetGames() {
		t.Errorf("the restored night is %v, with %d of %d games finished; want its middle", n.GetState(), n.GetGamesFinished(), n.GetGames())
	}
	second.programs = first.programs // as the command of their entry says
	second.comeIn(first.tokens)
	second.untilOver()
	got := second.results()
	if !bytes.Equal(got, want) {
		t.Errorf("restored in the middle of the night the results are others: %s", difference(got, want))
	}
	second.check(got)
	second.end()
}

// TestBackupSaysWhatItGivesAway backs up a folder with a night of secret deals that is running, one of predictable ones,
// and one that is over.
func TestBackupSaysWhatItGivesAway(t *testing.T) {
	data := filepath.Join(t.TempDir(), "data")
	s, err := store.Open(t.Context(), data, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []struct {
		name  string
		state arena.State
		seed  *uint64
	}{{"Friday", arena.Running, nil}, {"rehearsal", arena.Running, new(uint64(7))}, {"Thursday", arena.Finished, nil}} {
		settings := arena.DefaultSettings()
		settings.Name, settings.Seed = n.name, n.seed
		if err := s.Create(t.Context(), &arena.Tournament{Settings: settings, State: n.state}, ""); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}

	file := filepath.Join(t.TempDir(), "backup")
	said := string(verb(t, "backup", file, "--data", data))
	if !strings.Contains(said, `the secret of tournament 1 "Friday", which is running`) || strings.Count(said, "secret") != 1 {
		t.Errorf("it says\n%s\nwant that it contains the secret of Friday, and no other", said)
	}
	found(t, `(\(3 tournaments, [0-9.]+ kB\))`, said)
	said = string(verb(t, "restore", file, "--data", filepath.Join(t.TempDir(), "restored")))
	if !strings.Contains(said, `"Friday" is running and goes on`) || strings.Contains(said, "Thursday") {
		t.Errorf("it says\n%s\nwant that Friday goes on, and nothing of Thursday", said)
	}
}
