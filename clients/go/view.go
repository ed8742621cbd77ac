package flip7

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Kind is what a seat is asked.
type Kind int

// What a bot is asked. Kinds that may come later are answered by the kit with Pass and never reach the bot.
const (
	Turn       = Kind(flip7v1.RequestKind_REQUEST_KIND_TURN)          // hit or stay? (R5)
	GiveFreeze = Kind(flip7v1.RequestKind_REQUEST_KIND_FREEZE)        // who is to take this Freeze? (R12)
	GiveFlip3  = Kind(flip7v1.RequestKind_REQUEST_KIND_FLIP_THREE)    // who is to take this Flip Three? (R12)
	GiveSecond = Kind(flip7v1.RequestKind_REQUEST_KIND_SECOND_CHANCE) // who is to get this spare Second Chance? (R11)
)

// String is "turn", "freeze", "flip_three" or "second_chance".
func (k Kind) String() string { return inWords(flip7v1.RequestKind(k), "REQUEST_KIND_") }

// known reports whether the kit can show the request to a bot.
func (k Kind) known() bool { return k >= Turn && k <= GiveSecond }

// Status says whether a seat is still in the round (R4).
type Status int

// How a seat stands in the round.
const (
	Active = Status(flip7v1.SeatStatus_SEAT_STATUS_ACTIVE) // in the round
	Stayed = Status(flip7v1.SeatStatus_SEAT_STATUS_STAYED) // its points are safe
	Frozen = Status(flip7v1.SeatStatus_SEAT_STATUS_FROZEN) // its points are safe (R16)
	Busted = Status(flip7v1.SeatStatus_SEAT_STATUS_BUSTED) // scores 0 this round (R13)
	Out    = Status(flip7v1.SeatStatus_SEAT_STATUS_OUT)    // sits this round out (R26)
)

// String is "active", "stayed", "frozen", "busted" or "out".
func (s Status) String() string { return inWords(flip7v1.SeatStatus(s), "SEAT_STATUS_") }

// TieBreak says what happens when several seats lead with the target score or more (R26).
type TieBreak int

// The readings of R26.
const (
	TieAllPlay  = TieBreak(flip7v1.TieBreak_TIE_BREAK_ALL_PLAY)  // everybody plays another round
	TieTiedPlay = TieBreak(flip7v1.TieBreak_TIE_BREAK_TIED_PLAY) // only those tied for the lead do
	TieShared   = TieBreak(flip7v1.TieBreak_TIE_BREAK_SHARED)    // those who lead share the win
)

// String is "all_play", "tied_play" or "shared".
func (t TieBreak) String() string { return inWords(flip7v1.TieBreak(t), "TIE_BREAK_") }

// Rules are the options a game is played under.
type Rules struct {
	Version       string   // of the rules as a whole, such as "flip7/1"
	TieBreak      TieBreak // R26
	BustedAssigns bool     // whether a seat that busts in a Flip Three still assigns the cards set aside (R19)
	DealEveryone  bool     // whether every seat is dealt a card in the first pass, whatever it holds (R5)
	TargetScore   int      // points at which a completed round ends the game (R25)
	MaxRounds     int      // rounds after which the game stops (R28)
	Decks         int      // decks of 94 cards (R2)
}

// Game is what stays the same from the first request of a game to the last. All its views point to the same Game.
type Game struct {
	ID              string        // names the game; compare it, do not take it apart
	Attempt         int           // how often it was begun, from 1; each attempt has its own deal
	Tournament      string        // the tournament; empty: practice
	PairingRound    int           // of the tournament, from 1; 0: practice
	PairingRounds   int           // how many the tournament has; 0: practice
	Table           int           // within the pairing round, from 1; 0: practice
	Number, Of      int           // this is game Number of Of at the table; they run side by side
	Rules           Rules         // every option filled in
	Bots            []string      // who sits where, by seat
	DecisionTimeout time.Duration // for each request, before the time bank runs
	TimeBank        time.Duration // of each seat, for the whole game
	Rated           bool          // counts for the Elo table
	Practice        bool          // unrated, ends when a tournament calls the bot
	FinalTable      bool          // the final table of the tournament
}

// Seat is what lies in front of a seat and what it has.
type Seat struct {
	Status       Status
	Row          []Card        // numbers, ascending; after a bust the duplicate is there twice
	Modifiers    []Card        // ascending
	SecondChance bool          // holds a Second Chance
	Actions      []Card        // Freeze and Flip3 cards in front of it, those that wait too
	Points       int           // at stake: what it would score if the round ended now (R21)
	Total        int           // points of the completed rounds
	Bank         time.Duration // time bank when this round began, whole seconds
	ToBeDealt    bool          // is dealt a card unasked when its turn comes (R5)
}

// Assigned is a Freeze or Flip3 that was assigned to a seat and waits for its turn to take effect (R18).
type Assigned struct {
	Card Card
	Seat int
}

// FlipThree is the Flip Three that is being carried out (R17).
type FlipThree struct {
	Seat  int    // who draws
	Left  int    // cards still to be drawn, 0 to 2; 0: the cards set aside are being assigned
	Aside []Card // set aside and not yet assigned, in the order drawn (R18)
}

