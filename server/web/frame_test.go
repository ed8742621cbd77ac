package web

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// played is a game of four that was played by chance until nothing more happened than so many decisions.
func played(t *testing.T, seed [32]byte, decisions int, tell game.Observer) (s game.State, moves []game.Move) {
	t.Helper()
	if err := s.Reset(game.Setup{Seats: 4, Deal: deal.NewKeyed(seed), Observer: tell}); err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(uint64(seed[0]), 0))
	for !s.Over() && len(moves) < decisions {
		legal := slices.Collect(s.Request().Legal())
		move := game.Move{Decision: legal[chance.IntN(len(legal))]}
		if legal[0] == game.Hit && chance.IntN(4) > 0 {
			move.Decision = game.Hit
		}
		if err := s.Apply(move.Decision); err != nil {
			t.Fatal(err)
		}
		moves = append(moves, move)
	}
	return s, moves
}

// pictured is the frame of a step of that game.
func pictured(t *testing.T, seed [32]byte, decisions, step int) (frame, game.State) {
	t.Helper()
	c := &camera{step: step, bots: []string{"ada", "babbage", "curie", "dirac"}}
	s, moves := played(t, seed, decisions, c)
	c.moves = moves
	c.now(&s)
	return c.frame(), s
}

func TestACardIsSeenWhenItTurnsUp(t *testing.T) {
	const all = 10_000
	turned := map[string]int{}
	for seed := range byte(3) {
		last, _ := pictured(t, [32]byte{seed}, all, -1)
		for step := 1; step <= last.Last; step++ {
			f, _ := pictured(t, [32]byte{seed}, all, step)
			news, cards := 0, f.Draw+f.Discard+len(f.Aside)
			for _, seat := range f.Seats {
				cards += len(seat.Cards) + len(seat.Waiting)
				for _, card := range seat.Cards {
					if card.New {
						news++
						turned[card.Kind()]++
						if !strings.HasPrefix(f.Says, seat.Bot) || !strings.HasSuffix(f.Says, " "+card.Says()+".") {
							t.Errorf("game %d, step %d: %q, and %s of %s is new", seed, step, f.Says, card.Name, seat.Bot)
						}
					}
				}
			}
			drawn := strings.Contains(f.Says, " is dealt ") || strings.Contains(f.Says, " gets ") || strings.Contains(f.Says, " turns up ")
			if drawn != (news == 1) {
				t.Errorf("game %d, step %d: %q, and %d cards are new", seed, step, f.Says, news)
			}
			if f.Asks != "" && !strings.Contains(f.Asks, "who gets") && cards != 94 {
				t.Errorf("game %d, step %d: %q, and %d cards are on the table, want 94", seed, step, f.Asks, cards)
			}
		}
	}
	for _, kind := range []string{"number", "modifier", "freeze", "flip3", "second"} {
		if turned[kind] == 0 {
			t.Errorf("no %s turned up in three games: %v", kind, turned)
		}
	}
}

// A game that is being played is shown as the bot that is asked sees it.
func TestWhoIsAskedIsShownAsThingsStand(t *testing.T) {
	seed := [32]byte{7}
	for decisions := range 60 {
		f, s := pictured(t, seed, decisions, -1)
		if s.Over() {
			break
		}
		v := s.View(0)
		for seat, shown := range f.Seats {
			if shown.Points != v.Points(game.Seat(seat)) || shown.Total != v.Total(game.Seat(seat)) || shown.Asked != (s.Request().Seat == game.Seat(seat)) {
				t.Errorf("after %d decisions %s is shown as %+v, and has %d points", decisions, shown.Bot, shown, v.Points(game.Seat(seat)))
			}
		}
		if f.Draw != v.DrawLeft() || f.Asks == "" {
			t.Errorf("after %d decisions the draw pile is shown with %d cards, and has %d; asked: %q", decisions, f.Draw, v.DrawLeft(), f.Asks)
		}
	}
}
