package scenario

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

func TestAMalformedScenarioIsRefusedWithItsPlace(t *testing.T) {
	const sound = `{"name": "sound", "players": 3, "dealer": 0, "rules": {"tie_break": "all_play", "busted_assigns": true, "deal": "once",
		"target_score": 200, "max_rounds": 1000, "decks": 1}, "totals": [1, 2, 3], "deck": ["5", "freeze", "6", "7"], "reshuffles": [],
		"decisions": ["stay", 1, "stay"], "rounds": 1}`
	if err := try(strings.NewReplacer(`"stay", 1, "stay"`, `1, "stay", "stay"`).Replace(sound)); err != nil {
		t.Fatalf("the scenario before the change: %v", err)
	}
	for _, c := range []struct {
		name, old, new string // what is changed in the sound one
		want           string // in the error
	}{
		{"nothing", sound, "\n", "not a scenario: it is empty"},
		{"no JSON", `{"name"`, `"name"`, "not a scenario: "},
		{"something behind it", `"rounds": 1}`, `"rounds": 1} {}`, "not a scenario: something follows"},
		{"no players", `"players": 3,`, ``, "players: missing"},
		{"two players", `"players": 3`, `"players": 2`, "players: 2 is not 3..36"},
		{"37 players", `"players": 3`, `"players": 37`, "players: 37 is not 3..36"},
		{"players in words", `"players": 3`, `"players": "three"`, "players"},
		{"a dealer who is not there", `"dealer": 0`, `"dealer": 3`, "dealer: 3 is not a seat 0..2"},
		{"a dealer below 0", `"dealer": 0`, `"dealer": -1`, "dealer: -1 is not a seat 0..2"},
		{"an unknown rule", `"decks": 1`, `"deck": 1`, `rules: json: unknown field "deck"`},
		{"an unknown tie break", `all_play`, `coin`, `rules.tie_break: "coin" is not`},
		{"an unknown deal", `"once"`, `"twice"`, `rules.deal: "twice" is not`},
		{"a rule that is no boolean", `"busted_assigns": true`, `"busted_assigns": "yes"`, "rules: json: cannot unmarshal string into Go struct field .busted_assigns"},
		{"no target", `"target_score": 200`, `"target_score": 0`, "rules.target_score: 0 is not 1.."},
		{"no rounds at most", `"max_rounds": 1000`, `"max_rounds": 0`, "rules.max_rounds: 0 is not 1.."},
		{"no deck", `"decks": 1`, `"decks": 0`, "rules.decks: 0 is not 1.."},
		{"seventeen decks", `"decks": 1`, `"decks": 17`, "rules.decks: 17 is not 1.."},
		{"two totals", `[1, 2, 3]`, `[1, 2]`, "totals: 2 of them for 3 seats"},
		{"no totals at all for three seats", `[1, 2, 3]`, `[]`, "totals: 0 of them for 3 seats"},
		{"a total below 0", `[1, 2, 3]`, `[1, -2, 3]`, "totals[1]: -2 is less than 0"},
		{"a card that does not exist", `"freeze"`, `"13"`, `deck[1]: "13" is no card`},
		{"a card that is a number", `"freeze"`, `6`, "deck"},
		{"two x2 in one deck", `["5", "freeze"`, `["x2", "x2"`, "deck[1]: x2 is there 2 times, and the 1 deck(s) have 1"},
		{"a card that does not exist in a reshuffle", `"reshuffles": []`, `"reshuffles": [["5"], ["5", "+5"]]`, `reshuffles[1][1]: "+5" is no card`},
		{"an unknown decision", `"stay", 1`, `"fold", 1`, `decisions[0]: "fold" is no decision`},
		{"a seat in quotes", `"stay", 1`, `"1", 1`, `decisions[0]: "1" is no decision`},
		{"a seat that is no integer", `"stay", 1`, `1.5, 1`, `decisions[0]: "1.5" is no decision`},
		{"a decision of another kind", `"stay", 1, "stay"`, `"stay", "stay", "stay"`, "decisions[0]: illegal decision: stay does not answer"},
		{"a seat that is not there", `"stay", 1, "stay"`, `3, "stay", "stay"`, "decisions[0]: illegal decision: 3 does not answer"},
		{"a decision too few", `"stay", 1, "stay"`, `1, "stay"`, "decisions: 2 of them, and seat 2 is asked for another (turn)"},
		{"no decisions", `"stay", 1, "stay"`, ``, "decisions: 0 of them, and seat 2 is asked for another (freeze)"},
		{"a decision too many", `"stay", 1, "stay"`, `1, "stay", "stay", "stay"`, "decisions: 4 of them, but only 3 are asked"},
		{"no rounds", `"rounds": 1`, `"rounds": 0`, "rounds: 0 is not 1 or more"},
		{"an expectation that nothing meets", `"rounds": 1}`, `"rounds": 1, "expect": {"scores": []}}`, `expect: "scores" is not`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(sound, c.old) {
				t.Fatalf("%s is not in the scenario", c.old)
			}
			err := try(strings.Replace(sound, c.old, c.new, 1))
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("%q is more than a line", err)
			}
		})
	}
}

func TestAReshuffleMustBeTheDiscardPile(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(reshuffles [][]string) [][]string
		want   string // in the error; empty: it is accepted
	}{
		{"as it is", func(r [][]string) [][]string { return r }, ""},
		{"a card too few", func(r [][]string) [][]string { return [][]string{r[0][1:]} },
			"reshuffles[0]: +10 is listed 0 times, and the discard pile has 1 of it"},
		{"a card too many", func(r [][]string) [][]string { return [][]string{append(r[0], "freeze")} },
			"reshuffles[0]: freeze is listed 1 times, and the discard pile has 0 of it"},
		{"another card", func(r [][]string) [][]string { r[0][0] = "12"; return r },
			"reshuffles[0]: 12 is listed"},
		{"none listed: the order of the deck", func([][]string) [][]string { return nil }, ""},
		{"more than needed", func(r [][]string) [][]string { return append(r, []string{"5", "5", "5"}) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := os.ReadFile("testdata/reshuffle-takes-the-discards-alone.json")
			if err != nil {
				t.Fatal(err)
			}
			var file map[string]json.RawMessage
			var reshuffles [][]string
			if err := errors.Join(json.Unmarshal(text, &file), json.Unmarshal(file["reshuffles"], &reshuffles)); err != nil {
				t.Fatal(err)
			}
			if file["reshuffles"], err = json.Marshal(c.change(reshuffles)); err != nil {
				t.Fatal(err)
			}
			if text, err = json.Marshal(file); err != nil {
				t.Fatal(err)
			}
			err = try(string(text))
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}

// try reads and plays a scenario.
func try(text string) error {
	sc, err := Read(strings.NewReader(text))
	if err != nil {
		return err
	}
	_, err = sc.Play()
	return err
}
