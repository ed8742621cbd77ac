package house

import (
	"math/bits"

	"github.com/flip7-arena/flip7/arena/game"
)

// random decides uniformly among the legal decisions.
type random struct{}

func (random) Decide(v game.View, chance uint64) game.Decision {
	r := v.Request()
	legal := 2 // hit and stay
	if r.Kind != game.Turn {
		legal = r.Targets.Len()
	}
	pick, _ := bits.Mul64(chance, uint64(legal))
	for d := range r.Legal() {
		if pick == 0 {
			return d
		}
		pick--
	}
	return r.Default() // nothing was asked
}

// stay stays once so many points are at stake, modifiers included.
type stay int

func (n stay) Decide(v game.View, _ uint64) game.Decision {
	r := v.Request()
	if r.Kind != game.Turn {
		return plainGift(v, r)
	}
	return hitUnless(v.Points(v.Me) >= int(n))
}

// cards stays once its row has so many number cards.
type cards int

func (n cards) Decide(v game.View, _ uint64) game.Decision {
	r := v.Request()
	if r.Kind != game.Turn {
		return plainGift(v, r)
	}
	return hitUnless(v.Row(v.Me).Len() >= int(n))
}

func hitUnless(enough bool) game.Decision {
	if enough {
		return game.Stay
	}
	return game.Hit
}

// plainGift gives a Freeze or a Flip Three to the other seat with the highest total and points at stake together, and a
// Second Chance to the seat with the lowest total.
func plainGift(v game.View, r game.Request) game.Decision {
	if r.Kind == game.GiveSecond {
		return game.Give(best(r.Targets, func(at game.Seat) int { return -v.Total(at) }))
	}
	others := r.Targets &^ (1 << v.Me)
	return game.Give(best(others, func(at game.Seat) int { return v.Total(at) + v.Points(at) }))
}

// best is the seat with the highest worth, the lowest seat of equal ones. There must be one.
func best(seats game.Seats, worth func(game.Seat) int) game.Seat {
	found, highest := game.Seat(-1), 0
	for at := range seats.All() {
		if w := worth(at); found < 0 || w > highest {
			found, highest = at, w
		}
	}
	return found
}
