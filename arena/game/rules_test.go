package game_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/flip7-arena/flip7/arena/game"
)

// Most clauses are shown by the scenarios. Here are those that need a look at the piles or at a whole game.

func TestR1OneDeckIs94Cards(t *testing.T) {
	want := map[string]int{"0": 1, "1": 1, "2": 2, "3": 3, "4": 4, "5": 5, "6": 6, "7": 7, "8": 8, "9": 9, "10": 10, "11": 11,
		"12": 12, "+2": 1, "+4": 1, "+6": 1, "+8": 1, "+10": 1, "x2": 1, "freeze": 3, "flip3": 3, "second": 3}
	for decks := 1; decks <= 3; decks++ {
		pack, got := game.NewPack(decks), map[string]int{}
		for c := range pack.All() {
			got[pack.Card(c).String()]++
		}
		for name, n := range want {
			if got[name] != decks*n {
				t.Errorf("%d decks: %d of %s, want %d", decks, got[name], name, decks*n)
			}
		}
		if len(got) != len(want) || pack.Left() != 94*decks || pack.Size() != 94*decks {
			t.Errorf("%d decks: kinds %v, %d of %d cards", decks, got, pack.Left(), pack.Size())
		}
	}
}

func TestR2EighteenSeatsShareADeck(t *testing.T) {
	for _, c := range []struct{ seats, option, decks int }{
		{3, 0, 1}, {18, 0, 1}, {19, 0, 2}, {36, 0, 2}, {3, 2, 2}, {36, 1, 1}, {19, 16, 16},
	} {
		rules := game.Rules{BustedAssigns: true, Decks: c.option}
		s, err := game.New(game.Setup{Seats: c.seats, Rules: rules, Deal: lowest{}})
		if err != nil {
			t.Errorf("%d seats, decks %d: %v", c.seats, c.option, err)
			continue
		}
		v := s.View(0)
		cards := v.DrawLeft() + v.DiscardLeft()
		for seat := range game.Seat(c.seats) {
			cards += v.Cards(seat)
		}
		if cards != 94*c.decks || v.Rules().Decks != c.decks {
			t.Errorf("%d seats, decks %d: %d cards, %d decks, want %d decks", c.seats, c.option, cards, v.Rules().Decks, c.decks)
		}
	}
	for _, seats := range []int{-1, 0, 2, 37} {
		if _, err := game.New(game.Setup{Seats: seats, Deal: lowest{}}); err == nil {
			t.Errorf("%d seats can play, want 3..36", seats)
		}
	}
}

func TestR11ASecondChanceThatNobodyCanTakeIsDiscarded(t *testing.T) {
	// Seats 2 and 0 hold one each, seat 1 has stayed, and seat 2 draws the third.
	cards := []game.Card{5, game.Second, game.Second, game.Second}
	s, err := game.New(game.Setup{Seats: 3, Rules: game.DefaultRules(3), Deal: &kinds{cards: cards}})
	if err == nil {
		err = errors.Join(s.Apply(game.Stay), s.Apply(game.Hit))
	}
	if err != nil {
		t.Fatal(err)
	}
	if v := s.View(0); v.InDiscard(game.Second) != 1 || v.Cards(2) != 1 {
		t.Errorf("%d discarded and %d cards before seat 2, want 1 and 1", v.InDiscard(game.Second), v.Cards(2))
	}
}

