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
// cards. It is a bound and no estimate: it lets every game have MaxRounds rounds and as many requests as the cards allow.
// It does not count what is the arena's: being down, its own stalls, standing still while it is held, and the wait for
// bots after a restart. With 11 to 18 seats at one deck the rules alone allow a round of 2000 requests, which nobody has
// seen, and the bound is of little use.
//
// Games side by side do not bring it nearer: they can all be waiting for one bot, which answers one request at a time.
func (p Plan) Latest() time.Duration {
	rules := p.Rules.Complete(p.Seats)
	requests := float64(p.Games) * float64(requestsInGame(p.Seats, rules.Decks, rules.MaxRounds))
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

// requestsInGame bounds the requests of a game.
//
// Every request is a hit, which draws a card, or a stay, or gives an action card away. Of the number cards that are
// drawn seven for each seat and round lie in front of it at most (six and a duplicate, or a Flip 7), and each other one
// has been taken by a Second Chance. A seat that stays has no duplicate, and its first card of a round is not asked
// for: that is six requests for each seat and round. The rest depends on how many draw piles the game sees: for each of
// them and each deck there are 3 numbers that Second Chances take, 6 modifiers, which besides are drawn once a round,
// and 9 action cards, drawn and given.
//
// A draw pile that ran out held 79 numbers a deck but for those in front of the seats; so there are no more piles than
// the numbers that are drawn can empty, and for the same reason no round empties two.
//
// All that holds while the seats have no room for the numbers of all decks. If they do, only R24 bounds a round: at 1000
// cards a deck, each of them hit for and given away, and a hit that draws nothing.
func requestsInGame(seats, decks, rounds int) int {
	room := 7 * seats
	spare := 76*decks - room // 79 numbers, of which Second Chances take 3
	if spare <= 0 {
		return rounds * (2*1000*decks + seats + 1)
	}
	piles := min(1+rounds, (room*rounds+79*decks-room)/spare)
	return 6*seats*rounds + decks*(3*piles+6*min(piles, rounds)+2*9*piles)
}
