package store

import (
	"context"
	"database/sql"

	"github.com/flip7-arena/flip7/arena"
)

func insertTable(tx *sql.Tx, tournament int64, round int, t arena.Table) error {
	_, err := tx.Exec(`
		INSERT INTO tables (tournament, round, number, bots, state, why, void_from, lost)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		tournament, round, t.Number, numbers(t.Bots), t.State.String(), t.Why, t.VoidFrom, t.Lost)
	return err
}

// SaveTable implements arena.Store.
func (s *Store) SaveTable(ctx context.Context, id int64, round int, t arena.Table) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		return oneRow(tx.Exec(`
			UPDATE tables SET state = ?, why = ?, void_from = ?, lost = ?
			WHERE tournament = ? AND round = ? AND number = ?`,
			t.State.String(), t.Why, t.VoidFrom, t.Lost, id, round, t.Number))
	})
}

// readTables puts the tables of a tournament into its rounds, which are in order.
func readTables(ctx context.Context, tx *sql.Tx, tournament int64, rounds []arena.Round) error {
	type row struct {
		round int
		arena.Table
	}
	rows, err := tx.QueryContext(ctx, `
		SELECT round, number, bots, state, why, void_from, lost
		FROM tables WHERE tournament = ? ORDER BY round, number`, tournament)
	tables, err := collect(rows, err, func(rows *sql.Rows) (t row, err error) {
		return t, rows.Scan(&t.round, &t.Number, (*numbers)(&t.Bots), word[arena.TableState]{&t.State, arena.ParseTableState},
			&t.Why, &t.VoidFrom, &t.Lost)
	})
	for _, t := range tables {
		round := &rounds[t.round-1]
		round.Tables = append(round.Tables, t.Table)
	}
	return err
}
