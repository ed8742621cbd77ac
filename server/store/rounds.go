package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/flip7-arena/flip7/arena"
)

// SaveRound implements arena.Store.
func (s *Store) SaveRound(ctx context.Context, id int64, round arena.Round) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.Exec(`
			INSERT INTO rounds (tournament, number, missing, cost, shares, spread, repeats)
			VALUES (?, ?, ?, ?, ?, ?, ?)`,
			id, round.Number, numbers(round.Missing), round.Cost, round.Shares, round.Spread, round.Repeats)
		if err != nil {
			return noParent(err)
		}
		for _, t := range round.Tables {
			if err := insertTable(tx, id, round.Number, t); err != nil {
				return fmt.Errorf("table %d: %w", t.Number, err)
			}
		}
		return nil
	})
}

// readRounds reads the rounds with their tables, and the tables with their games.
func readRounds(ctx context.Context, tx *sql.Tx, tournament int64) ([]arena.Round, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT number, missing, cost, shares, spread, repeats
		FROM rounds WHERE tournament = ? ORDER BY number`, tournament)
	rounds, err := collect(rows, err, func(rows *sql.Rows) (r arena.Round, err error) {
		return r, rows.Scan(&r.Number, (*numbers)(&r.Missing), &r.Cost, &r.Shares, &r.Spread, &r.Repeats)
	})
	if err != nil {
		return nil, err
	}
	if err := readTables(ctx, tx, tournament, rounds); err != nil {
		return nil, fmt.Errorf("tables: %w", err)
	}
	if err := readResults(ctx, tx, tournament, rounds); err != nil {
		return nil, fmt.Errorf("games: %w", err)
	}
	return rounds, nil
}
