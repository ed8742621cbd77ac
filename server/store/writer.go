package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"sync"
)

// batchMost is how many methods share a transaction at most. Beyond some dozens the commit is no longer what costs, and
// the last of a batch waits for all the others.
const batchMost = 100

var errClosed = errors.New("the store is closed")

// writer is the one goroutine that writes.
type writer struct {
	db      *sql.DB
	waiting chan *write // without room: what waits in it has not begun and can be given up
	closing chan struct{}
	work    sync.WaitGroup
}

// write is what one method writes.
type write struct {
	do   func(*sql.Tx) error
	err  error
	done chan error // has room for the one answer
}

func newWriter(db *sql.DB) *writer {
	w := &writer{db: db, waiting: make(chan *write), closing: make(chan struct{})}
	w.work.Go(w.run)
	return w
}

// write waits for its turn as long as ctx lasts, and from then on for the commit.
func (w *writer) write(ctx context.Context, do func(*sql.Tx) error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	one := &write{do: do, done: make(chan error, 1)}
	select {
	case w.waiting <- one:
		return <-one.done
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-w.closing:
		return errClosed
	}
}

// close ends the writer after what it has begun.
func (w *writer) close() {
	close(w.closing)
	w.work.Wait()
}

func (w *writer) run() {
	for {
		var batch []*write
		select {
		case one := <-w.waiting:
			batch = append(batch, one)
		case <-w.closing:
			return
		}
		batch = w.more(batch)
		err := w.commit(batch)
		for _, one := range batch {
			one.done <- cmp.Or(one.err, err)
		}
	}
}

// more takes along who else is waiting.
func (w *writer) more(batch []*write) []*write {
	for len(batch) < batchMost {
		select {
		case one := <-w.waiting:
			batch = append(batch, one)
		default:
			return batch
		}
	}
	return batch
}

// commit writes a batch in one transaction. Its error is of all that have none of their own.
func (w *writer) commit(batch []*write) error {
	tx, err := w.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	for _, one := range batch {
		if err := one.apart(tx); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// apart writes in a savepoint, so that what fails is undone without the rest of the batch. The error is of the whole
// transaction.
func (one *write) apart(tx *sql.Tx) error {
	if _, err := tx.Exec("SAVEPOINT method"); err != nil {
		return err
	}
	if one.err = one.do(tx); one.err != nil {
		if _, err := tx.Exec("ROLLBACK TO method"); err != nil {
			return one.err // a full disk, among others, makes SQLite roll back the transaction by itself
		}
	}
	_, err := tx.Exec("RELEASE method")
	return err
}
