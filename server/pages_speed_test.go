package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// BenchmarkPages is how long the pages take that people look at, with 10,000 finished games in the store and a night that
// is about to begin.
func BenchmarkPages(b *testing.B) {
	h := hostingOf(start(b))
	h.copied(h.played(), 10_000)
	h.opened(&flip7v1.TournamentSettings{PairingRounds: 7}, houses()...)
	look := func(path string) int {
		w := httptest.NewRecorder()
		h.pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
		if w.Code != http.StatusOK {
			b.Fatalf("%s: %d: %s", path, w.Code, w.Body)
		}
		return w.Body.Len()
	}
	look("/") // the first one has the Elo table made
	for _, page := range []struct{ name, path string }{
		{"home", "/"}, {"tournament", "/t/2"}, {"game", "/g/2/3/1/2?step=100"}, {"bot", "/b/racer"}, {"screen", "/screen"},
	} {
		b.Run(page.name, func(b *testing.B) {
			size := 0
			for b.Loop() {
				size = look(page.path)
			}
			b.ReportMetric(float64(size), "bytes")
		})
	}
	b.Run("home after a result was taken out", func(b *testing.B) {
		for b.Loop() {
			h.Server.nights.changed.Add(1)
			look("/")
		}
	})
}

// played is a night of house bots that is over.
func (h *hosting) played() *arena.Tournament {
	h.t.Helper()
	h.play(h.opened(&flip7v1.TournamentSettings{PairingRounds: 7, Rotations: 4}, houses()...))
	night, err := h.arena.Tournament(h.t.Context(), 1)
	if err != nil {
		h.t.Fatal(err)
	}
	return night
}

// copied keeps copies of a night until there are so many games.
func (h *hosting) copied(night *arena.Tournament, games int) {
	h.t.Helper()
	ctx := h.t.Context()
	must := func(err error) {
		if err != nil {
			h.t.Fatal(err)
		}
	}
	for kept := 0; kept < games; {
		next := *night
		next.Settings.Name = fmt.Sprint("night ", kept)
		must(h.store.Create(ctx, &next, ""))
		must(h.store.SaveEntries(ctx, next.ID, night.Entries...))
		for _, round := range night.Rounds {
			must(h.store.SaveRound(ctx, next.ID, round))
		}
		must(h.store.Games(ctx, night.ID, func(id arena.GameID, game arena.Played) error {
			kept++
			id.Tournament = next.ID
			return h.store.SaveGame(ctx, id, game)
		}))
	}
}
