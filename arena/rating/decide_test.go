package rating

import (
	"math"
	"testing"
)

func TestMixtureBound(t *testing.T) {
	for n, want := range map[int]string{100: "0.219384", 1000: "0.057638", 4000: "0.029921", 10000: "0.019638"} {
		const variance, rho, a = 0.36, 36, 0.05
		printed(t, "half-width", mixture(float64(n)*variance, rho, a)/float64(n), want)
	}
}

func add(t testing.TB, f *Final, placements []float64) {
	t.Helper()
	if err := f.Add(placements); err != nil {
		t.Fatal(err)
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
