package arena

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"testing"
	"time"
)

// playLeague plays nights of house bots in one league; each is rated.
func playLeague(t *testing.T, fields ...[]string) *Arena {
	t.Helper()
	memory := NewMemory()
	a := New(Outside{Store: memory, Journals: memory, Bots: nobody{}, Audience: audienceFunc(nil), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(a.Close)
	for i, players := range fields {
		night, err := a.Create(t.Context(), Settings{Name: fmt.Sprint("night ", i+1), Rounds: 3, Anchor: AnchorOff}, "", organiser)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Open(t.Context(), night.ID, organiser); err != nil {
			t.Fatal(err)
		}
		for _, player := range players {
			if _, err := a.Enter(t.Context(), night.ID, Entrant{Player: player}, organiser); err != nil {
				t.Fatal(err)
			}
		}
		if err := a.Start(t.Context(), night.ID, time.Time{}, organiser); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Wait(t.Context(), night.ID); err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func season(t *testing.T, a *Arena, o SeasonOptions) *Season {
	t.Helper()
	s, err := a.Season(t.Context(), "main", o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheHistoryOfABotEndsWhereTheTableStands(t *testing.T) {
	all := field(8)
	a := playLeague(t, all, all[:5], all)
	s := season(t, a, SeasonOptions{})
	elo, err := s.Elo()
	if err != nil {
		t.Fatal(err)
	}
	if s.Nights() != 3 || elo.Tournaments != 3 || elo.Games != 3*8*2*2+3*5*2 {
		t.Fatalf("%d tournaments and %d games count, want 3 and %d", elo.Tournaments, elo.Games, 3*8*2*2+3*5*2)
	}
	if got := s.Played("random"); !slices.Equal(got, []int{1, 3}) {
		t.Errorf("random played in %v, want in the first and the third", got)
	}
	last, err := s.Moment(3)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range elo.Rows {
		p := last.Points[row.Bot]
		if p.Elo != row.Elo || p.Interval != row.Interval || p.Live != row.Live || p.Rank != row.Place || p.Games != row.Games {
			t.Errorf("row %d, %s: the history ends at %+v, the table says %+v", i+1, row.Bot, p, row)
		}
	}
	// After the first tournament it stood as if there were no other.
	first, err := s.Moment(1)
	if err != nil {
		t.Fatal(err)
	}
	alone, err := season(t, a, SeasonOptions{Only: []int64{1}}).Elo()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range alone.Rows {
		if p := first.Points[row.Bot]; p.Elo != row.Elo || p.Rank != row.Place || math.Abs(p.Performance-row.Performance) > 1e-9 {
			t.Errorf("%s stood at %+v after the first tournament, which alone says %+v", row.Bot, p, row)
		}
	}
	if second, err := s.Moment(2); err != nil || len(second.Points) != 5 || second.Tournament != 2 {
		t.Errorf("after the second: %+v, %v, want points for the 5 that played", second, err)
	}
}

// The mean has 1500 until stay-25 has played 20 rotations. A history that changed its zero there would tell of a leap that
// nobody made.
func TestTheHistoryOfABotHasTheZeroOfTheTable(t *testing.T) {
	all, strangers := field(8), []string{"house:odds", "house:racer", "house:random"}
	a := playLeague(t, strangers, all, all, all, all)
	early := season(t, a, SeasonOptions{Only: []int64{1, 2}})
	s := season(t, a, SeasonOptions{})
	for _, c := range []struct {
		of     *Season
		zero   string
		anchor string
	}{
		{early, "The mean is 1500; once stay-25 has 20 rotations (it has 6) it will have 1500, and all ratings move together.", ""},
		{season(t, a, SeasonOptions{Only: []int64{1}}), "The mean is 1500.", ""},
		{s, "stay-25 has 1500.", "stay-25"},
	} {
		if elo, err := c.of.Elo(); err != nil || elo.Zero() != c.zero || elo.Anchor != c.anchor {
			t.Errorf("after %d tournaments: %q and anchor %q, %v; want %q", c.of.Nights(), elo.Zero(), elo.Anchor, err, c.zero)
		}
	}
	then, err := early.Elo()
	if err != nil {
		t.Fatal(err)
	}
	was := func(bot string) float64 {
		return then.Rows[slices.IndexFunc(then.Rows, func(r EloRow) bool { return r.Bot == bot })].Elo
	}
	second, err := s.Moment(2)
	if err != nil {
		t.Fatal(err)
	}
	if len(second.Points) != 8 || math.Abs(was("stay-25")-1500) < 1e-6 { // the deals are anybody's: it may stand near the mean
		t.Fatalf("%d bots played in the second tournament, after which stay-25 stood at %.1f; want 8, and a zero of its own", len(second.Points), was("stay-25"))
	}
	for _, bot := range slices.Sorted(maps.Keys(second.Points)) {
		p := second.Points[bot]
		if want := 1500 + was(bot) - was("stay-25"); math.Abs(p.Elo-want) > 1e-9 || p.Anchor != "stay-25" {
			t.Errorf("%s stood at %.2f with anchor %q after the second tournament, want %.2f with stay-25 at 1500", bot, p.Elo, p.Anchor, want)
		}
	}
	// Nobody of the first tournament had met stay-25.
	first, err := s.Moment(1)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, bot := range []string{"odds", "racer", "random"} {
		sum += first.Points[bot].Elo
		if anchor := first.Points[bot].Anchor; anchor != "" {
			t.Errorf("%s has anchor %q after the first tournament, in which that did not play", bot, anchor)
		}
	}
	if math.Abs(sum/3-1500) > 1e-6 {
		t.Errorf("the mean after the first tournament is %.2f, want 1500", sum/3)
	}
	// While the table has the mean, so has its history.
	if p, err := early.Moment(2); err != nil || p.Points["odds"].Elo != was("odds") || p.Points["odds"].Anchor != "" {
		t.Errorf("odds: %+v, %v; the table with its mean at 1500 says %.2f", p.Points["odds"], err, was("odds"))
	}
}

func TestAComparisonIsTheDifferenceInTheTable(t *testing.T) {
	a := playLeague(t, field(8), []string{"house:odds", "house:random", "house:stay-20"})
	s := season(t, a, SeasonOptions{})
	elo, err := s.Elo()
	if err != nil {
		t.Fatal(err)
	}
	at := func(bot string) float64 {
		return elo.Rows[slices.IndexFunc(elo.Rows, func(r EloRow) bool { return r.Bot == bot })].Elo
	}
	one, err := s.Compare("odds", "random")
	if err != nil {
		t.Fatal(err)
	}
	back, err := s.Compare("random", "odds")
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(one.Elo-(at("odds")-at("random"))) > 1e-9 || one.Elo != -back.Elo || math.Abs(one.LOS+back.LOS-1) > 1e-12 {
		t.Errorf("odds and random: %+v and %+v, the table says %.3f", one, back, at("odds")-at("random"))
	}
	if one.Meetings == 0 || one.Meetings != back.Meetings || one.Ties != back.Ties || one.Wins+back.Wins+one.Ties != one.Meetings {
		t.Errorf("odds and random met: %+v and %+v", one, back)
	}
	if one.LOS < 0.9 {
		t.Errorf("odds is stronger than random with %.3f only", one.LOS)
	}
	if _, err := s.Compare("odds", "nobody"); !errors.Is(err, ErrNotFound) {
		t.Errorf("a comparison with a bot that never played: %v", err)
	}
	if neighbour, err := s.Compare(elo.Rows[0].Bot, elo.Rows[1].Bot); err != nil || math.Abs(neighbour.LOS-elo.Rows[0].LOS) > 1e-12 {
		t.Errorf("the first two rows: %+v, %v, the table says %.4f", neighbour, err, elo.Rows[0].LOS)
	}
}

// After one rotation nothing can be said of how sure a difference is: that is not one half.
func TestOneRotationDoesNotSayWhoIsStronger(t *testing.T) {
	a, night := playHouse(t, Settings{Name: "short", Rounds: 1, Rotations: 1, Anchor: AnchorOff, Unrated: true}, "house:odds", "house:racer", "house:stay-25")
	s, err := a.Season(t.Context(), "main", SeasonOptions{Only: []int64{night.ID}})
	if err != nil {
		t.Fatal(err)
	}
	elo, err := s.Elo()
	if err != nil || len(elo.Rows) != 3 {
		t.Fatalf("%+v, %v", elo, err)
	}
	for _, row := range elo.Rows {
		if !math.IsNaN(row.LOS) {
			t.Errorf("%s is stronger than the next with %v, want that nothing is said", row.Bot, row.LOS)
		}
	}
}

func TestWhatIsTakenOutCountsNoMore(t *testing.T) {
	a := playLeague(t, field(8), field(8))
	before := season(t, a, SeasonOptions{})
	for _, out := range []Excluded{{Round: 2, Table: 1, Why: "wrong build"}, {Round: 2, Table: 1, Game: 3, Why: "again"}, {Round: 1, Table: 2, Game: 1, Why: "a stall"}} {
		if err := a.Exclude(t.Context(), 1, out, organiser); err != nil {
			t.Fatal(err)
		}
	}
	after := season(t, a, SeasonOptions{})
	elo, err := after.Elo()
	if err != nil {
		t.Fatal(err)
	}
	if want := 2*3*2*8 - 8 - 1; elo.Games != want || len(elo.Excluded) != 3 {
		t.Errorf("%d games count and %d results are out, want %d and 3", elo.Games, len(elo.Excluded), want)
	}
	for _, row := range elo.Rows {
		stats, house := after.Stats(row.Bot, row.Build)
		if stats.Games != row.Games || !house {
			t.Errorf("%s: the table counts %d games, the statistics %d (house bot: %t)", row.Bot, row.Games, stats.Games, house)
		}
	}
	if err := a.Exclude(t.Context(), 1, Excluded{Why: "the whole night"}, organiser); err != nil {
		t.Fatal(err)
	}
	whole := season(t, a, SeasonOptions{})
	if whole.Nights() != 1 || before.Nights() != 2 {
		t.Errorf("%d of %d tournaments count, want 1 of 2", whole.Nights(), before.Nights())
	}
}

func TestASeasonSaysWhatItCannotBeMadeOf(t *testing.T) {
	a := playLeague(t, field(4))
	draft, err := a.Create(t.Context(), Settings{Name: "draft"}, "", organiser)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		league string
		only   int64
		state  bool
	}{{"main", draft.ID, true}, {"other", 1, true}, {"main", 77, false}} {
		_, err := a.Season(t.Context(), c.league, SeasonOptions{Only: []int64{c.only}})
		var state *StateError
		if errors.As(err, &state) != c.state || errors.Is(err, ErrNotFound) == c.state {
			t.Errorf("tournament %d in league %s: %v", c.only, c.league, err)
		}
	}
	empty := season(t, a, SeasonOptions{Since: time.Now().Add(time.Hour)})
	if elo, err := empty.Elo(); err != nil || len(elo.Rows) != 0 || empty.Nights() != 0 || !empty.Ended().IsZero() {
		t.Errorf("a season of nothing: %+v, %v", elo, err)
	}
}
