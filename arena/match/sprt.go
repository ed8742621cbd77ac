package match

import (
	"fmt"
	"math"

	"github.com/flip7-arena/flip7/arena/rating"
)

// SPRT ends a match as soon as it is decided whether the first name is stronger than the second by Elo1 rather than by
// Elo0: a sequential probability ratio test, as engine testers use it to tell with few games whether a change was good.
// Its unit is the rotation: the mean score of the first name against the second in one, by who of them finished above
// the other. Others at the table take part in the games, and not in the test.
type SPRT struct {
	Elo0, Elo1 float64 // Elo0 < Elo1
}

// sprtLevel is how often an answer of the test is wrong at most, either way: what fishtest and fastchess take.
const sprtLevel = 0.05

// mostElo bounds a hypothesis: at 2000 Elo the weaker one scores 1 in 100,000.
const mostElo = 2000

func (s *SPRT) check() error {
	if s == nil || (-mostElo <= s.Elo0 && s.Elo0 < s.Elo1 && s.Elo1 <= mostElo) { // false for NaN
		return nil
	}
	return fmt.Errorf("sprt: %g,%g is not ELO0,ELO1 with ELO0 less than ELO1, both from -%d to %d", s.Elo0, s.Elo1, mostElo, mostElo)
}

// Answer is what an [SPRT] says of a match so far.
type Answer struct {
	First     string   `json:"first"`
	Second    string   `json:"second"`
	Elo0      float64  `json:"elo0"`
	Elo1      float64  `json:"elo1"`
	LLR       float64  `json:"llr"`        // log-likelihood ratio of Elo1 to Elo0
	Lower     float64  `json:"lower"`      // where Elo0 is taken
	Upper     float64  `json:"upper"`      // where Elo1 is taken
	Taken     string   `json:"taken"`      // "elo0", "elo1", or empty as long as it is not decided
	Elo       *float64 `json:"elo"`        // of the first name above the second by their pairs alone; nil at a score of 0 or 1
	EloMargin *float64 `json:"elo_margin"` // half of a 95 % interval; nil where nothing can be said
}

// duel counts the rotations of a match by the score of its first name against its second.
type duel struct {
	sprt  *SPRT
	names [2]string
	cells rating.Cells
}

// newDuel is nil for a match without a test.
func newDuel(m Match) *duel {
	if m.SPRT == nil {
		return nil
	}
	// A name has least or least+1 of the seats in a rotation, and so least*least, least*(least+1) or (least+1)*(least+1)
	// pairs of seats meet in a game: the cells are so many that every score there can be is one of theirs.
	least := m.Seats / len(m.Names)
	pairs := least * least
	if m.Seats%len(m.Names) != 0 {
		pairs *= (least + 1) * (least + 1)
	}
	return &duel{sprt: m.SPRT, names: [2]string{m.Names[0], m.Names[1]}, cells: make(rating.Cells, 2*m.Seats*pairs+1)}
}

func (d *duel) add(r rotation) {
	if d == nil {
		return
	}
	halves, of := 0, 0
	for i, played := range r.games {
		for seat, name := range r.seats[i] {
			for other, opponent := range r.seats[i] {
				if name != 0 || opponent != 1 {
					continue
				}
				of += 2
				switch mine, theirs := played.Result.Places[seat], played.Result.Places[other]; {
				case mine < theirs:
					halves += 2
				case mine == theirs:
					halves++
				}
			}
		}
	}
	d.cells[halves*(len(d.cells)-1)/of]++
}

// answer is nil for a match without a test.
func (d *duel) answer() *Answer {
	if d == nil {
		return nil
	}
	a := &Answer{First: d.names[0], Second: d.names[1], Elo0: d.sprt.Elo0, Elo1: d.sprt.Elo1, LLR: d.cells.LLR(d.sprt.Elo0, d.sprt.Elo1)}
	a.Lower, a.Upper = rating.WaldBounds(sprtLevel, sprtLevel)
	switch {
	case a.LLR <= a.Lower:
		a.Taken = "elo0"
	case a.LLR >= a.Upper:
		a.Taken = "elo1"
	}
	if seen := d.cells.Duel(); !math.IsInf(seen.Elo, 0) {
		a.Elo = &seen.Elo
		if seen.Error > 0 { // else all rotations were alike, as one is
			a.EloMargin = known(seen.Error)
		}
	}
	return a
}

func (d *duel) decided() bool { return d != nil && d.answer().Taken != "" }
