package store

import (
	"archive/zip"
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/table"
)

// backUp backs up a data folder and restores it elsewhere.
func backUp(t *testing.T, dir string, others ...string) (holds Inventory, restored string) {
	t.Helper()
	file, restored := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored")
	holds, err := Backup(t.Context(), dir, file, others...)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Restore(t.Context(), file, restored, others...)
	if err != nil {
		t.Fatal(err)
	}
	if again.Tournaments != holds.Tournaments || len(again.Unfinished) != len(holds.Unfinished) || again.Bytes != holds.Bytes {
		t.Errorf("Restore says %+v, want what Backup said: %+v", again, holds)
	}
	return holds, restored
}

func TestABackupIsTheFolderWhileItIsInUse(t *testing.T) {
	d := newDesk(t, Process)
	over := d.night(arena.Finished)
	d.must(os.WriteFile(filepath.Join(d.dir, "admin.token"), []byte("secret\n"), 0o600))
	d.must(os.WriteFile(filepath.Join(d.dir, "notes.txt"), []byte("mine"), 0o600))
	d.must(d.SaveRound(t.Context(), d.id, arena.Round{Number: 1, Spread: "0", Tables: []arena.Table{{Number: 1}, {Number: 2}}}))
	j := d.open()
	defer j.Close(false)
	one := d.begin(j, 1, 1)
	d.must(one.Write(entry(1)))
	d.must(d.begin(j, 2, 1).Write(entry(1)))
	landed := arena.GameID{Tournament: d.id, Round: 1, Table: 2, Number: 1}
	d.must(d.SaveGame(t.Context(), landed, arena.Played{Game: arena.Game{Number: 1, Attempt: 1}}))
	d.must(j.Ended(1, 2, 1))
	// Half of a batch, as it is found by whoever reads while it is being written.
	tail, err := os.OpenFile(d.path(), os.O_WRONLY|os.O_APPEND, 0)
	d.must(err)
	_, err = tail.Write([]byte{0, 0, 0, 200, 1, 2, 3, 4, 5})
	d.must(errors.Join(err, tail.Close()))

	holds, restored := backUp(t, d.dir, "admin.token", "arena.pem")
	if holds.Tournaments != 2 || len(holds.Unfinished) != 1 || holds.Unfinished[0].ID != d.id {
		t.Errorf("got %+v, want 2 tournaments of which %d is not over", holds, d.id)
	}
	if token, err := os.ReadFile(filepath.Join(restored, "admin.token")); err != nil || string(token) != "secret\n" {
		t.Errorf("the token is %q (%v)", token, err)
	}
	var names []string
	d.must(filepath.WalkDir(restored, func(path string, f fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := f.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the rights %v", path, info.Mode())
		}
		names = append(names, strings.TrimPrefix(path, restored))
		return err
	}))
	want := []string{"", "/admin.token", "/arena.db", "/arena.lock", "/journal", fmt.Sprintf("/journal/%d.log", d.id)}
	if !slices.Equal(names, want) {
		t.Errorf("it holds %q, want %q", names, want)
	}

	r, err := Open(t.Context(), restored, Options{})
	d.must(err)
	defer r.Close()
	if _, err := r.Game(t.Context(), landed); err != nil {
		t.Errorf("the game that had ended: %v", err)
	}
	if night, err := r.Tournament(t.Context(), over); err != nil || night.State != arena.Finished {
		t.Errorf("the night that was over: %v, %v", night, err)
	}
	again, err := r.Journals().Open(d.id)
	d.must(err)
	defer again.Close(false)
	d.wantBegun(again, 1, 1, entry(1))
	d.wantBegun(again, 2, 0)
	if entries, err := os.ReadDir(filepath.Dir(restored)); err != nil || len(entries) != 1 {
		t.Errorf("beside it are %v (%v), want nothing", entries, err)
	}
}

