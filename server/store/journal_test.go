package store

import (
	"bytes"
	"database/sql"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// desk is a store with one tournament, for tests of its journal.
type desk struct {
	*Store
	t   *testing.T
	id  int64
	log *bytes.Buffer
}

func newDesk(t *testing.T, durability Durability) *desk {
	t.Helper()
	d := &desk{t: t, log: new(bytes.Buffer)}
	var err error
	options := Options{Durability: durability, Log: slog.New(slog.NewTextHandler(d.log, nil))}
	if d.Store, err = Open(t.Context(), t.TempDir(), options); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	d.id = d.night(arena.Running)
	return d
}

func (d *desk) night(state arena.State) int64 {
	d.t.Helper()
	night := &arena.Tournament{Settings: arena.DefaultSettings(), State: state, Secret: [32]byte{1}}
	if err := d.Create(d.t.Context(), night, ""); err != nil {
		d.t.Fatal(err)
	}
	return night.ID
}

func (d *desk) path() string { return filepath.Join(d.dir, "journal", fmt.Sprint(d.id, ".log")) }

func (d *desk) open() arena.Journal {
	d.t.Helper()
	j, err := d.Journals().Open(d.id)
	if err != nil {
		d.t.Fatal(err)
	}
	return j
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

// land keeps a result of game 1 of a table.
func (d *desk) land(table int) {
	d.t.Helper()
	d.must(d.SaveRound(d.t.Context(), d.id, arena.Round{Number: 1, Spread: "0", Tables: []arena.Table{{Number: table}}}))
	d.must(d.SaveGame(d.t.Context(), arena.GameID{Tournament: d.id, Round: 1, Table: table, Number: 1}, arena.Played{}))
}

func (d *desk) begin(j arena.Journal, table, attempt int) table.Journal {
	d.t.Helper()
	w, err := j.Begin(1, table, 1, attempt)
	d.must(err)
	return w
}

// entry is a decision with every field set, and each another one.
func entry(number int) table.Entry {
	return table.Entry{Number: number, Seat: game.Seat(number % 4), Move: game.Move{Decision: game.Hit, Cause: game.Cause(number % 5)},
		Bank: 10*time.Second - time.Duration(number), Illegal: number % 3, Absent: number%2 == 0, Queued: time.Duration(number), Took: time.Duration(number) * time.Millisecond}
}

func (d *desk) wantBegun(j arena.Journal, table, attempt int, entries ...table.Entry) {
	d.t.Helper()
	gotAttempt, got := j.Begun(1, table, 1)
	if gotAttempt != attempt || !slices.Equal(got, entries) {
		d.t.Errorf("table %d: got attempt %d with %v, want %d with %v", table, gotAttempt, got, attempt, entries)
	}
}

func TestJournalGoesOn(t *testing.T) {
	for _, durability := range []Durability{Process, Power} {
		t.Run(durability.String(), func(t *testing.T) {
			d := newDesk(t, durability)
			j := d.open()
			d.wantBegun(j, 1, 0)
			// Table 1 is in its first attempt, 2 in its second one, 3 has only begun, and 4 is over.
			one, two, four := d.begin(j, 1, 1), d.begin(j, 2, 1), d.begin(j, 4, 1)
			d.begin(j, 3, 1)
			for number := 1; number <= 3; number++ {
				d.must(one.Write(entry(number)))
				d.must(two.Write(entry(number)))
				d.must(four.Write(entry(number)))
			}
			again := d.begin(j, 2, 2)
			d.must(again.Write(entry(7)))
			d.must(two.Write(entry(4))) // which nobody waits for any more
			d.land(4)
			d.must(j.Ended(1, 4, 1))
			check := func(j arena.Journal) {
				t.Helper()
				d.wantBegun(j, 1, 1, entry(1), entry(2), entry(3))
				d.wantBegun(j, 2, 2, entry(7))
				d.wantBegun(j, 3, 1)
				d.wantBegun(j, 4, 0)
				d.wantBegun(j, 5, 0)
			}
			check(j)
			d.must(j.Close(false))

			before, err := os.Stat(d.path())
			d.must(err)
			for range 2 { // the first time the game that is over is left out, the second time there is none
				j = d.open()
				check(j)
				d.must(j.Close(false))
			}
			if after, err := os.Stat(d.path()); err != nil || after.Size() >= before.Size() {
				t.Errorf("the file has %d bytes and had %d, want fewer without the game that has ended (%v)", after.Size(), before.Size(), err)
			}

			// A game goes on in its attempt: what it has is kept, and what comes is added.
			j = d.open()
			one = d.begin(j, 1, 1)
			d.must(one.Write(entry(4)))
			d.must(j.Close(false))
			j = d.open()
			d.wantBegun(j, 1, 1, entry(1), entry(2), entry(3), entry(4))
			d.must(j.Close(true))
			if _, err := os.Stat(d.path()); !os.IsNotExist(err) {
				t.Errorf("a journal that was discarded is there: %v", err)
			}
			if d.log.Len() > 0 {
				t.Errorf("something was logged: %s", d.log)
			}
		})
	}
}

func TestTheStoreSaysWhichGamesAreOver(t *testing.T) {
	d := newDesk(t, Process)
	j := d.open()
	d.must(d.begin(j, 1, 1).Write(entry(1)))
	d.must(d.begin(j, 2, 1).Write(entry(1)))
	d.land(1) // and the server is killed before it can tell the journal
	// Of table 2 the journal was told, and a power cut takes the result with it.
	d.must(j.Ended(1, 2, 1))
	d.wantBegun(j, 2, 0)
	d.must(j.Close(false))
	j = d.open()
	d.wantBegun(j, 1, 0)
	d.wantBegun(j, 2, 1, entry(1))
}

func TestJournalIsOpenOnce(t *testing.T) {
	d := newDesk(t, Process)
	j := d.open()
	if _, err := d.Journals().Open(d.id); err == nil || !strings.Contains(err.Error(), "open already") {
		t.Errorf("got %v, want an error that says that it is open already", err)
	}
	d.must(j.Close(false))
	writer, err := d.open().Begin(1, 1, 1, 1)
	d.must(err)
	d.must(writer.Write(entry(1)))
}

func TestJournalOfNoTournament(t *testing.T) {
	d := newDesk(t, Process)
	if _, err := d.Journals().Open(d.id + 1); err == nil {
		t.Error("there is a journal of a tournament that there is not")
	}
	entries, err := os.ReadDir(filepath.Join(d.dir, "journal"))
	if len(entries) > 0 || err != nil {
		t.Errorf("it left %v (%v)", entries, err)
	}
}

func TestClosedJournalWritesNothing(t *testing.T) {
	d := newDesk(t, Process)
	j := d.open()
	w := d.begin(j, 1, 1)
	d.must(w.Write(entry(1)))
	d.must(j.Close(false))
	for range 2 {
		if err := w.Write(entry(2)); err != errJournalClosed {
			t.Errorf("got %v, want %v", err, errJournalClosed)
		}
	}
	if err := j.Close(true); err != errJournalClosed {
		t.Errorf("closed twice: got %v, want %v", err, errJournalClosed)
	}
	d.wantBegun(j, 1, 1, entry(1))
	d.wantBegun(d.open(), 1, 1, entry(1))
}

// TestJournalOfAnother has files that begin in another way than the journal of the tournament: they may be somebody's only
// copy of something.
func TestJournalOfAnother(t *testing.T) {
	d := newDesk(t, Process)
	j := d.open()
	d.must(d.begin(j, 1, 1).Write(entry(1)))
	d.must(j.Close(false))
	whole, err := os.ReadFile(d.path())
	d.must(err)
	for _, test := range []struct {
		name string
		file []byte
	}{
		{"an empty file", nil},
		{"notes", []byte("buy milk")},
		{"half a head", whole[:20]},
		{"another tournament's number", slices.Concat(whole[:23], []byte{whole[23] + 1}, whole[24:])},
		{"another secret", slices.Concat(whole[:24], []byte{whole[24] + 1}, whole[25:])},
	} {
		d.must(os.WriteFile(d.path(), test.file, 0o600))
		_, err := d.Journals().Open(d.id)
		if err == nil || !strings.Contains(err.Error(), d.path()) {
			t.Errorf("%s: got %v, want an error that names the file", test.name, err)
		}
		if after, err := os.ReadFile(d.path()); err != nil || !bytes.Equal(after, test.file) {
			t.Errorf("%s was changed (%v)", test.name, err)
		}
	}
	d.must(os.WriteFile(d.path(), whole, 0o600))
	d.wantBegun(d.open(), 1, 1, entry(1))
}

// recorded is a journal file of some batches, with the place where each of them ends and the lines up to there.
func recorded() (file []byte, ends []int, lines [][]line) {
	chance := rand.New(rand.NewPCG(1, 2))
	head := fileHead(1, [32]byte{1})
	file, ends, lines = head, []int{len(head)}, [][]line{nil}
	for number := 1; number <= 12; number++ {
		batch, sofar := make([]byte, batchHead), slices.Clone(lines[len(lines)-1])
		for range 1 + chance.IntN(3) {
			l := line{kind: lineKind(1 + chance.IntN(2)), place: place{1 + chance.IntN(200), 1 + chance.IntN(3), 1 + chance.IntN(3)}, attempt: 1 + chance.IntN(2)}
			if l.kind == lineDecision {
				l.entry = entry(number)
			}
			batch = appendAny(batch, l)
			sofar = append(sofar, l)
		}
		file = append(file, seal(batch)...)
		ends, lines = append(ends, len(file)), append(lines, sofar)
	}
	return file, ends, lines
}

func appendAny(batch []byte, l line) []byte {
	if l.kind == lineBegin {
		return appendBegin(batch, l.place, l.attempt)
	}
	return appendDecision(batch, l.place, l.attempt, l.entry)
}

// wantPrefix checks that of a damaged file exactly the batches before the damage are read.
func wantPrefix(t *testing.T, what string, file []byte, damage int, ends []int, lines [][]line) {
	t.Helper()
	var got []line
	whole := read(file, ends[0], func(l line) { got = append(got, l) })
	batches, _ := slices.BinarySearch(ends, damage+1)
	batches--
	if whole != ends[batches] || !reflect.DeepEqual(got, lines[batches]) {
		t.Fatalf("%s: read %d bytes and %d lines, want the %d bytes and %d lines of %d whole batches",
			what, whole, len(got), ends[batches], len(lines[batches]), batches)
	}
}

func TestJournalCutAnywhere(t *testing.T) {
	file, ends, lines := recorded()
	for cut := ends[0]; cut <= len(file); cut++ {
		wantPrefix(t, fmt.Sprintf("cut after %d of %d bytes", cut, len(file)), file[:cut], cut, ends, lines)
		// What a file system may leave after a power cut: the file has its length, and what was written last is zeros.
		zeros, damage := make([]byte, len(file)+100), cut
		copy(zeros, file[:cut])
		for damage < len(file) && file[damage] == 0 {
			damage++
		}
		wantPrefix(t, fmt.Sprintf("zeros after %d of %d bytes", cut, len(file)), zeros, damage, ends, lines)
	}
}

func TestJournalFlippedAnywhere(t *testing.T) {
	file, ends, lines := recorded()
	for at := ends[0]; at < len(file); at++ {
		for bit := range 8 {
			flipped := slices.Clone(file)
			flipped[at] ^= 1 << bit
			wantPrefix(t, fmt.Sprintf("bit %d of byte %d flipped", bit, at), flipped, at, ends, lines)
		}
	}
}

// FuzzJournal reads any file. What is read of it, written again, is read as the same.
func FuzzJournal(f *testing.F) {
	file, ends, _ := recorded()
	f.Add(file[ends[0]:])
	f.Add(file[ends[0]:ends[3]])
	f.Add([]byte{0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(seal(append(make([]byte, batchHead), byte(lineDecision), 255, 255, 255, 255, 255, 255, 255, 255, 255, 1)))
	f.Fuzz(func(t *testing.T, tail []byte) {
		for _, file := range [][]byte{tail, seal(append(make([]byte, batchHead), tail...))} {
			var lines []line
			whole := read(file, 0, func(l line) { lines = append(lines, l) })
			if whole < 0 || whole > len(file) || (whole == 0) != (len(lines) == 0) {
				t.Fatalf("%d lines in %d of %d bytes", len(lines), whole, len(file))
			}
			batch := make([]byte, batchHead)
			for _, l := range lines {
				batch = appendAny(batch, l)
			}
			var again []line
			if read(seal(batch), 0, func(l line) { again = append(again, l) }); !reflect.DeepEqual(again, lines) {
				t.Fatalf("read %+v\nand again %+v", lines, again)
			}
		}
	})
}

func TestDamagedTailIsCutAndSaid(t *testing.T) {
	d := newDesk(t, Process)
	j := d.open()
	w := d.begin(j, 1, 1)
	d.must(w.Write(entry(1)))
	whole, err := os.Stat(d.path())
	d.must(err)
	d.must(w.Write(entry(2)))
	d.must(j.Close(false))
	torn, err := os.Stat(d.path())
	d.must(err)
	d.must(os.Truncate(d.path(), torn.Size()-1))

	j = d.open()
	d.wantBegun(j, 1, 1, entry(1))
	want := fmt.Sprintf("tournament=%d file=%s bytes_kept=%d bytes_cut=%d", d.id, d.path(), whole.Size(), torn.Size()-1-whole.Size())
	if !strings.Contains(d.log.String(), want) {
		t.Errorf("the log says %q, want it to say %q", d.log, want)
	}
	d.must(d.begin(j, 1, 1).Write(entry(3)))
	d.must(j.Close(false))
	d.log.Reset()
	d.wantBegun(d.open(), 1, 1, entry(1), entry(3))
	if d.log.Len() > 0 {
		t.Errorf("what was cut is said again: %s", d.log)
	}
}

func TestWhatCouldNotBeCutAtOnceIsCutLater(t *testing.T) {
	d := newDesk(t, Process)
	j := d.open()
	w := d.begin(j, 1, 1)
	d.must(w.Write(entry(1)))
	// As after a write that failed and was not taken away, since that failed too.
	whole, err := os.ReadFile(d.path())
	d.must(err)
	last := len(whole) - len(seal(appendDecision(make([]byte, batchHead), place{1, 1, 1}, 1, entry(1))))
	d.must(os.WriteFile(d.path(), append(whole, whole[last:]...), 0o600))
	j.(*journal).torn = true

	d.begin(j, 2, 1) // which is shorter than what is there
	d.must(j.Close(false))
	d.wantBegun(d.open(), 1, 1, entry(1))
	if d.log.Len() > 0 {
		t.Errorf("the file was damaged: %s", d.log)
	}
}

func TestManyGamesShareTheJournal(t *testing.T) {
	const games, decisions = 64, 100
	d := newDesk(t, Process)
	j := d.open()
	var work sync.WaitGroup
	for number := range games {
		work.Go(func() {
			w, err := j.Begin(1, 1, number, 1)
			for i := 1; i <= decisions && err == nil; i++ {
				err = w.Write(entry(i))
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	work.Wait()
	d.must(j.Close(false))
	j = d.open()
	for number := range games {
		attempt, entries := j.Begun(1, 1, number)
		if attempt != 1 || len(entries) != decisions {
			t.Fatalf("game %d has %d decisions in attempt %d, want %d in 1", number, len(entries), attempt, decisions)
		}
		for i, e := range entries {
			if e != entry(i+1) {
				t.Fatalf("game %d: decision %d is %+v", number, i+1, e)
			}
		}
	}
	d.must(j.Close(true))
}

func TestJournalsOfWhatIsOverAreSwept(t *testing.T) {
	d := newDesk(t, Process)
	running := d.id
	d.must(d.open().Close(false))
	over := &arena.Tournament{Settings: arena.DefaultSettings(), State: arena.Running}
	d.must(d.Create(t.Context(), over, ""))
	d.id = over.ID
	d.must(d.open().Close(false))
	over.State = arena.Finished
	d.must(d.SaveHead(t.Context(), over))
	notes := filepath.Join(d.dir, "journal", "notes.log")
	d.must(os.WriteFile(notes, nil, 0o600))

	d.must(d.Journals().sweep(t.Context()))
	left, err := filepath.Glob(filepath.Join(d.dir, "journal", "*"))
	d.must(err)
	want := []string{filepath.Join(d.dir, "journal", fmt.Sprint(running, ".log")), notes}
	if !slices.Equal(left, want) {
		t.Errorf("%v are left, want %v", left, want)
	}
}

// TestJournalsDoNotWaitForABackup reads the database for as long as journals are opened, written anew and removed, as a
// backup does that takes its time.
func TestJournalsDoNotWaitForABackup(t *testing.T) {
	d := newDesk(t, Process)
	reading := pool(filepath.Join(d.dir, databaseFile), 1, "mode=ro")
	defer reading.Close()
	tx, err := reading.BeginTx(t.Context(), &sql.TxOptions{ReadOnly: true})
	d.must(err)
	defer tx.Rollback()
	var seen int
	d.must(tx.QueryRow("SELECT count(*) FROM tournaments").Scan(&seen))

	began := time.Now()
	j := d.open()
	d.must(d.begin(j, 1, 1).Write(entry(1)))
	d.must(d.begin(j, 2, 1).Write(entry(1)))
	d.land(1)
	d.must(j.Close(false))
	j = d.open()
	d.wantBegun(j, 1, 0)
	d.wantBegun(j, 2, 1, entry(1))
	d.must(j.Close(true))
	over := d.night(arena.Finished)
	d.must(os.WriteFile(filepath.Join(d.dir, "journal", fmt.Sprint(over, ".log")), nil, 0o600))
	d.must(d.Journals().sweep(t.Context()))
	if took := time.Since(began); took > 4*time.Second { // SQLite gives a reader 5 s
		t.Errorf("it took %v, want that the reader is not waited for", took)
	}
}
