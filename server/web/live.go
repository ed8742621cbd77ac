package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	// mostWatchers bounds the live pages that are looked at at once; who is one too many reads a page that stands still.
	mostWatchers = 5000
	// heartbeat is after how long a page hears something though nothing changes: proxies cut what is idle longer.
	heartbeat = 15 * time.Second
	// takesLong is how long a page may take for what is written to it; then it has to come back.
	takesLong = 10 * time.Second
)

// source is what a live page shows: its parts are the templates "part-NAME" of its file.
type source struct {
	key     string // pages with the same key show the same
	parts   []string
	find    func(ctx context.Context) (shown view, err error)
	changed func() <-chan struct{} // closed at the next change; nil: one looks every pause
	pause   time.Duration          // between two looks at the least
}

// board is one live page: its parts as they are now, written once for all who look at it. Nobody is waited for: who asks is
// told what has changed since it asked last, which is at most every part once.
type board struct {
	mu      sync.Mutex
	parts   []part
	version uint64
	over    bool          // nothing will change any more
	changed chan struct{} // closed and replaced when version does

	watchers int                // guarded by boards.mu
	stop     context.CancelFunc // ends the goroutine that keeps it
}

// part is a piece of a page.
type part struct {
	name    string
	html    []byte
	version uint64 // of the board when it changed last
}

// boards are the boards that somebody looks at.
type boards struct {
	log    *slog.Logger
	epoch  string // of this run: versions begin anew with it
	ctx    context.Context
	cancel context.CancelFunc
	desk   desk // where all pages are made

	mu       sync.Mutex
	by       map[string]*board
	watchers int
	last     uint64 // the highest version of boards that were taken down: those put up later begin above it
}

func newBoards(log *slog.Logger) boards {
	ctx, cancel := context.WithCancel(context.Background())
	return boards{log: log, epoch: rand.Text()[:8], ctx: ctx, cancel: cancel, desk: make(desk, 1), by: map[string]*board{}}
}

func (b *boards) close() { b.cancel() }

// look finds the board of a source, or puts one up. leave is to be called by the one who looks when it goes.
func (b *boards) look(file string, s source) (found *board, leave func(), ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watchers == mostWatchers {
		return nil, nil, false
	}
	found = b.by[s.key]
	if found == nil {
		ctx, stop := context.WithCancel(b.ctx)
		found = &board{version: b.last, changed: make(chan struct{}), stop: stop}
		b.by[s.key] = found
		go found.keep(ctx, b.log, b.desk, file, s)
	}
	b.watchers++
	found.watchers++
	return found, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.watchers--
		if found.watchers--; found.watchers == 0 {
			found.stop()
			delete(b.by, s.key)
			_, now, _, _ := found.since(0)
			b.last = max(b.last, now)
		}
	}, true
}

