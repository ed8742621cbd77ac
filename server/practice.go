package server

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	mathrand "math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/table"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/wire"
)

const (
	practiceSeats = 4
	// practiceGames is how many games a bot practises side by side, if it can take so many: enough to show whether it
	// keeps them apart, which a night asks of it.
	practiceGames = 2
	// practicePause is how often bots are seated. It bounds the games of a second, since a bot that answers at once is
	// through with one in a moment; and bots that wait for the same moment meet.
	practicePause = time.Second
)

// sparring are the house bots that sit at practice tables.
var sparring = [...]string{"odds", "racer", "stay-20", "stay-25"}

// practiceID is how the ids of practice games begin, and no others.
const practiceID = "practice/"

// practised reports whether a game is one of practice, by its id.
func practised(game string) bool { return strings.HasPrefix(game, practiceID) }

var errPartnerLeft = errors.New("a bot has left its practice table")

// practice seats bots that ask for it against each other and house bots for as long as no tournament needs them. So an
// author learns before the night whether token, certificate and network are good, and always has somebody to play. The
// games have deals that nobody meets again, and nothing is kept of them.
//
// A tournament is never held up: before it seats a bot, dismiss has ended what that one practises.
type practice struct {
	bots   *remote.Bots
	needed func(bot string) bool // by a tournament that runs
	most   int                   // tables
	began  func()                // is told of each game
	probe  *remote.Probe
	log    *slog.Logger

	ctx  context.Context // of all of it
	end  context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	tables []*practiceTable
}

// practiceTable is one game of practice.
type practiceTable struct {
	guests   []string // bots that practise there
	info     table.Info
	breakOff context.CancelCauseFunc
	over     chan struct{} // closed when the game has ended
	remote   *remote.Bots
	events   int
}

func newPractice(s *Server) *practice {
	p := &practice{bots: s.bots.Bots, needed: s.arena.Plays, most: s.config.PracticeTables, began: s.metrics.practice.Inc,
		probe: s.metrics.probe, log: s.log}
	p.ctx, p.end = context.WithCancel(context.Background())
	return p
}

// begin seats whoever would practise from now on, until close.
func (p *practice) begin() { p.work.Go(p.run) }

// close ends all practice and returns when it has ended.
func (p *practice) close() {
	p.end()
	p.work.Wait()
}

func (p *practice) run() {
	pause := time.NewTicker(practicePause)
	defer pause.Stop()
	for {
		select {
		case <-pause.C:
			p.clear()
			p.seat()
		case <-p.ctx.Done():
			return
		}
	}
}

// dismiss ends what a bot practises, since a tournament needs it, and returns when it has ended.
func (p *practice) dismiss(bot string) {
	p.mu.Lock()
	tables := slices.Clone(p.tables)
	p.mu.Unlock()
	for _, t := range tables {
		if slices.Contains(t.guests, bot) {
			t.breakOff(table.ErrCalledAway)
			<-t.over
		}
	}
}

// clear ends the games of bots that are needed elsewhere, have left or would not practise any more.
func (p *practice) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, t := range p.tables {
		for _, bot := range t.guests {
			if p.needed(bot) {
				t.breakOff(table.ErrCalledAway)
			} else if now, _ := p.bots.Presence(bot); !now.Practice {
				t.breakOff(errPartnerLeft)
			}
		}
	}
}

// seat seats those who are free, as far as there are tables. A tournament that needs a bot says so before it dismisses
// it, and p.mu is held from the look at that to the game that can be dismissed: so no bot slips in between.
func (p *practice) seat() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for guests := range slices.Chunk(p.free(), practiceSeats-1) {
		if len(p.tables) >= p.most {
			return
		}
		p.open(guests)
	}
}

// free are the bots that may be given a game, in an order that favours none. A bot that leaves its requests unanswered
// gets no new game until it is heard of.
func (p *practice) free() (bots []string) {
	seats := map[string]int{}
	for _, t := range p.tables {
		for _, bot := range t.guests {
			seats[bot]++
		}
	}
	for _, bot := range p.bots.Practising() {
		now, _ := p.bots.Presence(bot)
		if seats[bot] < min(now.MaxGames, practiceGames) && !now.Absent && !p.needed(bot) {
			bots = append(bots, bot)
		}
	}
	mathrand.Shuffle(len(bots), func(i, j int) { bots[i], bots[j] = bots[j], bots[i] })
	return bots
}

// open begins a game of these bots, with house bots in the other seats; p.mu is held.
func (p *practice) open(guests []string) {
	ctx, breakOff := context.WithCancelCause(p.ctx)
	t := &practiceTable{guests: guests, breakOff: breakOff, over: make(chan struct{}), remote: p.bots}
	p.tables = append(p.tables, t)
	p.work.Go(func() {
		defer close(t.over)
		defer breakOff(nil)
		defer p.forget(t)
		defer func() {
			if r := recover(); r != nil {
				p.log.Error("panic", "in", "practice", "panic", r, "stack", string(debug.Stack()))
			}
		}()
		p.began()
		p.probe.Watch(+1)
		defer p.probe.Watch(-1)
		if _, err := table.Play(ctx, t.setup()); err != nil && ctx.Err() == nil {
			p.log.Error("a practice game failed", "game", t.info.ID, "bots", t.guests, "error", err)
		}
	})
}

func (p *practice) forget(t *practiceTable) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tables = slices.DeleteFunc(p.tables, func(other *practiceTable) bool { return other == t })
}

// setup is the game of the table, under the settings that a night has unless somebody chooses others.
func (t *practiceTable) setup() table.Setup {
	var seed [32]byte
	_, _ = rand.Read(seed[:]) // never fails
	seats, partners := slices.Clone(t.guests), mathrand.Perm(len(sparring))
	for i := range practiceSeats - len(seats) {
		seats = append(seats, "house:"+sparring[partners[i]])
	}
	mathrand.Shuffle(len(seats), func(i, j int) { seats[i], seats[j] = seats[j], seats[i] })

	usual := arena.DefaultSettings()
	t.info = table.Info{
		ID:       practiceID + strings.ToLower(rand.Text()[:12]),
		Attempt:  1,
		Number:   1,
		Of:       1,
		Rules:    usual.Rules.Complete(practiceSeats),
		Dealer:   practiceSeats - 1, // so that seat 0 acts first
		Timeout:  usual.DecisionTimeout,
		Bank:     usual.TimeBank,
		Practice: true,
	}
	s := table.Setup{Seed: seed, Deal: deal.NewKeyed(seed), Observer: t}
	for seat, name := range seats {
		strategy, is := strings.CutPrefix(name, "house:")
		t.info.Bots = append(t.info.Bots, strategy)
		if !is {
			s.Players = append(s.Players, t.remote.Player(name))
			continue
		}
		plays, err := house.New(strategy)
		if err != nil {
			panic(err) // all of sparring are house bots
		}
		chance := mathrand.Uint64()
		s.Players = append(s.Players, table.House(plays, func(number int) uint64 { return house.Chance(chance, game.Seat(seat), number-1) }))
	}
	s.Info = t.info
	return s
}

// Observe implements game.Observer: bots that want events want those of practice too.
func (t *practiceTable) Observe(s *game.State, e game.Event) {
	t.events++
	if t.remote.Wanted(t.info.ID, t.info.Attempt) {
		t.remote.Event(wire.Event(t.info.ID, t.info.Attempt, t.events, s, e))
	}
}
