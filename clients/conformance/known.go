package conformance

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

// KnownFailure is a script that a kit is known to fail, and why. It is played all the same: once it passes the check says
// no, so that the list stays true.
type KnownFailure struct{ Kit, Script, Reason string }

//go:embed known.txt
var knownFile string

// KnownFailures are those of the kits of this project.
func KnownFailures() []KnownFailure {
	known, err := ReadKnown(knownFile)
	if err != nil {
		panic(err) // a test reads it
	}
	return known
}

// ReadKnown reads known failures, one a line: the kit, the script, and the reason in words. Lines that begin with # are
// comments.
func ReadKnown(text string) ([]KnownFailure, error) {
	var known []KnownFailure
	for i, line := range strings.Split(text, "\n") {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		words := strings.Fields(line)
		if len(words) < 3 {
			return nil, fmt.Errorf("line %d: %q, want the kit, the script and the reason", i+1, line)
		}
		if !slices.ContainsFunc(Scripts(), func(s Script) bool { return s.Name == words[1] }) {
			return nil, fmt.Errorf("line %d: there is no script %q", i+1, words[1])
		}
		known = append(known, KnownFailure{words[0], words[1], strings.Join(words[2:], " ")})
	}
	return known, nil
}

// judge says what the result means if the failure is known.
func (r *Result) judge(kit string, known []KnownFailure) {
	for _, k := range known {
		if k.Kit != kit || k.Script != r.Script {
			continue
		}
		r.Note = k.Reason
		switch r.Outcome {
		case Failed, Warned:
			r.Outcome = Known
		case Passed:
			r.Outcome = NotFailed
		}
	}
}
