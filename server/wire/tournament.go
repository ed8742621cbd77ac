package wire

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/swiss"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

var (
	states = enum[arena.State, flip7v1.TournamentState]{"state", []flip7v1.TournamentState{
		arena.Draft:     flip7v1.TournamentState_TOURNAMENT_STATE_DRAFT,
		arena.Open:      flip7v1.TournamentState_TOURNAMENT_STATE_OPEN,
		arena.Running:   flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING,
		arena.Paused:    flip7v1.TournamentState_TOURNAMENT_STATE_PAUSED,
		arena.Held:      flip7v1.TournamentState_TOURNAMENT_STATE_HELD,
		arena.Finished:  flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED,
		arena.Cancelled: flip7v1.TournamentState_TOURNAMENT_STATE_CANCELLED,
	}}
	tableStates = enum[arena.TableState, flip7v1.TableState]{"state", []flip7v1.TableState{
		arena.Waiting:  flip7v1.TableState_TABLE_STATE_WAITING,
		arena.Playing:  flip7v1.TableState_TABLE_STATE_RUNNING,
		arena.Complete: flip7v1.TableState_TABLE_STATE_FINISHED,
		arena.Void:     flip7v1.TableState_TABLE_STATE_VOID,
	}}
	entryStates = enum[arena.EntryState, flip7v1.EntryState]{"state", []flip7v1.EntryState{
		arena.Entered:   flip7v1.EntryState_ENTRY_STATE_ENTERED,
		arena.Withdrawn: flip7v1.EntryState_ENTRY_STATE_WITHDRAWN,
		arena.Kicked:    flip7v1.EntryState_ENTRY_STATE_KICKED,
	}}
	anchors = enum[arena.Anchor, flip7v1.Anchor]{"anchor", []flip7v1.Anchor{
		arena.AnchorAuto: flip7v1.Anchor_ANCHOR_AUTO,
		arena.AnchorOn:   flip7v1.Anchor_ANCHOR_ON,
		arena.AnchorOff:  flip7v1.Anchor_ANCHOR_OFF,
	}}
	schedules = enum[arena.Schedule, flip7v1.Schedule]{"schedule", []flip7v1.Schedule{
		arena.Swiss:   flip7v1.Schedule_SCHEDULE_SWISS,
		arena.Planned: flip7v1.Schedule_SCHEDULE_PLANNED,
	}}
)

// StateOf is the state of a tournament, from the wire.
func StateOf(w flip7v1.TournamentState) (arena.State, error) { return states.from(w) }

// Common are settings that the wire has for each tournament and this arena has for all of them.
type Common struct {
	Power          bool          // decisions survive a power cut
	ReconnectGrace time.Duration // for which clocks wait for bots after a restart
	Folder         string        // where the data is, which is nobody's business
}

// Why is why a tournament is held or cancelled, for everybody: what holds it may be an error with the name of a file.
func (c Common) Why(t *arena.Tournament) string {
	if t.State != arena.Held || c.Folder == "" {
		return t.Why
	}
	return strings.ReplaceAll(t.Why, filepath.Clean(c.Folder)+string(filepath.Separator), "")
}

func (c Common) durability() flip7v1.Durability {
	if c.Power {
		return flip7v1.Durability_DURABILITY_POWER
	}
	return flip7v1.Durability_DURABILITY_PROCESS
}

// Settings are complete settings for the wire. The seed is left out: whoever knows it can foretell the deals.
func (c Common) Settings(s arena.Settings) *flip7v1.TournamentSettings {
	return &flip7v1.TournamentSettings{
		League: s.League, Seats: uint32(s.Seats), PairingRounds: uint32(s.Rounds), Rotations: uint32(s.Rotations), Rules: Rules(s.Rules.Complete(s.Seats)),
		Schedule: schedules.to(s.Schedule), DecisionTimeout: durationpb.New(s.DecisionTimeout), TimeBank: durationpb.New(max(s.TimeBank, 0)),
		FinalTable: uint32(s.FinalTable), UntilDecided: s.UntilDecided, MaxGames: uint32(s.MaxGames),
		TableLimit: durationpb.New(s.TableLimit), ReconnectGrace: durationpb.New(c.ReconnectGrace), Checkin: durationpb.New(max(s.CheckIn, 0)),
		Rated: proto.Bool(s.Rated()), Anchor: anchors.to(s.Anchor), Concurrency: uint32(s.Concurrency), Durability: c.durability(),
		MaxBotsPerOwner: uint32(s.BotsPerOwner),
	}
}

