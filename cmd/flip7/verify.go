package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/flip7-arena/flip7/arena"
)

type verifyCmd struct {
	Files []string `arg:"" name:"export" help:"Files that \"flip7 tournament export\" wrote."`
}

// Run verifies every file and says of each what holds, or the first thing that does not.
func (c *verifyCmd) Run(p *program) error {
	failed := false
	for _, file := range c.Files {
		f, err := os.Open(file)
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
	}
	if failed {
		return exit(exitNo)
	}
	return nil
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
	fmt.Fprintf(p.out, "%s: holds. %q: %d entries, %d pairing rounds, %d tables, %d games, %d decisions computed again.\n",
		file, seen.Name, seen.Entries, seen.Rounds, seen.Tables, seen.Games, seen.Decisions)
	if seen.Predictable {
		fmt.Fprintf(p.out, "%s: its deals were made from a seed: whoever knew that could foretell them.\n", file)
	}
}
