package table

import (
	"context"

	"github.com/flip7-arena/flip7/arena/game"
)

// Strategy decides from a view of the game and a number of chance; the same two always give the same decision.
type Strategy interface {
	Decide(v game.View, chance uint64) game.Decision
}

// House is a player that the arena plays itself. It takes no time and makes no faults; a panic of its strategy is one of
// [Play]. Chance is the number of chance for the request of a number, from 1; it must depend on nothing that a game which
// goes on has forgotten.
func House(strategy Strategy, chance func(number int) uint64) Player {
	return house{strategy, chance}
}

type house struct {
	strategy Strategy
	chance   func(number int) uint64
}

func (house) Begin(Info, game.Seat) {}

func (h house) Ask(_ context.Context, q Question) (Answer, error) {
	return Answer{Decision: h.strategy.Decide(q.View, h.chance(q.Number))}, nil
}

func (house) End(game.Result, Ending) {}
