// Package store keeps what the arena must not forget: tournaments, games with their records, bots and owners in a SQLite
// database, and the decisions of unfinished games in journals. It knows how to keep things and nothing of what they mean;
// it is used by the server, which hands it to the arena.
//
// # Layout
//
// A data folder belongs to one running server at a time:
//
//	arena.db         the database (with -wal and -shm beside it); a Go file here for each of its tables
//	arena.lock       held while a server runs, or a backup is being restored
//	journal/7.log    the decisions of the games of tournament 7 that are not over
//
// # Writing
//
// All writing to the database goes through one goroutine with one connection. It takes whatever methods are waiting into
// one transaction, each in a savepoint of its own, and tells them after the commit: each method is kept whole or not at
// all, and many tables that end games at once share the cost of a commit. Readers have connections of their own, wait for
// nobody, and never keep a transaction open while somebody else's code runs.
//
// # What can be lost
//
// A process that is killed loses nothing that was acknowledged, whatever the durability. A power cut, or a kernel that
// stops, is another matter:
//
//   - [Power]: nothing. Each commit, and each batch of the journal, is on the disk before it is acknowledged.
//   - [Process]: the newest commits and the newest batches of the journals, usually those of the last seconds. The database
//     stays whole, and journals are read up to the last whole batch. A game whose last decisions are lost goes on from
//     those before them.
//
// Either way the decisions of a game leave a journal only when the store has its result, and that is on the disk.
package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Durability is what a power cut may cost; see the package comment.
type Durability uint8

const (
	Process Durability = iota // survives a killed process
	Power                     // survives a power cut
)

var durabilityNames = [...]string{"process", "power"}

func (d Durability) String() string {
	if int(d) < len(durabilityNames) {
		return durabilityNames[d]
	}
	return fmt.Sprintf("durability(%d)", uint8(d))
}

// ParseDurability reads "process" or "power".
func ParseDurability(text string) (Durability, error) {
	for i, name := range durabilityNames {
		if name == text {
			return Durability(i), nil
		}
	}
	return 0, fmt.Errorf("durability: %q is not process or power", text)
}

// Options are how a data folder is used.
type Options struct {
	Durability Durability
	Reserved   []string     // names that no bot and no owner may have
	Log        *slog.Logger // told of damaged journals and of migrations
}

// readers is how many connections read at once. More do not help on few cores, and each holds a page cache of 2 MB.
const readers = 4

// Store is an open data folder. Its methods may be called from any goroutine. Close it after the arena.
type Store struct {
	dir      string
	options  Options
	reserved map[string]bool // folded
	lock     *os.File
	reader   *sql.DB
	writer   *writer
	journals *Journals
	packers  chan *packer
}

// Open opens a data folder, which it makes if there is none, and brings its database up to date. A folder that cannot be
// used is refused in one sentence, and left as it is.
func Open(ctx context.Context, dir string, options Options) (_ *Store, err error) {
	options.Log = cmp.Or(options.Log, slog.New(slog.DiscardHandler))
	s := &Store{dir: dir, options: options, reserved: map[string]bool{}, packers: newPackers()}
	for _, name := range options.Reserved {
		s.reserved[Fold(name)] = true
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("data folder %s cannot be made: %w", dir, err)
	}
	if s.lock, err = lock(filepath.Join(dir, lockFile)); err != nil {
		return nil, fmt.Errorf("data folder %s %w", dir, err)
	}
	if err := restored(dir); err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	if err := os.MkdirAll(filepath.Join(dir, journalFolder), 0o700); err != nil {
		return nil, errors.Join(fmt.Errorf("data folder %s cannot be made: %w", dir, err), s.lock.Close())
	}
	db, err := openDatabase(ctx, filepath.Join(dir, "arena.db"), options)
	if err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	// The writer is there first, so that a reader finds the database in WAL mode.
	s.reader = pool(filepath.Join(dir, "arena.db"), readers, "_pragma=query_only(1)")
	s.writer = newWriter(db)
	s.journals = &Journals{store: s, folder: filepath.Join(dir, "journal"), open: map[int64]bool{}}
	if err := s.journals.sweep(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("data folder %s: remove the journals of what is over: %w", dir, err), s.Close())
	}
	return s, nil
}

// Close ends the use of the folder. It waits for what is being written; what comes later is refused.
func (s *Store) Close() error {
	s.writer.close()
	return errors.Join(s.reader.Close(), s.writer.db.Close(), s.lock.Close())
}

// Durability is what a power cut may cost the store.
func (s *Store) Durability() Durability { return s.options.Durability }

// Journals are where the decisions of unfinished games are kept. Close them before the store.
func (s *Store) Journals() *Journals { return s.journals }

// pool is a database with so many connections. Pragmas are in the DSN since one that is executed reaches one connection.
func pool(path string, connections int, parameters ...string) *sql.DB {
	dsn := url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: strings.Join(parameters, "&")}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		panic(err) // there is a driver of that name, and nothing else is looked at yet
	}
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db
}

// read reads in one transaction, so that all queries see one state. Do must not call anybody who may wait.
func (s *Store) read(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.reader.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // nothing was written
	return do(tx)
}

// write does something in the next transaction and returns when that is committed. Do must use tx only.
func (s *Store) write(ctx context.Context, do func(*sql.Tx) error) error {
	return s.writer.write(ctx, do)
}

// flush returns when all that was committed is on the disk, also where commits do not wait for it: in the database itself or
// in its -wal. It is not made by a checkpoint, which would wait for whoever reads, such as a backup, and have all who write
// wait too.
func (s *Store) flush(ctx context.Context) error {
	if s.options.Durability == Power {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	wal, err := os.OpenFile(filepath.Join(s.dir, databaseFile+"-wal"), os.O_RDWR, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // a checkpoint has put all that was in it into the database, and on the disk
	}
	if err == nil {
		err = errors.Join(wal.Sync(), wal.Close())
	}
	if err != nil {
		return fmt.Errorf("write the database to the disk: %w", err)
	}
	return nil
}

// code is what SQLite says of an error, 0 if it says nothing.
func code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()
	}
	return 0
}

// Full reports whether there was no room for what was to be written. Of that nothing is kept.
func Full(err error) bool {
	return code(err)&0xff == sqlite3.SQLITE_FULL || errors.Is(err, syscall.ENOSPC)
}

func isForeignKey(err error) bool { return code(err) == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY }
