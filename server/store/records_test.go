package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// longGame is a game as long as they usually are.
func longGame() arena.Played {
	totals := []int{214, 187, 150, 96}
	result := game.Result{Rounds: 9, Totals: totals, Places: game.Places(totals)}
	p := arena.Played{
		Game:   arena.Game{Number: 1, Attempt: 1, Seats: []int{3, 1, 4, 2}, Result: result, Faults: make([]int, 4), Slips: make([]int, 4)},
		Record: game.Record{Seats: 4, Rules: game.DefaultRules(4), Dealer: 3, Seed: sha256.Sum256([]byte("a game")), Result: result},
	}
	for number := 1; number <= 105; number++ {
		chance := sha256.Sum256([]byte{byte(number)})
		took := 200*time.Microsecond + time.Duration(chance[0])*997 + time.Duration(chance[1])*255_001
		p.Record.Moves = append(p.Record.Moves, game.Move{Decision: game.Decision(1 + chance[2]%2)})
		p.Timings = append(p.Timings, table.Timing{Seat: game.Seat(number % 4), Number: number, Queued: time.Duration(chance[3]) * 101, Took: took})
	}
	return p
}

func TestTheSameRecordIsTheSameBytes(t *testing.T) {
	s := &Store{packers: newPackers()}
	record, timings, err := s.pack(longGame())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("a record has %d bytes and its timings %d", len(record), len(timings))
	for range 2 * cap(s.packers) {
		again, timingsAgain, err := s.pack(longGame())
		if err != nil || !bytes.Equal(again, record) || !bytes.Equal(timingsAgain, timings) {
			t.Fatalf("packed again it is other bytes (%v)", err)
		}
	}
}

func TestADamagedRecordSaysWhichGame(t *testing.T) {
	d := newDesk(t, Process)
	d.must(d.SaveRound(t.Context(), d.id, arena.Round{Number: 1, Spread: "0", Tables: []arena.Table{{Number: 2}}}))
	id := arena.GameID{Tournament: d.id, Round: 1, Table: 2, Number: 3}
	d.must(d.SaveGame(t.Context(), id, longGame()))
	for _, damage := range []string{
		"UPDATE records SET record = x'00ff'",
		"UPDATE records SET record = substr(record, 1, length(record) / 2)",
		"UPDATE records SET timings = x''",
	} {
		if _, err := d.writer.db.ExecContext(t.Context(), damage); err != nil {
			t.Fatal(err)
		}
		_, one := d.Game(t.Context(), id)
		all := d.Games(t.Context(), d.id, func(arena.GameID, arena.Played) error { return nil })
		for _, err := range []error{one, all} {
			if err == nil || !strings.Contains(err.Error(), "game 3 of table 2 in pairing round 1 of tournament 1") {
				t.Errorf("%s: got %v, want an error that names the game", damage, err)
			}
		}
	}
}

func TestTimingsThatDoNotFit(t *testing.T) {
	good := keepTimings(longGame().Timings[:3])
	for _, test := range []struct {
		name   string
		change func(*timings)
	}{
		{"a seat less", func(k *timings) { k.Seats = k.Seats[:2] }},
		{"a number less", func(k *timings) { k.Numbers = k.Numbers[:2] }},
		{"a time more", func(k *timings) { k.Took = append(k.Took, 1) }},
		{"no waiting times", func(k *timings) { k.Queued = nil }},
		{"somebody absent who is not there", func(k *timings) { k.Absent = []int{3} }},
		{"a fault before the first request", func(k *timings) { k.Faults = []fault{{-1, "timed_out"}} }},
		{"a cause that there is not", func(k *timings) { k.Faults = []fault{{0, "bored"}} }},
	} {
		kept := good
		test.change(&kept)
		if list, err := kept.read(); err == nil {
			t.Errorf("%s is read as %+v", test.name, list)
		}
	}
	if _, err := good.read(); err != nil {
		t.Error(err)
	}
}

// TestPublishedMigrationsStay holds migrations to what they were when they were published: databases out there have them
// behind them. Whoever adds one adds its line here.
func TestPublishedMigrationsStay(t *testing.T) {
	published := map[string]string{
		"migrations/00001_arena.sql": "f359cad8f05a8fc5b2bb71b47b7f6bd34efc83973c2eded8788c36bb0570aeb8",
	}
	files, err := fs.Glob(migrations, "migrations/*")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(published) {
		t.Errorf("there are %v, and %d have been published", files, len(published))
	}
	for _, file := range files {
		content, err := migrations.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256(content)
		if got := hex.EncodeToString(sum[:]); got != published[file] {
			t.Errorf("%s has SHA-256 %s, and was published with %s", file, got, published[file])
		}
	}
}
