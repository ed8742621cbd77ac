package main

import (
	"strings"
	"testing"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func TestANameIsNoFormulaAndNoMarkup(t *testing.T) {
	table := &flip7v1.ListRatingsResponse{Ratings: []*flip7v1.Rating{{Bot: "=1+1", Build: "@x", Owner: "a|[b]"}}}
	var csv, markdown strings.Builder
	if err := printEloCSV(&csv, table); err != nil || !strings.Contains(csv.String(), ",'=1+1,'@x,a|[b],") {
		t.Errorf("CSV (%v):\n%s", err, csv.String())
	}
	if err := printEloMarkdown(&markdown, table); err != nil || !strings.Contains(markdown.String(), `| a\|\[b] |`) {
		t.Errorf("Markdown (%v):\n%s", err, markdown.String())
	}
}

func TestWhoCannotBeToldApart(t *testing.T) {
	for _, c := range []struct {
		name  string
		below []uint32
		want  string
	}{
		{"all differ", []uint32{0, 0, 0}, ""},
		{"two", []uint32{1, 0, 0}, "Cannot be told apart: a and b."},
		{"the last two", []uint32{0, 1, 0}, "Cannot be told apart: b and c."},
		{"all", []uint32{2, 1, 0}, "Cannot be told apart: a to c."},
		{"the second is like the first and like the third, and those differ", []uint32{1, 1, 0}, "Cannot be told apart: a and b; b and c."},
		{"stretches overlap", []uint32{2, 1, 2, 1, 0}, "Cannot be told apart: a to c; c to e."},
		{"down to a line of the next page", []uint32{0, 0, 3}, ""},
	} {
		var rows []*flip7v1.Rating
		for i, below := range c.below {
			rows = append(rows, &flip7v1.Rating{Bot: string(rune('a' + i)), AlikeBelow: below})
		}
		if got := alike(rows); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// An Elo table has more columns than a terminal: they stand closer then, so that one of 120 shows it whole.
func TestAnEloTableIsNoWiderThanItMustBe(t *testing.T) {
	var out strings.Builder
	row := &flip7v1.Rating{Bot: "my-bot", Build: "v1.2", Owner: "ada", Rank: 12, RankBest: 10, RankWorst: 14, Elo: 1512, Margin: new(141.0), Games: 10056, LosNext: new(0.999)}
	if err := printElo(&out, "main", &flip7v1.ListRatingsResponse{Ratings: []*flip7v1.Rating{row}}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "house bots take no time") || !strings.Contains(out.String(), "P99: 99 of 100 decisions took no longer.\n") {
		t.Errorf("there is no house bot, and P99 is explained as\n%s", &out)
	}
	if head := strings.Split(out.String(), "\n")[2]; !strings.HasPrefix(head, "RANK") || len(head) > 120 {
		t.Errorf("%d columns: %s", len(head), head)
	}
}

func TestATableTellsWhenItsZeroWillChange(t *testing.T) {
	for _, c := range []struct {
		bot, anchor, want string
	}{
		{"ada", "", "\nThe mean is 1500.\n"},
		{"stay-25", "", "\nThe mean is 1500; once stay-25 has 20 rotations (it has 14) it will have 1500, and all ratings move together.\n"},
		{"stay-25", "stay-25", "\nstay-25 has 1500.\n"},
	} {
		var out strings.Builder
		if err := printElo(&out, "main", &flip7v1.ListRatingsResponse{Anchor: c.anchor, Ratings: []*flip7v1.Rating{{Bot: c.bot, Clusters: 14}}}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("got\n%s\nwant %q in it", &out, c.want)
		}
	}
}

func TestAnOlderBuildHasNoRanks(t *testing.T) {
	newest := &flip7v1.Rating{Bot: "ada", Rank: 1, RankBest: 1, RankWorst: 3, OlderBuilds: []*flip7v1.Rating{{Bot: "ada", Build: "v1"}}}
	var out strings.Builder
	if err := printElo(&out, "main", &flip7v1.ListRatingsResponse{Ratings: []*flip7v1.Rating{newest}}); err != nil {
		t.Fatal(err)
	}
	if text := out.String(); !strings.Contains(text, " 1-3 ") || strings.Contains(text, "0-0") {
		t.Errorf("got\n%s", text)
	}
}
