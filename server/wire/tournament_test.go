package wire_test

import (
	"errors"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

var common = wire.Common{ReconnectGrace: 30 * time.Second}

func TestSettingsComeBackAsTheyWere(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*arena.Settings)
	}{
		{"the defaults", func(*arena.Settings) {}},
		{"no time bank and no check-in", func(s *arena.Settings) { s.TimeBank, s.CheckIn = -1, -1 }},
		{"everything else", func(s *arena.Settings) {
			s.League, s.Seats, s.Rounds, s.Rotations, s.Concurrency = "juniors", 6, 9, 3, 7
			s.Rules = game.Rules{TieBreak: game.Shared, Deal: game.DealEveryone, TargetScore: 150, MaxRounds: 40, Decks: 2}
			s.DecisionTimeout, s.TimeBank, s.TableLimit, s.CheckIn = 300*time.Millisecond, 2*time.Second, time.Hour, time.Second
			s.Unrated, s.Anchor, s.BotsPerOwner = true, arena.AnchorOff, 5
			s.FinalTable, s.UntilDecided, s.MaxGames = 5, true, 4000
		}},
	} {
		want := arena.DefaultSettings()
		want.Name = "a night"
		want.Rules = want.Rules.Complete(want.Seats)
		c.change(&want)
		got, err := common.SettingsOf("a night", sent(t, common.Settings(want)))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		got.MaxBots = want.MaxBots // is not on the wire
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v\nwant %+v", c.name, got, want)
		}
	}
}

func TestSettingsThatAreLeftOutAreTheDefaults(t *testing.T) {
	for _, w := range []*flip7v1.TournamentSettings{nil, {}, {Rules: &flip7v1.Rules{}}} {
		s, err := common.SettingsOf("a night", w)
		if err != nil {
			t.Fatal(err)
		}
		if !s.Rules.BustedAssigns || s.TimeBank != 0 || s.CheckIn != 0 || s.Unrated || s.Seed != nil {
			t.Errorf("%v: %+v", w, s)
		}
	}
	seeded, err := common.SettingsOf("a night", &flip7v1.TournamentSettings{Seed: proto.Uint64(0)})
	if err != nil || seeded.Seed == nil || *seeded.Seed != 0 || seeded.Rated() {
		t.Errorf("seed 0: %+v, %v, want a seed of 0, which is never rated", seeded, err)
	}
}

func TestSettingsThatAreNotPlayedAreRefusedByName(t *testing.T) {
	for field, w := range map[string]*flip7v1.TournamentSettings{
		"schedule":         {Schedule: 17},
		"durability":       {Durability: flip7v1.Durability_DURABILITY_POWER},
		"reconnect_grace":  {ReconnectGrace: durationpb.New(time.Minute)},
		"rules":            {Rules: &flip7v1.Rules{Version: "flip8/1"}},
		"anchor":           {Anchor: 17},
		"decision_timeout": {DecisionTimeout: &durationpb.Duration{}},
		"time_bank":        {TimeBank: durationpb.New(-time.Second)},
		"table_limit":      {TableLimit: &durationpb.Duration{Seconds: math.MaxInt64}},
	} {
		_, err := common.SettingsOf("a night", w)
		if setting, is := errors.AsType[*arena.SettingError](err); !is || setting.Field != field || setting.Wrong == "" {
			t.Errorf("%v: %v, want an error that names %s", w, err, field)
		}
	}
	power := wire.Common{Power: true, ReconnectGrace: time.Minute}
	for _, w := range []*flip7v1.TournamentSettings{{Durability: flip7v1.Durability_DURABILITY_POWER}, {ReconnectGrace: durationpb.New(time.Minute)}} {
		if _, err := power.SettingsOf("a night", w); err != nil {
			t.Errorf("%v is what the arena has: %v", w, err)
		}
	}
}

func TestSecretAndSeedAreToldWhenItIsOver(t *testing.T) {
	seed := uint64(9)
	for state, told := range map[arena.State]struct{ commitment, secret bool }{
		arena.Draft: {}, arena.Open: {true, false}, arena.Running: {true, false}, arena.Paused: {true, false}, arena.Held: {true, false},
		arena.Finished: {true, true}, arena.Cancelled: {true, true},
	} {
		night := &arena.Tournament{ID: 3, Settings: arena.DefaultSettings(), State: state, Secret: [32]byte{1, 2}}
		night.Settings.Seed = &seed
		w := sent(t, common.Tournament(night))
		if (len(w.GetCommitment()) == 32) != told.commitment || (len(w.GetSecret()) == 32) != told.secret || (w.GetSettings().Seed != nil) != told.secret {
			t.Errorf("%v: commitment %x, secret %x, seed %v; want %+v", state, w.GetCommitment(), w.GetSecret(), w.GetSettings().Seed, told)
		}
		if !w.GetPredictable() || w.GetSettings().GetRated() {
			t.Errorf("%v: a tournament with a seed has to be marked as predictable, and unrated", state)
		}
	}
}

