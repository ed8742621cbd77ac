package game

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// Cause is why a decision was played.
type Cause uint8

const (
	Chosen       Cause = iota // the player decided
	Passed                    // the player asked for the default decision
	Illegal                   // time was up, and it had only sent illegal decisions
	Disconnected              // time was up, and no stream of the player was there
	TimedOut                  // time was up
)

var causeNames = [...]string{"chosen", "passed", "illegal", "disconnected", "timed_out"}

func (c Cause) String() string {
	if int(c) < len(causeNames) {
		return causeNames[c]
	}
	return fmt.Sprintf("cause(%d)", uint8(c))
}

// Fault reports whether the default decision was played.
func (c Cause) Fault() bool { return c != Chosen }

// ParseCause reads what String writes.
func ParseCause(name string) (Cause, error) {
	if i := slices.Index(causeNames[:], name); i >= 0 {
		return Cause(i), nil
	}
	return 0, fmt.Errorf("%q is no cause; causes are chosen, passed, illegal, disconnected, timed_out", name)
}

// Move is a decision that was played, with its cause.
type Move struct {
	Decision Decision
	Cause    Cause
}

// Record is all that replays a game, and how it ended.
type Record struct {
	Seats  int
	Rules  Rules    // complete
	Dealer Seat     // of the first round
	Seed   [32]byte // of the keyed deal
	Moves  []Move   // in the order asked
	Result Result
}

// ErrRecord is what Replay finds wrong with a record.
var ErrRecord = errors.New("the record does not hold")

