package deal_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// tally is an Observer that counts what happens in games of four seats.
type tally struct {
	rounds, cards, turns, targets float64
	points, squares, busts, seven float64 // over seats and rounds
}

// Observe implements game.Observer.
func (c *tally) Observe(s *game.State, e game.Event) {
	switch e.Kind {
	case game.Drawn:
		c.cards++
	case game.Decided:
		if e.Asked == game.Turn {
			c.turns++
		} else {
			c.targets++
		}
	case game.MadeFlip7:
		c.seven++
	case game.RoundEnded:
		c.rounds++
		for seat := range game.Seat(4) {
			points := float64(s.View(seat).Points(seat))
			c.points += points
			c.squares += points * points
			if s.View(seat).Status(seat) == game.Busted {
				c.busts++
			}
		}
	}
}

// TestFourSeatsOfStay25 compares games through the engine, on both deals, and those of the bare loop with the figures of
// another referee, and the deals with each other.
func TestFourSeatsOfStay25(t *testing.T) {
	games, within := 20_000, .01
	if testing.Short() {
		games, within = 4_000, .01*math.Sqrt(5) // a fifth of the games: as many standard errors
	}
	counts := map[string]*tally{"fast": {}, "keyed": {}, "bare": {}}
	var s game.State
	play := func(name string, d game.Deal) {
		setup := game.Setup{Seats: 4, Rules: game.DefaultRules(4), Dealer: 3, Deal: d, Observer: counts[name]}
		if err := s.Reset(setup); err != nil {
			t.Fatal(err)
		}
		for !s.Over() {
			if err := s.Apply(stay25(&s)); err != nil {
				t.Fatal(err)
			}
		}
	}
	fast, loop := deal.NewFast(3, 4), bare{pcg: rand.NewPCG(5, 6)}
	for n := range games {
		play("fast", fast)
		play("keyed", deal.NewKeyed(seeded(uint64(n))))
		loop.play()
	}
	*counts["bare"] = tally{rounds: float64(loop.rounds), cards: float64(loop.cards), turns: float64(loop.turns), targets: float64(loop.targets)}

	for _, name := range []string{"fast", "keyed", "bare"} {
		c := counts[name]
		for _, v := range []struct {
			of        string
			sum, want float64 // a game
		}{{"rounds", c.rounds, 9.06}, {"cards", c.cards, 134.0}, {"hit or stay", c.turns, 106.6}, {"targets", c.targets, 8.15}} {
			if got := v.sum / float64(games); math.Abs(got/v.want-1) > within {
				t.Errorf("%s: %.3f %s a game, want %.2f +-%.1f %%", name, got, v.of, v.want, 100*within)
			}
		}
	}
	a, b := counts["fast"], counts["keyed"]
	seats := func(c *tally) float64 { return 4 * c.rounds }
	rate := func(of string, x, y, variance float64) {
		p, q := x/seats(a), y/seats(b)
		if sigmas := (p - q) / math.Sqrt(variance*(1/seats(a)+1/seats(b))); math.Abs(sigmas) > 4 {
			t.Errorf("%s a seat and round: %.5f with the fast deal, %.5f with the keyed, %.1f sigma apart", of, p, q, sigmas)
		}
	}
	mean, busts, seven := a.points/seats(a), a.busts/seats(a), a.seven/seats(a)
	rate("points", a.points, b.points, a.squares/seats(a)-mean*mean)
	rate("busts", a.busts, b.busts, busts*(1-busts))
	rate("Flip 7", a.seven, b.seven, seven*(1-seven))
	t.Logf("points %.3f, busts %.4f, Flip 7 %.4f a seat and round", mean, busts, seven)
}
