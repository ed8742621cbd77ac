package house

import (
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// lying is what lies in front of a seat, kept as plainly as can be.
type lying struct {
	row        game.Row
	x2, second bool
	plus       int
}

func (l lying) points() int {
	points := 0
	for c := range l.row.All() {
		points += int(c)
	}
	if l.x2 {
		points *= 2
	}
	points += l.plus
	if l.row.Len() == 7 {
		points += 15
	}
	return points
}

// playedOut is the sum of the points over all ways to draw so many cards one after another.
func playedOut(l lying, p pile, draws int) int {
	if draws == 0 || l.row.Len() == 7 {
		ways, left := 1, 0
		for _, n := range p {
			left += n
		}
		for i := range draws {
			ways *= left - i
		}
		return ways * l.points()
	}
	total := 0
	for c := range game.Card(game.Kinds) {
		if p[c] == 0 {
			continue
		}
		next, rest := l, p
		rest[c]--
		switch {
		case c.Number() && !l.row.Has(c):
			next.row |= 1 << c
		case c.Number() && !l.second:
			continue // a bust is worth 0
		case c.Number():
			next.second = false
		case c == game.X2:
			next.x2 = true
		case c.Modifier():
			next.plus += plus(c)
		case c == game.Second:
			next.second = true
		}
		total += p[c] * playedOut(next, rest, draws-1)
	}
	return total
}

func TestExpectationsAreThoseOfTheCardsPlayedOut(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(150) {
		seats := 3 + int(seed%20) // beyond 18 there are two decks
		var s game.State
		if err := s.Reset(game.Setup{Seats: seats, Rules: game.DefaultRules(seats), Deal: deal.NewFast(seed, 7)}); err != nil {
			t.Fatal(err)
		}
		for request := 0; !s.Over() && request < 300; request++ {
			r := s.Request()
			bot := []Strategy{random{}, cards(6), odds{}}[seed%3]
			v := s.View(r.Seat)
			if request%17 == 0 {
				compareOutlook(t, v, seed, request, seen)
			}
			if err := s.Apply(bot.Decide(v, Chance(seed, r.Seat, request))); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, kind := range []string{"second chance", "x2", "five numbers", "six numbers", "two decks", "reshuffle"} {
		if seen[kind] < 5 {
			t.Errorf("the positions had %q %d times; too few to trust", kind, seen[kind])
		}
	}
}

func compareOutlook(t *testing.T, v game.View, seed uint64, request int, seen map[string]int) {
	p := pileFor(v, 3)
	o := outlookOf(v, v.Me, &p)
	l := lying{row: o.row, x2: o.times == 2, second: o.second, plus: o.plus}
	if l.points() != v.Points(v.Me) || v.Status(v.Me) == game.Busted || o.left < 3 {
		return
	}
	for kind, is := range map[string]bool{"second chance": o.second, "x2": o.times == 2, "five numbers": o.row.Len() == 5,
		"six numbers": o.row.Len() == 6, "two decks": v.Rules().Decks == 2, "reshuffle": v.DrawLeft() < 3} {
		if is {
			seen[kind]++
		}
	}
	for draws, got := range map[int]int{1: o.left*o.points() + o.gain(), 2: o.afterTwo(), 3: o.afterThree(&p)} {
		if want := playedOut(l, p, draws); got != want {
			t.Fatalf("seed %d, request %d, %d cards drawn to %+v: got %d, want %d", seed, request, draws, o, got, want)
		}
	}
}
