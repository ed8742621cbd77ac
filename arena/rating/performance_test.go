package rating

import (
	"math"
	"testing"
)

func TestPerformance(t *testing.T) {
	for _, c := range []struct {
		name    string
		text    string // the first name is the bot rated
		ratings []float64
		want    string
		bound   Bound
	}{
		{"three of four against an equal", "A=1 B=2\nA=1 B=2\nA=1 B=2\nA=2 B=1", []float64{9999, 1500}, "1690.8485", Exact},
		{"a tie is half", "A=1 B=1", []float64{0, 1700}, "1700", Exact},
		{"one win, one loss", "A=1 B=2\nA=2 C=1", []float64{0, 1400, 1600}, "1500", Exact},
		// 3/4 to 1/2 is what pairs weigh at three seats: 1.5 of 1.5 and 0 of 1 against equals.
		{"a large game weighs by its size", "A=1 B=2 C=3\nA=2 B=1", []float64{0, 1500, 1500}, "1570.4365", Exact},
		{"all won: as if drawn once with the mean", "A=1 B=2\nA=1 C=2\n", []float64{0, 1500, 1500}, "1779.5880", AtLeast},
		{"all lost", "A=2 B=1\nA=2 C=1\n", []float64{0, 1500, 1500}, "1220.4120", AtMost},
		{"games of others tell nothing", "A=1 B=1\nB=1 C=2\nC=1 B=2", []float64{0, 1500, 2000}, "1500", Exact},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, bound := Performance(read(t, c.text), 0, c.ratings)
			printed(t, "performance", got, c.want)
			if bound != c.bound {
				t.Errorf("got bound %q, want %q", bound, c.bound)
			}
		})
	}
	if got, _ := Performance(read(t, "A=1 B=2"), 2, []float64{0, 0, 0}); !math.IsNaN(got) {
		t.Errorf("a bot that did not play: got %v, want NaN", got)
	}
}

// A bot of a fitted league performed, against the others as rated, as it is rated.
func TestPerformanceAgreesWithFit(t *testing.T) {
	games := fourBots(t)
	table := fit(t, games, 0)
	ratings := make([]float64, len(games.Names))
	for _, row := range table.Rows {
		ratings[row.Bot] = row.Elo
	}
	for _, row := range table.Rows {
		got, _ := Performance(games, row.Bot, ratings)
		if math.Abs(got-row.Elo) > 1e-9 {
			t.Errorf("%s: got performance %v, want %v", row.Name, got, row.Elo)
		}
	}
}
