package server

import (
	"bytes"
	"fmt"
	"log/slog"
	"math/big"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/test/bufconn"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// TestANightOfGoodAndBadBots is a league night of 32 bots on other machines, five of which do harm. In a bubble hours take
// no time, and a goroutine that is left is an error.
func TestANightOfGoodAndBadBots(t *testing.T) {
	bots, rounds, rotations := 32, 7, 2
	if testing.Short() {
		bots, rounds, rotations = 12, 2, 1
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLeague(t)
		bad := badGuests()
		for name, play := range bad {
			l.invite(name, play)
		}
		nerves := map[string]nerve{}
		for i := range bots - len(bad) {
			name := fmt.Sprintf("nerve-%d", 12+i)
			nerves[name] = nerve(12 + i)
			l.invite(name, nerves[name].guest)
		}
		id := l.opened(&flip7v1.TournamentSettings{PairingRounds: uint32(rounds), Rotations: uint32(rotations),
			Anchor: flip7v1.Anchor_ANCHOR_OFF}, l.players()...)
		promised := l.get(id)
		began := time.Now()
		finished := l.play(id)
		t.Logf("the night took %v, was expected to take %v and promised to take no more than %v", time.Since(began).Round(time.Millisecond),
			promised.GetExpectedEndTime().AsTime().Sub(began).Round(time.Second), promised.GetLatestEndTime().AsTime().Sub(began).Round(time.Second))
		if finished.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED || time.Now().After(promised.GetLatestEndTime().AsTime()) {
			t.Errorf("the night is %v, %v after it began", finished.GetState(), time.Since(began))
		}
		l.goHome()

		number, _ := wire.TournamentIDOf(id)
		night, err := l.arena.Tournament(t.Context(), number)
		if err != nil {
			t.Fatal(err)
		}
		l.addsUp(night)
		conducts := l.conducts(night, nerves)
		l.untouched(night, nerves, conducts)
		l.blamed(night, conducts)
		v, err := arena.Verify(bytes.NewReader(l.exported(id, flip7v1.ExportPart_EXPORT_PART_RESULTS)))
		if err != nil || v.Rounds != rounds || v.Entries != bots {
			t.Errorf("the exported results: %+v, %v", v, err)
		}
		t.Logf("%+v", v)
	})
}

// addsUp checks that all games were played to their end, and that the scores in the standings are the placements of those
// games: each game has half as many to give as it has seats, and so has each table.
func (l *league) addsUp(night *arena.Tournament) {
	given, scores := new(big.Rat), make([]*big.Rat, len(night.Entries)+1)
	for i := range scores {
		scores[i] = new(big.Rat)
	}
	for _, r := range night.Rounds {
		for _, tab := range r.Tables {
			games := night.Settings.Rotations * len(tab.Bots)
			if tab.State != arena.Complete || len(tab.Games) != games {
				l.t.Errorf("pairing round %d, table %d is %v (%s) with %d of %d games", r.Number, tab.Number, tab.State, tab.Why, len(tab.Games), games)
			}
			for _, g := range tab.Games {
				for seat, entrant := range g.Seats {
					scores[entrant].Add(scores[entrant], new(big.Rat).Quo(placement(g.Result.Places, seat), big.NewRat(int64(games), 1)))
				}
			}
			given.Add(given, big.NewRat(int64(len(tab.Bots)), 2))
		}
	}
	standings, err := night.Standings()
	if err != nil {
		l.t.Fatal(err)
	}
	sum := new(big.Rat)
	for _, s := range standings {
		sum.Add(sum, s.Score)
		if s.Score.Cmp(scores[s.Entry.Number]) != 0 {
			l.t.Errorf("%s has a score of %v, and %v by its games", s.Name, s.Score, scores[s.Entry.Number])
		}
	}
	if len(standings) != len(night.Entries) || sum.Cmp(given) != 0 {
		l.t.Errorf("the scores of %d lines add up to %v, want %d and %v", len(standings), sum, len(night.Entries), given)
	}
}

// placement is that of a seat in a game.
func placement(places []int, seat int) *big.Rat {
	points := int64(0) // in halves
	for other, place := range places {
		switch {
		case other == seat:
		case place > places[seat]:
			points += 2
		case place == places[seat]:
			points++
		}
	}
	return big.NewRat(points, 2*int64(len(places)-1))
}

