package conformance

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestTheScriptsAreSound(t *testing.T) {
	names := make(map[string]bool)
	for _, s := range Scripts() {
		if names[s.Name] {
			t.Errorf("two scripts are called %s", s.Name)
		}
		names[s.Name] = true
		if !strings.HasSuffix(s.Proves, ".") {
			t.Errorf("%s proves %q, want a sentence", s.Name, s.Proves)
		}
	}
	KnownFailures()
}

func TestAMistakeInAScriptIsToldWithItsLine(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"must\nmeet", "x.txt:1: does not say what it proves"},
		{"# It.\nmeet", `x.txt:2: "meet" comes first, want must, should`},
		{"# It.\nmust", "x.txt: nothing happens"},
		{"# It.\nmust\ngreet", "x.txt:3: greet: the bot is not begun"},
		{"# It.\nmust\nmeet\ngreet", "x.txt:4: greet: no such verb: want start, meet,"},
		{"# It.\nmust\nmeet\nstart", "the bot has been begun"},
		{"# It.\nmust\nstart\nsend ping 1", "no stream is up: expect stream comes before it"},
		{"# It.\nmust\nmeet\ndrop\nsend ping 1", "no stream is up"},
		{"# It.\nmust\nmeet again", `what is "again"?`},
		{"# It.\nmust\nslow speed=1", "what is speed=?"},
		{"# It.\nmust\nslow rate=1 rate=2", "rate is given twice"},
		{"# It.\nmust\nslow rate=fast", `"fast" is no number`},
		{"# It.\nmust\nmeet\nwithin soon expect exit", `"soon" is no time such as 500ms or 5s`},
		{"# It.\nmust\nmeet\nwithin 5s send ping 1", "within 5s stands before expect"},
		{"# It.\nmust\nmeet\nfor 5s expect exit", "want nothing, or no stream"},
		{"# It.\nmust\nmeet\nexpect luck", "expect luck: want stream, hello, decision, pong or exit"},
		{"# It.\nmust\nmeet\nexpect hello instance=other", "instance=other: want one of some, same"},
		{"# It.\nmust\nmeet\nexpect decision", "id is missing"},
		{"# It.\nmust\nmeet\nexpect pong [1-3]", "[1-3]: want something like g[1..8]/1"},
		{"# It.\nmust\nmeet\nallow pong 1", "allow pong: want decision"},
		{"# It.\nmust\nmeet\nand ping 1", "and follows send"},
		{"# It.\nmust\nmeet\nsend luck", "send luck: want welcome, game, request,"},
		{"# It.\nmust\nmeet\nsend request g1/1 turn", "request g1/1: send game g1 first"},
		{"# It.\nmust\nmeet\nsend game g1\nsend request g1/1 again", "x.txt:5: send request g1/1 again: request g1/1 again: it was not sent before"},
		{"# It.\nmust\nmeet\nsend game g1 players=2", "players=2 me=0: want 3 to 36 players"},
		{"# It.\nmust\nmeet\nsend game g1\nsend request g1/1 turn seats=\"12 | 0", "a quote is not closed"},
		{"# It.\nmust\nmeet\nsend game g1\nsend request g1/1 turn seats=\"12 | 0\"", "seats: 2 of them, the game has 4 players"},
		{"# It.\nmust\nmeet\nsend game g1\nsend request g1/1 turn seats=\"13 | 0 | 1 | 2\"", `"13" is no card: want one of 0 1 2`},
		{"# It.\nmust\nmeet\nsend game g1\nsend request g1/1 turn seats=\"- | 0 | 1 | 2\"", `"-" is no card`},
		{"# It.\nmust\nmeet\nexpect pong [3..1]", "[3..1]: want the lower number first"},
		{"# It.\nmust\nmeet\nsend game g1\nsend request g1/1 turn seats=\"0 | 0 | 1 | 2\"", "more cards 0 are there than the deck has"},
		{"# It.\nmust\nmeet\nsend finished g1 complete", "game g1 has not begun"},
		{"# It.\nmust\nmeet\nsend goodbye nonsense", `"nonsense" is none of bad_hello, build_changed,`},
	} {
		_, err := Parse("x", c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got error %v, want one with %q", c.text, err, c.want)
		}
	}
}

func TestATableIsWhatIsWritten(t *testing.T) {
	s, err := Parse("x", `# It.
must
meet
send game g1 players=4 me=3
send request g1/1 flip3 seats="12 5 +4 x2 | second 0 7 | frozen 3 freeze | " totals="10 20 30 40" drawing=1 left=2 aside="flip3" discard="12 12"`)
	if err != nil {
		t.Fatal(err)
	}
	got := s.steps[len(s.steps)-1].act.(*send).messages[0].GetRequest().GetView()
	want := []*flip7v1.Seat{
		{Status: 1, Row: []flip7v1.Card{6, 13}, Modifiers: []flip7v1.Card{15, 19}, Points: 38, Total: 10, BankSeconds: 10},
		{Status: 1, Row: []flip7v1.Card{1, 8}, SecondChance: true, Points: 7, Total: 20, BankSeconds: 10},
		{Status: 3, Row: []flip7v1.Card{4}, Actions: []flip7v1.Card{20}, Points: 3, Total: 30, BankSeconds: 10},
		{Status: 1, Total: 40, BankSeconds: 10, ToBeDealt: true},
	}
	for i, seat := range got.GetSeats() {
		if !proto.Equal(seat, want[i]) {
			t.Errorf("seat %d is %v, want %v", i, seat, want[i])
		}
	}
	// 94 cards less 9 in front of seats, one aside, one asked about and two discarded.
	cards := uint32(0)
	for _, n := range got.GetDrawPile() {
		cards += n
	}
	if cards != 81 || got.GetDiscardPile()[12] != 2 || got.GetDrawPile()[12] != 9 {
		t.Errorf("%d cards to draw, %d twelves of them and %d discarded, want 81, 9 and 2", cards, got.GetDrawPile()[12], got.GetDiscardPile()[12])
	}
}

// FuzzParse: whatever a script holds, it is a script or an error.
func FuzzParse(f *testing.F) {
	names, err := files.ReadDir("scripts")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := files.ReadFile("scripts/" + name.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := Parse("x", text); err == nil && (s.Proves == "" || len(s.Lines()) == 0) {
			t.Errorf("%q is taken for a script", text)
		}
	})
}
