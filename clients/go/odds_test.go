package flip7_test

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	flip7 "github.com/flip7-arena/flip7/clients/go"
)

// vectors is testdata/helpers.json, which the kits of all languages hold to.
type vectors struct {
	Cases []struct {
		Name     string
		Position struct {
			Seats []struct {
				Status         string
				Row, Modifiers []string
				SecondChance   bool `json:"second_chance"`
			}
			DrawPile    map[string]int `json:"draw_pile"`
			DiscardPile map[string]int `json:"discard_pile"`
		}
		Expect struct {
			Points          []int
			Unseen          map[string]int
			BustProbability []float64 `json:"bust_probability"`
			ExpectedPoints  []float64 `json:"expected_points"`
		}
	}
}

func TestHelpers(t *testing.T) {
	text, err := os.ReadFile("testdata/helpers.json")
	if err != nil {
		t.Fatal(err)
	}
	var file vectors
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("helpers.json has no cases")
	}
	for _, test := range file.Cases {
		t.Run(test.Name, func(t *testing.T) {
			v := &flip7.View{
				DrawPile:    countsNamed(t, test.Position.DrawPile),
				DiscardPile: countsNamed(t, test.Position.DiscardPile),
			}
			for _, s := range test.Position.Seats {
				row, modifiers := cardsNamed(t, s.Row), cardsNamed(t, s.Modifiers)
				v.Seats = append(v.Seats, flip7.Seat{
					Status: statusNamed(t, s.Status), Row: row, Modifiers: modifiers, SecondChance: s.SecondChance,
					Points: flip7.Points(slices.Concat(row, modifiers)...),
				})
			}
			if got, want := v.Unseen(), countsNamed(t, test.Expect.Unseen); got != want {
				t.Errorf("Unseen: got %v, want %v", got, want)
			}
			for i := range v.Seats {
				if got, want := v.Seats[i].Points, test.Expect.Points[i]; got != want {
					t.Errorf("Points of seat %d: got %d, want %d", i, got, want)
				}
				if got, want := v.BustProbability(i), test.Expect.BustProbability[i]; got != want {
					t.Errorf("BustProbability(%d): got %v, want %v", i, got, want)
				}
				if got, want := v.ExpectedPoints(i), test.Expect.ExpectedPoints[i]; got != want {
					t.Errorf("ExpectedPoints(%d): got %v, want %v", i, got, want)
				}
			}
		})
	}
}

// TestExpectedPointsIsTheMeanOfDraws plays out what the helpers say: it draws from random positions and compares.
func TestExpectedPointsIsTheMeanOfDraws(t *testing.T) {
	chance := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		var deck []flip7.Card
		for c := range flip7.Card(flip7.Kinds) {
			for range chance.IntN(4) {
				deck = append(deck, c)
			}
		}
		chance.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
		mine := flip7.Seat{Status: flip7.Active, SecondChance: chance.IntN(2) == 0}
		var front []flip7.Card
		for len(front) < 6 && len(deck) > 1 {
			c := deck[0]
			deck = deck[1:]
			switch {
			case c.Number() && !slices.Contains(mine.Row, c):
				mine.Row = append(mine.Row, c)
			case c.Modifier():
				mine.Modifiers = append(mine.Modifiers, c)
			default:
				continue
			}
			front = append(front, c)
		}
		mine.Points = flip7.Points(front...)
		v := &flip7.View{Seats: []flip7.Seat{mine}}
		sum, busts := 0, 0
		for _, c := range deck {
			v.DrawPile[c]++
			duplicate := c.Number() && slices.Contains(front, c)
			switch {
			case duplicate && !mine.SecondChance:
				busts++
			case duplicate, c.Action():
				sum += flip7.Points(front...)
			default:
				sum += flip7.Points(append(slices.Clone(front), c)...)
			}
		}
		if got, want := v.ExpectedPoints(0), float64(sum)/float64(len(deck)); got != want {
			t.Errorf("%v from %v: ExpectedPoints got %v, want %v", front, v.DrawPile, got, want)
		}
		if got, want := v.BustProbability(0), float64(busts)/float64(len(deck)); got != want {
			t.Errorf("%v from %v: BustProbability got %v, want %v", front, v.DrawPile, got, want)
		}
	}
}

func cardNamed(t *testing.T, name string) flip7.Card {
	t.Helper()
	for c := range flip7.Card(flip7.Kinds) {
		if c.String() == name {
			return c
		}
	}
	t.Fatalf("%q is no card", name)
	return 0
}

func cardsNamed(t *testing.T, names []string) []flip7.Card {
	t.Helper()
	var cards []flip7.Card
	for _, name := range names {
		cards = append(cards, cardNamed(t, name))
	}
	return cards
}

func countsNamed(t *testing.T, names map[string]int) flip7.Counts {
	t.Helper()
	var counts flip7.Counts
	for name, n := range names {
		counts[cardNamed(t, name)] = n
	}
	return counts
}

func statusNamed(t *testing.T, name string) flip7.Status {
	t.Helper()
	for s := flip7.Active; s <= flip7.Out; s++ {
		if s.String() == name {
			return s
		}
	}
	t.Fatalf("%q is no status", name)
	return 0
}

func TestCardNames(t *testing.T) {
	var names []string
	for c := range flip7.Card(flip7.Kinds) {
		names = append(names, c.String())
		if c.Number() == c.Modifier() && !c.Action() || c.Modifier() && c.Action() {
			t.Errorf("%s is not exactly one of number, modifier, action", c)
		}
	}
	want := "0 1 2 3 4 5 6 7 8 9 10 11 12 +2 +4 +6 +8 +10 x2 freeze flip3 second"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := flip7.Card(22).String(); got != "card(22)" {
		t.Errorf("a card of a later rule book is called %q, want card(22)", got)
	}
}
