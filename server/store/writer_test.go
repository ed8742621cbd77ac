package store

import (
	"context"
	"database/sql"
	"errors"
	"testing"
	"testing/synctest"
)

// TestABatch has methods that fail in between others, all of them taken into one transaction.
func TestABatch(t *testing.T) {
	s, err := Open(t.Context(), t.TempDir(), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	errMine := errors.New("mine")
	insert := func(league string, after error) *write {
		return &write{done: make(chan error, 1), do: func(tx *sql.Tx) error {
			_, err := tx.Exec(`INSERT INTO tournaments (league, state, why, rated, settings, excluded, secret)
				VALUES (?, 'draft', '', 1, '{}', 'null', x'')`, league)
			return errors.Join(err, after)
		}}
	}
	broken := &write{done: make(chan error, 1), do: func(tx *sql.Tx) error {
		_, err := tx.Exec("INSERT INTO no_such_table VALUES (1)")
		return err
	}}
	// The goroutine of the store has nothing to do, so this one may take its place.
	batch := []*write{insert("a", nil), insert("b", errMine), broken, insert("c", nil)}
	if err := s.writer.commit(batch); err != nil {
		t.Fatal(err)
	}
	if batch[0].err != nil || batch[1].err == nil || !errors.Is(batch[1].err, errMine) || batch[2].err == nil || batch[3].err != nil {
		t.Errorf("got %v, %v, %v, %v; want the second and the third to fail", batch[0].err, batch[1].err, batch[2].err, batch[3].err)
	}
	wantLeagues(t, s, "a", "c")

	// Some errors end the transaction: then nobody's writing is kept, and everybody is told.
	ends := &write{done: make(chan error, 1), do: func(tx *sql.Tx) error {
		_, err := tx.Exec("ROLLBACK")
		return errors.Join(err, errMine)
	}}
	batch = []*write{insert("d", nil), ends, insert("e", nil)}
	if err := s.writer.commit(batch); !errors.Is(err, errMine) {
		t.Errorf("got %v, want %v for all", err, errMine)
	}
	wantLeagues(t, s, "a", "c")
	batch = []*write{insert("f", nil)}
	if err := s.writer.commit(batch); err != nil || batch[0].err != nil {
		t.Errorf("after that: %v, %v", err, batch[0].err)
	}
	wantLeagues(t, s, "a", "c", "f")
}

func wantLeagues(t *testing.T, s *Store, want ...string) {
	t.Helper()
	got, err := s.Leagues(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// TestWhoGivesUpKeepsNothing has callers whose time ends before their turn comes.
func TestWhoGivesUpKeepsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, err := Open(t.Context(), t.TempDir(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		errTime := errors.New("time is up")
		over, cancel := context.WithCancelCause(t.Context())
		cancel(errTime)
		never := func(*sql.Tx) error { t.Error("it was written"); return nil }
		for range 20 { // often enough for the writer, which has nothing to do, to be ready
			synctest.Wait()
			if err := s.write(over, never); err != errTime {
				t.Errorf("got %v, want %v", err, errTime)
			}
		}

		finish, first, second := make(chan struct{}), make(chan error), make(chan error)
		go func() {
			first <- s.write(t.Context(), func(*sql.Tx) error { <-finish; return nil })
		}()
		synctest.Wait()
		ctx, cancel := context.WithCancelCause(t.Context())
		go func() { second <- s.write(ctx, never) }()
		synctest.Wait()
		cancel(errTime)
		if err := <-second; err != errTime {
			t.Errorf("got %v, want %v", err, errTime)
		}
		close(finish)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}
