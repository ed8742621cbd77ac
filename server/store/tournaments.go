package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
)

// settings are arena.Settings under the names in which they are kept: one more there does not compile until it has a name
// here. What is missing in an older row is zero, which means its default.
type settings struct {
	Name            string         `json:"name"`
	League          string         `json:"league"`
	Seats           int            `json:"seats"`
	Rounds          int            `json:"rounds"`
	Rotations       int            `json:"rotations"`
	Schedule        arena.Schedule `json:"-"` // in keptSettings as a word
	Rules           game.Rules     `json:"rules"`
	FinalTable      int            `json:"final_table"`
	UntilDecided    bool           `json:"until_decided"`
	MaxGames        int            `json:"max_games"`
	DecisionTimeout time.Duration  `json:"decision_timeout_ns"`
	TimeBank        time.Duration  `json:"time_bank_ns"`
	TableLimit      time.Duration  `json:"table_limit_ns"`
	CheckIn         time.Duration  `json:"checkin_ns"`
	Concurrency     int            `json:"concurrency"`
	Unrated         bool           `json:"unrated"`
	Anchor          arena.Anchor   `json:"-"` // in keptSettings as a word
	Seed            *uint64        `json:"seed"`
	BotsPerOwner    int            `json:"bots_per_owner"`
	MaxBots         int            `json:"max_bots"`
}

type keptSettings struct {
	settings
	Schedule string `json:"schedule"`
	Anchor   string `json:"anchor"`
}

func keepSettings(s arena.Settings) keptSettings {
	return keptSettings{settings(s), s.Schedule.String(), s.Anchor.String()}
}

func (k keptSettings) read() (s arena.Settings, err error) {
	s = arena.Settings(k.settings)
	if s.Schedule, err = arena.ParseSchedule(k.Schedule); err != nil {
		return s, err
	}
	s.Anchor, err = arena.ParseAnchor(k.Anchor)
	return s, err
}

// excluded is arena.Excluded under the names in which it is kept.
type excluded struct {
	Round int    `json:"round"`
	Table int    `json:"table"`
	Game  int    `json:"game"`
	Why   string `json:"why"`
}

func keepExcluded(list []arena.Excluded) (kept []excluded) {
	for _, e := range list {
		kept = append(kept, excluded(e))
	}
	return kept
}