// View is a request as a bot sees it: what is asked, and all that anyone at the table may know. A bot that keeps nothing
// can play from it. Seats are numbered 0 to len(Seats)-1 clockwise. While a seat is asked who is to have a card, that
// card is in none of the lists.
//
// A View belongs to the call of Decide that it was made for; it does not change, and nothing else refers to it but Game,
// which views of the same game share.
type View struct {
	Kind        Kind
	Me          int   // the bot's own seat
	Targets     []int // the seats that Give may name, ascending; empty in a Turn
	Game        *Game
	Round       int // of the game, from 1
	Dealer      int
	Next        int // who acts next once what goes on now is done, if no seat drops out by it (R7)
	Seats       []Seat
	Waiting     []Assigned // in the order in which they will take effect (R18)
	FlipThree   *FlipThree // nil: none
	DrawPile    Counts
	DiscardPile Counts
	FirstPass   bool // the first pass around the table goes on (R5)

	TimeBank    time.Duration // of the bot, what was left when the request was sent
	LastLatency time.Duration // how long the last decision of this game took, as the arena measured it; 0: there was none
	Resent      bool          // the arena sent the request before
	Absent      bool          // the arena had given the bot up: any decision says that it is back

	deadline time.Time
	use      *use // nil: in no arena
	request  *flip7v1.DecisionRequest
}

// NewView is the view of a request, for tests of a bot without an arena. Its time runs from now.
func NewView(request *flip7v1.DecisionRequest) *View {
	return viewOf(request, gameOf(request.GetGame()), time.Now())
}

// Hit is the decision to draw a card, in a Turn.
func (v *View) Hit() Decision { return Decision{answer: flip7v1.Answer_ANSWER_HIT} }

// Stay is the decision to bank the points at stake, in a Turn.
func (v *View) Stay() Decision { return Decision{answer: flip7v1.Answer_ANSWER_STAY} }

// Give is the decision to give the card in question to a seat, one of Targets.
func (v *View) Give(seat int) Decision {
	return Decision{answer: flip7v1.Answer_ANSWER_GIVE, seat: seat}
}

// Pass asks the arena to decide: stay for a turn; a card goes to the seat itself if that is legal, else to the next legal
// seat clockwise. It is always taken and counted as a fault.
func (v *View) Pass() Decision { return Decision{answer: flip7v1.Answer_ANSWER_PASS} }

// Legal lists the legal decisions but Pass: hit and stay, or a Give for each of Targets. There are always some.
func (v *View) Legal() []Decision {
	if legal := legalOf(v.request.GetLegal(), v.request.GetLegalSeats()); len(legal) > 0 {
		return legal
	}
	return []Decision{v.Pass()}
}

// Mine is the bot's own seat, Seats[Me].
func (v *View) Mine() *Seat { return &v.Seats[v.Me] }

// TimeLeft is the time left, now, until the arena plays the default decision: the rest of the decision timeout, and the
// time bank. The way back to the arena is not taken off.
func (v *View) TimeLeft() time.Duration { return time.Until(v.deadline) }

// Context ends when a decision is of no use any more: time is up, the game is over, or Play ends. A bot that thinks for
// long looks at it.
func (v *View) Context() context.Context {
	if v.use == nil {
		return context.Background()
	}
	return v.use.context()
}

// use is how long a decision is of use. Most bots never ask: the context is made for the first that does.
type use struct {
	deadline time.Time

	mu     sync.Mutex
	ctx    context.Context // until cancel is set that of Play
	cancel func()
	early  bool // it was over before its time, and nobody had asked
}

func (u *use) context() context.Context {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.cancel != nil:
	case u.early:
		u.ctx, u.cancel = context.WithCancel(u.ctx)
		u.cancel()
	default:
		u.ctx, u.cancel = context.WithDeadline(u.ctx, u.deadline)
	}
	return u.ctx
}

func (u *use) end() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.cancel != nil {
		u.cancel()
	} else if time.Now().Before(u.deadline) {
		u.early = true
	}
}

// Request is the request as it came over the wire. It must not be changed.
func (v *View) Request() *flip7v1.DecisionRequest { return v.request }

// String is the position on one line, for a log.
func (v *View) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "game %s attempt %d, round %d, seat %d is asked %s:", v.Game.ID, v.Game.Attempt, v.Round, v.Me, v.Kind)
	for i, s := range v.Seats {
		name := "?"
		if i < len(v.Game.Bots) {
			name = v.Game.Bots[i]
		}
		fmt.Fprintf(&b, " [%d %s %s", i, name, s.Status)
		for _, c := range slices.Concat(s.Row, s.Modifiers, s.Actions) {
			b.WriteString(" " + c.String())
		}
		if s.SecondChance {
			b.WriteString(" " + Second.String())
		}
		fmt.Fprintf(&b, " = %d, total %d]", s.Points, s.Total)
	}
	if f := v.FlipThree; f != nil {
		fmt.Fprintf(&b, " flip3 of seat %d: %d to draw, aside %v;", f.Seat, f.Left, f.Aside)
	}
	for _, w := range v.Waiting {
		fmt.Fprintf(&b, " %s waits for seat %d;", w.Card, w.Seat)
	}
	fmt.Fprintf(&b, " draw pile %d, discard pile %d, legal: %s", v.DrawPile.Total(), v.DiscardPile.Total(), listed(v.Legal()))
	return b.String()
}

