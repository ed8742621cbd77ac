package arena

import (
	"context"
	"fmt"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// countedKept is of how many entrants of finished tournaments the statistics are remembered; each takes 1.3 KB.
const countedKept = 1 << 16

// Stats are what an entrant did in the games of a tournament that count.
type Stats struct {
	Games    int
	Points   int // totals of all games
	Rounds   int
	Busts    int // rounds that ended in a bust
	Requests int
	Faults   [game.TimedOut + 1]int // by cause; [Chosen] stays 0
	Slips    int
	Latency  table.Latency // of the requests that were waited for
}

// MeanPoints is the mean total of a game.
func (s *Stats) MeanPoints() float64 { return ratio(s.Points, s.Games) }

// BustRate is the share of rounds that ended in a bust.
func (s *Stats) BustRate() float64 { return ratio(s.Busts, s.Rounds) }

// FaultRate is the share of requests that ended in the default decision.
func (s *Stats) FaultRate() float64 { return ratio(s.AllFaults(), s.Requests) }

// AllFaults is the number of faults of every cause.
func (s *Stats) AllFaults() (all int) {
	for _, n := range s.Faults {
		all += n
	}
	return all
}

func (s *Stats) merge(other Stats) {
	s.Games += other.Games
	s.Points += other.Points
	s.Rounds += other.Rounds
	s.Busts += other.Busts
	s.Requests += other.Requests
	s.Slips += other.Slips
	for cause, n := range other.Faults {
		s.Faults[cause] += n
	}
	s.Latency.Merge(&other.Latency)
}

func ratio(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// stats are the statistics of every entrant of a tournament so far, stats[i] of Entries[i].
func (a *Arena) stats(ctx context.Context, t *Tournament) ([]Stats, error) {
	a.mu.Lock()
	known, there := a.counted[t.ID]
	a.mu.Unlock()
	if there {
		return known, nil
	}
	stats := make([]Stats, len(t.Entries))
	err := a.Store.Games(ctx, t.ID, func(id GameID, p Played) error {
		if t.Rounds[id.Round-1].Tables[id.Table-1].State == Void {
			return nil
		}
		return count(stats, p)
	})
	if err != nil {
		return nil, fmt.Errorf("count what happened in tournament %d: %w", t.ID, err)
	}
	if t.State == Finished { // nothing of it will change
		a.mu.Lock()
		kept := len(stats)
		for _, s := range a.counted {
			kept += len(s)
		}
		if kept > countedKept {
			clear(a.counted)
		}
		a.counted[t.ID] = stats
		a.mu.Unlock()
	}
	return stats, nil
}

// count adds a game to the statistics of those who played it.
func count(stats []Stats, p Played) error {
	counter := &bustCounter{seats: make([]*Stats, len(p.Game.Seats))}
	for seat, number := range p.Game.Seats {
		s := &stats[number-1]
		counter.seats[seat] = s
		s.Games++
		s.Points += p.Game.Result.Totals[seat]
		s.Slips += p.Game.Slips[seat]
	}
	for _, timing := range p.Timings {
		s := counter.seats[timing.Seat]
		s.Requests++
		if timing.Cause.Fault() {
			s.Faults[timing.Cause]++
		}
		if !timing.Absent {
			s.Latency.Add(timing.Took)
		}
	}
	_, err := p.Record.Replay(deal.NewKeyed(p.Record.Seed), counter)
	return err
}

// bustCounter counts the rounds and busts of a game that is replayed.
type bustCounter struct{ seats []*Stats }

// Observe implements game.Observer.
func (c *bustCounter) Observe(s *game.State, e game.Event) {
	if e.Kind != game.RoundEnded {
		return
	}
	v := s.View(0)
	for seat, stats := range c.seats {
		switch v.Status(game.Seat(seat)) {
		case game.Out:
			continue
		case game.Busted:
			stats.Busts++
		}
		stats.Rounds++
	}
}
