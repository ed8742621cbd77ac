package web

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestManyWhoAskAtOnceGetOnePage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := counting(t)
		var found atomic.Int64
		page := p.page("refusal.html", func(context.Context, *http.Request) (view, error) {
			time.Sleep(time.Second)
			return counted{refusal: refusal{Title: fmt.Sprint("found ", found.Add(1))}}, nil
		})
		const many = 100
		answers := make(chan *httptest.ResponseRecorder, many)
		ask := func(path, cookie string) {
			r := httptest.NewRequest(http.MethodGet, path, nil)
			if cookie != "" {
				r.AddCookie(&http.Cookie{Name: sessionCookie, Value: cookie})
			}
			w := httptest.NewRecorder()
			page(w, r)
			answers <- w
		}
		for range many {
			go ask("/b/ada", "")
		}
		for range many {
			if text := (<-answers).Body.String(); !strings.Contains(text, "found 1<") {
				t.Errorf("one who asked got\n%s", text)
			}
		}
		for range 2 {
			go ask("/b/ada", p.sessions.begin([32]byte{}, time.Now()))
		}
		go ask("/b/ada?league=other", "")
		go ask("/b/ada", "made up")
		go ask("/b/ada?nonsense", "")
		for range 5 {
			<-answers
		}
		if n := found.Load(); n != 5 {
			t.Errorf("%d pages were found, want one for %d who have not signed in, one for each of two who have, one of another league, and one for two who pretend", n, many)
		}
	})
}

func TestWhoComesWhenAllIsBusyIsToldWhenToComeAgain(t *testing.T) {
	p := counting(t)
	w := httptest.NewRecorder()
	p.page("refusal.html", func(context.Context, *http.Request) (view, error) {
		return nil, fmt.Errorf("the Elo table: %w", ErrBusy)
	})(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" || !strings.Contains(w.Body.String(), "in a moment") {
		t.Errorf("got %d, Retry-After %q:\n%s", w.Code, w.Header().Get("Retry-After"), w.Body)
	}
}

func TestWhatRoundsToNothingHasNoSign(t *testing.T) {
	for x, want := range map[float64]string{-7e-17: "0.000", -0.0004: "0.000", -0.0006: "-0.001", 0.25: "0.250", -10: "-10.000"} {
		if got := fixed(3, x); got != want {
			t.Errorf("%v: got %s, want %s", x, got, want)
		}
	}
}