func TestATournamentCountsWhatItHasPlayedAndWillPlay(t *testing.T) {
	night, _, _ := playedNight(t)
	night.State = arena.Running
	night.Settings.Rounds = 3
	night.Rounds[0].Tables[0].State = arena.Playing
	night.Entries = append(night.Entries, arena.Entry{Number: 5, Name: "fills", Player: "house:odds", FillIn: true},
		arena.Entry{Number: 6, Name: "left", Player: "bot:left", State: arena.Withdrawn})
	w := common.Tournament(night)
	if w.GetEntries() != 5 || w.GetPairingRound() != 1 || w.GetGamesFinished() != 1 || w.GetGames() != 8+2*8 {
		t.Errorf("%d entries, pairing round %d, %d of %d games; want 5, 1, 1 of 24", w.GetEntries(), w.GetPairingRound(), w.GetGamesFinished(), w.GetGames())
	}
	night.State = arena.Cancelled
	if w := common.Tournament(night); w.GetGames() != 1 {
		t.Errorf("a tournament that was cancelled after 1 game has %d", w.GetGames())
	}
}

func TestACommandTellsNothingOfItself(t *testing.T) {
	night, _, _ := playedNight(t)
	night.Rounds[0].Missing = []int{3}
	w := wire.Entry(night, arena.Entry{Number: 3, Name: "mine", Player: "cmd:/home/me/secret/bot --key 5", State: arena.Withdrawn}, true)
	if w.GetPlayer() != "cmd" || w.GetReady() || w.GetMissed() != 1 || w.GetContribution() != nil {
		t.Errorf("%v: want cmd, not ready since withdrawn, 1 round missed, no contribution", w)
	}
}

func TestATableTellsItsScoresWhenItHasEnded(t *testing.T) {
	night, _, played := playedNight(t)
	tab := night.Rounds[0].Tables[0]
	for state, want := range map[arena.TableState]bool{arena.Waiting: false, arena.Playing: false, arena.Complete: true, arena.Void: true} {
		tab.State = state
		if got := wire.Table(night, 1, tab, ""); (len(got.GetScores()) == 4) != want {
			t.Errorf("%v: scores %v", state, got.GetScores())
		}
	}
	tab.State = arena.Complete
	sum := 0.0
	w := wire.Table(night, 1, tab, "because")
	for i, score := range w.GetScores() {
		sum += score
		seat := slices.Index(played.Game.Seats, i+1)
		beaten, of := 0.0, 0.0
		for other, place := range played.Game.Result.Places {
			if other != seat {
				of++
				switch own := played.Game.Result.Places[seat]; {
				case own < place:
					beaten++
				case own == place:
					beaten += 0.5
				}
			}
		}
		if score != beaten/of {
			t.Errorf("entry %d scores %v, want %v", i+1, score, beaten/of)
		}
	}
	if sum != 2 || w.GetExplanation() != "because" || w.GetGames() != 8 || w.GetGamesFinished() != 1 {
		t.Errorf("the scores of 4 bots add up to %v; %d of %d games, %q", sum, w.GetGamesFinished(), w.GetGames(), w.GetExplanation())
	}
	night.Rounds = append(night.Rounds, arena.Round{Number: 2, Spread: "0", Tables: []arena.Table{{Number: 1, Bots: []int{1, 2, 3, 4}}}})
	if repeats := wire.Table(night, 2, night.Rounds[1].Tables[0], "").GetRepeats(); len(repeats) != 6 || repeats[0].GetTimes() != 1 {
		t.Errorf("repeats %v, want all 6 pairs, each once before", repeats)
	}
}

