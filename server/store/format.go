package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// A journal file begins with the 16 bytes "flip7 journal 1\n", the number of its tournament, 8 bytes, and SHA-256 of the
// tournament's secret, 32 bytes. Then come batches:
//
//	length   4 bytes, of the lines; never 0
//	checksum 4 bytes, CRC-32C of the lines
//	lines
//
// Fixed numbers are big-endian; those within a line are varints, as of encoding/binary. A line is its kind, a byte, and
//
//	begin    round, table, game, attempt
//	decision round, table, game, attempt, number, seat, decision, cause, bank, illegal, absent (0 or 1), queued, took
//
// with times in nanoseconds. Every line says which game it belongs to, so that none depends on another one.
const (
	fileMagic = "flip7 journal 1\n"
	batchHead = 8
)

type lineKind uint8

const (
	lineBegin lineKind = iota + 1
	lineDecision
)

// line is a line of a journal; which fields count depends on its kind.
type line struct {
	kind    lineKind
	place   place
	attempt int
	entry   table.Entry
}

func fileHead(tournament int64, commitment [32]byte) []byte {
	return append(binary.BigEndian.AppendUint64([]byte(fileMagic), uint64(tournament)), commitment[:]...)
}

func appendBegin(to []byte, at place, attempt int) []byte {
	return appendLine(to, lineBegin, at, attempt)
}

func appendDecision(to []byte, at place, attempt int, e table.Entry) []byte {
	absent := 0
	if e.Absent {
		absent = 1
	}
	to = appendLine(to, lineDecision, at, attempt)
	to = appendNumber(to, e.Number)
	to = appendNumber(to, e.Seat)
	to = appendNumber(to, e.Move.Decision)
	to = appendNumber(to, e.Move.Cause)
	to = appendNumber(to, e.Bank)
	to = appendNumber(to, e.Illegal)
	to = appendNumber(to, absent)
	to = appendNumber(to, e.Queued)
	return appendNumber(to, e.Took)
}

func appendLine(to []byte, kind lineKind, at place, attempt int) []byte {
	to = append(to, byte(kind))
	to = appendNumber(to, at.round)
	to = appendNumber(to, at.table)
	to = appendNumber(to, at.game)
	return appendNumber(to, attempt)
}

func appendNumber[N ~int | ~int64 | ~uint8](to []byte, n N) []byte {
	return binary.AppendUvarint(to, uint64(n))
}

// seal fills in the head of a batch, for which there is room before its lines.
func seal(batch []byte) []byte {
	lines := batch[batchHead:]
	binary.BigEndian.PutUint32(batch, uint32(len(lines)))
	binary.BigEndian.PutUint32(batch[4:], checksum(lines))
	return batch
}

func checksum(lines []byte) uint32 { return crc32.Checksum(lines, crc32.MakeTable(crc32.Castagnoli)) }

// read hands over the lines of all whole batches after the head of a file, and says where the last of them ends.
func read(file []byte, head int, do func(line)) (whole int) {
	for whole = head; ; {
		rest := file[whole:]
		if len(rest) < batchHead {
			return whole
		}
		// A length of 0 would be whole with a checksum of 0, and a power cut may leave a tail of zeros.
		length, sum := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		if length == 0 || uint64(length) > uint64(len(rest)-batchHead) {
			return whole
		}
		batch := rest[batchHead : batchHead+int(length)]
		if checksum(batch) != sum {
			return whole
		}
		lines, err := parse(batch)
		if err != nil {
			return whole
		}
		for _, l := range lines {
			do(l)
		}
		whole += batchHead + int(length)
	}
}

// parse reads the lines of a batch.
func parse(batch []byte) (lines []line, err error) {
	for len(batch) > 0 {
		r := numberReader{rest: batch[1:]}
		l := line{kind: lineKind(batch[0]), place: place{r.number(), r.number(), r.number()}, attempt: r.number()}
		switch l.kind {
		case lineBegin:
		case lineDecision:
			l.entry = r.entry()
		default:
			return nil, fmt.Errorf("%d is no kind of line", l.kind)
		}
		if r.err != nil {
			return nil, r.err
		}
		lines, batch = append(lines, l), r.rest
	}
	return lines, nil
}

// numberReader reads numbers until there is an error.
type numberReader struct {
	rest []byte
	err  error
}

var errNumber = errors.New("a number is cut off, or too large")

func (r *numberReader) number() int { return int(r.long()) }

func (r *numberReader) long() int64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.err, r.rest = errNumber, nil
		return 0
	}
	r.rest = r.rest[size:]
	return int64(n)
}

// small reads a number of one byte.
func (r *numberReader) small(most int) int {
	n := r.number()
	if n < 0 || n > most {
		r.err = errNumber
	}
	return n
}

func (r *numberReader) entry() table.Entry {
	return table.Entry{
		Number:  r.number(),
		Seat:    game.Seat(r.number()),
		Move:    game.Move{Decision: game.Decision(r.small(255)), Cause: game.Cause(r.small(255))},
		Bank:    time.Duration(r.long()),
		Illegal: r.number(),
		Absent:  r.small(1) == 1,
		Queued:  time.Duration(r.long()),
		Took:    time.Duration(r.long()),
	}
}
