package store

import (
	"context"
	"database/sql"

	"github.com/flip7-arena/flip7/arena"
)

// SaveEntries implements arena.Store.
func (s *Store) SaveEntries(ctx context.Context, id int64, entries ...arena.Entry) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, e := range entries {
			_, err := tx.Exec(`
				INSERT INTO entries (tournament, number, name, player, owner, build, contribution, from_round, state, anchor, fill_in, absent_tables)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
				ON CONFLICT (tournament, number) DO UPDATE SET
					name = excluded.name, player = excluded.player, owner = excluded.owner, build = excluded.build,
					contribution = excluded.contribution, from_round = excluded.from_round, state = excluded.state,
					anchor = excluded.anchor, fill_in = excluded.fill_in, absent_tables = excluded.absent_tables`,
				id, e.Number, e.Name, e.Player, e.Owner, e.Build, hash(e.Contribution), e.From, e.State.String(), e.Anchor, e.FillIn, e.AbsentTables)
			if err != nil {
				return noParent(err)
			}
		}
		return nil
	})
}

// Entered are the newest tournaments that a bot has entered and that are no drafts, the newest first and without entries and
// rounds. It looks each up in the index of names, the newest first, so that a bot that plays on most nights is found at once.
func (s *Store) Entered(ctx context.Context, bot string, limit int) ([]arena.Tournament, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT id, state, why, settings, excluded, secret, start_at, created_at, started_at, ended_at
		FROM tournaments
		WHERE id > 0 AND state <> 'draft' AND EXISTS (SELECT 1 FROM entries WHERE tournament = tournaments.id AND name = ?)
		ORDER BY id DESC LIMIT ?`, bot, limit)
	return collect(rows, err, scanHead)
}

// noParent makes arena.ErrNotFound of a row that belongs to nothing.
func noParent(err error) error {
	if isForeignKey(err) {
		return arena.ErrNotFound
	}
	return err
}

func readEntries(ctx context.Context, tx *sql.Tx, tournament int64) ([]arena.Entry, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT number, name, player, owner, build, contribution, from_round, state, anchor, fill_in, absent_tables
		FROM entries WHERE tournament = ? ORDER BY number`, tournament)
	return collect(rows, err, func(rows *sql.Rows) (e arena.Entry, err error) {
		err = rows.Scan(&e.Number, &e.Name, &e.Player, &e.Owner, &e.Build, (*hash)(&e.Contribution), &e.From,
			word[arena.EntryState]{&e.State, arena.ParseEntryState}, &e.Anchor, &e.FillIn, &e.AbsentTables)
		return e, err
	})
}
