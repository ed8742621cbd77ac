package store

import (
	"context"
	"database/sql"

	"github.com/flip7-arena/flip7/arena"
)

// Audit implements arena.Store.
func (s *Store) Audit(ctx context.Context, id int64, act arena.Act) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO acts (tournament, at, who, what, why)
			VALUES (?, ?, ?, ?, ?)`, id, act.At.UnixMicro(), act.Who, act.What, act.Why)
		return noParent(err)
	})
}

// Acts implements arena.Store.
func (s *Store) Acts(ctx context.Context, id int64) ([]arena.Act, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT at, who, what, why FROM acts WHERE tournament = ? ORDER BY id`, id)
	return collect(rows, err, func(rows *sql.Rows) (act arena.Act, err error) {
		var at sql.NullInt64
		err = rows.Scan(&at, &act.Who, &act.What, &act.Why)
		act.At = moment(at)
		return act, err
	})
}
