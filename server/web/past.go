package web

import (
	"slices"
	"sync"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// pastKept is how many tournaments are remembered: one with 10,000 games takes some megabytes.
const pastKept = 8

// past are the tournaments that are settled and were looked at last: nothing of them changes that pages show, and whoever
// goes through a game step by step asks for its tournament at each.
type past struct {
	mu     sync.Mutex
	newest []*arena.Tournament // the one that was looked at last comes last
}

// settles is how long after a tournament was cancelled the last of its games may still land: those that ended just then.
const settles = time.Minute

// settled reports whether nothing of a tournament changes any more.
func settled(t *arena.Tournament, now time.Time) bool {
	return t.State == arena.Finished || t.State == arena.Cancelled && now.Sub(t.Ended) > settles
}

func (p *past) find(id int64) (*arena.Tournament, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := slices.IndexFunc(p.newest, func(t *arena.Tournament) bool { return t.ID == id })
	if at < 0 {
		return nil, false
	}
	t := p.newest[at]
	p.newest = append(slices.Delete(p.newest, at, at+1), t)
	return t, true
}

func (p *past) keep(t *arena.Tournament) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.newest = slices.DeleteFunc(p.newest, func(known *arena.Tournament) bool { return known.ID == t.ID })
	p.newest = append(p.newest[max(0, len(p.newest)+1-pastKept):], t)
}
