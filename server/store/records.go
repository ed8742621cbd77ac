package store

import (
	"bytes"
	"compress/flate"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// timing is table.Timing under the names in which it is kept.
type timing struct {
	Seat   game.Seat     `json:"seat"`
	Number int           `json:"number"`
	Queued time.Duration `json:"queued_ns,omitempty"`
	Took   time.Duration `json:"took_ns,omitempty"`
	Absent bool          `json:"absent,omitempty"`
	Cause  game.Cause    `json:"-"` // in keptTiming as a word
}

type keptTiming struct {
	timing
	Cause string `json:"cause,omitempty"`
}

func insertRecord(tx *sql.Tx, id arena.GameID, record, timings []byte) error {
	_, err := tx.Exec(`
		INSERT INTO records (tournament, round, seating, number, record, timings)
		VALUES (?, ?, ?, ?, ?, ?)`, id.Tournament, id.Round, id.Table, id.Number, record, timings)
	return err
}

// pack makes the columns of a game's record and timings.
func (s *Store) pack(p arena.Played) (record, timings []byte, err error) {
	kept := make([]keptTiming, len(p.Timings))
	for i, t := range p.Timings {
		kept[i].timing = timing(t)
		if t.Cause.Fault() {
			kept[i].Cause = t.Cause.String()
		}
	}
	d := <-s.deflate
	defer func() { s.deflate <- d }()
	if record, err = d.pack(p.Record); err != nil {
		return nil, nil, fmt.Errorf("record: %w", err)
	}
	if timings, err = d.pack(kept); err != nil {
		return nil, nil, fmt.Errorf("timings: %w", err)
	}
	return record, timings, nil
}

// unpack reads what pack made.
func (g *gameRow) unpack() (arena.Played, error) {
	p := arena.Played{Game: g.game}
	if err := inflate(g.record, &p.Record); err != nil {
		return p, fmt.Errorf("record: %w", err)
	}
	var kept []keptTiming
	if err := inflate(g.timings, &kept); err != nil {
		return p, fmt.Errorf("timings: %w", err)
	}
	for _, k := range kept {
		t := table.Timing(k.timing)
		if k.Cause != "" {
			var err error
			if t.Cause, err = game.ParseCause(k.Cause); err != nil {
				return p, fmt.Errorf("timings: %w", err)
			}
		}
		p.Timings = append(p.Timings, t)
	}
	return p, nil
}

// deflater writes JSON as raw DEFLATE. A flate.Writer has most of a megabyte of tables, so there are as many as can work
// at once, and they are used again.
type deflater struct {
	buffer bytes.Buffer
	flate  *flate.Writer
}

func newDeflaters() chan *deflater {
	n := runtime.GOMAXPROCS(0)
	free := make(chan *deflater, n)
	for range n {
		d := new(deflater)
		d.flate, _ = flate.NewWriter(&d.buffer, flate.BestSpeed) // fails only for a level that there is not
		free <- d
	}
	return free
}

func (d *deflater) pack(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	d.buffer.Reset()
	d.flate.Reset(&d.buffer)
	if _, err := d.flate.Write(text); err != nil {
		return nil, err
	}
	if err := d.flate.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(d.buffer.Bytes()), nil
}

func inflate(packed []byte, value any) error {
	r := flate.NewReader(bytes.NewReader(packed))
	text, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}
