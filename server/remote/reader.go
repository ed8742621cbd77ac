package remote

import (
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// read is the reader. It ends when the handler has returned.
func (s *session) read() {
	defer s.recovered("reader")
	for first := true; ; first = false {
		m, err := s.stream.Recv()
		now := time.Now()
		if err != nil {
			s.end(readEnd(err, first))
			return
		}
		if !s.take(m, now) {
			return
		}
	}
}

// readEnd is why nothing more can be read; first, if it would have been the Hello.
func readEnd(err error, first bool) end {
	if errors.Is(err, io.EOF) {
		return ending(flip7v1.EndReason_END_REASON_CLOSED, "the bot closed its side")
	}
	switch status.Code(err) {
	case codes.Unauthenticated: // as the stream says that looks at the token again
		return ending(flip7v1.EndReason_END_REASON_TOKEN_REVOKED, status.Convert(err).Message())
	case codes.ResourceExhausted, codes.Internal, codes.Unimplemented: // too large, not to be read, compressed in vain
		return ending(flip7v1.EndReason_END_REASON_GARBAGE, err.Error())
	case codes.InvalidArgument: // as the server says of bytes that are no message, and of a message that must not be
		reason := flip7v1.EndReason_END_REASON_GARBAGE
		if first {
			reason = flip7v1.EndReason_END_REASON_BAD_HELLO
		}
		return ending(reason, status.Convert(err).Message())
	}
	return gone()
}

// gone is the end when there is nobody to be told.
func gone() end { return end{code: codes.Canceled, text: "the connection is gone"} }

// take does what a batch says, and reports whether the stream goes on.
func (s *session) take(batch *flip7v1.PlayRequest, now time.Time) bool {
	b, messages := s.bot, batch.GetMessages()
	b.mu.Lock()
	defer b.mu.Unlock()
	s.heard = now
	b.messages += len(messages)
	unasked := 0 // what nobody had asked for
	if len(messages) == 0 {
		unasked++
		s.problem(now, "EMPTY_BATCH", "a batch holds 1 to 64 messages; this one is empty")
	}
	for i, m := range messages {
		if s.ending != nil {
			return false
		}
		if i == batchMessages {
			unasked += len(messages) - i
			s.problem(now, "BATCH_TOO_LONG", fmt.Sprintf("a batch holds 1 to 64 messages; this one has %d, and what comes after 64 is ignored", len(messages)))
			break
		}
		if !s.hear(m, now) {
			unasked++
		}
	}
	unasked += max(proto.Size(batch)/usualBytes-len(messages), 0) // large ones count for several
	if unasked > 0 && !b.flood.AllowN(now, min(unasked, b.arena.limits.MessageBurst)) {
		s.stop(ending(flip7v1.EndReason_END_REASON_FLOOD, fmt.Sprintf("more than %d messages a second that nobody asked for",
			b.arena.limits.MessagesPerSecond)))
	}
	return s.ending == nil
}

// hear does what a message says, and reports whether the arena had asked for it.
func (s *session) hear(m *flip7v1.BotMessage, now time.Time) (asked bool) {
	s.tail.hears(m, now)
	hello := m.GetHello()
	if !s.welcomed {
		if hello == nil {
			e := ending(flip7v1.EndReason_END_REASON_NO_HELLO, "something else came before Hello")
			e.code = codes.FailedPrecondition
			s.stop(e)
			return false
		}
		if e := s.hello(hello, now); e.reason != 0 {
			s.stop(e)
		}
		return false
	}
	switch m := m.GetMessage().(type) {
	case *flip7v1.BotMessage_Decision:
		return s.decide(m.Decision, now)
	case *flip7v1.BotMessage_Pong:
		if m.Pong.GetNumber() == 0 || m.Pong.GetNumber() > s.pings.number {
			s.problem(now, "UNKNOWN_PING", fmt.Sprintf("there was no ping %d", m.Pong.GetNumber()))
			return false
		}
		return s.pings.answer(m.Pong.GetNumber(), now)
	case *flip7v1.BotMessage_Capacity:
		if s.capacity(m.Capacity) {
			s.lane.fill(now)
			s.bot.arena.change()
		}
	case *flip7v1.BotMessage_Hello:
		s.problem(now, "HELLO_TWICE", "Hello is the first message of a stream, and only the first")
	default:
		s.problem(now, "UNKNOWN_MESSAGE", "a message without content, or of a kind that this arena does not know")
	}
	return false
}

// problem says that something meant nothing. Too much of that ends the stream.
func (s *session) problem(now time.Time, reason, text string) {
	if !s.bot.garbage.AllowN(now, 1) {
		s.stop(ending(flip7v1.EndReason_END_REASON_GARBAGE, "too much that means nothing, at last: "+text))
		return
	}
	s.send(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Problem{Problem: &flip7v1.Problem{
		Code: uint32(codes.InvalidArgument), Reason: reason, Message: cut(text, textBytes)}}})
}

// decide does what a decision says, and reports whether it answers an open request.
func (s *session) decide(d *flip7v1.Decision, now time.Time) bool {
	b := s.bot
	key, number := splitID(d.GetRequestId())
	if p := b.byKey[key]; p != nil {
		if p.open && p.number == number && p.written == number {
			p.decide(s, d, now)
			return true
		}
		if o, known := p.outcome(number); known {
			b.alive()
			p.late(s, d, o)
			return false
		}
	}
	s.judge(d, nil, 0, &flip7v1.Verdict{
		RequestId: cut(d.GetRequestId(), 64),
		Code:      flip7v1.VerdictCode_VERDICT_CODE_UNKNOWN_REQUEST,
		Message:   "the bot has no such request in a running game",
	})
	return false
}
