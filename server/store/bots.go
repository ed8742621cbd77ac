package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// Bot is a registered player. Of its token there is only SHA-256, by which it is found.
type Bot struct {
	Name    string // unique once folded, for ever
	Owner   string // its name; empty: the organiser
	Created time.Time
	Rotated time.Time // when it got its token, if that is not its first; else zero
	Retired time.Time // zero: it is not
}

// AddBot keeps a new bot. ErrTaken if the name is reserved, or another bot has it once folded. An owner that there is not
// yet is made along with it, with the token that is given for that; made says so. ErrRetired if the owner is.
func (s *Store) AddBot(ctx context.Context, name, owner string, token, ownerToken [32]byte, at time.Time) (made bool, err error) {
	folded, err := s.newName(name)
	if err != nil {
		return false, err
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		var ownerID sql.NullInt64 // NULL: the organiser
		if owner != "" {
			id, err := findOwner(tx, owner)
			if made = errors.Is(err, arena.ErrNotFound); made {
				id, err = s.makeOwner(tx, owner, ownerToken, at)
			}
			if err != nil {
				return err
			}
			ownerID = sql.NullInt64{Int64: id, Valid: true}
		}
		row, err := tx.Exec(`
			INSERT INTO bots (name, folded, owner, token, created_at) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (folded) DO NOTHING`, name, folded, ownerID, hash(token), micros(at))
		if err != nil {
			return err
		}
		if added, err := row.RowsAffected(); err != nil || added == 1 {
			return err
		}
		return fmt.Errorf("bot %q: %w", name, ErrTaken)
	})
	return made && err == nil, err
}

func (s *Store) makeOwner(tx *sql.Tx, name string, token [32]byte, at time.Time) (id int64, err error) {
	folded, err := s.newName(name)
	if err != nil {
		return 0, err
	}
	return insertOwner(tx, name, folded, token, sql.NullInt64{}, at)
}

// findBot finds a bot that is not retired; ErrRetired if it is.
func findBot(tx *sql.Tx, name string) (id int64, err error) {
	var retired bool
	err = tx.QueryRow("SELECT id, retired_at IS NOT NULL FROM bots WHERE folded = ? AND name = ?", Fold(name), name).Scan(&id, &retired)
	return id, standing("bot", name, retired, err)
}

// Bot is the bot of exactly that name, be it retired.
func (s *Store) Bot(ctx context.Context, name string) (Bot, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT b.name, ifnull(o.name, ''), b.created_at, b.rotated_at, b.retired_at
		FROM bots AS b LEFT JOIN owners AS o ON o.id = b.owner
		WHERE b.folded = ? AND b.name = ?`, Fold(name), name)
	return single(rows, err, scanBot)
}

// BotByToken is the bot whose token has that hash.
func (s *Store) BotByToken(ctx context.Context, token [32]byte) (Bot, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT b.name, ifnull(o.name, ''), b.created_at, b.rotated_at, b.retired_at
		FROM bots AS b LEFT JOIN owners AS o ON o.id = b.owner
		WHERE b.token = ?`, hash(token))
	return single(rows, err, scanBot)
}

// Bots are bots in order of their folded names, from the first one after a name (empty: from the beginning), the retired
// ones too or not.
func (s *Store) Bots(ctx context.Context, after string, limit int, retired bool) ([]Bot, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT b.name, ifnull(o.name, ''), b.created_at, b.rotated_at, b.retired_at
		FROM bots AS b LEFT JOIN owners AS o ON o.id = b.owner
		WHERE b.folded > ? AND (? OR b.retired_at IS NULL)
		ORDER BY b.folded LIMIT ?`, Fold(after), retired, limit)
	return collect(rows, err, scanBot)
}

// BotsOf are those of one owner.
func (s *Store) BotsOf(ctx context.Context, owner, after string, limit int, retired bool) ([]Bot, error) {
	rows, err := s.reader.QueryContext(ctx, `
		SELECT b.name, o.name, b.created_at, b.rotated_at, b.retired_at
		FROM owners AS o JOIN bots AS b ON b.owner = o.id
		WHERE o.folded = ? AND o.name = ? AND b.folded > ? AND (? OR b.retired_at IS NULL)
		ORDER BY b.folded LIMIT ?`, Fold(owner), owner, Fold(after), retired, limit)
	return collect(rows, err, scanBot)
}

func scanBot(rows *sql.Rows) (b Bot, err error) {
	var created, rotated, retired sql.NullInt64
	err = rows.Scan(&b.Name, &b.Owner, &created, &rotated, &retired)
	b.Created, b.Rotated, b.Retired = moment(created), moment(rotated), moment(retired)
	return b, err
}

// RotateBot gives a bot another token; the old one finds nobody any more. ErrRetired if the bot is.
func (s *Store) RotateBot(ctx context.Context, name string, token [32]byte, at time.Time) error {
	return s.change(ctx, name, findBot, func(tx *sql.Tx, id int64) error {
		_, err := tx.Exec("UPDATE bots SET token = ?, rotated_at = ? WHERE id = ?", hash(token), micros(at), id)
		return err
	})
}

// RetireBot ends a bot: its token finds nobody any more, its name stays. Doing it again is fine.
func (s *Store) RetireBot(ctx context.Context, name string, at time.Time) error {
	return unlessRetired(s.change(ctx, name, findBot, func(tx *sql.Tx, id int64) error {
		_, err := tx.Exec("UPDATE bots SET token = NULL, retired_at = ? WHERE id = ?", micros(at), id)
		return err
	}))
}

// Playing says in which tournament that runs a bot plays, by its name. Those that play in none are left out.
func (s *Store) Playing(ctx context.Context) (map[string]int64, error) {
	playing := map[string]int64{}
	rows, err := s.reader.QueryContext(ctx, `
		SELECT entries.name, tournaments.id FROM tournaments CROSS JOIN entries ON entries.tournament = tournaments.id
		WHERE tournaments.state IN ('open', 'running', 'paused', 'held') AND tournaments.state <> 'open' AND entries.state = 'entered'`)
	_, err = collect(rows, err, func(rows *sql.Rows) (id int64, err error) {
		var name string
		if err = rows.Scan(&name, &id); err == nil {
			playing[name] = id
		}
		return id, err
	})
	return playing, err
}
