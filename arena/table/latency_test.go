package table

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestLatencyQuantilesAreWithinTheirBucket(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var l, a, b Latency
	var all []time.Duration
	for i := range 20_000 {
		d := time.Duration(rng.ExpFloat64() * float64(3*time.Millisecond))
		all = append(all, d)
		l.Add(d)
		if i%2 == 0 {
			a.Add(d)
		} else {
			b.Add(d)
		}
	}
	a.Merge(&b)
	if a != l {
		t.Error("two halves merged are not the whole")
	}
	slices.Sort(all)
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
		want := all[min(int(q*float64(len(all))), len(all)-1)]
		got := l.Quantile(q)
		if got < want*93/100 || got > want*115/100 {
			t.Errorf("quantile %v: got %v, want about %v", q, got, want)
		}
	}
	if l.Max() != all[len(all)-1] || l.Count() != len(all) {
		t.Errorf("got %d durations up to %v, want %d up to %v", l.Count(), l.Max(), len(all), all[len(all)-1])
	}
}

func TestLatencyBucketsAreInOrderAndHoldTheirDurations(t *testing.T) {
	last := -1
	for us := range 100_000 {
		d := time.Duration(us) * time.Microsecond
		i := bucket(d)
		if i < last {
			t.Fatalf("%v is in bucket %d, below the one before, %d", d, i, last)
		}
		if upper(i) < d || i > 0 && upper(i-1) >= d {
			t.Fatalf("%v is in bucket %d, which ends at %v and begins after %v", d, i, upper(i), upper(i-1))
		}
		last = i
	}
	if i := bucket(365 * 24 * time.Hour); i != 8*40-1 {
		t.Errorf("a year is in bucket %d, want the last", i)
	}
	var none Latency
	if none.Quantile(0.5) != 0 || none.Max() != 0 {
		t.Error("nothing counted has quantiles other than 0")
	}
}
