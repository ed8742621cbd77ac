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

func insertRecord(tx *sql.Tx, id arena.GameID, record, timings []byte) error {
	_, err := tx.Exec(`
		INSERT INTO records (tournament, round, seating, number, record, timings)
		VALUES (?, ?, ?, ?, ?, ?)`, id.Tournament, id.Round, id.Table, id.Number, record, timings)
	return err
}

// pack makes the columns of a game's record and timings.
func (s *Store) pack(p arena.Played) (record, timings []byte, err error) {
	packer := <-s.packers
	defer func() { s.packers <- packer }()
	if record, err = packer.pack(p.Record); err != nil {
		return nil, nil, fmt.Errorf("record: %w", err)
	}
	if timings, err = packer.pack(keepTimings(p.Timings)); err != nil {
		return nil, nil, fmt.Errorf("timings: %w", err)
	}
	return record, timings, nil
}

// unpack reads what pack made of a game.
func (s *Store) unpack(id arena.GameID, row gameRow) (arena.Played, error) {
	packer := <-s.packers
	defer func() { s.packers <- packer }()
	p := arena.Played{Game: row.game}
	failed := func(what string, err error) (arena.Played, error) {
		return p, fmt.Errorf("%s of game %d of table %d in pairing round %d of tournament %d: %w", what, id.Number, id.Table, id.Round, id.Tournament, err)
	}
	if err := packer.unpack(row.record, &p.Record); err != nil {
		return failed("record", err)
	}
	var kept timings
	if err := packer.unpack(row.timings, &kept); err != nil {
		return failed("timings", err)
	}
	var err error
	if p.Timings, err = kept.read(); err != nil {
		return failed("timings", err)
	}
	return p, nil
}

// timings are a list of table.Timing as it is kept: a list for each field, which is read several times as fast.
type timings struct {
	Seats   []game.Seat     `json:"seats"`
	Numbers []int           `json:"numbers"`
	Queued  []time.Duration `json:"queued_ns"`
	Took    []time.Duration `json:"took_ns"`
	Absent  []int           `json:"absent,omitempty"` // which ones, from 0
	Faults  []fault         `json:"faults,omitempty"`
}

// fault is a timing with another cause than chosen.
type fault struct {
	At    int    `json:"at"` // from 0
	Cause string `json:"cause"`
}

func keepTimings(list []table.Timing) (kept timings) {
	for i, t := range list {
		kept.Seats, kept.Numbers = append(kept.Seats, t.Seat), append(kept.Numbers, t.Number)
		kept.Queued, kept.Took = append(kept.Queued, t.Queued), append(kept.Took, t.Took)
		if t.Absent {
			kept.Absent = append(kept.Absent, i)
		}
		if t.Cause.Fault() {
			kept.Faults = append(kept.Faults, fault{i, t.Cause.String()})
		}
	}
	return kept
}

func (k timings) read() ([]table.Timing, error) {
	n := len(k.Seats)
	if len(k.Numbers) != n || len(k.Queued) != n || len(k.Took) != n {
		return nil, fmt.Errorf("there are %d seats, %d numbers and %d and %d times", n, len(k.Numbers), len(k.Queued), len(k.Took))
	}
	if n == 0 {
		return nil, nil
	}
	list := make([]table.Timing, n)
	for i := range list {
		list[i] = table.Timing{Seat: k.Seats[i], Number: k.Numbers[i], Queued: k.Queued[i], Took: k.Took[i]}
	}
	for _, i := range k.Absent {
		if i < 0 || i >= n {
			return nil, fmt.Errorf("absent: there is no %d among %d", i, n)
		}
		list[i].Absent = true
	}
	for _, f := range k.Faults {
		cause, err := game.ParseCause(f.Cause)
		if err != nil {
			return nil, err
		}
		if f.At < 0 || f.At >= n {
			return nil, fmt.Errorf("faults: there is no %d among %d", f.At, n)
		}
		list[f.At].Cause = cause
	}
	return list, nil
}

// packer writes and reads JSON as raw DEFLATE. It has most of a megabyte of tables, so there are as many as can work at
// once, and they are used again.
type packer struct {
	buffer   bytes.Buffer
	deflater *flate.Writer
	inflater io.Reader
}

func newPackers() chan *packer {
	n := runtime.GOMAXPROCS(0)
	free := make(chan *packer, n)
	for range n {
		p := &packer{inflater: flate.NewReader(bytes.NewReader(nil))}
		p.deflater, _ = flate.NewWriter(&p.buffer, flate.BestSpeed) // fails only for a level that there is not
		free <- p
	}
	return free
}

func (p *packer) pack(value any) ([]byte, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	p.buffer.Reset()
	p.deflater.Reset(&p.buffer)
	if _, err := p.deflater.Write(text); err != nil {
		return nil, err
	}
	if err := p.deflater.Close(); err != nil {
		return nil, err
	}
	return bytes.Clone(p.buffer.Bytes()), nil
}

func (p *packer) unpack(packed []byte, value any) error {
	if err := p.inflater.(flate.Resetter).Reset(bytes.NewReader(packed), nil); err != nil {
		return err
	}
	p.buffer.Reset()
	if _, err := p.buffer.ReadFrom(p.inflater); err != nil {
		return err
	}
	return json.Unmarshal(p.buffer.Bytes(), value)
}