// keep keeps the board as things are, until nobody looks at it.
func (b *board) keep(ctx context.Context, log *slog.Logger, d desk, file string, s source) {
	for ctx.Err() == nil {
		var changed <-chan struct{}
		if s.changed != nil {
			changed = s.changed()
		}
		var shown view
		err := d.work(ctx, caught(s.key, func() (err error) {
			if shown, err = s.find(ctx); err == nil {
				err = b.write(templates[file], s.parts, shown)
			}
			return err
		}))
		if err != nil {
			if ctx.Err() == nil {
				log.Warn("live page", "page", s.key, "error", err)
			}
		} else if shown.lasts() {
			return
		}
		if !sleep(ctx, s.pause) {
			return
		}
		if changed != nil {
			select {
			case <-changed:
			case <-ctx.Done():
			case <-time.After(heartbeat): // what is expected changes with the time
			}
		}
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// write writes the parts anew and wakes those who look, if one has changed.
func (b *board) write(t *template.Template, names []string, shown view) error {
	fresh := make([][]byte, len(names))
	for i, name := range names {
		var out bytes.Buffer
		if err := t.ExecuteTemplate(&out, "part-"+name, shown); err != nil {
			return err
		}
		fresh[i] = out.Bytes()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.parts == nil {
		for _, name := range names {
			b.parts = append(b.parts, part{name: name})
		}
	}
	next := b.version + 1
	for i, html := range fresh {
		if !bytes.Equal(html, b.parts[i].html) {
			b.parts[i].html, b.parts[i].version = html, next
			b.version = next
		}
	}
	b.over = shown.lasts()
	if b.version == next || b.over {
		close(b.changed)
		b.changed = make(chan struct{})
	}
	return nil
}

// since are the parts that changed after a version, the version now, whether it is the last one, and what closes at the next.
func (b *board) since(version uint64) (parts []part, now uint64, over bool, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.parts {
		if p.version > version {
			parts = append(parts, p)
		}
	}
	return parts, b.version, b.over, b.changed
}

// live is a handler of server-sent events: an event for each part that has changed, named like it, with its HTML. Who comes
// back with the id of the last event is told what changed since.
func (p *Pages) live(file string, find func(*http.Request) (source, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var s source
		leave, ok := p.Enter(r)
		err := ErrBusy
		if ok {
			err = p.boards.desk.work(r.Context(), func() (err error) {
				s, err = find(r)
				return err
			})
			leave()
		}
		if err != nil {
			p.refuse(w, r, err)
			return
		}
		board, leave, ok := p.boards.look(file, s)
		if !ok {
			w.Header().Set("Retry-After", "60")
			p.refuse(w, r, &wrong{http.StatusServiceUnavailable, "Too many look at live pages; this one stands still."})
			return
		}
		defer leave()
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Cache-Control", "no-store")
		if r.Method == http.MethodHead { // asks what there is, not for it
			return
		}
		out := &eventWriter{w: w, control: http.NewResponseController(w)}
		told := p.boards.version(r.Header.Get("Last-Event-ID"))
		for {
			parts, now, over, changed := board.since(told)
			for _, part := range parts {
				out.event(part.name, "", part.html)
			}
			if told = now; len(parts) > 0 {
				out.event("told", p.boards.epoch+"-"+strconv.FormatUint(now, 10), nil)
			}
			if over {
				out.event("over", "", nil)
			}
			if out.flush(); out.err != nil || over {
				return
			}
			select {
			case <-changed:
			case <-r.Context().Done():
				return
			case <-p.boards.ctx.Done():
				return
			case <-time.After(heartbeat):
				out.comment()
			}
		}
	}
}

// version reads the id of an event; 0 for that of another run.
func (b *boards) version(id string) uint64 {
	epoch, number, _ := strings.Cut(id, "-")
	version, err := strconv.ParseUint(number, 10, 64)
	if err != nil || epoch != b.epoch {
		return 0
	}
	return version
}

// eventWriter writes server-sent events; after an error it writes nothing more.
type eventWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	err     error
}

func (o *eventWriter) event(name, id string, data []byte) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "event: %s\n", name)
	if id != "" {
		fmt.Fprintf(&b, "id: %s\n", id)
	}
	for line := range bytes.Lines(data) {
		b.WriteString("data: ")
		b.Write(bytes.TrimRight(line, "\r\n"))
		b.WriteByte('\n')
	}
	if len(data) == 0 {
		b.WriteString("data\n")
	}
	b.WriteByte('\n')
	o.write(b.Bytes())
}

// comment is something to hear that means nothing.
func (o *eventWriter) comment() { o.write([]byte(":\n\n")) }

func (o *eventWriter) write(raw []byte) {
	if o.err == nil {
		if err := o.control.SetWriteDeadline(time.Now().Add(takesLong)); err != nil && !errors.Is(err, http.ErrNotSupported) {
			o.err = err
			return
		}
		_, o.err = o.w.Write(raw)
	}
}

func (o *eventWriter) flush() {
	if o.err == nil {
		o.err = o.control.Flush()
	}
}