func TestAStandingKeepsWhatCannotBeSaidAbsent(t *testing.T) {
	night, _, _ := playedNight(t)
	standings, err := night.Standings()
	if err != nil {
		t.Fatal(err)
	}
	stats := arena.Stats{Slips: 3}
	stats.Faults[game.Illegal], stats.Faults[game.TimedOut] = 2, 1
	placements := night.Placements()
	for _, s := range standings {
		w := sent(t, wire.Standing(night, s, placements[s.Entry.Number-1], stats))
		score, _ := s.Score.Float64()
		if w.GetScore() != score || w.GetPlacement() != score || w.PlacementMargin != nil || w.Latency != nil {
			t.Errorf("%s: %v, want a score and placement of %v, and no margin and latency after one game without a clock", s.Name, w, score)
		}
		if f := w.GetFaults(); f.GetIllegal() != 2 || f.GetTimedOut() != 1 || f.GetPassed() != 0 || w.GetSlips() != 3 {
			t.Errorf("%s: faults %v, %d slips", s.Name, f, w.GetSlips())
		}
	}
	thirds := standings[0]
	thirds.Score, thirds.HeadToHead = big.NewRat(7, 3), big.NewRat(1, 2)
	w := wire.Standing(night, thirds, arena.Placement{Games: 8, Mean: 0.6, Margin: 0.2}, arena.Stats{})
	if w.GetScore() != 7./3 || w.HeadToHead == nil || w.GetPlacementMargin() != 0.2 {
		t.Errorf("%v: want 7/3, a head to head and a margin", w)
	}
}

func TestAnActIsSplitIntoWhatWasDoneAndToWhat(t *testing.T) {
	w := wire.Audit(4, arena.Act{At: time.Unix(9, 0), Who: "owner anna", What: "withdraw my best bot", Why: "it is ill"})
	if w.GetAction() != "withdraw" || w.GetSubject() != "my best bot" || w.GetTournamentId() != "4" || w.GetWho() != "owner anna" || w.GetTime().GetSeconds() != 9 {
		t.Errorf("got %v", w)
	}
	if w := wire.Audit(4, arena.Act{What: "open"}); w.GetSubject() != "" || w.Time != nil {
		t.Errorf("got %v, want neither subject nor time", w)
	}
}

func TestLeaguesCountWhatIsLeft(t *testing.T) {
	for _, c := range []struct {
		change func(*arena.Tournament)
		games  uint32
		why    string
	}{
		{func(*arena.Tournament) {}, 1, ""},
		{func(n *arena.Tournament) { n.State = arena.Running }, 0, "not finished"},
		{func(n *arena.Tournament) { n.State = arena.Cancelled }, 0, "cancelled"},
		{func(n *arena.Tournament) { n.Settings.Unrated = true }, 0, "unrated"},
		{func(n *arena.Tournament) { n.Settings.Seed = new(uint64) }, 0, "predictable"},
		{func(n *arena.Tournament) { n.Excluded = []arena.Excluded{{Why: "a wrong deck"}} }, 0, "a wrong deck"},
		{func(n *arena.Tournament) { n.Excluded = []arena.Excluded{{Round: 1, Why: "a wrong deck"}} }, 0, ""},
		{func(n *arena.Tournament) { n.Rounds[0].Tables[0].State = arena.Void }, 0, ""},
	} {
		night, _, _ := playedNight(t)
		c.change(night)
		w := wire.LeagueTournament(night, common.Tournament(night))
		if w.GetCounts() != (c.why == "") || !strings.Contains(w.GetWhyNot(), c.why) || w.GetGames() != c.games || len(w.GetExclusions()) != len(night.Excluded) {
			t.Errorf("counts %t, %q, %d games, %d exclusions; want %q and %d games", w.GetCounts(), w.GetWhyNot(), w.GetGames(), len(w.GetExclusions()), c.why, c.games)
		}
	}
}

func TestAResultIsNamedWithoutGaps(t *testing.T) {
	for _, c := range []struct {
		ref   *flip7v1.ResultRef
		wrong string
	}{
		{&flip7v1.ResultRef{TournamentId: "5"}, ""},
		{&flip7v1.ResultRef{TournamentId: "5", PairingRound: 1}, ""},
		{&flip7v1.ResultRef{TournamentId: "5", PairingRound: 1, Table: 2, Game: 3}, ""},
		{&flip7v1.ResultRef{TournamentId: "five"}, "result.tournament_id"},
		{&flip7v1.ResultRef{TournamentId: "5", Table: 2}, "result.table"},
		{&flip7v1.ResultRef{TournamentId: "5", PairingRound: 1, Game: 3}, "result.game"},
	} {
		id, e, err := wire.ResultOf(c.ref, "why")
		if setting, _ := errors.AsType[*arena.SettingError](err); (c.wrong == "") != (err == nil) || setting != nil && setting.Field != c.wrong {
			t.Errorf("%v: %v, want %q", c.ref, err, c.wrong)
		}
		if err == nil && !proto.Equal(wire.ResultRef(id, e), c.ref) {
			t.Errorf("%v came back as %v", c.ref, wire.ResultRef(id, e))
		}
	}
}
