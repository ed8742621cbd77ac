package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/house"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/wire"
)

// hosting is a server and the clients of the calls about tournaments and ratings.
type hosting struct {
	*running
	flip7v1.TournamentServiceClient
	ratings flip7v1.RatingServiceClient
}

func host(t *testing.T, change ...func(*Config)) *hosting {
	t.Helper()
	r := start(t, append(change, func(c *Config) { c.TokenRate, c.AddressRate = 10_000, 10_000 })...)
	return &hosting{r, flip7v1.NewTournamentServiceClient(r.conn), flip7v1.NewRatingServiceClient(r.conn)}
}

// opened creates and opens a tournament and enters players.
func (h *hosting) opened(settings *flip7v1.TournamentSettings, players ...string) string {
	h.t.Helper()
	created, err := h.CreateTournament(h.admin, &flip7v1.CreateTournamentRequest{Name: "league night", Settings: settings})
	if err != nil {
		h.t.Fatal(err)
	}
	id := created.GetTournament().GetId()
	if _, err := h.OpenTournament(h.admin, &flip7v1.OpenTournamentRequest{TournamentId: id}); err != nil {
		h.t.Fatal(err)
	}
	for _, player := range players {
		if _, err := h.EnterBot(h.admin, &flip7v1.EnterBotRequest{TournamentId: id, Player: player}); err != nil {
			h.t.Fatal(err)
		}
	}
	return id
}

// play starts a tournament and waits until it is over.
func (h *hosting) play(id string) *flip7v1.Tournament {
	h.t.Helper()
	if _, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		h.t.Fatal(err)
	}
	return h.wait(id)
}

func (h *hosting) wait(id string) *flip7v1.Tournament {
	h.t.Helper()
	number, _ := wire.TournamentIDOf(id)
	if _, err := h.arena.Wait(h.t.Context(), number); err != nil {
		h.t.Fatal(err)
	}
	return h.get(id)
}

func (h *hosting) get(id string) *flip7v1.Tournament {
	h.t.Helper()
	got, err := h.GetTournament(h.t.Context(), &flip7v1.GetTournamentRequest{TournamentId: id})
	if err != nil {
		h.t.Fatal(err)
	}
	return got.GetTournament()
}

// houses are house bots as players.
func houses() []string {
	var players []string
	for _, name := range house.Names() {
		players = append(players, "house:"+name)
	}
	return players
}

// all collects a list page by page, of a size.
func all[Req any, Resp interface{ GetNextPageToken() string }](t *testing.T, size uint32, list func(context.Context, Req, ...grpc.CallOption) (Resp, error),
	request func(size uint32, token string) Req, took func(Resp)) (pages int) {
	t.Helper()
	for token := ""; ; {
		page, err := list(t.Context(), request(size, token))
		if err != nil {
			t.Fatalf("page %d: %v", pages+1, err)
		}
		pages++
		took(page)
		if token = page.GetNextPageToken(); token == "" {
			return pages
		}
	}
}

func (h *hosting) standings(id string, after uint32) []*flip7v1.Standing {
	h.t.Helper()
	got, err := h.ListStandings(h.t.Context(), &flip7v1.ListStandingsRequest{TournamentId: id, AfterPairingRound: after})
	if err != nil {
		h.t.Fatal(err)
	}
	return got.GetStandings()
}