// SettingsOf are settings from the wire; what is left out is zero, which means its default, or the default itself. What
// this arena does not play is refused with an [arena.SettingError], as is what makes no sense on the wire; whether the
// rest can be played is for arena.Settings.Check to say.
func (c Common) SettingsOf(name string, w *flip7v1.TournamentSettings) (s arena.Settings, err error) {
	if err := c.supported(w); err != nil {
		return s, err
	}
	s = arena.Settings{
		Name: name, League: w.GetLeague(), Seats: int(w.GetSeats()), Rounds: int(w.GetPairingRounds()), Rotations: int(w.GetRotations()),
		FinalTable: int(w.GetFinalTable()), UntilDecided: w.GetUntilDecided(), MaxGames: int(w.GetMaxGames()),
		Concurrency: int(w.GetConcurrency()), Unrated: w != nil && w.Rated != nil && !w.GetRated(), BotsPerOwner: int(w.GetMaxBotsPerOwner()),
	}
	if w != nil && w.Seed != nil {
		s.Seed = proto.Uint64(w.GetSeed())
	}
	if s.Rules, err = RulesOf(w.GetRules()); err != nil {
		return s, &arena.SettingError{Field: "rules", Wrong: err.Error()}
	}
	if schedule := w.GetSchedule(); schedule != flip7v1.Schedule_SCHEDULE_UNSPECIFIED {
		if s.Schedule, err = schedules.from(schedule); err != nil {
			return s, &arena.SettingError{Field: "schedule", Wrong: fmt.Sprintf("%v is not swiss or planned", schedule)}
		}
	}
	if a := w.GetAnchor(); a != flip7v1.Anchor_ANCHOR_UNSPECIFIED {
		if s.Anchor, err = anchors.from(a); err != nil {
			return s, &arena.SettingError{Field: "anchor", Wrong: fmt.Sprintf("%v is not auto, on or off", a)}
		}
	}
	for _, d := range []struct {
		field string
		wire  *durationpb.Duration
		to    *time.Duration
		none  bool // 0 is one that can be, and is none
	}{
		{"decision_timeout", w.GetDecisionTimeout(), &s.DecisionTimeout, false},
		{"time_bank", w.GetTimeBank(), &s.TimeBank, true},
		{"table_limit", w.GetTableLimit(), &s.TableLimit, false},
		{"checkin", w.GetCheckin(), &s.CheckIn, true},
	} {
		if d.wire == nil {
			continue
		}
		if d.wire.CheckValid() != nil || d.wire.AsDuration() < 0 {
			return s, &arena.SettingError{Field: d.field, Wrong: "is no length of time, or a negative one"}
		}
		switch *d.to = d.wire.AsDuration(); {
		case *d.to == 0 && d.none:
			*d.to = -1 // in arena.Settings 0 is the default
		case *d.to == 0:
			return s, &arena.SettingError{Field: d.field, Wrong: "is 0; leave it out for the default"}
		}
	}
	return s, nil
}

// supported refuses what the wire has and this arena does not play.
func (c Common) supported(w *flip7v1.TournamentSettings) error {
	grace := w.GetReconnectGrace()
	for _, refused := range []struct {
		field string
		is    bool
		wrong string
	}{
		{"durability", w.GetDurability() != flip7v1.Durability_DURABILITY_UNSPECIFIED && w.GetDurability() != c.durability(),
			fmt.Sprintf("is that of the whole arena, %v; leave it out", c.durability())},
		{"reconnect_grace", grace != nil && grace.AsDuration() != c.ReconnectGrace,
			fmt.Sprintf("is that of the whole arena, %v; leave it out", c.ReconnectGrace)},
	} {
		if refused.is {
			return &arena.SettingError{Field: refused.field, Wrong: refused.wrong}
		}
	}
	return nil
}

// Tournament is what anybody may see of a tournament, for the wire. When it will end, and what is in no tournament but
// in the audit log, is for others to add.
func (c Common) Tournament(t *arena.Tournament) *flip7v1.Tournament {
	w := &flip7v1.Tournament{
		Id: TournamentID(t.ID), Name: t.Settings.Name, State: states.to(t.State), StateWhy: c.Why(t), Settings: c.Settings(t.Settings),
		Predictable: t.Settings.Predictable(), CreateTime: moment(t.Created), StartTime: moment(t.Started), EndTime: moment(t.Ended),
		PairingRound: uint32(len(t.Rounds)),
	}
	if t.Started.IsZero() {
		w.StartTime = moment(t.StartAt)
	}
	if t.State != arena.Draft {
		commitment := t.Commitment()
		w.Commitment = commitment[:]
	}
	if t.State.Over() {
		w.Secret, w.Settings.Seed = slices.Clone(t.Secret[:]), t.Settings.Seed
	}
	for _, e := range t.Entries {
		if !e.FillIn {
			w.Entries++
		}
	}
	w.GamesFinished, w.Games = games(t)
	w.FinalTable = FinalTable(t)
	for _, e := range t.Excluded {
		if e.Round == 0 {
			w.ExcludedWhy = e.Why
		}
	}
	return w
}

