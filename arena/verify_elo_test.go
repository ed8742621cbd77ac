package arena

import (
	"bytes"
	"strings"
	"testing"
)

func TestTheEloTableOfALeagueIsComputedAgain(t *testing.T) {
	all := field(8)
	a := playLeague(t, all, all[:5], all)
	if err := a.Exclude(t.Context(), 3, Excluded{Round: 2, Table: 1, Why: "wrong build"}, organiser); err != nil {
		t.Fatal(err)
	}
	// A bot lost its stream at a table of the second tournament.
	if err := a.Store.SaveTable(t.Context(), 2, 1, lostTable(t, a, 2)); err != nil {
		t.Fatal(err)
	}
	s := season(t, a, SeasonOptions{})
	elo, err := s.Elo()
	if err != nil {
		t.Fatal(err)
	}
	var verified []Verification
	for _, id := range []int64{3, 1, 2} { // in any order
		seen, err := Verify(bytes.NewReader(export(t, a, id)))
		if err != nil {
			t.Fatal(err)
		}
		verified = append(verified, seen)
	}
	printed := func() PrintedElo {
		p := PrintedElo{Nights: s.RatedNights()}
		for _, row := range elo.Rows {
			p.Rows = append(p.Rows, PrintedRating{Bot: row.Bot, Build: row.Build, Elo: row.Elo, Interval: row.Interval, Games: row.Games, Clusters: row.Clusters})
		}
		return p
	}
	if err := VerifyElo(printed(), verified); err != nil {
		t.Errorf("the table as it is does not hold: %v", err)
	}
	for _, c := range []struct {
		what       string
		change     func(*PrintedElo)
		complained string
	}{
		{"within what rounding does", func(p *PrintedElo) { p.Rows[0].Elo += 0.01; p.Rows[1].Interval -= 0.01 }, ""},
		{"a rating", func(p *PrintedElo) { p.Rows[0].Elo += 0.03 }, "rating of " + elo.Rows[0].Bot},
		{"an interval", func(p *PrintedElo) { p.Rows[1].Interval *= 0.9 }, "+-"},
		{"a game", func(p *PrintedElo) { p.Rows[2].Games++ }, "count"},
		{"a table that was no cluster", func(p *PrintedElo) { p.Nights[1].Lost = nil }, "+-"},
		{"a result that was taken out in silence", func(p *PrintedElo) { p.Nights[2].Excluded = nil }, "the games make it"},
		{"a bot more", func(p *PrintedElo) { p.Rows = append(p.Rows, PrintedRating{Bot: "nobody"}) }, "in no game that counts"},
		{"a bot less", func(p *PrintedElo) { p.Rows = p.Rows[1:] }, "the table does not have it"},
		{"a tournament of which there is no export", func(p *PrintedElo) { p.Nights[0].Commitment[0]++ }, "not among the files"},
		{"a table that was not there", func(p *PrintedElo) { p.Nights[0].Lost = []TableID{{9, 1}} }, "is not there"},
	} {
		p := printed()
		c.change(&p)
		err := VerifyElo(p, verified)
		if c.complained == "" && err != nil || c.complained != "" && (err == nil || !strings.Contains(err.Error(), c.complained)) {
			t.Errorf("%s: got %v, want a complaint about %q", c.what, err, c.complained)
		}
	}
}

// lostTable is the first table of a tournament as if a bot had lost its stream there.
func lostTable(t *testing.T, a *Arena, id int64) Table {
	night, err := a.Tournament(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	tab := night.Rounds[0].Tables[0]
	tab.Lost = true
	return tab
}
