// Package game is the rules of Flip 7 as a value: a State says who is asked what and lists the legal decisions, Play
// refuses the rest and hands back the next State. It knows no clock, network or chance: cards come from a Deal that is
// handed in. Comments cite the clauses of the rules by number (R18).
package game

import (
	"cmp"
	"errors"
	"fmt"
)

// Deal is where cards come from. Draw names a copy that is in d.Pile.
type Deal interface {
	Draw(d Draw) (Copy, error)
}

// Draw is all that a Deal may know of the draw it has to answer.
type Draw struct {
	Pile       *Pack // the draw pile, not to be changed or kept
	Round      int   // 1 for the first
	Seat       Seat  // who draws
	Nth        int   // how many cards this seat has drawn in this round
	Reshuffles int   // of the game so far
	Since      int   // cards drawn since the last reshuffle, or since the beginning
}

// Setup is what a game starts from.
type Setup struct {
	Seats    int      // 3..36
	Rules    Rules    // zero TargetScore, MaxRounds, Decks: their defaults
	Dealer   Seat     // the first dealer; the seat on its left acts first (R3)
	Totals   []int    // points the seats start with; nil is 0 each
	Deal     Deal     // where the cards come from
	Observer Observer // told of everything that happens; nil for nobody
}

// Status is how a seat stands in the running round (R4).
type Status uint8

const (
	Active Status = iota // still in the round
	Stayed
	Frozen
	Busted
	Out // sits this round out (R26, tied_play)
)

var statusNames = [...]string{"active", "stayed", "frozen", "busted", "out"}

func (s Status) String() string {
	if int(s) < len(statusNames) {
		return statusNames[s]
	}
	return fmt.Sprintf("status(%d)", uint8(s))
}

// End is how a round ended (R8).
type End uint8

const (
	Running   End = iota
	AllOut        // no seat is active
	Flip7         // R15
	Exhausted     // R24: no card could be drawn
)

var endNames = [...]string{"running", "all_out", "flip7", "exhausted"}

func (e End) String() string {
	if int(e) < len(endNames) {
		return endNames[e]
	}
	return fmt.Sprintf("end(%d)", uint8(e))
}

// seat is what lies in front of a seat, and its points.
type seat struct {
	row     Row
	mods    [6]uint8 // how many of +2 +4 +6 +8 +10 x2
	freezes uint8    // R16: in front of the seat from their assignment
	flips   uint8    // R20
	cards   uint8    // how many cards lie in front of the seat, of any kind (R5)
	bust    Card     // R13: the duplicate, if the status is Busted
	status  Status
	second  bool
	chance  Copy   // which copy the Second Chance is
	sum     uint16 // of the row
	plus    uint16 // of the + modifiers
	drawn   uint16 // cards drawn in this round
	total   int
}

// points is what the seat scores as it lies (R21), without the 15 for Flip 7.
func (s *seat) points() int {
	if s.status == Busted {
		return 0
	}
	sum := int(s.sum)
	if s.mods[X2-Plus2] > 0 { // once, if it holds one or several
		sum *= 2
	}
	return sum + int(s.plus)
}

// waiting is an assigned Freeze or Flip Three that has not taken effect (R18).
type waiting struct {
	card   Card
	at     uint8 // the seat, small: a State is copied as a whole
	copied Copy
}

func (w waiting) seat() Seat { return Seat(w.at) }

// State is a game in progress. It is a value: Play leaves it as it was. (Copies share the Deal; the deals of tournaments
// have no memory.)
type State struct {
	rules    Rules
	deal     Deal
	observer Observer
	n        int
	seats    [MaxSeats]seat
	playing  Seats // who plays this round (R26)
	active   Seats // R4
	visited  Seats // whom the first pass has reached (R5, deal = everyone)

	draw, discard Pack
	reshuffles    int
	since         int // cards drawn since the last reshuffle
	roundDraws    int // in this round (R24)

	round  int
	dealer Seat
	turn   Seat // whose deal or hit is being resolved; play goes on left of it (R7)
	end    End
	seven  Seat // who made Flip 7, or -1

	request Request
	hand    Copy // the card that a pending GiveFreeze, GiveFlip3 or GiveSecond is about

	queue         [6 * MaxDecks]waiting // R18: a ring
	queued, front int

	three    bool // a Flip Three is running, for threeOf
	threeOf  Seat
	threeOn  Copy    // the Flip Three card itself
	left     int     // draws left of it
	aside    [3]Copy // R18: set aside, in the order drawn
	asides   int
	assigned int // how many of aside are assigned

	over bool
}

