//go:build linux || darwin

package store

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
)

// limitFiles makes the kernel refuse to let any file of the process grow beyond a size, as a full disk would, until there
// is room again.
func limitFiles(t *testing.T, size int64) (room func()) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	set := func(limit syscall.Rlimit) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			t.Fatal(err)
		}
	}
	limited := before
	limited.Cur = uint64(size)
	set(limited)
	room = func() { set(before) }
	t.Cleanup(func() { room(); signal.Reset(syscall.SIGXFSZ) })
	return room
}

// alone runs the test in a process of its own, and reports whether this is that: the limit holds for everything that a
// process writes, the log of the go command about its tests too.
func alone(t *testing.T) bool {
	t.Helper()
	const child = "STORE_TEST_ALONE"
	if os.Getenv(child) == t.Name() {
		return true
	}
	c := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	c.Env = append(os.Environ(), child+"="+t.Name())
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func TestJournalOnAFullDisk(t *testing.T) {
	if !alone(t) {
		return
	}
	for _, durability := range []Durability{Process, Power} {
		t.Run(durability.String(), func(t *testing.T) {
			d := newDesk(t, durability)
			j := d.open()
			w := d.begin(j, 1, 1)
			d.must(w.Write(entry(1)))
			before, err := os.Stat(d.path())
			d.must(err)

			// There is room for a part of the next batch.
			room := limitFiles(t, before.Size()+9)
			for range 3 {
				if err := w.Write(entry(2)); !errors.Is(err, syscall.EFBIG) {
					t.Errorf("got %v, want %v", err, syscall.EFBIG)
				}
				if _, err := j.Begin(1, 2, 1, 1); !errors.Is(err, syscall.EFBIG) {
					t.Errorf("begin: got %v, want %v", err, syscall.EFBIG)
				}
			}
			if after, err := os.Stat(d.path()); err != nil || after.Size() != before.Size() {
				t.Errorf("the file has %d bytes, want the %d from before (%v)", after.Size(), before.Size(), err)
			}
			d.wantBegun(j, 1, 1, entry(1))
			d.wantBegun(j, 2, 0)
			room()
			d.must(w.Write(entry(3)))
			d.must(j.Close(false))
			d.wantBegun(d.open(), 1, 1, entry(1), entry(3))
			if d.log.Len() > 0 {
				t.Errorf("the file was damaged: %s", d.log)
			}
		})
	}
}

func TestJournalCannotBeWrittenAnewOnAFullDisk(t *testing.T) {
	if !alone(t) {
		return
	}
	d := newDesk(t, Process)
	j := d.open()
	w := d.begin(j, 1, 1)
	d.must(w.Write(entry(1)))
	d.begin(j, 2, 1)
	d.land(2)
	d.must(j.Close(false))
	before, err := os.ReadFile(d.path())
	d.must(err)

	room := limitFiles(t, 60) // the head, and a part of a batch
	if _, err := d.Journals().Open(d.id); !errors.Is(err, syscall.EFBIG) {
		t.Errorf("got %v, want %v", err, syscall.EFBIG)
	}
	if after, err := os.ReadFile(d.path()); err != nil || string(after) != string(before) {
		t.Errorf("the journal was changed (%v)", err)
	}
	room()
	d.wantBegun(d.open(), 1, 1, entry(1))
}

func TestDatabaseOnAFullDisk(t *testing.T) {
	if !alone(t) {
		return
	}
	d := newDesk(t, Process)
	d.must(d.SaveRound(t.Context(), d.id, arena.Round{Number: 1, Spread: "0", Tables: []arena.Table{{Number: 1}}}))
	written, err := os.Stat(filepath.Join(d.dir, "arena.db-wal"))
	d.must(err)
	room := limitFiles(t, written.Size()+128<<10)
	save := func(number int) error {
		id := arena.GameID{Tournament: d.id, Round: 1, Table: 1, Number: number}
		return d.SaveGame(t.Context(), id, arena.Played{Game: arena.Game{Number: number, Seats: make([]int, 1000)}})
	}
	kept := 0
	for kept < 1000 && save(kept+1) == nil {
		kept++
	}
	if kept == 0 || kept == 1000 {
		t.Fatalf("%d games were kept before the disk was full", kept)
	}
	for range 3 {
		if err := save(kept + 1); err == nil {
			t.Fatal("a game was kept on a full disk")
		}
	}
	games := func() (count int) {
		d.must(d.Games(t.Context(), d.id, func(id arena.GameID, _ arena.Played) error {
			if count++; id.Number != count {
				return fmt.Errorf("game %d comes as number %d", id.Number, count)
			}
			return nil
		}))
		return count
	}
	if got := games(); got != kept {
		t.Errorf("%d games can be read, want the %d that were kept", got, kept)
	}
	room()
	d.must(save(kept + 1))
	if got := games(); got != kept+1 {
		t.Errorf("with room again %d games can be read, want %d", got, kept+1)
	}
}

func TestAFullDiskIsCalledThat(t *testing.T) {
	d := newDesk(t, Process)
	_, err := d.writer.db.Exec("PRAGMA max_page_count = 1") // the database may not grow
	d.must(err)
	for n := 0; err == nil; n++ {
		token := sha256.Sum256([]byte{byte(n >> 8), byte(n)})
		_, err = d.AddBot(t.Context(), fmt.Sprint("bot", n), "", token, [32]byte{}, time.Now())
	}
	if !Full(err) {
		t.Errorf("a database without room ends in %v, which is not told as that", err)
	}
	if !Full(&fs.PathError{Op: "write", Path: "journal", Err: syscall.ENOSPC}) || Full(syscall.EIO) || Full(nil) {
		t.Error("a file without room, a failing disk and no error are not told apart")
	}
}
