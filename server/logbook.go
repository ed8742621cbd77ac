package server

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/time/rate"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/wire"
)

const (
	// logPause is how long an entry waits for others to be written with it.
	logPause = time.Second
	// logBurst is how many entries a bot may have at once, and logRate how many a second after that: a note with each
	// decision of a whole night, but no flood. Mere notes leave logSpare of them for what goes wrong.
	logBurst, logRate, logSpare = 4000, 10, 1000
	// Practice goes on day and night and must not push nights out of a log: only what went wrong in it is kept, and of that
	// not much.
	practiceBurst, practiceRate = 200, rate.Limit(1.0 / 60)
	// logRoom is how many entries of all bots may wait: they take about 5 MB.
	logRoom = 10_000
	// logPages and logLines are how much goes into one transaction, so that results of games wait for it 10 ms at most.
	logPages, logLines = 40, 500
)

// logbook keeps the logs of bots. It is told what happens by remote in the middle of a decision: it takes that down, and
// writes it a moment later. What there is no room for is counted, and missed in the log of its bot alone.
type logbook struct {
	store *store.Store
	log   *slog.Logger
	lost  prometheus.Counter

	mu      sync.Mutex
	bots    map[string]*diary
	waiting []*diary      // of whom there is something to write
	entries int           // that wait
	wake    chan struct{} // holds one while there may be something to write

	reading sync.Mutex // a night's log takes tens of milliseconds: one at a time
	writing sync.Mutex // one at a time, so that the order stays
	failing bool       // the last one did; guarded by writing

	done  chan struct{}
	ended sync.WaitGroup
}

// diary is what has happened to one bot. Guarded by the logbook's mu.
type diary struct {
	bot      string
	allowed  *rate.Limiter
	practice *rate.Limiter
	pending
}

// pending is what waits to be written.
type pending struct {
	happened []happening
	lost     int // entries that had no room
	notes    int // those of them that were mere notes
}

// happening is one thing to be logged: a remote.Answered, a remote.Judged, a passage, a lastWord or a remark.
type happening struct {
	at      time.Time
	trouble bool
	what    any
}

// passage is the coming or going of a stream.
type passage struct {
	stream remote.Session
	gone   bool
	reason flip7v1.EndReason // of going
	text   string
}

// lastWord is one of the last messages of a stream that was lost or ended in error.
type lastWord struct {
	stream remote.Session
	said   remote.Said
	before time.Duration // the end
}

// remark is a line of the arena's own.
type remark string

// newLogbook begins to keep logs; close ends it.
func newLogbook(kept *store.Store, log *slog.Logger, lost prometheus.Counter) *logbook {
	l := &logbook{store: kept, log: log, lost: lost, bots: map[string]*diary{}, wake: make(chan struct{}, 1), done: make(chan struct{})}
	l.ended.Go(l.run)
	return l
}

// close writes what waits and ends the keeping of logs. Nothing may happen after it.
func (l *logbook) close() {
	close(l.done)
	l.ended.Wait()
}

func (l *logbook) run() {
	for {
		select {
		case <-l.wake:
		case <-l.done:
			l.flush()
			return
		}
		pause := time.NewTimer(logPause)
		select {
		case <-pause.C:
		case <-l.done:
			pause.Stop()
		}
		l.flush()
	}
}

// hooks tell the logbook what happens, after those that are given.
func (l *logbook) hooks(first remote.Hooks) remote.Hooks {
	return remote.Hooks{
		Connected: first.Connected,
		Answered: func(a remote.Answered) {
			first.Answered(a)
			trouble := a.Cause.Fault() || a.Illegal > 0
			// An absent bot's requests would fill its log and say nothing new.
			if !a.Absent && (trouble || a.Note != "" && !practised(a.Game)) {
				l.add(a.Bot, trouble, a)
			}
		},
		Judged:   func(j remote.Judged) { l.add(j.Bot, true, j) },
		Welcomed: func(s remote.Session) { l.add(s.Bot, false, passage{stream: s, text: "it came"}) },
		Last: func(s remote.Session, reason flip7v1.EndReason, said []remote.Said) {
			if inError(reason) {
				for _, one := range said {
					l.add(s.Bot, false, lastWord{s, one, time.Since(one.At)})
				}
			}
		},
		Ended: func(s remote.Session, reason flip7v1.EndReason, text string) {
			first.Ended(s, reason, text)
			l.add(s.Bot, inError(reason), passage{s, true, reason, text})
		},
	}
}

