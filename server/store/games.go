package store

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/flip7-arena/flip7/arena"
)

// gamesPage is how many games with their records are read at once: about half a megabyte.
const gamesPage = 100

// SaveGame implements arena.Store.
func (s *Store) SaveGame(ctx context.Context, id arena.GameID, p arena.Played) error {
	record, timings, err := s.pack(p) // here, and not where everybody else waits
	if err != nil {
		return err
	}
	return s.write(ctx, func(tx *sql.Tx) error {
		row, err := tx.Exec(`
			INSERT INTO games (tournament, round, seating, number, attempt, seats, rounds, totals, places, faults, slips)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (tournament, round, seating, number) DO NOTHING`,
			id.Tournament, id.Round, id.Table, id.Number, p.Game.Attempt, numbers(p.Game.Seats), p.Game.Result.Rounds,
			numbers(p.Game.Result.Totals), numbers(p.Game.Result.Places), numbers(p.Game.Faults), numbers(p.Game.Slips))
		if err != nil {
			return noParent(err)
		}
		if landed, err := row.RowsAffected(); err != nil || landed == 0 {
			return err
		}
		return insertRecord(tx, id, record, timings)
	})
}

// Games implements arena.Store. It reads a page at a time, so that do may take as long as it likes: a game that lands
// meanwhile is handed over if its turn is still to come.
func (s *Store) Games(ctx context.Context, id int64, do func(arena.GameID, arena.Played) error) error {
	for at := (arena.GameID{Tournament: id}); ; {
		rows, err := s.reader.QueryContext(ctx, `
			SELECT g.round, g.seating, g.number, g.attempt, g.seats, g.rounds, g.totals, g.places, g.faults, g.slips, r.record, r.timings
			FROM games AS g JOIN records AS r USING (tournament, round, seating, number)
			WHERE g.tournament = ? AND (g.round, g.seating, g.number) > (?, ?, ?)
			ORDER BY g.round, g.seating, g.number LIMIT ?`, id, at.Round, at.Table, at.Number, gamesPage)
		page, err := collect(rows, err, scanPlayed)
		if err != nil {
			return fmt.Errorf("games of tournament %d: %w", id, err)
		}
		for _, row := range page {
			at.Round, at.Table, at.Number = row.round, row.table, row.game.Number
			played, err := s.unpack(at, row)
			if err != nil {
				return err
			}
			if err := do(at, played); err != nil {
				return err
			}
		}
		if len(page) < gamesPage {
			return nil
		}
	}
}

// Game implements arena.Store.
func (s *Store) Game(ctx context.Context, id arena.GameID) (arena.Played, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT g.round, g.seating, g.number, g.attempt, g.seats, g.rounds, g.totals, g.places, g.faults, g.slips, r.record, r.timings
		FROM games AS g JOIN records AS r USING (tournament, round, seating, number)
		WHERE g.tournament = ? AND g.round = ? AND g.seating = ? AND g.number = ?`, id.Tournament, id.Round, id.Table, id.Number)
	row, err := single(rows, err, scanPlayed)
	if err != nil {
		return arena.Played{}, err
	}
	return s.unpack(id, row)
}

// landed are the games of a tournament that have results.
func (s *Store) landed(ctx context.Context, tournament int64) ([]place, error) {
	rows, err := s.reader.QueryContext(ctx, "SELECT round, seating, number FROM games WHERE tournament = ?", tournament)
	return collect(rows, err, func(rows *sql.Rows) (at place, err error) {
		return at, rows.Scan(&at.round, &at.table, &at.game)
	})
}

// gameRow is a game, where it was played and, if it was asked for, what is kept of it.
type gameRow struct {
	round, table    int
	game            arena.Game
	record, timings []byte
}

func (g *gameRow) columns() []any {
	return []any{&g.round, &g.table, &g.game.Number, &g.game.Attempt, (*numbers)(&g.game.Seats), &g.game.Result.Rounds,
		(*numbers)(&g.game.Result.Totals), (*numbers)(&g.game.Result.Places), (*numbers)(&g.game.Faults), (*numbers)(&g.game.Slips)}
}

func scanGame(rows *sql.Rows) (g gameRow, err error) { return g, rows.Scan(g.columns()...) }

func scanPlayed(rows *sql.Rows) (g gameRow, err error) {
	return g, rows.Scan(append(g.columns(), &g.record, &g.timings)...)
}

// readResults puts the games of a tournament into the tables of its rounds.
func readResults(ctx context.Context, tx *sql.Tx, tournament int64, rounds []arena.Round) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT round, seating, number, attempt, seats, rounds, totals, places, faults, slips
		FROM games WHERE tournament = ? ORDER BY round, seating, number`, tournament)
	games, err := collect(rows, err, scanGame)
	for _, g := range games {
		table := &rounds[g.round-1].Tables[g.table-1]
		table.Games = append(table.Games, g.game)
	}
	return err
}
