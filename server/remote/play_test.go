package remote_test

import (
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/wire"
)

// playOn answers every request with what random decides, until the stream ends.
func (c *client) playOn() {
	for m := range c.got {
		r := m.GetRequest()
		if r == nil {
			continue
		}
		p, err := wire.Position(r)
		if err != nil {
			c.t.Error(err)
			return
		}
		s, err := game.At(p, deal.NewFast(1, 1), nil)
		if err != nil {
			c.t.Error(err)
			return
		}
		number, _ := strconv.Atoi(r.GetRequestId()[strings.LastIndexByte(r.GetRequestId(), '/')+1:])
		d := random{}.Decide(s.View(p.Request.Seat), chanceOf(number))
		c.send(&flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: wire.Decision(r.GetRequestId(), d)}})
	}
}

// setup is a game between bots.
func (a *arena) setup(id string, seed byte, bots ...string) table.Setup {
	s := table.Setup{
		Info: table.Info{ID: id, Attempt: 1, Tournament: "1", Round: 1, Table: 1, Number: 1, Of: 8, Bots: bots,
			Rules: game.DefaultRules(len(bots)), Dealer: game.Seat(len(bots) - 1), Timeout: time.Second, Bank: 10 * time.Second},
		Seed: [32]byte{seed},
		Deal: deal.NewKeyed([32]byte{seed}),
	}
	for _, bot := range bots {
		if bot == "house" {
			s.Players = append(s.Players, table.House(random{}, chanceOf))
		} else {
			s.Players = append(s.Players, a.bots.Player(bot))
		}
	}
	return s
}

// TestBotsPlayAsTheHouseWould: games at several sizes side by side, by bots on streams, have the records that the same
// players have without any stream between.
func TestBotsPlayAsTheHouseWould(t *testing.T) {
	inBubble(t, remote.Config{}, func(t *testing.T, a *arena) {
		var clients sync.WaitGroup
		for _, bot := range []string{"ann", "bob", "cid"} {
			c, _ := a.welcome(bot, hello("1", 64, 3))
			clients.Go(c.playOn)
		}
		var games sync.WaitGroup
		for n := range 12 {
			games.Go(func() {
				seats := []string{"ann", "house", "bob", "cid", "house", "house", "house"}[:3+n%5]
				got, err := table.Play(t.Context(), a.setup(gameID(n), byte(n), seats...))
				if err != nil {
					t.Error(err)
					return
				}
				for i := range seats {
					seats[i] = "house"
				}
				want, err := table.Play(t.Context(), a.setup("h", byte(n), seats...))
				if err != nil {
					t.Error(err)
				} else if !reflect.DeepEqual(got.Record, want.Record) {
					t.Errorf("game %d\ngot  %+v\nwant %+v", n, got.Record, want.Record)
				}
			})
		}
		games.Wait()
		a.bots.Close()
		clients.Wait()
		stats := a.bots.Stats("ann")
		if stats.Causes[game.Chosen] == 0 || len(stats.Causes) != 1 || stats.Latency.Count() != stats.Causes[game.Chosen] {
			t.Errorf("stats %+v", stats)
		}
	})
}
