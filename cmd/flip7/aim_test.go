package main

import (
	"strings"
	"testing"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestAimsAreToldInWords(t *testing.T) {
	aim := func(bot, target string, card flip7v1.Card, times, chances uint32, expected, wrong float64) *flip7v1.Aim {
		return &flip7v1.Aim{Bot: bot, Target: target, Card: card, Times: times, Chances: chances, Expected: expected, Error: wrong}
	}
	aims := []*flip7v1.Aim{
		aim("ada", "bob", flip7v1.Card_CARD_FREEZE, 34, 60, 14.9, 3.3),    // 5.8 errors
		aim("bob", "ada", flip7v1.Card_CARD_FLIP_THREE, 18, 40, 7.7, 2.9), // 3.6
		aim("cyd", "ada", flip7v1.Card_CARD_FREEZE, 12, 30, 10, 2),        // 1
		aim("ada", "cyd", flip7v1.Card_CARD_FREEZE, 2, 60, 14.9, 3.3),
	}
	var out strings.Builder
	if err := printAims(&out, aims); err != nil {
		t.Fatal(err)
	}
	table, _, _ := strings.Cut(out.String(), "\n\nTIMES")
	if want := `Who gave a card to whom more often than the others at the same tables:

BOT  GAVE TO  A           TIMES     OTHERS WOULD HAVE  LUCK ALONE DOES THIS IN
ada  bob      Freeze      34 of 60  14.9 +- 3.3        less than 1 night in a million
bob  ada      Flip Three  18 of 40  7.7 +- 2.9         1 night in 1300
cyd  ada      Freeze      12 of 30  10.0 +- 2.0        1 night in 2`; table != want {
		t.Errorf("got\n%s\nwant\n%s", table, want)
	}
	if !strings.Contains(out.String(), "Of the 4 such rows") {
		t.Errorf("%s does not say how many rows there are to look odd", out.String())
	}
	out.Reset()
	if err := printAims(&out, aims[3:]); err != nil || !strings.HasPrefix(out.String(), "At the tables that have ended nobody gave") {
		t.Errorf("with nobody above the others: %v, %s", err, out.String())
	}
}

func TestAPairIsTheLessOddTheMorePairsThereAre(t *testing.T) {
	two := &flip7v1.Aim{Times: 20, Chances: 100, Expected: 10, Error: 5} // two errors above: 2.275 % of all pairs
	for _, c := range []struct {
		pairs int
		want  string
	}{
		{1, "1 night in 44"},
		{10, "1 night in 5"}, // 1 - 0.97725^10 = 20.56 %
		{100, "most nights"},
	} {
		if got := nights(luck(two, c.pairs)); got != c.want {
			t.Errorf("of %d pairs: got %q, want %q", c.pairs, got, c.want)
		}
	}
}
