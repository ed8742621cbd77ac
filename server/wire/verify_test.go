package wire

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// eloTable is a table with something in every column.
func eloTable() *flip7v1.ListRatingsResponse {
	table := &flip7v1.ListRatingsResponse{}
	for _, bot := range []string{"a", "b"} {
		line, older := &flip7v1.Rating{}, &flip7v1.Rating{}
		for _, message := range []proto.Message{line, older, table} {
			m := message.ProtoReflect()
			for i := range m.Descriptor().Fields().Len() {
				if field := m.Descriptor().Fields().Get(i); !field.IsList() && field.Message() == nil {
					m.Set(field, another(field, protoreflect.Value{}))
				}
			}
		}
		line.Bot, older.Bot, older.Build = bot, bot, "older"
		line.OlderBuilds = []*flip7v1.Rating{older}
		table.Ratings = append(table.Ratings, line)
	}
	return table
}

// another is a value of a field that is not the one it has.
func another(field protoreflect.FieldDescriptor, v protoreflect.Value) protoreflect.Value {
	switch field.Kind() {
	case protoreflect.StringKind:
		if v.IsValid() {
			return protoreflect.ValueOfString(v.String() + "x")
		}
		return protoreflect.ValueOfString("x")
	case protoreflect.Uint32Kind:
		if v.IsValid() {
			return protoreflect.ValueOfUint32(uint32(v.Uint()) + 1)
		}
		return protoreflect.ValueOfUint32(7)
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(!v.IsValid() || !v.Bool())
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(2 - max(0, map[bool]protoreflect.EnumNumber{true: 1}[v.IsValid()]))
	}
	if v.IsValid() {
		return protoreflect.ValueOfFloat64(v.Float() + 2*within(field.Name()))
	}
	return protoreflect.ValueOfFloat64(0.5)
}

func TestEveryColumnOfAnEloTableIsCompared(t *testing.T) {
	if err := sameTable(eloTable(), eloTable()); err != nil {
		t.Fatalf("a table is not the same as itself: %v", err)
	}
	check := func(change func(*flip7v1.ListRatingsResponse) proto.Message, but ...string) {
		fields := change(eloTable()).ProtoReflect().Descriptor().Fields()
		for i := range fields.Len() {
			field := fields.Get(i)
			name := string(field.Name())
			if slices.Contains(but, name) {
				continue
			}
			shown := eloTable()
			m := change(shown).ProtoReflect()
			m.Set(field, another(field, m.Get(field)))
			if err := sameTable(shown, eloTable()); err == nil || !strings.Contains(err.Error(), name) && name != "bot" && name != "build" {
				t.Errorf("another %s: got %v", name, err)
			}
			if !field.HasPresence() {
				continue
			}
			m.Clear(field)
			if err := sameTable(shown, eloTable()); err == nil || !strings.Contains(err.Error(), name+": none") {
				t.Errorf("no %s: got %v", name, err)
			}
			if err := sameTable(eloTable(), shown); err == nil || !strings.Contains(err.Error(), "the games make none") {
				t.Errorf("%s where there is none: got %v", name, err)
			}
		}
	}
	but := append([]string{"older_builds"}, NotVerified...)
	check(func(w *flip7v1.ListRatingsResponse) proto.Message { return w.Ratings[1] }, but...)
	check(func(w *flip7v1.ListRatingsResponse) proto.Message { return w.Ratings[0].OlderBuilds[0] }, but...)
	check(func(w *flip7v1.ListRatingsResponse) proto.Message { return w }, "ratings", "rated_tournaments", "next_page_token", "as_of_time")
}

func TestLinesOfAnEloTableAreCompared(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*flip7v1.ListRatingsResponse)
		want   string // "": the same
	}{
		{"a rating within what processors do", func(w *flip7v1.ListRatingsResponse) { w.Ratings[0].Elo += 0.01 }, ""},
		{"no number", func(w *flip7v1.ListRatingsResponse) { w.Ratings[0].Elo = math.NaN() }, "rating of a@x: elo: NaN, and the games make it 0.5"},
		{"a line less", func(w *flip7v1.ListRatingsResponse) { w.Ratings = w.Ratings[:1] }, "line 2 is of nobody, and the games make it that of b@x"},
		{"a line more", func(w *flip7v1.ListRatingsResponse) { w.Ratings = append(w.Ratings, w.Ratings[0]) }, "line 3 is of a@x, and the games make it that of nobody"},
		{"two exchanged", func(w *flip7v1.ListRatingsResponse) { slices.Reverse(w.Ratings) }, "line 1 is of b@x, and the games make it that of a@x"},
		{"an older build less", func(w *flip7v1.ListRatingsResponse) { w.Ratings[0].OlderBuilds = nil }, "rating of a@x: line 1 is of nobody, and the games make it that of a@older"},
	} {
		shown := eloTable()
		c.change(shown)
		got := ""
		if err := sameTable(shown, eloTable()); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// What a table is made of comes back as it went.
func TestRatedTournamentsAreReadBack(t *testing.T) {
	nights := []arena.RatedNight{
		{Tournament: 1, Commitment: [32]byte{1}},
		{Tournament: 3, Commitment: [32]byte{3}, Lost: []arena.TableID{{Round: 2, Table: 1}}, Excluded: []arena.Excluded{{Round: 1, Table: 2, Game: 3, Why: "a stall"}}},
	}
	got, err := ratedNights(RatedTournaments(nights))
	if err != nil {
		t.Fatal(err)
	}
	for i := range nights {
		nights[i].Tournament = 0 // a number of the arena's own, which no export has
	}
	if !reflect.DeepEqual(got, nights) {
		t.Errorf("got %+v, want %+v", got, nights)
	}
	short := &flip7v1.ListRatingsResponse{RatedTournaments: []*flip7v1.RatedTournament{{Commitment: []byte("short")}}}
	if err := VerifyElo(short, nil); err == nil || err.Error() != "rated_tournaments[0].commitment: is not 32 bytes" {
		t.Errorf("a commitment of five bytes: got %v", err)
	}
}