// Replay plays the record's moves on a deal and compares the result with the recorded one.
func (r Record) Replay(deal Deal, observer Observer) (State, error) {
	var s State
	if err := s.Reset(Setup{Seats: r.Seats, Rules: r.Rules, Dealer: r.Dealer, Deal: deal, Observer: observer}); err != nil {
		return s, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	for i, m := range r.Moves {
		if s.Over() {
			return s, fmt.Errorf("%w: the game is over after move %d of %d", ErrRecord, i, len(r.Moves))
		}
		if m.Cause.Fault() && m.Decision != s.request.Default() {
			return s, fmt.Errorf("%w: move %d is %v for a seat that was %v; the default is %v", ErrRecord, i+1, m.Decision, m.Cause, s.request.Default())
		}
		if err := s.Apply(m.Decision); err != nil {
			return s, fmt.Errorf("%w: move %d: %w", ErrRecord, i+1, err)
		}
	}
	if !s.Over() {
		return s, fmt.Errorf("%w: the game is not over after %d moves", ErrRecord, len(r.Moves))
	}
	got := s.Result()
	if got.Rounds != r.Result.Rounds || !slices.Equal(got.Totals, r.Result.Totals) || !slices.Equal(got.Places, r.Result.Places) {
		return s, fmt.Errorf("%w: it says totals %v, places %v after %d rounds, the cards say totals %v, places %v after %d", ErrRecord,
			r.Result.Totals, r.Result.Places, r.Result.Rounds, got.Totals, got.Places, got.Rounds)
	}
	return s, nil
}

// rulesJSON and recordJSON are the written form of a record: decisions are "hit", "stay" or a seat number, and faults lists
// the moves (from 0) that were not chosen.
type rulesJSON struct {
	Version       string `json:"version"`
	TieBreak      string `json:"tie_break"`
	BustedAssigns bool   `json:"busted_assigns"`
	Deal          string `json:"deal"`
	TargetScore   int    `json:"target_score"`
	MaxRounds     int    `json:"max_rounds"`
	Decks         int    `json:"decks"`
}

type recordJSON struct {
	Rules  Rules       `json:"rules"`
	Seats  int         `json:"seats"`
	Dealer int         `json:"dealer"`
	Seed   string      `json:"seed"`
	Moves  []Decision  `json:"moves"`
	Faults []faultJSON `json:"faults,omitempty"`
	Rounds int         `json:"rounds"`
	Totals []int       `json:"totals"`
	Places []int       `json:"places"`
}

type faultJSON struct {
	Move  int    `json:"move"`
	Cause string `json:"cause"`
}

// decode refuses keys that v does not have: one that is misspelt would be taken for one that is left out.
func decode(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

// MarshalJSON writes the options by their names.
func (r Rules) MarshalJSON() ([]byte, error) {
	return json.Marshal(rulesJSON{Version: Version, TieBreak: r.TieBreak.String(), BustedAssigns: r.BustedAssigns,
		Deal: r.Deal.String(), TargetScore: r.TargetScore, MaxRounds: r.MaxRounds, Decks: r.Decks})
}

// UnmarshalJSON reads what MarshalJSON writes; another version is refused.
func (r *Rules) UnmarshalJSON(data []byte) error {
	var w rulesJSON
	if err := decode(data, &w); err != nil {
		return err
	}
	if w.Version != Version {
		return fmt.Errorf("rules.version: %q is not %q", w.Version, Version)
	}
	tie, err := ParseTieBreak(w.TieBreak)
	if err != nil {
		return fmt.Errorf("rules.%w", err)
	}
	dealing, err := ParseDealing(w.Deal)
	if err != nil {
		return fmt.Errorf("rules.%w", err)
	}
	*r = Rules{TieBreak: tie, BustedAssigns: w.BustedAssigns, Deal: dealing,
		TargetScore: w.TargetScore, MaxRounds: w.MaxRounds, Decks: w.Decks}
	return nil
}

// MarshalJSON writes "hit", "stay" or a seat number.
func (d Decision) MarshalJSON() ([]byte, error) {
	if to, gives := d.Target(); gives {
		return json.Marshal(int(to))
	}
	return json.Marshal(d.String())
}

// UnmarshalJSON reads what MarshalJSON writes.
func (d *Decision) UnmarshalJSON(data []byte) error {
	text := string(data)
	if len(data) > 0 && data[0] == '"' {
		if err := json.Unmarshal(data, &text); err != nil {
			return err
		}
		if text != "hit" && text != "stay" {
			return fmt.Errorf("%q is no decision; decisions are \"hit\", \"stay\" or a seat number", text)
		}
	}
	parsed, err := ParseDecision(text)
	if err == nil {
		*d = parsed
	}
	return err
}

// MarshalJSON writes the record on one line, always with the same bytes.
func (r Record) MarshalJSON() ([]byte, error) {
	w := recordJSON{Rules: r.Rules, Seats: r.Seats, Dealer: int(r.Dealer), Seed: hex.EncodeToString(r.Seed[:]),
		Moves: make([]Decision, len(r.Moves)), Rounds: r.Result.Rounds, Totals: r.Result.Totals, Places: r.Result.Places}
	for i, m := range r.Moves {
		w.Moves[i] = m.Decision
		if m.Cause.Fault() {
			w.Faults = append(w.Faults, faultJSON{Move: i, Cause: m.Cause.String()})
		}
	}
	return json.Marshal(w)
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Record) UnmarshalJSON(data []byte) error {
	var w recordJSON
	if err := decode(data, &w); err != nil {
		return err
	}
	out := Record{Seats: w.Seats, Rules: w.Rules, Dealer: Seat(w.Dealer), Moves: make([]Move, len(w.Moves)),
		Result: Result{Rounds: w.Rounds, Totals: w.Totals, Places: w.Places}}
	seed, err := hex.DecodeString(w.Seed)
	if err != nil || len(seed) != len(out.Seed) {
		return fmt.Errorf("seed: %q is not 64 hexadecimal digits", w.Seed)
	}
	copy(out.Seed[:], seed)
	for i, d := range w.Moves {
		out.Moves[i].Decision = d
	}
	for i, f := range w.Faults {
		cause, err := ParseCause(f.Cause)
		if err != nil {
			return fmt.Errorf("faults[%d].cause: %w", i, err)
		}
		if f.Move < 0 || f.Move >= len(out.Moves) {
			return fmt.Errorf("faults[%d].move: %d is not one of the %d moves", i, f.Move, len(out.Moves))
		}
		out.Moves[f.Move].Cause = cause
	}
	*r = out
	return nil
}
