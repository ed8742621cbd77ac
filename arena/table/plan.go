package table

import (
	"math"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
)

// Plan is what is known of the games of a table before they begin: enough to say how long they can take.
type Plan struct {
	Seats     int
	Games     int
	AtOnce    int // games side by side; 0: all of them
	Rules     game.Rules
	Timeout   time.Duration // for each request
	Bank      time.Duration // of each seat in each game
	Limit     time.Duration // of the table; 0: none
	Allowance time.Duration // what a request may take beyond what is charged for it: network, journal
}

// usual is how many requests a seat usually gets in a game to 200 points, from 3 seats (29) to 18 (23), when it stays at
// about 25 points.
const usual = 25

// Expected is how long the games take when bots need so long for an answer and the rules let games end at 200 points.
// Games side by side help as far as there are bots to answer, since a bot usually answers one request at a time.
func (p Plan) Expected(answer time.Duration) time.Duration {
	requests := float64(p.Games) * float64(p.Seats) * usual
	return duration(requests * float64(answer) / float64(min(p.atOnce(), p.Seats)))
}

// Latest is when the games are over at the latest, counted from their start, however slow the bots are and whatever the
// cards. It is a bound and no estimate: it lets every game have MaxRounds rounds and every round as many requests as the
// cards allow. It does not count what is the arena's: being down, its own stalls, standing still while it is held, and
// the wait for bots after a restart. From 11 seats on with one deck the cards alone allow a round of thousands of
// requests, which nobody has seen, and the bound is of little use.
//
// Games side by side do not bring it nearer: they can all be waiting for one bot, which answers one request at a time.
func (p Plan) Latest() time.Duration {
	rules := p.Rules.Complete(p.Seats)
	requests := float64(p.Games) * float64(rules.MaxRounds) * float64(requestsInRound(p.Seats, rules.Decks))
	seats, bank := float64(p.Seats), float64(max(p.Bank, 0))
	slow := requests*float64(p.Timeout) + float64(p.Games)*seats*bank
	if p.Limit > 0 {
		// Once the limit is over, a bot uses what is left of its share, at most the limit for all of them together;
		// then it answers what it was asked before, at most one question a game; and then each request is hurried.
		asked := seats * float64(p.atOnce()) * (float64(p.Timeout) + bank)
		slow = min(slow, 2*float64(p.Limit)+asked+requests*float64(min(p.Timeout, hurry)))
	}
	return duration(slow + requests*float64(p.Allowance))
}

func (p Plan) atOnce() int {
	if p.AtOnce <= 0 {
		return p.Games
	}
	return min(p.AtOnce, p.Games)
}

// duration rounds up, and is the longest there is if there is none so long.
func duration(nanoseconds float64) time.Duration {
	if nanoseconds >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(math.Ceil(nanoseconds))
}

// requestsInRound bounds the requests of one round.
//
// Every request is a hit, a stay, or an action card to be given. A number card that is drawn lies in front of a seat
// until the round ends, seven for each at most (six and a duplicate, or the Flip 7), or is taken by a Second Chance; a
// modifier lies there too. For the draw pile to run out a second time in a round, all the number cards of a whole new
// pile must have been drawn, 79 a deck, and of those only 7 a seat and 3 a deck have somewhere to go. So while
// 7*seats < 76*decks a round sees two draw piles, and in them 18 actions a deck, 6 of them Second Chances that take a
// number each, and 6 modifiers. A seat that stays has a place for a number left over, and the one hit more is that of
// R24, which draws nothing.
//
// With more seats only R24 bounds a round, at 1000 cards a deck, each of them a hit and perhaps a gift.
func requestsInRound(seats, decks int) int {
	if 7*seats < 76*decks {
		draws := 7*seats + (6+6+18)*decks
		return draws + 18*decks + 1
	}
	return seats + 2*1000*decks + 1
}
