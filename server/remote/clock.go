package remote

import (
	"runtime/debug"
	"time"

	"github.com/flip7-arena/flip7/arena/table"
)

// start starts the clock if it does not run. Trip is the network's delay, which may be given back.
func (p *player) start(now time.Time, trip time.Duration) {
	if p.ticking {
		return
	}
	p.ticking, p.since, p.lost = true, now, p.bot.arena.stalls()
	p.allowance = min(trip, p.quota)
	p.bot.arena.watch(+1)
	p.timer.Reset(p.timeout + p.allowance)
}

// due is when the timeout and when all the time of the request is over: later by what the arena has lost.
func (p *player) due() (timeout, deadline time.Time) {
	timeout = p.since.Add(p.timeout + p.allowance + p.bot.arena.stalls() - p.lost)
	return timeout, timeout.Add(p.bank)
}

// left is the time that is left and the part of it that is bank. What may be given back is not told.
func (p *player) left(now time.Time) (left, bank time.Duration) {
	left = p.timeout + p.bank
	if p.ticking {
		_, deadline := p.due()
		left = max(deadline.Sub(now)-p.allowance, 0)
	}
	return left, min(left, p.bank)
}

// expire is called by the timer.
func (p *player) expire() {
	defer p.recovered()
	now := time.Now()
	b := p.bot
	b.mu.Lock()
	defer b.mu.Unlock()
	if !p.open || !p.ticking {
		return
	}
	timeout, deadline := p.due()
	if early := timeout.Sub(now); early > 0 {
		p.timer.Reset(early)
		return
	}
	if !p.overdue {
		p.overdue = true
		for _, s := range b.sessions {
			if p.placed(s.lane) == nil {
				s.lane.offer(p, now)
			}
		}
	}
	if early := deadline.Sub(now); early > 0 {
		p.timer.Reset(early)
		return
	}
	if now.Sub(deadline) > tooLate {
		p.close(now)
		p.reply(table.Answer{Stalled: true})
		return
	}
	p.fail(now)
}

// waited is how long the request was not sent.
func (p *player) waited(now time.Time) time.Duration {
	if p.ticking {
		now = p.since
	}
	return now.Sub(p.asking)
}

// took is what is charged for a request that ends now; the quota of the network's delay pays its part. A request that is
// put again may be answered before it is sent again.
func (p *player) took(now time.Time) time.Duration {
	if !p.ticking {
		return 0
	}
	elapsed := now.Sub(p.since) - (p.bot.arena.stalls() - p.lost)
	used := min(max(elapsed-p.timeout, 0), p.allowance)
	p.quota = min(p.quota-used+quotaGain, quotaMost)
	return max(elapsed-p.allowance, 0)
}

// recovered has the request put again if its timer panics, which is the arena's fault.
func (p *player) recovered() {
	r := recover()
	if r == nil {
		return
	}
	p.bot.arena.log.Error("panic", "in", "timer", "bot", p.bot.name, "game", p.info.ID, "panic", r, "stack", string(debug.Stack()))
	p.bot.mu.Lock()
	defer p.bot.mu.Unlock()
	p.close(time.Now())
	if len(p.answered) == 0 {
		p.reply(table.Answer{Stalled: true})
	}
}
