package game_test

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// FuzzGame: for every table, every option and every decision the table is sound after every step, and a second referee
// sees the same game.
func FuzzGame(f *testing.F) {
	f.Add(uint8(3), uint8(0), uint8(200), uint64(1), []byte{1, 1, 0})
	f.Add(uint8(4), uint8(5), uint8(30), uint64(2), []byte{1})
	f.Add(uint8(18), uint8(10), uint8(20), uint64(3), []byte{1, 1, 1, 1, 0, 3, 5})
	f.Add(uint8(36), uint8(17), uint8(50), uint64(4), []byte{1, 2, 3})
	f.Fuzz(func(t *testing.T, seats, options, target uint8, seed uint64, choices []byte) {
		n := game.MinSeats + int(seats)%(game.MaxSeats-game.MinSeats+1)
		rules := game.Rules{TieBreak: game.TieBreak(options % 3), BustedAssigns: options/3%2 == 0, Deal: game.Dealing(options / 6 % 2),
			TargetScore: 1 + int(target), MaxRounds: 4, Decks: int(options / 12 % 4)}
		decide := func() func(game.Request) game.Decision {
			asked := 0
			return func(r game.Request) game.Decision {
				choice := 1
				if len(choices) > 0 {
					choice = int(choices[asked%len(choices)])
				}
				asked++
				if r.Kind == game.Turn {
					return game.Stay - game.Decision(choice%2)
				}
				choice %= r.Targets.Len()
				to := r.Targets.After(-1)
				for range choice {
					to = r.Targets.After(to)
				}
				return game.Give(to)
			}
		}
		setup := game.Setup{Seats: n, Rules: rules, Dealer: game.Seat(int(options) % n), Deal: deal.NewFast(seed, 0)}
		compareWithReferee(t, setup, decide())
		setup.Deal = deal.NewFast(seed, 0)
		var s game.State
		playThrough(t, &s, setup, decide(), func(s *game.State) { checkTable(t, s) })
	})
}

// playOn plays some rounds from a position, holding the table sound; it reports whether the position was taken.
func playOn(t *testing.T, p game.Position, r *rand.Rand) bool {
	t.Helper()
	s, err := game.At(p, deal.NewFast(r.Uint64(), r.Uint64()), nil)
	if err != nil {
		return false
	}
	if got := s.Position(); !samePosition(got, p) {
		t.Fatalf("the position changes\nfrom %+v\nto   %+v", p, got)
	}
	for rounds := 0; !s.Over() && rounds < 2; {
		checkTable(t, &s)
		before := s.View(0).Round()
		if err := s.Apply(randomDecision(s.Request(), 80, r)); err != nil {
			t.Fatalf("%v\n%+v", err, p)
		}
		if s.View(0).Round() != before {
			rounds++
		}
	}
	checkTable(t, &s)
	return true
}

// samePosition compares positions; an empty list is as good as none.
func samePosition(a, b game.Position) bool {
	if len(a.Waiting) == 0 && len(b.Waiting) == 0 {
		a.Waiting, b.Waiting = nil, nil
	}
	if len(a.Aside) == 0 && len(b.Aside) == 0 {
		a.Aside, b.Aside = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

// somePositions are positions of games of all sizes and options.
func somePositions(each int, use func(p game.Position)) {
	for seats := game.MinSeats; seats <= game.MaxSeats; seats++ {
		r := rand.New(rand.NewPCG(uint64(seats), 99))
		s, err := game.New(randomSetup(seats, r))
		for range each {
			for range 1 + r.IntN(10) {
				if err == nil && !s.Over() {
					err = s.Apply(randomDecision(s.Request(), 85, r))
				}
			}
			if err != nil {
				panic(err)
			}
			use(s.Position())
		}
	}
}

func TestAPositionWithAChangeIsRefusedOrPlayedOn(t *testing.T) {
	taken := 0
	somePositions(4*scale, func(p game.Position) {
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(uint64(len(text)), uint64(p.Since)))
		for range 10 {
			var changed game.Position
			if err := json.Unmarshal(text, &changed); err != nil {
				t.Fatal(err)
			}
			for range 1 + r.IntN(3) {
				changeSomething(reflect.ValueOf(&changed).Elem(), r)
			}
			if playOn(t, changed, r) {
				taken++
			}
		}
	})
	if taken < 100*scale {
		t.Errorf("%d of the changed positions were taken: the test shows less than it should", taken)
	}
}

// changeSomething changes a number somewhere in a value by a little.
func changeSomething(v reflect.Value, r *rand.Rand) {
	switch v.Kind() {
	case reflect.Struct:
		changeSomething(v.Field(r.IntN(v.NumField())), r)
	case reflect.Slice, reflect.Array:
		if v.Len() > 0 {
			changeSomething(v.Index(r.IntN(v.Len())), r)
		}
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int:
		v.SetInt(v.Int() + int64(r.IntN(5)-2))
	default:
		v.SetUint(v.Uint() ^ 1<<r.IntN(min(v.Type().Bits(), 37)))
	}
}

// FuzzAt: whatever a position says, it is refused or can be played on.
func FuzzAt(f *testing.F) {
	somePositions(3, func(p game.Position) {
		text, err := json.Marshal(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	})
	f.Fuzz(func(t *testing.T, text []byte) {
		var p game.Position
		if json.Unmarshal(text, &p) == nil {
			playOn(t, p, rand.New(rand.NewPCG(uint64(len(text)), 1)))
		}
	})
}

// FuzzRecord: what can be read is written in a form that is read as the same, and replaying it is a game or ErrRecord.
func FuzzRecord(f *testing.F) {
	for seats := game.MinSeats; seats < game.MaxSeats; seats += 8 {
		r := rand.New(rand.NewPCG(uint64(seats), 7))
		setup := randomSetup(seats, r)
		record := game.Record{Seats: seats, Dealer: setup.Dealer, Seed: [32]byte{byte(seats)}}
		setup.Totals, setup.Deal = nil, deal.NewKeyed(record.Seed)
		s, err := game.New(setup)
		for err == nil && !s.Over() {
			d := s.Request().Default()
			record.Moves = append(record.Moves, game.Move{Decision: d, Cause: game.Cause(r.IntN(5))})
			err = s.Apply(d)
		}
		record.Rules, record.Result = s.View(0).Rules(), s.Result()
		text, err2 := json.Marshal(record)
		if err := errors.Join(err, err2); err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var record, again game.Record
		if json.Unmarshal(text, &record) != nil {
			return
		}
		written, err := json.Marshal(record)
		if err != nil {
			t.Fatalf("%+v cannot be written: %v", record, err)
		}
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		if !reflect.DeepEqual(record, again) {
			t.Fatalf("read %+v\nagain %+v", record, again)
		}
		if _, err := record.Replay(deal.NewKeyed(record.Seed), nil); err != nil && !errors.Is(err, game.ErrRecord) {
			t.Fatalf("replay: %v", err)
		}
	})
}
