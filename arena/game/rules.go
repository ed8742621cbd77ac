package game

import "fmt"

// Version names the rules that this package plays; it changes when the same decisions on the same deal could end otherwise.
const Version = "flip7/1"

const (
	MinSeats = 3  // R2
	MaxSeats = 36 // R2: 3..36 seats must work
)

// TieBreak is what happens when several seats lead with 200 or more (R26).
type TieBreak uint8

const (
	AllPlay  TieBreak = iota // everybody plays another round
	TiedPlay                 // only the seats tied for the lead play on
	Shared                   // those who lead share the win
)

var tieBreakNames = [...]string{"all_play", "tied_play", "shared"}

func (t TieBreak) String() string {
	if int(t) < len(tieBreakNames) {
		return tieBreakNames[t]
	}
	return fmt.Sprintf("tie_break(%d)", uint8(t))
}

// ParseTieBreak reads "all_play", "tied_play" or "shared".
func ParseTieBreak(name string) (TieBreak, error) {
	for i, n := range tieBreakNames {
		if n == name {
			return TieBreak(i), nil
		}
	}
	return 0, fmt.Errorf("tie_break: %q is not all_play, tied_play or shared", name)
}

// Dealing is who is dealt a card unasked (R5).
type Dealing uint8

const (
	DealOnce     Dealing = iota // a seat with nothing in front of it
	DealEveryone                // in the first pass every active seat, whatever it holds
)

var dealingNames = [...]string{"once", "everyone"}

func (d Dealing) String() string {
	if int(d) < len(dealingNames) {
		return dealingNames[d]
	}
	return fmt.Sprintf("deal(%d)", uint8(d))
}

// ParseDealing reads "once" or "everyone".
func ParseDealing(name string) (Dealing, error) {
	for i, n := range dealingNames {
		if n == name {
			return Dealing(i), nil
		}
	}
	return 0, fmt.Errorf("deal: %q is not once or everyone", name)
}

// Rules are the rule options. Start from DefaultRules; a zero TargetScore, MaxRounds or Decks means its default.
type Rules struct {
	TieBreak      TieBreak // R26
	BustedAssigns bool     // R19: a seat that busted in a Flip Three still assigns the cards set aside
	Deal          Dealing  // R5
	TargetScore   int      // R25, points; default 200
	MaxRounds     int      // R28; default 1000
	Decks         int      // R2; default ceil(seats/18)
}

// DefaultRules are the options of RULES.md when nothing else is said, for a table of so many seats.
func DefaultRules(seats int) Rules {
	return Rules{BustedAssigns: true}.Complete(seats)
}

// Complete fills in the defaults of the options that are zero.
func (r Rules) Complete(seats int) Rules {
	if r.TargetScore == 0 {
		r.TargetScore = 200
	}
	if r.MaxRounds == 0 {
		r.MaxRounds = 1000
	}
	if r.Decks == 0 {
		r.Decks = (seats + 17) / 18
	}
	return r
}

// Check refuses options that cannot be played; the error names the option.
func (r Rules) Check() error {
	switch {
	case int(r.TieBreak) >= len(tieBreakNames):
		return fmt.Errorf("tie_break: %d is unknown", r.TieBreak)
	case int(r.Deal) >= len(dealingNames):
		return fmt.Errorf("deal: %d is unknown", r.Deal)
	case r.TargetScore < 1 || r.TargetScore > 1_000_000:
		return fmt.Errorf("target_score: %d is not 1..1000000", r.TargetScore)
	case r.MaxRounds < 1 || r.MaxRounds > 1_000_000:
		return fmt.Errorf("max_rounds: %d is not 1..1000000", r.MaxRounds)
	case r.Decks < 1 || r.Decks > MaxDecks:
		return fmt.Errorf("decks: %d is not 1..%d", r.Decks, MaxDecks)
	}
	return nil
}
