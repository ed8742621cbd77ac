package swiss_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/swiss"
)

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		n, seats int
		want     []int
	}{
		{2, 4, nil},
		{3, 4, []int{3}},
		{4, 4, []int{4}},
		{5, 4, []int{5}},
		{6, 4, []int{3, 3}},
		{7, 4, []int{4, 3}},
		{9, 4, []int{3, 3, 3}},
		{13, 4, []int{4, 3, 3, 3}},
		{17, 4, []int{4, 4, 3, 3, 3}},
		{101, 4, append(slices.Repeat([]int{4}, 23), 3, 3, 3)},
		{1001, 4, append(slices.Repeat([]int{4}, 248), 3, 3, 3)},
		{1002, 4, append(slices.Repeat([]int{4}, 249), 3, 3)},
		{5, 3, []int{5}},
		{18, 18, []int{18}},
		{19, 18, []int{10, 9}},
		{8, 2, nil},
		{40, 19, nil},
	} {
		if got := swiss.Sizes(c.n, c.seats); !slices.Equal(got, c.want) {
			t.Errorf("Sizes(%d, %d) = %d, want %d", c.n, c.seats, got, c.want)
		}
	}
}

// randomField has a random past, so that repeats cannot be avoided, and owners,
// shares and equal scores too.
func randomField(r *rand.Rand, n, seats int) swiss.Field {
	f := swiss.Field{Seats: seats, Seed: fmt.Append(nil, r.Uint64())}
	owners := r.IntN(2) * r.IntN(4)
	span := 1 + r.Int64N(1+r.Int64N(1000))
	for i := range n {
		b := swiss.Bot{Name: fmt.Sprintf("bot-%d", i), Score: r.Int64N(span), Short: r.IntN(3)}
		if o := r.IntN(n); o < owners*2 {
			b.Owner = fmt.Sprintf("owner-%d", o/2)
		}
		f.Bots = append(f.Bots, b)
	}
	for range r.IntN(7) {
		names := []string{"gone", "left"}
		for _, b := range f.Bots {
			names = append(names, b.Name)
		}
		r.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for len(names) >= seats {
			f.Met = append(f.Met, names[:seats])
			names = names[seats:]
		}
	}
	return f
}

func TestEveryBotSitsOnceAtALegalTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for n := 3; n < 60; n += 1 + n/6 {
		for seats := swiss.MinSeats; seats <= swiss.MaxSeats; seats += 2 + r.IntN(9) {
			f := randomField(r, n, seats)
			p, err := swiss.Pair(f)
			if err != nil {
				t.Fatalf("%d bots, %d seats: %v", n, seats, err)
			}
			newJudge(f).check(t, p)
		}
	}
}

func TestUpTo16BotsTheSumsAreTheLeastThereAre(t *testing.T) {
	small, large := 200, 6
	if soak {
		small, large = 1000, 30
	}
	r := rand.New(rand.NewPCG(2, 0))
	for i := range small + large {
		n := 3 + r.IntN(10)
		if i >= small {
			n = 13 + r.IntN(4)
		}
		f := randomField(r, n, 3+r.IntN(4))
		p, err := swiss.Pair(f)
		if err != nil {
			t.Fatal(err)
		}
		j := newJudge(f)
		j.check(t, p)
		if got, least := j.all(p.Tables), j.least(); least != [3]int64{got.cost, got.shares, got.spread.Int64()} {
			t.Fatalf("%d bots at tables of %d: %v, but %v can be had; field %+v", n, f.Seats, got, least, f)
		}
	}
}

func TestNoExchangeOfTwoBotsHelps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for range 12 {
		n, seats := 17+r.IntN(30), 3+r.IntN(6)
		f := randomField(r, n, seats)
		p, err := swiss.Pair(f)
		if err != nil {
			t.Fatal(err)
		}
		newJudge(f).noSwapHelps(t, p)
	}
}

// Nobody meets again while a bot has met at most half of the others (at five
// and six seats, 0.4 of them) when the night ends, provided that there are as
// many tables as seats at the largest.
func TestNobodyMeetsAgain(t *testing.T) {
	type night struct{ bots, seats, rounds int }
	nights := []night{
		{13, 3, 3}, {16, 3, 3}, {16, 4, 2}, {19, 4, 3}, {25, 5, 2}, {36, 6, 2}, {61, 5, 6},
		{43, 4, 7}, {46, 4, 7}, {49, 4, 7}, {52, 4, 7}, {55, 4, 7}, {58, 4, 7}, {61, 4, 7}, {64, 4, 7},
	}
	if soak {
		for seats, share := range map[int]float64{3: 0.5, 4: 0.5, 5: 0.4, 6: 0.4} {
			for bots := 9; bots <= 1000; bots += 1 + bots/100*20 {
				if sizes := swiss.Sizes(bots, seats); len(sizes) >= sizes[0] {
					nights = append(nights, night{bots, seats, min(20, int(share*float64(bots-1)/float64(seats-1)))})
				}
			}
		}
	}
	for _, c := range nights {
		n := newNight(c.bots, c.seats, uint64(c.bots))
		for round := 1; round <= c.rounds; round++ {
			p := n.pair(t, round)
			newJudge(n.Field).check(t, p)
			if p.Repeats != 0 {
				t.Errorf("%d bots at tables of %d: %d repeats in pairing round %d", c.bots, c.seats, p.Repeats, round)
			}
			n.play(p)
		}
	}
}