// FinalTable is how the final table stands, for the wire; nil if there is none.
func FinalTable(t *arena.Tournament) *flip7v1.FinalTable {
	f := t.Final()
	if f == nil {
		return nil
	}
	w := &flip7v1.FinalTable{Bots: names(t, f.Bots), Rotations: uint32(f.Rotations()), Games: uint32(f.Games)}
	if f.Games == 0 {
		return w
	}
	d := f.Decision()
	w.Leader, w.Decided, w.PBest, w.GamesToGo = w.Bots[d.Leader], d.Decided, d.Best, uint32(max(d.More, 0)*len(f.Bots))
	for i, bot := range w.Bots {
		if i != d.Leader {
			lead, margin := f.Lead(d.Leader, i)
			w.Pairs = append(w.Pairs, &flip7v1.FinalPair{Bot: bot, Difference: lead, Margin: margin, Decided: lead > margin})
		}
	}
	return w
}

// games counts the games of a tournament: those that have ended, and those there will be as far as is known: who plays
// now plays every pairing round that is left, and a final table all that it may.
func games(t *arena.Tournament) (finished, all uint32) {
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			finished += uint32(len(tab.Games))
			if tab.State == arena.Void {
				all += uint32(len(tab.Games))
			} else {
				all += uint32(t.Settings.Games(r.Number, len(tab.Bots)))
			}
		}
	}
	if t.State.Over() {
		return finished, finished
	}
	seated := 0
	for _, e := range t.Entries {
		if e.State == arena.Entered && !e.FillIn {
			seated++
		}
	}
	if seated > 0 {
		seated = max(seated, swiss.MinSeats)
	}
	legs := max(0, len(t.Rounds)-t.Settings.Rounds)
	finalists := min(t.Settings.FinalTable, seated)
	if f := t.Final(); f != nil {
		finalists = len(f.Bots)
	}
	if finalists > 0 {
		all += uint32(finalists * t.Settings.FinalLeft(finalists, legs))
	}
	return finished, all + uint32(max(0, t.Settings.Rounds-len(t.Rounds))*seated*t.Settings.Rotations)
}

// Entry is an entry for the wire. Ready says whether the bot is connected now, and not absent.
func Entry(t *arena.Tournament, e arena.Entry, ready bool) *flip7v1.Entry {
	w := &flip7v1.Entry{Number: uint32(e.Number), Bot: e.Name, Player: e.Player, Owner: e.Owner, Build: e.Build, State: entryStates.to(e.State),
		Anchor: e.Anchor, Ready: ready && e.State == arena.Entered}
	if strings.HasPrefix(e.Player, "cmd:") {
		w.Player = "cmd" // the command tells of the organiser's folders
	}
	if e.Contribution != ([32]byte{}) {
		w.Contribution = slices.Clone(e.Contribution[:])
	}
	for _, r := range t.Rounds {
		if slices.Contains(r.Missing, e.Number) && !t.Settings.Leg(r.Number) {
			w.Missed++
		}
	}
	return w
}

// PairingRound is a pairing round for the wire.
func PairingRound(t *arena.Tournament, r arena.Round) *flip7v1.PairingRound {
	return &flip7v1.PairingRound{Number: uint32(r.Number), Tables: uint32(len(r.Tables)), Cost: uint64(r.Cost), Repeats: uint32(r.Repeats),
		Shares: uint64(r.Shares), Spread: r.Spread, Missing: names(t, r.Missing)}
}

func names(t *arena.Tournament, numbers []int) []string {
	var list []string
	for _, n := range numbers {
		list = append(list, t.Entries[n-1].Name)
	}
	return list
}

