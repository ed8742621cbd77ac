package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

type replayCmd struct {
	remoteFlags
	Game   string `arg:"" help:"TOURNAMENT/ROUND/TABLE/GAME; of an export, ROUND/TABLE/GAME."`
	Export string `help:"Read the game from this exported file instead of an arena."`
}

// Run prints what happened in a game, card by card.
func (c *replayCmd) Run(ctx context.Context, p *program) error {
	bots, record, err := c.record(ctx)
	if err != nil {
		return err
	}
	if p.json {
		return json.NewEncoder(p.out).Encode(struct {
			Bots   []string    `json:"bots"`
			Record game.Record `json:"record"`
		}{bots, record})
	}
	t := &transcript{out: p.out, bots: bots, moves: record.Moves}
	_, err = record.Replay(deal.NewKeyed(record.Seed), t)
	return err
}

func (c *replayCmd) record(ctx context.Context) (bots []string, record game.Record, err error) {
	if c.Export != "" {
		var id arena.GameID
		_, err := fmt.Sscanf(c.Game, "%d/%d/%d", &id.Round, &id.Table, &id.Number)
		if err != nil || fmt.Sprintf("%d/%d/%d", id.Round, id.Table, id.Number) != c.Game {
			return nil, record, fmt.Errorf("game: %q is not ROUND/TABLE/GAME of the export", c.Game)
		}
		f, err := os.Open(c.Export)
		if err != nil {
			return nil, record, err
		}
		defer f.Close()
		return arena.ExportedGame(f, id)
	}
	conn, err := c.dial()
	if err != nil {
		return nil, record, err
	}
	defer conn.Close()
	r, err := flip7v1.NewWatchServiceClient(conn).GetGameRecord(ctx, &flip7v1.GetGameRecordRequest{GameId: c.Game})
	if err != nil {
		return nil, record, refusal(err)
	}
	record, err = wire.RecordOf(r.GetRecord())
	return r.GetRecord().GetGame().GetGame().GetBots(), record, err
}

// transcript writes down what happens in a game.
type transcript struct {
	out   io.Writer
	bots  []string
	moves []game.Move
	next  int
	hit   bool // the next card was asked for
}

func (t *transcript) line(format string, args ...any) { fmt.Fprintf(t.out, format+"\n", args...) }

// Observe implements game.Observer.
func (t *transcript) Observe(s *game.State, e game.Event) {
	v := s.View(0)
	who := ""
	if e.Seat >= 0 && int(e.Seat) < len(t.bots) {
		who = t.bots[e.Seat]
	}
	switch e.Kind {
	case game.RoundStarted:
		t.line("Round %d, dealer %s", v.Round(), who)
	case game.Decided:
		cause := t.moves[t.next].Cause
		t.next++
		t.hit = e.Decision == game.Hit
		because := ""
		if cause.Fault() {
			because = fmt.Sprintf(" (by default: %s)", strings.ReplaceAll(cause.String(), "_", " "))
		}
		if e.Decision == game.Hit && because == "" {
			return // the card says it
		}
		if to, gives := e.Decision.Target(); gives {
			t.line("  %-16s gives the %v to %s%s", who, e.Asked, t.bots[to], because)
			return
		}
		t.line("  %-16s %v%s", who, e.Decision, because)
	case game.Drawn:
		verb := "is dealt"
		if t.hit {
			verb = "hits"
		} else if _, _, running := v.FlipThree(); running {
			verb = "turns up"
		}
		t.hit = false
		t.line("  %-16s %s %v", who, verb, e.Card)
	case game.Left:
		switch e.Status {
		case game.Busted:
			t.line("  %-16s busts on a second %v", who, e.Card)
		case game.Frozen:
			t.line("  %-16s is frozen with %d points", who, v.Points(e.Seat))
		}
	case game.Saved:
		t.line("  %-16s is saved from a second %v by the Second Chance", who, e.Card)
	case game.SetAside:
		t.line("  %-16s sets the %v aside", who, e.Card)
	case game.Flip3Began:
		t.line("  %-16s takes three cards", who)
	case game.MadeFlip7:
		t.line("  %-16s makes Flip 7", who)
	case game.Reshuffled:
		t.line("  the discards are shuffled")
	case game.RoundEnded:
		var scores []string
		for seat, bot := range t.bots {
			scores = append(scores, fmt.Sprintf("%s %+d = %d", bot, v.Points(game.Seat(seat)), v.Total(game.Seat(seat))))
		}
		t.line("  %s", strings.Join(scores, ", "))
	case game.GameEnded:
		result := s.Result()
		var places []string
		for place := 1; place <= len(t.bots); place++ {
			for seat, bot := range t.bots {
				if result.Places[seat] == place {
					places = append(places, fmt.Sprintf("%d. %s (%d)", place, bot, result.Totals[seat]))
				}
			}
		}
		t.line("Result: %s", strings.Join(places, ", "))
	}
}