func TestComingAndGoing(t *testing.T) {
	const most, fewest, rounds = 60, 43, 7
	for seed := range uint64(2) {
		n := newNight(50, 4, seed)
		for round := 1; round <= rounds; round++ {
			p := n.pair(t, round)
			j := newJudge(n.Field)
			j.check(t, p)
			j.noSwapHelps(t, p)
			if p.Repeats != 0 {
				t.Errorf("seed %d: %d repeats among %d bots in pairing round %d", seed, p.Repeats, len(n.Bots), round)
			}
			n.play(p)
			for range n.luck.IntN(5) {
				if n.luck.IntN(2) == 0 && len(n.Bots) < most {
					n.enter(fmt.Sprintf("late-%d", len(n.skill)))
				} else if len(n.Bots) > fewest {
					gone := n.luck.IntN(len(n.Bots))
					n.Bots = slices.Delete(n.Bots, gone, gone+1)
				}
			}
		}
	}
}

func TestTheSameFieldAndSeedGiveTheSameTables(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	for _, n := range []int{3, 12, 16, 17, 40} {
		for range 3 {
			f := randomField(r, n, 4)
			want, err := swiss.Pair(f)
			if err != nil {
				t.Fatal(err)
			}
			other := f
			other.Bots = shuffled(r, f.Bots)
			other.Met = shuffled(r, f.Met)
			for i, table := range other.Met {
				other.Met[i] = shuffled(r, table)
			}
			got, err := swiss.Pair(other)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%d bots in another order:\n got %v\nwant %v", n, got, want)
			}
		}
	}
}

func shuffled[T any](r *rand.Rand, s []T) []T {
	s = slices.Clone(s)
	r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
	return s
}

// In the first pairing round everything is equal: each pair should meet as
// often as any other, at the tables the exact search makes and at the others.
func TestTheFirstPairingRoundIsAShuffle(t *testing.T) {
	const nights = 3000
	for _, bots := range []int{6, 18} {
		n := newNight(bots, 3, 1)
		met := map[string]int{}
		for seed := range nights {
			n.Seed = fmt.Append(nil, seed)
			p, err := swiss.Pair(n.Field)
			if err != nil {
				t.Fatal(err)
			}
			for _, table := range p.Tables {
				if i := slices.Index(table, "bot-0"); i >= 0 {
					for _, name := range slices.Delete(slices.Clone(table), i, i+1) {
						met[name]++
					}
				}
			}
		}
		chance := 2 / float64(bots-1)
		sigma := math.Sqrt(nights * chance * (1 - chance))
		for i := 1; i < bots; i++ {
			name := fmt.Sprintf("bot-%d", i)
			if off := float64(met[name]) - nights*chance; math.Abs(off) > 4*sigma {
				t.Errorf("of %d bots bot-0 met %s %d times in %d, want %.0f +-%.0f", bots, name, met[name], nights, nights*chance, 4*sigma)
			}
		}
	}
}

func TestBotsOfOneOwnerAreKeptApart(t *testing.T) {
	for _, bots := range []int{16, 40} {
		n := newNight(bots, 4, 5)
		for i := range n.Bots {
			n.Bots[i].Owner = fmt.Sprintf("owner-%d", i/2)
		}
		for round := range 2 {
			p := n.pair(t, round)
			if p.Cost != 0 {
				t.Errorf("%d bots, pairing round %d: cost %d", bots, round+1, p.Cost)
			}
			n.play(p)
		}
	}
}

func TestTwoSecondMeetingsAreBetterThanOneOfAnOwner(t *testing.T) {
	// Two repeats, acd and bef, keep a and b apart.
	f := swiss.Field{Seats: 3, Bots: []swiss.Bot{
		{Name: "a", Owner: "kim"}, {Name: "b", Owner: "kim"}, {Name: "c"}, {Name: "d"}, {Name: "e"}, {Name: "f"},
	}}
	f.Met = [][]string{{"a", "d"}, {"a", "e"}, {"a", "f"}, {"b", "d"}, {"b", "e"}}
	p, err := swiss.Pair(f)
	if err != nil {
		t.Fatal(err)
	}
	if p.Cost != 4 || p.Repeats != 2 {
		t.Errorf("%v: cost %d with %d repeats, want 4 with 2: abc has cost 6", p.Tables, p.Cost, p.Repeats)
	}
}

func TestSecondPairingRoundOfEightInFours(t *testing.T) {
	n := newNight(8, 4, 1)
	n.play(n.pair(t, 1))
	if p := n.pair(t, 2); p.Repeats != 4 || p.Cost != 8 {
		t.Errorf("repeats %d, cost %d, want 4, 8", p.Repeats, p.Cost)
	}
}

