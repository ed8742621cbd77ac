package store

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/flip7-arena/flip7/arena"
)

// Inventory is what a backup holds.
type Inventory struct {
	Tournaments int
	Unfinished  []arena.Tournament // those that are not over, newest first, without entries and rounds
	Bytes       int64              // of the file
}

// Backup writes a data folder to a file, while a server uses the folder or not. The file, which must not be there yet, is a
// zip archive under the names that the folder has: the database, the journals, and of the others those that are there. It
// is as secret as the folder, for its owner alone, and complete or not there: what is not complete is in a folder beside
// it whose name ends in ".part".
//
// What was acknowledged before Backup was called is in the file: the journals are copied first, and the database is copied
// after that as it is at one moment.
//
//   - A game in the copy of a journal has its result in the copy of the database if it ended before that was made.
//     Otherwise it goes on from the decisions in the journal. The other way round a game could end, and its tournament
//     too, with which the journal goes, after the one copy and before the other, and be in neither.
//   - The copy of a journal names no pairing round and no tournament that the copy of the database lacks: they are in the
//     database before the journal hears of them. The other way round the games of a pairing round could be in the journal
//     of an arena that pairs that round anew, with others at its tables.
//
// Who was asked for a decision between the two copies, or after them, may be asked for it again where the backup is
// restored: that arena goes on from the moment of the backup.
func Backup(ctx context.Context, dir, file string, others ...string) (holds Inventory, err error) {
	if _, err := os.Stat(filepath.Join(dir, databaseFile)); err != nil {
		return holds, fmt.Errorf("data folder %s holds no arena: %w", dir, err)
	}
	if _, err := os.Lstat(file); err == nil {
		return holds, there(file, "a backup")
	}
	part, err := os.MkdirTemp(filepath.Dir(file), filepath.Base(file)+".*.part") // with rights for its owner alone
	if err != nil {
		return holds, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	whole := filepath.Join(part, "backup")
	archive, err := os.OpenFile(whole, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return holds, err
	}
	defer archive.Close()
	b := &backup{dir: dir, snapshot: filepath.Join(part, databaseFile), out: zip.NewWriter(archive)}
	if holds, err = b.write(ctx, others); err != nil {
		return holds, fmt.Errorf("back up %s: %w", dir, err)
	}
	if err := errors.Join(archive.Sync(), archive.Close()); err != nil {
		return holds, err
	}
	info, err := os.Stat(whole)
	if err != nil {
		return holds, err
	}
	holds.Bytes = info.Size()
	if err := Name(whole, file, "a backup"); err != nil {
		return holds, err
	}
	return holds, syncFolder(filepath.Dir(file))
}

func there(file, what string) error {
	return fmt.Errorf("%s is there already; %s replaces nothing", file, what)
}

// Name gives a file that is whole the name for which it was written as what it is, unless a file has that name by now. It may
// have its old name too, which is to be removed.
func Name(whole, file, what string) error {
	switch err := os.Link(whole, file); {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrExist):
		return there(file, what)
	}
	return os.Rename(whole, file) // some file systems know no second name
}

const (
	databaseFile  = "arena.db"
	lockFile      = "arena.lock"
	journalFolder = "journal"
	restoreFolder = "restore.part" // what is not restored yet
)

// backup is a backup that is being written.
type backup struct {
	dir      string
	snapshot string // the copy of the database
	out      *zip.Writer
}

