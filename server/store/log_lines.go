package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// LogMost is how many lines a bot's log holds; the oldest go first. At 256 bytes of text that is about 3 MB a bot.
const LogMost = 10_000

// LogLine is something that a bot's owner can read about it: a note that it sent with a decision, or what the arena has to
// tell its author.
type LogLine struct {
	Number  int64 // within the bot's log, from 1; given by AddLog
	At      time.Time
	Game    arena.GameID // zero from where on it concerns none; tournament 0 is practice
	Attempt int          // at the game; 0: none
	Request int          // of the attempt; 0: none
	Session string       // the stream; empty: none
	Kind    string       // in the words of who wrote it
	Trouble bool         // something went wrong
	Text    string
}

// AddLog adds lines to a bot's log.
func (s *Store) AddLog(ctx context.Context, bot string, lines ...LogLine) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		var id, last int64
		err := tx.QueryRow("UPDATE bots SET lines = lines + ? WHERE folded = ? AND name = ? RETURNING id, lines",
			len(lines), Fold(bot), bot).Scan(&id, &last)
		if errors.Is(err, sql.ErrNoRows) {
			err = fmt.Errorf("bot %q: %w", bot, arena.ErrNotFound)
		}
		if err != nil {
			return err
		}
		for i, l := range lines {
			_, err := tx.Exec(`
				INSERT INTO log_lines (bot, number, at, tournament, round, seating, game, attempt, request, session, kind, trouble, text)
				VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				id, last-int64(len(lines)-1-i), l.At.UnixMicro(), l.Game.Tournament, l.Game.Round, l.Game.Table, l.Game.Number,
				l.Attempt, l.Request, l.Session, l.Kind, l.Trouble, l.Text)
			if err != nil {
				return err
			}
		}
		_, err = tx.Exec("DELETE FROM log_lines WHERE bot = ? AND number <= ?", id, last-LogMost)
		return err
	})
}

// LogQuery says which lines are wanted.
type LogQuery struct {
	Bot      string
	Game     arena.GameID // the tournament, 0 for practice; and its round, table and number, where 0 means any
	Troubles bool         // only those
	After    int64        // the number of a line; 0: from the beginning
	Limit    int
}

// Log are lines of a bot's log, oldest first, and how many lines of all its log have been dropped so far.
func (s *Store) Log(ctx context.Context, q LogQuery) (lines []LogLine, cut int64, err error) {
	err = s.read(ctx, func(tx *sql.Tx) error {
		var id, last int64
		err := tx.QueryRowContext(ctx, "SELECT id, lines FROM bots WHERE folded = ? AND name = ?", Fold(q.Bot), q.Bot).Scan(&id, &last)
		if errors.Is(err, sql.ErrNoRows) {
			err = fmt.Errorf("bot %q: %w", q.Bot, arena.ErrNotFound)
		}
		if err != nil {
			return err
		}
		cut = max(last-LogMost, 0)
		rows, err := tx.QueryContext(ctx, `
			SELECT number, at, tournament, round, seating, game, attempt, request, session, kind, trouble, text
			FROM log_lines
			WHERE bot = ? AND number > ? AND tournament = ? AND ? IN (0, round) AND ? IN (0, seating) AND ? IN (0, game) AND trouble >= ?
			ORDER BY number LIMIT ?`, id, q.After, q.Game.Tournament, q.Game.Round, q.Game.Table, q.Game.Number, q.Troubles, q.Limit)
		lines, err = collect(rows, err, scanLogLine)
		return err
	})
	return lines, cut, err
}

func scanLogLine(rows *sql.Rows) (l LogLine, err error) {
	var at sql.NullInt64
	err = rows.Scan(&l.Number, &at, &l.Game.Tournament, &l.Game.Round, &l.Game.Table, &l.Game.Number, &l.Attempt, &l.Request,
		&l.Session, &l.Kind, &l.Trouble, &l.Text)
	l.At = moment(at)
	return l, err
}
