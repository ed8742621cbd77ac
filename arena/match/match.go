// Package match plays many games between given players without a tournament, and says who is stronger and how sure that
// is. It knows who sits where and how results add up; who the players are and how a game is played is handed in as a
// [Play]: [Local] for strategies of this process, [Tables] for everybody else.
//
// # Rotations
//
// A match is played in rotations: as many games in a row as there are seats. Each rotation starts from a freshly seeded
// order, and in each of its games everybody moves on by one seat, so that in a rotation everybody sits in every seat
// once. The first dealer is the last seat. No deal is ever played twice.
//
// The rotation is also the unit of statistics: the games of one are counted together or not at all, and all errors are
// by rotation.
//
// # Repeated names
//
// With fewer names than seats the names repeat around the table, as in A B A B. Only pairs of different names count:
// where a seat of A beats another seat of A nothing is learnt about A.
package match

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// Match is what is to be played. The same Match has the same [Result], whatever the concurrency, if its players decide
// as a function of what they see.
type Match struct {
	Names       []string   // who plays, two or more, each once
	Seats       int        // at the table, at least as many as names; 0: as many as names, and 4 for two names
	Games       int        // from 1; rounded up to whole rotations
	Rules       game.Rules // start from [game.DefaultRules]; zero TargetScore, MaxRounds, Decks: their defaults
	Seed        uint64     // what the orders, the deals and the chance of house bots come from
	Concurrency int        // rotations side by side; the games of one follow each other. 0: one for each processor
	Play        Play       // plays a game
	SPRT        *SPRT      // ends the match before Games are over; nil: nothing does

	// Progress is told after each rotation, in their order, how many games are over. The table so far costs a fit of
	// all games, so a caller asks for it now and then only. Nil: nobody is told.
	Progress func(games int, sofar func() (*Result, error))
}

// Game is one game to be played.
type Game struct {
	Number int        // from 1
	Of     int        // how many games the match has
	Seats  []int      // who sits where: indices into Match.Names, by seat; not to be changed
	Rules  game.Rules // complete
	Dealer game.Seat  // the first dealer: the last seat
	Seed   [32]byte   // of this game alone
}

// Play plays a game and says how it came out. It is called by several goroutines at once. An error ends the match.
type Play func(ctx context.Context, g Game) (Played, error)

// Played is how a game came out.
type Played struct {
	Result  game.Result
	Faults  []int          // by seat: requests that ended in the default decision; nil where there can be none
	Slips   []int          // by seat: requests with illegal decisions that were mended in time; nil as above
	Timings []table.Timing // of the requests; nil where they take no time
}

// usualSeats is the table that two names sit at if nothing else is said.
const usualSeats = 4

// maxGames bounds a match: their results are kept, and would not fit in memory.
const maxGames = 100_000_000

// Complete fills in what is left open and rounds Games up to whole rotations. It refuses what cannot be played; the error
// names the field.
func (m Match) Complete() (Match, error) {
	if len(m.Names) < 2 {
		return m, fmt.Errorf("names: %d of them, want 2 or more", len(m.Names))
	}
	for i, name := range m.Names {
		if slices.Contains(m.Names[:i], name) {
			return m, fmt.Errorf("names: %q is there twice; with fewer names than seats each plays several seats", name)
		}
	}
	if m.Seats == 0 {
		if m.Seats = len(m.Names); m.Seats == 2 {
			m.Seats = usualSeats
		}
	}
	m.Rules = m.Rules.Complete(m.Seats)
	if m.Concurrency == 0 {
		m.Concurrency = runtime.GOMAXPROCS(0)
	}
	switch {
	case m.Seats < game.MinSeats || m.Seats > game.MaxSeats:
		return m, fmt.Errorf("seats: %d is not %d..%d", m.Seats, game.MinSeats, game.MaxSeats)
	case len(m.Names) > m.Seats:
		return m, fmt.Errorf("seats: %d are too few for %d names", m.Seats, len(m.Names))
	case m.Games < 1 || m.Games > maxGames:
		return m, fmt.Errorf("games: %d is not 1..%d", m.Games, maxGames)
	case m.Concurrency < 0:
		return m, fmt.Errorf("concurrency: %d is less than 0", m.Concurrency)
	case m.Play == nil:
		return m, errors.New("play: missing")
	}
	if err := m.Rules.Check(); err != nil {
		return m, fmt.Errorf("rules.%w", err)
	}
	if err := m.SPRT.check(); err != nil {
		return m, err
	}
	m.Games = m.rotations() * m.Seats
	return m, nil
}

