package game_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/game"
)

func TestAGameGoesOnFromEveryPosition(t *testing.T) {
	everyTable(t, 8, func(t *testing.T, setup game.Setup, hits int, r *rand.Rand) {
		drawn := &kinds{from: setup.Deal}
		setup.Deal = drawn
		s, err := game.New(setup)
		if err != nil {
			t.Fatal(err)
		}
		var positions []game.Position
		var cards []int // drawn before each position
		var decisions []game.Decision
		for !s.Over() {
			positions, cards = append(positions, s.Position()), append(cards, len(drawn.cards))
			decisions = append(decisions, randomDecision(s.Request(), hits, r))
			if err := s.Apply(decisions[len(decisions)-1]); err != nil {
				t.Fatal(err)
			}
		}
		positions = append(positions, s.Position())
		for i, p := range positions {
			at, err := game.At(p, drawn, nil)
			if err != nil {
				t.Fatalf("position %d: %v\n%+v", i, err, p)
			}
			if got := at.Position(); !reflect.DeepEqual(got, p) {
				t.Fatalf("position %d\ngot  %+v\nwant %+v", i, got, p)
			}
		}
		if len(decisions) == 0 {
			return
		}
		from := r.IntN(len(decisions))
		at, err := game.At(positions[from], &kinds{cards: drawn.cards[cards[from]:]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range decisions[from:] {
			if err := at.Apply(d); err != nil {
				t.Fatalf("decision %d from position %d: %v", i, from, err)
			}
			if got, want := at.Position(), positions[from+i+1]; !reflect.DeepEqual(got, want) {
				t.Fatalf("decision %d from position %d\ngot  %+v\nwant %+v", i, from, got, want)
			}
		}
	})
}

// midway is a position in the middle of things: seat 1, at its turn, drew a Flip Three and gave it to seat 2, which set a
// Freeze aside and is asked whom to give it to.
func midway(t *testing.T) game.Position {
	t.Helper()
	cards := []game.Card{game.Card(12), game.Card(5), game.Card(7), game.Flip3, game.Freeze, game.Card(9), game.Card(8)}
	s, err := game.New(game.Setup{Seats: 3, Rules: game.DefaultRules(3), Deal: &kinds{cards: cards}})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []game.Decision{game.Hit, game.Give(2)} {
		if err := s.Apply(d); err != nil {
			t.Fatal(err)
		}
	}
	return s.Position()
}

func TestAPositionThatNoGameCouldHaveIsRefused(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *game.Position)
		want   string // how the error begins
	}{
		{"two seats", func(p *game.Position) { p.Seats = p.Seats[:2] }, "seats: 2 is not 3..36"},
		{"rules left out", func(p *game.Position) { p.Rules = game.Rules{} }, "rules.target_score: 0"},
		{"no such dealer", func(p *game.Position) { p.Dealer = 3 }, "dealer: 3 is not a seat"},
		{"no such turn", func(p *game.Position) { p.Turn = -1 }, "turn: -1 is not a seat"},
		{"a dealer who sits out", func(p *game.Position) { p.Seats[0] = game.Standing{Status: game.Out} }, "dealer: seat 0 sits"},
		{"round nought", func(p *game.Position) { p.Round = 0 }, "round: 0 is not 1..1000"},
		{"fewer than no reshuffles", func(p *game.Position) { p.Reshuffles = -1 }, "reshuffles: -1"},
		{"an end while somebody is asked", func(p *game.Position) { p.End = game.AllOut }, "end: all_out while"},
		{"a Flip 7 in a running round", func(p *game.Position) { p.Seven = 1 }, "seven: 1, but the end is running"},
		{"an unknown status", func(p *game.Position) { p.Seats[1].Status = 9 }, "seats[1].status: status(9)"},
		{"a number 13", func(p *game.Position) { p.Seats[1].Row = 1 << 13 }, "seats[1].row: 0x2000"},
		{"seven numbers", func(p *game.Position) { p.Seats[1].Row = 0x7f }, "seats[1].row: it has 7"},
		{"a bust without a duplicate", func(p *game.Position) { p.Seats[0].Status = game.Busted }, "seats[0].duplicate: 0 is not"},
		{"a duplicate without a bust", func(p *game.Position) { p.Seats[0].Duplicate = 12 }, "seats[0].duplicate: 12, but"},
		{"a bust with a Second Chance", func(p *game.Position) {
			p.Seats[1].Status, p.Seats[1].Duplicate, p.Seats[1].Second = game.Busted, 12, true
		}, "seats[1].second: a busted seat"},
		{"fewer than no cards drawn", func(p *game.Position) { p.Seats[0].Drawn = -1 }, "seats[0].drawn: -1"},
		{"more cards drawn than a round has", func(p *game.Position) { p.Seats[0].Drawn, p.Seats[1].Drawn = 600, 600 }, "seats: 1204 cards drawn"},
		{"negative points", func(p *game.Position) { p.Seats[0].Total = -1 }, "seats[0].total: -1"},
		{"four Freezes on a seat", func(p *game.Position) { p.Seats[0].Freezes = 4 }, "seats[0].freezes: 4 is not 0..3"},
		{"four Flip Threes on a seat", func(p *game.Position) { p.Seats[0].Flip3s = 4 }, "seats[0].flip3s: 4 is not 0..3"},
		{"two x2 of one deck", func(p *game.Position) { p.Seats[0].Modifiers[5] = 2 }, "seats[0].modifiers: 2 of x2"},
		{"a card before a seat that sits out", func(p *game.Position) { p.Seats[2].Status = game.Out }, "seats[2].status: out, with"},
		{"a stay with nothing", func(p *game.Position) { p.Seats[0] = game.Standing{Status: game.Stayed} }, "seats[0].status: stayed, with nothing"},
		{"a card more than the deck has", func(p *game.Position) { p.Draw[12]++ }, "draw, discard: 12 + 0 of 12"},
		{"fewer than no cards in a pile", func(p *game.Position) { p.Draw[2], p.Discard[2] = 3, -1 }, "draw, discard: 3 + -1 of 2"},
		{"a number set aside", func(p *game.Position) { p.Aside = []game.Card{3} }, "aside[0]: 3 is no freeze"},
		{"cards drawn that are in the pile", func(p *game.Position) { p.Since = 3 }, "since: 3, with 87 of 94"},
		{"a card that waits for nobody", func(p *game.Position) { p.Waiting = []game.Waiting{{Card: game.Freeze, Seat: 3}} }, "waiting[0].seat: 3"},
		{"a Second Chance that waits", func(p *game.Position) { p.Waiting = []game.Waiting{{Card: game.Second, Seat: 1}} }, "waiting[0].card: second"},
		{"a waiting card that does not lie there", func(p *game.Position) { p.Waiting = []game.Waiting{{Card: game.Freeze, Seat: 1}} }, "seats[1].freezes: 0, but 1"},
		{"a Flip Three that is nowhere", func(p *game.Position) { p.FlipThree.Of = 1 }, "seats[1].flip3s: 0, but 1"},
		{"a Flip Three of nobody", func(p *game.Position) { p.FlipThree.Of, p.Seats[2].Flip3s, p.Discard[game.Flip3] = 3, 0, 1 }, "flip_three.of: 3"},
		{"four draws left", func(p *game.Position) { p.FlipThree.Left = 4 }, "flip_three.left: 4"},
		{"a Freeze assigned before the three are drawn", func(p *game.Position) { p.FlipThree.Left = 1 }, "request: freeze of seat 2 with 1"},
		{"four cards out of three", func(p *game.Position) {
			p.FlipThree.Left, p.Aside, p.Draw[game.Freeze], p.Since = 2, []game.Card{game.Freeze}, 1, 8
		}, "aside: 2 cards"},
		{"a card set aside without a Flip Three", func(p *game.Position) {
			p.FlipThree, p.Seats[2].Flip3s, p.Discard[game.Flip3], p.Draw[game.Freeze], p.Since = game.FlipThree{}, 0, 1, 1, 8
			p.Aside = []game.Card{game.Freeze}
		}, "aside: 1 cards, but no Flip Three"},
		{"draws left of no Flip Three", func(p *game.Position) {
			p.FlipThree, p.Seats[2].Flip3s, p.Discard[game.Flip3] = game.FlipThree{Left: 2}, 0, 1
		}, "flip_three: seat 0 with 2 left"},
		{"an unknown request", func(p *game.Position) { p.Request.Kind, p.Discard[game.Freeze] = 9, 1 }, "request.kind: kind(9)"},
		{"a request to nobody", func(p *game.Position) { p.Request.Seat = -1 }, "request.seat: -1"},
		{"a request to another than the one who drew", func(p *game.Position) { p.Request.Seat = 0 }, "request: freeze of seat 0 during"},
		{"a target that is not active", func(p *game.Position) { p.Request.Targets = 0xf }, "request.targets: 0xf"},
		{"a turn during a Flip Three", func(p *game.Position) {
			p.Request, p.Discard[game.Freeze] = game.Request{Seat: 2, Kind: game.Turn}, 1
		}, "request: turn of seat 2 during"},
		{"a spare Second Chance of a seat without one", func(p *game.Position) {
			p.Request.Kind, p.Discard[game.Freeze], p.Draw[game.Second], p.Since = game.GiveSecond, 1, 2, 8
		}, "request.seat: seat 2 is active and cannot be asked second"},
		{"nobody asked though the round goes on", func(p *game.Position) { p.Request, p.Discard[game.Freeze] = game.Request{}, 1 }, "end: running while"},
		{"all out with active seats", func(p *game.Position) { p.Request, p.Discard[game.Freeze], p.End = game.Request{}, 1, game.AllOut }, "end: all_out, but seat 0"},
		{"over before anybody has won", func(p *game.Position) { p.Request, p.Discard[game.Freeze], p.End = game.Request{}, 1, game.Exhausted }, "request: nothing is asked, but after round 1"},
		{"a seat of nobody's request", func(p *game.Position) {
			p.Request, p.Discard[game.Freeze], p.End = game.Request{Seat: 2}, 1, game.Exhausted
		}, "request: nothing is asked of seat 2"},
		{"the first pass after the dealer's turn", func(p *game.Position) { p.Dealing, p.Turn = true, 0 }, "dealing: true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := midway(t)
			if _, err := game.At(p, &kinds{}, nil); err != nil {
				t.Fatalf("the position before the change: %v", err)
			}
			c.change(&p)
			_, err := game.At(p, &kinds{}, nil)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("got error %v, want %q...", err, c.want)
			}
		})
	}
	if _, err := game.At(midway(t), nil, nil); err == nil {
		t.Error("a position without a deal is taken")
	}
}
