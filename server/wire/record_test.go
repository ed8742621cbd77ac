package wire_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// playedNight is a tournament of one table with one game, which house bots have played.
func playedNight(t *testing.T) (*arena.Tournament, arena.GameID, arena.Played) {
	t.Helper()
	settings := arena.DefaultSettings()
	settings.Name = "a night"
	night := &arena.Tournament{ID: 12, Settings: settings, State: arena.Finished}
	strategies := []string{"odds", "stay-20", "random", "racer"}
	seats := []int{3, 1, 4, 2}
	setup := table.Setup{
		Info: table.Info{ID: "12/1/1/2", Attempt: 1, Rules: settings.Rules.Complete(4), Dealer: 3, Timeout: time.Second},
		Seed: [32]byte{1, 2, 3},
		Deal: deal.NewKeyed([32]byte{1, 2, 3}),
	}
	for i, strategy := range strategies {
		night.Entries = append(night.Entries, arena.Entry{Number: i + 1, Name: strategy, Player: "house:" + strategy, From: 1})
	}
	night.Entries[1].Player, night.Entries[1].Build = "bot:stay-20", "v2"
	for seat, number := range seats {
		strategy, err := house.New(strategies[number-1])
		if err != nil {
			t.Fatal(err)
		}
		setup.Info.Bots = append(setup.Info.Bots, strategies[number-1])
		setup.Players = append(setup.Players, table.House(strategy, func(n int) uint64 { return uint64(100*seat + n) }))
		setup.Bots = append(setup.Bots, seat)
	}
	outcome, err := table.Play(t.Context(), setup)
	if err != nil {
		t.Fatal(err)
	}
	played := arena.Played{Record: outcome.Record, Timings: outcome.Timings,
		Game: arena.Game{Number: 2, Attempt: 1, Seats: seats, Result: outcome.Record.Result, Faults: outcome.Faults, Slips: outcome.Slips}}
	night.Rounds = []arena.Round{{Number: 1, Spread: "0", Tables: []arena.Table{
		{Number: 1, Bots: []int{1, 2, 3, 4}, State: arena.Complete, Games: []arena.Game{played.Game}}}}}
	return night, arena.GameID{Tournament: 12, Round: 1, Table: 1, Number: 2}, played
}

// sent puts a message through the wire, bytes and all.
func sent[M proto.Message](t *testing.T, m M) M {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	came := m.ProtoReflect().New().Interface().(M)
	if err := proto.Unmarshal(data, came); err != nil {
		t.Fatal(err)
	}
	return came
}

func TestARecordComesBackAsItWas(t *testing.T) {
	night, id, played := playedNight(t)
	w, err := wire.Record(night, id, played)
	if err != nil {
		t.Fatal(err)
	}
	back, err := wire.RecordOf(sent(t, w))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back, played.Record) {
		t.Errorf("got  %+v\nwant %+v", back, played.Record)
	}
	if _, err := back.Replay(deal.NewKeyed(back.Seed), nil); err != nil {
		t.Errorf("it cannot be replayed: %v", err)
	}
}

func TestARecordSaysWhoWasAskedWhatAndOfBotsHowLongItTook(t *testing.T) {
	night, id, played := playedNight(t)
	bot := game.Seat(3) // entry 2
	for i := range played.Timings {
		played.Timings[i].Took = 5 * time.Millisecond
	}
	w, err := wire.Record(night, id, played)
	if err != nil {
		t.Fatal(err)
	}
	turns := 0
	for i, d := range w.GetDecisions() {
		if d.GetSeat() != uint32(played.Timings[i].Seat) {
			t.Fatalf("decision %d is of seat %d, want %d", i, d.GetSeat(), played.Timings[i].Seat)
		}
		gives := d.GetAnswer() == flip7v1.Answer_ANSWER_GIVE
		if turn := d.GetKind() == flip7v1.RequestKind_REQUEST_KIND_TURN; turn == gives || gives != (d.Target != nil) {
			t.Fatalf("decision %d: %v answers %v", i, d.GetAnswer(), d.GetKind())
		} else if turn {
			turns++
		}
		if measured := d.GetSeat() == uint32(bot); (d.GetAnswered().AsDuration() == 5*time.Millisecond) != measured || (d.Sent != nil) != measured {
			t.Fatalf("decision %d of seat %d: sent %v, answered %v", i, d.GetSeat(), d.GetSent(), d.GetAnswered())
		}
	}
	if turns == 0 || turns == len(w.GetDecisions()) {
		t.Errorf("%d of %d decisions are turns: this game shows nothing", turns, len(w.GetDecisions()))
	}
	if got := w.GetGame().GetBuilds(); !reflect.DeepEqual(got, []string{"", "", "", "v2"}) {
		t.Errorf("builds by seat: %q", got)
	}
}

