package rating

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMixtureBound(t *testing.T) {
	for n, want := range map[int]string{100: "0.219384", 1000: "0.057638", 4000: "0.029921", 10000: "0.019638"} {
		const variance, rho, a = 0.36, 36, 0.05
		printed(t, "half-width", mixture(float64(n)*variance, rho, a)/float64(n), want)
	}
}

// rotation returns the mean placements of the finalists over as many games as there are of them.
func rotation(rng *rand.Rand, theta []float64) []float64 {
	k := len(theta)
	seats := make([]int, k)
	for i := range seats {
		seats[i] = i
	}
	sums := make([]float64, k)
	for range k {
		for i, place := range places(rng, theta, seats) {
			sums[i] += float64(k-place) / float64((k-1)*k)
		}
	}
	return sums
}

// pool returns rotations to draw nights from.
func pool(seed uint64, theta []float64) [][]float64 {
	rng := rand.New(rand.NewPCG(seed, 5))
	rotations := make([][]float64, 20_000)
	for i := range rotations {
		rotations[i] = rotation(rng, theta)
	}
	return rotations
}

func add(t testing.TB, f *Final, placements []float64) {
	t.Helper()
	if err := f.Add(placements); err != nil {
		t.Fatal(err)
	}
}

// Four clones play on while they are looked at after every rotation.
func TestNullNights(t *testing.T) {
	nights, length := 200, 2000
	if soak {
		nights, length = 2000, 10_000
	}
	rotations := pool(1, make([]float64, 4))
	crossed, peeked, announced := 0, 0, 0
	for night := range nights {
		rng := rand.New(rand.NewPCG(uint64(night), 6))
		var f Final
		pairCrossed, pairPeeked, winner := false, false, false
		for range length {
			add(t, &f, rotations[rng.IntN(len(rotations))])
			if f.rotations < DecideFrom {
				continue
			}
			pairCrossed = pairCrossed || f.ahead(0, 1, decideLevel) || f.ahead(1, 0, decideLevel)
			pairPeeked = pairPeeked || math.Abs(f.sums[0]-f.sums[1]) > 1.96*math.Sqrt(float64(f.rotations)*f.variance(0, 1))
			winner = winner || f.Decided()
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
	if !soak { // shorter and fewer nights: three standard errors more
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

// A leader 0.05 of placement ahead of each of three rivals is found out when theory says, and named rightly.
func TestDecidedInTime(t *testing.T) {
	nights := 60
	if soak {
		nights = 1000
	}
	const lead = 0.05
	// Placements of four sum to 2: who is ahead of each of three by 0.05 has 0.5375, and beats each that often.
	const beats = (2 + 3*lead) / 4
	rotations := pool(2, []float64{math.Log(beats / (1 - beats)), 0, 0, 0})
	var reference Final
	for _, r := range rotations {
		add(t, &reference, r)
	}
	variance := reference.variance(0, 1)
	if got := (reference.sums[0] - reference.sums[1]) / float64(len(rotations)); math.Abs(got-lead) > 0.01 {
		t.Fatalf("the leader is ahead by %v, want %v", got, lead)
	}
	n := 1
	for bound(n, variance, decideLevel/3)/float64(n) > lead {
		n++
	}
	var took []int
	wrong := 0
	for night := range nights {
		rng := rand.New(rand.NewPCG(uint64(night), 7))
		var f Final
		for !f.Decided() {
			if f.rotations == 100*n {
				t.Fatalf("night %d: not decided after %d rotations", night, f.rotations)
			}
			add(t, &f, rotations[rng.IntN(len(rotations))])
		}
		if f.leader() != 0 {
			wrong++
		}
		took = append(took, f.rotations)
	}
	slices.Sort(took)
	ratio := float64(took[nights/2]) / float64(n)
	t.Logf("variance %.4f a rotation, half-width %v at n = %d; decided at a median of %d = %.2f n, wrongly in %d of %d nights", variance, lead, n, took[nights/2], ratio, wrong, nights)
	if ratio < 1.27*0.8 || ratio > 1.27*1.2 {
		t.Errorf("decided at a median of %.2f n, want 1.27 n within a fifth", ratio)
	}
	if wrong > nights/40 {
		t.Errorf("the wrong winner in %d nights of %d", wrong, nights)
	}
}

func TestDecisionSaysItInOneSentence(t *testing.T) {
	names := []string{"odds", "racer", "stay-25"}
	for _, c := range []struct {
		name string
		in   Decision
		want string
	}{
		{"decided", Decision{Decided: true, Leader: 1, Best: 1, Rotations: 353}, "decided: racer is the best of the finalists, after 1,412 games"},
		{"not yet", Decision{Leader: 0, Best: 0.714, Rotations: 200, More: 221}, "not decided: odds leads, P(best) 71 %, about 890 more games would tell"},
		{"never certain", Decision{Leader: 0, Best: 1, Rotations: 99, More: 1}, "not decided: odds leads, P(best) >99 %, about 4 more games would tell"},
		{"far off", Decision{Leader: 0, Best: 0.5, Rotations: 2000, More: 312_345}, "not decided: odds leads, P(best) 50 %, about 1,300,000 more games would tell"},
		{"out of reach", Decision{Leader: 2, Best: 0.4, Rotations: 500, More: -1}, "not decided: stay-25 leads, P(best) 40 %, and no number of games worth playing would tell"},
		{"not begun", Decision{More: -1}, "not decided: no rotation of the final was played"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.in.Sentence(names, 4); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// However clear: 99 rotations decide nothing, 100 do.
func TestNothingIsDecidedBeforeAHundredRotations(t *testing.T) {
	var f Final
	if d := f.Decision(); d.Decided || d.More != -1 {
		t.Errorf("nothing played: got %+v", d)
	}
	for i := range 100 {
		if f.Decided() {
			t.Fatalf("decided after %d rotations", i)
		}
		add(t, &f, []float64{0.9, 0.5, 0.1 + 0.001*float64(i%2)})
		if d := f.Decision(); i == 98 && (d.Decided || d.More != 1 || d.Leader != 0) {
			t.Errorf("after 99 rotations: got %+v, want one more", d)
		}
	}
	if d := f.Decision(); !d.Decided || d.Leader != 0 || d.Rotations != 100 || d.More != 0 {
		t.Errorf("after 100 rotations: got %+v, want it decided for the first", d)
	}
}

// The forecast comes true if the leads stay what they are.
func TestDecisionForecastsItsEnd(t *testing.T) {
	rotations := []([]float64){{0.75, 0.25, 0.5}, {0.25, 0.75, 0.5}, {0.75, 0.5, 0.25}, {0.25, 0.5, 0.75}, {0.75, 0.5, 0.25}, {0.5, 0.5, 0.5}, {0.25, 0.75, 0.5}, {1, 0, 0.5}}
	var f Final
	forecast := 0
	for n := 1; !f.Decided(); n++ {
		if n > 100_000 {
			t.Fatal("not decided")
		}
		add(t, &f, rotations[n%len(rotations)])
		if n == 20*len(rotations) {
			d := f.Decision()
			if d.Decided {
				t.Fatalf("decided too early: %+v", d)
			}
			forecast = n + d.More
			if !(d.Best > 0.5 && d.Best < 1) {
				t.Errorf("got P(best) %v of a leader not decided yet", d.Best)
			}
		}
	}
	if off := math.Abs(float64(f.rotations - forecast)); off > 0.05*float64(forecast) {
		t.Errorf("decided after %d rotations, forecast was %d", f.rotations, forecast)
	}
}

func TestFinalRefusesWhatIsNoRotation(t *testing.T) {
	for _, c := range []struct {
		name       string
		placements []float64
		want       string
	}{
		{"one finalist", []float64{1}, "a rotation of 1 finalists: want two or more"},
		{"one too many", []float64{1, 0.5, 0}, "a rotation of 3 finalists among those of 2"},
		{"points instead of placement", []float64{200, 0}, "placement 200 of finalist 0: want 0 to 1"},
		{"no number", []float64{0, math.NaN()}, "placement NaN of finalist 1: want 0 to 1"},
	} {
		var f Final
		add(t, &f, []float64{0.5, 0.5})
		if err := f.Add(c.placements); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
		if f.rotations != 1 {
			t.Errorf("%s: it was counted", c.name)
		}
	}
}

// P(best) of equal finalists is their share, however often one asks.
func TestBestOfEqualFinalists(t *testing.T) {
	var f Final
	for _, r := range [][]float64{{1, 0.5, 0}, {0, 1, 0.5}, {0.5, 0, 1}} {
		add(t, &f, r)
	}
	d := f.Decision()
	if math.Abs(d.Best-1.0/3) > 0.05 {
		t.Errorf("got P(best) %v, want a third", d.Best)
	}
	if again := f.Decision(); again != d {
		t.Errorf("asked again: got %+v, then %+v", d, again)
	}
}
