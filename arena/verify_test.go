package arena

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
)

func TestVerifyNamesWhatDoesNotHold(t *testing.T) {
	var results string
	synctest.Test(t, func(t *testing.T) {
		bots := names(7)
		e := prepare(t, Settings{Rounds: 2, Rotations: 1}, newRoster(bots...), bots...)
		e.start()
		e.wait()
		results = string(export(t, e.Arena, e.id))
	})
	if _, err := Verify(strings.NewReader(results)); err != nil {
		t.Fatalf("the export does not hold as it is: %v", err)
	}
	for _, c := range []struct {
		name       string
		old, new   string // replaced once
		complained string
	}{
		{"another secret", `"secret":"`, `"secret":"00`, "secret"},
		{"another commitment", `"commitment":"`, `"commitment":"0`, "commitment"},
		{"what a bot brought", `"contribution":"626f74`, `"contribution":"626f75`, "the secret and what the bots brought make the seed"},
		{"a decision", `"hit","hit"`, `"hit","stay"`, "pairing round 1, table 1, game 1"},
		{"a total", `"totals":[`, `"totals":[1`, "pairing round 1, table 1, game 1"},
		{"a place", `"places":[`, `"places":[1`, ", places [1"},
		{"who sat where", `"seats":[`, `"seats":[9,`, "pairing round 1, table 1, game 1"},
		{"a pairing", `"cost":0`, `"cost":2`, "pairing round 1"},
		{"the standings", `"line":"standing","rank":1`, `"line":"standing","rank":2`, "standings"},
		{"a score", `"score":"`, `"score":"1`, "standings"},
		{"an aim", `"line":"aim","bot":1`, `"line":"aim","bot":2`, "aims"},
		{"how often one aimed", `"chances":`, `"chances":1`, "aims"},
		{"what was expected", `"expected":"`, `"expected":"1`, "aims"},
		{"a key that is not known", `"line":"standing",`, `"line":"standing","prize":100,`, "prize"},
		{"a key of the rules that is not known", `"target_score":200`, `"uarget_score":200`, "uarget_score"},
		{"a key of a record that is not known", `"dealer":`, `"prize":1,"dealer":`, "prize"},
		{"a house bot that there is not", `"player":"house:stay-25"`, `"player":"house:nodds"`, "no house bot is named"},
		{"a player that there is not", `"player":"bot"`, `"player":"robot"`, "player"},
		{"a name that no bot has", `"name":"bot-01"`, `"name":"bot-01 "`, "name: begins or ends with a space"},
		{"other rules", `"target_score":200`, `"target_score":100`, "pairing round 1, table 1, game 1"},
		{"a format of the future", `flip7/results/1`, `flip7/results/9`, "format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			changed := strings.Replace(results, c.old, c.new, 1)
			if changed == results {
				t.Fatalf("the export does not hold %q to be replaced", c.old)
			}
			_, err := Verify(strings.NewReader(changed))
			if err == nil || !strings.Contains(err.Error(), c.complained) {
				t.Errorf("got %v, want a complaint about %q", err, c.complained)
			}
		})
	}
	t.Run("a line that is missing, whichever", func(t *testing.T) {
		lines := strings.SplitAfter(strings.TrimSuffix(results, "\n"), "\n")
		for i := range lines {
			rest := strings.Join(append(append([]string{}, lines[:i]...), lines[i+1:]...), "")
			if _, err := Verify(strings.NewReader(rest)); err == nil {
				t.Errorf("without line %d (%.40s...) it holds", i+1, lines[i])
			}
		}
	})
	if _, err := Verify(strings.NewReader("")); err == nil {
		t.Error("nothing at all holds")
	}
}

func TestAnExportedGameIsFound(t *testing.T) {
	s := Settings{Name: "found", Rounds: 1, Seed: seed(1)}
	a, night := playHouse(t, s, field(4)...)
	results := export(t, a, night.ID)
	bots, record, err := ExportedGame(bytes.NewReader(results), GameID{Round: 1, Table: 1, Number: 8})
	if err != nil || len(bots) != 4 || record.Seed != night.GameSeed(1, 1, 8, 1) {
		t.Errorf("got %v with seed %x (%v)", bots, record.Seed, err)
	}
	if _, _, err := ExportedGame(bytes.NewReader(results), GameID{Round: 1, Table: 2, Number: 1}); !errors.Is(err, ErrNotFound) {
		t.Errorf("a game that was not played: got %v, want %v", err, ErrNotFound)
	}
}

func FuzzVerify(f *testing.F) {
	f.Add([]byte(`{"line":"tournament","format":"flip7/results/1"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, _ = Verify(bytes.NewReader(raw)) // must not panic, whatever is in the file
	})
}

func TestAnExportWaitsForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := prepare(t, Settings{Rounds: 1}, newRoster(), names(3)...)
		var out bytes.Buffer
		err := e.ExportResults(t.Context(), e.id, &out)
		if _, refused := errors.AsType[*StateError](err); !refused || out.Len() > 0 {
			t.Errorf("an open tournament gave %d bytes and %v: its secret would be out", out.Len(), err)
		}
	})
}

func TestVerifyWantsAllPairingRounds(t *testing.T) {
	s := Settings{Name: "cut", Rounds: 2, Rotations: 1, Seed: seed(1)}
	a, night := playHouse(t, s, field(4)...)
	var kept []string
	for line := range strings.Lines(string(export(t, a, night.ID))) {
		if strings.Contains(line, `"line":"tournament"`) || strings.Contains(line, `"line":"entry"`) {
			kept = append(kept, line)
		}
	}
	if _, err := Verify(strings.NewReader(strings.Join(kept, ""))); err == nil || !strings.Contains(err.Error(), "0 of its 2 pairing rounds") {
		t.Errorf("an export without its pairing rounds: got %v", err)
	}
}