// TestABackupHasWhatWasAcknowledgedBefore backs up again and again while nights come and go.
func TestABackupHasWhatWasAcknowledgedBefore(t *testing.T) {
	const decisions = 3
	d := newDesk(t, Process)
	// Something that takes its time to be copied.
	d.must(d.SaveRound(t.Context(), d.id, arena.Round{Number: 1, Spread: "0", Tables: []arena.Table{{Number: 1}}}))
	for number := range 20 {
		d.must(d.SaveGame(t.Context(), arena.GameID{Tournament: d.id, Round: 1, Table: 1, Number: number + 1},
			arena.Played{Game: arena.Game{Number: number + 1, Seats: make([]int, 100_000)}}))
	}
	var mu sync.Mutex
	decided := map[int64]int{} // of the one game of each night
	play := func() error {
		night := &arena.Tournament{Settings: arena.DefaultSettings(), State: arena.Running}
		if err := d.Create(t.Context(), night, ""); err != nil {
			return err
		}
		if err := d.SaveRound(t.Context(), night.ID, arena.Round{Number: 1, Spread: "0", Tables: []arena.Table{{Number: 1}}}); err != nil {
			return err
		}
		j, err := d.Journals().Open(night.ID)
		if err != nil {
			return err
		}
		w, err := j.Begin(1, 1, 1, 1)
		if err != nil {
			return err
		}
		for number := 1; number <= decisions; number++ {
			if err := w.Write(entry(number)); err != nil {
				return err
			}
			mu.Lock()
			decided[night.ID] = number
			mu.Unlock()
		}
		id := arena.GameID{Tournament: night.ID, Round: 1, Table: 1, Number: 1}
		if err := d.SaveGame(t.Context(), id, arena.Played{Game: arena.Game{Number: 1, Attempt: 1}}); err != nil {
			return err
		}
		night.State = arena.Finished
		return errors.Join(j.Ended(1, 1, 1), d.SaveHead(t.Context(), night), j.Close(true))
	}
	ctx, stop := context.WithCancel(t.Context())
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for ctx.Err() == nil {
				if err := play(); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	defer work.Wait()
	defer stop()

	for range 5 {
		mu.Lock()
		before := len(decided)
		want := make(map[int64]int, before)
		for id, n := range decided {
			want[id] = n
		}
		mu.Unlock()
		_, restored := backUp(t, d.dir)
		if err := has(t, restored, want); err != nil {
			t.Errorf("after %d nights: %v", before, err)
		}
	}
}

// has looks for the decisions of nights in a folder: in a journal, or in a result.
func has(t *testing.T, dir string, decided map[int64]int) error {
	s, err := Open(t.Context(), dir, Options{})
	if err != nil {
		return err
	}
	defer s.Close()
	for id, want := range decided {
		if _, err := s.Game(t.Context(), arena.GameID{Tournament: id, Round: 1, Table: 1, Number: 1}); err == nil {
			continue
		}
		j, err := s.Journals().Open(id)
		if err != nil {
			return err
		}
		_, entries := j.Begun(1, 1, 1)
		if len(entries) < want || !slices.Equal(entries, []table.Entry{entry(1), entry(2), entry(3)}[:len(entries)]) {
			return fmt.Errorf("tournament %d: there is no result, and of %d decisions the journal has %v", id, want, entries)
		}
		if err := j.Close(false); err != nil {
			return err
		}
	}
	return nil
}

func TestABackupOfAFolderWhoseServerWasKilled(t *testing.T) {
	d := newDesk(t, Process)
	left := t.TempDir() // as the server would leave it: what was written last is in the -wal only
	for _, name := range []string{"arena.db", "arena.db-wal"} {
		content, err := os.ReadFile(filepath.Join(d.dir, name))
		d.must(err)
		d.must(os.WriteFile(filepath.Join(left, name), content, 0o600))
	}
	if holds, _ := backUp(t, left); holds.Tournaments != 1 {
		t.Errorf("got %+v, want one tournament", holds)
	}
}

// oneLine checks that an error is one line that says what it has to.
func oneLine(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want one line that says %q", err, want)
	}
}

