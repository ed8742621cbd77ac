package wire_test

import (
	"slices"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// A flood that lasts is told once where nothing lies between, and what it was of stays apart.
func TestMissingEntriesThatFollowEachOtherAreOneLine(t *testing.T) {
	const was = "26 entries are missing here: they came faster than they could be kept"
	said := &flip7v1.LogEntry{Entry: &flip7v1.LogEntry_Line{Line: &flip7v1.LoggedLine{FromBot: true, Text: wire.Missing(3, true)}}}
	var entries []*flip7v1.LogEntry
	for i, text := range []string{wire.Missing(1, true), wire.Missing(25, true), wire.Missing(2, true), "it came", wire.Missing(7, true), wire.Missing(4, false), was, "it went",
		wire.Missing(1, false), wire.Missing(1, true)} {
		entries = append(entries, &flip7v1.LogEntry{Time: timestamppb.New(time.Unix(int64(i), 0)),
			Entry: &flip7v1.LogEntry_Line{Line: &flip7v1.LoggedLine{Text: text}}})
	}
	entries = append(entries, said, said)
	var got []string
	for _, e := range wire.Joined(entries) {
		text, _ := wire.LogWords(e)
		got = append(got, e.GetTime().AsTime().Format("05 ")+text)
	}
	want := []string{"00 28 notes are missing here: they came faster than they could be kept", "03 it came",
		"04 7 notes are missing here: they came faster than they could be kept", "05 30 entries are missing here: they came faster than they could be kept", "07 it went",
		"08 1 entry is missing here: it came faster than it could be kept", "09 1 note is missing here: it came faster than it could be kept",
		"00 the bot said " + wire.Missing(3, true), "00 the bot said " + wire.Missing(3, true)}
	if !slices.Equal(got, want) {
		t.Errorf("got %q\nwant %q", got, want)
	}
	if first, _ := wire.LogWords(entries[0]); first != wire.Missing(1, true) {
		t.Errorf("what was joined is changed: %q", first)
	}
}
