package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/table"
)

// Journals are the journals of a data folder, a file for each tournament that is not over.
type Journals struct {
	store  *Store
	folder string

	mu   sync.Mutex
	open map[int64]bool
}

// Open implements arena.Journals, for a tournament that is in the store. A damaged tail is cut at the last whole batch, and
// the log told; a file that is no journal of this tournament is refused and left as it is. A journal can be open once at a
// time.
func (js *Journals) Open(id int64) (arena.Journal, error) {
	js.mu.Lock()
	defer js.mu.Unlock()
	if js.open[id] {
		return nil, fmt.Errorf("the journal of tournament %d is open already", id)
	}
	j := &journal{journals: js, id: id, path: filepath.Join(js.folder, strconv.FormatInt(id, 10)+".log"), games: map[place]*attempt{}}
	if err := j.load(context.Background()); err != nil {
		return nil, fmt.Errorf("open the journal of tournament %d: %w", id, err)
	}
	js.open[id] = true
	return j, nil
}

// sweep removes the journals of tournaments that are over, which a server that was killed at the very end has left.
func (js *Journals) sweep(ctx context.Context) error {
	files, err := os.ReadDir(js.folder)
	if err != nil {
		return err
	}
	for _, file := range files {
		// What is called .log.new was not finished, and is overwritten when the journal is written anew.
		name, isLog := strings.CutSuffix(file.Name(), ".log")
		id, err := strconv.ParseInt(name, 10, 64)
		if !isLog || err != nil {
			continue
		}
		over, err := js.store.over(ctx, id)
		if err != nil {
			return err
		}
		if !over {
			continue
		}
		if err := os.Remove(filepath.Join(js.folder, file.Name())); err != nil {
			return err
		}
	}
	return nil
}

// journal is the journal of one tournament. Who has something to write adds it to the batch that is being filled. Who
// begins a batch waits until the disk is free, closes the batch to others and writes it for all of them; so a lone writer
// writes at once, and many share a write, without a goroutine to be woken for either.
type journal struct {
	journals *Journals
	id       int64
	path     string
	head     []byte // of the file

	disk sync.Mutex // held by who writes; is taken before mu
	file *os.File
	size int64 // of what is whole
	torn bool  // there is something after it

	mu      sync.Mutex
	games   map[place]*attempt // that have begun and not ended
	filling *batch             // nil: whoever comes next begins one
	spare   []byte             // a buffer for it
	closed  bool
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
	bytes []byte // room for the head, and the lines so far
	err   error  // to be read after done
	done  sync.WaitGroup
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
	err := j.write(func(lines []byte) []byte { return appendBegin(lines, at, try) })
	if err != nil {
		return nil, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.begin(at, try), nil
}

// begin makes an attempt the one that counts, unless it is that already.
func (j *journal) begin(at place, number int) *attempt {
	if a := j.games[at]; a != nil && a.number == number {
		return a
	}
	a := &attempt{journal: j, place: at, number: number}
	j.games[at] = a
	return a
}

// Write implements table.Journal.
func (a *attempt) Write(e table.Entry) error {
	j := a.journal
	err := j.write(func(lines []byte) []byte {
		a.entries = append(a.entries, e)
		return appendDecision(lines, a.place, a.number, e)
	})
	if err != nil && err != errJournalClosed {
		j.mu.Lock()
		a.entries = a.entries[:len(a.entries)-1] // a game writes one decision at a time
		j.mu.Unlock()
	}
	return err
}

// Ended implements arena.Journal. The file forgets a game when it is next opened, for then it is known whether its result
// is still in the store: after a power cut it may not be.
func (j *journal) Ended(round, table, number int) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.games, place{round, table, number})
	return nil
}

// write adds what line appends to the batch, and returns when that is safe. Line is called with j.mu held.
func (j *journal) write(line func(lines []byte) []byte) error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return errJournalClosed
	}
	b, first := j.filling, j.filling == nil
	if first {
		b = &batch{bytes: append(j.spare[:0], make([]byte, batchHead)...)}
		b.done.Add(1)
		j.filling, j.spare = b, nil
	}
	b.bytes = line(b.bytes)
	j.mu.Unlock()
	if first {
		j.settle(b)
	} else {
		b.done.Wait()
	}
	return b.err
}

// settle writes the batch that is being filled, for all that have added to it.
func (j *journal) settle(b *batch) {
	j.disk.Lock()
	defer j.disk.Unlock()
	j.mu.Lock()
	j.filling = nil
	j.mu.Unlock()
	b.err = j.append(seal(b.bytes))
	j.mu.Lock()
	j.spare = b.bytes
	j.mu.Unlock()
	b.done.Done()
}

// append writes bytes after what is whole; j.disk is held. What it cannot write whole it takes away again, at the latest
// before the next append, for what was refused must not be read later.
func (j *journal) append(whole []byte) error {
	if err := j.mend(); err != nil {
		return fmt.Errorf("mend the journal: %w", err)
	}
	_, err := j.file.WriteAt(whole, j.size)
	if err == nil && j.journals.store.options.Durability == Power {
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
	j.disk.Lock() // a batch that is being written is finished, and one that waits for the disk refused
	defer j.disk.Unlock()
	defer j.journals.release(j.id)
	err := j.file.Close()
	if err != nil || !discard {
		return err
	}
	if err := j.journals.store.flush(context.Background()); err != nil {
		return err
	}
	return os.Remove(j.path)
}

func (js *Journals) release(id int64) {
	js.mu.Lock()
	defer js.mu.Unlock()
	delete(js.open, id)
}

// load reads the file and opens it. It is written anew, without games whose results are in the store, if anything of it
// can go.
func (j *journal) load(ctx context.Context) (err error) {
	if j.head, err = j.journals.store.journalHead(ctx, j.id); err != nil {
		return err
	}
	raw, err := os.ReadFile(j.path)
	if errors.Is(err, fs.ErrNotExist) {
		return j.rewrite(ctx)
	}
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(raw, j.head) {
		return fmt.Errorf("%s is no journal of this tournament, or its beginning is damaged; it was left as it is: move it away", j.path)
	}
	whole := read(raw, len(j.head), j.remember)
	landed, err := j.journals.store.landed(ctx, j.id)
	if err != nil {
		return err
	}
	begun := len(j.games)
	for _, at := range landed {
		delete(j.games, at)
	}
	if cut := len(raw) - whole; cut > 0 {
		j.journals.store.options.Log.Warn("a journal was damaged and is cut at its last whole batch", "tournament", j.id,
			"file", j.path, "bytes_kept", whole, "bytes_cut", cut)
	} else if len(j.games) == begun {
		j.size = int64(whole)
		j.file, err = os.OpenFile(j.path, os.O_RDWR, 0)
		return err
	}
	return j.rewrite(ctx)
}

// remember takes in a line of the file.
func (j *journal) remember(l line) {
	if l.kind == lineBegin {
		j.begin(l.place, l.attempt)
	} else if a := j.games[l.place]; a != nil && a.number == l.attempt {
		a.entries = append(a.entries, l.entry)
	}
}

// rewrite replaces the file by one that holds what is remembered. Until the last moment the old file is untouched. The
// database goes to the disk before: the tournament, so that no other one finds its journal there, and the results of what
// is left out.
func (j *journal) rewrite(ctx context.Context) (err error) {
	if err := j.journals.store.flush(ctx); err != nil {
		return err
	}
	places := slices.SortedFunc(maps.Keys(j.games), func(a, b place) int {
		return cmp.Or(a.round-b.round, a.table-b.table, a.game-b.game)
	})
	whole := slices.Clone(j.head)
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
