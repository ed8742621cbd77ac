package arena

import (
	"context"
	"errors"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// ErrNotFound is the answer of a Store, and of the Arena, when there is no such thing.
var ErrNotFound = errors.New("not found")

// Store keeps tournaments. Each method is one transaction: when it returns nil, all of it is kept, else nothing is.
type Store interface {
	// Create keeps a new tournament and sets its ID. A request id that created one before sets t to that one as it is
	// now, and keeps nothing; an empty request id never did.
	Create(ctx context.Context, t *Tournament, requestID string) error
	// Tournament is a tournament with its entries, rounds and tables, and of its games all but the records.
	Tournament(ctx context.Context, id int64) (*Tournament, error)
	// Tournaments are the newest tournaments without entries and rounds, IDs less than before (0: all), descending.
	Tournaments(ctx context.Context, before int64, limit int) ([]Tournament, error)
	// Live are the tournaments that are open, running, paused or held, in order of ID, whole as from Tournament.
	Live(ctx context.Context) ([]*Tournament, error)
	// Rated are the IDs of a league's finished, rated tournaments, also the excluded ones, ascending.
	Rated(ctx context.Context, league string) ([]int64, error)
	// Leagues are the names of all leagues, sorted.
	Leagues(ctx context.Context) ([]string, error)

	// SaveHead keeps settings, state, reasons, what is excluded, and times, and not entries and rounds.
	SaveHead(ctx context.Context, t *Tournament) error
	// SaveEntries keeps new and changed entries.
	SaveEntries(ctx context.Context, id int64, entries ...Entry) error
	// SaveRound keeps a new pairing round and its tables.
	SaveRound(ctx context.Context, id int64, round Round) error
	// SaveTable keeps state, reason and lost streams of a table.
	SaveTable(ctx context.Context, id int64, round int, t Table) error
	// SaveGame keeps how a game ended, and its record. A game that is kept already is left as it is: a result lands once.
	SaveGame(ctx context.Context, game GameID, played Played) error
	// Games hands over the games of a tournament in order of round, table and number, until do fails.
	Games(ctx context.Context, id int64, do func(GameID, Played) error) error
	// Game is one of them.
	Game(ctx context.Context, game GameID) (Played, error)
	// Audit keeps who did what and why.
	Audit(ctx context.Context, id int64, act Act) error
	// Acts are what was done to a tournament, oldest first.
	Acts(ctx context.Context, id int64) ([]Act, error)
}

// Act is a line of the audit log.
type Act struct {
	At   time.Time
	Who  string // a role or owner, never a token
	What string // such as "start" or "withdraw odds"
	Why  string
}

// Journals keep the decisions of unfinished games.
type Journals interface {
	// Open opens the journal of a tournament, or begins it, and reads what is in it.
	Open(id int64) (Journal, error)
}

// Journal is the journal of one tournament.
type Journal interface {
	// Begun is the newest attempt at a game that the journal knows, and its decisions; attempt 0 if there is none.
	Begun(round, table, number int) (attempt int, entries []table.Entry)
	// Begin notes that an attempt begins, and is where its decisions go.
	Begin(round, table, number, attempt int) (table.Journal, error)
	// Ended notes that the result of a game is in the store, so that its decisions may be forgotten.
	Ended(round, table, number int) error
	// Close ends the use of the journal; discard removes it, since the tournament is over.
	Close(discard bool) error
}

// Bots are the players that are not the arena's own. Names are those of registered bots and of the admin's commands.
type Bots interface {
	// Player is a seat for a bot in one game.
	Player(bot string) table.Player
	// Presence is how a bot is connected, and false if it is not.
	Presence(bot string) (Presence, bool)
	// Changed is closed at the next change of anybody's presence.
	Changed() <-chan struct{}
	// Lost is how many streams of a bot have been lost so far.
	Lost(bot string) int
	// Absent reports whether a bot has left so many requests unanswered that it is not waited for.
	Absent(bot string) bool
	// Pin refuses other builds of a bot while a tournament runs; Unpin ends that.
	Pin(bot, build string)
	Unpin(bot string)
	// Start starts the command of an entry "cmd:..." as the bot of that name, if it does not run already; Stop ends it.
	Start(bot, command string) error
	Stop(bot string)
}

// Presence is a connected bot.
type Presence struct {
	Build        string
	Contribution [32]byte // of its last hello
	MaxGames     int      // games side by side; 0: it takes no new ones
}

// Audience is told what happens. It must not block, and it tells spectators nothing earlier than bots.
type Audience interface {
	Happened(Event)
}

// Event is one thing that happened in a tournament.
type Event struct {
	Tournament int64
	At         time.Time
	Kind       EventKind
	Round      int
	Table      int
	Game       int
	Attempt    int
	Text       string      // of StateChanged and TableChanged: the new state, and why
	Entries    []Entry     // of EntriesChanged
	Info       *table.Info // of GameBegan
	Seed       [32]byte    // of GameBegan, to follow the cards with and to be kept secret; of GameRevealed
	Moves      []game.Move // of GameBegan: those that were played before the arena was restarted; of GamePlay: one more
	Result     *Game       // of GameEnded
}

// EventKind says what happened.
type EventKind uint8

const (
	StateChanged EventKind = iota + 1
	EntriesChanged
	RoundPaired
	TableChanged
	GameBegan
	GamePlay // a decision is played: with seed and moves anybody's eyes can be shown the table
	GameEnded
	StandingsChanged
	GameRevealed // the table is over: the seeds of its games are public
)
