package server

import (
	"context"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
)

// cache remembers what was worked out, as many values as there is room for: the first to come is the first to go.
type cache[K comparable, V any] struct {
	room int

	mu     sync.Mutex
	values map[K]V
	keys   []K // as they came
}

func newCache[K comparable, V any](room int) *cache[K, V] {
	return &cache[K, V]{room: room, values: map[K]V{}}
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	value, there := c.values[key]
	return value, there
}

func (c *cache[K, V]) put(key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, there := c.values[key]; !there {
		if len(c.keys) == c.room {
			delete(c.values, c.keys[0])
			c.keys = append(c.keys[:0], c.keys[1:]...)
		}
		c.keys = append(c.keys, key)
	}
	c.values[key] = value
}

// desk is where hard work is done, one piece at a time: what anybody may ask for must leave a processor to the games.
type desk struct {
	chair chan struct{}
	queue *crowd
}

func newDesk() desk { return desk{make(chan struct{}, 1), newCrowd(256, 32)} }

// work does something as soon as the desk is free, unless too many wait for it, in all or from the same place.
func (d desk) work(ctx context.Context, do func() error) error {
	leave, ok := d.queue.enter(placeOf(ctx))
	if !ok {
		return later(codes.ResourceExhausted, "BUSY", time.Second, "too many calls of this kind wait")
	}
	defer leave()
	select {
	case d.chair <- struct{}{}:
		defer func() { <-d.chair }()
		return do()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
