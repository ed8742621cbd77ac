package rating_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/match"
	"github.com/flip7-arena/flip7/arena/rating"
)

// pool plays rotations between four house bots, to draw nights from: the mean placements of each in every one.
func pool(t *testing.T, count int, seed uint64, bots ...string) [][]float64 {
	t.Helper()
	var strategies []house.Strategy
	for _, bot := range bots {
		strategy, err := house.New(bot)
		if err != nil {
			t.Fatal(err)
		}
		strategies = append(strategies, strategy)
	}
	rotations := make([][]float64, count)
	for i := range rotations {
		rotations[i] = make([]float64, len(bots))
	}
	var mu sync.Mutex
	play := match.Local(strategies)
	_, err := match.Run(t.Context(), match.Match{Names: []string{"a", "b", "c", "d"}, Games: count * len(bots), Rules: game.Rules{BustedAssigns: true}, Seed: seed,
		Play: func(ctx context.Context, g match.Game) (match.Played, error) {
			played, err := play(ctx, g)
			mu.Lock()
			defer mu.Unlock()
			of := rotations[(g.Number-1)/len(bots)]
			for seat, bot := range g.Seats {
				for other, place := range played.Result.Places {
					switch own := played.Result.Places[seat]; {
					case other == seat:
					case own < place:
						of[bot] += 1. / 12 // three opponents, four games
					case own == place:
						of[bot] += 1. / 24
					}
				}
			}
			return played, err
		}})
	if err != nil {
		t.Fatal(err)
	}
	return rotations
}

func add(t *testing.T, f *rating.Final, placements ...float64) {
	t.Helper()
	if err := f.Add(placements); err != nil {
		t.Fatal(err)
	}
}

// gap is the difference of two bots' placements over rotations.
type gap struct{ n, sum, squares float64 }

func (g *gap) add(d float64) { g.n, g.sum, g.squares = g.n+1, g.sum+d, g.squares+d*d }

func (g *gap) mean() float64 { return g.sum / g.n }

func (g *gap) variance() float64 { return (g.squares - g.sum*g.sum/g.n) / (g.n - 1) }

// Four clones play on while they are looked at after every rotation. A pair by itself is a final of two.
func TestNullNights(t *testing.T) {
	nights, length, rotations := 200, 2000, 4000
	if rating.Soak {
		nights, length, rotations = 2000, 10_000, 50_000
	}
	drawn := pool(t, rotations, 1, "stay-25", "stay-25", "stay-25", "stay-25")
	// What clones are apart in the pool by luck would be true of every night: each night, bots change names at random.
	crossed, peeked, announced := 0, 0, 0
	for night := range nights {
		rng := rand.New(rand.NewPCG(uint64(night), 6))
		var final, pair rating.Final
		var between gap
		pairCrossed, pairPeeked, winner := false, false, false
		for n := range length {
			r := drawn[rng.IntN(len(drawn))]
			as := rng.Perm(4)
			add(t, &final, r[as[0]], r[as[1]], r[as[2]], r[as[3]])
			add(t, &pair, r[as[0]], r[as[1]])
			between.add(r[as[0]] - r[as[1]])
			if n+1 < rating.DecideFrom {
				continue
			}
			pairCrossed = pairCrossed || pair.Decided()
			pairPeeked = pairPeeked || math.Abs(between.mean()) > 1.96*math.Sqrt(between.variance()/between.n)
			winner = winner || final.Decided()
		}
		for flag, count := range map[*bool]*int{&pairCrossed: &crossed, &pairPeeked: &peeked, &winner: &announced} {
			if *flag {
				*count++
			}
		}
	}
	share := func(n int) float64 { return 100 * float64(n) / float64(nights) }
	t.Logf("%d nights of %d rotations: a given pair crosses in %.1f %% (+-1.96 at every look %.1f %%), a false winner in %.1f %%", nights, length, share(crossed), share(peeked), share(announced))
	lowest, highest, falsely := 2.0, 6.0, 2.5
	if !rating.Soak { // shorter and fewer nights: three standard errors more
		lowest, highest, falsely = 0, 10, 6
	}
	if got := share(crossed); got < lowest || got > highest {
		t.Errorf("a given pair crosses its bound in %.1f %%, want %v to %v", got, lowest, highest)
	}
	if got := share(announced); got > falsely {
		t.Errorf("a false winner is announced in %.1f %%, want %v at most", got, falsely)
	}
	if got := share(peeked); got < 25 {
		t.Errorf("+-1.96 at every look errs in %.1f %%: want far more than the bound, or this test shows nothing", got)
	}
}

// A leader 0.05 of placement ahead of each of three rivals is found out when theory says, and named rightly. It plays like
// racer in a part of the rotations, and else like its rivals.
func TestDecidedInTime(t *testing.T) {
	nights, rotations := 60, 4000
	if rating.Soak {
		nights, rotations = 1000, 50_000
	}
	const lead = 0.05
	even := pool(t, rotations, 2, "stay-25", "stay-25", "stay-25", "stay-25")
	uneven := pool(t, rotations, 3, "racer", "stay-25", "stay-25", "stay-25")
	ahead := func(rotations [][]float64) (g gap) {
		for _, r := range rotations {
			g.add(r[0] - (r[1]+r[2]+r[3])/3)
		}
		return g
	}
	null, strong := ahead(even), ahead(uneven)
	part := (lead - null.mean()) / (strong.mean() - null.mean())
	if !(part > 0.1 && part < 1) {
		t.Fatalf("racer is ahead by %.3f, too little or too much for a mixture", strong.mean())
	}
	draw := func(rng *rand.Rand) []float64 {
		from := even
		if rng.Float64() < part {
			from = uneven
		}
		r := from[rng.IntN(len(from))]
		as := rng.Perm(3)
		return []float64{r[0], r[1+as[0]], r[1+as[1]], r[1+as[2]]}
	}
	var between gap
	for rng := rand.New(rand.NewPCG(1, 8)); between.n < 200_000; {
		r := draw(rng)
		between.add(r[0] - r[1])
	}
	// Half the width of the bound after n rotations, at the third of 5 % that each rival has, as the formula has it.
	width := func(n float64) float64 {
		a, variance := 0.05/3, between.variance()
		two := 2 * math.Log(1/a)
		rho := 500 * variance / (two + math.Log(1+two))
		v := n * variance
		return math.Sqrt((v+rho)*math.Log((v+rho)/(rho*a*a))) / n
	}
	n := 1
	for width(float64(n)) > lead {
		n++
	}
	var took []int
	wrong := 0
	for night := range nights {
		rng := rand.New(rand.NewPCG(uint64(night), 7))
		var f rating.Final
		played := 0
		for ; !f.Decided(); played++ {
			if played == 100*n {
				t.Fatalf("night %d: not decided after %d rotations", night, played)
			}
			add(t, &f, draw(rng)...)
		}
		if f.Decision().Leader != 0 {
			wrong++
		}
		took = append(took, played)
	}
	slices.Sort(took)
	ratio := float64(took[nights/2]) / float64(n)
	t.Logf("variance %.4f a rotation, half-width %v at n = %d; decided at a median of %d = %.2f n, wrongly in %d of %d nights", between.variance(), lead, n, took[nights/2], ratio, wrong, nights)
	if ratio < 1.27*0.8 || ratio > 1.27*1.2 {
		t.Errorf("decided at a median of %.2f n, want 1.27 n within a fifth", ratio)
	}
	if wrong > nights/40 {
		t.Errorf("the wrong winner in %d nights of %d", wrong, nights)
	}
}