func TestADamagedRecordIsRefusedByItsField(t *testing.T) {
	for _, c := range []struct {
		damage func(*flip7v1.GameRecord)
		wrong  string
	}{
		{func(w *flip7v1.GameRecord) { w.Seed = w.Seed[1:] }, "seed: 31 bytes"},
		{func(w *flip7v1.GameRecord) { w.Dealer = 4 }, "dealer: 4"},
		{func(w *flip7v1.GameRecord) { w.Decisions[3].Answer = flip7v1.Answer_ANSWER_PASS }, "decisions[3].answer"},
		{func(w *flip7v1.GameRecord) { w.Decisions[2].Cause = flip7v1.Cause_CAUSE_UNSPECIFIED }, "decisions[2].cause"},
		{func(w *flip7v1.GameRecord) { w.Game.Places = nil }, "game.places"},
		{func(w *flip7v1.GameRecord) { w.Game.Game.Rules.Version = "flip8/1" }, "game.game.rules.version"},
	} {
		night, id, played := playedNight(t)
		w, err := wire.Record(night, id, played)
		if err != nil {
			t.Fatal(err)
		}
		w = sent(t, w)
		c.damage(w)
		if _, err := wire.RecordOf(w); err == nil || !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("got %v, want an error with %q", err, c.wrong)
		}
	}
}

func TestGamesAreNamedByTheirNumbers(t *testing.T) {
	id := arena.GameID{Tournament: 12, Round: 3, Table: 4, Number: 5}
	if got, ok := wire.GameIDOf(wire.GameID(id)); got != id || !ok {
		t.Errorf("got %v, %t", got, ok)
	}
	for _, text := range []string{"", "12", "12/3/4", "12/3/4/0", "12/3/4/5/6", "012/3/4/5", "-1/3/4/5", "12/3/4/5 ", "+12/3/4/5"} {
		if id, ok := wire.GameIDOf(text); ok {
			t.Errorf("%q is taken for %v", text, id)
		}
	}
	for _, text := range []string{"", "0", "-3", "007", "1e3", "99999999999999999999"} {
		if id, ok := wire.TournamentIDOf(text); ok {
			t.Errorf("%q is taken for tournament %d", text, id)
		}
	}
}

func TestAGameSaysWhyItIsNotRated(t *testing.T) {
	for _, c := range []struct {
		change func(*arena.Tournament)
		why    string
	}{
		{func(*arena.Tournament) {}, ""},
		{func(n *arena.Tournament) { n.Settings.Unrated = true }, "announced as unrated"},
		{func(n *arena.Tournament) { n.Settings.Seed = new(uint64) }, "predictable"},
		{func(n *arena.Tournament) { n.Rounds[0].Tables[0].State = arena.Void }, "table is void"},
		{func(n *arena.Tournament) {
			n.Excluded = []arena.Excluded{{Round: 1, Table: 1, Game: 2, Why: "wrong deck"}}
		}, "wrong deck"},
		{func(n *arena.Tournament) {
			n.Excluded = []arena.Excluded{{Round: 1, Table: 1, Game: 3, Why: "wrong deck"}}
		}, ""},
	} {
		night, id, played := playedNight(t)
		c.change(night)
		if got := wire.GameSummary(night, id, played.Game).GetUnratedWhy(); (c.why == "") != (got == "") || !strings.Contains(got, c.why) {
			t.Errorf("got %q, want %q", got, c.why)
		}
	}
}
