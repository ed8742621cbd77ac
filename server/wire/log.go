package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// LogWords is an entry of a bot's log in words: a line, and another with what lay on the table, if the entry has that. They
// do nothing to a terminal.
func LogWords(e *flip7v1.LogEntry) (line, table string) {
	line = logLine(e)
	if e.GetNote() != "" {
		line += fmt.Sprintf("; note %q", e.GetNote())
	}
	if view := e.GetRequest().GetRequest(); view.GetView() != nil {
		table = seen(view)
	}
	return line, table
}

// Missing is the line about entries of a log that were not kept; notes says that they are notes with decisions and nothing
// else: those who read want to know that nothing else is lost.
func Missing(n int, notes bool) string {
	one, many := "entry", "entries"
	if notes {
		one, many = "note", "notes"
	}
	if n == 1 {
		return fmt.Sprintf("1 %s is missing here: it came faster than it could be kept", one)
	}
	return fmt.Sprintf("%d %s are missing here: they came faster than they could be kept", n, many)
}

// missing is what a line about missing entries says; 0 for other entries.
func missing(e *flip7v1.LogEntry) (n int, notes bool) {
	text, what := e.GetLine().GetText(), ""
	if _, err := fmt.Sscan(text, &n, &what); err != nil || e.GetLine().GetFromBot() || !strings.Contains(text, " missing here: ") {
		return 0, false
	}
	return n, strings.HasPrefix(what, "note")
}

// Joined makes one entry of those about what is missing that follow each other: a flood that lasts makes one each second,
// and what is between them is not in every log.
func Joined(entries []*flip7v1.LogEntry) []*flip7v1.LogEntry {
	var joined []*flip7v1.LogEntry
	all, ofNotes := 0, false // what the last one says
	for _, e := range entries {
		n, notes := missing(e)
		if n == 0 || all == 0 || notes != ofNotes {
			joined, all, ofNotes = append(joined, e), n, notes
			continue
		}
		all += n
		last := len(joined) - 1
		joined[last] = &flip7v1.LogEntry{Time: joined[last].GetTime(), SessionId: joined[last].GetSessionId(),
			Entry: &flip7v1.LogEntry_Line{Line: &flip7v1.LoggedLine{Text: Missing(all, notes)}}}
	}
	return joined
}

// seen is what lay on the table when a bot was asked.
func seen(r *flip7v1.DecisionRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "round %d:", r.GetView().GetRound())
	for i, s := range r.GetView().GetSeats() {
		name := fmt.Sprint("seat ", i)
		if i < len(r.GetGame().GetBots()) {
			name = r.GetGame().GetBots()[i]
		}
		fmt.Fprintf(&b, " [%s", name)
		if s.GetStatus() != flip7v1.SeatStatus_SEAT_STATUS_ACTIVE {
			b.WriteString(" " + Word(s.GetStatus(), "SEAT_STATUS_"))
		}
		b.WriteString(":")
		cards := slices.Concat(s.GetRow(), s.GetModifiers(), s.GetActions())
		if s.GetSecondChance() {
			cards = append(cards, Card(game.Second))
		}
		for _, card := range cards {
			if c, err := CardOf(card); err == nil {
				b.WriteString(" " + c.String())
			}
		}
		fmt.Fprintf(&b, " = %d, total %d]", s.GetPoints(), s.GetTotal())
	}
	left := uint32(0)
	for _, n := range r.GetView().GetDrawPile() {
		left += n
	}
	fmt.Fprintf(&b, " %d to draw", left)
	if three := r.GetView().GetFlipThree(); three != nil {
		fmt.Fprintf(&b, ", Flip Three of seat %d with %d to go", three.GetSeat(), three.GetDrawsLeft())
	}
	return b.String()
}

// logLine is an entry in words, without its note.
func logLine(e *flip7v1.LogEntry) string {
	switch what := e.GetEntry().(type) {
	case *flip7v1.LogEntry_Request:
		return requestLine(what.Request)
	case *flip7v1.LogEntry_Verdict:
		return fmt.Sprintf("request %s: %s: %s", what.Verdict.GetRequestId(), Word(what.Verdict.GetCode(), "VERDICT_CODE_"), what.Verdict.GetMessage())
	case *flip7v1.LogEntry_Session:
		return sessionLine(e.GetSessionId(), what.Session)
	case *flip7v1.LogEntry_Line:
		if what.Line.GetFromBot() {
			return "the bot said " + what.Line.GetText()
		}
		return what.Line.GetText()
	}
	return "something that this version does not know"
}

func requestLine(r *flip7v1.LoggedRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "request %s (%s): ", r.GetRequest().GetRequestId(), Word(r.GetRequest().GetKind(), "REQUEST_KIND_"))
	if r.GetCause() != flip7v1.Cause_CAUSE_CHOSEN {
		fmt.Fprintf(&b, "%s, so the default is played: ", Word(r.GetCause(), "CAUSE_"))
	}
	b.WriteString(Word(r.GetAnswer(), "ANSWER_"))
	if r.Seat != nil {
		fmt.Fprintf(&b, " to seat %d", r.GetSeat())
	}
	if r.GetRequest().GetAbsent() {
		b.WriteString(" at once: it was absent")
		return b.String()
	}
	fmt.Fprintf(&b, ", charged %v", r.GetLatency().AsDuration().Round(100*time.Microsecond))
	if n := r.GetIllegal(); n > 0 {
		fmt.Fprintf(&b, ", %d illegal", n)
	}
	switch n := r.GetSent(); n {
	case 0:
		b.WriteString(", never sent")
	case 1:
	default:
		fmt.Fprintf(&b, ", sent %d times", n)
	}
	return b.String()
}

func sessionLine(id string, s *flip7v1.LoggedSession) string {
	switch {
	case s.GetLost():
		return fmt.Sprintf("stream %s was lost", id)
	case s.GetEnd() != flip7v1.EndReason_END_REASON_UNSPECIFIED:
		return fmt.Sprintf("stream %s ended (%s): %s", id, Word(s.GetEnd(), "END_REASON_"), s.GetMessage())
	}
	return fmt.Sprintf("stream %s began: instance %s, build %s, kit %s", id, s.GetInstanceId(), cmp.Or(s.GetBuild(), "-"), cmp.Or(s.GetKit(), "-"))
}

// Word is a value of an enum as a word: its name without what all of them begin with.
func Word(value fmt.Stringer, prefix string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(value.String(), prefix), "_", " "))
}
