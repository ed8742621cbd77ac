package table

import (
	"sync/atomic"
	"time"
)

// hurry is what a bot gets for a request once it has used more than its share of the table's limit.
const hurry = 50 * time.Millisecond

// Limit makes a night end on time. It is the time that the games of one table have together; beyond it each bot that has
// used more than its share, an equal part for each bot, gets 50 ms for a request and has no time bank. The games of the
// table that run side by side share one Limit.
type Limit struct {
	end   time.Time
	share time.Duration
	used  []atomic.Int64 // by bot: nanoseconds
}

// NewLimit is the limit of a table of so many bots whose games began at start. A table that goes on after the arena was
// restarted has a start that is later by the time that the arena was down.
func NewLimit(total time.Duration, bots int, start time.Time) *Limit {
	return &Limit{end: start.Add(total), share: total / time.Duration(bots), used: make([]atomic.Int64, bots)}
}

// Charge counts what a bot, numbered from 0, took for a request.
func (l *Limit) Charge(bot int, took time.Duration) { l.used[bot].Add(int64(took)) }

// Timeout is what a bot has for a request that is put now, which normally is normal, and whether it is hurried: then it
// has no time bank either.
func (l *Limit) Timeout(bot int, now time.Time, normal time.Duration) (timeout time.Duration, hurried bool) {
	if now.After(l.end) && time.Duration(l.used[bot].Load()) > l.share {
		return min(normal, hurry), true
	}
	return normal, false
}
