package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/server/store"
)

func TestWhatIsKeptIsThereAgain(t *testing.T) {
	// Characters that mean something in a DSN do not in a folder's name.
	dir := filepath.Join(t.TempDir(), "a b", "50%?x=1&y#z")
	settings := arena.DefaultSettings()
	settings.Name = "night"
	want := &arena.Tournament{Settings: settings, State: arena.Open}
	s, err := store.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Create(t.Context(), want, ""); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := open(t, dir, store.Options{}).Tournament(t.Context(), want.ID)
	if err != nil || got.Settings.Name != "night" {
		t.Errorf("got %+v and %v, want the tournament that was created", got, err)
	}
}

func TestOnlyTheOwnerCanRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := open(t, dir, store.Options{})
	night := create(t, s)
	journal, err := s.Journals().Open(night.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close(false)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the rights %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// create keeps a tournament that runs.
func create(t testing.TB, s *store.Store) *arena.Tournament {
	t.Helper()
	settings := arena.DefaultSettings()
	settings.Name = "night"
	night := &arena.Tournament{Settings: settings, State: arena.Running, Secret: [32]byte{1}, Created: time.UnixMicro(1).UTC()}
	if err := s.Create(t.Context(), night, ""); err != nil {
		t.Fatal(err)
	}
	return night
}

// made is a data folder with something in it, closed.
func made(t *testing.T) (dir string) {
	dir = t.TempDir()
	s, err := store.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for range 200 {
		create(t, s)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRefused has folders that cannot be used: each is refused in one sentence that says what is wrong, and left as it is.
func TestRefused(t *testing.T) {
	exec := func(t *testing.T, path string, statements ...string) {
		t.Helper()
		db, err := sql.Open("sqlite", path)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, s := range statements {
			if _, err := db.Exec(s); err != nil {
				t.Fatal(err)
			}
		}
	}
	write := func(t *testing.T, path string, content []byte) {
		t.Helper()
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name string
		want string
		make func(t *testing.T) (dir string)
	}{
		{"a text file", "is not a database", func(t *testing.T) string {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "arena.db"), []byte("my notes"))
			return dir
		}},
		{"a longer one", "is not a database", func(t *testing.T) string {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "arena.db"), bytes.Repeat([]byte("my notes\n"), 1000))
			return dir
		}},
		{"a database that is cut off in its first page", "is not a database", func(t *testing.T) string {
			dir := made(t)
			if err := os.Truncate(filepath.Join(dir, "arena.db"), 99); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"a database of another program", "of another program", func(t *testing.T) string {
			dir := t.TempDir()
			exec(t, filepath.Join(dir, "arena.db"), "CREATE TABLE recipes (name TEXT)")
			return dir
		}},
		{"a schema from the future", "newer flip7: its schema has version 999", func(t *testing.T) string {
			dir := made(t)
			exec(t, filepath.Join(dir, "arena.db"), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)")
			return dir
		}},
		{"a damaged page", "is damaged", func(t *testing.T) string {
			dir := made(t)
			path := filepath.Join(dir, "arena.db")
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			copy(content[len(content)/2:], bytes.Repeat([]byte{0xaa}, 8192))
			write(t, path, content)
			return dir
		}},
		{"half a database", "is damaged", func(t *testing.T) string {
			dir := made(t)
			path := filepath.Join(dir, "arena.db")
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, info.Size()/2); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"a folder where the database should be", "cannot be opened for writing", func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "arena.db"), 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"a folder where the lock should be", "cannot be written", func(t *testing.T) string {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "arena.lock"), 0o700); err != nil {
				t.Fatal(err)
			}
			return dir
		}},
		{"a file where the folder should be", "cannot be made", func(t *testing.T) string {
			path := filepath.Join(t.TempDir(), "data")
			write(t, path, nil)
			return path
		}},
		{"a read-only folder", "cannot be written", func(t *testing.T) string {
			if os.Geteuid() == 0 {
				t.Skip("root may write everywhere")
			}
			dir := made(t)
			for _, path := range []string{filepath.Join(dir, "arena.lock"), dir} {
				if err := os.Chmod(path, 0o500); err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
			}
			return dir
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := test.make(t)
			before := contents(t, dir)
			s, err := store.Open(t.Context(), dir, store.Options{})
			if err == nil {
				t.Fatal(s.Close(), "it was not refused")
			}
			if text := err.Error(); !strings.Contains(text, test.want) || !strings.Contains(text, dir) || strings.Contains(text, "\n") {
				t.Errorf("got %q, want one line that names the folder and says %q", text, test.want)
			}
			if after := contents(t, dir); before != after {
				t.Errorf("the folder was changed:\n%s\nand is\n%s", before, after)
			}
		})
	}
}

// contents are the files of a data folder that hold anything, by their hashes; the lock is nothing to be kept.
func contents(t *testing.T, dir string) string {
	t.Helper()
	var list strings.Builder
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == "arena.lock" || strings.HasSuffix(path, "-shm") {
			return err
		}
		content, err := os.ReadFile(path)
		if len(content) > 0 {
			fmt.Fprintf(&list, "%s %x\n", entry.Name(), sha256.Sum256(content))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list.String()
}

func TestASecondServerIsRefused(t *testing.T) {
	dir := t.TempDir()
	first, err := store.Open(t.Context(), dir, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = store.Open(t.Context(), dir, store.Options{})
	if want := fmt.Sprintf("data folder %s is in use by another flip7 server (process %d)", dir, os.Getpid()); err == nil || err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	create(t, first) // which the attempt has not disturbed
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, store.Options{})
}

func TestAClosedStoreWritesNothing(t *testing.T) {
	s, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Create(context.Background(), &arena.Tournament{Settings: arena.DefaultSettings()}, ""); err == nil {
		t.Error("it created a tournament")
	}
}

func TestDurabilityIsReadAsItIsWritten(t *testing.T) {
	for _, d := range []store.Durability{store.Process, store.Power} {
		if got, err := store.ParseDurability(d.String()); got != d || err != nil {
			t.Errorf("%v is read as %v, %v", d, got, err)
		}
	}
	if _, err := store.ParseDurability("none"); err == nil || !strings.Contains(err.Error(), "durability") {
		t.Errorf("got %v, want an error that names durability", err)
	}
}