func (h *hosting) table(request *flip7v1.ListRatingsRequest) *flip7v1.ListRatingsResponse {
	h.t.Helper()
	got, err := h.ratings.ListRatings(h.t.Context(), request)
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

// exported is a part of a tournament as a file.
func (h *hosting) exported(id string, part flip7v1.ExportPart) []byte {
	h.t.Helper()
	stream, err := h.ExportTournament(h.t.Context(), &flip7v1.ExportTournamentRequest{TournamentId: id, Part: part})
	if err != nil {
		h.t.Fatal(err)
	}
	var file bytes.Buffer
	for {
		piece, err := stream.Recv()
		if err == io.EOF {
			return file.Bytes()
		}
		if err != nil {
			h.t.Fatal(err)
		}
		if n := len(piece.GetChunk()); n == 0 || n > 32<<10 {
			h.t.Fatalf("a piece of %d bytes, want 1..32 KiB", n)
		}
		file.Write(piece.GetChunk())
	}
}

func TestAWholeNightThroughTheCalls(t *testing.T) {
	h := host(t)
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 3, Anchor: flip7v1.Anchor_ANCHOR_OFF}, append(houses(), "house:odds")...)
	open := h.get(id)
	if open.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_OPEN || len(open.GetCommitment()) != 32 || open.GetSecret() != nil ||
		open.GetEntries() != 9 || open.GetGames() != 3*9*2 || open.GetExpectedEndTime() == nil || open.GetLatestEndTime() == nil {
		t.Errorf("open: %v", open)
	}
	night := h.play(id)
	if night.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED || len(night.GetSecret()) != 32 || night.GetGamesFinished() != 3*9*2 ||
		night.GetGames() != night.GetGamesFinished() || night.GetEndTime() == nil || night.GetExpectedEndTime() != nil || night.GetConclusion() == "" {
		t.Errorf("finished: %v", night)
	}

	standings := h.standings(id, 0)
	sum, games := 0.0, uint32(0)
	for i, s := range standings {
		sum += s.GetScore()
		games += s.GetGames()
		if s.GetRank() == 0 || i > 0 && s.GetScore() > standings[i-1].GetScore() || s.PlacementMargin == nil || s.Latency == nil {
			t.Errorf("line %d: %v", i+1, s)
		}
	}
	// Tables of 3 add up to 3/2 in each of 3 pairing rounds.
	if len(standings) != 9 || math.Abs(sum-3*3*1.5) > 1e-9 || games != 3*night.GetGamesFinished() {
		t.Errorf("%d lines, scores add up to %v, %d seats were played", len(standings), sum, games)
	}
	if !strings.Contains(night.GetConclusion(), standings[0].GetBot()) {
		t.Errorf("%q does not name %s, who leads", night.GetConclusion(), standings[0].GetBot())
	}

	results, timings := h.exported(id, flip7v1.ExportPart_EXPORT_PART_RESULTS), h.exported(id, flip7v1.ExportPart_EXPORT_PART_TIMINGS)
	if v, err := arena.Verify(bytes.NewReader(results)); err != nil || v.Games != 54 || v.Entries != 9 {
		t.Errorf("the exported results: %+v, %v", v, err)
	}
	if len(results) <= 32<<10 || !bytes.Contains(timings, []byte(`"took_us"`)) {
		t.Errorf("%d bytes of results, in one piece; timings begin with %.80s", len(results), timings)
	}

	before := h.table(&flip7v1.ListRatingsRequest{})
	if len(before.GetRatings()) != 9 || before.GetGames() != 54 || before.GetTournaments() != 1 || before.GetClusters() != 18 || before.GetGroups() != 1 ||
		!before.GetAsOfTime().AsTime().Equal(night.GetEndTime().AsTime()) {
		t.Errorf("ratings: %d lines of %d games in %d tournaments, %d clusters, %d groups, as of %v", len(before.GetRatings()), before.GetGames(),
			before.GetTournaments(), before.GetClusters(), before.GetGroups(), before.GetAsOfTime())
	}
	excluded, err := h.ratings.ExcludeResult(h.admin, &flip7v1.ExcludeResultRequest{
		Result: &flip7v1.ResultRef{TournamentId: id, PairingRound: 2, Table: 1}, Why: "a wrong build"})
	if err != nil {
		t.Fatal(err)
	}
	if l := excluded.GetTournament(); !l.GetCounts() || l.GetGames() != 48 || len(l.GetExclusions()) != 1 || l.GetExclusions()[0].GetWhy() != "a wrong build" {
		t.Errorf("after a table was taken out: %v", l)
	}
	if now := h.table(&flip7v1.ListRatingsRequest{}); now.GetGames() != 48 {
		t.Errorf("%d games are rated, want 48", now.GetGames())
	}
	if _, err := h.ratings.ExcludeResult(h.admin, &flip7v1.ExcludeResultRequest{Result: &flip7v1.ResultRef{TournamentId: id}, Why: "the wrong cards"}); err != nil {
		t.Fatal(err)
	}
	if now := h.table(&flip7v1.ListRatingsRequest{}); now.GetGames() != 0 || len(now.GetRatings()) != 0 || h.get(id).GetExcludedWhy() != "the wrong cards" {
		t.Errorf("%d games of nothing are rated, %v", now.GetGames(), h.get(id))
	}
	included, err := h.ratings.IncludeResult(h.admin, &flip7v1.IncludeResultRequest{Result: &flip7v1.ResultRef{TournamentId: id}, Why: "they were right"})
	if err != nil {
		t.Fatal(err)
	}
	if l := included.GetTournament(); !l.GetCounts() || l.GetGames() != 54 || len(l.GetExclusions()) != 0 {
		t.Errorf("after all was put back: %v", l)
	}
	if now := h.table(&flip7v1.ListRatingsRequest{}); !slices.EqualFunc(now.GetRatings(), before.GetRatings(), func(a, b *flip7v1.Rating) bool { return proto.Equal(a, b) }) {
		t.Error("the ratings are not what they were")
	}

	audits, err := h.ListAudits(t.Context(), &flip7v1.ListAuditsRequest{TournamentId: id})
	if err != nil {
		t.Fatal(err)
	}
	var done []string
	for _, a := range audits.GetAudits() {
		if a.GetWho() != "admin" || a.GetTime() == nil || a.GetTournamentId() != id || (a.GetLeague() == "main") != strings.HasSuffix(a.GetAction(), "clude") {
			t.Errorf("audit %v", a)
		}
		done = append(done, strings.TrimSpace(a.GetAction()+" "+a.GetSubject()))
	}
	want := []string{"create", "open"}
	for _, name := range append(house.Names(), "odds-2") {
		want = append(want, "enter "+name)
	}
	want = append(want, "start", "exclude 2/1", "exclude", "include 2/1", "include")
	if !slices.Equal(done, want) {
		t.Errorf("the audit log says\n%q, want\n%q", done, want)
	}
}

