package arena

import (
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// State is where a tournament is in its life.
type State uint8

const (
	Draft     State = iota // settings may change, nobody can enter
	Open                   // bots may enter; the commitment to the secret is public
	Running                // pairing rounds are played
	Paused                 // ends its tables, then waits
	Held                   // stands still in mid-game for a reason that is the arena's; goes on by itself
	Finished               // over; the secret is public
	Cancelled              // broken off; nothing of it is rated
)

var stateNames = [...]string{"draft", "open", "running", "paused", "held", "finished", "cancelled"}

func (s State) String() string { return name(stateNames[:], int(s)) }

// ParseState reads what String writes.
func ParseState(text string) (State, error) { return parse[State]("state", stateNames[:], text) }

// Over reports whether nothing will change any more.
func (s State) Over() bool { return s == Finished || s == Cancelled }

// Live reports whether the tournament is being played, be it standing still.
func (s State) Live() bool { return s == Running || s == Paused || s == Held }

// TableState is where a table is in its life.
type TableState uint8

const (
	Waiting TableState = iota
	Playing
	Complete // all its games are over
	Void     // counts 1/2 for its bots, and nothing in the rating
)

var tableStateNames = [...]string{"waiting", "running", "finished", "void"}

func (s TableState) String() string { return name(tableStateNames[:], int(s)) }

// ParseTableState reads what String writes.
func ParseTableState(text string) (TableState, error) {
	return parse[TableState]("table state", tableStateNames[:], text)
}

// Tournament is one league night: all of it but the records of its games, which stay in the store.
type Tournament struct {
	ID       int64
	Settings Settings
	State    State
	Why      string // of Held and Cancelled

	Secret  [32]byte // public when the tournament is finished
	Entries []Entry  // Entries[i].Number is i+1
	Rounds  []Round  // Rounds[i].Number is i+1; beyond the last pairing round they are legs of the final table

	Excluded []Excluded // what was taken out of the rating
	StartAt  time.Time  // when it starts by itself; zero: by hand
	Created  time.Time
	Started  time.Time
	Ended    time.Time
}

// Excluded is a mistaken result that was taken out of the rating: a game, or a table or the whole tournament where the
// numbers are 0.
type Excluded struct {
	Round, Table, Game int
	Why                string
}

// covers reports whether a game is part of what was taken out.
func (e Excluded) covers(round, table, game int) bool {
	return (e.Round == 0 || e.Round == round) && (e.Table == 0 || e.Table == table) && (e.Game == 0 || e.Game == game)
}

// EntryState says whether an entrant still plays.
type EntryState uint8

const (
	Entered   EntryState = iota
	Withdrawn            // by its owner, or absent at the end of two tables running; entering again brings it back
	Kicked               // by the organiser; cannot come back
)

var entryStateNames = [...]string{"entered", "withdrawn", "kicked"}

func (s EntryState) String() string { return name(entryStateNames[:], int(s)) }

// ParseEntryState reads what String writes.
func ParseEntryState(text string) (EntryState, error) {
	return parse[EntryState]("entry state", entryStateNames[:], text)
}

// Entry is a bot in a tournament.
type Entry struct {
	Number       int    // in order of entry, from 1
	Name         string // unique in the tournament
	Player       string // "bot:NAME", "house:STRATEGY" or "cmd:COMMAND"
	Owner        string // "" for the organiser's house bots and commands
	Build        string // of a remote bot: fixed at its first pairing
	Contribution [32]byte
	From         int // the first pairing round it may be paired in
	State        EntryState
	Anchor       bool // plays along outside the ranks
	FillIn       bool // a house bot that sits in because fewer than three bots are there
	AbsentTables int  // tables running at whose end it was absent
}

// Round is one pairing round.
type Round struct {
	Number  int
	Missing []int // numbers of the entries that were not there at the check-in, ascending
	Cost    int64 // of the pairing; see swiss.Pairing
	Shares  int64
	Spread  string // an exact integer
	Repeats int
	Tables  []Table // Tables[i].Number is i+1
}

// Table is the bots that are seated together for one pairing round.
type Table struct {
	Number int
	Bots   []int // numbers of the entries, as paired
	State  TableState
	Why    string // of Void
	// VoidFrom is the first pairing round whose pairing took the table for void, if that was made void by hand after it had
	// ended; 0 otherwise.
	VoidFrom int
	Lost     bool   // a bot lost its stream while the table ran: its games are one cluster
	Games    []Game // that have ended; Number ascending
}

// Game is how a game of a table ended.
type Game struct {
	Number  int   // at its table, from 1
	Attempt int   // the one that counts, from 1
	Seats   []int // numbers of the entries by seat
	Result  game.Result
	Faults  []int // by seat
	Slips   []int // by seat: touched by the clock, so no part of the results
}

// Played is a game with all that is kept of it.
type Played struct {
	Game    Game
	Record  game.Record
	Timings []table.Timing
}

// GameID names a game in the arena.
type GameID struct {
	Tournament           int64
	Round, Table, Number int
}

// Games is how many games a table of so many bots plays in a pairing round or leg.
func (s Settings) Games(round, bots int) int { return bots * s.rotations(round, bots) }

// Entry finds an entry by its name.
func (t *Tournament) Entry(name string) (*Entry, bool) {
	for i := range t.Entries {
		if t.Entries[i].Name == name {
			return &t.Entries[i], true
		}
	}
	return nil, false
}
