package main

import (
	"hash/fnv"
	"io"
	"log/slog"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	flip7 "github.com/flip7-arena/flip7/clients/go"
	"github.com/flip7-arena/flip7/server/wire"
)

// kit is the bot for the Go kit: a house strategy that decides from what comes over the wire and nothing else.
func (b demoBot) kit(address, token string, log io.Writer) (flip7.Bot, error) {
	strategy, err := house.New(b.strategy)
	if err != nil {
		return flip7.Bot{}, err
	}
	return flip7.Bot{
		Addr: address, Token: token, Build: b.strategy, Instance: b.name,
		Log: slog.New(slog.NewTextHandler(log, nil)).With("bot", b.name),
		Decide: func(v *flip7.View) flip7.Decision {
			if b.thinks > 0 {
				time.Sleep(b.thinks)
			}
			return decide(strategy, v)
		},
	}, nil
}

// decide asks a house strategy about a request from the wire.
func decide(strategy house.Strategy, v *flip7.View) flip7.Decision {
	position, err := wire.Position(v.Request())
	if err != nil {
		return v.Pass()
	}
	state, err := game.At(position, deal.NewFast(0, 0), nil)
	if err != nil {
		return v.Pass()
	}
	chance := fnv.New64a()
	_, _ = chance.Write([]byte(v.Request().GetRequestId()))
	d := strategy.Decide(state.View(game.Seat(v.Me)), chance.Sum64())
	switch to, gives := d.Target(); {
	case gives:
		return v.Give(int(to))
	case d == game.Stay:
		return v.Stay()
	}
	return v.Hit()
}