func TestListsComeInPages(t *testing.T) {
	h := host(t)
	settings := &flip7v1.TournamentSettings{PairingRounds: 2, Anchor: flip7v1.Anchor_ANCHOR_OFF}
	id := h.opened(settings, houses()...)
	h.play(id)
	h.play(h.opened(settings, houses()[:5]...))
	h.opened(&flip7v1.TournamentSettings{League: "juniors"})

	for _, list := range []struct {
		name  string
		items int
		keys  func(size uint32) (keys []string, pages int)
	}{
		{"tournaments", 3, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ListTournaments, func(size uint32, token string) *flip7v1.ListTournamentsRequest {
				return &flip7v1.ListTournamentsRequest{PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListTournamentsResponse) {
				for _, t := range r.GetTournaments() {
					keys = append(keys, t.GetId())
				}
			})
			return keys, pages
		}},
		{"entries", 8, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ListEntries, func(size uint32, token string) *flip7v1.ListEntriesRequest {
				return &flip7v1.ListEntriesRequest{TournamentId: id, PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListEntriesResponse) {
				for _, e := range r.GetEntries() {
					keys = append(keys, e.GetBot())
				}
			})
			return keys, pages
		}},
		{"tables", 4, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ListPairings, func(size uint32, token string) *flip7v1.ListPairingsRequest {
				return &flip7v1.ListPairingsRequest{TournamentId: id, PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListPairingsResponse) {
				for _, tab := range r.GetTables() {
					keys = append(keys, fmt.Sprint(tab.GetPairingRound(), "/", tab.GetNumber()))
					if !slices.ContainsFunc(r.GetPairingRounds(), func(p *flip7v1.PairingRound) bool { return p.GetNumber() == tab.GetPairingRound() }) {
						t.Errorf("the page has a table of pairing round %d without that", tab.GetPairingRound())
					}
				}
			})
			return keys, pages
		}},
		{"standings", 8, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ListStandings, func(size uint32, token string) *flip7v1.ListStandingsRequest {
				return &flip7v1.ListStandingsRequest{TournamentId: id, PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListStandingsResponse) {
				for _, s := range r.GetStandings() {
					keys = append(keys, s.GetBot())
				}
			})
			return keys, pages
		}},
		{"audits", 21, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ListAudits, func(size uint32, token string) *flip7v1.ListAuditsRequest {
				return &flip7v1.ListAuditsRequest{PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListAuditsResponse) {
				for _, a := range r.GetAudits() {
					keys = append(keys, a.GetTournamentId()+a.GetAction()+a.GetSubject())
				}
			})
			return keys, pages
		}},
		{"aims", -1, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ListAims, func(size uint32, token string) *flip7v1.ListAimsRequest {
				return &flip7v1.ListAimsRequest{TournamentId: id, Bot: "odds", PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListAimsResponse) {
				for _, a := range r.GetAims() {
					if a.GetBot() != "odds" || a.GetChances() == 0 || a.GetTimes() > a.GetChances() || !(a.GetError() > 0) {
						t.Errorf("aim %v", a)
					}
					keys = append(keys, a.GetTarget()+a.GetCard().String())
				}
			})
			return keys, pages
		}},
		{"leagues", 2, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ratings.ListLeagues, func(size uint32, token string) *flip7v1.ListLeaguesRequest {
				return &flip7v1.ListLeaguesRequest{PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListLeaguesResponse) {
				for _, l := range r.GetLeagues() {
					keys = append(keys, l.GetName())
				}
			})
			return keys, pages
		}},
		{"tournaments of a league", 2, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ratings.ListLeagueTournaments, func(size uint32, token string) *flip7v1.ListLeagueTournamentsRequest {
				return &flip7v1.ListLeagueTournamentsRequest{PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListLeagueTournamentsResponse) {
				for _, l := range r.GetTournaments() {
					keys = append(keys, l.GetTournament().GetId())
				}
			})
			return keys, pages
		}},
		{"ratings", 8, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ratings.ListRatings, func(size uint32, token string) *flip7v1.ListRatingsRequest {
				return &flip7v1.ListRatingsRequest{PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListRatingsResponse) {
				for _, l := range r.GetRatings() {
					keys = append(keys, l.GetBot())
				}
			})
			return keys, pages
		}},
		{"the history of a bot", 2, func(size uint32) (keys []string, pages int) {
			pages = all(t, size, h.ratings.ListRatingHistory, func(size uint32, token string) *flip7v1.ListRatingHistoryRequest {
				return &flip7v1.ListRatingHistoryRequest{Bot: "stay-15", PageSize: size, PageToken: token}
			}, func(r *flip7v1.ListRatingHistoryResponse) {
				for _, p := range r.GetPoints() {
					keys = append(keys, p.GetTournamentId())
				}
			})
			return keys, pages
		}},
	} {
		whole, one := list.keys(0)
		if list.items >= 0 && len(whole) != list.items || len(whole) == 0 || one != 1 {
			t.Errorf("%s: %d on %d pages, want %d on one: %q", list.name, len(whole), one, list.items, whole)
		}
		for _, size := range []uint32{1, 3} {
			if paged, pages := list.keys(size); !slices.Equal(paged, whole) || pages != (len(whole)+int(size)-1)/int(size) {
				t.Errorf("%s, %d a page: %q on %d pages, want %q", list.name, size, paged, pages, whole)
			}
		}
	}

	// A token of one list is of no use for another, and a bad one is refused by its name.
	page, err := h.ListEntries(t.Context(), &flip7v1.ListEntriesRequest{TournamentId: id, PageSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{page.GetNextPageToken(), "%%%", nextPage(listStandings, "nobody")} {
		_, err := h.ListStandings(t.Context(), &flip7v1.ListStandingsRequest{TournamentId: id, PageToken: token})
		if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "page_token") {
			t.Errorf("page token %q: %v", token, err)
		}
	}
}

func TestTournamentsAreListedByLeagueAndState(t *testing.T) {
	h := host(t)
	settings := &flip7v1.TournamentSettings{PairingRounds: 1}
	h.play(h.opened(settings, houses()...))
	h.opened(settings)
	h.opened(&flip7v1.TournamentSettings{League: "juniors"})
	for _, c := range []struct {
		league string
		states []flip7v1.TournamentState
		want   []string
	}{
		{"", nil, []string{"3", "2", "1"}},
		{"main", nil, []string{"2", "1"}},
		{"", []flip7v1.TournamentState{flip7v1.TournamentState_TOURNAMENT_STATE_OPEN}, []string{"3", "2"}},
		{"main", []flip7v1.TournamentState{flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED, flip7v1.TournamentState_TOURNAMENT_STATE_DRAFT}, []string{"1"}},
		{"nobody", nil, nil},
	} {
		got, err := h.ListTournaments(t.Context(), &flip7v1.ListTournamentsRequest{League: c.league, States: c.states})
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, n := range got.GetTournaments() {
			ids = append(ids, n.GetId())
		}
		if !slices.Equal(ids, c.want) || got.GetNextPageToken() != "" {
			t.Errorf("league %q in %v: %q, want %q", c.league, c.states, ids, c.want)
		}
	}
	if _, err := h.ListTournaments(t.Context(), &flip7v1.ListTournamentsRequest{States: []flip7v1.TournamentState{0}}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("an unspecified state: %v", err)
	}
}