// write writes all of the archive. Journals come before the database; see Backup.
func (b *backup) write(ctx context.Context, others []string) (holds Inventory, err error) {
	if err := b.journals(ctx); err != nil {
		return holds, err
	}
	if err := b.database(ctx); err != nil {
		return holds, err
	}
	for _, name := range others {
		if err := b.add(name, filepath.Join(b.dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return holds, err
		}
	}
	if err := b.out.Close(); err != nil {
		return holds, err
	}
	copied := &Store{reader: pool(b.snapshot, 1, "mode=ro")}
	defer copied.reader.Close()
	return copied.inventory(ctx)
}

// journals copies the journals, each to the end of its last whole batch: a server may be writing the next.
func (b *backup) journals(ctx context.Context) error {
	files, err := os.ReadDir(filepath.Join(b.dir, journalFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, file := range files {
		if !journalName.MatchString(path.Join(journalFolder, file.Name())) {
			continue
		}
		raw, err := os.ReadFile(filepath.Join(b.dir, journalFolder, file.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // its tournament is over, and the database knows it
		}
		if err != nil {
			return err
		}
		if head := len(fileHead(0, [32]byte{})); len(raw) >= head && bytes.HasPrefix(raw, []byte(fileMagic)) {
			raw = raw[:read(raw, head, func(line) {})]
		}
		to, err := b.out.Create(path.Join(journalFolder, file.Name()))
		if err == nil {
			_, err = to.Write(raw)
		}
		if err := errors.Join(err, context.Cause(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// journalName is how the journals of tournaments are named, from the data folder.
var journalName = regexp.MustCompile(`^journal/[1-9][0-9]*\.log$`)

// database copies the database as it is at one moment, with what is in its -wal only.
func (b *backup) database(ctx context.Context) error {
	source := pool(filepath.Join(b.dir, databaseFile), 1, "mode=ro", "_pragma=busy_timeout(5000)")
	defer source.Close()
	var id uint32
	if err := source.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return fmt.Errorf("%s: %w", databaseFile, err)
	}
	if id != applicationID {
		return fmt.Errorf("%s is the database of another program", databaseFile)
	}
	if _, err := source.ExecContext(ctx, "VACUUM INTO ?", b.snapshot); err != nil {
		return fmt.Errorf("copy %s: %w", databaseFile, err)
	}
	return b.add(databaseFile, b.snapshot)
}

// add copies a file into the archive.
func (b *backup) add(name, from string) error {
	file, err := os.Open(from)
	if err != nil {
		return err
	}
	defer file.Close()
	to, err := b.out.Create(name)
	if err == nil {
		_, err = io.Copy(to, file)
	}
	return err
}

// inventory says what a database holds.
func (s *Store) inventory(ctx context.Context) (Inventory, error) {
	all, err := s.Tournaments(ctx, 0, math.MaxInt32)
	if err != nil {
		return Inventory{}, err
	}
	return Inventory{
		Tournaments: len(all),
		Unfinished:  slices.DeleteFunc(all, func(t arena.Tournament) bool { return t.State.Over() }),
	}, nil
}

// Restore makes a data folder of a backup that was made with the same others. The folder must be empty or not there. It is
// opened once, as a server does that begins to use it, so that a backup which does not hold is refused; then there is no
// folder, or an empty one. As long as it takes nobody else can use the folder.
func Restore(ctx context.Context, file, dir string, others ...string) (holds Inventory, err error) {
	archive, err := zip.OpenReader(file)
	if _, missing := errors.AsType[*fs.PathError](err); missing {
		return holds, err
	}
	if err != nil {
		return holds, notWhole(file, err)
	}
	defer archive.Close()
	leave, err := claimFolder(dir)
	if err != nil {
		return holds, err
	}
	defer func() { err = errors.Join(err, leave(err == nil)) }()
	part := filepath.Join(dir, restoreFolder)
	if err := os.Mkdir(part, 0o700); err != nil {
		return holds, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	if err := extract(ctx, &archive.Reader, part, others); err != nil {
		return holds, notWhole(file, err)
	}
	if holds, err = try(ctx, part); err != nil {
		return holds, fmt.Errorf("what is in %s cannot be used: %w", file, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return holds, err
	}
	holds.Bytes = info.Size()
	return holds, moveUp(part, dir)
}

func notWhole(file string, why error) error {
	return fmt.Errorf("%s is no whole backup: %w", file, why)
}

// claimFolder makes a folder if it is not there, refuses one that holds anything, and keeps servers and others who restore
// out of it until leave, which takes it away again unless it is to be kept.
func claimFolder(dir string) (leave func(kept bool) error, err error) {
	err = unused(dir)
	made := errors.Is(err, fs.ErrNotExist)
	if made {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	name := filepath.Join(dir, lockFile)
	held, err := lock(name)
	if err != nil {
		return nil, fmt.Errorf("data folder %s %w", dir, err)
	}
	if err := unused(dir); err != nil { // somebody was here after the first look
		return nil, errors.Join(err, held.Close())
	}
	return func(kept bool) error {
		if kept {
			return held.Close()
		}
		removed := os.Remove(name) == nil // at best while nobody else has it; Windows wants it closed
		err := held.Close()
		if !removed {
			err = errors.Join(err, os.Remove(name))
		}
		if made {
			err = errors.Join(err, os.Remove(dir))
		}
		return err
	}, nil
}

// unused refuses a folder that holds anything but what is left of having it for oneself for a while.
func unused(dir string) error {
	files, err := os.ReadDir(dir)
	if slices.ContainsFunc(files, func(f fs.DirEntry) bool { return f.Name() != lockFile }) {
		err = fmt.Errorf("data folder %s is not empty; a backup is restored into one that is empty or not there", dir)
	}
	return err
}

// restored refuses a folder in which Restore was killed before it had moved the database, which it does last.
func restored(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, restoreFolder)); err != nil {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, databaseFile)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("data folder %s was not restored to its end: empty it and restore the backup again", dir)
	}
	return nil
}

// extract writes what is in an archive into a folder. Names that no backup has are refused: they could lead anywhere.
func extract(ctx context.Context, archive *zip.Reader, to string, others []string) error {
	if err := os.Mkdir(filepath.Join(to, journalFolder), 0o700); err != nil {
		return err
	}
	found := false
	for _, f := range archive.File {
		found = found || f.Name == databaseFile
		if f.Name != databaseFile && !journalName.MatchString(f.Name) && !slices.Contains(others, f.Name) {
			return fmt.Errorf("%q does not belong in it", f.Name)
		}
		if err := extractFile(f, filepath.Join(to, filepath.FromSlash(f.Name))); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	if !found {
		return fmt.Errorf("there is no %s in it", databaseFile)
	}
	return nil
}

func extractFile(f *zip.File, path string) (err error) {
	from, err := f.Open()
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from) // which compares checksums at the end
	return errors.Join(err, to.Sync(), to.Close())
}

// try opens a data folder and the journals of its tournaments, and leaves it as if nobody had ever used it.
func try(ctx context.Context, dir string) (holds Inventory, err error) {
	s, err := Open(ctx, dir, Options{})
	if err != nil {
		return holds, err
	}
	if holds, err = s.inventory(ctx); err == nil {
		err = s.tryJournals(holds.Unfinished)
	}
	return holds, errors.Join(err, s.Close(), os.Remove(filepath.Join(dir, lockFile)))
}

// tryJournals opens the journals that a server would open.
func (s *Store) tryJournals(tournaments []arena.Tournament) error {
	for _, t := range tournaments {
		if !t.State.Live() {
			continue
		}
		j, err := s.journals.Open(t.ID)
		if err == nil {
			err = j.Close(false)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// moveUp moves what is in a folder to the one around it, the database last: without it that is no data folder yet.
func moveUp(part, dir string) error {
	files, err := os.ReadDir(part)
	if err != nil {
		return err
	}
	at := slices.IndexFunc(files, func(f fs.DirEntry) bool { return f.Name() == databaseFile })
	files = append(slices.Delete(slices.Clone(files), at, at+1), files[at])
	for i, f := range files {
		if err := os.Rename(filepath.Join(part, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			for _, moved := range files[:i] {
				err = errors.Join(err, os.RemoveAll(filepath.Join(dir, moved.Name())))
			}
			return err
		}
	}
	return errors.Join(os.Remove(part), syncFolder(dir))
}