// conduct is what an entrant did in a night.
type conduct struct {
	rounds   int // played
	requests int
	faults   [game.TimedOut + 1]int // by cause
	slips    int
	slowest  time.Duration
}

// conducts are those of all entrants by name. The decisions of bots that have nerve must be their own.
func (l *league) conducts(night *arena.Tournament, nerves map[string]nerve) map[string]*conduct {
	all := map[string]*conduct{}
	for _, e := range night.Entries {
		all[e.Name] = new(conduct)
	}
	for _, r := range night.Rounds {
		for _, tab := range r.Tables {
			for _, entrant := range tab.Bots {
				all[night.Entries[entrant-1].Name].rounds++
			}
		}
	}
	err := l.store.Games(l.t.Context(), night.ID, func(id arena.GameID, played arena.Played) error {
		players := make([]nerve, len(played.Game.Seats))
		seats := make([]*conduct, len(players))
		for seat, entrant := range played.Game.Seats {
			name := night.Entries[entrant-1].Name
			players[seat], seats[seat] = nerves[name], all[name]
			seats[seat].slips += played.Game.Slips[seat]
		}
		for _, timing := range played.Timings {
			c := seats[timing.Seat]
			c.requests++
			c.slowest = max(c.slowest, timing.Took)
			if timing.Cause.Fault() {
				c.faults[timing.Cause]++
			}
		}
		return l.own(id, played, players)
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

// untouched checks that the well-behaved bots played all pairing rounds, made no faults and kept their streams.
func (l *league) untouched(night *arena.Tournament, nerves map[string]nerve, conducts map[string]*conduct) {
	for name, n := range nerves {
		c := conducts[name]
		lost := l.bots.Stats(name).Lost - 1 // the last one ended when it went home
		if c.rounds != len(night.Rounds) || c.faults != [len(c.faults)]int{} || c.slips != 0 || c.slowest > n.thinks() || lost != 0 {
			l.t.Errorf("%s, in %d pairing rounds: %+v, and it lost %d streams", name, len(night.Rounds), *c, lost)
		}
	}
}

// own plays a game again, and checks that those who have nerve decided everything themselves.
func (l *league) own(id arena.GameID, played arena.Played, players []nerve) error {
	r := played.Record
	var s game.State
	if err := s.Reset(game.Setup{Seats: r.Seats, Rules: r.Rules, Dealer: r.Dealer, Deal: deal.NewKeyed(r.Seed)}); err != nil {
		return err
	}
	for i, move := range r.Moves {
		asked := s.Request()
		if n := players[asked.Seat]; n != 0 {
			if own := n.of(s.View(asked.Seat)); move.Decision != own {
				l.t.Errorf("%v, decision %d: %v for a bot that says %v", id, i+1, move, own)
			}
		}
		if err := s.Apply(move.Decision); err != nil {
			return err
		}
	}
	return nil
}

// blamed checks that the bad bots did their worst, and have the faults that they made.
func (l *league) blamed(night *arena.Tournament, conducts map[string]*conduct) {
	for _, bot := range []struct {
		name  string
		has   []game.Cause
		may   []game.Cause       // have too
		ended string             // at least one of its streams
		state []arena.EntryState // one of them
	}{
		{"never decides", []game.Cause{game.TimedOut}, nil, "", []arena.EntryState{arena.Withdrawn}}, // absent at the end of two tables
		// Whether a bot that comes and goes is absent when a table ends depends on the cards.
		{"garbage", []game.Cause{game.Illegal}, []game.Cause{game.TimedOut, game.Disconnected}, "END_REASON_GARBAGE", []arena.EntryState{arena.Entered, arena.Withdrawn}},
		{"floods", nil, []game.Cause{game.TimedOut, game.Disconnected}, "END_REASON_FLOOD", []arena.EntryState{arena.Entered, arena.Withdrawn}},
		{"restless", nil, nil, "", []arena.EntryState{arena.Entered}},
		{"slow", nil, nil, "", []arena.EntryState{arena.Entered}},
	} {
		c := conducts[bot.name]
		l.t.Logf("%s: %+v; its streams ended with %v", bot.name, *c, l.guests[bot.name].ends)
		for cause, n := range c.faults {
			must, may := slices.Contains(bot.has, game.Cause(cause)), slices.Contains(bot.may, game.Cause(cause))
			if must && n == 0 || !must && !may && n > 0 {
				l.t.Errorf("%s has %d faults as %v", bot.name, n, game.Cause(cause))
			}
		}
		if entry, _ := night.Entry(bot.name); !slices.Contains(bot.state, entry.State) {
			l.t.Errorf("%s is %v, want it to be one of %v", bot.name, entry.State, bot.state)
		}
		if bot.ended != "" && l.guests[bot.name].ends[bot.ended] == 0 {
			l.t.Errorf("no stream of %s ended with %v", bot.name, bot.ended)
		}
	}
}

// TestTheSameSeedTwice plays one night again and again: what is exported is the same to the last byte, however many games
// run at once, and though the arena is started again in the middle of them.
func TestTheSameSeedTwice(t *testing.T) {
	bots, rounds := 15, 3
	if testing.Short() {
		bots, rounds = 7, 2
	}
	var first []byte
	for _, night := range []struct {
		name        string
		concurrency uint32
		restarts    []int64 // after so many decisions
	}{
		{"one game at a time", 1, nil},
		{"as many games at once as the bots can take", 0, nil},
		{"16 games at once", 16, nil},
		{"the arena is started again in the middle of games", 16, []int64{1000, 2500}},
	} {
		settings := &flip7v1.TournamentSettings{PairingRounds: uint32(rounds), Seed: new(uint64(7)), Concurrency: night.concurrency}
		results := seeded(t, bots, settings, night.restarts)
		if first == nil {
			first = results
		}
		if !bytes.Equal(results, first) {
			t.Errorf("%s: %d bytes of results, before there were %d; they differ from byte %d on", night.name, len(results), len(first), differ(results, first))
		}
	}
}

// seeded plays a night of so many bots that decide by the cards alone and of a house bot, and exports its results.
func seeded(t *testing.T, bots int, settings *flip7v1.TournamentSettings, restarts []int64) (results []byte) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeague(t)
		decided, resumed := new(atomic.Int64), new(atomic.Int64)
		for n := nerve(15); n < nerve(15+bots); n++ {
			l.invite(fmt.Sprintf("nerve-%d", n), n.counted(decided, resumed))
		}
		id := l.opened(settings, append(l.players(), "house:random")...)
		if _, err := l.StartTournament(l.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
			t.Fatal(err)
		}
		for _, after := range restarts {
			for decided.Load() < after {
				time.Sleep(time.Millisecond)
			}
			before := resumed.Load()
			l.restart()
			if night := l.get(id); night.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING {
				t.Fatalf("after it was started again the night is %v", night.GetState())
			}
			for resumed.Load() == before { // or the test takes too long
				time.Sleep(time.Millisecond)
			}
		}
		if night := l.wait(id); night.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED {
			t.Fatalf("the night is %v: %s", night.GetState(), night.GetStateWhy())
		}
		results = l.exported(id, flip7v1.ExportPart_EXPORT_PART_RESULTS)
		v, err := arena.Verify(bytes.NewReader(results))
		if err != nil || v.Rounds != int(settings.GetPairingRounds()) {
			t.Errorf("the exported results: %+v, %v", v, err)
		}
		t.Logf("%d games at once: %d games, %d decisions, %d made by bots; %d times a game went on", settings.GetConcurrency(), v.Games, v.Decisions,
			decided.Load(), resumed.Load())
	})
	return results
}

// differ is where two files begin to differ.
func differ(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// restart stops the arena and starts another one on the same store, which the bots find in the same place.
func (l *league) restart() {
	l.t.Helper()
	l.stop()
	l.conn.Close()
	err := <-l.ended
	l.ended <- err
	if err != nil {
		l.t.Fatal(err)
	}
	listener := bufconn.Listen(1 << 20)
	s, err := New(l.config, Deps{Store: l.store, Log: slog.New(slog.NewTextHandler(l.log, nil)), Listener: listener})
	if err != nil {
		l.t.Fatal(err)
	}
	next := &running{Server: s, t: l.t, log: l.log, admin: l.admin, ended: make(chan error, 1)}
	l.open.Store(listener)
	next.conn = l.dialled()
	l.hosting = hostingOf(next)
	next.serve()
}
