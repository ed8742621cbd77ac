package arena

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestATallyThatIsBroughtUpEqualsOneThatBeginsAnew(t *testing.T) {
	a, night := playHouse(t, Settings{Name: "n", Seed: seed(1), Rounds: 3}, field(9)...)
	whole, err := a.stats(t.Context(), night)
	if err != nil {
		t.Fatal(err)
	}
	var steps, once Tally
	for round := 1; round <= 3; round++ {
		if err := a.Count(t.Context(), night.After(round), &steps); err != nil {
			t.Fatal(err)
		}
		if want := 3 * round; steps.Tables() != want {
			t.Errorf("after pairing round %d %d tables are counted, want %d", round, steps.Tables(), want)
		}
	}
	if err := a.Count(t.Context(), night, &once); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(steps.Stats, whole) || !reflect.DeepEqual(once.Stats, whole) {
		t.Error("the statistics differ from those of the whole night")
	}
	if !slices.Equal(steps.Aims.List(), once.Aims.List()) {
		t.Error("the aims differ")
	}
	// A table that is made void counts no more.
	void := night.After(0)
	void.Rounds[1].Tables[0].State = Void
	if err := a.Count(t.Context(), void, &steps); err != nil {
		t.Fatal(err)
	}
	games := 0
	for _, s := range steps.Stats {
		games += s.Games
	}
	seated := 0
	for _, r := range void.Rounds {
		for _, tab := range r.Tables {
			if tab.State != Void {
				seated += len(tab.Games) * len(tab.Bots)
			}
		}
	}
	if games != seated || steps.Tables() != 8 {
		t.Errorf("without the void table %d seats of games in %d tables are counted, want %d in 8", games, steps.Tables(), seated)
	}
}

func TestACountThatBreaksOffGoesOn(t *testing.T) {
	a, night := playHouse(t, Settings{Name: "n", Seed: seed(2), Rounds: 3}, field(8)...)
	ctx, cancel := context.WithCancel(t.Context())
	a.Store = &impatient{Store: a.Store, left: 20, cancel: cancel}
	var tally Tally
	if err := a.Count(ctx, night, &tally); !errors.Is(err, context.Canceled) || tally.Tables() != 2 {
		t.Errorf("broken off after 20 games: %v with %d tables counted, want those of 2", err, tally.Tables())
	}
	if err := a.Count(t.Context(), night, &tally); err != nil {
		t.Fatal(err)
	}
	whole, err := a.stats(t.Context(), night)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(tally.Stats, whole) || tally.Tables() != 6 {
		t.Errorf("what was counted in two goes, %d tables, is not what was played", tally.Tables())
	}
}

// impatient is a store whose caller leaves after so many games.
type impatient struct {
	Store
	left   int
	cancel func()
}

func (s *impatient) Game(ctx context.Context, id GameID) (Played, error) {
	if s.left--; s.left == 0 {
		s.cancel()
	}
	if ctx.Err() != nil {
		return Played{}, ctx.Err()
	}
	return s.Store.Game(ctx, id)
}

func TestPlacementsAreMeansOfRotations(t *testing.T) {
	game := func(number int, seats []int, places ...int) Game {
		g := Game{Number: number, Seats: seats}
		g.Result.Places = places
		return g
	}
	round := func(number int) Round {
		return Round{Number: number, Tables: []Table{{Number: 1, Bots: []int{1, 2, 3}, State: Complete, Games: []Game{
			game(1, []int{1, 2, 3}, 1, 2, 3), game(2, []int{2, 3, 1}, 2, 3, 1), game(3, []int{3, 1, 2}, 3, 1, 2), // 1: 1 1 1
			game(4, []int{1, 2, 3}, 3, 2, 1), game(5, []int{2, 3, 1}, 2, 1, 3), game(6, []int{3, 1, 2}, 1, 2, 2), // 1: 0 0 1/4
		}}}}
	}
	night := &Tournament{Settings: DefaultSettings(), Entries: make([]Entry, 3), Rounds: []Round{round(1), round(2)}}
	p := night.Placements()
	// Entry 1 has rotations of 3 and 1/4, twice: the mean is 13/24, the error sqrt(4/3 * 4 * (11/8)^2) / 12, and Student's
	// quantile for three degrees of freedom 3.18245.
	if got := p[0]; got.Games != 12 || got.Clusters != 4 || math.Abs(got.Mean-13./24) > 1e-12 || math.Abs(got.Margin-3.18245*math.Sqrt(16./3)*11/8/12) > 1e-3 {
		t.Errorf("entry 1: %+v, want 12 games in 4 clusters, 0.5417 +- 0.842", got)
	}
	// Entry 2 has 3/2 and 5/4, so that the rotations differ by 3/2 and -1: the mean of a game is 1/12, the error
	// sqrt(4/3 * 4 * (5/4)^2) / 12.
	if lead, margin := p[0].From(p[1]); math.Abs(lead-1./12) > 1e-12 || math.Abs(margin-3.18245*math.Sqrt(16./3)*5/4/12) > 1e-3 {
		t.Errorf("entry 1 is %v +- %v ahead of entry 2, want 0.0833 +- 0.766", lead, margin)
	}
	night.Rounds[0].Tables[0].Lost = true
	if got := night.Placements()[0]; got.Clusters != 3 || !math.IsInf(got.Margin, 1) {
		t.Errorf("with a lost stream: %+v, want 3 clusters, and no margin from so few", got)
	}
	night.Rounds[0].Tables[0].State, night.Rounds[1].Tables[0].State = Void, Void
	if got := night.Placements()[0]; got.Games != 0 || !math.IsNaN(got.Mean) {
		t.Errorf("at a void table: %+v, want no game", got)
	}
}

