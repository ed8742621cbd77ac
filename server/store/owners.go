package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// Errors of owners and bots, beside arena.ErrNotFound.
var (
	ErrTaken   = errors.New("the name is taken")
	ErrRetired = errors.New("it is retired")
)

// Owner is who answers for bots. Of its token there is only SHA-256, by which it is found.
type Owner struct {
	Name    string // unique once folded, for ever
	Created time.Time
	Rotated time.Time // when it got its token, if that is not its first; else zero
	Retired time.Time // zero: it is not
	Bots    int       // that are not retired
}

// AddOwner keeps a new owner. ErrTaken if the name is reserved, or another owner has it once folded.
func (s *Store) AddOwner(ctx context.Context, name string, token [32]byte, at time.Time) error {
	folded, err := s.newName(name)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := insertOwner(tx, name, folded, token, sql.NullInt64{}, at)
		return err
	})
}

// AddInvitedOwner keeps a new owner whom an invitation brings; code is the hash of its code. Beside the errors of
// AddOwner, ErrNoInvitation, ErrExpired, ErrUsedUp and ErrRevoked say why it brings nobody; none of them uses it up.
func (s *Store) AddInvitedOwner(ctx context.Context, name string, token, code [32]byte, at time.Time) error {
	folded, err := s.newName(name)
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		invitation, err := admit(tx, code, at)
		if err != nil {
			return err
		}
		_, err = insertOwner(tx, name, folded, token, sql.NullInt64{Int64: invitation, Valid: true}, at)
		return err
	})
}

// newName folds the name of somebody new.
func (s *Store) newName(name string) (folded string, err error) {
	folded = Fold(name)
	switch {
	case folded == "":
		return "", &arena.SettingError{Field: "name", Wrong: fmt.Sprintf("%q shows nothing; it takes a character that can be seen", name)}
	case s.reserved[folded]:
		return "", fmt.Errorf("%q is a name of the arena's own: %w", name, ErrTaken)
	}
	return folded, nil
}

// insertOwner keeps an owner; invitation is NULL without one.
func insertOwner(tx *sql.Tx, name, folded string, token [32]byte, invitation sql.NullInt64, at time.Time) (id int64, err error) {
	err = tx.QueryRow(`
		INSERT INTO owners (name, folded, token, invitation, created_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (folded) DO NOTHING RETURNING id`, name, folded, hash(token), invitation, micros(at)).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("owner %q: %w", name, ErrTaken)
	}
	return id, err
}

// findOwner finds an owner that is not retired; ErrRetired if it is.
func findOwner(tx *sql.Tx, name string) (id int64, err error) {
	var retired bool
	err = tx.QueryRow("SELECT id, retired_at IS NOT NULL FROM owners WHERE folded = ? AND name = ?", Fold(name), name).Scan(&id, &retired)
	return id, standing("owner", name, retired, err)
}

// standing is the error of having looked for somebody who must not be retired.
func standing(kind, name string, retired bool, err error) error {
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return fmt.Errorf("%s %q: %w", kind, name, arena.ErrNotFound)
	case err == nil && retired:
		return fmt.Errorf("%s %q: %w", kind, name, ErrRetired)
	}
	return err
}

// Owner is the owner of exactly that name, be it retired.
func (s *Store) Owner(ctx context.Context, name string) (Owner, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT o.name, o.created_at, o.rotated_at, o.retired_at,
			(SELECT count(*) FROM bots AS b WHERE b.owner = o.id AND b.retired_at IS NULL)
		FROM owners AS o WHERE o.folded = ? AND o.name = ?`, Fold(name), name)
	return single(rows, err, scanOwner)
}

// OwnerByToken is the owner whose token has that hash.
func (s *Store) OwnerByToken(ctx context.Context, token [32]byte) (Owner, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT o.name, o.created_at, o.rotated_at, o.retired_at,
			(SELECT count(*) FROM bots AS b WHERE b.owner = o.id AND b.retired_at IS NULL)
		FROM owners AS o WHERE o.token = ?`, hash(token))
	return single(rows, err, scanOwner)
}

// Owners are owners in order of their folded names, from the first one after a name (empty: from the beginning), the
// retired ones too or not.
func (s *Store) Owners(ctx context.Context, after string, limit int, retired bool) ([]Owner, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT o.name, o.created_at, o.rotated_at, o.retired_at,
			(SELECT count(*) FROM bots AS b WHERE b.owner = o.id AND b.retired_at IS NULL)
		FROM owners AS o WHERE o.folded > ? AND (? OR o.retired_at IS NULL)
		ORDER BY o.folded LIMIT ?`, Fold(after), retired, limit)
	return collect(rows, err, scanOwner)
}

func scanOwner(rows *sql.Rows) (o Owner, err error) {
	var created, rotated, retired sql.NullInt64
	err = rows.Scan(&o.Name, &created, &rotated, &retired, &o.Bots)
	o.Created, o.Rotated, o.Retired = moment(created), moment(rotated), moment(retired)
	return o, err
}

// RotateOwner gives an owner another token; the old one finds nobody any more. ErrRetired if the owner is.
func (s *Store) RotateOwner(ctx context.Context, name string, token [32]byte, at time.Time) error {
	return s.change(ctx, name, findOwner, func(tx *sql.Tx, id int64) error {
		_, err := tx.Exec("UPDATE owners SET token = ?, rotated_at = ? WHERE id = ?", hash(token), micros(at), id)
		return err
	})
}

// RetireOwner ends an owner and its bots: their tokens find nobody any more, their names stay. Doing it again is fine.
func (s *Store) RetireOwner(ctx context.Context, name string, at time.Time) error {
	return unlessRetired(s.change(ctx, name, findOwner, func(tx *sql.Tx, id int64) error {
		if _, err := tx.Exec("UPDATE owners SET token = NULL, retired_at = ? WHERE id = ?", micros(at), id); err != nil {
			return err
		}
		_, err := tx.Exec("UPDATE bots SET token = NULL, retired_at = ? WHERE owner = ? AND retired_at IS NULL", micros(at), id)
		return err
	}))
}

// change does something to an owner or bot that find finds.
func (s *Store) change(ctx context.Context, name string, find func(*sql.Tx, string) (int64, error), do func(tx *sql.Tx, id int64) error) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		id, err := find(tx, name)
		if err != nil {
			return err
		}
		return do(tx, id)
	})
}

// unlessRetired is the error of what may be done again.
func unlessRetired(err error) error {
	if errors.Is(err, ErrRetired) {
		return nil
	}
	return err
}
