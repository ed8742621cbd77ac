package store

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/flip7-arena/flip7/arena"
)

// TestKilled has a process that writes and says what was acknowledged, until it is killed; the next one finds all of that.
func TestKilled(t *testing.T) {
	const variable = "FLIP7_STORE_TO_BE_KILLED"
	if dir := os.Getenv(variable); dir != "" {
		if err := writeUntilKilled(t, dir); err != nil {
			t.Fatal(err)
		}
		return
	}
	dir := t.TempDir()
	decisions, results := 0, 0
	for kill := range 3 {
		// The test binary, running this test again.
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
		child.Env = append(os.Environ(), variable+"="+dir)
		output, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(output)
		for range 200 + 111*kill {
			if !lines.Scan() {
				break
			}
			if n, err := fmt.Sscanf(lines.Text(), "decision %d", &decisions); n == 1 && err == nil {
				continue
			}
			if _, err := fmt.Sscanf(lines.Text(), "result %d", &results); err != nil {
				t.Fatalf("the process says %q", lines.Text())
			}
		}
		if err := child.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = child.Wait() // says that it was killed

		s, err := Open(t.Context(), dir, Options{})
		if err != nil {
			t.Fatal(err)
		}
		decisionsFound, resultsFound := found(t, s)
		if decisionsFound < decisions || resultsFound < results || results == 0 {
			t.Errorf("kill %d: %d decisions and %d results are there, and %d and %d were acknowledged",
				kill+1, decisionsFound, resultsFound, decisions, results)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// writeUntilKilled goes on with tournament 1: with the decisions of one game, and with results. When nobody reads what it
// says any more it is ended by that.
func writeUntilKilled(t *testing.T, dir string) error {
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		return err
	}
	night := &arena.Tournament{Settings: arena.DefaultSettings(), State: arena.Running}
	if err := s.Create(t.Context(), night, "the one"); err != nil {
		return err
	}
	if len(night.Rounds) == 0 {
		if err := s.SaveRound(t.Context(), night.ID, arena.Round{Number: 1, Spread: "0", Tables: []arena.Table{{Number: 1}}}); err != nil {
			return err
		}
	}
	decisions, results := found(t, s)
	journal, err := s.Journals().Open(night.ID)
	if err != nil {
		return err
	}
	game, err := journal.Begin(1, 2, 1, 1)
	if err != nil {
		return err
	}
	for {
		for range 10 {
			decisions++
			if err := game.Write(entry(decisions)); err != nil {
				return err
			}
			fmt.Println("decision", decisions)
		}
		results++
		if err := s.SaveGame(t.Context(), arena.GameID{Tournament: night.ID, Round: 1, Table: 1, Number: results}, longGame()); err != nil {
			return err
		}
		fmt.Println("result", results)
	}
}

// found counts the decisions and results of tournament 1, and checks that none is missing in between.
func found(t *testing.T, s *Store) (decisions, results int) {
	t.Helper()
	journal, err := s.Journals().Open(1)
	if err != nil {
		t.Fatal(err)
	}
	_, entries := journal.Begun(1, 2, 1)
	for i, e := range entries {
		if e != entry(i+1) {
			t.Errorf("decision %d is %+v", i+1, e)
		}
	}
	if err := journal.Close(false); err != nil {
		t.Fatal(err)
	}
	err = s.Games(t.Context(), 1, func(id arena.GameID, _ arena.Played) error {
		if results++; id.Number != results {
			return fmt.Errorf("game %d comes as number %d", id.Number, results)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return len(entries), results
}
