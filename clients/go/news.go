package flip7

import (
	"fmt"
	"time"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// GameStarted says that a game of the bot begins, or goes on after a reconnect.
type GameStarted struct {
	Game    *Game
	Me      int  // the bot's own seat
	Resumed bool // the game was begun before: the stream or the arena was lost
}

// GameEnd says how a game ended.
type GameEnd int

// How a game ends. All but EndComplete count for nothing.
const (
	EndComplete   = GameEnd(flip7v1.GameEnd_GAME_END_COMPLETE)    // played to its end
	EndFailed     = GameEnd(flip7v1.GameEnd_GAME_END_FAILED)      // the arena failed; a new attempt may follow
	EndVoid       = GameEnd(flip7v1.GameEnd_GAME_END_VOID)        // stopped by hand
	EndCalledAway = GameEnd(flip7v1.GameEnd_GAME_END_CALLED_AWAY) // practice, ended because a tournament calls a bot
)

// String is "complete", "failed", "void" or "called_away".
func (e GameEnd) String() string { return inWords(flip7v1.GameEnd(e), "GAME_END_") }

// GameFinished says that a game of the bot is over.
type GameFinished struct {
	GameID  string // as Game.ID
	Attempt int
	End     GameEnd
	Me      int   // the bot's own seat
	Places  []int // by seat, 1 the best; empty unless EndComplete
	Totals  []int // by seat; empty unless EndComplete
	Rounds  int   // played to their end
	Faults  int   // requests of the bot that ended in the default decision
	Slips   int   // illegal decisions of the bot that were mended in time
}

// VerdictCode says what became of a decision.
type VerdictCode int

// Why a decision was not simply taken.
const (
	VerdictIllegal        = VerdictCode(flip7v1.VerdictCode_VERDICT_CODE_ILLEGAL)         // not legal
	VerdictLate           = VerdictCode(flip7v1.VerdictCode_VERDICT_CODE_LATE)            // the default had been played
	VerdictDuplicate      = VerdictCode(flip7v1.VerdictCode_VERDICT_CODE_DUPLICATE)       // answered otherwise before
	VerdictUnknownRequest = VerdictCode(flip7v1.VerdictCode_VERDICT_CODE_UNKNOWN_REQUEST) // there is no such request
	VerdictDefaulted      = VerdictCode(flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED)       // the default was played
)

// String is "illegal", "late", "duplicate", "unknown_request" or "defaulted".
func (c VerdictCode) String() string { return inWords(flip7v1.VerdictCode(c), "VERDICT_CODE_") }

// Cause says why a decision is what it is.
type Cause int

// Why the default decision was played, and CauseChosen for a decision of the bot's own.
const (
	CauseChosen       = Cause(flip7v1.Cause_CAUSE_CHOSEN)
	CausePassed       = Cause(flip7v1.Cause_CAUSE_PASSED)       // the bot asked for it
	CauseIllegal      = Cause(flip7v1.Cause_CAUSE_ILLEGAL)      // nothing legal came after an illegal decision
	CauseDisconnected = Cause(flip7v1.Cause_CAUSE_DISCONNECTED) // time ran out while no stream of the bot was up
	CauseTimedOut     = Cause(flip7v1.Cause_CAUSE_TIMED_OUT)    // time ran out
)

// String is "chosen", "passed", "illegal", "disconnected" or "timed_out".
func (c Cause) String() string { return inWords(flip7v1.Cause(c), "CAUSE_") }

// Verdict says that a decision was not simply taken.
type Verdict struct {
	RequestID string
	Code      VerdictCode
	Message   string        // the same in words
	View      *View         // the request it is about; nil: the kit does not remember it
	Legal     []Decision    // with VerdictIllegal: what is legal
	TriesLeft int           // with VerdictIllegal: tries left; 0: the default was played
	TimeLeft  time.Duration // with VerdictIllegal
	Stands    Decision      // with VerdictLate, VerdictDuplicate, VerdictDefaulted: the decision that stands
	Cause     Cause         // with VerdictLate, VerdictDefaulted: why the default was played
}

// EventKind says what happened in an Event; which of its fields tell more is said in game.proto.
type EventKind int

// What happens in a game. More kinds may come.
const (
	EventRoundStarted   = EventKind(flip7v1.EventKind_EVENT_KIND_ROUND_STARTED)
	EventDecided        = EventKind(flip7v1.EventKind_EVENT_KIND_DECIDED)
	EventDrawn          = EventKind(flip7v1.EventKind_EVENT_KIND_DRAWN)
	EventLeft           = EventKind(flip7v1.EventKind_EVENT_KIND_LEFT)
	EventSaved          = EventKind(flip7v1.EventKind_EVENT_KIND_SAVED)
	EventGiven          = EventKind(flip7v1.EventKind_EVENT_KIND_GIVEN)
	EventSetAside       = EventKind(flip7v1.EventKind_EVENT_KIND_SET_ASIDE)
	EventDiscarded      = EventKind(flip7v1.EventKind_EVENT_KIND_DISCARDED)
	EventFlipThreeBegan = EventKind(flip7v1.EventKind_EVENT_KIND_FLIP_THREE_BEGAN)
	EventMadeFlip7      = EventKind(flip7v1.EventKind_EVENT_KIND_MADE_FLIP_7)
	EventReshuffled     = EventKind(flip7v1.EventKind_EVENT_KIND_RESHUFFLED)
	EventRoundEnded     = EventKind(flip7v1.EventKind_EVENT_KIND_ROUND_ENDED)
	EventGameEnded      = EventKind(flip7v1.EventKind_EVENT_KIND_GAME_ENDED)
)

// String is "round_started", "decided", "drawn" and so on.
func (k EventKind) String() string { return inWords(flip7v1.EventKind(k), "EVENT_KIND_") }

// RoundEnd says how a round ended (R8).
type RoundEnd int

// How a round ends.
const (
	RoundAllOut    = RoundEnd(flip7v1.RoundEnd_ROUND_END_ALL_OUT)   // no seat was active, no card waited
	RoundFlip7     = RoundEnd(flip7v1.RoundEnd_ROUND_END_FLIP_7)    // seven different numbers (R15)
	RoundExhausted = RoundEnd(flip7v1.RoundEnd_ROUND_END_EXHAUSTED) // no card could be drawn (R24)
)

// String is "all_out", "flip_7" or "exhausted".
func (e RoundEnd) String() string { return inWords(flip7v1.RoundEnd(e), "ROUND_END_") }

// Event is one thing that happened in a game of the bot, as anyone at the table may see it.
type Event struct {
	GameID   string // as Game.ID
	Attempt  int
	Number   int // within the attempt, from 1; a gap means that events were dropped
	Kind     EventKind
	Round    int
	Seat     int      // the seat the event is about
	Card     Card     // the card the event is about; -1: none
	Target   int      // the seat that is given a card
	Asked    Kind     // with EventDecided: what was asked
	Decision Decision // with EventDecided
	Status   Status   // with EventLeft: how
	Points   int      // with EventLeft, EventMadeFlip7: what the seat scores
	End      RoundEnd // with EventRoundEnded
	Scores   []int    // with EventRoundEnded: of the round, by seat
	Totals   []int    // with EventRoundEnded, EventGameEnded: by seat
	Places   []int    // with EventGameEnded: by seat, 1 the best
}

func startedOf(m *flip7v1.GameStarted, game *Game) GameStarted {
	return GameStarted{Game: game, Me: int(m.GetSeat()), Resumed: m.GetResumed()}
}

func finishedOf(m *flip7v1.GameFinished) GameFinished {
	return GameFinished{
		GameID:  m.GetGameId(),
		Attempt: int(m.GetAttempt()),
		End:     GameEnd(m.GetEnd()),
		Me:      int(m.GetSeat()),
		Places:  ints(m.GetPlaces()),
		Totals:  ints(m.GetTotals()),
		Rounds:  int(m.GetRounds()),
		Faults:  int(m.GetFaults()),
		Slips:   int(m.GetSlips()),
	}
}

// String is the news in words.
func (f GameFinished) String() string {
	if f.End != EndComplete || f.Me >= len(f.Places) || f.Me >= len(f.Totals) {
		return fmt.Sprintf("game %s ended after %s: %s", f.GameID, counted(f.Rounds, "round"), f.End)
	}
	words := fmt.Sprintf("game %s is over after %s: place %d of %d with %s",
		f.GameID, counted(f.Rounds, "round"), f.Places[f.Me], len(f.Places), counted(f.Totals[f.Me], "point"))
	if f.Faults > 0 {
		words += ", " + counted(f.Faults, "fault")
	}
	return words
}

// counted is "1 game" or "2 games".
func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func verdictOf(m *flip7v1.Verdict, view *View) Verdict {
	return Verdict{
		RequestID: m.GetRequestId(),
		Code:      VerdictCode(m.GetCode()),
		Message:   m.GetMessage(),
		View:      view,
		Legal:     legalOf(m.GetLegal(), m.GetLegalSeats()),
		TriesLeft: int(m.GetTriesLeft()),
		TimeLeft:  m.GetTimeLeft().AsDuration(),
		Stands:    decisionOf(m.GetAnswer(), m.GetSeat()),
		Cause:     Cause(m.GetCause()),
	}
}

// String is the verdict in words.
func (v Verdict) String() string {
	switch v.Code {
	case VerdictIllegal:
		return fmt.Sprintf("illegal decision for request %s: %s", v.RequestID, v.Message)
	}
	// The arena's own words say what stands, and why.
	return fmt.Sprintf("request %s: %s: %s", v.RequestID, v.Code, v.Message)
}

func eventOf(m *flip7v1.GameEvent) Event {
	return Event{
		GameID:   m.GetGameId(),
		Attempt:  int(m.GetAttempt()),
		Number:   int(m.GetNumber()),
		Kind:     EventKind(m.GetKind()),
		Round:    int(m.GetRound()),
		Seat:     int(m.GetSeat()),
		Card:     cardOf(m.GetCard()),
		Target:   int(m.GetTarget()),
		Asked:    Kind(m.GetRequest()),
		Decision: decisionOf(m.GetAnswer(), m.GetTarget()),
		Status:   Status(m.GetStatus()),
		Points:   int(m.GetPoints()),
		End:      RoundEnd(m.GetEnd()),
		Scores:   ints(m.GetScores()),
		Totals:   ints(m.GetTotals()),
		Places:   ints(m.GetPlaces()),
	}
}