var errDeal = errors.New("deal: missing")

// New checks the setup, deals, and plays to the first request.
func New(setup Setup) (State, error) {
	var s State
	if err := s.Reset(setup); err != nil {
		return State{}, err
	}
	return s, nil
}

// Reset is New in place, for roll-outs that reuse one State.
func (s *State) Reset(setup Setup) error {
	if setup.Seats < MinSeats || setup.Seats > MaxSeats {
		return fmt.Errorf("seats: %d is not %d..%d", setup.Seats, MinSeats, MaxSeats)
	}
	rules := setup.Rules.Complete(setup.Seats)
	if err := rules.Check(); err != nil {
		return err
	}
	if setup.Dealer < 0 || int(setup.Dealer) >= setup.Seats {
		return fmt.Errorf("dealer: %d is not a seat 0..%d", setup.Dealer, setup.Seats-1)
	}
	if setup.Totals != nil && len(setup.Totals) != setup.Seats {
		return fmt.Errorf("totals: %d of them for %d seats", len(setup.Totals), setup.Seats)
	}
	for i, total := range setup.Totals {
		if total < 0 {
			return fmt.Errorf("totals[%d]: %d is less than 0", i, total)
		}
	}
	if setup.Deal == nil {
		return errDeal
	}
	*s = State{}
	s.rules, s.deal, s.observer = rules, setup.Deal, setup.Observer
	s.n, s.playing = setup.Seats, 1<<setup.Seats-1
	for i, total := range setup.Totals {
		s.seats[i].total = total
	}
	s.discard.decks = uint16(rules.Decks)
	s.draw.complement(&s.discard) // of nothing: all the cards
	s.dealer = setup.Dealer
	s.startRound()
	return s.run()
}

// Request is who is asked what; its Kind is Nothing when the game is over.
func (s *State) Request() Request { return s.request }

// Over reports whether the game has ended.
func (s *State) Over() bool { return s.over }

// ErrIllegal is the refusal of a decision that the pending request does not list.
var ErrIllegal = errors.New("illegal decision")

// Play is the state after a decision of the seat that is asked. An illegal decision gives ErrIllegal and the same state.
func (s State) Play(d Decision) (State, error) {
	next := s
	if err := next.Apply(d); err != nil {
		return s, err
	}
	return next, nil
}

// Apply is Play in place and without allocation. After an error other than ErrIllegal (a Deal that failed) the state is
// of no further use.
func (s *State) Apply(d Decision) error {
	if !s.request.Allows(d) {
		return fmt.Errorf("%w: %v does not answer %v of seat %d", ErrIllegal, d, s.request.Kind, s.request.Seat)
	}
	asked := s.request
	s.request = Request{}
	if s.observer != nil {
		s.tell(Event{Kind: Decided, Seat: asked.Seat, Decision: d, Asked: asked.Kind})
	}
	switch to, _ := d.Target(); asked.Kind {
	case Turn:
		if d == Stay {
			s.leave(asked.Seat, Stayed)
		} else if err := s.drawFor(asked.Seat); err != nil {
			return err
		}
	case GiveSecond:
		s.giveSecond(asked.Seat, to, s.hand)
	default:
		s.assign(asked.Seat, to, s.hand)
	}
	return s.run()
}

// Result is how a game stands: its totals and places (R27).
type Result struct {
	Rounds int
	Totals []int
	Places []int // 1 is the best; equal totals share the better place (1, 2, 2, 4)
}

// Result is how the game stands; it is final when Over.
func (s *State) Result() Result {
	r := Result{Rounds: s.round, Totals: make([]int, s.n)}
	for i := range s.n {
		r.Totals[i] = s.seats[i].total
	}
	r.Places = Places(r.Totals)
	return r
}

// Places ranks totals in descending order, equal ones sharing the better place (R27).
func Places(totals []int) []int {
	places := make([]int, len(totals))
	for i, a := range totals {
		places[i] = 1
		for _, b := range totals {
			if cmp.Less(a, b) {
				places[i]++
			}
		}
	}
	return places
}
