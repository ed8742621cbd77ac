package table

import (
	"math"
	"math/bits"
	"time"
)

// Latency counts durations so that their quantiles are known to within 7 %: eight buckets for each power of two
// microseconds. The zero value has counted none. It is not safe for concurrent use.
type Latency struct {
	counts [8 * 40]uint32
	total  uint64
	max    time.Duration
}

// Add counts a duration.
func (l *Latency) Add(d time.Duration) {
	l.counts[bucket(d)]++
	l.total++
	l.max = max(l.max, d)
}

// Merge counts all that another one has counted.
func (l *Latency) Merge(other *Latency) {
	for i, n := range other.counts {
		l.counts[i] += n
	}
	l.total += other.total
	l.max = max(l.max, other.max)
}

// Count is how many durations were counted.
func (l *Latency) Count() int { return int(l.total) }

// Max is the longest one, exactly; 0 if there is none.
func (l *Latency) Max() time.Duration { return l.max }

// Quantile is a duration that the share q (0..1) of them did not exceed; 0 if there is none.
func (l *Latency) Quantile(q float64) time.Duration {
	if l.total == 0 {
		return 0
	}
	rank := uint64(math.Ceil(q * float64(l.total)))
	seen := uint64(0)
	for i, n := range l.counts {
		if seen += uint64(n); seen >= max(rank, 1) {
			return min(upper(i), l.max)
		}
	}
	return l.max
}

// Buckets yields the upper bounds of the buckets in use, ascending, and how many durations each holds.
func (l *Latency) Buckets() func(yield func(upTo time.Duration, count int) bool) {
	return func(yield func(time.Duration, int) bool) {
		for i, n := range l.counts {
			if n > 0 && !yield(upper(i), int(n)) {
				return
			}
		}
	}
}

// bucket is the number of the bucket of a duration: below 8 us one for each, then eight for each power of two.
func bucket(d time.Duration) int {
	us := uint64(max(d, 0) / time.Microsecond)
	if us < 8 {
		return int(us)
	}
	power := bits.Len64(us) - 4 // us >> power is 8..15
	return min(8*power+int(us>>power), len(Latency{}.counts)-1)
}

// upper is the longest duration of a bucket.
func upper(i int) time.Duration {
	if i < 8 {
		return time.Duration(i+1)*time.Microsecond - 1
	}
	power := i/8 - 1
	return time.Duration(uint64(8+i%8+1)<<power)*time.Microsecond - 1
}
