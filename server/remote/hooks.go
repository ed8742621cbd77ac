package remote

import (
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Hooks are told what happens, for metrics and the bots' logs. They are called from where it happens, so they must be
// quick and must not call Bots. Nil ones are not called; one that panics is logged, and nothing else comes of it.
type Hooks struct {
	Answered  func(Answered)
	Connected func(bot string, instances int)                         // a stream was welcomed or has ended: how many there are
	Ended     func(bot string, reason flip7v1.EndReason, text string) // reason UNSPECIFIED: the connection was lost
	Note      func(Note)
}

// Answered is what became of one request.
type Answered struct {
	Bot     string
	Game    string
	Cause   game.Cause
	Absent  bool
	Illegal int           // illegal decisions before
	Queued  time.Duration // until it was sent
	Took    time.Duration // what is charged
}

// Note is what a bot wrote for its own log.
type Note struct {
	Bot     string
	Game    string
	Attempt int
	Number  int    // of the request
	Text    string // at most 256 bytes of UTF-8
}

func (h *Hooks) answered(log *slog.Logger, a Answered) {
	if h.Answered != nil {
		defer logPanic(log, "hook Answered")
		h.Answered(a)
	}
}

func (h *Hooks) connected(log *slog.Logger, bot string, instances int) {
	if h.Connected != nil {
		defer logPanic(log, "hook Connected")
		h.Connected(bot, instances)
	}
}

func (h *Hooks) ended(log *slog.Logger, bot string, e end) {
	if h.Ended != nil {
		defer logPanic(log, "hook Ended")
		h.Ended(bot, e.reason, e.text)
	}
}

func (h *Hooks) note(log *slog.Logger, n Note) {
	if h.Note != nil {
		defer logPanic(log, "hook Note")
		h.Note(n)
	}
}

// logPanic is to be deferred.
func logPanic(log *slog.Logger, what string) {
	if r := recover(); r != nil {
		log.Error("panic", "in", what, "panic", r, "stack", string(debug.Stack()))
	}
}
