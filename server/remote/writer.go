package remote

import (
	"runtime"
	"time"

	"google.golang.org/protobuf/proto"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	batchMessages = 64 // in a batch, either way
	batchBytes    = 16 << 10
)

// item is something to be sent.
type item struct {
	kind    itemKind
	message *flip7v1.ArenaMessage // plain
	player  *player               // request, notice
	number  int                   // request
}

type itemKind uint8

const (
	plain   itemKind = iota
	request          // the open request of a player, if it still is
	notice           // the request that a player's absent bot is shown
	ping
)

// batch is what is sent at once, with room that is used again.
type batch struct {
	response flip7v1.PlayResponse
	messages [batchMessages]*flip7v1.ArenaMessage
	frames   []*frame // that are part of it
	bytes    int
}

func (b *batch) add(m *flip7v1.ArenaMessage, size int) {
	b.response.Messages = append(b.response.Messages, m)
	b.bytes += size
}

// fits reports whether another message may come in.
func (b *batch) fits(size int) bool {
	n := len(b.response.Messages)
	return n == 0 || n < batchMessages && b.bytes+size <= batchBytes
}

// release gives the frames back to the games.
func (b *batch) release() {
	for _, f := range b.frames {
		f.uses.Add(-1)
	}
	b.frames = b.frames[:0]
}

// write is the writer: it sends what there is and never waits for more.
func (s *session) write() {
	defer close(s.written)
	defer s.recovered("writer")
	var b batch
	for {
		ends := s.gather(&b)
		if len(b.response.Messages) > 0 {
			s.writing.Store(max(int64(time.Since(s.since)), 1))
			err := s.stream.Send(&b.response)
			s.writing.Store(0)
			b.release()
			if err != nil {
				s.end(gone())
				return
			}
			if !ends {
				continue
			}
		}
		if ends {
			return
		}
		select {
		case <-s.wake:
			// Whoever woke it is one of many: a reader that has just taken a batch wakes as many games, which have their
			// next requests ready as soon as they get to run. Those are worth one batch.
			runtime.Gosched()
		case <-s.done:
		}
	}
}

// gather makes the next batch, and reports whether it is the last. Right after it the batch is sent, so this is where
// clocks start.
func (s *session) gather(to *batch) (last bool) {
	to.response.Messages, to.bytes = to.messages[:0], 0
	s.bot.mu.Lock()
	defer s.bot.mu.Unlock()
	last = s.ending != nil
	now := time.Now()
	for s.next < len(s.out) {
		size := s.size(s.out[s.next])
		if !to.fits(size) {
			return false
		}
		if m := s.render(s.out[s.next], to, now); m != nil {
			to.add(m, size)
			s.tail.says(s.out[s.next], m, now)
		}
		s.out[s.next] = item{}
		s.next++
	}
	s.out, s.next = s.out[:0], 0
	for s.events != nil && s.events.n > 0 {
		size := proto.Size(s.events.peek())
		if !to.fits(size) {
			return false
		}
		to.add(s.events.take(), size)
	}
	if !last {
		s.idle = len(to.response.Messages) == 0
		return false
	}
	goodbye := s.ending.goodbye()
	if goodbye == nil {
		return true
	}
	if !to.fits(textBytes + 64) {
		return false
	}
	to.add(goodbye, 0)
	return true
}

// size is that of an item when it is sent, at most.
func (s *session) size(i item) int {
	switch i.kind {
	case plain:
		return proto.Size(i.message)
	case ping:
		return 32
	}
	return i.player.size
}

// render is the message of an item, or nil if it is of no interest any more.
func (s *session) render(i item, to *batch, now time.Time) *flip7v1.ArenaMessage {
	switch i.kind {
	case request:
		if s.ending != nil {
			return nil
		}
		return i.player.render(s, i.number, to, now)
	case notice:
		return i.player.renderNotice(s, to)
	case ping:
		return s.pings.render(now)
	}
	return i.message
}