func TestSettingsAreRefusedByTheirNames(t *testing.T) {
	h := host(t)
	for field, settings := range map[string]*flip7v1.TournamentSettings{
		"settings.final_table":        {FinalTable: 19},
		"settings.until_decided":      {UntilDecided: true},
		"settings.max_games":          {MaxGames: 500},
		"settings.durability":         {Durability: flip7v1.Durability_DURABILITY_POWER},
		"settings.reconnect_grace":    {ReconnectGrace: durationpb.New(time.Minute)},
		"settings.league":             {League: "Main League"},
		"settings.seats":              {Seats: 19},
		"settings.pairing_rounds":     {PairingRounds: 150},
		"settings.rotations":          {Rotations: 999},
		"settings.decision_timeout":   {DecisionTimeout: durationpb.New(2 * time.Millisecond)},
		"settings.time_bank":          {TimeBank: durationpb.New(time.Hour)},
		"settings.rules":              {Rules: &flip7v1.Rules{Decks: 17}},
		"settings.max_bots_per_owner": {MaxBotsPerOwner: 1001},
		"name":                        nil,
	} {
		name := "a night"
		if field == "name" {
			name = " a night"
		}
		_, err := h.CreateTournament(h.admin, &flip7v1.CreateTournamentRequest{Name: name, Settings: settings})
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("%s: %v, want INVALID_ARGUMENT", field, err)
			continue
		}
		if d := detailsOf(t, err); !slices.Contains(d.fields, field) {
			t.Errorf("%s: the error names %q: %v", field, d.fields, err)
		}
	}
}

func TestDurabilityIsThatOfTheStore(t *testing.T) {
	for kept, want := range map[store.Durability]flip7v1.Durability{
		store.Process: flip7v1.Durability_DURABILITY_PROCESS,
		store.Power:   flip7v1.Durability_DURABILITY_POWER,
	} {
		r := prepareWith(t, t.TempDir(), store.Options{Durability: kept})
		r.serve()
		client := flip7v1.NewTournamentServiceClient(r.conn)
		for _, asked := range []flip7v1.Durability{flip7v1.Durability_DURABILITY_UNSPECIFIED, flip7v1.Durability_DURABILITY_PROCESS, flip7v1.Durability_DURABILITY_POWER} {
			created, err := client.CreateTournament(r.admin, &flip7v1.CreateTournamentRequest{Name: "a night",
				Settings: &flip7v1.TournamentSettings{Durability: asked}})
			switch {
			case asked != 0 && asked != want:
				if d := detailsOf(t, err); !slices.Equal(d.fields, []string{"settings.durability"}) {
					t.Errorf("%v asked of a store that survives a cut of %v: %v, want settings.durability refused", asked, kept, err)
				}
			case err != nil || created.GetTournament().GetSettings().GetDurability() != want:
				t.Errorf("%v asked of a store that survives a cut of %v: %v, %v; want %v", asked, kept, created.GetTournament().GetSettings(), err, want)
			}
		}
	}
}

func TestACallMayBeMadeTwice(t *testing.T) {
	h := host(t)
	create := &flip7v1.CreateTournamentRequest{RequestId: "c-1", Name: "a night", Settings: &flip7v1.TournamentSettings{PairingRounds: 1}}
	first, err := h.CreateTournament(h.admin, create)
	if err != nil {
		t.Fatal(err)
	}
	if first.GetExpectedDuration() == nil || first.GetLatestDuration().AsDuration() < first.GetExpectedDuration().AsDuration() {
		t.Errorf("it takes %v, %v at the latest", first.GetExpectedDuration(), first.GetLatestDuration())
	}
	id := first.GetTournament().GetId()
	twice := func(what string, call func() error) {
		t.Helper()
		for n := range 2 {
			if err := call(); err != nil {
				t.Errorf("%s, call %d: %v", what, n+1, err)
			}
		}
	}
	twice("open", func() error {
		_, err := h.OpenTournament(h.admin, &flip7v1.OpenTournamentRequest{TournamentId: id})
		return err
	})
	if again, err := h.CreateTournament(h.admin, create); err != nil || again.GetTournament().GetId() != id ||
		again.GetTournament().GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_OPEN {
		t.Errorf("the same request made %v, %v", again, err)
	}
	for _, player := range houses() {
		if _, err := h.EnterBot(h.admin, &flip7v1.EnterBotRequest{TournamentId: id, Player: player}); err != nil {
			t.Fatal(err)
		}
	}
	twice("withdraw", func() error {
		_, err := h.WithdrawBot(h.admin, &flip7v1.WithdrawBotRequest{TournamentId: id, Bot: "random"})
		return err
	})
	twice("kick", func() error {
		_, err := h.KickBot(h.admin, &flip7v1.KickBotRequest{TournamentId: id, Bot: "odds", Why: "it is too good"})
		return err
	})
	start := &flip7v1.StartTournamentRequest{RequestId: "s-1", TournamentId: id}
	twice("start", func() error {
		_, err := h.StartTournament(h.admin, start)
		return err
	})
	h.wait(id)
	if again, err := h.StartTournament(h.admin, start); err != nil || again.GetTournament().GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED {
		t.Errorf("the same request after the end: %v, %v", again, err)
	}
	if _, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a start of what is finished: %v, want FAILED_PRECONDITION", err)
	}
	other := h.opened(nil)
	twice("cancel", func() error {
		r, err := h.CancelTournament(h.admin, &flip7v1.CancelTournamentRequest{TournamentId: other, Why: "rain"})
		if r.GetTournament().GetStateWhy() != "rain" {
			t.Errorf("cancelled: %v", r)
		}
		return err
	})
}

func TestAStartCanBeSetForLaterAndMoved(t *testing.T) {
	h := host(t)
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 1}, houses()...)
	for _, ahead := range []time.Duration{time.Hour, 2 * time.Hour} {
		at := time.Now().Add(ahead).Truncate(time.Second)
		r, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id, StartTime: timestamppb.New(at)})
		if err != nil {
			t.Fatal(err)
		}
		if n := r.GetTournament(); n.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_OPEN || !n.GetStartTime().AsTime().Equal(at) ||
			!n.GetExpectedEndTime().AsTime().After(at) || !n.GetLatestEndTime().AsTime().After(n.GetExpectedEndTime().AsTime()) {
			t.Errorf("set for %v: %v", at, n)
		}
	}
	if night := h.play(id); night.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED {
		t.Errorf("started now, it is %v", night.GetState())
	}
}

