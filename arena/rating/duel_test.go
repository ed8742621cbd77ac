package rating

import (
	"math"
	"testing"
)

func TestDuel(t *testing.T) {
	const ll, ld, wl, dd, wd, ww = 34, 54, 31, 32, 64, 75
	for _, c := range []struct {
		name                   string
		cells                  Cells
		score, elo, error, los string
	}{
		{"pairs of games", Cells{ll, ld, wl + dd, wd, ww}, "0.579310", "55.580", "27.653", "99.997"},
		{"single games", Cells{96, 111, 136}, "0.558309", "40.702", "30.427", "99.601"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := c.cells.Duel()
			printed(t, "score", d.Score, c.score)
			printed(t, "Elo", d.Elo, c.elo)
			printed(t, "error", d.Error, c.error)
			printed(t, "LOS in percent", 100*d.LOS, c.los)
		})
	}
}

func TestDuelAtTheEdge(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name  string
		cells Cells
		want  Duel
	}{
		{"no games", Cells{0, 0, 0}, Duel{Score: 0.5, Elo: 0, Error: inf, LOS: 0.5}},
		{"nothing but draws", Cells{0, 7, 0}, Duel{Score: 0.5, Elo: 0, Error: 0, LOS: 0.5}},
		{"nothing but wins", Cells{0, 0, 3}, Duel{Score: 1, Elo: inf, Error: inf, LOS: 1}},
		{"nothing but losses", Cells{3, 0, 0}, Duel{Score: 0, Elo: -inf, Error: inf, LOS: 0}},
	} {
		if got := c.cells.Duel(); got != c.want {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestLLR(t *testing.T) {
	printed(t, "LLR", Cells{223, 9863, 21279, 10037, 246}.LLR(0.5, 2.5), "-3.074")
	lower, upper := WaldBounds(0.05, 0.05)
	printed(t, "lower bound", lower, "-2.944439")
	printed(t, "upper bound", upper, "2.944439")
	// An empty cell must not decide anything by being empty.
	if llr := (Cells{0, 0, 10}).LLR(0, 5); math.IsNaN(llr) || llr <= 0 || llr > 1 {
		t.Errorf("ten wins: got LLR %v, want a little above 0", llr)
	}
	if llr := (Cells{0, 0, 0}).LLR(0, 0.001); math.Abs(llr) > 1e-6 {
		t.Errorf("no games: got LLR %v, want 0", llr)
	}
}
