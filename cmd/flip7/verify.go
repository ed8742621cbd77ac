package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

type verifyCmd struct {
	Files []string `arg:"" name:"export" help:"Files that \"flip7 tournament export\" wrote; - is standard input."`
	Elo   string   `help:"Also compute this Elo table again, which \"flip7 elo --json\" wrote, from the exports of all its tournaments." placeholder:"FILE"`
}

// Run verifies every file and says of each what holds, or the first thing that does not.
func (c *verifyCmd) Run(p *program) error {
	failed := false
	var verified []arena.Verification
	for _, file := range c.Files {
		f, err := p.open(file)
		if err != nil {
			return err
		}
		seen, err := arena.Verify(f)
		f.Close()
		if _, unread := errors.AsType[*fs.PathError](err); unread {
			return err
		}
		failed = failed || err != nil
		if p.json {
			printVerificationJSON(p, file, seen, err)
		} else {
			printVerification(p, file, seen, err)
		}
		verified = append(verified, seen)
	}
	if c.Elo != "" {
		wrong, err := verifyElo(c.Elo, verified)
		if err != nil {
			return err
		}
		failed = failed || wrong != nil
		printEloVerification(p, c.Elo, wrong)
	}
	if failed {
		return exit(exitNo)
	}
	return nil
}

// verifyElo says what of an Elo table does not follow from what was verified; err, why the table cannot be read.
func verifyElo(file string, verified []arena.Verification) (wrong, err error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	table := &flip7v1.ListRatingsResponse{}
	if err := protojson.Unmarshal(raw, table); err != nil {
		return nil, fmt.Errorf("--elo: %s is not what \"flip7 elo --json\" writes: %w", file, err)
	}
	return wire.VerifyElo(table, verified), nil
}

func printEloVerification(p *program, file string, wrong error) {
	switch {
	case p.json:
		line := struct {
			File      string   `json:"file"`
			Holds     bool     `json:"holds"`
			Wrong     string   `json:"wrong,omitempty"`
			Unchecked []string `json:"unchecked_columns"`
		}{File: file, Holds: wrong == nil, Unchecked: wire.NotVerified}
		if wrong != nil {
			line.Wrong = wrong.Error()
		}
		_ = json.NewEncoder(p.out).Encode(line)
	case wrong != nil:
		fmt.Fprintf(p.out, "%s: does NOT hold: %v\n", file, wrong)
	default:
		fmt.Fprintf(p.out, "%s: holds. Every column computed again from these exports, but for %s.\n", file, strings.Join(wire.NotVerified, ", "))
	}
}

func printVerificationJSON(p *program, file string, seen arena.Verification, wrong error) {
	line := struct {
		File   string             `json:"file"`
		Holds  bool               `json:"holds"`
		Wrong  string             `json:"wrong,omitempty"`
		Checks arena.Verification `json:"checked"`
	}{File: file, Holds: wrong == nil, Checks: seen}
	if wrong != nil {
		line.Wrong = wrong.Error()
	}
	_ = json.NewEncoder(p.out).Encode(line)
}

func printVerification(p *program, file string, seen arena.Verification, wrong error) {
	if wrong != nil {
		fmt.Fprintf(p.out, "%s: does NOT hold: %v\n", file, wrong)
		return
	}
	fmt.Fprintf(p.out, "%s: holds. %q: %s, %s, %s, %s, %s computed again.\n", file, seen.Name,
		counted(seen.Entries, "entry", "entries"), counted(seen.Rounds, "pairing round", "pairing rounds"), counted(seen.Tables, "table", "tables"),
		counted(seen.Games, "game", "games"), counted(seen.Decisions, "decision", "decisions"))
	if seen.Legs > 0 {
		fmt.Fprintf(p.out, "%s: with a final table of %s.\n", file, counted(seen.Legs, "leg", "legs"))
	}
	if seen.Conclusion != "" {
		fmt.Fprintf(p.out, "%s: %s.\n", file, seen.Conclusion)
	}
	if seen.Predictable {
		fmt.Fprintf(p.out, "%s: its deals were made from a seed: whoever knew that could foretell them.\n", file)
	}
}
