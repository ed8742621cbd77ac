package web

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// counted is a view that shows how often it was put together.
type counted struct {
	refusal
	last bool
}

func (c counted) lasts() bool { return c.last }

// counter is a live page that is put together anew whenever changed is told.
type counter struct {
	mu      sync.Mutex
	made    int
	changed chan struct{}
}

func (c *counter) source(pause time.Duration) source {
	return source{key: "/counter", parts: []string{"count"}, pause: pause,
		changed: func() <-chan struct{} { c.mu.Lock(); defer c.mu.Unlock(); return c.changed },
		find: func(context.Context) (view, error) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.made++
			return counted{refusal: refusal{Title: fmt.Sprint(c.made)}}, nil
		}}
}

func (c *counter) change() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.changed)
	c.changed = make(chan struct{})
}

// counting are pages with a template for counters.
func counting(t testing.TB) *Pages {
	own, err := template.New("").Funcs(functions).ParseFS(templateFiles, "templates/frame.html", "templates/parts.html", "templates/refusal.html")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := own.Parse(`{{define "part-count"}}made {{.Title}}{{end}}`); err != nil {
		t.Fatal(err)
	}
	templates["counter.html"] = own
	return &Pages{Config: Config{Log: slog.New(slog.DiscardHandler), Enter: anyone}, sessions: sessions{by: map[[32]byte]session{}}, boards: newBoards(slog.New(slog.DiscardHandler))}
}

// anyone may wait.
func anyone(*http.Request) (leave func(), ok bool) { return func() {}, true }

// look looks at a live page until ctx ends; the answer is what was written.
func look(ctx context.Context, p *Pages, s source) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/counter", nil).WithContext(ctx)
	p.live("counter.html", func(*http.Request) (source, error) { return s, nil })(w, r)
	return w
}

// However many look at a page, it is put together once for each change; and no more often than its pause allows.
func TestAPageIsMadeOnceForAllWhoLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := counting(t), &counter{changed: make(chan struct{})}
		ctx, leave := context.WithCancel(t.Context())
		const watchers = 1000
		answers := make(chan *httptest.ResponseRecorder, watchers)
		for range watchers {
			go func() { answers <- look(ctx, p, c.source(time.Second)) }()
		}
		synctest.Wait()
		for range 3 {
			time.Sleep(2 * time.Second) // the bubble's clock
			for range 50 {
				c.change()
			}
			synctest.Wait()
		}
		time.Sleep(2 * time.Second)
		leave()
		for range watchers {
			text := (<-answers).Body.String()
			for made := 1; made <= c.made; made++ {
				if !strings.Contains(text, fmt.Sprintf("data: made %d\n", made)) {
					t.Fatalf("one who looks did not hear of %d:\n%s", made, text)
				}
			}
		}
		if c.made < 4 || c.made > 7 {
			t.Errorf("%d x 50 changes made the page be put together %d times, want once at first and once or twice for each burst", 3, c.made)
		}
		synctest.Wait() // nothing of the board is left when nobody looks, or the bubble complains
		if len(p.boards.by) != 0 || p.boards.watchers != 0 {
			t.Errorf("%d boards and %d watchers are left", len(p.boards.by), p.boards.watchers)
		}
	})
}

// stuck is a page that takes nothing until it is let go.
type stuck struct {
	*httptest.ResponseRecorder
	free <-chan struct{}
}

func (s stuck) Write(p []byte) (int, error) {
	<-s.free
	return s.ResponseRecorder.Write(p)
}

func (s stuck) SetWriteDeadline(time.Time) error { return nil }
func (s stuck) FlushError() error                { return nil }

// A page that takes nothing costs nobody anything, and when it does again it hears the newest state alone.
func TestASlowPageHoldsNobodyUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := counting(t), &counter{changed: make(chan struct{})}
		ctx, leave := context.WithCancel(t.Context())
		free := make(chan struct{})
		slow := stuck{httptest.NewRecorder(), free}
		done := make(chan struct{})
		go func() {
			defer close(done)
			p.live("counter.html", func(*http.Request) (source, error) { return c.source(time.Second), nil })(slow,
				httptest.NewRequest(http.MethodGet, "/counter", nil).WithContext(ctx))
		}()
		quick := make(chan *httptest.ResponseRecorder, 1)
		go func() { quick <- look(ctx, p, c.source(time.Second)) }()
		for range 5 {
			time.Sleep(2 * time.Second)
			c.change()
		}
		time.Sleep(2 * time.Second)
		close(free)
		synctest.Wait()
		leave()
		<-done
		if text := (<-quick).Body.String(); !strings.Contains(text, "made 6") {
			t.Errorf("the quick page heard:\n%s", text)
		}
		if text := slow.Body.String(); strings.Count(text, "event: count") != 2 || !strings.Contains(text, "made 6") {
			t.Errorf("the slow page heard, want the first and the newest state:\n%s", text)
		}
	})
}

func TestTooManyWhoLookAreToldSo(t *testing.T) {
	p := counting(t)
	p.boards.watchers = mostWatchers
	c := &counter{changed: make(chan struct{})}
	w := look(t.Context(), p, c.source(time.Second))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("got %d, want 503 and when to come again", w.Code)
	}
}

// hearing is a page that says when it has heard of a change.
type hearing struct {
	*httptest.ResponseRecorder
	heard *sync.WaitGroup
}

func (h hearing) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte("event: told")) {
		h.heard.Done()
	}
	return len(p), nil
}

func (h hearing) SetWriteDeadline(time.Time) error { return nil }
func (h hearing) FlushError() error                { return nil }

// BenchmarkWatchers is how long it takes until all who look have heard of a change: it is put together once, and written to
// each of them.
func BenchmarkWatchers(b *testing.B) {
	for _, watchers := range []int{1, 1000} {
		b.Run(fmt.Sprint(watchers), func(b *testing.B) {
			p, c := counting(b), &counter{changed: make(chan struct{})}
			ctx, leave := context.WithCancel(b.Context())
			var looking, heard sync.WaitGroup
			heard.Add(watchers)
			for range watchers {
				looking.Go(func() {
					p.live("counter.html", func(*http.Request) (source, error) { return c.source(0), nil })(hearing{httptest.NewRecorder(), &heard},
						httptest.NewRequest(http.MethodGet, "/counter", nil).WithContext(ctx))
				})
			}
			heard.Wait()
			before := c.made
			for b.Loop() {
				heard.Add(watchers)
				c.change()
				heard.Wait()
			}
			b.StopTimer()
			b.ReportMetric(float64(c.made-before)/float64(b.N), "pages/change")
			leave()
			looking.Wait()
		})
	}
}

func TestALivePageThatPanicsStandsStillAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := counting(t), &counter{changed: make(chan struct{})}
		log := new(strings.Builder)
		p.boards.log = slog.New(slog.NewTextHandler(log, nil))
		s := c.source(time.Second)
		find, broken := s.find, true
		s.find = func(ctx context.Context) (view, error) {
			if broken {
				broken = false
				panic("at the board")
			}
			return find(ctx)
		}
		ctx, leave := context.WithCancel(t.Context())
		answer := make(chan *httptest.ResponseRecorder)
		go func() { answer <- look(ctx, p, s) }()
		synctest.Wait()
		if !strings.Contains(log.String(), "at the board") {
			t.Errorf("the log says %q, want why", log)
		}
		c.change()
		time.Sleep(2 * time.Second) // of the bubble
		leave()
		if text := (<-answer).Body.String(); !strings.Contains(text, "made 1") {
			t.Errorf("heard %q, want what is made at the next change", text)
		}
	})
}
