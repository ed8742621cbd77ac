package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// LogMost is how many lines a bot's log holds; the oldest go first. At 400 bytes of text that is about 5 MB a bot.
const LogMost = 10_000

// LogLine is something that a bot's owner can read about it.
type LogLine struct {
	Number  int64 // within the bot's log, from 1; given by AddLog
	At      time.Time
	Game    arena.GameID // zero from where on it concerns none
	Attempt int          // at the game; 0: none
	Request int          // of the attempt; 0: none
	Session string       // the stream; empty: none
	Kind    string       // in the words of who wrote it
	Trouble bool         // something went wrong
	Text    string
}

// LogPage is what is to be added to the log of a bot.
type LogPage struct {
	Bot   string
	Lines []LogLine
}

// AddLog adds to the logs of bots, to all or to none; pages of bots that there are not are left out. It takes the writer
// 20 us for each line and ten times as much for each page, and results of games wait meanwhile: who has much to add does
// it in parts.
func (s *Store) AddLog(ctx context.Context, pages ...LogPage) error {
	return s.write(ctx, func(tx *sql.Tx) error {
		for _, page := range pages {
			if err := addPage(tx, page); err != nil {
				return fmt.Errorf("log of bot %q: %w", page.Bot, err)
			}
		}
		return nil
	})
}

func addPage(tx *sql.Tx, page LogPage) error {
	var id, last int64
	err := tx.QueryRow("UPDATE bots SET lines = lines + ? WHERE folded = ? AND name = ? RETURNING id, lines",
		len(page.Lines), Fold(page.Bot), page.Bot).Scan(&id, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	insert, err := tx.Prepare(`
		INSERT INTO log_lines (bot, number, at, tournament, round, seating, game, attempt, request, session, kind, trouble, text)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
	if err != nil {
		return err
	}
	defer insert.Close() //nolint:errcheck // what it did is known by then
	for i, l := range page.Lines {
		_, err := insert.Exec(id, last-int64(len(page.Lines)-1-i), l.At.UnixMicro(), l.Game.Tournament, l.Game.Round, l.Game.Table,
			l.Game.Number, l.Attempt, l.Request, l.Session, l.Kind, l.Trouble, l.Text)
		if err != nil {
			return err
		}
	}
	_, err = tx.Exec("DELETE FROM log_lines WHERE bot = ? AND number <= ?", id, last-LogMost)
	return err
}

// LogQuery says which lines are wanted.
type LogQuery struct {
	Bot      string
	Game     arena.GameID // its tournament, round, table and number; 0 means any
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
			WHERE bot = ? AND number > ? AND ? IN (0, tournament) AND ? IN (0, round) AND ? IN (0, seating) AND ? IN (0, game) AND trouble >= ?
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
