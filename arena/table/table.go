// Package table plays one game: it asks the players, keeps their clocks, names their faults and writes the record. It
// knows the rules and how to wait for somebody; it does not know what a player is made of, nor where results go.
//
// A game is what its seed deals and what its players decide. [Play] asks a [Player] for each decision, writes the
// decision to a [Journal], and only then lets it have consequences; so a game that broke off anywhere goes on from the
// decisions in its journal as if nothing had happened. What a player did wrong is a cause in the record and never an
// error; what the arena did wrong never counts against a player.
package table

import (
	"context"
	"errors"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
)

// Player sits in one seat of one game. Its arguments are values that could be sent as messages to another machine; time
// is measured on its side, where the stream of a bot is held.
type Player interface {
	// Begin tells that the game begins, or goes on after the arena was restarted. It does not wait for the bot.
	Begin(info Info, seat game.Seat)
	// Ask puts a request to the player and returns when it is answered or the time of the question is used up. Only a
	// ctx that ends is an error. The answer is not in the journal yet when Ask returns, so nobody is told that it
	// counts; the next request says that it did.
	Ask(ctx context.Context, q Question) (Answer, error)
	// End tells how the game ended, and how it stood then.
	End(result game.Result, how Ending)
}

// Info is what everybody at a table knows of a game before the first card.
type Info struct {
	ID         string // of the game, unique in the arena
	Attempt    int    // how many times the game was begun, from 1
	Tournament string // its id; empty for a match
	Round      int    // the pairing round, from 1; 0 for a match
	Rounds     int    // how many pairing rounds the tournament has; 0 for a match
	Table      int    // within the pairing round, from 1
	Number     int    // of the game at its table, from 1
	Of         int    // how many games the table plays
	Bots       []string
	Rules      game.Rules // complete
	Dealer     game.Seat
	Timeout    time.Duration // for each request
	Bank       time.Duration // each seat's time bank at the start
	Rated      bool          // the game counts for an Elo table, unless its night is broken off
	Practice   bool          // nothing is at stake: the game counts nowhere, and ends when a tournament needs a bot of it
	Resumed    bool          // decisions were made before; Play sets it

	// Faults and Slips are by seat, of the decisions that were made before, as Outcome has them; Play sets them. Nil: none
	// were made.
	Faults, Slips []int
}

// Ending is how a game ends for those who sit at the table.
type Ending uint8

const (
	Finished    Ending = iota // played to its end
	Interrupted               // it goes on later: the arena stops, or the game is held
	Failed                    // this attempt failed, and nobody is at fault but the arena
	BrokenOff                 // by hand: the table is void, or the tournament is cancelled
	CalledAway                // a tournament needs a bot that practised
)

// ErrInterrupted is the cause of a ctx that ends because the arena stops: the game goes on when it is started again.
var ErrInterrupted = errors.New("interrupted")

// ErrCalledAway is the cause of a ctx that ends because a tournament needs a bot that practises.
var ErrCalledAway = errors.New("called away")

// Question is one request with the time there is for it. The view looks at the running game, which goes on when Ask has
// returned, and the banks are those of the table: a player that wants to keep either copies it.
type Question struct {
	Number  int             // of the request in this attempt, from 1
	View    game.View       // of the seat that is asked; good until Ask returns
	Timeout time.Duration   // for this request
	Banks   []time.Duration // by seat: what is left of the time banks; the seat's own runs when Timeout is used up
}

// Budget is all the time there is for the question: the timeout and the seat's time bank.
func (q Question) Budget() time.Duration { return q.Timeout + q.Banks[q.View.Me] }

// bank is what an answer that took so long leaves of the seat's time bank.
func (q Question) bank(took time.Duration) time.Duration {
	had := q.Banks[q.View.Me]
	return had - min(max(took-q.Timeout, 0), had)
}

// Answer is what came of a question. Of several reasons why there is no decision the first of Passed, Illegal and Gone
// is the cause in the record.
type Answer struct {
	Decision game.Decision // zero if none came in time
	Passed   bool          // the player asked for the default decision
	Illegal  int           // illegal decisions that were sent for this request
	Gone     bool          // no stream of the player was there when the time was up
	Absent   bool          // the player was absent: the question was not waited for
	Stalled  bool          // the arena itself lost time: the answer does not count, the question is put again
	Queued   time.Duration // from the question until it was sent
	Took     time.Duration // from sending until the answer, less allowances: what is charged
}

// Entry is a decision as the journal keeps it: all of it that the outcome of the game tells, so that a game that goes on
// has the outcome of one that was never interrupted.
type Entry struct {
	Number  int // of the request, from 1
	Seat    game.Seat
	Move    game.Move
	Bank    time.Duration // what the seat that decided has left
	Illegal int           // illegal decisions that were sent for this request
	Absent  bool          // as in Answer
	Queued  time.Duration // as in Answer
	Took    time.Duration // as in Answer
}

// Journal keeps the decisions of an unfinished game. Write returns when the entry is safe; nobody sees a consequence of
// a decision before. After an error Write is called again with the same entry; a journal that has kept both may hand
// both back, as [Setup.Sofar] takes an entry that is repeated for one.
type Journal interface {
	Write(Entry) error
}

// ErrHeld is the end of a game that cannot go on for reasons that are the arena's: the tournament is held, and the game
// goes on later from its journal.
var ErrHeld = errors.New("held")

// ErrJournal is the refusal of decisions so far that are not decisions of this game: it cannot go on, and needs a new
// attempt on a fresh deal.
var ErrJournal = errors.New("the journal does not fit the game")
