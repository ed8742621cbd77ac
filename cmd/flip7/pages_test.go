package main

import (
	"encoding/json"
	"net/http"
	"testing"
)

// An Elo table is what a night was played for: it stays on the pages when the night is over, whatever is broken off or
// played unrated after it.
func TestThePagesStayWithTheLeagueOfTheLastNight(t *testing.T) {
	serve := &serveCmd{Address: "127.0.0.1:0", Web: "127.0.0.1:0", Registration: "closed"}
	serveFor(t, serve)
	said(t, "tournament", "create", "one", "--open", "--rounds", "1", "--league", "spring")
	said(t, "tournament", "enter", "1", "house:odds", "house:racer", "house:random")
	said(t, "tournament", "create", "two", "--open")
	said(t, "tournament", "cancel", "2")
	said(t, "tournament", "start", "1", "--watch")
	said(t, "tournament", "create", "three", "--open", "--rounds", "1", "--league", "trial", "--unrated")
	said(t, "tournament", "enter", "3", "house:odds")
	said(t, "tournament", "start", "3", "--watch")
	for _, path := range []string{"/index.json", "/screen.json"} {
		answer, err := http.Get("http://" + serve.Web + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var page struct {
			Elo struct {
				League string
				Rows   []any
			}
		}
		if err := json.NewDecoder(answer.Body).Decode(&page); err != nil || page.Elo.League != "spring" || len(page.Elo.Rows) != 4 {
			t.Errorf("%s has the Elo table of %q with %d bots (%v), want the 4 of spring, with the anchor", path, page.Elo.League, len(page.Elo.Rows), err)
		}
	}
}