func TestR20TheFlipThreeIsDiscardedBeforeWhatItTurnedUpTakesEffect(t *testing.T) {
	// Seat 1 gives a Flip Three to seat 2, which sets a Freeze aside and gives it to seat 0.
	cards := []game.Card{12, 5, 7, game.Flip3, game.Freeze, 9, 8}
	where := map[string]string{} // of the Flip Three card, by event
	watch := observer(func(s *game.State, e game.Event) {
		if v := s.View(0); e.Kind == game.Flip3Began || e.Kind == game.Given || e.Kind == game.Left {
			where[fmt.Sprintf("%v of %v", e.Kind, e.Card)] = fmt.Sprintf("%d before seat 2, %d discarded", v.Flip3s(2), v.InDiscard(game.Flip3))
		}
	})
	s, err := game.New(game.Setup{Seats: 3, Rules: game.DefaultRules(3), Deal: &kinds{cards: cards}, Observer: watch})
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []game.Decision{game.Hit, game.Give(2), game.Give(0)} {
		if err := s.Apply(d); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{
		"given of flip3":   "1 before seat 2, 0 discarded",
		"flip3_began of 0": "1 before seat 2, 0 discarded",
		"given of freeze":  "1 before seat 2, 0 discarded",
		"left of 0":        "0 before seat 2, 1 discarded", // the Freeze takes effect
	}
	if !maps.Equal(where, want) {
		t.Errorf("got %v\nwant %v", where, want)
	}
}

func TestR23TheDealPassesToTheLeftAndSoDoesTheDrawPile(t *testing.T) {
	// Everybody stays with one card: a deck lasts 31 rounds of three cards, and only then are the discards shuffled.
	var dealers, left []int
	watch := observer(func(s *game.State, e game.Event) {
		if e.Kind == game.RoundStarted {
			dealers, left = append(dealers, int(s.View(0).Dealer())), append(left, s.View(0).DrawLeft())
		}
	})
	s, err := game.New(game.Setup{Seats: 3, Rules: game.Rules{TargetScore: 100000, MaxRounds: 32}, Dealer: 1, Deal: lowest{}, Observer: watch})
	for err == nil && !s.Over() {
		d := s.Request().Default()
		err = s.Apply(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	for i := range dealers {
		if dealers[i] != (1+i)%3 {
			t.Errorf("round %d: dealer %d, want %d", i+1, dealers[i], (1+i)%3)
		}
		if i < 28 && left[i] != 94-3*i { // then the first actions come
			t.Errorf("round %d: %d cards in the draw pile, want %d", i+1, left[i], 94-3*i)
		}
	}
}

func TestR24ARoundEndsAtTheThousandthCardOfEachDeck(t *testing.T) {
	for decks := 1; decks <= 2; decks++ {
		t.Run(fmt.Sprintf("%d deck(s)", decks), func(t *testing.T) {
			const left = 10 // of the thousand, with more in the draw pile
			p := game.Position{Rules: game.Rules{BustedAssigns: true, Decks: decks, MaxRounds: 1}.Complete(3), Round: 1, Dealer: 2,
				Seats:      []game.Standing{{Row: 1 << 12, Drawn: 1000*decks - left - 2}, {Status: game.Stayed, Row: 1 << 5, Drawn: 1}, {Status: game.Stayed, Row: 1 << 6, Drawn: 1}},
				Reshuffles: 3, Since: 3, Request: game.Request{Kind: game.Turn}, Seven: -1}
			for c := range game.Card(game.Kinds) {
				p.Draw[c] = decks * c.PerDeck()
			}
			p.Draw[12]--
			p.Draw[5]--
			p.Draw[6]--
			var s game.State
			s, err := game.At(p, gentle{&s}, nil)
			if err != nil {
				t.Fatal(err)
			}
			before := s.View(0).DrawLeft()
			for i := range left {
				if err := s.Apply(game.Hit); err != nil || s.Over() {
					t.Fatalf("after %d more cards: over %t, %v", i+1, s.Over(), err)
				}
			}
			want := s.View(0).Points(0)
			if err := s.Apply(game.Hit); err != nil {
				t.Fatal(err)
			}
			if got := s.Position(); got.End != game.Exhausted || got.Seats[0].Status != game.Active || got.Seats[0].Total != want {
				t.Errorf("on the next hit: end %v, seat 0 %+v, want exhausted, and the active seat banks %d", got.End, got.Seats[0], want)
			}
			if drawn := before - s.View(0).DrawLeft(); drawn != left {
				t.Errorf("%d more cards were drawn, want %d", drawn, left)
			}
		})
	}
}

func TestR24ASeatIsAskedThoughNoCardIsLeftAndTheRoundEndsOnItsHit(t *testing.T) {
	// All numbers and modifiers lie in front of eighteen seats; nothing but actions is on the discard pile.
	p := game.Position{Rules: game.DefaultRules(18), Round: 1, Turn: 1, Seats: make([]game.Standing, 18),
		Since: game.DeckSize, Request: game.Request{Seat: 1, Kind: game.Turn}, Seven: -1}
	p.Rules.MaxRounds = 1
	at := 0
	for number := range game.Card(13) {
		for range number.PerDeck() {
			p.Seats[at%18].Row |= 1 << number
			at++
		}
	}
	p.Seats[0].Modifiers = [6]int{1, 1, 1, 1, 1, 1}
	p.Discard[game.Freeze], p.Discard[game.Flip3], p.Discard[game.Second] = 3, 3, 3
	s, err := game.At(p, lowest{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stayed, err := s.Play(game.Stay)
	if err != nil {
		t.Fatal(err)
	}
	if want := (game.Request{Seat: 2, Kind: game.Turn}); stayed.Request() != want || stayed.View(0).Status(1) != game.Stayed {
		t.Errorf("after stay: seat 1 %v, asked %+v; want %+v", stayed.View(0).Status(1), stayed.Request(), want)
	}
	hit, err := s.Play(game.Hit)
	if err != nil {
		t.Fatal(err)
	}
	if got := hit.Position(); got.End != game.Exhausted || got.Seats[1].Status != game.Active || got.Seats[1].Total != hit.View(0).Points(1) {
		t.Errorf("after hit: end %v, seat 1 %+v; want exhausted, and the seat banks", got.End, got.Seats[1])
	}
	p.Draw[game.Second], p.Discard[game.Second], p.Since = 1, 2, game.DeckSize-1
	last, err := game.At(p, lowest{}, nil)
	if err == nil {
		err = last.Apply(game.Hit)
	}
	if err != nil || last.Over() || !last.View(0).SecondChance(1) {
		t.Errorf("an action is left in the draw pile: over %t, %v; want it drawn", last.Over(), err)
	}
}

// gentle deals a seat what does it no harm: a Second Chance, a duplicate for it to take, then low numbers. It looks at the
// state that it deals for.
type gentle struct{ of *game.State }

func (g gentle) Draw(d game.Draw) (game.Copy, error) {
	v := g.of.View(d.Seat)
	best, worst := game.Copy(0), 3
	for c := range d.Pile.All() {
		card, harm := d.Pile.Card(c), 3
		switch held := v.SecondChance(d.Seat); {
		case card == game.Second && !held:
			harm = 0
		case held && card.Number() && v.Row(d.Seat).Has(card):
			harm = 1
		case card.Number() && !v.Row(d.Seat).Has(card):
			harm = 2
		}
		if harm < worst {
			best, worst = c, harm
		}
	}
	return best, nil
}

// lowest deals the lowest copy in the pile: 0, 1, 2, 2, 3 ...
type lowest struct{}

func (lowest) Draw(d game.Draw) (game.Copy, error) {
	c, _ := d.Pile.First(0)
	return c, nil
}

// observer is a function that is told.
type observer func(s *game.State, e game.Event)

// Observe implements game.Observer.
func (o observer) Observe(s *game.State, e game.Event) { o(s, e) }