func TestTheReasonOfAWithdrawalMayComeLater(t *testing.T) {
	h := host(t)
	id := h.opened(nil, houses()...)
	for _, why := range []string{"", "sleeps", "sleeps"} {
		if _, err := h.WithdrawBot(h.admin, &flip7v1.WithdrawBotRequest{TournamentId: id, Bot: "racer", Why: why}); err != nil {
			t.Fatal(err)
		}
	}
	log, err := h.ListAudits(h.admin, &flip7v1.ListAuditsRequest{TournamentId: id})
	if err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, a := range log.GetAudits() {
		if a.GetAction() == "withdraw" && a.GetSubject() == "racer" {
			reasons = append(reasons, a.GetWhy())
		}
	}
	slices.Sort(reasons)
	if want := []string{"", "sleeps"}; !slices.Equal(reasons, want) {
		t.Errorf("the audit log gives the reasons %q, want %q", reasons, want)
	}
}

func TestWhoMayEnterAndWithdrawWhom(t *testing.T) {
	h := host(t)
	bots := flip7v1.NewBotServiceClient(h.conn)
	tokens := h.roles() // owner ann with odds-bot
	other, err := bots.RegisterOwner(h.admin, &flip7v1.RegisterOwnerRequest{Name: "ben"})
	if err != nil {
		t.Fatal(err)
	}
	ben := as(t.Context(), other.GetToken())
	for _, name := range []string{"bens", "old"} {
		if _, err := bots.RegisterBot(ben, &flip7v1.RegisterBotRequest{Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := bots.RetireBot(ben, &flip7v1.RetireBotRequest{Name: "old"}); err != nil {
		t.Fatal(err)
	}
	id := h.opened(nil)
	for _, c := range []struct {
		name       string
		ctx        context.Context
		player, as string
		want       codes.Code
		says       string
	}{
		{"a bot enters itself", tokens.bot, "odds-bot", "", codes.OK, ""},
		{"its owner enters it again", tokens.owner, "bot:odds-bot", "", codes.OK, ""},
		{"a bot enters another one", tokens.bot, "bens", "", codes.PermissionDenied, "NOT_THE_OWNER"},
		{"an owner enters another's", tokens.owner, "bot:bens", "", codes.PermissionDenied, "NOT_THE_OWNER"},
		{"the admin enters anybody's", h.admin, "bens", "", codes.OK, ""},
		{"a retired bot is entered", ben, "old", "", codes.FailedPrecondition, "RETIRED"},
		{"nobody is entered", h.admin, "nobody", "", codes.NotFound, ""},
		{"a bot is entered under another name", h.admin, "bens", "carls", codes.InvalidArgument, "as_name"},
		{"an owner enters a house bot", tokens.owner, "house:odds", "", codes.PermissionDenied, "ROLE"},
		{"a bot enters a command", tokens.bot, "cmd:rm -rf /", "x", codes.PermissionDenied, "ROLE"},
		{"a house bot that there is not", h.admin, "house:oddest", "", codes.InvalidArgument, "player"},
		{"a house bot under the name of a bot", h.admin, "house:odds", "bens", codes.AlreadyExists, "NAME_TAKEN"},
		{"a house bot under a formula", h.admin, "house:odds", "+x", codes.InvalidArgument, "as_name"},
		{"a house bot under a name with a colon", h.admin, "house:odds", "a:b", codes.InvalidArgument, "as_name"},
		{"a command without a name", h.admin, "cmd:true", "", codes.InvalidArgument, "as_name"},
		{"a command under the name of another's bot", h.admin, "cmd:true", "bens", codes.AlreadyExists, "NAME_TAKEN"},
		{"somebody of another kind", h.admin, "human:me", "", codes.InvalidArgument, "player"},
		{"a house bot under a name", h.admin, "house:odds", "sparring", codes.OK, ""},
		{"another one under that name", h.admin, "house:racer", "sparring", codes.InvalidArgument, "as_name"},
	} {
		_, err := h.EnterBot(c.ctx, &flip7v1.EnterBotRequest{TournamentId: id, Player: c.player, AsName: c.as})
		if status.Code(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		} else if err != nil {
			if d := detailsOf(t, err); c.says != "" && d.reason != c.says && !slices.Contains(d.fields, c.says) {
				t.Errorf("%s: %+v, want %q", c.name, d, c.says)
			}
			if says := status.Convert(err).Message(); c.as != "" && c.want == codes.AlreadyExists && !strings.HasPrefix(says, "as_name: ") {
				t.Errorf("%s: %q, want it to name as_name", c.name, says)
			}
		}
	}
	entries, err := h.ListEntries(t.Context(), &flip7v1.ListEntriesRequest{TournamentId: id})
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, e := range entries.GetEntries() {
		shown = append(shown, fmt.Sprintf("%d %s %s %q ready %t", e.GetNumber(), e.GetBot(), e.GetPlayer(), e.GetOwner(), e.GetReady()))
		if e.GetEnterTime() == nil || e.GetState() != flip7v1.EntryState_ENTRY_STATE_ENTERED {
			t.Errorf("entry %v", e)
		}
	}
	if want := []string{`1 odds-bot bot:odds-bot "ann" ready false`, `2 bens bot:bens "ben" ready false`, `3 sparring house:odds "" ready true`}; !slices.Equal(shown, want) {
		t.Errorf("entries %q, want %q", shown, want)
	}

	for _, c := range []struct {
		name string
		ctx  context.Context
		bot  string
		want codes.Code
	}{
		{"a bot withdraws another one", tokens.bot, "bens", codes.PermissionDenied},
		{"an owner withdraws another's", ben, "odds-bot", codes.PermissionDenied},
		{"an owner withdraws a house bot", ben, "sparring", codes.PermissionDenied},
		{"who did not enter is withdrawn", h.admin, "nobody", codes.NotFound},
		{"a bot withdraws itself", tokens.bot, "odds-bot", codes.OK},
		{"an owner withdraws its own", ben, "bens", codes.OK},
		{"the admin withdraws a house bot", h.admin, "sparring", codes.OK},
	} {
		r, err := h.WithdrawBot(c.ctx, &flip7v1.WithdrawBotRequest{TournamentId: id, Bot: c.bot, Why: "it is late"})
		if status.Code(err) != c.want {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		} else if err == nil && (r.GetEntry().GetState() != flip7v1.EntryState_ENTRY_STATE_WITHDRAWN || r.GetEntry().GetStateWhy() != "it is late") {
			t.Errorf("%s: %v", c.name, r.GetEntry())
		}
	}
	back, err := h.EnterBot(ben, &flip7v1.EnterBotRequest{TournamentId: id, Player: "bens"})
	if err != nil || back.GetEntry().GetNumber() != 2 || back.GetEntry().GetState() != flip7v1.EntryState_ENTRY_STATE_ENTERED || back.GetEntry().GetStateWhy() != "" {
		t.Errorf("entered again: %v, %v, want entry 2 back", back, err)
	}
	for _, why := range []string{"rude", "rude", "rude and slow", "rude"} {
		kicked, err := h.KickBot(h.admin, &flip7v1.KickBotRequest{TournamentId: id, Bot: "bens", Why: why})
		if err != nil || kicked.GetEntry().GetStateWhy() != why {
			t.Errorf("kicked because it is %s: %v, %v", why, kicked, err)
		}
	}
	number, _ := wire.TournamentIDOf(id)
	acts, err := h.arena.Store.Acts(t.Context(), number)
	kicks := slices.DeleteFunc(acts, func(a arena.Act) bool { return a.What != "kick bens" })
	if err != nil || len(kicks) != 3 {
		t.Errorf("three reasons in a row, one of them given twice, are noted as %v (%v)", kicks, err)
	}
	if _, err := h.EnterBot(ben, &flip7v1.EnterBotRequest{TournamentId: id, Player: "bens"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("a kicked bot enters: %v, want FAILED_PRECONDITION", err)
	}
}

func TestHouseBotsOfAKindAreNumberedAndComeBack(t *testing.T) {
	h := host(t)
	id := h.opened(nil, "house:odds", "house:odds", "house:odds")
	if _, err := h.WithdrawBot(h.admin, &flip7v1.WithdrawBotRequest{TournamentId: id, Bot: "odds-2"}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"odds-2", "odds-4"} {
		if r, err := h.EnterBot(h.admin, &flip7v1.EnterBotRequest{TournamentId: id, Player: "house:odds"}); err != nil || r.GetEntry().GetBot() != want {
			t.Errorf("another one: %v, %v, want %s", r, err, want)
		}
	}
}

func TestWhatIsNotThereIsNotFound(t *testing.T) {
	h := host(t)
	id := h.opened(nil)
	for _, c := range []struct {
		name string
		call func() error
	}{
		{"a tournament", func() error {
			_, err := h.GetTournament(t.Context(), &flip7v1.GetTournamentRequest{TournamentId: "77"})
			return err
		}},
		{"a tournament by no number", func() error {
			_, err := h.OpenTournament(h.admin, &flip7v1.OpenTournamentRequest{TournamentId: "night"})
			return err
		}},
		{"a table", func() error {
			_, err := h.VoidTable(h.admin, &flip7v1.VoidTableRequest{TournamentId: id, PairingRound: 1, Table: 1, Why: "x"})
			return err
		}},
		{"tables of a bot", func() error {
			_, err := h.ListPairings(t.Context(), &flip7v1.ListPairingsRequest{TournamentId: id, Bot: "nobody"})
			return err
		}},
		{"a bot in the ratings", func() error {
			_, err := h.ratings.ListRatingHistory(t.Context(), &flip7v1.ListRatingHistoryRequest{Bot: "nobody"})
			return err
		}},
		{"bots to compare", func() error {
			_, err := h.ratings.CompareBots(t.Context(), &flip7v1.CompareBotsRequest{Bot: "nobody", Other: "noone"})
			return err
		}},
		{"an export", func() error {
			stream, err := h.ExportTournament(t.Context(), &flip7v1.ExportTournamentRequest{TournamentId: "77"})
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		}},
		{"a result to take out", func() error {
			_, err := h.ratings.ExcludeResult(h.admin, &flip7v1.ExcludeResultRequest{Result: &flip7v1.ResultRef{TournamentId: "77"}, Why: "x"})
			return err
		}},
	} {
		if err := c.call(); status.Code(err) != codes.NotFound {
			t.Errorf("%s: %v, want NOT_FOUND", c.name, err)
		}
	}
	if stream, err := h.ExportTournament(t.Context(), &flip7v1.ExportTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	} else if _, err := stream.Recv(); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("an export of what is not over: %v, want FAILED_PRECONDITION", err)
	}
}

func TestStandingsAndTablesTellOfEachPairingRound(t *testing.T) {
	h := host(t)
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 4, Seed: proto.Uint64(5)}, houses()...)
	night := h.play(id)
	if !night.GetPredictable() || night.GetSettings().GetRated() || night.GetSettings().GetSeed() != 5 {
		t.Errorf("a night with a seed: %v", night)
	}
	for round := uint32(1); round <= 4; round++ {
		got, err := h.ListStandings(t.Context(), &flip7v1.ListStandingsRequest{TournamentId: id, AfterPairingRound: round})
		if err != nil {
			t.Fatal(err)
		}
		sum, measured := 0.0, uint32(0)
		for _, s := range got.GetStandings() {
			sum += s.GetScore()
			if s.GetGames() != 8*round {
				t.Errorf("after %d: %s has played %d games", round, s.GetBot(), s.GetGames())
			}
			measured += s.GetLatency().GetDecisions()
		}
		if math.Abs(sum-4*float64(round)) > 1e-9 || got.GetPairingRounds() != round || measured == 0 {
			t.Errorf("after pairing round %d the scores add up to %v, of %d rounds", round, sum, got.GetPairingRounds())
		}
		tables, err := h.ListPairings(t.Context(), &flip7v1.ListPairingsRequest{TournamentId: id, PairingRound: round})
		if err != nil {
			t.Fatal(err)
		}
		repeats := uint32(0)
		for _, tab := range tables.GetTables() {
			repeats += uint32(len(tab.GetRepeats()))
			for _, bot := range tab.GetBots() {
				if !strings.Contains(tab.GetExplanation(), bot) {
					t.Errorf("%q does not name %s", tab.GetExplanation(), bot)
				}
			}
			if len(tab.GetScores()) != 4 || tab.GetGames() != 8 || tab.GetGamesFinished() != 8 || tab.GetState() != flip7v1.TableState_TABLE_STATE_FINISHED {
				t.Errorf("table %v", tab)
			}
		}
		if len(tables.GetTables()) != 2 || len(tables.GetPairingRounds()) != 1 || tables.GetPairingRounds()[0].GetRepeats() != repeats {
			t.Errorf("pairing round %d: %v has %d repeats at its tables", round, tables.GetPairingRounds(), repeats)
		}
	}
	if !reflect.DeepEqual(boards(h.standings(id, 4)), boards(h.standings(id, 0))) {
		t.Error("the standings after the last pairing round are not those of the night")
	}
	mine, err := h.ListPairings(t.Context(), &flip7v1.ListPairingsRequest{TournamentId: id, Bot: "racer"})
	if err != nil || len(mine.GetTables()) != 4 || len(mine.GetPairingRounds()) != 4 {
		t.Errorf("racer sat at %d tables of %d pairing rounds, %v", len(mine.GetTables()), len(mine.GetPairingRounds()), err)
	}
	if _, err := h.ListStandings(t.Context(), &flip7v1.ListStandingsRequest{TournamentId: id, AfterPairingRound: 5}); status.Code(err) != codes.InvalidArgument {
		t.Errorf("standings after pairing round 5 of 4: %v", err)
	}
}

func boards(standings []*flip7v1.Standing) (lines []string) {
	for _, s := range standings {
		lines = append(lines, fmt.Sprint(s.GetRank(), s.GetBot(), s.GetScore(), s.GetPlacement(), s.GetPlacementMargin()))
	}
	return lines
}

func TestATableIsMadeVoidByHand(t *testing.T) {
	h := host(t)
	tokens := h.roles()
	b := h.join(tokens.bot, "one")
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Seats: 3, Rotations: 1, DecisionTimeout: durationpb.New(5 * time.Minute), Anchor: flip7v1.Anchor_ANCHOR_OFF},
		"odds-bot", "house:odds", "house:racer")
	if _, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	b.asked()
	running := h.get(id)
	if running.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING || running.GetPairingRound() != 1 || running.GetGames() != 3 || running.GetSecret() != nil {
		t.Errorf("running: %v", running)
	}
	paused, err := h.PauseTournament(h.admin, &flip7v1.PauseTournamentRequest{TournamentId: id, Why: "pizza"})
	if err != nil || paused.GetTournament().GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_PAUSED || paused.GetTournament().GetStateWhy() != "pizza" {
		t.Errorf("paused: %v, %v", paused, err)
	}
	if _, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id, RequestId: "other"}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("started again by another request: %v, want FAILED_PRECONDITION", err)
	}
	if _, err := h.ResumeTournament(h.admin, &flip7v1.ResumeTournamentRequest{TournamentId: id, Why: "eaten"}); err != nil {
		t.Fatal(err)
	}
	if standings := h.standings(id, 0); len(standings) != 3 || standings[0].GetGames() != 0 || standings[0].PlacementMargin != nil {
		t.Errorf("while the only table plays the standings say %v", standings)
	}
	voided, err := h.VoidTable(h.admin, &flip7v1.VoidTableRequest{TournamentId: id, PairingRound: 1, Table: 1, Why: "a wrong build"})
	if err != nil || voided.GetTable().GetNumber() != 1 {
		t.Errorf("made void: %v, %v", voided, err)
	}
	h.wait(id)
	tables, err := h.ListPairings(t.Context(), &flip7v1.ListPairingsRequest{TournamentId: id})
	if err != nil {
		t.Fatal(err)
	}
	if tab := tables.GetTables()[0]; tab.GetState() != flip7v1.TableState_TABLE_STATE_VOID || tab.GetStateWhy() != "a wrong build" || !slices.Equal(tab.GetScores(), []float64{.5, .5, .5}) {
		t.Errorf("the table is %v", tab)
	}
	for _, s := range h.standings(id, 0) {
		if s.GetScore() != 0.5 || s.GetGames() != 0 {
			t.Errorf("%v: want 1/2 for a void table", s)
		}
	}
	if got := h.get(id).GetConclusion(); got != "not decided: nobody played" {
		t.Errorf("conclusion %q", got)
	}
}

