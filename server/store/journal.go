package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/table"
)

// Journals are the journals of a data folder, a file for each tournament that is not over.
type Journals struct {
	folder     string
	durability Durability
	log        *slog.Logger
	flush      func(context.Context) error // of the database: results first, then decisions may go

	mu   sync.Mutex
	open map[int64]bool
}

func newJournals(folder string, options Options, flush func(context.Context) error) *Journals {
	return &Journals{folder: folder, durability: options.Durability, log: options.Log, flush: flush, open: map[int64]bool{}}
}

// Open implements arena.Journals. A damaged tail is cut at the last whole batch, and the log told; a file that is no
// journal of this tournament is refused and left as it is. A journal can be open once at a time.
func (js *Journals) Open(id int64) (arena.Journal, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.open[id] {
		return nil, fmt.Errorf("the journal of tournament %d is open already", id)
	}
	j := &journal{journals: js, id: id, path: filepath.Join(js.folder, strconv.FormatInt(id, 10)+".log"), filling: new(batch)}
	if err := j.load(); err != nil {
		return nil, fmt.Errorf("open the journal of tournament %d: %w", id, err)
	}
	js.open[id] = true
	return j, nil
}

// journal is the journal of one tournament. Who has something to write adds it to the batch that is being filled, and
// then waits for the disk. The first of a batch to get there writes all of it, while the others wait and the next batch
// is filled; so a lone writer writes at once, and many share a write.
type journal struct {
	journals *Journals
	id       int64
	path     string

	mu      sync.Mutex
	games   map[place]*attempt // that have begun and not ended
	filling *batch
	spare   []byte // a buffer to fill next
	closed  bool

	disk sync.Mutex // is taken before mu
	file *os.File
	size int64 // of what is whole
	torn bool  // there is something after it
}

// place is a game within its tournament.
type place struct{ round, table, game int }

// attempt is a game that has begun. It implements table.Journal.
type attempt struct {
	journal *journal
	place   place
	number  int
	entries []table.Entry // guarded by journal.mu
}

// batch is what is written at once.
type batch struct {
	bytes   []byte // guarded by journal.mu until it is being written; room for its head comes first
	written bool   // guarded by journal.disk, like err
	err     error
}

var errJournalClosed = errors.New("the journal is closed")

// Begun implements arena.Journal.
func (j *journal) Begun(round, table, number int) (int, []table.Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if a := j.games[place{round, table, number}]; a != nil {
		return a.number, a.entries[:len(a.entries):len(a.entries)]
	}
	return 0, nil
}

// Begin implements arena.Journal. Nobody may see a card of the attempt before it returns: a journal that forgot it would
// have the same deal begun again.
func (j *journal) Begin(round, table, number, try int) (table.Journal, error) {
	at := place{round, table, number}
	err := j.write(func(to []byte) []byte { return appendBegin(to, at, try) })
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return begin(j, at, try), nil
}

// Write implements table.Journal.
func (a *attempt) Write(e table.Entry) error {
	j := a.journal
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return errJournalClosed
	}
	b := j.filling
	b.bytes = appendDecision(b.room(&j.spare), a.place, a.number, e)
	a.entries = append(a.entries, e)
	j.mu.Unlock()
	err := j.settle(b)
	if err != nil {
		j.mu.Lock()
		a.entries = a.entries[:len(a.entries)-1] // a game writes one decision at a time
		j.mu.Unlock()
	}
	return err
}

// Ended implements arena.Journal.
func (j *journal) Ended(round, table, number int) error {
	at := place{round, table, number}
	j.mu.Lock()
	delete(j.games, at)
	j.mu.Unlock()
	return j.write(func(to []byte) []byte { return appendEnded(to, at) })
}

// write adds a line to the batch and returns when it is safe.
func (j *journal) write(line func(to []byte) []byte) error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return errJournalClosed
	}
	b := j.filling
	b.bytes = line(b.room(&j.spare))
	j.mu.Unlock()
	return j.settle(b)
}

// room is what a line is added to.
func (b *batch) room(spare *[]byte) []byte {
	if b.bytes == nil {
		b.bytes, *spare = append((*spare)[:0], make([]byte, batchHead)...), nil
	}
	return b.bytes
}

// settle returns when a batch is safe, or refused.
func (j *journal) settle(b *batch) error {
	j.disk.Lock()
	defer j.disk.Unlock()
	if b.written {
		return b.err
	}
	j.mu.Lock()
	j.filling = new(batch)
	j.mu.Unlock()
	b.err, b.written = j.append(seal(b.bytes)), true
	j.mu.Lock()
	j.spare, b.bytes = b.bytes, nil
	j.mu.Unlock()
	return b.err
}

