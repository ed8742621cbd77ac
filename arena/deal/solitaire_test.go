package deal_test

import (
	"math"
	"math/bits"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// One seat alone draws from a fresh deck until it stays, busts or has seven numbers. What it should do and what comes of
// it is known exactly, so it tells whether keyed deals are those of a shuffled deck.

// lone is what lies in front of the seat: the row and, as bits in the order +2 .. x2, the modifiers.
type lone struct {
	row  game.Row
	mods uint8
}

func (l lone) points() float64 {
	points := 0
	for c := range l.row.All() {
		points += int(c)
	}
	if l.mods&(1<<(game.X2-game.Plus2)) != 0 {
		points *= 2
	}
	for m := range game.X2 - game.Plus2 {
		if l.mods&(1<<m) != 0 {
			points += 2 * int(m+1)
		}
	}
	if l.row.Len() == 7 {
		points += 15
	}
	return float64(points)
}

// outcome is what a way of playing comes to: the mean points, and the chances of a bust and of a Flip 7.
type outcome struct{ mean, bust, seven float64 }

// solitaire works out what comes of playing on from each hand, where stays says when to stay; without it, play is the best.
type solitaire struct {
	mods  []game.Card // in the deck, or none
	stays func(l lone) bool
	known []hand // by lone.index
}

// hand is what is known of a lone.
type hand struct {
	done, stay bool
	outcome    outcome
}

func (l lone) index() int { return int(l.mods)<<13 | int(l.row) }

func (s *solitaire) from(l lone) outcome {
	known := &s.known[l.index()]
	if known.done {
		return known.outcome
	}
	standing := outcome{mean: l.points()}
	if l.row.Len() == 7 {
		standing.seven = 1
		return standing
	}
	var hit outcome
	in := l.row.Len() + bits.OnesCount8(l.mods)
	each := 1 / float64(79+len(s.mods)-in)
	follow := func(chance float64, next outcome) {
		hit.mean += chance * next.mean
		hit.bust += chance * next.bust
		hit.seven += chance * next.seven
	}
	for c := range game.Card(13) {
		if l.row.Has(c) {
			follow(each*float64(c.PerDeck()-1), outcome{bust: 1})
		} else {
			follow(each*float64(c.PerDeck()), s.from(lone{l.row | 1<<c, l.mods}))
		}
	}
	for _, m := range s.mods {
		if bit := uint8(1) << (m - game.Plus2); l.mods&bit == 0 {
			follow(each, s.from(lone{l.row, l.mods | bit}))
		}
	}
	stay := standing.mean >= hit.mean-1e-12 // what is as good is not risked
	if s.stays != nil {
		stay = s.stays(l)
	}
	*known = hand{done: true, outcome: hit}
	if stay && in > 0 { // nobody may stay with nothing
		*known = hand{done: true, stay: true, outcome: standing}
	}
	return known.outcome
}

// playKeyed plays it with cards from a keyed deal.
func (s *solitaire) playKeyed(t *testing.T, from *deal.Keyed, pile game.Pack) (points float64, bust, seven bool) {
	t.Helper()
	var l lone
	for nth := 0; ; nth++ {
		copied := draw(t, from, game.Draw{Pile: &pile, Round: 1, Nth: nth})
		pile.Remove(copied)
		switch c := pile.Card(copied); {
		case c.Modifier():
			l.mods |= 1 << (c - game.Plus2)
		case l.row.Has(c):
			return 0, true, false
		default:
			l.row |= 1 << c
		}
		if l.row.Len() == 7 || s.known[l.index()].stay {
			return l.points(), false, l.row.Len() == 7
		}
	}
}

func TestSolitaireOverKeyedGivesTheExactValues(t *testing.T) {
	games := 60_000
	if testing.Short() {
		games = 6_000
	}
	modifiers := []game.Card{game.Plus2, game.Plus4, game.Plus6, game.Plus8, game.Plus10, game.X2}
	best := 0.0 // the mean of best play with numbers only
	for i, c := range []struct {
		name  string
		mods  []game.Card
		stays func(l lone) bool
		want  outcome // published; 0 where nothing is
		share float64 // of the best mean, published; 0 where nothing is
		digit float64 // the last one that is published
	}{
		{"best play, numbers only", nil, nil, outcome{18.5652176, .3134965, .0028113}, 1, 1e-7},
		{"staying from 23, numbers only", nil, func(l lone) bool { return l.points() >= 23 }, outcome{}, .9976, 1e-4},
		{"never staying, numbers only", nil, func(l lone) bool { return false }, outcome{5.7433, .9134, .0866}, 0, 1e-4},
		{"best play with modifiers", modifiers, nil, outcome{mean: 20.2291}, 0, 1e-4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := solitaire{mods: c.mods, stays: c.stays, known: make([]hand, 1<<(13+len(modifiers)))}
			exact := s.from(lone{})
			if c.name == "best play, numbers only" {
				best = exact.mean
			}
			for _, v := range []struct {
				name      string
				got, want float64
			}{{"mean", exact.mean, c.want.mean}, {"bust", exact.bust, c.want.bust}, {"Flip 7", exact.seven, c.want.seven},
				{"share of the best", exact.mean / best, c.share}} {
				if v.want != 0 && math.Abs(v.got-v.want) > .5001*c.digit {
					t.Errorf("exact %s: %.7f, published %.7f", v.name, v.got, v.want)
				}
			}

			pile := game.NewPack(1)
			for copied := range game.Copy(pile.Size()) {
				if kind := pile.Card(copied); kind.Action() || kind.Modifier() && c.mods == nil {
					pile.Remove(copied)
				}
			}
			var sum, squares, busts, sevens float64
			for n := range games {
				points, bust, seven := s.playKeyed(t, deal.NewKeyed(seeded(uint64(i)<<32+uint64(n))), pile)
				sum += points
				squares += points * points
				if bust {
					busts++
				}
				if seven {
					sevens++
				}
			}
			n := float64(games)
			mean := sum / n
			for _, v := range []struct {
				name             string
				got, want, sigma float64
			}{
				{"mean", mean, exact.mean, math.Sqrt((squares/n - mean*mean) / n)},
				{"bust", busts / n, exact.bust, math.Sqrt(exact.bust * (1 - exact.bust) / n)},
				{"Flip 7", sevens / n, exact.seven, math.Sqrt(exact.seven * (1 - exact.seven) / n)},
			} {
				if math.Abs(v.got-v.want) > 4*v.sigma {
					t.Errorf("%d keyed games, %s: %.5f +- %.5f, exact %.5f", games, v.name, v.got, v.sigma, v.want)
				}
			}
		})
	}
}