// inError reports whether a stream that ended for a reason should not have.
func inError(reason flip7v1.EndReason) bool {
	switch reason {
	case flip7v1.EndReason_END_REASON_CLOSED, flip7v1.EndReason_END_REASON_DRAINING, flip7v1.EndReason_END_REASON_REPLACED,
		flip7v1.EndReason_END_REASON_TOKEN_REVOKED:
		return false
	}
	return true
}

// add takes down what happened to a bot, if there is room.
func (l *logbook) add(bot string, trouble bool, what any) {
	now, spare := time.Now(), 0.0
	if !trouble {
		spare = logSpare
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	d := l.bots[bot]
	if d == nil {
		d = &diary{bot: bot, allowed: rate.NewLimiter(logRate, logBurst), practice: rate.NewLimiter(practiceRate, practiceBurst)}
		l.bots[bot] = d
	}
	entries := []happening{{now, trouble, what}}
	if practised(entries[0].game()) {
		if !d.practice.AllowN(now, 1) {
			return
		}
		if d.practice.TokensAt(now) < 1 {
			entries = append(entries, happening{now, false, remark("more that goes wrong in practice is not kept for now, to leave room for nights")})
		}
	}
	if l.entries >= logRoom || d.allowed.TokensAt(now) <= spare || !d.allowed.AllowN(now, 1) {
		l.lost.Inc()
		without := pending{lost: 1}
		if _, decided := what.(remote.Answered); decided && !trouble {
			without.notes = 1
		}
		l.keep(d, without)
		return
	}
	l.keep(d, pending{happened: entries})
}

// keep has more of a bot written. Holds l.mu.
func (l *logbook) keep(d *diary, more pending) {
	if d.lost == 0 && len(d.happened) == 0 {
		l.waiting = append(l.waiting, d)
	}
	d.happened, d.lost = append(d.happened, more.happened...), d.lost+more.lost
	d.notes += more.notes
	l.entries += len(more.happened)
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// flush writes what waits, and returns when all that happened before is written, or is lost.
func (l *logbook) flush() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.mu.Lock()
	var due []diary
	for _, d := range l.waiting {
		due = append(due, *d)
		d.pending = pending{}
	}
	l.waiting, l.entries = nil, 0
	l.mu.Unlock()

	playing := l.playing(due)
	var batch []part
	lines := 0
	for _, d := range due {
		for _, p := range d.parts(playing[d.bot]) {
			if len(batch) == logPages || lines+len(p.Lines) > logLines {
				l.write(batch)
				batch, lines = nil, 0
			}
			batch, lines = append(batch, p), lines+len(p.Lines)
		}
	}
	l.write(batch)
}

// playing says where bots play, if something happened to one of them that is of no game.
func (l *logbook) playing(due []diary) map[string]int64 {
	nowhere := func(h happening) bool { return h.game() == "" }
	if !slices.ContainsFunc(due, func(d diary) bool { return d.lost > 0 || slices.ContainsFunc(d.happened, nowhere) }) {
		return nil
	}
	playing, err := l.store.Playing(context.Background())
	if err != nil {
		l.log.Error("it is not known who plays where, for the logs of bots", "error", err)
	}
	return playing
}

// part is what of a bot is written at once: so many entries, or that so many are missing.
type part struct {
	store.LogPage
	entries, missing int
}

// parts are what is kept of a bot that plays in a tournament, or in none (0). No part is larger than a transaction.
func (d *diary) parts(tournament int64) (parts []part) {
	for some := range slices.Chunk(d.happened, logLines) {
		p := part{LogPage: store.LogPage{Bot: d.bot}, entries: len(some)}
		for _, h := range some {
			p.Lines = append(p.Lines, h.line(tournament))
		}
		parts = append(parts, p)
	}
	if d.lost > 0 {
		missing := word(wire.Missing(d.lost, d.notes == d.lost))
		missing.Game.Tournament = tournament
		parts = append(parts, part{LogPage: store.LogPage{Bot: d.bot, Lines: []store.LogLine{missing}}, missing: d.lost})
	}
	return parts
}

// write keeps parts. What cannot be kept is not tried again, since there would be ever more of it, but said once it can.
func (l *logbook) write(parts []part) {
	if len(parts) == 0 {
		return
	}
	var pages []store.LogPage
	for _, p := range parts {
		pages = append(pages, p.LogPage)
	}
	err := l.store.AddLog(context.Background(), pages...)
	switch {
	case err != nil && !l.failing:
		l.log.Error("the logs of bots cannot be kept", "error", err)
	case err == nil && l.failing:
		l.log.Info("the logs of bots are kept again")
	}
	if l.failing = err != nil; !l.failing {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range parts {
		l.lost.Add(float64(p.entries))
		l.keep(l.bots[p.Bot], pending{lost: p.entries + p.missing})
	}
}
