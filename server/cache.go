package server

import (
	"context"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
)

// cache remembers what was worked out, as much as there is room for: the first to come is the first to go.
type cache[K comparable, V any] struct {
	room int

	mu     sync.Mutex
	values map[K]cached[V]
	keys   []K // as they came
	taken  int // of the room
}

// cached is a value, and how much room it takes.
type cached[V any] struct {
	value  V
	weight int
}

func newCache[K comparable, V any](room int) *cache[K, V] {
	return &cache[K, V]{room: room, values: map[K]cached[V]{}}
}

func (c *cache[K, V]) get(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known, there := c.values[key]
	return known.value, there
}

// put remembers one of values that are alike: each takes 1 of the room.
func (c *cache[K, V]) put(key K, value V) { c.putHeavy(key, value, 1) }

// putHeavy remembers a value that takes some of the room; one that takes more or less than before comes anew. One that takes
// more than there is is remembered alone.
func (c *cache[K, V]) putHeavy(key K, value V, weight int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if old, there := c.values[key]; !there || old.weight != weight {
		if there {
			c.drop(slices.Index(c.keys, key))
		}
		for len(c.keys) > 0 && c.taken+weight > c.room {
			c.drop(0)
		}
		c.keys = append(c.keys, key)
		c.taken += weight
	}
	c.values[key] = cached[V]{value, weight}
}

// drop forgets the value of a key by its place in keys.
func (c *cache[K, V]) drop(at int) {
	key := c.keys[at]
	c.taken -= c.values[key].weight
	delete(c.values, key)
	c.keys = slices.Delete(c.keys, at, at+1)
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
