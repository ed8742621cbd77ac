package match

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/table"
)

// Local plays games between strategies of this process, strategies[i] for the i-th name, on fast deals.
func Local(strategies []house.Strategy) Play {
	return func(ctx context.Context, g Game) (Played, error) {
		if err := ctx.Err(); err != nil {
			return Played{}, err
		}
		var s game.State
		deal := deal.NewFast(binary.BigEndian.Uint64(g.Seed[0:]), binary.BigEndian.Uint64(g.Seed[8:]))
		if err := s.Reset(game.Setup{Seats: len(g.Seats), Rules: g.Rules, Dealer: g.Dealer, Deal: deal}); err != nil {
			return Played{}, err
		}
		chance := g.chance()
		for request := 0; !s.Over(); request++ {
			seat := s.Request().Seat
			strategy := strategies[g.Seats[seat]]
			if err := s.Apply(strategy.Decide(s.View(seat), house.Chance(chance, seat, request))); err != nil {
				return Played{}, fmt.Errorf("seat %d: %w", seat, err)
			}
		}
		return Played{Result: s.Result()}, nil
	}
}

// Tables plays games at tables as in a tournament: with clocks and faults, on keyed deals, so that a stranger may sit
// there.
type Tables struct {
	Names   []string      // of the match
	Players []SitDown     // Players[i] plays for Names[i]
	Timeout time.Duration // for each request
	Bank    time.Duration // each seat's time bank
}

// SitDown is the player that takes a seat of a game.
type SitDown func(g Game, seat game.Seat) table.Player

// House sits down for a strategy.
func House(strategy house.Strategy) SitDown {
	return func(g Game, seat game.Seat) table.Player {
		chance := g.chance()
		return table.House(strategy, func(number int) uint64 { return house.Chance(chance, seat, number-1) })
	}
}

// Play is a [Play].
func (t Tables) Play(ctx context.Context, g Game) (Played, error) {
	setup := table.Setup{
		Info: table.Info{
			ID: fmt.Sprintf("match/%x/%d", g.Seed[:4], g.Number), Attempt: 1, Number: g.Number, Of: g.Of,
			Rules: g.Rules, Dealer: g.Dealer, Timeout: t.Timeout, Bank: t.Bank,
		},
		Seed: g.Seed,
		Deal: deal.NewKeyed(g.Seed),
	}
	for seat, name := range g.Seats {
		setup.Info.Bots = append(setup.Info.Bots, t.Names[name])
		setup.Players = append(setup.Players, t.Players[name](g, game.Seat(seat)))
	}
	out, err := table.Play(ctx, setup)
	if err != nil {
		return Played{}, err
	}
	return Played{Result: out.Record.Result, Faults: out.Faults, Slips: out.Slips, Timings: out.Timings}, nil
}