func (m Match) rotations() int { return (m.Games + m.Seats - 1) / m.Seats }

// Run plays a match. If it breaks off, because ctx ends (the error then is its cause) or a game fails, the result is that
// of the rotations before the first that is not over; it is nil only if the match was refused as [Match.Complete] does.
// Rotations that were over earlier than one before them are left out too: to count them would favour short games.
func Run(ctx context.Context, m Match) (*Result, error) {
	m, err := m.Complete()
	if err != nil {
		return nil, err
	}
	t := newTally(m)
	broke := m.run(ctx, t)
	result, err := t.result()
	return result, errors.Join(broke, err)
}

// rotation is one that was played, or why not.
type rotation struct {
	seats [][]int // of each game
	games []Played
	err   error
}

// run plays rotations side by side and counts them in their order. It leaves no goroutine behind.
func (m Match) run(ctx context.Context, t *tally) error {
	type job struct {
		number int // from 0
		done   chan<- rotation
	}
	outer := ctx
	ctx, cancel := context.WithCancel(ctx)
	var workers sync.WaitGroup
	defer workers.Wait()
	defer cancel()

	jobs := make(chan job)
	begun := make(chan (<-chan rotation), 2*m.Concurrency) // as far as fast rotations may run ahead of a slow one
	workers.Go(func() {
		defer close(begun)
		defer close(jobs)
		for number := range m.rotations() {
			done := make(chan rotation, 1) // nobody waits to hand one in
			select {
			case jobs <- job{number, done}:
			case <-ctx.Done():
				return
			}
			select {
			case begun <- done:
			case <-ctx.Done():
				return
			}
		}
	})
	for range min(m.Concurrency, m.rotations()) {
		workers.Go(func() {
			for j := range jobs {
				j.done <- m.rotation(ctx, j.number)
			}
		})
	}

	for done := range begun {
		r := <-done
		switch {
		case r.err != nil && outer.Err() != nil:
			return context.Cause(outer)
		case r.err != nil:
			return r.err
		}
		t.add(r)
		if m.Progress != nil {
			m.Progress(t.games(), t.result)
		}
		if t.duel.decided() {
			return nil
		}
	}
	if t.games() < m.Games {
		return context.Cause(outer)
	}
	return nil
}

// rotation plays the games of a rotation one after the other.
func (m Match) rotation(ctx context.Context, number int) (r rotation) {
	around := m.around(number)
	for i := range m.Seats {
		n := number*m.Seats + i + 1
		g := Game{Number: n, Of: m.Games, Seats: around[i : i+m.Seats : i+m.Seats], Rules: m.Rules,
			Dealer: game.Seat(m.Seats - 1), Seed: m.gameSeed(n)}
		played, err := m.Play(ctx, g)
		if err != nil {
			return rotation{err: fmt.Errorf("game %d: %w", n, err)}
		}
		r.seats, r.games = append(r.seats, g.Seats), append(r.games, played)
	}
	return r
}

// around is who sits around the table in a rotation, twice over: the seats of its i-th game begin at i.
func (m Match) around(rotation int) []int {
	names := rand.New(rand.NewPCG(m.Seed, uint64(rotation))).Perm(len(m.Names))
	around := make([]int, 2*m.Seats)
	for i := range around {
		around[i] = names[i%m.Seats%len(names)]
	}
	return around
}

// gameSeed is SHA-256("flip7/match/" | seed u64 | game u64), big-endian.
func (m Match) gameSeed(number int) [32]byte {
	text := binary.BigEndian.AppendUint64([]byte("flip7/match/"), m.Seed)
	return sha256.Sum256(binary.BigEndian.AppendUint64(text, uint64(number)))
}

// chance is what house bots draw their chance from in a game. Fast deals use the other end of the seed.
func (g Game) chance() uint64 { return binary.BigEndian.Uint64(g.Seed[24:]) }
