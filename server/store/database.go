package store

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/pressly/goose/v3"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID marks a SQLite file as an arena's: "Flp7". It never changes.
const applicationID = 0x466c7037

//go:embed migrations/*.sql
var migrations embed.FS

// openDatabase opens the database of a data folder, or begins it, with one connection: the writer's.
func openDatabase(ctx context.Context, path string, options Options) (*sql.DB, error) {
	fresh, err := recognize(path)
	if err != nil {
		return nil, err
	}
	if fresh {
		if err := claim(ctx, path); err != nil {
			return nil, fmt.Errorf("%s cannot be begun: %w", path, err)
		}
	}
	synchronous := "NORMAL"
	if options.Durability == Power {
		synchronous = "FULL"
	}
	db := pool(path, 1, "_pragma=busy_timeout(5000)", "_pragma=journal_mode(WAL)", "_pragma=synchronous("+synchronous+")",
		"_pragma=foreign_keys(1)", "_txlock=immediate")
	if err := ready(ctx, db, path, options); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// recognize refuses a file that is not an arena's, by its first bytes and before SQLite touches it. A file that is empty,
// or not there, is fresh.
func recognize(path string) (fresh bool, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, fmt.Errorf("%s cannot be opened for writing: %w", path, err)
	}
	defer file.Close()
	head := make([]byte, 100) // https://sqlite.org/fileformat.html#the_database_header
	n, err := io.ReadFull(file, head)
	switch {
	case err == io.EOF:
		return true, nil
	case err != nil && err != io.ErrUnexpectedEOF:
		return false, fmt.Errorf("%s cannot be read: %w", path, err)
	case !bytes.HasPrefix(head, []byte("SQLite format 3\x00")), n < len(head):
		return false, fmt.Errorf("%s is not a database, or its beginning is damaged; it was left as it is", path)
	case binary.BigEndian.Uint32(head[68:]) != applicationID:
		return false, fmt.Errorf("%s is the database of another program; it was left as it is", path)
	}
	return false, nil
}

// claim marks a fresh file. It comes before WAL mode, so that the mark is in the file itself from its first byte on.
func claim(ctx context.Context, path string) error {
	db := pool(path, 1)
	_, err := db.ExecContext(ctx, fmt.Sprintf("PRAGMA application_id = %d", applicationID))
	return errors.Join(err, db.Close())
}

// ready checks the database and brings its schema up to date.
func ready(ctx context.Context, db *sql.DB, path string, options Options) error {
	var found string
	err := db.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&found)
	if primary := code(err) & 0xff; primary == sqlite3.SQLITE_CORRUPT || primary == sqlite3.SQLITE_NOTADB {
		found, err = err.Error(), nil
	}
	if err != nil {
		return fmt.Errorf("%s cannot be opened: %w", path, err)
	}
	if found != "ok" {
		found = strings.Join(strings.Fields(found), " ") // it may have several lines
		return fmt.Errorf("%s is damaged (%s); it was left as it is: put a backup in its place", path, found)
	}
	if err := migrate(ctx, db, options); err != nil {
		return fmt.Errorf("%s %w", path, err)
	}
	return nil
}

// migrate applies the migrations that are missing. A schema that a newer program made is not touched.
func migrate(ctx context.Context, db *sql.DB, options Options) error {
	files, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("has no migrations: %w", err)
	}
	version, known, err := provider.GetVersions(ctx)
	if err != nil {
		return fmt.Errorf("does not tell the version of its schema: %w", err)
	}
	if version > known {
		return fmt.Errorf("was made by a newer flip7: its schema has version %d, and this program knows %d; it was left as it is", version, known)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("cannot be brought from schema version %d to %d: %w", version, known, err)
	}
	if 0 < version && version < known {
		options.Log.Info("the database was brought up to date", "from", version, "to", known)
	}
	return nil
}
