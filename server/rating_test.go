package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// nights plays nights of house bots in the main league, one after the other.
func (h *hosting) nights(fields ...[]string) (ids []string) {
	h.t.Helper()
	for _, players := range fields {
		id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 2, Anchor: flip7v1.Anchor_ANCHOR_OFF}, players...)
		h.play(id)
		ids = append(ids, id)
	}
	return ids
}

func TestRatingsOfPartsOfALeague(t *testing.T) {
	h := host(t)
	ids := h.nights(houses(), houses()[:4], houses())
	seeded := h.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Seed: proto.Uint64(1)}, houses()...)
	second := h.get(ids[1])
	for _, c := range []struct {
		name        string
		request     *flip7v1.ListRatingsRequest
		tournaments uint32
		bots        int
	}{
		{"all", &flip7v1.ListRatingsRequest{}, 3, 8},
		{"of the league by its name", &flip7v1.ListRatingsRequest{League: "main"}, 3, 8},
		{"one", &flip7v1.ListRatingsRequest{TournamentIds: ids[1:2]}, 1, 4},
		{"two, one of them twice", &flip7v1.ListRatingsRequest{TournamentIds: []string{ids[2], ids[1], ids[2]}}, 2, 8},
		{"from the second on", &flip7v1.ListRatingsRequest{Since: second.GetEndTime()}, 2, 8},
		{"from tomorrow on", &flip7v1.ListRatingsRequest{Since: timestamppb.New(time.Now().Add(24 * time.Hour))}, 0, 0},
		{"another league", &flip7v1.ListRatingsRequest{League: "juniors"}, 0, 0},
	} {
		for range 2 { // the second time it is remembered
			table := h.table(c.request)
			if table.GetTournaments() != c.tournaments || len(table.GetRatings()) != c.bots || (table.AsOfTime != nil) != (c.tournaments > 0) {
				t.Errorf("%s: %d bots in %d tournaments, want %d in %d", c.name, len(table.GetRatings()), table.GetTournaments(), c.bots, c.tournaments)
			}
		}
	}
	for _, c := range []struct {
		name    string
		request *flip7v1.ListRatingsRequest
		want    codes.Code
	}{
		{"no number", &flip7v1.ListRatingsRequest{TournamentIds: []string{"one"}}, codes.InvalidArgument},
		{"no tournament", &flip7v1.ListRatingsRequest{TournamentIds: []string{"77"}}, codes.NotFound},
		{"one that is not over", &flip7v1.ListRatingsRequest{TournamentIds: []string{seeded}}, codes.FailedPrecondition},
		{"one of another league", &flip7v1.ListRatingsRequest{League: "juniors", TournamentIds: ids[:1]}, codes.FailedPrecondition},
		{"no name of a league", &flip7v1.ListRatingsRequest{League: "Main!"}, codes.InvalidArgument},
	} {
		if _, err := h.ratings.ListRatings(t.Context(), c.request); status.Code(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	// A tournament that is unrated counts for who asks for it by its number, and for nobody else.
	h.play(seeded)
	if table := h.table(&flip7v1.ListRatingsRequest{TournamentIds: []string{seeded}}); table.GetTournaments() != 1 || table.GetGames() != 16 {
		t.Errorf("the unrated one: %d games of %d tournaments, want 16 of 1", table.GetGames(), table.GetTournaments())
	}
	if table := h.table(&flip7v1.ListRatingsRequest{}); table.GetTournaments() != 3 {
		t.Errorf("%d tournaments count, want 3 of 4", table.GetTournaments())
	}
}

func TestALineOfTheEloTable(t *testing.T) {
	h := host(t)
	h.nights(houses(), houses())
	table := h.table(&flip7v1.ListRatingsRequest{})
	games, firsts := uint32(0), 0.0
	for i, l := range table.GetRatings() {
		games += l.GetGames()
		firsts += l.GetFirstPlaces() * float64(l.GetGames())
		if l.GetRank() != uint32(i+1) || l.GetRankBest() > l.GetRankWorst() || l.GetBot() == "" || !l.GetHouse() || l.P99 != nil || l.GetTournaments() != 2 ||
			l.Margin == nil || l.RobustError == nil || l.NaiveError == nil || !l.GetProvisional() || l.GetBound() != flip7v1.RatingBound_RATING_BOUND_EXACT ||
			l.GetPoints() <= 0 || l.GetBustRate() <= 0 || l.GetLive() == 1500 || (l.LosNext == nil) != (i == len(table.GetRatings())-1) {
			t.Errorf("line %d: %v", i+1, l)
		}
		if i > 0 && l.GetElo() > table.GetRatings()[i-1].GetElo() {
			t.Errorf("line %d is stronger than the one above", i+1)
		}
	}
	if games != 4*table.GetGames() || math.Abs(firsts-float64(table.GetGames())) > 1e-6 {
		t.Errorf("%d seats and %v first places of %d games", games, firsts, table.GetGames())
	}
	first, second := table.GetRatings()[0], table.GetRatings()[1]
	compared, err := h.ratings.CompareBots(t.Context(), &flip7v1.CompareBotsRequest{Bot: first.GetBot(), Other: second.GetBot()})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(compared.GetDifference()-(first.GetElo()-second.GetElo())) > 1e-9 || math.Abs(compared.GetLos()-first.GetLosNext()) > 1e-9 || compared.Margin == nil {
		t.Errorf("%v compared, the table says %v and a LOS of %v", compared, first.GetElo()-second.GetElo(), first.GetLosNext())
	}
	if _, err := h.ratings.CompareBots(t.Context(), &flip7v1.CompareBotsRequest{Bot: "odds", Other: "odds"}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a bot compared with itself: %v", err)
	}
}

func TestAHistoryIsFittedALittleAtATime(t *testing.T) {
	h := host(t)
	var fields [][]string
	for range fitsACall + 3 {
		fields = append(fields, houses()[:3])
	}
	ids := h.nights(fields...)
	var points []*flip7v1.RatingPoint
	page := func(token string) *flip7v1.ListRatingHistoryResponse {
		r, err := h.ratings.ListRatingHistory(t.Context(), &flip7v1.ListRatingHistoryRequest{Bot: "stay-15", PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := page("")
	if len(first.GetPoints()) != fitsACall || first.GetNextPageToken() == "" {
		t.Fatalf("the first call fits %d of %d, want %d", len(first.GetPoints()), len(ids), fitsACall)
	}
	points = append(first.GetPoints(), page(first.GetNextPageToken()).GetPoints()...)
	games := uint32(0)
	for i, p := range points {
		if p.GetTournamentId() != ids[i] || p.GetGames() <= games || p.GetRank() < 1 || p.GetRank() > 3 || p.GetTime() == nil {
			t.Errorf("point %d: %v", i+1, p)
		}
		games = p.GetGames()
	}
	// Now all are known, and one page has them.
	if whole := page(""); len(whole.GetPoints()) != len(ids) || !slices.EqualFunc(whole.GetPoints(), points, func(a, b *flip7v1.RatingPoint) bool { return proto.Equal(a, b) }) {
		t.Errorf("%d points the second time, want the same %d", len(whole.GetPoints()), len(ids))
	}
	last := points[len(points)-1]
	for _, l := range h.table(&flip7v1.ListRatingsRequest{}).GetRatings() {
		if l.GetBot() == "stay-15" && (l.GetElo() != last.GetElo() || l.GetRank() != last.GetRank() || l.GetLive() != last.GetLive()) {
			t.Errorf("the history ends at %v, the table says %v", last, l)
		}
	}
}

// A table tells when its zero will change, and a history does not show that change as a leap of the bot.
func TestTheZeroOfATableAndOfAHistory(t *testing.T) {
	b := browse(t)
	b.nights(houses()[:3], houses())
	first := b.table(&flip7v1.ListRatingsRequest{})
	at := slices.IndexFunc(first.GetRatings(), func(l *flip7v1.Rating) bool { return l.GetBot() == "stay-25" })
	b.says("/", fmt.Sprintf("The mean is 1500; once stay-25 has 20 rotations (it has %d) it will have 1500, and all ratings move together.", first.GetRatings()[at].GetClusters()))
	b.says("/b/odds", "bars are 95 % intervals. The mean is 1500.<")

	b.play(b.opened(&flip7v1.TournamentSettings{PairingRounds: 12, Anchor: flip7v1.Anchor_ANCHOR_OFF}, houses()...))
	b.says("/", "nights. stay-25 has 1500. Placement")
	r, err := b.ratings.ListRatingHistory(t.Context(), &flip7v1.ListRatingHistoryRequest{Bot: "stay-25"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range r.GetPoints() {
		if math.Abs(p.GetElo()-1500) > 1e-9 || p.GetAnchor() != "stay-25" {
			t.Errorf("the anchor itself: %v, want 1500 after each tournament", p)
		}
	}
	b.says("/b/stay-25", "bars are 95 % intervals. stay-25 has 1500 throughout.")
	bot := strings.TrimPrefix(houses()[0], "house:")
	b.says("/b/"+bot, `<circle class="apart"`, "at the hollow dots, before this bot could be compared with stay-25, the mean has", "(the mean has 1500)")
	var shown struct{ History []struct{ Anchor string } }
	b.json("/b/"+bot+".json", &shown)
	if h := shown.History; len(h) != 3 || h[0].Anchor != "" || h[1].Anchor != "stay-25" || h[2].Anchor != "stay-25" {
		t.Errorf("history of %s: %v, want the anchor from the second night on", bot, h)
	}
}

func TestLeaguesAndWhatCountsInThem(t *testing.T) {
	h := host(t)
	ids := h.nights(houses(), houses()[:4])
	h.opened(&flip7v1.TournamentSettings{}, houses()[:3]...)
	cancelled := h.opened(&flip7v1.TournamentSettings{League: "juniors"})
	if _, err := h.CancelTournament(h.admin, &flip7v1.CancelTournamentRequest{TournamentId: cancelled}); err != nil {
		t.Fatal(err)
	}
	main, err := h.ratings.GetLeague(t.Context(), &flip7v1.GetLeagueRequest{Name: "main"})
	if err != nil {
		t.Fatal(err)
	}
	if l := main.GetLeague(); l.GetTournaments() != 2 || l.GetGames() != 2*(16+8) || l.GetBots() != 8 || !l.GetCreateTime().AsTime().Equal(h.get(ids[0]).GetCreateTime().AsTime()) {
		t.Errorf("main: %v", l)
	}
	listed, err := h.ratings.ListLeagues(t.Context(), &flip7v1.ListLeaguesRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if l := listed.GetLeagues(); len(l) != 2 || l[0].GetName() != "juniors" || l[0].GetGames() != 0 || !proto.Equal(l[1], main.GetLeague()) {
		t.Errorf("leagues: %v", l)
	}
	for range 2 {
		made, err := h.ratings.CreateLeague(h.admin, &flip7v1.CreateLeagueRequest{Name: "seniors"})
		if err != nil || made.GetLeague().GetName() != "seniors" || made.GetLeague().GetTournaments() != 0 {
			t.Errorf("a new league: %v, %v", made, err)
		}
	}
	if got, err := h.ratings.GetLeague(t.Context(), &flip7v1.GetLeagueRequest{Name: "seniors"}); err != nil || got.GetLeague().GetName() != "seniors" {
		t.Errorf("the new league: %v, %v", got, err)
	}
	if _, err := h.ratings.CreateLeague(h.admin, &flip7v1.CreateLeagueRequest{Name: "The Seniors"}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a league of a name that cannot be: %v", err)
	}

	why := func(league string) (lines []string) {
		r, err := h.ratings.ListLeagueTournaments(t.Context(), &flip7v1.ListLeagueTournamentsRequest{League: league})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range r.GetTournaments() {
			lines = append(lines, fmt.Sprint(l.GetTournament().GetId(), " ", l.GetGames(), " ", l.GetWhyNot()))
		}
		return lines
	}
	if got, want := why(""), []string{"3 0 it is not finished", "2 16 ", "1 32 "}; !slices.Equal(got, want) {
		t.Errorf("main: %q, want %q", got, want)
	}
	if got, want := why("juniors"), []string{"4 0 it was cancelled"}; !slices.Equal(got, want) {
		t.Errorf("juniors: %q, want %q", got, want)
	}
}

// hungUp is a store whose caller goes as soon as something of a tournament is kept.
type hungUp struct {
	arena.Store
	leave func()
}

func (h hungUp) SaveHead(ctx context.Context, t *arena.Tournament) error {
	defer h.leave()
	return h.Store.SaveHead(ctx, t)
}

func TestAResultStaysOutIfTheCallerGoesAsItsReasonChanges(t *testing.T) {
	h := host(t)
	id := h.nights(houses())[0]
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	service := &ratingService{nights: h.running.nights}
	for _, why := range []string{"a wrong build", "the wrong bot"} {
		_, err := service.ExcludeResult(ctx, &flip7v1.ExcludeResultRequest{Why: why, Result: &flip7v1.ResultRef{TournamentId: id}})
		if err != nil && ctx.Err() == nil {
			t.Fatal(err)
		}
		h.arena.Store = hungUp{h.arena.Store, leave}
	}
	night, err := h.store.Tournament(t.Context(), 1)
	if err != nil || len(night.Excluded) != 1 || night.Excluded[0].Why != "the wrong bot" {
		t.Errorf("%v is out (%v), want all of it, as the wrong bot played", night.Excluded, err)
	}
}

func TestResultsAreTakenOutForAReasonAndPutBack(t *testing.T) {
	h := host(t)
	id := h.nights(houses())[0]
	exclude := func(why string, numbers ...uint32) (*flip7v1.LeagueTournament, error) {
		numbers = append(numbers, 0, 0, 0)
		r, err := h.ratings.ExcludeResult(h.admin, &flip7v1.ExcludeResultRequest{Why: why,
			Result: &flip7v1.ResultRef{TournamentId: id, PairingRound: numbers[0], Table: numbers[1], Game: numbers[2]}})
		return r.GetTournament(), err
	}
	for _, why := range []string{"a wrong build", "a wrong build", "the wrong bot"} {
		l, err := exclude(why, 1, 2)
		if err != nil || l.GetGames() != 32-8 || len(l.GetExclusions()) != 1 || l.GetExclusions()[0].GetWhy() != why {
			t.Errorf("%s: %v, %v", why, l.GetExclusions(), err)
		}
	}
	for _, c := range []struct {
		numbers []uint32
		games   uint32
	}{{[]uint32{1, 2, 3}, 24}, {[]uint32{1, 1, 1}, 23}, {[]uint32{2}, 7}} {
		if l, err := exclude("why not", c.numbers...); err != nil || l.GetGames() != c.games {
			t.Errorf("%v: %d games count, %v; want %d", c.numbers, l.GetGames(), err, c.games)
		}
	}
	for _, c := range []struct {
		numbers []uint32
		want    codes.Code
	}{{[]uint32{9}, codes.NotFound}, {[]uint32{1, 9}, codes.NotFound}, {[]uint32{1, 1, 9}, codes.NotFound}, {[]uint32{0, 1}, codes.InvalidArgument}, {[]uint32{1, 0, 1}, codes.InvalidArgument}} {
		if _, err := exclude("why not", c.numbers...); status.Code(err) != c.want {
			t.Errorf("%v: %v, want %v", c.numbers, err, c.want)
		}
	}
	for _, c := range []struct {
		ref        *flip7v1.ResultRef
		games      uint32
		exclusions int
	}{
		{&flip7v1.ResultRef{TournamentId: id, PairingRound: 2, Table: 1}, 7, 4}, // nothing within it is out
		{&flip7v1.ResultRef{TournamentId: id, PairingRound: 1}, 16, 1},
		{&flip7v1.ResultRef{TournamentId: id}, 32, 0},
		{&flip7v1.ResultRef{TournamentId: id}, 32, 0},
	} {
		r, err := h.ratings.IncludeResult(h.admin, &flip7v1.IncludeResultRequest{Result: c.ref, Why: "they were right"})
		if l := r.GetTournament(); err != nil || l.GetGames() != c.games || len(l.GetExclusions()) != c.exclusions {
			t.Errorf("%v put back: %d games count and %d are out, %v; want %d and %d", c.ref, l.GetGames(), len(l.GetExclusions()), err, c.games, c.exclusions)
		}
	}
	audits, err := h.ListAudits(t.Context(), &flip7v1.ListAuditsRequest{TournamentId: id})
	if err != nil {
		t.Fatal(err)
	}
	var why []string
	for _, a := range audits.GetAudits() {
		if a.GetSubject() == "1/2" {
			why = append(why, a.GetAction()+": "+a.GetWhy())
		}
	}
	if want := "exclude: a wrong build; include: to give another reason; exclude: the wrong bot; include: they were right"; strings.Join(why, "; ") != want {
		t.Errorf("the audit log of table 1/2 says %q, want %q", strings.Join(why, "; "), want)
	}
}

func TestACacheForgetsWhatCameFirst(t *testing.T) {
	c := newCache[int, string](3)
	for n := range 5 {
		c.put(n, fmt.Sprint(n))
		c.put(n, fmt.Sprint(n, "!"))
	}
	var kept []string
	for n := range 5 {
		if value, there := c.get(n); there {
			kept = append(kept, value)
		}
	}
	if want := []string{"2!", "3!", "4!"}; !slices.Equal(kept, want) || len(c.keys) != 3 || len(c.values) != 3 {
		t.Errorf("kept %q, want %q", kept, want)
	}
}

func TestACacheHasRoomForFewHeavyValues(t *testing.T) {
	c := newCache[int, int](10)
	for _, step := range []struct {
		weight int
		kept   []int // keys
	}{
		{weight: 4, kept: []int{0}},
		{weight: 6, kept: []int{0, 1}},
		{weight: 1, kept: []int{1, 2}},
		{weight: 9, kept: []int{2, 3}},
		{weight: 11, kept: []int{4}},
		{weight: 1, kept: []int{5}},
	} {
		key := step.kept[len(step.kept)-1]
		c.putHeavy(key, key, step.weight)
		c.putHeavy(key, key, step.weight) // takes nothing more
		if kept := slices.Sorted(maps.Keys(c.values)); !slices.Equal(kept, step.kept) {
			t.Errorf("with number %d, which weighs %d, %v are kept, want %v", key, step.weight, kept, step.kept)
		}
	}
}

func TestWhatGrowsInACacheTakesMoreRoom(t *testing.T) {
	c := newCache[string, int](10)
	for _, step := range []struct {
		key    string
		weight int
		kept   string // keys
	}{{"early", 1, "early"}, {"late", 5, "early late"}, {"early", 5, "early late"}, {"early", 6, "early"}, {"late", 4, "early late"}, {"next", 1, "late next"}} {
		c.putHeavy(step.key, 0, step.weight)
		if kept := strings.Join(slices.Sorted(maps.Keys(c.values)), " "); kept != step.kept {
			t.Errorf("with %s, which weighs %d, %s are kept, want %s", step.key, step.weight, kept, step.kept)
		}
	}
}

func TestATallyWeighsWhatHasEnteredByNow(t *testing.T) {
	h := host(t)
	id := h.opened(nil)
	h.standings(id, 0)
	for _, player := range houses() {
		if _, err := h.EnterBot(h.admin, &flip7v1.EnterBotRequest{TournamentId: id, Player: player}); err != nil {
			t.Fatal(err)
		}
	}
	h.standings(id, 0)
	if got := h.running.nights.tallies.taken; got != len(houses()) {
		t.Errorf("the tally of a night that was looked at before %d bots entered weighs %d", len(houses()), got)
	}
}

func TestADeskDoesOneThingAtATime(t *testing.T) {
	d := newDesk()
	wrong := errors.New("wrong")
	err := d.work(t.Context(), func() error {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errDraining)
		if err := d.work(ctx, func() error { return nil }); err != errDraining {
			t.Errorf("a caller who has gone waits for a desk that is taken: %v", err)
		}
		return wrong
	})
	if err != wrong {
		t.Errorf("got %v, want the error of the work", err)
	}
	if err := d.work(t.Context(), func() error { return nil }); err != nil {
		t.Errorf("after an error: %v", err)
	}
}
