package remote

import (
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// pings measures the round trip of a stream.
type pings struct {
	due    time.Time // when the next is sent
	number uint32    // of the newest
	sent   time.Time
	trips  [8]time.Duration // the last ones, in no order
	n      int              // answered
	open   bool             // the newest is not answered
}

func (p *pings) render(now time.Time) *flip7v1.ArenaMessage {
	p.number++
	p.sent, p.open = now, true
	m := &flip7v1.Ping{Number: p.number}
	if trip, ok := p.smallest(); ok {
		m.RoundTrip = durationpb.New(trip)
	}
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Ping{Ping: m}}
}

// answer notes a pong, and reports whether it was awaited.
func (p *pings) answer(number uint32, now time.Time) bool {
	if !p.open || number != p.number {
		return false
	}
	p.open = false
	p.trips[p.n%len(p.trips)] = now.Sub(p.sent)
	p.n++
	return true
}

// smallest is the smallest of the last round trips, and false if there is none.
func (p *pings) smallest() (time.Duration, bool) {
	if p.n == 0 {
		return 0, false
	}
	smallest := p.trips[0]
	for _, trip := range p.trips[1:min(p.n, len(p.trips))] {
		smallest = min(smallest, trip)
	}
	return smallest, true
}