func TestARehearsalTellsWhatWouldHappen(t *testing.T) {
	h := host(t)
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 3}, "house:odds", "house:random", "house:odds", "house:stay-20")
	for _, c := range []struct {
		name         string
		request      *flip7v1.RehearseTournamentRequest
		bots, rounds int
	}{
		{"a tournament", &flip7v1.RehearseTournamentRequest{TournamentId: id}, 4, 3},
		{"a tournament with other settings", &flip7v1.RehearseTournamentRequest{TournamentId: id, Settings: &flip7v1.TournamentSettings{PairingRounds: 2}}, 4, 2},
		{"the defaults", &flip7v1.RehearseTournamentRequest{}, 8, 7},
		{"settings and bots", &flip7v1.RehearseTournamentRequest{Settings: &flip7v1.TournamentSettings{PairingRounds: 2, Seats: 5}, Bots: 20}, 20, 2},
	} {
		stream, err := h.RehearseTournament(h.admin, c.request)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		var last *flip7v1.RehearseTournamentResponse
		for {
			r, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			if last.GetTournament() != nil {
				t.Errorf("%s: goes on after it has ended", c.name)
			}
			if r.GetLine() != "" {
				lines = append(lines, r.GetLine())
			}
			last = r
		}
		games := uint32(c.rounds * c.bots * 2)
		if len(last.GetStandings()) != c.bots || last.GetGamesFinished() != games || last.GetTournament().GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED ||
			last.GetTournament().GetId() != "" || last.GetExpectedDuration() == nil {
			t.Errorf("%s ended with %d standings after %d games: %v", c.name, len(last.GetStandings()), last.GetGamesFinished(), last.GetTournament())
		}
		if len(lines) != c.rounds+1 || lines[0] != fmt.Sprintf("pairing round 1 of %d", c.rounds) || !strings.Contains(lines[c.rounds], "decisions") {
			t.Errorf("%s: lines %q", c.name, lines)
		}
	}
	if night := h.get(id); night.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_OPEN || night.GetGamesFinished() != 0 {
		t.Errorf("after its rehearsals the tournament is %v", night)
	}
	stream, err := h.RehearseTournament(h.admin, &flip7v1.RehearseTournamentRequest{Settings: &flip7v1.TournamentSettings{FinalTable: 19}})
	if err == nil {
		_, err = stream.Recv()
	}
	if status.Code(err) != codes.InvalidArgument {
		t.Errorf("a rehearsal of what is not played: %v, want INVALID_ARGUMENT", err)
	}
}

