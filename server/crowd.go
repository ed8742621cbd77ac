package server

import "sync"

// crowd bounds those who are there at a time: in all, and those who come from one place, so that nobody alone keeps all
// others out.
type crowd struct {
	most  int // in all
	alike int // from one place

	mu   sync.Mutex
	in   int
	from map[any]int // by place: an address, or the hash of a token
}

func newCrowd(most, alike int) *crowd { return &crowd{most: most, alike: alike, from: map[any]int{}} }

// enter lets one more in if there is room; leave is to be called once.
func (c *crowd) enter(from any) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.in >= c.most || c.from[from] >= c.alike {
		return nil, false
	}
	c.in++
	c.from[from]++
	return func() { c.leave(from) }, true
}

func (c *crowd) leave(from any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in--
	if c.from[from]--; c.from[from] == 0 {
		delete(c.from, from)
	}
}