// Table is a table of a pairing round for the wire, with an explanation of why its bots meet.
func Table(t *arena.Tournament, round int, tab arena.Table, explanation string) *flip7v1.Table {
	w := &flip7v1.Table{PairingRound: uint32(round), Number: uint32(tab.Number), State: tableStates.to(tab.State), StateWhy: tab.Why,
		Bots: names(t, tab.Bots), Games: uint32(t.Settings.Games(round, len(tab.Bots))), GamesFinished: uint32(len(tab.Games)), Explanation: explanation}
	for _, m := range t.Repeats(round, tab) {
		w.Repeats = append(w.Repeats, &flip7v1.RepeatMeeting{Bot: t.Entries[m.Bots[0]-1].Name, Other: t.Entries[m.Bots[1]-1].Name, Times: uint32(m.Times)})
	}
	for _, number := range tab.Bots {
		switch tab.State {
		case arena.Complete:
			w.Scores = append(w.Scores, tableScore(tab, number))
		case arena.Void:
			w.Scores = append(w.Scores, 0.5)
		}
	}
	return w
}

// tableScore is the mean placement of a bot at its table.
func tableScore(tab arena.Table, number int) float64 {
	halves, of := 0, 0
	for _, g := range tab.Games {
		seat := slices.Index(g.Seats, number)
		if seat < 0 {
			continue
		}
		for other, place := range g.Result.Places {
			if other != seat {
				halves += 1 + cmp.Compare(place, g.Result.Places[seat])
				of += 2
			}
		}
	}
	return float64(halves) / float64(max(of, 1))
}

// Standing is a line of the standings for the wire, but for whether it is like the one above.
func Standing(t *arena.Tournament, s arena.Standing, p arena.Placement, stats arena.Stats) *flip7v1.Standing {
	w := &flip7v1.Standing{
		Rank: uint32(s.Rank), Bot: s.Name, Build: s.Entry.Build, Owner: s.Entry.Owner, Score: float(s.Score), ScheduleStrength: float(s.Strength),
		FirstPlaces: float(s.Firsts), Points: float(s.Points), Faults: Faults(stats), Games: uint32(s.Games), Withdrawn: s.Withdrawn,
		Latency: Latency(&stats.Latency), Slips: uint32(stats.Slips), PlacementMargin: finite(p.Margin), Missed: Entry(t, s.Entry, false).Missed,
	}
	if s.HeadToHead != nil {
		w.HeadToHead = proto.Float64(float(s.HeadToHead))
	}
	if s.Final != nil {
		w.FinalPlacement = proto.Float64(float(s.Final))
	}
	if p.Games > 0 {
		w.Placement = p.Mean
	}
	return w
}

// float is the number nearest to an exact fraction; 0 if there is none.
func float(r *big.Rat) float64 {
	if r == nil {
		return 0
	}
	f, _ := r.Float64()
	return f
}

// finite is a number for a field that is absent where nothing can be said.
func finite(f float64) *float64 {
	if math.IsInf(f, 0) || math.IsNaN(f) {
		return nil
	}
	return &f
}

// Faults are the faults of a bot by cause, for the wire.
func Faults(s arena.Stats) *flip7v1.FaultCounts {
	return &flip7v1.FaultCounts{Passed: uint32(s.Faults[game.Passed]), Illegal: uint32(s.Faults[game.Illegal]),
		Disconnected: uint32(s.Faults[game.Disconnected]), TimedOut: uint32(s.Faults[game.TimedOut])}
}

// Latency is how fast decisions came, for the wire; nil if none was measured.
func Latency(l *table.Latency) *flip7v1.LatencySummary {
	if l.Count() == 0 {
		return nil
	}
	return &flip7v1.LatencySummary{Decisions: uint32(l.Count()), P50: durationpb.New(l.Quantile(0.5)), P90: durationpb.New(l.Quantile(0.9)),
		P99: durationpb.New(l.Quantile(0.99)), Max: durationpb.New(l.Max())}
}

// Aim is how often one bot aimed at another, for the wire.
func Aim(t *arena.Tournament, a arena.Aim) *flip7v1.Aim {
	return &flip7v1.Aim{Bot: t.Entries[a.Bot-1].Name, Target: t.Entries[a.Target-1].Name, Card: Card(a.Card), Chances: uint32(a.Chances),
		Times: uint32(a.Times), Expected: a.Expected, Error: a.Error}
}

// Audit is what was done by hand to a tournament, for the wire. What was done begins with the verb; what follows is what it
// was done to.
func Audit(tournament int64, act arena.Act) *flip7v1.Audit {
	action, subject, _ := strings.Cut(act.What, " ")
	return &flip7v1.Audit{Time: moment(act.At), Who: act.Who, Action: action, Subject: subject, Why: act.Why, TournamentId: TournamentID(tournament)}
}

// moment is a time for the wire; nil if it is zero.
func moment(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}