func TestABackupIsRefused(t *testing.T) {
	d := newDesk(t, Process)
	target := t.TempDir()
	there := filepath.Join(target, "there")
	d.must(os.WriteFile(there, []byte("yesterday's"), 0o600))
	other := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(other, "arena.db"))
	d.must(err)
	_, err = db.Exec("CREATE TABLE recipes (name TEXT)")
	d.must(errors.Join(err, db.Close()))
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("the organiser has had enough"))
	for _, test := range []struct {
		name, dir, file, want string
		ctx                   context.Context
	}{
		{"onto a file", d.dir, there, "there already", t.Context()},
		{"of no folder", filepath.Join(target, "nowhere"), filepath.Join(target, "new"), "holds no arena", t.Context()},
		{"of a folder without an arena", target, filepath.Join(target, "new"), "holds no arena", t.Context()},
		{"of another program", other, filepath.Join(target, "new"), "of another program", t.Context()},
		{"to a folder that is not there", d.dir, filepath.Join(target, "no", "new"), "no such file", t.Context()},
		{"that is broken off", d.dir, filepath.Join(target, "new"), "context canceled", ended},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := Backup(test.ctx, test.dir, test.file)
			oneLine(t, err, test.want)
			if files, err := os.ReadDir(target); err != nil || len(files) != 1 {
				t.Errorf("the folder holds %v (%v), want what was there", files, err)
			}
		})
	}
	if content, err := os.ReadFile(there); err != nil || string(content) != "yesterday's" {
		t.Errorf("the file that was there is %q (%v)", content, err)
	}
}

func TestARestoreIsRefused(t *testing.T) {
	d := newDesk(t, Process)
	good := filepath.Join(t.TempDir(), "good")
	_, err := Backup(t.Context(), d.dir, good, "admin.token")
	d.must(err)
	whole, err := os.ReadFile(good)
	d.must(err)
	database := unpacked(t, whole)["arena.db"]

	// another makes a backup of other files.
	another := func(files map[string][]byte) []byte {
		var to bytes.Buffer
		w := zip.NewWriter(&to)
		for name, content := range files {
			f, err := w.Create(name)
			d.must(err)
			_, err = f.Write(content)
			d.must(err)
		}
		d.must(w.Close())
		return to.Bytes()
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)/3] ^= 1
	full := t.TempDir()
	d.must(os.WriteFile(filepath.Join(full, "mine"), nil, 0o600))
	file := filepath.Join(full, "mine")
	for _, test := range []struct {
		name, dir, want string
		content         []byte
	}{
		{"into a folder that is not empty", full, "is not empty", whole},
		{"into a file", file, "not a directory", whole},
		{"of half a file", "", "no whole backup", whole[:len(whole)/2]},
		{"of a file with a flipped bit", "", "no whole backup", flipped},
		{"of a text", "", "no whole backup", []byte("my notes")},
		{"without a database", "", "there is no arena.db in it", another(map[string][]byte{"admin.token": []byte("x")})},
		{"that leads elsewhere", "", `"../evil" does not belong in it`, another(map[string][]byte{"../evil": nil})},
		{"with a journal that leads elsewhere", "", "does not belong in it", another(map[string][]byte{"journal/../../1.log": nil})},
		{"with something else", "", `"notes" does not belong in it`, another(map[string][]byte{"notes": nil})},
		{"of half a database", "", "cannot be used", another(map[string][]byte{"arena.db": database[:len(database)/2]})},
		{"of a foreign journal", "", "no journal of this tournament",
			another(map[string][]byte{"arena.db": database, "journal/1.log": fileHead(1, [32]byte{})})},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			file, dir := filepath.Join(folder, "backup"), filepath.Join(folder, "data")
			if test.dir != "" {
				dir = test.dir
			}
			d.must(os.WriteFile(file, test.content, 0o600))
			_, err := Restore(t.Context(), file, dir, "admin.token")
			oneLine(t, err, test.want)
			if files, err := os.ReadDir(folder); err != nil || len(files) != 1 {
				t.Errorf("the folder holds %v (%v), want the backup and nothing else", files, err)
			}
		})
	}
	if _, err := Restore(t.Context(), filepath.Join(full, "no"), filepath.Join(full, "data")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a backup that is not there: got %v, want %v", err, fs.ErrNotExist)
	}
	if files, err := os.ReadDir(full); err != nil || len(files) != 1 {
		t.Errorf("the folder that was not empty holds %v (%v)", files, err)
	}
}