// That a bot has left, or plays outside the ranks, is no luck of games.
func TestOnlyWhatGamesDecideMayBeLuck(t *testing.T) {
	_, night := playHouse(t, Settings{Name: "night", Rounds: 4, Anchor: AnchorOn, Seed: seed(5)}, slices.Repeat([]string{"house:stay-20"}, 5)...)
	for _, c := range []struct {
		left int // number of an entry, 0 for none
		want string
	}{{0, "-~~~~-"}, {2, "-~~~--"}} {
		if c.left > 0 {
			night.Entries[c.left-1].State = Withdrawn
		}
		standings, err := night.Standings()
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, like := range night.Alike(standings) {
			got += map[bool]string{true: "~", false: "-"}[like]
		}
		if got != c.want {
			t.Errorf("entry %d has left: alike are %s, want %s", c.left, got, c.want)
		}
	}
}

func TestAPairingIsExplainedTableByTable(t *testing.T) {
	_, night := playHouse(t, Settings{Name: "n", Seed: seed(3), Rounds: 5}, field(8)...)
	repeats := 0
	for _, r := range night.Rounds {
		lines, err := night.Explain(r.Number)
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) != len(r.Tables)+1 {
			t.Fatalf("pairing round %d has %d tables and is explained in %d lines", r.Number, len(r.Tables), len(lines))
		}
		paired := 0
		for i, tab := range r.Tables {
			for _, name := range night.names(tab.Bots) {
				if !strings.Contains(lines[i], name) {
					t.Errorf("pairing round %d: %q does not name %s", r.Number, lines[i], name)
				}
			}
			pairs := night.Repeats(r.Number, tab)
			paired += len(pairs)
			if first := strings.Contains(lines[i], "all meet for the first time"); first != (len(pairs) == 0) {
				t.Errorf("pairing round %d, table %d: %q, but %d pairs had met", r.Number, tab.Number, lines[i], len(pairs))
			}
		}
		if paired != r.Repeats {
			t.Errorf("pairing round %d: %d repeat meetings at its tables, the pairing counted %d", r.Number, paired, r.Repeats)
		}
		repeats += paired
	}
	if repeats == 0 {
		t.Error("nobody met twice in this night: it shows nothing")
	}
	if _, err := night.Explain(6); err == nil {
		t.Error("pairing round 6 of 5 is explained")
	}
}

func TestAfterAPairingRoundTheStandingsAreThoseOfThen(t *testing.T) {
	_, night := playHouse(t, Settings{Name: "n", Seed: seed(4), Rounds: 3}, field(8)...)
	night.Entries = append(night.Entries, Entry{Number: 9, Name: "late", Player: "house:odds", From: 3})
	night.Rounds[0].Tables[0].State, night.Rounds[0].Tables[0].VoidFrom = Void, 3
	half, whole := night.After(1), night.After(3)
	if len(half.Entries) != 8 || len(half.Rounds) != 1 || len(whole.Entries) != 9 {
		t.Errorf("%d entries and %d rounds after the first, %d entries after the last; want 8, 1, 9", len(half.Entries), len(half.Rounds), len(whole.Entries))
	}
	if half.Rounds[0].Tables[0].State != Complete || night.After(2).Rounds[0].Tables[0].State != Void || whole.Rounds[0].Tables[0].State != Void {
		t.Error("a table that is void for the pairing of round 3 has to count after round 1, and not after round 2")
	}
	night.Rounds[2].Tables[0].State = Playing
	if now := night.After(0); now.Rounds[2].Tables[0].Games != nil || len(night.Rounds[2].Tables[0].Games) == 0 {
		t.Error("the games of a table that is playing are to be left out, and the tournament itself not to be touched")
	}
}