func TestScoresMayBeAnyInteger(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 0))
	for _, n := range []int{8, 15, 30} {
		f := randomField(r, n, 4)
		for i := range f.Bots {
			f.Bots[i].Score = int64(r.Uint64())
		}
		f.Bots[0].Score, f.Bots[1].Score = math.MinInt64, math.MaxInt64
		p, err := swiss.Pair(f)
		if err != nil {
			t.Fatal(err)
		}
		j := newJudge(f)
		j.check(t, p)
		j.noSwapHelps(t, p)
	}
}

func TestTablesAndNamesAreInOrderOfStrength(t *testing.T) {
	f := swiss.Field{Seats: 3, Bots: []swiss.Bot{
		{Name: "f", Score: -5}, {Name: "e", Score: 1}, {Name: "d", Score: 1}, {Name: "c", Score: 90}, {Name: "b", Score: 90}, {Name: "a", Score: 99},
	}}
	p, err := swiss.Pair(f)
	if err != nil {
		t.Fatal(err)
	}
	if want := [][]string{{"a", "b", "c"}, {"d", "e", "f"}}; !reflect.DeepEqual(p.Tables, want) {
		t.Errorf("got %v, want %v", p.Tables, want)
	}
}

func TestPairRefuses(t *testing.T) {
	four := []swiss.Bot{{Name: "a"}, {Name: "b"}, {Name: "c"}, {Name: "d"}}
	with := func(b swiss.Bot) []swiss.Bot { return append(slices.Clone(four), b) }
	for _, c := range []struct {
		field swiss.Field
		want  string
	}{
		{swiss.Field{Seats: 2, Bots: four}, "seats: 2 is not 3..18"},
		{swiss.Field{Seats: 19, Bots: four}, "seats: 19 is not 3..18"},
		{swiss.Field{Seats: 4, Bots: four[:2]}, "bots: too few bots: 2, a table needs 3"},
		{swiss.Field{Seats: 4, Bots: make([]swiss.Bot, 10_001)}, "bots: 10001 are more than 10000"},
		{swiss.Field{Seats: 4, Bots: with(swiss.Bot{})}, "bots[4].name: empty"},
		{swiss.Field{Seats: 4, Bots: with(swiss.Bot{Name: "b"})}, `bots[4].name: "b" is there twice`},
		{swiss.Field{Seats: 4, Bots: with(swiss.Bot{Name: "e", Short: -1})}, "bots[4].short: -1 is not 0..1000000000"},
		{swiss.Field{Seats: 4, Bots: four, Met: [][]string{{"a", "b"}, {"a", "x", "a"}}}, `met[1][2]: "a" sits there twice`},
		{swiss.Field{Seats: 4, Bots: four, Met: [][]string{{"a", ""}}}, "met[0][1]: empty name"},
		{swiss.Field{Seats: 4, Bots: four, Met: slices.Repeat([][]string{{"a", "b"}}, 60_001)}, `"b" meet more than 60000 times`},
	} {
		_, err := swiss.Pair(c.field)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got error %v, want %s", err, c.want)
		}
		if few := len(c.field.Bots) < 3; errors.Is(err, swiss.ErrTooFew) != few {
			t.Errorf("%v: is ErrTooFew: %t, want %t", err, !few, few)
		}
	}
}

func TestWeighRefuses(t *testing.T) {
	f := swiss.Field{Seats: 3, Bots: []swiss.Bot{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	for _, c := range []struct {
		tables [][]string
		want   string
	}{
		{[][]string{{"a", "b", "x"}}, `tables[0][2]: "x" is no bot of the field, or sits twice`},
		{[][]string{{"a", "b"}, {"b"}}, `tables[1][0]: "b" is no bot of the field, or sits twice`},
		{[][]string{{"a", "b"}}, `tables: "c" sits nowhere`},
	} {
		if _, err := f.Weigh(c.tables); err == nil || err.Error() != c.want {
			t.Errorf("%v: got error %v, want %s", c.tables, err, c.want)
		}
	}
}

func TestPairingAsJSON(t *testing.T) {
	p, err := swiss.Pair(swiss.Field{Seats: 3, Bots: []swiss.Bot{{Name: "a"}, {Name: "b", Score: 2}, {Name: "c"}}, Met: [][]string{{"a", "b"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"tables":[["b","a","c"]],"cost":2,"shares":0,"spread":8,"repeats":1}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func BenchmarkPair1000(b *testing.B) {
	n := newNight(1000, 4, 1)
	for round := range 19 {
		n.play(n.pair(b, round))
	}
	for b.Loop() {
		n.pair(b, 20)
	}
}

func BenchmarkPair16(b *testing.B) {
	n := newNight(16, 4, 1)
	for round := range 5 {
		n.play(n.pair(b, round))
	}
	for b.Loop() {
		n.pair(b, 6)
	}
}
