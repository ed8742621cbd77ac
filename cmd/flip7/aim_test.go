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
	aims := []*flip7v1.Aim{ // as the arena sends them, by how many errors they are above what was expected
		aim("cyd", "bob", flip7v1.Card_CARD_FREEZE, 2, 2, 0.1, 0.3),       // 6.3, of which two choices say nothing
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
bob  ada      Flip Three  18 of 40  7.7 +- 2.9         1 night in 140
cyd  bob      Freeze      2 of 2    0.1 +- 0.3         1 night in 80
cyd  ada      Freeze      12 of 30  10.0 +- 2.0        most nights`; table != want {
		t.Errorf("got\n%s\nwant\n%s", table, want)
	}
	if !strings.Contains(out.String(), "Of the 5 such rows") {
		t.Errorf("%s does not say how many rows there are to look odd", out.String())
	}
	out.Reset()
	if err := printAims(&out, aims[4:]); err != nil || !strings.HasPrefix(out.String(), "At the tables that have ended nobody gave") {
		t.Errorf("with nobody above the others: %v, %s", err, out.String())
	}
}

func TestARowIsTheLessOddTheMoreRowsThereAre(t *testing.T) {
	for _, c := range []struct {
		luck float64
		rows int
		want string
	}{
		{0.02275, 1, "1 night in 44"},
		{0.02275, 10, "1 night in 5"}, // 1 - 0.97725^10 = 20.56 %
		{0.02275, 100, "most nights"},
		{1, 3, "most nights"},
		{1e-6, 81, "1 night in 12000"},
		{1e-9, 81, "less than 1 night in a million"},
	} {
		if got := nights(c.luck, c.rows); got != c.want {
			t.Errorf("%v, one of %d rows: got %q, want %q", c.luck, c.rows, got, c.want)
		}
	}
}
