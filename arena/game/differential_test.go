package game_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/game"
)

// story writes down what the engine shows in the words of the referee.
type story struct{ lines []string }

func (n *story) tell(format string, args ...any) {
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *story) asked(s *game.State) {
	r, v := s.Request(), s.View(0)
	var options []string
	for d := range r.Legal() {
		options = append(options, d.String())
	}
	n.tell("seat %d is asked %v: %s, piles of %d and %d", r.Seat, r.Kind, strings.Join(options, " "), v.DrawLeft(), v.DiscardLeft())
}

// Observe implements game.Observer.
func (n *story) Observe(s *game.State, e game.Event) {
	if e.Kind != game.RoundEnded {
		return
	}
	v := s.View(0)
	n.tell("round %d, dealer %d, %v of %d, piles %s and %s", v.Round(), v.Dealer(), e.End, e.Seat, pile(v.InDraw), pile(v.InDiscard))
	for seat := range game.Seat(v.Seats()) {
		var front []string
		for c := range v.Front(seat) {
			front = append(front, c.String())
		}
		slices.Sort(front)
		n.tell("seat %d %v with %s scores %d and has %d", seat, v.Status(seat), strings.Join(front, " "), v.Points(seat), v.Total(seat))
	}
}

func pile(count func(game.Card) int) string {
	var cards []string
	for c := range game.Card(game.Kinds) {
		for range count(c) {
			cards = append(cards, c.String())
		}
	}
	return tally(cards)
}

// compareWithReferee plays a game with the engine, has the referee play it again on the same cards and decisions, and
// compares all that was asked, who held what, what was scored, and what the piles held.
func compareWithReferee(t *testing.T, setup game.Setup, decide func(game.Request) game.Decision) {
	t.Helper()
	drawn, seen := &kinds{from: setup.Deal}, &story{}
	setup.Deal, setup.Observer = drawn, seen
	s, err := game.New(setup)
	if err != nil {
		t.Fatal(err)
	}
	rules := s.View(0).Rules()
	second := &referee{seats: setup.Seats, tieBreak: rules.TieBreak.String(), deal: rules.Deal.String(), bustedAssigns: rules.BustedAssigns,
		target: rules.TargetScore, maxRounds: rules.MaxRounds, decks: rules.Decks, totals: make([]int, setup.Seats)}
	copy(second.totals, setup.Totals)
	for !s.Over() {
		seen.asked(&s)
		d := decide(s.Request())
		second.answers = append(second.answers, d.String())
		if err := s.Apply(d); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range drawn.cards {
		second.cards = append(second.cards, c.String())
	}
	places, complaint := refereed(second, int(setup.Dealer))
	for i := range max(len(seen.lines), len(second.story)) {
		engine, other := "nothing", "nothing"
		if i < len(seen.lines) {
			engine = seen.lines[i]
		}
		if i < len(second.story) {
			other = second.story[i]
		}
		if engine != other {
			t.Fatalf("%d seats, %+v, line %d (%v)\nengine:  %s\nreferee: %s", setup.Seats, rules, i, complaint, engine, other)
		}
	}
	if complaint != nil {
		t.Fatalf("%d seats, %+v: %v", setup.Seats, rules, complaint)
	}
	result := s.Result()
	if len(second.cards)+len(second.answers) > 0 || !slices.Equal(places, result.Places) || !slices.Equal(second.totals, result.Totals) {
		t.Fatalf("%d seats, %+v\nengine:  %v\nreferee: places %v, totals %v; %d cards and %d answers left over",
			setup.Seats, rules, result, places, second.totals, len(second.cards), len(second.answers))
	}
}

func refereed(r *referee, dealer int) (places []int, complaint any) {
	defer func() { complaint = recover() }()
	return r.play(dealer), nil
}

func TestTheEngineAgreesWithASecondReferee(t *testing.T) {
	everyTable(t, 64*scale, func(t *testing.T, setup game.Setup, hits int, r *rand.Rand) {
		compareWithReferee(t, setup, func(request game.Request) game.Decision { return randomDecision(request, hits, r) })
	})
}