// Create implements arena.Store. A new tournament has neither entries nor rounds.
func (s *Store) Create(ctx context.Context, t *arena.Tournament, requestID string) error {
	var before, created int64
	err := s.write(ctx, func(tx *sql.Tx) error {
		err := tx.QueryRow("SELECT id FROM tournaments WHERE request_id = ?", requestID).Scan(&before)
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		row, err := tx.Exec(`
			INSERT INTO tournaments (request_id, league, state, why, rated, settings, excluded, secret, start_at, created_at, started_at, ended_at)
			VALUES (nullif(?, ''), ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			requestID, t.Settings.League, t.State.String(), t.Why, t.Settings.Rated(), settingsColumn(t), excludedColumn(t), hash(t.Secret),
			micros(t.StartAt), micros(t.Created), micros(t.Started), micros(t.Ended))
		if err != nil {
			return err
		}
		created, err = row.LastInsertId()
		return err
	})
	switch {
	case err != nil:
		return err
	case before == 0:
		t.ID = created
		return nil
	}
	known, err := s.Tournament(ctx, before)
	if err == nil {
		*t = *known
	}
	return err
}

func settingsColumn(t *arena.Tournament) document[keptSettings] {
	kept := keepSettings(t.Settings)
	return document[keptSettings]{&kept}
}

func excludedColumn(t *arena.Tournament) document[[]excluded] {
	kept := keepExcluded(t.Excluded)
	return document[[]excluded]{&kept}
}

// SaveHead implements arena.Store.
func (s *Store) SaveHead(ctx context.Context, t *arena.Tournament) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		return oneRow(tx.Exec(`
			UPDATE tournaments
			SET league = ?, state = ?, why = ?, rated = ?, settings = ?, excluded = ?, secret = ?, start_at = ?, created_at = ?, started_at = ?, ended_at = ?
			WHERE id = ?`,
			t.Settings.League, t.State.String(), t.Why, t.Settings.Rated(), settingsColumn(t), excludedColumn(t), hash(t.Secret),
			micros(t.StartAt), micros(t.Created), micros(t.Started), micros(t.Ended), t.ID))
	})
}

// oneRow makes arena.ErrNotFound of a change that changed nothing.
func oneRow(result sql.Result, err error) error {
	if err != nil {
		return err
	}
	if n, err := result.RowsAffected(); err != nil || n == 1 {
		return err
	}
	return arena.ErrNotFound
}

// Tournament implements arena.Store.
func (s *Store) Tournament(ctx context.Context, id int64) (t *arena.Tournament, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		t, err = readTournament(ctx, tx, id)
		return err
	})
	return t, err
}

// Live implements arena.Store.
func (s *Store) Live(ctx context.Context) (live []*arena.Tournament, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		rows, err := tx.QueryContext(ctx, `
			SELECT id FROM tournaments WHERE state IN ('open', 'running', 'paused', 'held') ORDER BY id`)
		ids, err := column[int64](rows, err)
		if err != nil {
			return err
		}
		for _, id := range ids {
			t, err := readTournament(ctx, tx, id)
			if err != nil {
				return err
			}
			live = append(live, t)
		}
		return nil
	})
	return live, err
}

// Tournaments implements arena.Store.
func (s *Store) Tournaments(ctx context.Context, before int64, limit int) ([]arena.Tournament, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT id, state, why, settings, excluded, secret, start_at, created_at, started_at, ended_at
		FROM tournaments
		WHERE id < ifnull(nullif(?, 0), 9223372036854775807)
		ORDER BY id DESC LIMIT ?`, before, limit)
	return collect(rows, err, scanHead)
}

// Rated implements arena.Store.
func (s *Store) Rated(ctx context.Context, league string) ([]int64, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT id FROM tournaments WHERE league = ? AND rated = 1 AND state = 'finished' ORDER BY id`, league)
	return column[int64](rows, err)
}

// Leagues implements arena.Store. It goes from each name to the next one in the index, since there are few leagues and
// many tournaments.
func (s *Store) Leagues(ctx context.Context) ([]string, error) {
	rows, err := s.reader.QueryContext(ctx, `
		WITH RECURSIVE names (name) AS (
			SELECT min(league) FROM tournaments
			UNION ALL
			SELECT (SELECT min(league) FROM tournaments WHERE league > names.name) FROM names WHERE names.name IS NOT NULL
		)
		SELECT name FROM names WHERE name IS NOT NULL`)
	return column[string](rows, err)
}

// over reports whether a tournament is there and over, and so on the disk as it is.
func (s *Store) over(ctx context.Context, id int64) (bool, error) {
	var state arena.State
	err := s.reader.QueryRowContext(ctx, "SELECT state FROM tournaments WHERE id = ?", id).Scan(word[arena.State]{&state, arena.ParseState})
	if errors.Is(err, sql.ErrNoRows) || err == nil && !state.Over() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, s.flush(ctx)
}

// journalHead is how the journal of a tournament begins.
func (s *Store) journalHead(ctx context.Context, id int64) ([]byte, error) {
	t := arena.Tournament{ID: id}
	err := s.reader.QueryRowContext(ctx, "SELECT secret FROM tournaments WHERE id = ?", id).Scan((*hash)(&t.Secret))
	if errors.Is(err, sql.ErrNoRows) {
		err = arena.ErrNotFound
	}
	return fileHead(id, t.Commitment()), err
}

// readTournament reads all of a tournament but the records.
func readTournament(ctx context.Context, tx *sql.Tx, id int64) (*arena.Tournament, error) {
	rows, err := tx.QueryContext(ctx, `
		SELECT id, state, why, settings, excluded, secret, start_at, created_at, started_at, ended_at
		FROM tournaments WHERE id = ?`, id)
	t, err := single(rows, err, scanHead)
	if err != nil {
		return nil, err
	}
	if t.Entries, err = readEntries(ctx, tx, id); err != nil {
		return nil, fmt.Errorf("entries of tournament %d: %w", id, err)
	}
	if t.Rounds, err = readRounds(ctx, tx, id); err != nil {
		return nil, fmt.Errorf("pairing rounds of tournament %d: %w", id, err)
	}
	return &t, nil
}

func scanHead(rows *sql.Rows) (t arena.Tournament, err error) {
	var kept keptSettings
	var out []excluded
	var start, created, started, ended sql.NullInt64
	err = rows.Scan(&t.ID, word[arena.State]{&t.State, arena.ParseState}, &t.Why, document[keptSettings]{&kept}, document[[]excluded]{&out},
		(*hash)(&t.Secret), &start, &created, &started, &ended)
	if err != nil {
		return t, err
	}
	for _, e := range out {
		t.Excluded = append(t.Excluded, arena.Excluded(e))
	}
	t.StartAt, t.Created, t.Started, t.Ended = moment(start), moment(created), moment(started), moment(ended)
	if t.Settings, err = kept.read(); err != nil {
		return t, fmt.Errorf("settings of tournament %d: %w", t.ID, err)
	}
	return t, nil
}
