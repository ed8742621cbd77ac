package deal_test

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// key is the seed and the place of a draw in testdata/keyed.json.
type key struct {
	Seed  string `json:"seed"`
	Decks int    `json:"decks"`
	Round int    `json:"round"`
	Seat  int    `json:"seat"`
	Nth   int    `json:"nth"`
}

func (k key) deal(t *testing.T) *deal.Keyed {
	t.Helper()
	seed, err := hex.DecodeString(k.Seed)
	if err != nil || len(seed) != 32 {
		t.Fatalf("seed %q: %v", k.Seed, err)
	}
	return deal.NewKeyed([32]byte(seed))
}

func (k key) draw(t *testing.T, pile *game.Pack) game.Copy {
	t.Helper()
	return draw(t, k.deal(t), game.Draw{Pile: pile, Round: k.Round, Seat: game.Seat(k.Seat), Nth: k.Nth})
}

func draw(t *testing.T, from game.Deal, d game.Draw) game.Copy {
	t.Helper()
	c, err := from.Draw(d)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Pile.Has(c) {
		t.Fatalf("%d was dealt, which is not in the pile", c)
	}
	return c
}

// vectors is testdata/keyed.json, which says what its rows mean. It was written by a program in another language.
type vectors struct {
	Tried []struct {
		key
		Tried []game.Copy `json:"tried"`
		Cards []string    `json:"cards"`
	} `json:"tried"`
	Piles []struct {
		key
		Pile []game.Copy `json:"pile"`
		Copy game.Copy   `json:"copy"`
		Card string      `json:"card"`
	} `json:"piles"`
	Deals []struct {
		Seed       string       `json:"seed"`
		Decks      int          `json:"decks"`
		Seats      int          `json:"seats"`
		Each       int          `json:"each"`
		Rounds     [][][]string `json:"rounds"`
		Reshuffles [][3]int     `json:"reshuffles"`
	} `json:"deals"`
}

func readVectors(t *testing.T) (v vectors) {
	t.Helper()
	text, err := os.ReadFile("testdata/keyed.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Tried) == 0 || len(v.Piles) == 0 || len(v.Deals) == 0 {
		t.Fatal("testdata/keyed.json has no rows")
	}
	return v
}

func TestKeyedTriesTheCopiesOfTheVectors(t *testing.T) {
	for _, row := range readVectors(t).Tried {
		// A copy that is dealt and taken away makes room for the next that is tried.
		pile := game.NewPack(row.Decks)
		var seen []game.Copy
		for i, want := range row.Tried {
			if want := pile.Card(want).String(); row.Cards[i] != want {
				t.Errorf("%+v: copy %d is a %s, want %s", row.key, row.Tried[i], want, row.Cards[i])
			}
			if slices.Contains(seen, want) {
				continue
			}
			seen = append(seen, want)
			got := row.draw(t, &pile)
			if got != want {
				t.Errorf("%+v: try %d is copy %d, want %d", row.key, i, got, want)
			}
			pile.Remove(got)
		}
	}
}

func TestKeyedDealsFromWhatIsLeft(t *testing.T) {
	for _, row := range readVectors(t).Piles {
		pile := game.NewPack(row.Decks)
		for c := range game.Copy(pile.Size()) {
			if !slices.Contains(row.Pile, c) {
				pile.Remove(c)
			}
		}
		if got := row.draw(t, &pile); got != row.Copy || pile.Card(got).String() != row.Card {
			t.Errorf("%+v of %d copies: got %d, a %v, want %d, a %s", row.key, len(row.Pile), got, pile.Card(got), row.Copy, row.Card)
		}
	}
}

func TestKeyedDealsTheRoundsOfTheVectors(t *testing.T) {
	for _, row := range readVectors(t).Deals {
		from := key{Seed: row.Seed}.deal(t)
		pile := game.NewPack(row.Decks)
		var reshuffles [][3]int
		for r, passes := range row.Rounds {
			var dealt []game.Copy
			for nth, pass := range passes {
				for seat, want := range pass {
					if pile.Left() == 0 {
						pile = game.NewPack(row.Decks) // but for what lies on the table
						for _, c := range dealt {
							pile.Remove(c)
						}
						reshuffles = append(reshuffles, [3]int{r + 1, seat, nth})
					}
					c := draw(t, from, game.Draw{Pile: &pile, Round: r + 1, Seat: game.Seat(seat), Nth: nth})
					if got := pile.Card(c).String(); got != want {
						t.Fatalf("seed %s, round %d, seat %d, card %d: got %s, want %s", row.Seed, r+1, seat, nth, got, want)
					}
					pile.Remove(c)
					dealt = append(dealt, c)
				}
			}
		}
		if !slices.Equal(reshuffles, row.Reshuffles) {
			t.Errorf("seed %s: reshuffles before %v, want %v", row.Seed, reshuffles, row.Reshuffles)
		}
	}
}

// The published figures, on the seed of the bytes 0 to 31.
func TestKeyedDealsThePublishedCards(t *testing.T) {
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(i)
	}
	from := deal.NewKeyed(seed)
	for _, c := range []struct {
		round, seat, nth, decks int
		copies                  []game.Copy
		cards                   string
	}{
		{1, 0, 0, 1, []game.Copy{49, 23, 63, 19, 17, 54, 9, 1}, "10 7 11 6 6 10 4 1"},
		{1, 3, 2, 1, []game.Copy{25, 75, 51, 59, 33, 31, 27, 66}, ""},
		{7, 17, 4, 1, []game.Copy{75, 29, 51, 41, 82, 9, 89, 62}, ""},
		{2, 30, 1, 2, []game.Copy{144, 176, 125, 149, 66, 108, 39, 61}, "12 flip3 11 12 8 10 6 8"},
	} {
		pile := game.NewPack(c.decks)
		for i, want := range c.copies {
			got := draw(t, from, game.Draw{Pile: &pile, Round: c.round, Seat: game.Seat(c.seat), Nth: c.nth})
			if got != want {
				t.Errorf("(%d, %d, %d; %d) try %d: copy %d, want %d", c.round, c.seat, c.nth, pile.Size(), i, got, want)
			}
			pile.Remove(got)
		}
		for i, want := range strings.Fields(c.cards) {
			if got := pile.Card(c.copies[i]).String(); got != want {
				t.Errorf("copy %d of %d is a %s, want %s", c.copies[i], pile.Size(), got, want)
			}
		}
	}
	pile := game.NewPack(1)
	for i, want := range strings.Fields("10 11 6 2  9 freeze 7 second  9 12 12 7  8 11 12 5  9 8 9 10") {
		c := draw(t, from, game.Draw{Pile: &pile, Round: 1, Seat: game.Seat(i % 4), Nth: i / 4})
		if got := pile.Card(c).String(); got != want {
			t.Errorf("card %d of seat %d: %s, want %s", i/4, i%4, got, want)
		}
		pile.Remove(c)
	}
}