// append writes bytes after what is whole; j.disk is held. What it cannot write whole it takes away again, at the latest
// before the next append, for what was refused must not be read later.
func (j *journal) append(whole []byte) error {
	if err := j.mend(); err != nil {
		return fmt.Errorf("mend the journal: %w", err)
	}
	_, err := j.file.WriteAt(whole, j.size)
	if err == nil && j.journals.durability == Power {
		err = j.file.Sync()
	}
	if err != nil {
		j.torn = true
		return fmt.Errorf("write the journal: %w", errors.Join(err, j.mend()))
	}
	j.size += int64(len(whole))
	return nil
}

// mend cuts what a failed append has left behind; j.disk is held.
func (j *journal) mend() error {
	if !j.torn {
		return nil
	}
	err := j.file.Truncate(j.size)
	j.torn = err != nil
	return err
}

// Close implements arena.Journal. A journal is removed only when the results of its games are on the disk.
func (j *journal) Close(discard bool) error {
	j.mu.Lock()
	again := j.closed
	j.closed = true
	j.mu.Unlock()
	if again {
		return errJournalClosed
	}
	j.disk.Lock() // whoever has added to a batch before has it written
	defer j.disk.Unlock()
	defer j.journals.release(j.id)
	err := j.file.Close()
	if err != nil || !discard {
		return err
	}
	if err := j.journals.flush(context.Background()); err != nil {
		return err
	}
	return os.Remove(j.path)
}

func (js *Journals) release(id int64) {
	js.mu.Lock()
	defer js.mu.Unlock()
	delete(js.open, id)
}

// load reads the file and opens it. It is written anew, without games that have ended, if anything of it can go.
func (j *journal) load() error {
	raw, err := os.ReadFile(j.path)
	fresh := errors.Is(err, fs.ErrNotExist)
	if err != nil && !fresh {
		return err
	}
	if !fresh && !bytes.HasPrefix(raw, fileHead(j.id)) {
		return fmt.Errorf("%s does not begin as the journal of tournament %d does; it was left as it is", j.path, j.id)
	}
	j.games = map[place]*attempt{}
	ended := false
	if fresh {
		return j.rewrite()
	}
	whole := read(raw, func(l line) {
		switch l.kind {
		case lineBegin:
			begin(j, l.place, l.attempt)
		case lineDecision:
			if a := j.games[l.place]; a != nil && a.number == l.attempt {
				a.entries = append(a.entries, l.entry)
			}
		case lineEnded:
			ended = true
			delete(j.games, l.place)
		}
	})
	if cut := len(raw) - whole; cut > 0 {
		j.journals.log.Warn("a journal is damaged and was cut at its last whole batch", "tournament", j.id, "file", j.path,
			"bytes_kept", whole, "bytes_cut", cut)
	}
	if !ended && whole == len(raw) {
		j.size = int64(whole)
		j.file, err = os.OpenFile(j.path, os.O_RDWR, 0)
		return err
	}
	if ended {
		if err := j.journals.flush(context.Background()); err != nil {
			return err
		}
	}
	return j.rewrite()
}

// begin makes an attempt the one that counts, unless it is that already.
func begin(j *journal, at place, number int) *attempt {
	if a := j.games[at]; a != nil && a.number == number {
		return a
	}
	a := &attempt{journal: j, place: at, number: number}
	j.games[at] = a
	return a
}

// rewrite replaces the file by one that holds what is remembered. Until the last moment the old file is untouched.
func (j *journal) rewrite() (err error) {
	places := slices.SortedFunc(maps.Keys(j.games), func(a, b place) int {
		return cmp.Or(a.round-b.round, a.table-b.table, a.game-b.game)
	})
	whole := fileHead(j.id)
	for _, at := range places {
		a := j.games[at]
		lines := appendBegin(make([]byte, batchHead), at, a.number)
		for _, e := range a.entries {
			lines = appendDecision(lines, at, a.number, e)
		}
		whole = append(whole, seal(lines)...)
	}
	// Named so that it is no journal, and overwritten if a killed process has left one.
	next := j.path + ".new"
	if j.file, err = os.OpenFile(next, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600); err != nil {
		return err
	}
	_, err = j.file.Write(whole)
	if err == nil {
		err = j.file.Sync() // whatever the durability: the old file had been there for long
	}
	if err == nil {
		err = os.Rename(next, j.path)
	}
	if err != nil {
		return errors.Join(err, j.file.Close(), os.Remove(next))
	}
	j.size = int64(len(whole))
	return syncFolder(j.journals.folder)
}
