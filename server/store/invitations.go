package store

import (
	"context"
	"database/sql"
	"errors"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// Errors of invitations that bring nobody, beside arena.ErrNotFound for an id.
var (
	ErrNoInvitation = errors.New("no invitation has this code")
	ErrExpired      = errors.New("the invitation has expired")
	ErrUsedUp       = errors.New("the invitation has brought as many owners as it may")
	ErrRevoked      = errors.New("the invitation was revoked")
)

// Invitation lets people become owners. Of its code there is only SHA-256, by which it is found.
type Invitation struct {
	ID      int64 // given by AddInvitation, ascending
	Uses    int   // how many owners it may bring
	Remark  string
	Created time.Time
	Expires time.Time
	Revoked time.Time // zero: it was not
	Owners  []string  // whom it has brought, in order; also those that are retired now
}

// AddInvitation keeps a new invitation, with the hash of its code, and says its id. Revoked and Owners do not count.
func (s *Store) AddInvitation(ctx context.Context, i Invitation, code [32]byte) (id int64, err error) {
	err = s.write(ctx, func(tx *sql.Tx) error {
		return tx.QueryRow(`
			INSERT INTO invitations (code, uses, remark, created_at, expires_at) VALUES (?, ?, ?, ?, ?) RETURNING id`,
			hash(code), i.Uses, i.Remark, micros(i.Created), micros(i.Expires)).Scan(&id)
	})
	return id, err
}

// Invitation is an invitation by its id.
func (s *Store) Invitation(ctx context.Context, id int64) (Invitation, error) {
	list, err := s.Invitations(ctx, id+1, 1)
	if err == nil && (len(list) == 0 || list[0].ID != id) {
		err = arena.ErrNotFound
	}
	if err != nil {
		return Invitation{}, err
	}
	return list[0], nil
}

// Invitations are the newest invitations with ids less than before (0: all), newest first.
func (s *Store) Invitations(ctx context.Context, before int64, limit int) (list []Invitation, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			SELECT id, uses, remark, created_at, expires_at, revoked_at FROM invitations
			WHERE id < ifnull(nullif(?, 0), 9223372036854775807)
			ORDER BY id DESC LIMIT ?`, before, limit)
		if list, err = collect(rows, err, scanInvitation); err != nil || len(list) == 0 {
			return err
		}
		at := map[int64]*Invitation{}
		for i := range list {
			at[list[i].ID] = &list[i]
		}
		rows, err = tx.QueryContext(ctx, `
			SELECT invitation, name FROM owners WHERE invitation BETWEEN ? AND ? ORDER BY invitation, id`, list[len(list)-1].ID, list[0].ID)
		_, err = collect(rows, err, func(rows *sql.Rows) (by int64, err error) {
			var name string
			if err = rows.Scan(&by, &name); err == nil {
				at[by].Owners = append(at[by].Owners, name)
			}
			return by, err
		})
		return err
	})
	return list, err
}

func scanInvitation(rows *sql.Rows) (i Invitation, err error) {
	var created, expires, revoked sql.NullInt64
	err = rows.Scan(&i.ID, &i.Uses, &i.Remark, &created, &expires, &revoked)
	i.Created, i.Expires, i.Revoked = moment(created), moment(expires), moment(revoked)
	return i, err
}

// RevokeInvitation ends an invitation: it brings nobody any more. Doing it again is fine.
func (s *Store) RevokeInvitation(ctx context.Context, id int64, at time.Time) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		return oneRow(tx.Exec("UPDATE invitations SET revoked_at = ifnull(revoked_at, ?) WHERE id = ?", micros(at), id))
	})
}

// admit finds the invitation that has a code, if it brings another owner at that time.
func admit(tx *sql.Tx, code [32]byte, at time.Time) (id int64, err error) {
	var uses, used int
	var expires, revoked sql.NullInt64
	err = tx.QueryRow(`
		SELECT i.id, i.uses, i.expires_at, i.revoked_at, (SELECT count(*) FROM owners AS o WHERE o.invitation = i.id)
		FROM invitations AS i WHERE i.code = ?`, hash(code)).Scan(&id, &uses, &expires, &revoked, &used)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, ErrNoInvitation
	case err != nil:
		return 0, err
	case revoked.Valid:
		return 0, ErrRevoked
	case !at.Before(moment(expires)):
		return 0, ErrExpired
	case used >= uses:
		return 0, ErrUsedUp
	}
	return id, nil
}
