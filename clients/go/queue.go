package flip7

import "sync"

// queue hands things from many goroutines to few, in order, and never makes the giver wait: who reads the stream must
// not be held up by who thinks. What bounds it is said where it is used.
type queue[T any] struct {
	mu     sync.Mutex
	filled *sync.Cond
	items  []T
	head   int // items[:head] were taken
	closed bool
}

func newQueue[T any]() *queue[T] {
	q := new(queue[T])
	q.filled = sync.NewCond(&q.mu)
	return q
}

// push appends items; on a closed queue it does nothing.
func (q *queue[T]) push(items ...T) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	if q.head > len(q.items)/2 { // keeps the array from growing while the queue never runs empty
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, items...)
	for range items {
		q.filled.Signal()
	}
}

// take waits until there is something and takes it, at most as much as the room given; none is left when it hands back
// nothing: the queue is closed and empty.
func (q *queue[T]) take(room []T) []T {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.head == len(q.items) && !q.closed {
		q.filled.Wait()
	}
	n := copy(room, q.items[q.head:])
	clear(q.items[q.head : q.head+n])
	q.head += n
	return room[:n]
}

// len is how many items wait.
func (q *queue[T]) len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.items) - q.head
}

// close lets take hand out what is left and then nothing.
func (q *queue[T]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.filled.Broadcast()
}