func TestAnEndIsExpectedFromWhatIsLeft(t *testing.T) {
	now := time.Date(2026, 11, 30, 20, 0, 0, 0, time.UTC)
	night := &arena.Tournament{ID: 1, Settings: arena.DefaultSettings(), State: arena.Open}
	for n := range 8 {
		night.Entries = append(night.Entries, arena.Entry{Number: n + 1, Name: fmt.Sprint("bot", n), Player: "bot:b", From: 1})
	}
	ends := func() (expected, latest time.Duration) {
		w := wire.Common{}.Tournament(night)
		expect(w, night, now)
		if w.ExpectedEndTime == nil || w.LatestEndTime == nil {
			return -1, -1
		}
		return w.ExpectedEndTime.AsTime().Sub(now), w.LatestEndTime.AsTime().Sub(now)
	}
	span := arena.Estimate(night.Settings, 8)
	near := func(got, want time.Duration) bool { return (got - want).Abs() < time.Second }
	if expected, latest := ends(); !near(expected, span.Expected) || !near(latest, span.Latest) {
		t.Errorf("open: %v and %v, want %v and %v", expected, latest, span.Expected, span.Latest)
	}
	night.StartAt = now.Add(time.Hour)
	if expected, _ := ends(); !near(expected, span.Expected+time.Hour) {
		t.Errorf("set for in an hour: %v, want %v", expected, span.Expected+time.Hour)
	}
	night.StartAt = time.Time{}
	for n := range 8 { // those of the house answer at once
		night.Entries[n].Player = "house:odds"
		if expected, _ := ends(); !near(expected, span.Expected*time.Duration(7-n)/8) {
			t.Errorf("with %d house bots of 8: %v, want %v", n+1, expected, span.Expected*time.Duration(7-n)/8)
		}
	}
	// Half a minute after the start one of the 16 games of the first pairing round is over. The others may be soon.
	night.State, night.Started = arena.Running, now.Add(-30*time.Second)
	night.Rounds = []arena.Round{{Number: 1, Tables: []arena.Table{{Number: 1, Bots: []int{1, 2, 3, 4}, State: arena.Playing, Games: make([]arena.Game, 1)},
		{Number: 2, Bots: []int{5, 6, 7, 8}, State: arena.Playing}}}}
	if expected, _ := ends(); expected < 3*time.Minute || expected > 4*time.Minute {
		t.Errorf("after the first game: %v, want about 30 s for each of seven pairing rounds", expected)
	}
	night.Rounds = nil
	for n := range night.Entries {
		night.Entries[n].Player = "bot:b"
	}
	// Two of seven pairing rounds took 10 minutes: the other five take 25, and at most five sevenths of all.
	night.State, night.Started, night.StartAt = arena.Running, now.Add(-10*time.Minute), time.Time{}
	for round := range 2 {
		tables := []arena.Table{{Number: 1, Bots: []int{1, 2, 3, 4}, State: arena.Complete, Games: make([]arena.Game, 8)},
			{Number: 2, Bots: []int{5, 6, 7, 8}, State: arena.Complete, Games: make([]arena.Game, 8)}}
		night.Rounds = append(night.Rounds, arena.Round{Number: round + 1, Tables: tables})
	}
	if expected, latest := ends(); !near(expected, 25*time.Minute) || !near(latest, span.Latest*5/7) {
		t.Errorf("after two pairing rounds: %v and %v, want 25m and %v", expected, latest, span.Latest*5/7)
	}
	night.State = arena.Finished
	if expected, _ := ends(); expected != -1 {
		t.Errorf("finished: it ends in %v", expected)
	}
	night.State, night.Entries = arena.Open, nil
	if expected, _ := ends(); expected != -1 {
		t.Errorf("without bots: it ends in %v", expected)
	}
	if told(31*24*time.Hour) || told(-1) || !told(time.Hour) {
		t.Error("an end in 31 days, or before now, is not to be told, and one in an hour is")
	}
}

// A tournament whose conclusion nobody has asked for yet is concluded while it is read for a list.
func TestAFinishedTournamentIsListedAtOnce(t *testing.T) {
	h := host(t)
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, houses()...)
	if _, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	number, _ := wire.TournamentIDOf(id)
	if _, err := h.arena.Wait(t.Context(), number); err != nil { // and does not look at it
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	list, err := h.ListTournaments(ctx, &flip7v1.ListTournamentsRequest{})
	if err != nil || len(list.GetTournaments()) != 1 || list.GetTournaments()[0].GetConclusion() == "" {
		t.Errorf("got %v (%v), want one tournament with its conclusion", list.GetTournaments(), err)
	}
}