func TestABackupReplacesNothingThatCameMeanwhile(t *testing.T) {
	d := newDesk(t, Process)
	file := filepath.Join(t.TempDir(), "backup")
	var work sync.WaitGroup
	var made atomic.Int32
	for range 4 {
		work.Go(func() {
			_, err := Backup(t.Context(), d.dir, file)
			if err == nil {
				made.Add(1)
				return
			}
			oneLine(t, err, "is there already; a backup replaces nothing")
		})
	}
	work.Wait()
	if files, err := os.ReadDir(filepath.Dir(file)); made.Load() != 1 || err != nil || len(files) != 1 {
		t.Errorf("%d of 4 say that they made it, and there are %v (%v); want 1 and the backup", made.Load(), files, err)
	}
	_, err := Restore(t.Context(), file, filepath.Join(t.TempDir(), "data"))
	d.must(err)
}

// TestAFolderThatIsHalfRestoredIsNoArena has what a restore leaves that is killed before and after it moves the database.
func TestAFolderThatIsHalfRestoredIsNoArena(t *testing.T) {
	d := newDesk(t, Process)
	_, dir := backUp(t, d.dir)
	part, database := filepath.Join(dir, "restore.part"), filepath.Join(dir, "arena.db")
	d.must(os.Mkdir(part, 0o700))
	d.must(os.Rename(database, filepath.Join(part, "arena.db")))
	_, err := Open(t.Context(), dir, Options{})
	oneLine(t, err, "was not restored to its end")
	if _, err := os.Stat(database); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another database was begun (%v)", err)
	}
	d.must(os.Rename(filepath.Join(part, "arena.db"), database))
	s, err := Open(t.Context(), dir, Options{})
	d.must(err)
	d.must(s.Close())
}

// TestNobodyElseUsesAFolderAsItIsRestored has a server, and somebody else who restores, come at the very moment.
func TestNobodyElseUsesAFolderAsItIsRestored(t *testing.T) {
	d := newDesk(t, Process)
	file, dir := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
	_, err := Backup(t.Context(), d.dir, file)
	d.must(err)
	leave, err := claimFolder(dir) // as Restore does first
	d.must(err)
	part := filepath.Join(dir, "restore.part")
	d.must(os.Mkdir(part, 0o700))
	_, err = Open(t.Context(), dir, Options{})
	oneLine(t, err, "is in use")
	_, err = Restore(t.Context(), file, dir)
	oneLine(t, err, "is not empty")
	if files, err := os.ReadDir(dir); err != nil || len(files) != 2 {
		t.Errorf("the folder holds %v (%v), want the lock and what the first is restoring", files, err)
	}
	d.must(os.Remove(part))
	_, err = Restore(t.Context(), file, dir)
	oneLine(t, err, "is in use")
	d.must(leave(false))

	// Where many restore at once, one does it, and all others leave that alone.
	var work sync.WaitGroup
	var restored atomic.Int32
	for range 8 {
		work.Go(func() {
			if _, err := Restore(t.Context(), file, dir); err == nil {
				restored.Add(1)
			}
		})
	}
	work.Wait()
	s, err := Open(t.Context(), dir, Options{})
	d.must(err)
	defer s.Close()
	if nights, err := s.Tournaments(t.Context(), 0, 10); restored.Load() != 1 || err != nil || len(nights) != 1 {
		t.Errorf("%d restored it, and there are %d tournaments (%v); want 1 and 1", restored.Load(), len(nights), err)
	}
}

// unpacked are the files of an archive by their names.
func unpacked(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for _, f := range r.File {
		from, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if files[f.Name], err = io.ReadAll(from); err != nil {
			t.Fatal(err)
		}
	}
	return files
}
