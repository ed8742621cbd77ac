package web

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flip7-arena/flip7/arena/game"
)

// card is a card as it is shown.
type card struct {
	Name string `json:"card"` // as it is written everywhere: 7, +4, x2, freeze
	New  bool   `json:"new,omitempty"`
}

// Kind groups cards that look alike.
func (c card) Kind() string {
	switch {
	case c.Name == "freeze" || c.Name == "flip3" || c.Name == "second":
		return c.Name
	case strings.HasPrefix(c.Name, "+") || c.Name == "x2":
		return "modifier"
	}
	return "number"
}

// Face is what stands on it; the others have a picture.
func (c card) Face() string {
	if c.Name == "x2" {
		return "×2"
	}
	return c.Name
}

// Says names the card for those who cannot see it.
func (c card) Says() string {
	switch c.Name {
	case "freeze":
		return "Freeze"
	case "flip3":
		return "Flip Three"
	case "second":
		return "Second Chance"
	case "x2":
		return "times two"
	}
	if c.Kind() == "modifier" {
		return "plus " + c.Name[1:]
	}
	return c.Name
}

// seatView is a seat at one moment.
type seatView struct {
	Seat    int    `json:"seat"`
	Bot     string `json:"bot"`
	Status  string `json:"status"`
	Dealer  bool   `json:"dealer,omitempty"`
	Asked   bool   `json:"asked,omitempty"`
	Cards   []card `json:"cards"`
	Waiting []card `json:"waiting,omitempty"` // assigned, and not in effect yet
	Points  int    `json:"points"`
	Banked  bool   `json:"banked,omitempty"` // the points cannot be lost any more
	Total   int    `json:"total"`
	Place   int    `json:"place,omitempty"` // when the game is over
	Share   int    `json:"-"`               // of the way to the target, percent
}

// frame is a game at one moment: after so many of the things that happen in it.
type frame struct {
	Step    int        `json:"step"`
	Last    int        `json:"last"`
	Round   int        `json:"round"`
	Rounds  []mark     `json:"rounds"` // where rounds begin
	Target  int        `json:"target"`
	Seats   []seatView `json:"seats"`
	Says    string     `json:"says"`           // what just happened
	Asks    string     `json:"asks,omitempty"` // who is asked, and what
	Aside   []card     `json:"aside,omitempty"`
	Draw    int        `json:"draw_pile"`
	Discard int        `json:"discard_pile"`
	Over    bool       `json:"over"`
}

// mark is where a round begins.
type mark struct {
	Round int `json:"round"`
	Step  int `json:"step"`
}

// camera is an Observer that takes the frame of one step: of the last one if step is negative or there are fewer.
type camera struct {
	step int

	bots    []string      // by seat; these three may be set when the pictures are taken
	moves   []game.Move   // all that were played
	pending *game.Request // what is asked after the last of them; nil if nothing is

	at      int // how many things have happened
	next    int // of the moves
	decided int // moves up to the step
	rounds  []mark
	state   game.State // as it was at the step; a card that turned up lies there only if it is settled
	settled bool
	event   game.Event
	taken   bool
	after   game.Event // what happened next; its zero value if nothing did
	hit     bool       // the next card was asked for
	dealt   string     // how the card of the step came
}

// Observe implements game.Observer.
func (c *camera) Observe(s *game.State, e game.Event) {
	c.at++
	if e.Kind == game.RoundStarted {
		c.rounds = append(c.rounds, mark{s.View(0).Round(), c.at})
	}
	if e.Kind == game.Decided {
		c.next++
	}
	switch {
	case c.step < 0 || c.at <= c.step:
		c.state, c.event, c.after, c.taken, c.decided = *s, e, game.Event{}, true, c.next
		c.dealt = c.how(s, e)
	case c.at == c.step+1:
		c.after = e
		if e.Kind == game.Decided || e.Kind == game.Drawn { // told before it changes anything
			c.settle(s)
		}
	}
	c.hit = e.Kind == game.Decided && e.Decision == game.Hit
}

// settle takes the state after all that the step brought: a card is told of as it turns up, before it lies anywhere.
func (c *camera) settle(s *game.State) { c.state, c.settled = *s, true }

// now tells how the game stands after the last thing that happened.
func (c *camera) now(s *game.State) {
	if s.Over() || c.at > c.step && c.step >= 0 {
		return
	}
	c.settle(s)
	pending := s.Request()
	c.pending = &pending
}

// how says in what way a card turned up.
func (c *camera) how(s *game.State, e game.Event) string {
	switch _, _, three := s.View(0).FlipThree(); {
	case e.Kind != game.Drawn:
		return ""
	case c.hit:
		return "hits and gets"
	case three:
		return "turns up"
	}
	return "is dealt"
}

