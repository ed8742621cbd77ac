package arena

import (
	"bytes"
	"fmt"
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
	var verified []Verification
	for _, id := range []int64{3, 1, 2} { // in any order
		seen, err := Verify(bytes.NewReader(export(t, a, id)))
		if err != nil {
			t.Fatal(err)
		}
		verified = append(verified, seen)
	}
	again, err := VerifiedSeason(s.RatedNights(), verified)
	if err != nil {
		t.Fatal(err)
	}
	table := func(s *Season) string {
		elo, err := s.Elo()
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, row := range elo.Rows {
			row.Busts, row.Faults, row.P99 = 0, 0, 0
			fmt.Fprintf(&text, "%+v %v\n", row, s.house[build{row.Bot, row.Build}])
		}
		fmt.Fprintln(&text, elo.Tournaments, elo.Games, elo.Anchor, elo.Alike, s.Clusters(), s.League)
		return text.String()
	}
	if got, want := table(again), table(s); got != want {
		t.Errorf("the exports make the table\n%swant\n%s", got, want)
	}

	// What the table must say for that.
	for _, c := range []struct {
		what   string
		forget func(night *RatedNight)
	}{
		{"a table that was no cluster", func(night *RatedNight) { night.Lost = nil }},
		{"a result that was taken out in silence", func(night *RatedNight) { night.Excluded = nil }},
	} {
		nights := s.RatedNights()
		for i := range nights {
			c.forget(&nights[i])
		}
		if other, err := VerifiedSeason(nights, verified); err != nil || table(other) == table(s) {
			t.Errorf("%s: the same table comes out (%v)", c.what, err)
		}
	}
}

func TestTournamentsThatATableMustNotCountOrLeaveOut(t *testing.T) {
	verified := func(change func(*Settings)) Verification {
		s := Settings{Name: "night", Rounds: 1, Rotations: 1}
		change(&s)
		a, night := playHouse(t, s, field(4)...)
		seen, err := Verify(bytes.NewReader(export(t, a, night.ID)))
		if err != nil {
			t.Fatal(err)
		}
		return seen
	}
	rated := func(v Verification) RatedNight { return RatedNight{Commitment: v.night.Commitment()} }
	first, second := verified(func(*Settings) {}), verified(func(s *Settings) { s.Name = "second" })
	other := verified(func(s *Settings) { s.League = "other" })
	unrated := verified(func(s *Settings) { s.Unrated = true })
	predictable := verified(func(s *Settings) { s.Seed = seed(1) })
	cancelled := verified(func(*Settings) {})
	cancelled.night.State = Cancelled
	beyond := rated(first)
	beyond.Lost = []TableID{{Round: 9, Table: 1}}
	type nights []RatedNight
	for _, c := range []struct {
		name     string
		nights   nights
		verified []Verification
		want     string // "": it holds
	}{
		{"both of the league", nights{rated(first), rated(second)}, []Verification{second, first}, ""},
		{"files that do not count in the league", nights{rated(first)}, []Verification{first, other, unrated, predictable, cancelled}, ""},
		{"nothing, and nothing is rated", nil, []Verification{unrated, predictable, cancelled}, ""},
		{"nothing, and something is rated", nil, []Verification{unrated, first}, `it leaves out "night", which is rated`},
		{"one is left out", nights{rated(first)}, []Verification{first, second}, `it leaves out "second", which is rated`},
		{"one of which there is no file", nights{rated(first), rated(second)}, []Verification{first}, "tournament 2 of 2 of the table: its results, of commitment"},
		{"one twice", nights{rated(first), rated(first)}, []Verification{first}, "tournament 2 of 2 of the table: it is counted twice"},
		{"another league", nights{rated(first), rated(other)}, []Verification{first, other}, `it is of league "other", and those before it are of "main"`},
		{"unrated", nights{rated(unrated)}, []Verification{unrated}, `"night" does not count: it was announced as unrated`},
		{"made from a seed", nights{rated(predictable)}, []Verification{predictable}, `"night" does not count: its deals were predictable`},
		{"cancelled", nights{rated(cancelled)}, []Verification{cancelled}, `"night" does not count: it is not finished`},
		{"a table that was not there", nights{beyond}, []Verification{first}, "table 1 of pairing round 9 is not there"},
	} {
		_, err := VerifiedSeason(c.nights, c.verified)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
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
