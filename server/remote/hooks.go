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
	Judged    func(Judged)
	Welcomed  func(Session)
	Connected func(bot string, instances int)                             // a stream was welcomed or has ended: how many there are
	Ended     func(stream Session, reason flip7v1.EndReason, text string) // reason UNSPECIFIED: the connection was lost
	Last      func(stream Session, reason flip7v1.EndReason, last []Said) // right before Ended: the last that was said
}

// Session is a stream of a bot. The zero value is none.
type Session struct {
	Bot        string
	ID         string // as Welcome.session_id
	Instance   string // of its Hello, as what follows; empty: there was none yet
	Build      string
	KitName    string
	KitVersion string
}

// Answered is what became of one request.
type Answered struct {
	Bot      string
	Game     string
	Attempt  int
	Number   int     // of the request
	Session  Session // that answered, or else had the game
	Kind     game.Kind
	Seat     game.Seat     // of the bot
	Decision game.Decision // that is played
	Cause    game.Cause
	Absent   bool
	Illegal  int           // illegal decisions before
	Sent     int           // how often it was sent
	Queued   time.Duration // until it was sent
	Took     time.Duration // what is charged
	Note     string        // of the bot, with its decision: at most 256 bytes of UTF-8
}

// Judged is a decision that was not simply taken, and the verdict on it. That a default was played is told by Answered.
type Judged struct {
	Bot     string
	Game    string // with attempt and number of the request; empty: the bot has no such game now
	Attempt int
	Number  int
	Session Session
	Verdict *flip7v1.Verdict // not to be changed
	Note    string           // of the bot, with its decision: at most 256 bytes of UTF-8
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

func (h *Hooks) judged(log *slog.Logger, j Judged) {
	if h.Judged != nil {
		defer logPanic(log, "hook Judged")
		h.Judged(j)
	}
}

func (h *Hooks) welcomed(log *slog.Logger, s Session) {
	if h.Welcomed != nil {
		defer logPanic(log, "hook Welcomed")
		h.Welcomed(s)
	}
}

func (h *Hooks) last(log *slog.Logger, s Session, e end, said []Said) {
	if h.Last != nil {
		defer logPanic(log, "hook Last")
		h.Last(s, e.reason, said)
	}
}

func (h *Hooks) ended(log *slog.Logger, s Session, e end) {
	if h.Ended != nil {
		defer logPanic(log, "hook Ended")
		h.Ended(s, e.reason, e.text)
	}
}

// logPanic is to be deferred.
func logPanic(log *slog.Logger, what string) {
	if r := recover(); r != nil {
		log.Error("panic", "in", what, "panic", r, "stack", string(debug.Stack()))
	}
}
