package game

// Observer is told of everything that happens in a game, in order. The state may be looked at, not changed or kept.
type Observer interface {
	Observe(s *State, e Event)
}

// EventKind says what happened.
type EventKind uint8

const (
	RoundStarted EventKind = iota + 1 // Seat is the dealer
	Decided                           // Seat answered Asked with Decision
	Drawn                             // Card turned up for Seat
	Left                              // Seat left the round with Status; after a bust Card is the duplicate
	Saved                             // Seat's Second Chance took the duplicate Card
	Given                             // Seat gave Card to Target: a Freeze or Flip Three now waits, a Second Chance protects
	SetAside                          // Card was set aside in Seat's Flip Three (R18)
	Discarded                         // Card, drawn by or lying in front of Seat, went to the discard pile unused or used up
	Flip3Began                        // Seat begins to draw three
	MadeFlip7                         // Seat has seven different numbers
	Reshuffled                        // the discard pile became the draw pile; Seat draws next
	RoundEnded                        // with End; Seat made the Flip 7, or is -1; points and totals are in the state
	GameEnded
)

var eventNames = [...]string{"", "round_started", "decided", "drawn", "left", "saved", "given", "set_aside", "discarded",
	"flip3_began", "made_flip7", "reshuffled", "round_ended", "game_ended"}

// String is the name of the kind in snake case.
func (k EventKind) String() string {
	if int(k) < len(eventNames) {
		return eventNames[k]
	}
	return "unknown"
}

// Event is one thing that happened; which fields count depends on Kind.
type Event struct {
	Kind     EventKind
	Seat     Seat
	Target   Seat
	Card     Card
	Decision Decision
	Asked    Kind
	Status   Status
	End      End
}

func (s *State) tell(e Event) { s.observer.Observe(s, e) }