// viewOf reads a request that arrived at a time.
func viewOf(r *flip7v1.DecisionRequest, game *Game, arrived time.Time) *View {
	table := r.GetView()
	v := &View{
		Kind:        Kind(r.GetKind()),
		Me:          int(r.GetSeat()),
		Targets:     ints(r.GetLegalSeats()),
		Game:        game,
		Round:       int(table.GetRound()),
		Dealer:      int(table.GetDealer()),
		Next:        int(table.GetNextSeat()),
		Seats:       make([]Seat, len(table.GetSeats())),
		DrawPile:    countsOf(table.GetDrawPile()),
		DiscardPile: countsOf(table.GetDiscardPile()),
		FirstPass:   table.GetFirstPass(),
		TimeBank:    r.GetTimeBank().AsDuration(),
		LastLatency: r.GetLastLatency().AsDuration(),
		Resent:      r.GetResent(),
		Absent:      r.GetAbsent(),
		deadline:    arrived.Add(r.GetTimeLeft().AsDuration()),
		request:     r,
	}
	lying := 0
	for _, s := range table.GetSeats() {
		lying += len(s.GetRow()) + len(s.GetModifiers()) + len(s.GetActions())
	}
	cards := make([]Card, 0, lying) // one array for all seats
	for i, s := range table.GetSeats() {
		at := &v.Seats[i]
		*at = Seat{
			Status:       Status(s.GetStatus()),
			SecondChance: s.GetSecondChance(),
			Points:       int(s.GetPoints()),
			Total:        int(s.GetTotal()),
			Bank:         time.Duration(s.GetBankSeconds()) * time.Second,
			ToBeDealt:    s.GetToBeDealt(),
		}
		at.Row, cards = cardsOf(s.GetRow(), cards)
		at.Modifiers, cards = cardsOf(s.GetModifiers(), cards)
		at.Actions, cards = cardsOf(s.GetActions(), cards)
	}
	for _, w := range table.GetWaiting() {
		v.Waiting = append(v.Waiting, Assigned{Card: cardOf(w.GetCard()), Seat: int(w.GetSeat())})
	}
	if f := table.GetFlipThree(); f != nil {
		aside, _ := cardsOf(f.GetSetAside(), nil)
		v.FlipThree = &FlipThree{Seat: int(f.GetSeat()), Left: int(f.GetDrawsLeft()), Aside: aside}
	}
	return v
}

// gameOf reads what stays the same in a game.
func gameOf(g *flip7v1.GameInfo) *Game {
	return &Game{
		ID:            g.GetGameId(),
		Attempt:       int(g.GetAttempt()),
		Tournament:    g.GetTournamentId(),
		PairingRound:  int(g.GetPairingRound()),
		PairingRounds: int(g.GetPairingRounds()),
		Table:         int(g.GetTable()),
		Number:        int(g.GetGame()),
		Of:            int(g.GetGames()),
		Rules: Rules{
			Version:       g.GetRules().GetVersion(),
			TieBreak:      TieBreak(g.GetRules().GetTieBreak()),
			BustedAssigns: g.GetRules().GetBustedAssigns(),
			DealEveryone:  g.GetRules().GetDeal() == flip7v1.Deal_DEAL_EVERYONE,
			TargetScore:   int(g.GetRules().GetTargetScore()),
			MaxRounds:     int(g.GetRules().GetMaxRounds()),
			Decks:         int(g.GetRules().GetDecks()),
		},
		Bots:            g.GetBots(),
		DecisionTimeout: g.GetDecisionTimeout().AsDuration(),
		TimeBank:        g.GetTimeBank().AsDuration(),
		Rated:           g.GetRated(),
		Practice:        g.GetPractice(),
		FinalTable:      g.GetFinalTable(),
	}
}

// cardOf reads a card; on the wire they are numbered from 1.
func cardOf(c flip7v1.Card) Card { return Card(c) - 1 }

// cardsOf reads a list of cards into the free room of an array and hands back what is free after it.
func cardsOf(list []flip7v1.Card, room []Card) (cards, rest []Card) {
	start := len(room)
	for _, c := range list {
		room = append(room, cardOf(c))
	}
	return room[start:len(room):len(room)], room
}

// countsOf reads a count list; kinds of card that the kit does not know are left out.
func countsOf(list []uint32) Counts {
	var counts Counts
	for i, n := range list[:min(len(list), Kinds)] {
		counts[i] = int(n)
	}
	return counts
}

func ints(list []uint32) []int {
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = int(n)
	}
	return out
}

// inWords is the name of an enum value of the wire without its prefix, in lower case; a number if it is unknown.
func inWords(value fmt.Stringer, prefix string) string {
	return strings.ToLower(strings.TrimPrefix(value.String(), prefix))
}
