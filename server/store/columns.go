package store

import (
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"fmt"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// numbers is a column that holds a JSON array of small numbers; an empty one is read as nil.
type numbers []int

// Value implements driver.Valuer.
func (n numbers) Value() (driver.Value, error) {
	if n == nil {
		return "[]", nil
	}
	text, err := json.Marshal([]int(n))
	return string(text), err
}

// Scan implements sql.Scanner.
func (n *numbers) Scan(column any) error {
	text, err := bytesOf(column)
	if err != nil {
		return err
	}
	if *n = nil; string(text) == "[]" {
		return nil
	}
	return json.Unmarshal(text, (*[]int)(n))
}

// document is a column that holds a value as JSON.
type document[T any] struct{ value *T }

// Value implements driver.Valuer.
func (d document[T]) Value() (driver.Value, error) {
	text, err := json.Marshal(d.value)
	return string(text), err
}

// Scan implements sql.Scanner.
func (d document[T]) Scan(column any) error {
	text, err := bytesOf(column)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, d.value)
}

// word is a column that holds the word for a value, such as a state.
type word[T any] struct {
	value *T
	parse func(string) (T, error)
}

// Scan implements sql.Scanner.
func (w word[T]) Scan(column any) (err error) {
	text, err := bytesOf(column)
	if err != nil {
		return err
	}
	*w.value, err = w.parse(string(text))
	return err
}

// hash is a column that holds 32 bytes.
type hash [32]byte

// Value implements driver.Valuer.
func (h hash) Value() (driver.Value, error) { return h[:], nil }

// Scan implements sql.Scanner.
func (h *hash) Scan(column any) error {
	raw, err := bytesOf(column)
	if err != nil {
		return err
	}
	if len(raw) != len(h) {
		return fmt.Errorf("%d bytes are not %d", len(raw), len(h))
	}
	copy(h[:], raw)
	return nil
}

func bytesOf(column any) ([]byte, error) {
	switch column := column.(type) {
	case []byte:
		return column, nil
	case string:
		return []byte(column), nil
	}
	return nil, fmt.Errorf("%T is neither text nor bytes", column)
}

// micros is a time as it is kept: microseconds since 1970, and NULL for the zero time.
func micros(t time.Time) sql.NullInt64 {
	return sql.NullInt64{Int64: t.UnixMicro(), Valid: !t.IsZero()}
}

// moment reads what micros writes.
func moment(n sql.NullInt64) time.Time {
	if !n.Valid {
		return time.Time{}
	}
	return time.UnixMicro(n.Int64).UTC()
}

// collect reads all rows of a query at once, so that none of them stays open.
func collect[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) (all []T, _ error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close() //nolint:errcheck // Err says what went wrong
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, rows.Err()
}

// single reads the only row of a query; arena.ErrNotFound if there is none.
func single[T any](rows *sql.Rows, err error, scan func(*sql.Rows) (T, error)) (one T, _ error) {
	all, err := collect(rows, err, scan)
	switch {
	case err != nil:
		return one, err
	case len(all) == 0:
		return one, arena.ErrNotFound
	}
	return all[0], nil
}

// column collects the only column of a query.
func column[T any](rows *sql.Rows, err error) ([]T, error) {
	return collect(rows, err, func(rows *sql.Rows) (one T, err error) { return one, rows.Scan(&one) })
}
