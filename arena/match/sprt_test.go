package match_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/match"
)

// byChance is a play in which the first name finishes above each of the others as a lead in Elo says, and the others are
// equals: who comes first is drawn by strength, then who comes second, and so on.
func byChance(lead float64) match.Play {
	strength := math.Pow(10, lead/400)
	return func(_ context.Context, g match.Game) (match.Played, error) {
		chance := rand.New(rand.NewPCG(binary.BigEndian.Uint64(g.Seed[:]), 0))
		totals := make([]int, len(g.Seats))
		for seat, name := range g.Seats {
			waits := chance.ExpFloat64()
			if name == 0 {
				waits /= strength
			}
			totals[seat] = -int(waits * 1e9)
		}
		return played(totals), nil
	}
}

func TestTheAnswersOfTheTestAreWrongAsOftenAsItSays(t *testing.T) {
	matches := 400
	if testing.Short() {
		matches = 100
	}
	most := 0.05 + 2*math.Sqrt(0.05*0.95/float64(matches)) // two standard errors
	for _, c := range []struct {
		names, seats int
		lead         float64
		wrong        string
	}{
		{names: 4, lead: 0, wrong: "elo1"},
		{names: 4, lead: 40, wrong: "elo0"},
		{names: 2, lead: 0, wrong: "elo1"}, // four seats: a rotation has sixteen pairs, and they are not independent
		{names: 2, lead: 40, wrong: "elo0"},
		{names: 3, seats: 4, lead: 0, wrong: "elo1"},
		{names: 9, lead: 40, wrong: "elo0"},
	} {
		wrong, rotations := 0, 0
		for seed := range uint64(matches) {
			m := match.Match{Names: []string{"a", "b", "c", "d", "e", "f", "g", "h", "i"}[:c.names], Seats: c.seats, Games: 100_000,
				Seed: seed, Concurrency: 1, Play: byChance(c.lead), SPRT: &match.SPRT{Elo0: 0, Elo1: 40}}
			r := run(t, m)
			if r.SPRT.Taken == "" {
				t.Fatalf("%d names %v Elo apart: not decided in %d games", c.names, c.lead, r.Games)
			}
			if r.SPRT.Taken == c.wrong {
				wrong++
			}
			rotations += r.Rotations
		}
		t.Logf("%d names, %d seats, %v Elo apart: %.1f %% wrong after %d rotations on average", c.names, c.seats, c.lead, 100*float64(wrong)/float64(matches), rotations/matches)
		if share := float64(wrong) / float64(matches); share > most {
			t.Errorf("%d names %v Elo apart: %.1f %% of the answers are wrong, want 5 at most", c.names, c.lead, 100*share)
		}
	}
}

func TestTheTestEndsAtTheSameRotationWhateverTheConcurrency(t *testing.T) {
	m := local(t, 100_000, "racer", "stay-15", "odds")
	m.SPRT = &match.SPRT{Elo0: 0, Elo1: 50}
	m.Concurrency = 1
	alone := run(t, m)
	m.Concurrency = 5
	if beside := run(t, m); !reflect.DeepEqual(alone, beside) {
		t.Errorf("one after the other: %+v, side by side: %+v", alone.SPRT, beside.SPRT)
	}
	if alone.SPRT.Taken != "elo1" || alone.Games >= 3000 {
		t.Errorf("racer against stay-15: %+v after %d games, want elo1 in a few hundred", alone.SPRT, alone.Games)
	}
}

// TestEveryScoreOfARotationHasACell plays a rotation for every number of names at every table, with many ties.
func TestEveryScoreOfARotationHasACell(t *testing.T) {
	for seats := game.MinSeats; seats <= game.MaxSeats; seats++ {
		for n := 2; n <= seats; n++ {
			var list []string
			for i := range n {
				list = append(list, fmt.Sprint("bot-", i))
			}
			halves, of := 0, 0
			m := match.Match{Names: list, Seats: seats, Games: seats, Seed: uint64(n), SPRT: &match.SPRT{Elo1: 1}, Concurrency: 1}
			m.Play = func(_ context.Context, g match.Game) (match.Played, error) {
				totals := make([]int, seats)
				chance := rand.New(rand.NewPCG(uint64(g.Number), 0))
				for seat := range totals {
					totals[seat] = chance.IntN(5)
				}
				for seat, name := range g.Seats {
					for other, opponent := range g.Seats {
						if name == 0 && opponent == 1 {
							of += 2
							halves += 1 + min(1, max(-1, totals[seat]-totals[other]))
						}
					}
				}
				return played(totals), nil
			}
			score := 0.5 // as good as even, where there is no Elo
			a := run(t, m).SPRT
			if a.EloMargin != nil {
				t.Errorf("%d names at %d seats: one rotation gives a margin of %v, want none", n, seats, *a.EloMargin)
			}
			if a.Elo != nil {
				score = 1 / (1 + math.Pow(10, -*a.Elo/400))
			}
			if want := float64(halves) / float64(of); math.Abs(score-want) > 1e-9 {
				t.Errorf("%d names at %d seats: the score is %v, want %v", n, seats, score, want)
			}
		}
	}
}