// frame is the picture that was taken.
func (c *camera) frame() frame {
	if !c.taken {
		return frame{}
	}
	v := c.state.View(0)
	f := frame{Step: min(c.at, max(c.step, 0)), Last: c.at, Round: v.Round(), Rounds: c.rounds, Target: v.Rules().TargetScore,
		Says: c.says(), Draw: v.DrawLeft(), Discard: v.DiscardLeft(), Over: c.event.Kind == game.GameEnded}
	if c.step < 0 || c.step > c.at {
		f.Step = c.at
	}
	if c.settled && c.after.Kind == game.Drawn {
		f.Draw++ // that one is still to come
	}
	asked, kind := game.Seat(-1), game.Turn
	switch {
	case c.after.Kind == game.Decided:
		asked, kind = c.after.Seat, c.after.Asked
	case c.after.Kind == 0 && c.pending != nil && !f.Over:
		asked, kind = c.pending.Seat, c.pending.Kind
	}
	result := c.state.Result()
	for seat := range game.Seat(v.Seats()) {
		sv := seatView{Seat: int(seat), Bot: c.bots[seat], Status: v.Status(seat).String(), Dealer: v.Dealer() == seat, Asked: seat == asked,
			Points: v.Points(seat), Total: v.Total(seat), Cards: []card{}}
		sv.Banked = sv.Points > 0 && (v.Status(seat) != game.Active || c.event.Kind == game.RoundEnded || f.Over)
		sv.Share = min(100, 100*(sv.Total)/max(f.Target, 1))
		drawn := c.event.Kind == game.Drawn && c.event.Seat == seat
		for front := range v.Front(seat) {
			shown := card{Name: front.String()}
			if drawn && c.settled && front == c.event.Card {
				shown.New, drawn = true, false
			}
			sv.Cards = append(sv.Cards, shown)
		}
		if drawn { // it does not lie there yet, or is to be given away
			sv.Cards = append(sv.Cards, card{Name: c.event.Card.String(), New: true})
		}
		if f.Over {
			sv.Place = result.Places[seat]
		}
		f.Seats = append(f.Seats, sv)
	}
	for w := range v.Waiting() {
		f.Seats[w.Seat].Waiting = append(f.Seats[w.Seat].Waiting, card{Name: w.Card.String()})
	}
	for aside := range v.Aside() {
		f.Aside = append(f.Aside, card{Name: aside.String()})
	}
	if asked >= 0 {
		f.Asks = c.bots[asked] + " is asked: " + question(kind)
	}
	return f
}

func question(kind game.Kind) string {
	switch kind {
	case game.Turn:
		return "hit or stay?"
	case game.GiveFreeze:
		return "who gets the Freeze?"
	case game.GiveFlip3:
		return "who gets the Flip Three?"
	case game.GiveSecond:
		return "who gets the Second Chance?"
	}
	return kind.String()
}

// says is what happened at the step, in words.
func (c *camera) says() string {
	e, v := c.event, c.state.View(0)
	who := ""
	if e.Seat >= 0 && int(e.Seat) < len(c.bots) {
		who = c.bots[e.Seat]
	}
	named := card{Name: e.Card.String()}.Says()
	switch e.Kind {
	case game.RoundStarted:
		return fmt.Sprintf("Round %d begins; %s deals.", v.Round(), who)
	case game.Decided:
		said := who + " stays."
		if to, gives := e.Decision.Target(); gives {
			said = fmt.Sprintf("%s gives the card to %s.", who, c.bots[to])
			if to == e.Seat {
				said = who + " keeps the card."
			}
		} else if e.Decision == game.Hit {
			said = who + " hits."
		}
		return said + because[c.moves[c.decided-1].Cause]
	case game.Drawn:
		return fmt.Sprintf("%s %s %s.", who, c.dealt, named)
	case game.Left:
		switch e.Status {
		case game.Busted:
			return fmt.Sprintf("%s busts on a second %s.", who, named)
		case game.Frozen:
			return fmt.Sprintf("%s is frozen and banks %d.", who, v.Points(e.Seat))
		}
		return fmt.Sprintf("%s banks %d.", who, v.Points(e.Seat))
	case game.Saved:
		return fmt.Sprintf("The Second Chance saves %s from a second %s.", who, named)
	case game.Given:
		return fmt.Sprintf("%s lies in front of %s.", upper(named), c.bots[e.Target])
	case game.SetAside:
		return fmt.Sprintf("%s sets %s aside until the three cards are drawn.", who, named)
	case game.Discarded:
		return upper(named) + " goes to the discard pile."
	case game.Flip3Began:
		return who + " takes three cards."
	case game.MadeFlip7:
		return who + " has seven different numbers: Flip 7!"
	case game.Reshuffled:
		return "The discard pile is shuffled and becomes the draw pile."
	case game.RoundEnded:
		var scores []string
		for seat, bot := range c.bots {
			scores = append(scores, bot+" +"+strconv.Itoa(v.Points(game.Seat(seat))))
		}
		return "The round is over: " + strings.Join(scores, ", ") + "."
	case game.GameEnded:
		var winners []string
		for seat, place := range c.state.Result().Places {
			if place == 1 {
				winners = append(winners, c.bots[seat])
			}
		}
		return "The game is over: " + strings.Join(winners, " and ") + " in first place."
	}
	return ""
}

// because has, for a decision that the bot did not make, whose fault it was.
var because = map[game.Cause]string{
	game.Passed:       " That is the default decision: it passed.",
	game.Illegal:      " That is the default decision: what it said was not legal.",
	game.TimedOut:     " That is the default decision: its time was up.",
	game.Disconnected: " That is the default decision: it was not there.",
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
