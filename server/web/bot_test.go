package web

import (
	"strings"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// House bots take no time: a chart of it would only have nothing in it.
func TestTheTimeOfDecisionsIsShownOfWhoTakesSome(t *testing.T) {
	of := limits{timeout: time.Second, bank: 10 * time.Second}
	for took, want := range map[time.Duration]bool{0: false, 3 * time.Millisecond: true} {
		stats := arena.Stats{Requests: 1}
		stats.Latency.Add(took)
		b := botView{Bot: "ada", Builds: []buildView{buildOf("v1", stats, false, of)}}
		page := botPage(t, &b)
		for _, text := range []string{"Time charged for a decision", "1s: the decision timeout; then the bank runs", "11s: the bank is empty too"} {
			if strings.Contains(page, text) != want {
				t.Errorf("decisions took %v: want %q in the page: %v", took, text, want)
			}
		}
	}
}

func TestGamesOfSeveralNightsSayOfWhich(t *testing.T) {
	day := time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)
	monday, tuesday := nightLink{ID: 1, Name: "Monday", When: day}, nightLink{ID: 2, Name: "Tuesday", When: day.AddDate(0, 0, 1)}
	for _, c := range []struct {
		older nightLink
		want  bool
	}{{tuesday, false}, {monday, true}} {
		page := botPage(t, &botView{Bot: "ada", Games: []botGame{{Where: "game 1", Night: tuesday}, {Where: "game 2", Night: c.older}}})
		for _, text := range []string{`<th scope="col">Night</th>`, `<td><a href="/t/2">Tuesday</a> <span class="quiet">2026-12-01</span></td>`, `<td><a href="/t/1">Monday</a> <span class="quiet">2026-11-30</span></td>`} {
			if strings.Contains(page, text) != c.want {
				t.Errorf("with a game of %s: want %q in the page: %v", c.older.Name, text, c.want)
			}
		}
	}
}

func botPage(t *testing.T, b any) string {
	t.Helper()
	var page strings.Builder
	if err := templates["bot.html"].ExecuteTemplate(&page, "content", b); err != nil {
		t.Fatal(err)
	}
	return page.String()
}
