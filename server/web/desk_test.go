package web

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// However many pages are asked for, and live ones looked at, one is made at a time.
func TestOnePageIsMadeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, c := counting(t), &counter{changed: make(chan struct{})}
		ctx, leave := context.WithCancel(t.Context())
		var at, most, all atomic.Int32
		busy := func() {
			most.Store(max(most.Load(), at.Add(1)))
			time.Sleep(time.Second) // of the bubble
			at.Add(-1)
			all.Add(1)
		}
		page := p.page("refusal.html", func(context.Context, *http.Request) (view, error) {
			busy()
			return refusal{Title: "made"}, nil
		})
		live := c.source(time.Second)
		find := live.find
		live.find = func(ctx context.Context) (view, error) { busy(); return find(ctx) }
		go look(ctx, p, live)
		for n := range 20 {
			go page(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, fmt.Sprintf("/page-%d", n%10), nil))
		}
		time.Sleep(time.Minute)
		leave()
		time.Sleep(time.Minute) // what is being made is finished
		if most.Load() != 1 || all.Load() < 11 || all.Load() > 14 {
			t.Errorf("%d pages were made, %d of them at once; want the ten that are different and the live one, one at a time", all.Load(), most.Load())
		}
	})
}

func TestWhatElseStandsInAnAddressMakesNoOtherPage(t *testing.T) {
	request := func(target string) *http.Request { return httptest.NewRequest(http.MethodGet, target, nil) }
	if a, b := same(request("/t/1?x=1&step=3")), same(request("/t/1?step=3&y=%22")); a != b {
		t.Errorf("%q is not %q", a, b)
	}
	if a, b := same(request("/t/1?step=3")), same(request("/t/1?step=4")); a == b {
		t.Errorf("steps 3 and 4 are both %q", a)
	}
}

func TestAPageThatPanicsIsOnePageLess(t *testing.T) {
	p := counting(t)
	log := new(strings.Builder)
	p.Log = slog.New(slog.NewTextHandler(log, nil))
	w := httptest.NewRecorder()
	p.page("refusal.html", func(context.Context, *http.Request) (view, error) { panic("at the desk") })(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusInternalServerError || strings.Contains(w.Body.String(), "desk") || !strings.Contains(log.String(), "at the desk") {
		t.Errorf("got %d:\n%s\nlog: %s", w.Code, w.Body, log)
	}
	w = httptest.NewRecorder()
	p.page("refusal.html", func(context.Context, *http.Request) (view, error) { return refusal{Title: "made"}, nil })(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusOK {
		t.Errorf("the next page: %d", w.Code)
	}
}

func TestTooManyWhoWaitAreToldSo(t *testing.T) {
	p := counting(t)
	p.Enter = func(*http.Request) (func(), bool) { return nil, false }
	w := httptest.NewRecorder()
	p.page("refusal.html", func(context.Context, *http.Request) (view, error) { return nil, errors.New("made all the same") })(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusServiceUnavailable {
		t.Errorf("got %d, want 503", w.Code)
	}
}

func TestWhoAsksAndGoesIsCountedUntilThePageIsMade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := counting(t)
		var in atomic.Int32
		p.Enter = func(*http.Request) (func(), bool) { in.Add(1); return func() { in.Add(-1) }, true }
		page := p.page("refusal.html", func(context.Context, *http.Request) (view, error) { return refusal{Title: "made"}, nil })
		p.boards.desk <- struct{}{} // something else is being made
		for n := range 5 {
			ctx, leave := context.WithCancel(t.Context())
			asked := make(chan struct{})
			go func() {
				defer close(asked)
				page(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, fmt.Sprintf("/page-%d", n), nil).WithContext(ctx))
			}()
			synctest.Wait()
			leave()
			<-asked
		}
		synctest.Wait()
		if n := in.Load(); n != 5 {
			t.Errorf("%d count as waiting, want 5: as many pages are still to be made", n)
		}
		<-p.boards.desk
		synctest.Wait()
		if n := in.Load(); n != 0 {
			t.Errorf("%d count as waiting, want none", n)
		}
	})
}
