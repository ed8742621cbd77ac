package server

import (
	"slices"
	"sync"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	lagTick = 10 * time.Millisecond // how often the arena is looked at: 360,000 times in a night of an hour
	lagKept = 500                   // tournaments of which it is remembered, the newest; each takes 1.5 KB
)

// lagMeter measures how late the arena itself is for as long as games are played: a hundred times a second it wants to
// run, as the goroutine does that a decision has woken, and notes how long it had to wait. How long the arena stood still it
// takes from the probe by which bots are given their time back, so that what is told is what they get. All is in memory.
type lagMeter struct {
	lost func() time.Duration // what the probe has measured so far
	late func(time.Duration)  // is told of every look, by how much it came too late

	mu     sync.Mutex
	nights map[int64]*lag // by tournament
	order  []int64        // of nights, the newest last
	rest   func()         // ends what is measured; nil: nothing is
	closed bool
	work   sync.WaitGroup
}

// lag is how late the arena was during a tournament.
type lag struct {
	late    table.Latency
	stalls  int
	stalled time.Duration
}

func newLagMeter(lost func() time.Duration, late func(time.Duration)) *lagMeter {
	return &lagMeter{lost: lost, late: late, nights: map[int64]*lag{}}
}

// begin measures until end. Playing says which tournaments are to be told.
func (l *lagMeter) begin(playing func() []int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.rest != nil {
		return
	}
	ended := make(chan struct{})
	l.rest = func() { close(ended) }
	l.work.Go(func() { l.measure(ended, playing) })
}

// end lets the meter rest.
func (l *lagMeter) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.rest != nil {
		l.rest()
		l.rest = nil
	}
}

// close ends the meter for good, and returns when it has ended.
func (l *lagMeter) close() {
	l.mu.Lock()
	l.closed = true // first, so that nothing begins after the end
	l.mu.Unlock()
	l.end()
	l.work.Wait()
}

func (l *lagMeter) measure(ended <-chan struct{}, playing func() []int64) {
	lost, due := l.lost(), time.Now().Add(lagTick)
	look := time.NewTimer(lagTick)
	defer look.Stop()
	for {
		select {
		case <-look.C:
		case <-ended:
			return
		}
		late, now := time.Since(due), l.lost()
		l.note(playing(), late, now-lost)
		lost, due = now, time.Now().Add(lagTick)
		look.Reset(lagTick)
	}
}

// note keeps one look: how late it was, and for how long the arena has stood still since the last one.
func (l *lagMeter) note(playing []int64, late, stalled time.Duration) {
	l.late(late)
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, id := range playing {
		night := l.nights[id]
		if night == nil {
			if len(l.order) == lagKept {
				delete(l.nights, l.order[0])
				l.order = slices.Delete(l.order, 0, 1)
			}
			night = new(lag)
			l.nights[id] = night
			l.order = append(l.order, id)
		}
		night.late.Add(late)
		if stalled > 0 {
			night.stalls++
			night.stalled += stalled
		}
	}
}

// of is how late the arena was during a tournament; nil if that is not known.
func (l *lagMeter) of(tournament int64) *flip7v1.ArenaLag {
	l.mu.Lock()
	defer l.mu.Unlock()
	night := l.nights[tournament]
	if night == nil {
		return nil
	}
	return &flip7v1.ArenaLag{P50: durationpb.New(night.late.Quantile(0.5)), P99: durationpb.New(night.late.Quantile(0.99)),
		Max: durationpb.New(night.late.Max()), Stalls: uint32(night.stalls), Stalled: durationpb.New(night.stalled)}
}
