package remote

import (
	"sync"
	"sync/atomic"
	"time"
)

const (
	tick     = time.Millisecond     // how often the probe looks
	hiccup   = 5 * time.Millisecond // a gap up to which nothing is lost
	restless = 100                  // ticks without a request after which the probe rests
)

// Probe measures the time that the arena itself loses: because the machine is busy, was asleep, or the process was
// stopped. It wants to run every millisecond, and counts as lost by how much it came too late when that was more than 5 ms.
// It does so only while requests are open and a tenth of a second longer.
type Probe struct {
	zero  time.Time
	lost  atomic.Int64 // ns
	last  atomic.Int64 // ns since zero: when it last looked; 0: it rests
	open  atomic.Int64
	wake  chan struct{}
	stop  func()
	done  <-chan struct{}
	ended sync.WaitGroup
}

// NewProbe makes a probe, at rest. Close ends it.
func NewProbe() *Probe {
	done := make(chan struct{})
	p := &Probe{zero: time.Now(), wake: make(chan struct{}, 1), stop: sync.OnceFunc(func() { close(done) }), done: done}
	p.ended.Go(p.run)
	return p
}

// Close ends the probe, and returns when it has ended.
func (p *Probe) Close() {
	p.stop()
	p.ended.Wait()
}

// Watch says that so many more requests are open, or fewer.
func (p *Probe) Watch(more int) {
	if p.open.Add(int64(more)) > 0 && more > 0 && p.last.Load() == 0 && p.last.CompareAndSwap(0, p.now()) {
		p.wake <- struct{}{} // has room: it is woken once for each rest
	}
}

// Lost is the time lost so far, a stall that is not over included.
func (p *Probe) Lost() time.Duration {
	lost := time.Duration(p.lost.Load())
	if last := p.last.Load(); last != 0 {
		lost += excess(time.Since(p.zero) - time.Duration(last))
	}
	return lost
}

// excess is what of a gap between two looks is lost.
func excess(gap time.Duration) time.Duration {
	if gap <= hiccup {
		return 0
	}
	return gap - tick
}

// now is never 0, which means rest.
func (p *Probe) now() int64 { return max(int64(time.Since(p.zero)), 1) }

func (p *Probe) run() {
	for {
		select {
		case <-p.wake:
		case <-p.done:
			return
		}
		if !p.look() {
			return
		}
	}
}

// look measures until there has been no request for a while; false: until Close.
func (p *Probe) look() bool {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for idle := 0; idle < restless; idle++ {
		select {
		case <-ticker.C:
		case <-p.done:
			return false
		}
		now := p.now()
		// Lost may count the gap once more for as long as it takes to store both; a bot is given that little.
		p.lost.Add(int64(excess(time.Duration(now - p.last.Load()))))
		p.last.Store(now)
		if p.open.Load() > 0 {
			idle = -1
		}
		if idle < restless-1 {
			continue
		}
		p.last.Store(0)
		if p.open.Load() > 0 && p.last.CompareAndSwap(0, now) {
			idle = -1 // a request came just now and saw no rest
		}
	}
	return true
}
