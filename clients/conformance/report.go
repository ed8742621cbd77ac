package conformance

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Outcome is what came of a script.
type Outcome string

// The outcomes. Failed and NotFailed make a check say no.
const (
	Passed    Outcome = "passed"
	Failed    Outcome = "failed"     // a must does not hold
	Warned    Outcome = "warned"     // a should does not hold
	Known     Outcome = "known"      // it failed, as was declared
	NotFailed Outcome = "not_failed" // it was declared to fail and passed
	Skipped   Outcome = "skipped"    // the bot takes too few games at once for it
)

// Result is how one script went.
type Result struct {
	Number  int      `json:"number"` // of the script among those played
	Script  string   `json:"script"`
	Proves  string   `json:"proves"`
	Must    bool     `json:"must"`
	Outcome Outcome  `json:"outcome"`
	Seconds float64  `json:"seconds"`
	Note    string   `json:"note,omitempty"`    // what was measured, why it was skipped, why it is known to fail
	Failure *Failure `json:"failure,omitempty"` // also of one that is known
	Like    string   `json:"like,omitempty"`    // the first script that failed like this one, most likely for the same cause
	Steps   []string `json:"steps"`
	Kit     string   `json:"-"` // as the bot's hello says
	Version string   `json:"-"`

	absent bool   // the bot never opened a stream
	strays strays // behind the bridge
}

// Report is how a bot did.
type Report struct {
	Kit     string   `json:"kit"` // as its hello says
	Version string   `json:"version"`
	Of      int      `json:"of"`      // how many scripts there were to be played
	Results []Result `json:"scripts"` // those that were
}

// add adds a result, and returns it with what it is like.
func (r *Report) add(result Result) Result {
	if result.counts() {
		i := slices.IndexFunc(r.Results, func(earlier Result) bool { return earlier.counts() && earlier.Failure.like == result.Failure.like })
		if i >= 0 {
			result.Like = r.Results[i].Script
		}
	}
	r.Results = append(r.Results, result)
	if r.Kit == "" {
		r.Kit, r.Version = result.Kit, result.Version
	}
	return result
}

// counts reports whether it is a failure that nobody knows of yet.
func (r Result) counts() bool { return r.Failure != nil && r.Outcome != Known }

// Count is how many scripts came out so.
func (r Report) Count(outcome Outcome) int {
	n := 0
	for _, result := range r.Results {
		if result.Outcome == outcome {
			n++
		}
	}
	return n
}

// Conforms reports whether every must holds, but for those known not to, and these really do not.
func (r Report) Conforms() bool { return r.Count(Failed)+r.Count(NotFailed) == 0 }

// Advice says what to mend first, if one cause seems to be behind most of what failed; else it is empty.
func (r Report) Advice() string {
	failures, like := 0, make(map[string]int)
	for _, result := range r.Results {
		if result.counts() {
			failures++
			like[cmp.Or(result.Like, result.Script)]++
		}
	}
	for _, result := range r.Results {
		if n := like[result.Script]; n > 1 && 2*n > failures {
			return fmt.Sprintf("%d of the %d that do not pass are like %s: mend what is said there first.", n, failures, result.Script)
		}
	}
	return ""
}

// Strays says what is wrong with lines that the bridge did not take for decisions: no script fails by them, and too many
// in a row have the bridge start a bot again. Without such lines it is empty.
func (r Report) Strays() string {
	var all strays
	for _, result := range r.Results {
		if all.n += result.strays.n; all.first == "" {
			all.first = result.strays.first
		}
	}
	switch all.n {
	case 0:
		return ""
	case 1:
		return "Warning: the bridge says, once: " + all.first
	}
	return fmt.Sprintf("Warning: the bridge says, %d times in all: %s", all.n, all.first)
}

// Write writes a result for people: a line, and behind it what failed, if it is not like an earlier one, or with verbose
// all of it and all steps.
func (r Result) Write(w io.Writer, verbose bool) error {
	mark := map[Outcome]string{
		Passed: "ok", Failed: "FAILED", Warned: "warning", Known: "known failure", NotFailed: "NO LONGER FAILS", Skipped: "skipped",
	}[r.Outcome]
	var b strings.Builder
	fmt.Fprintf(&b, "%3d  %-22s %-8s %5.1f s", r.Number, r.Script, mark, r.Seconds)
	if r.Note != "" {
		fmt.Fprintf(&b, "  %s", r.Note)
	}
	if r.Like != "" && !verbose {
		fmt.Fprintf(&b, "  like %s: %s\n", r.Like, r.Failure.Came)
		_, err := io.WriteString(w, b.String())
		return err
	}
	b.WriteString("\n")
	if verbose || r.Failure != nil && r.Outcome != Known {
		fmt.Fprintf(&b, "       %s\n", r.Proves)
	}
	if f := r.Failure; f != nil && r.Outcome != Known {
		fmt.Fprintf(&b, "       line %d:  %s\n       expected: %s\n       came:     %s\n", f.Line, f.Step, f.Expected, f.Came)
		if f.Hint != "" {
			fmt.Fprintf(&b, "       perhaps:  %s\n", f.Hint)
		}
		if len(f.Output) == 0 {
			b.WriteString("       The bot wrote nothing.\n")
		} else {
			b.WriteString("       The last that the bot wrote:\n")
		}
		for _, line := range f.Output {
			fmt.Fprintf(&b, "         | %s\n", line)
		}
	} else if verbose {
		for _, step := range r.Steps {
			fmt.Fprintf(&b, "         %s\n", step)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// String is the report in a sentence.
func (r Report) String() string {
	who := "the bot"
	if r.Kit != "" {
		who = strings.TrimSpace("a bot of the kit " + r.Kit + " " + r.Version)
	}
	text := fmt.Sprintf("%d of %d scripts passed by %s", r.Count(Passed), r.Of, who)
	for _, o := range []struct {
		outcome   Outcome
		one, many string
	}{
		{Failed, "failed", "failed"},
		{NotFailed, "declared to fail and passed", "declared to fail and passed"},
		{Known, "known to fail", "known to fail"},
		{Warned, "warning (it should pass)", "warnings (they should pass)"},
		{Skipped, "skipped", "skipped"},
	} {
		switch n := r.Count(o.outcome); n {
		case 0:
		case 1:
			text += ", 1 " + o.one
		default:
			text += fmt.Sprintf(", %d %s", n, o.many)
		}
	}
	if n := r.Of - len(r.Results); n > 0 {
		text += fmt.Sprintf(", %d not played", n)
	}
	return text + "."
}
