package house_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
)

func TestEveryListedBotIsThere(t *testing.T) {
	for _, name := range append(house.Names(), "stay-1", "stay-23", "stay-200") {
		if bot, err := house.New(name); err != nil || bot == nil {
			t.Errorf("New(%q): %v, %v", name, bot, err)
		}
	}
}

func TestAnUnknownNameIsRefusedWithTheNamesThereAre(t *testing.T) {
	for _, name := range []string{"", "Odds", "stay-", "stay-0", "stay-201", "stay-025", "stay-+5", "stay-twenty", "cards-6", "oracle"} {
		_, err := house.New(name)
		if err == nil {
			t.Errorf("New(%q) is a bot", name)
			continue
		}
		for _, known := range house.Names() {
			if !strings.Contains(err.Error(), known) {
				t.Errorf("New(%q): %q does not list %s", name, err, known)
			}
		}
	}
}

// position is a moment in the first round of a game of three or more; the dealer is the last seat, so seat 0 acts first.
type position struct {
	totals    []int  // one a seat
	deck      string // from the top
	decisions string // made so far
}

func (p position) play(t *testing.T) game.State {
	t.Helper()
	var deck []game.Card
	for _, name := range strings.Fields(p.deck) {
		card, err := game.ParseCard(name)
		if err != nil {
			t.Fatal(err)
		}
		deck = append(deck, card)
	}
	seats := len(p.totals)
	listed, err := deal.NewListed(game.DefaultRules(seats).Decks, deck, nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := game.New(game.Setup{Seats: seats, Rules: game.DefaultRules(seats), Dealer: game.Seat(seats - 1), Totals: p.totals, Deal: listed})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range strings.Fields(p.decisions) {
		d, err := game.ParseDecision(text)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Apply(d); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestDecisions(t *testing.T) {
	for _, c := range []struct {
		says string
		bot  string
		at   position
		asks game.Kind
		want string
	}{
		{"stay-25 hits with 23 points", "stay-25",
			position{[]int{0, 0, 0}, "12 1 2 11", "hit stay stay"}, game.Turn, "hit"},
		{"stay-25 stays with 25 points, the modifier among them", "stay-25",
			position{[]int{0, 0, 0}, "12 1 2 11 +2", "hit stay stay hit"}, game.Turn, "stay"},
		{"stay-23 stays with 23 points", "stay-23",
			position{[]int{0, 0, 0}, "12 1 2 11", "hit stay stay"}, game.Turn, "stay"},
		{"cards-5 hits with four numbers and a modifier, however many points", "cards-5",
			position{[]int{0, 0, 0}, "12 1 2 11 10 9 +10", "hit stay stay hit hit hit"}, game.Turn, "hit"},
		{"cards-5 stays with five numbers, however few points", "cards-5",
			position{[]int{0, 0, 0}, "1 5 5 2 3 4 0", "hit stay stay hit hit hit"}, game.Turn, "stay"},

		{"a plain bot freezes the seat with the highest total", "stay-25",
			position{[]int{0, 40, 50}, "freeze", ""}, game.GiveFreeze, "2"},
		{"a plain bot counts the points at stake to the total", "stay-25",
			position{[]int{0, 40, 45}, "3 12 2 flip3", "hit"}, game.GiveFlip3, "1"},
		{"a plain bot takes the lowest seat of equal ones", "cards-5",
			position{[]int{0, 40, 50, 50}, "flip3", ""}, game.GiveFlip3, "2"},
		{"a plain bot gives neither to itself, though it leads", "cards-5",
			position{[]int{150, 20, 10}, "freeze", ""}, game.GiveFreeze, "1"},
		{"a plain bot gives a spare Second Chance to the lowest total, whatever is at stake", "stay-25",
			position{[]int{0, 20, 21}, "second 12 1 second", "hit"}, game.GiveSecond, "1"},
		{"a plain bot gives a spare Second Chance to the lowest seat of equal ones", "stay-25",
			position{[]int{0, 20, 20}, "second 12 1 second", "hit"}, game.GiveSecond, "1"},

		// Row 12 10: 9 to 11 others of each may come, 22 points are at stake.
		{"odds hits with 12 and 10 on a fresh deck", "odds",
			position{[]int{0, 0, 0}, "12 1 2 10", "hit stay stay"}, game.Turn, "hit"},
		{"odds stays with 12 and 11 on a fresh deck", "odds",
			position{[]int{0, 0, 0}, "12 1 2 11", "hit stay stay"}, game.Turn, "stay"},
		{"odds hits with 12 and 11 when others hold what would bust it", "odds",
			position{make([]int, 7), "12 12 12 12 11 11 11 11", "hit stay stay stay stay stay stay"}, game.Turn, "hit"},
		{"odds hits with 12 and 11 under a Second Chance", "odds",
			position{[]int{0, 0, 0}, "12 1 2 11 second", "hit stay stay hit"}, game.Turn, "hit"},
		{"odds hits with 12 and 7 while the x2 may come", "odds",
			position{[]int{0, 0, 0}, "12 1 2 7", "hit stay stay"}, game.Turn, "hit"},
		{"odds stays with six high numbers, Flip 7 or not", "odds",
			position{[]int{0, 0, 0}, "12 5 6 11 10 9 8 7", "hit stay stay hit hit hit hit"}, game.Turn, "stay"},
		{"odds goes for Flip 7 with six low numbers", "odds",
			position{[]int{0, 0, 0}, "0 5 6 1 2 3 4 5", "hit stay stay hit hit hit hit"}, game.Turn, "hit"},

		{"odds freezes the seat with few cards, not the one that would stay", "odds",
			position{[]int{100, 100, 100}, "1 12 2 3 11 freeze", "hit hit hit"}, game.GiveFreeze, "0"},
		{"odds freezes the close rival, not the far one", "odds",
			position{[]int{100, 0, 105}, "5 5 5 freeze", "hit"}, game.GiveFreeze, "2"},
		{"odds gives Flip Three to a middling row", "odds",
			position{[]int{0, 0, 0}, "12 3 12 11 2 11 +2 4 flip3", "hit hit hit hit hit hit"}, game.GiveFlip3, "0"},
		{"odds takes Flip Three itself while there is nothing to lose", "odds",
			position{[]int{0, 0, 0}, "flip3", ""}, game.GiveFlip3, "0"},
		{"odds gives a spare Second Chance to the seat with least to save", "odds",
			position{[]int{0, 0, 0}, "second 12 1 second", "hit"}, game.GiveSecond, "2"},
	} {
		t.Run(c.says, func(t *testing.T) {
			s := c.at.play(t)
			r := s.Request()
			if r.Kind != c.asks {
				t.Fatalf("seat %d is asked %v, want %v", r.Seat, r.Kind, c.asks)
			}
			if got := decide(t, c.bot, &s); got.String() != c.want {
				t.Errorf("%s says %v with %d points, want %s", c.bot, got, s.View(r.Seat).Points(r.Seat), c.want)
			}
		})
	}
}

func newBot(t testing.TB, name string) house.Strategy {
	t.Helper()
	bot, err := house.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return bot
}

func decide(t *testing.T, bot string, s *game.State) game.Decision {
	t.Helper()
	return newBot(t, bot).Decide(s.View(s.Request().Seat), 0)
}

func TestRacerDiffersFromOddsWhereTheRaceSaysSo(t *testing.T) {
	for _, c := range []struct {
		says        string
		at          position
		racer, odds string
	}{
		{"it never stays below a banked winning total within reach",
			position{[]int{170, 190, 0}, "12 12 1 11", "hit stay stay"}, "hit", "stay"},
		{"beyond reach it saves its place",
			position{[]int{130, 195, 100}, "12 12 1 11", "hit stay stay"}, "stay", "stay"},
		{"it banks a winning total that nobody is likely to pass",
			position{[]int{190, 120, 110}, "12 5 6", ""}, "stay", "hit"},
		{"it goes on with a winning total that a rival may well pass",
			position{[]int{190, 185, 110}, "12 5 6", ""}, "hit", "hit"},
		{"close behind a rival near the end it risks more",
			position{[]int{150, 190, 0}, "12 3 5 11", "hit stay stay"}, "hit", "stay"},
		{"well ahead near the end it risks less",
			position{[]int{165, 150, 150}, "12 3 5 10", "hit stay stay"}, "stay", "hit"},
		{"it does not bank the total that only equals another",
			position{[]int{190, 192, 110}, "12 10 6 0", "hit stay stay"}, "hit", "hit"},
	} {
		t.Run(c.says, func(t *testing.T) {
			s := c.at.play(t)
			if got := decide(t, "racer", &s); got.String() != c.racer {
				t.Errorf("racer says %v, want %s", got, c.racer)
			}
			if got := decide(t, "odds", &s); got.String() != c.odds {
				t.Errorf("odds says %v, want %s", got, c.odds)
			}
		})
	}
}

// The results of seeded nights hang on these numbers: they may never change.
func TestChanceIsFixedForEver(t *testing.T) {
	for _, c := range []struct {
		seed    uint64
		seat    game.Seat
		request int
		want    uint64
	}{
		{0, 0, 0, 0xa706dd2f4d197e6f},
		{1, 0, 0, 0x5e41ab087439611e},
		{1, 35, 0, 0xc33bb6984591a2e3},
		{math.MaxUint64, 3, 1 << 20, 0x2417927e0e43c71d},
	} {
		if got := house.Chance(c.seed, c.seat, c.request); got != c.want {
			t.Errorf("Chance(%d, %d, %d) = %#x, want %#x", c.seed, c.seat, c.request, got, c.want)
		}
	}
}

func TestRandomDecidesUniformly(t *testing.T) {
	const games = 6000
	for _, c := range []struct {
		says string
		at   position
		want int
	}{
		{"between hit and stay", position{[]int{0, 0, 0}, "1 2 3", ""}, 2},
		{"among three seats", position{[]int{0, 0, 0}, "freeze", ""}, 3},
		{"among the two that may get a Second Chance", position{[]int{0, 0, 0}, "second 2 3 second", "hit"}, 2},
		{"among 36 seats", position{make([]int, 36), "flip3", ""}, 36},
	} {
		t.Run(c.says, func(t *testing.T) {
			s := c.at.play(t)
			r := s.Request()
			bot := newBot(t, "random")
			counts := map[game.Decision]int{}
			for seed := range uint64(games) {
				counts[bot.Decide(s.View(r.Seat), house.Chance(seed, r.Seat, 11))]++
			}
			legal := slices.Collect(r.Legal())
			if len(legal) != c.want || len(counts) != c.want {
				t.Fatalf("%d decisions are legal and %d were made, want %d", len(legal), len(counts), c.want)
			}
			mean := float64(games) / float64(len(legal))
			for _, d := range legal {
				if off := math.Abs(float64(counts[d])-mean) / math.Sqrt(mean); off > 4 {
					t.Errorf("%v was decided %d times of %d, want about %.0f", d, counts[d], games, mean)
				}
			}
		})
	}
}

// FuzzDecideIsLegal plays whole games in which every seat is another bot, under any options.
func FuzzDecideIsLegal(f *testing.F) {
	for seats := range uint8(34) {
		f.Add(uint64(seats), seats, seats, seats%2 == 0, seats%3 == 0, uint16(7*seats))
	}
	f.Fuzz(func(t *testing.T, seed uint64, seats, tie uint8, assigns, everyone bool, target uint16) {
		n := game.MinSeats + int(seats)%(game.MaxSeats-game.MinSeats+1)
		rules := game.Rules{TieBreak: game.TieBreak(tie % 3), BustedAssigns: assigns, TargetScore: int(target), MaxRounds: 12, Decks: int(seed % 4)}
		if everyone {
			rules.Deal = game.DealEveryone
		}
		if err := playAll(allBots(t), seed, n, rules); err != nil {
			t.Errorf("seed %d, %d seats, %+v: %v", seed, n, rules, err)
		}
	})
}

func playAll(bots []house.Strategy, seed uint64, seats int, rules game.Rules) error {
	s, err := game.New(game.Setup{Seats: seats, Rules: rules, Dealer: game.Seat(seats - 1), Deal: deal.NewFast(seed, 1)})
	if err != nil {
		return err
	}
	for request := 0; !s.Over(); request++ {
		r := s.Request()
		bot, chance := bots[(int(r.Seat)+int(seed%8))%len(bots)], house.Chance(seed, r.Seat, request)
		d := bot.Decide(s.View(r.Seat), chance)
		if again := bot.Decide(s.View(r.Seat), chance); again != d {
			return fmt.Errorf("request %d: %T says %v, and to the same view %v", request, bot, d, again)
		}
		if err := s.Apply(d); err != nil {
			return fmt.Errorf("request %d: %T: %w", request, bot, err)
		}
	}
	return nil
}

func allBots(t *testing.T) []house.Strategy {
	t.Helper()
	var bots []house.Strategy
	for _, name := range house.Names() {
		bots = append(bots, newBot(t, name))
	}
	return bots
}

func TestDecideDoesNotAllocate(t *testing.T) {
	bots := allBots(t)
	var s game.State
	d := deal.NewFast(1, 1)
	games := uint64(0)
	allocations := testing.AllocsPerRun(20, func() {
		games++
		d.Seed(games, 3)
		if err := s.Reset(game.Setup{Seats: len(bots), Rules: game.DefaultRules(len(bots)), Deal: d}); err != nil {
			t.Fatal(err)
		}
		for request := 0; !s.Over(); request++ {
			r := s.Request()
			if err := s.Apply(bots[r.Seat].Decide(s.View(r.Seat), house.Chance(games, r.Seat, request))); err != nil {
				t.Fatal(err)
			}
		}
	})
	if allocations != 0 {
		t.Errorf("a game allocates %v times, want never", allocations)
	}
}

// BenchmarkDecide measures a decision with what the engine does until the next one.
func BenchmarkDecide(b *testing.B) {
	for _, name := range house.Names() {
		b.Run(name, func(b *testing.B) {
			bot := newBot(b, name)
			var s game.State
			d := deal.NewFast(1, 2)
			b.ReportAllocs()
			for b.Loop() {
				if s.Request().Kind == game.Nothing { // over, or not begun
					if err := s.Reset(game.Setup{Seats: 4, Dealer: 3, Deal: d}); err != nil {
						b.Fatal(err)
					}
				}
				r := s.Request()
				if err := s.Apply(bot.Decide(s.View(r.Seat), 1)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
