package table_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
)

// stay stays once it has so many points at stake, and gives cards to the lowest seat.
type stay int

func (n stay) Decide(v game.View, _ uint64) game.Decision {
	r := v.Request()
	if r.Kind != game.Turn {
		return game.Give(r.Targets.After(-1))
	}
	if v.Points(v.Me) >= int(n) {
		return game.Stay
	}
	return game.Hit
}

func noChance(int) uint64 { return 0 }

// houseGame is a game of house players.
func houseGame(seats int, seed byte) table.Setup {
	s := table.Setup{
		Info: table.Info{Rules: game.DefaultRules(seats), Dealer: game.Seat(seats - 1), Timeout: time.Second, Bank: 10 * time.Second},
		Seed: [32]byte{seed},
	}
	s.Deal = deal.NewKeyed(s.Seed)
	for seat := range seats {
		s.Players = append(s.Players, table.House(stay(15+5*(seat%4)), noChance))
	}
	return s
}

// bot is a player whose answers a test writes. It thinks by sleeping, so it belongs into a bubble unless it takes no time.
type bot struct {
	// answer is what comes of a question; Took is what the bot would take, without regard to the time it has.
	answer func(q table.Question) table.Answer

	info  table.Info
	seat  game.Seat
	begun int
	ends  []table.Ending
	asked []asked
}

// asked is what a test may keep of a question.
type asked struct {
	number  int
	timeout time.Duration
	banks   []time.Duration
}

func (b *bot) Begin(info table.Info, seat game.Seat) { b.begun++; b.info, b.seat = info, seat }

func (b *bot) End(_ game.Result, how table.Ending) { b.ends = append(b.ends, how) }

func (b *bot) Ask(ctx context.Context, q table.Question) (table.Answer, error) {
	b.asked = append(b.asked, asked{q.Number, q.Timeout, slices.Clone(q.Banks)})
	a := b.answer(q)
	if a.Took > q.Budget() {
		a.Took, a.Decision, a.Passed = q.Budget(), 0, false
	}
	if a.Took == 0 {
		return a, ctx.Err()
	}
	select {
	case <-time.After(a.Took):
		return a, nil
	case <-ctx.Done():
		return table.Answer{}, ctx.Err()
	}
}

// decide is a prompt answer.
func decide(q table.Question) table.Answer {
	return table.Answer{Decision: stay(20).Decide(q.View, 0)}
}

// first answers a bot's first question and decides the others promptly.
func first(a table.Answer) func(table.Question) table.Answer {
	done := false
	return func(q table.Question) table.Answer {
		if done {
			return decide(q)
		}
		done = true
		return a
	}
}

// botGame is a game of four bots that decide promptly.
func botGame() (table.Setup, []*bot) {
	s := houseGame(4, 1)
	bots := make([]*bot, len(s.Players))
	for seat := range bots {
		bots[seat] = &bot{answer: decide}
		s.Players[seat] = bots[seat]
	}
	return s, bots
}

// memory is a journal that fails as often as it is told to.
type memory struct {
	entries []table.Entry
	fail    int
	tried   []table.Entry
}

var errDisk = errors.New("disk full")

func (m *memory) Write(e table.Entry) error {
	m.tried = append(m.tried, e)
	if m.fail > 0 {
		m.fail--
		return errDisk
	}
	m.entries = append(m.entries, e)
	return nil
}

func play(t *testing.T, s table.Setup) table.Outcome {
	t.Helper()
	out, err := table.Play(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRecordReplays(t *testing.T) {
	for seats := game.MinSeats; seats <= game.MaxSeats; seats++ {
		s := houseGame(seats, byte(seats))
		out := play(t, s)
		if _, err := out.Record.Replay(s.Deal, nil); err != nil {
			t.Errorf("%d seats: %v", seats, err)
		}
		if out.Record.Seed != s.Seed || out.Record.Dealer != s.Info.Dealer {
			t.Errorf("%d seats: the record has seed %x and dealer %d", seats, out.Record.Seed, out.Record.Dealer)
		}
	}
}

func TestSameSeedSameBytes(t *testing.T) {
	var want []byte
	for range 3 {
		s, _ := botGame()
		got, err := json.Marshal(play(t, s).Record)
		if err != nil {
			t.Fatal(err)
		}
		if want != nil && !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
		want = got
	}
}

// TestAnswers has one seat answer its first question in an unusual way. That question is a turn, whose default is stay.
func TestAnswers(t *testing.T) {
	const second = time.Second
	for _, test := range []struct {
		name   string
		answer table.Answer
		want   game.Move
		bank   time.Duration
		slip   bool
	}{
		{"a decision in time is played", table.Answer{Decision: game.Hit, Took: second}, game.Move{Decision: game.Hit}, 10 * second, false},
		{"one in the time bank is played, and the bank pays", table.Answer{Decision: game.Hit, Took: 3*second + 7}, game.Move{Decision: game.Hit}, 8*second - 7, false},
		{"one at the last moment is played", table.Answer{Decision: game.Hit, Took: 11 * second}, game.Move{Decision: game.Hit}, 0, false},
		{"a late one is the default", table.Answer{Decision: game.Hit, Took: 11*second + 1}, game.Move{Decision: game.Stay, Cause: game.TimedOut}, 0, false},
		{"a pass is the default", table.Answer{Passed: true, Took: second / 2}, game.Move{Decision: game.Stay, Cause: game.Passed}, 10 * second, false},
		{"a pass after illegal ones is a pass", table.Answer{Passed: true, Illegal: 2}, game.Move{Decision: game.Stay, Cause: game.Passed}, 10 * second, false},
		{"illegal and then nothing is illegal", table.Answer{Illegal: 1, Took: 12 * second}, game.Move{Decision: game.Stay, Cause: game.Illegal}, 0, false},
		{"illegal and then gone is illegal", table.Answer{Illegal: 1, Gone: true, Took: 12 * second}, game.Move{Decision: game.Stay, Cause: game.Illegal}, 0, false},
		{"illegal and then legal is a slip", table.Answer{Illegal: 9, Decision: game.Hit, Took: second}, game.Move{Decision: game.Hit}, 10 * second, true},
		{"gone is disconnected", table.Answer{Gone: true, Took: 12 * second}, game.Move{Decision: game.Stay, Cause: game.Disconnected}, 0, false},
		{"absent is not waited for", table.Answer{Absent: true}, game.Move{Decision: game.Stay, Cause: game.TimedOut}, 10 * second, false},
		{"absent and gone is disconnected", table.Answer{Absent: true, Gone: true}, game.Move{Decision: game.Stay, Cause: game.Disconnected}, 10 * second, false},
		{"a decision that is not legal does not get past the table", table.Answer{Decision: game.Give(1)}, game.Move{Decision: game.Stay, Cause: game.Illegal}, 10 * second, false},
		{"nor does one that is in no rule book", table.Answer{Decision: 255, Passed: true}, game.Move{Decision: game.Stay, Cause: game.Illegal}, 10 * second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, bots := botGame()
				bots[0].answer = first(test.answer)
				journal := &memory{}
				s.Journal = journal
				start := time.Now()
				out := play(t, s)

				number := bots[0].asked[0].number
				e := journal.entries[number-1]
				took := min(test.answer.Took, 11*second)
				want := table.Entry{Number: number, Seat: 0, Move: test.want, Bank: test.bank, Illegal: test.answer.Illegal,
					Absent: test.answer.Absent, Took: took}
				if e != want {
					t.Errorf("the journal has %+v, want %+v", e, want)
				}
				if got := out.Record.Moves[number-1]; got != test.want {
					t.Errorf("the record has %v, want %v", got, test.want)
				}
				wantTiming := table.Timing{Seat: 0, Number: number, Took: took, Absent: test.answer.Absent, Cause: test.want.Cause}
				if got := out.Timings[number-1]; got != wantTiming {
					t.Errorf("timing %+v, want %+v", got, wantTiming)
				}
				if got := time.Since(start); got != took {
					t.Errorf("the game took %v, want %v", got, took)
				}
				if got := bots[0].asked[1].banks; got[0] != test.bank || got[1] != 10*second {
					t.Errorf("the next question says banks of %v, want %v for seat 0", got, test.bank)
				}
				faults, slips := make([]int, 4), make([]int, 4)
				if test.want.Cause.Fault() {
					faults[0] = 1
				}
				if test.slip {
					slips[0] = 1
				}
				if !slices.Equal(out.Faults, faults) || !slices.Equal(out.Slips, slips) {
					t.Errorf("faults %v and slips %v, want %v and %v", out.Faults, out.Slips, faults, slips)
				}
				if _, err := out.Record.Replay(s.Deal, nil); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

func TestDefaultsOfEveryKind(t *testing.T) {
	// A game in which nobody ever turns up, but the hits; replaying checks that each fault is the default decision.
	s, bots := botGame()
	kinds := map[game.Kind]int{}
	for _, b := range bots {
		b.answer = func(q table.Question) table.Answer {
			kinds[q.View.Request().Kind]++
			if q.View.Request().Kind == game.Turn && q.View.Points(q.View.Me) < 30 {
				return table.Answer{Decision: game.Hit}
			}
			return table.Answer{Absent: true}
		}
	}
	faults := 0
	for seed := range byte(20) {
		s.Seed = [32]byte{seed}
		s.Deal = deal.NewKeyed(s.Seed)
		out := play(t, s)
		if _, err := out.Record.Replay(s.Deal, nil); err != nil {
			t.Error(err)
		}
		for _, n := range out.Faults {
			faults += n
		}
	}
	for kind := game.Turn; kind <= game.GiveSecond; kind++ {
		if kinds[kind] == 0 {
			t.Errorf("%v was never asked", kind)
		}
	}
	if faults == 0 {
		t.Error("there were no faults")
	}
}

func TestBankToTheNanosecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, bots := botGame()
		s.Info.Timeout, s.Info.Bank = 100*time.Millisecond, time.Second
		want := s.Info.Bank
		for seat, b := range bots {
			b.answer = func(q table.Question) table.Answer {
				a := decide(q)
				a.Took = time.Duration(q.Number*(seat+1)) * 1_234_567
				return a
			}
		}
		journal := &memory{}
		s.Journal = journal
		start := time.Now()
		out := play(t, s)
		var all time.Duration
		for i, e := range journal.entries {
			took := time.Duration(e.Number*(int(e.Seat)+1)) * 1_234_567
			if e.Seat == 3 {
				took = min(took, s.Info.Timeout+want)
				want -= max(0, took-s.Info.Timeout)
				if e.Bank != want {
					t.Fatalf("decision %d took %v and leaves a bank of %v, want %v", e.Number, took, e.Bank, want)
				}
			}
			all += out.Timings[i].Took
		}
		if want != 0 {
			t.Errorf("seat 3 has %v left, and the test wants it used up", want)
		}
		if got := time.Since(start); got != all {
			t.Errorf("the game took %v, and its timings add up to %v", got, all)
		}
	})
}

// TestStalls has the arena lose time while seat 1 is asked: nothing of it may count against the seat.
func TestStalls(t *testing.T) {
	for stalls := range 4 {
		t.Run(fmt.Sprintf("%d times", stalls), func(t *testing.T) {
			calm, _ := botGame()
			smooth := play(t, calm)

			s, bots := botGame()
			left := stalls
			bots[1].answer = func(q table.Question) table.Answer {
				if left > 0 {
					left--
					// Whatever else it says, a stalled answer does not count.
					return table.Answer{Stalled: true, Decision: game.Hit, Passed: true, Illegal: 1, Gone: true}
				}
				return decide(q)
			}
			journal := &memory{}
			s.Journal = journal
			out, err := table.Play(t.Context(), s)
			if stalls == 3 {
				if !errors.Is(err, table.ErrHeld) || !strings.Contains(err.Error(), "seat 1") {
					t.Errorf("got %v, want ErrHeld that names seat 1", err)
				}
				if want := bots[1].asked[0].number - 1; len(journal.entries) != want {
					t.Errorf("%d decisions in the journal, want %d", len(journal.entries), want)
				}
				wantEnds(t, bots, table.Interrupted)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(out, smooth) {
				t.Error("the game did not end as the one without stalls")
			}
			for i := range stalls {
				if got, want := bots[1].asked[i], bots[1].asked[stalls]; !reflect.DeepEqual(got, want) {
					t.Errorf("question %+v was put again as %+v", got, want)
				}
			}
			wantEnds(t, bots, table.Finished)
		})
	}
}

// wantEnds checks that every player was told of one beginning and one end.
func wantEnds(t *testing.T, bots []*bot, how table.Ending) {
	t.Helper()
	for seat, b := range bots {
		if b.begun != 1 || !slices.Equal(b.ends, []table.Ending{how}) || b.seat != game.Seat(seat) {
			t.Errorf("seat %d was told of %d beginnings as seat %d, and of the ends %v, want [%v]", seat, b.begun, b.seat, b.ends, how)
		}
	}
}

func TestJournalFails(t *testing.T) {
	for fails := range 4 {
		t.Run(fmt.Sprintf("%d times", fails), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, bots := botGame()
				journal := &memory{fail: fails}
				s.Journal = journal
				start := time.Now()
				out, err := table.Play(t.Context(), s)
				if got, most := time.Since(start), time.Second; got > most {
					t.Errorf("it took %v, want at most %v", got, most)
				}
				for _, e := range journal.tried[:min(fails+1, 3)] {
					if e != journal.tried[0] {
						t.Errorf("%+v was written again as %+v", journal.tried[0], e)
					}
				}
				if fails < 3 {
					if err != nil {
						t.Fatal(err)
					}
					if want := len(out.Record.Moves); len(journal.entries) != want {
						t.Errorf("%d entries for %d decisions", len(journal.entries), want)
					}
					wantEnds(t, bots, table.Finished)
					return
				}
				if !errors.Is(err, table.ErrHeld) || !errors.Is(err, errDisk) {
					t.Errorf("got %v, want ErrHeld because of %v", err, errDisk)
				}
				questions := 0
				for _, b := range bots {
					questions += len(b.asked)
				}
				if len(journal.tried) != 3 || questions != 1 {
					t.Errorf("%d writes and %d questions, want 3 and 1", len(journal.tried), questions)
				}
				wantEnds(t, bots, table.Interrupted)
			})
		})
	}
}

func TestJournalFailsWhileTheArenaStops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errStop := errors.New("stopped")
		ctx, cancel := context.WithCancelCause(t.Context())
		s, bots := botGame()
		s.Journal = &memory{fail: 2}
		start := time.Now()
		time.AfterFunc(50*time.Millisecond, func() { cancel(errStop) })
		if _, err := table.Play(ctx, s); err != errStop {
			t.Errorf("got %v, want %v", err, errStop)
		}
		if got, want := time.Since(start), 50*time.Millisecond; got != want {
			t.Errorf("it took %v to stop, want %v", got, want)
		}
		wantEnds(t, bots, table.BrokenOff)
	})
}

// witness is the order in which things happen to a game.
type witness struct{ lines []string }

func (w *witness) note(what string, number int) {
	w.lines = append(w.lines, fmt.Sprintf("%s %d", what, number))
}

type witnessJournal struct {
	*witness
	memory
}

func (j *witnessJournal) Write(e table.Entry) error {
	err := j.memory.Write(e)
	if err != nil {
		j.note("not written", e.Number)
	} else {
		j.note("written", e.Number)
	}
	return err
}

type witnessObserver struct {
	*witness
	decisions int
}

func (o *witnessObserver) Observe(_ *game.State, e game.Event) {
	if e.Kind == game.Decided {
		o.decisions++
	}
	o.note("seen", o.decisions)
}

func TestJournalBeforeConsequences(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &witness{}
		s, bots := botGame()
		for _, b := range bots {
			b.answer = func(q table.Question) table.Answer { w.note("asked", q.Number); return decide(q) }
		}
		s.Journal = &witnessJournal{witness: w, memory: memory{fail: 2}}
		s.Observer = &witnessObserver{witness: w}
		s.Decided = func(e table.Entry) { w.note("decided", e.Number) }
		n := len(play(t, s).Record.Moves)

		var want []string
		line := func(what string, number int) { want = append(want, fmt.Sprintf("%s %d", what, number)) }
		line("seen", 0) // the deal, before anybody is asked
		for number := 1; number <= n; number++ {
			line("asked", number)
			if number == 1 {
				line("not written", number)
			}
			line("written", number)
			line("decided", number)
			line("seen", number)
		}
		if got := slices.Compact(w.lines); !slices.Equal(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// varied is a game whose bots do everything that goes into a journal, as a function of the request alone.
func varied(seats int, seed byte) (table.Setup, []*bot) {
	s := houseGame(seats, seed)
	s.Info.Timeout, s.Info.Bank = 100*time.Millisecond, 300*time.Millisecond
	bots := make([]*bot, seats)
	for seat := range bots {
		bots[seat] = &bot{answer: func(q table.Question) table.Answer {
			a := decide(q)
			h := q.Number*7 + seat*13
			a.Took = time.Duration(h%17) * 9 * time.Millisecond
			a.Queued = time.Duration(h%5) * time.Microsecond
			switch h % 11 {
			case 0:
				a.Decision, a.Passed = 0, true
			case 1:
				a.Decision, a.Illegal = 0, 1
			case 2:
				a.Illegal = 3
			case 3:
				a.Decision, a.Gone, a.Absent = 0, true, true
			case 4:
				a.Took = time.Hour
			}
			return a
		}}
		s.Players[seat] = bots[seat]
	}
	return s, bots
}

type events []game.Event

func (l *events) Observe(_ *game.State, e game.Event) { *l = append(*l, e) }

func TestGoesOnFromEveryPrefix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, seats := range []int{3, 4, 7} {
			whole := &memory{}
			var seen events
			s, bots := varied(seats, byte(seats))
			s.Journal, s.Observer = whole, &seen
			want := play(t, s)
			if slices.Max(want.Faults) == 0 || slices.Max(want.Slips) == 0 {
				t.Fatal("the game has no faults or no slips")
			}
			questions := map[int]asked{}
			for _, b := range bots {
				for _, q := range b.asked {
					questions[q.number] = q
				}
			}

			for n := range len(whole.entries) + 1 {
				rest := &memory{}
				var again events
				var decided []table.Entry
				resumed := -1
				s, bots := varied(seats, byte(seats))
				s.Sofar, s.Journal, s.Observer = whole.entries[:n], rest, &again
				s.Decided = func(e table.Entry) { decided = append(decided, e) }
				s.Resumed = func() { resumed = len(decided) }
				got := play(t, s)
				if !reflect.DeepEqual(got, want) {
					t.Fatalf("%d seats, from %d: the outcome is not that of the whole game", seats, n)
				}
				if !slices.Equal(again, seen) || !slices.Equal(decided, whole.entries) {
					t.Fatalf("%d seats, from %d: the observer was not told the whole game", seats, n)
				}
				if n > 0 && resumed != n || n == 0 && resumed != -1 {
					t.Fatalf("%d seats, from %d: went on after %d decisions", seats, n, resumed)
				}
				if !slices.Equal(rest.entries, whole.entries[n:]) {
					t.Fatalf("%d seats, from %d: the journal did not go on", seats, n)
				}
				faults := make([]int, seats)
				for _, e := range whole.entries[:n] {
					if e.Move.Cause.Fault() {
						faults[e.Seat]++
					}
				}
				for seat, b := range bots {
					if n > 0 && !slices.Equal(b.info.Faults, faults) {
						t.Fatalf("%d seats, from %d: it begins with the faults %v, want %v", seats, n, b.info.Faults, faults)
					}
					for _, q := range b.asked {
						if q.number <= n {
							t.Fatalf("%d seats, from %d: seat %d was asked for decision %d again", seats, n, seat, q.number)
						}
						if !reflect.DeepEqual(q, questions[q.number]) {
							t.Fatalf("%d seats, from %d: question %+v, want %+v", seats, n, q, questions[q.number])
						}
					}
				}
				wantEnds(t, bots, table.Finished)
			}
		}
	})
}

func TestRepeatedEntriesCountOnce(t *testing.T) {
	s := houseGame(4, 1)
	journal := &memory{}
	s.Journal = journal
	want := play(t, s)
	s = houseGame(4, 1)
	for _, e := range journal.entries[:20] {
		s.Sofar = append(s.Sofar, e, e)
	}
	if got := play(t, s); !reflect.DeepEqual(got, want) {
		t.Error("the game did not end as before")
	}
}

func TestJournalThatDoesNotFit(t *testing.T) {
	whole := &memory{}
	s := houseGame(4, 1)
	s.Journal = whole
	play(t, s)
	n := len(whole.entries)
	for _, test := range []struct {
		name   string
		damage func(entries []table.Entry) []table.Entry
		want   string // in the error
	}{
		{"a gap", func(e []table.Entry) []table.Entry { return slices.Delete(e, 4, 5) }, "entry 4: it is decision 6, and 5 is next"},
		{"another order", func(e []table.Entry) []table.Entry { e[0], e[1] = e[1], e[0]; return e }, "entry 0: "},
		{"two decisions of one number", func(e []table.Entry) []table.Entry { e[5].Number = 5; return e }, "entry 5: it is decision 5"},
		{"the wrong seat", func(e []table.Entry) []table.Entry { e[2].Seat = (e[2].Seat + 1) % 4; return e }, "entry 2: seat "},
		{"an illegal decision", func(e []table.Entry) []table.Entry { e[2].Move.Decision = game.Give(9); return e }, "entry 2: illegal decision"},
		{"no decision", func(e []table.Entry) []table.Entry { e[2].Move.Decision = 0; return e }, "entry 2: illegal decision"},
		{"a fault that is not the default", func(e []table.Entry) []table.Entry {
			e[0].Move = game.Move{Decision: game.Hit, Cause: game.TimedOut}
			return e
		}, "entry 0: hit for a seat that was timed_out"},
		{"an unknown cause", func(e []table.Entry) []table.Entry { e[0].Move.Cause = 77; return e }, "entry 0: cause(77)"},
		{"a bank that grows", func(e []table.Entry) []table.Entry { e[3].Bank = time.Hour; return e }, "entry 3: seat "},
		{"a bank below 0", func(e []table.Entry) []table.Entry { e[3].Bank = -1; return e }, "entry 3: seat "},
		{"a negative time", func(e []table.Entry) []table.Entry { e[3].Took = -1; return e }, "entry 3: "},
		{"decisions after the end", func(e []table.Entry) []table.Entry {
			last := e[n-1]
			last.Number++
			return append(e, last)
		}, fmt.Sprintf("entry %d: the game is over after %d decisions", n, n)},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, bots := botGame()
			s.Sofar = test.damage(slices.Clone(whole.entries))
			var seen events
			s.Observer = &seen
			_, err := table.Play(t.Context(), s)
			if !errors.Is(err, table.ErrJournal) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want ErrJournal with %q", err, test.want)
			}
			for seat, b := range bots {
				if b.begun+len(b.ends)+len(b.asked) != 0 {
					t.Errorf("seat %d was told of the game", seat)
				}
			}
			if len(seen) != 0 {
				t.Errorf("the observer was told of the game")
			}
		})
	}
}

// FuzzSofar: whatever a damaged journal holds, the game is refused or played to an end that its record proves.
func FuzzSofar(f *testing.F) {
	f.Add([]byte{1, 0, 1, 0, 2, 1, 1, 0})
	f.Add([]byte{1, 0, 2, 4, 2, 1, 2, 4, 3, 2, 1, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		s := houseGame(4, 1)
		for e := range slices.Chunk(data, 4) {
			if len(e) < 4 {
				break
			}
			s.Sofar = append(s.Sofar, table.Entry{Number: int(e[0]), Seat: game.Seat(e[1]),
				Move: game.Move{Decision: game.Decision(e[2]), Cause: game.Cause(e[3])}})
		}
		out, err := table.Play(t.Context(), s)
		if errors.Is(err, table.ErrJournal) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := out.Record.Replay(s.Deal, nil); err != nil {
			t.Error(err)
		}
	})
}

func TestStops(t *testing.T) {
	errStop := errors.New("stopped")
	t.Run("while a bot thinks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			s, bots := botGame()
			bots[2].answer = func(q table.Question) table.Answer { return table.Answer{Took: 5 * time.Second} }
			journal := &memory{}
			s.Journal = journal
			time.AfterFunc(3*time.Second, func() { cancel(errStop) })
			if _, err := table.Play(ctx, s); err != errStop {
				t.Errorf("got %v, want %v", err, errStop)
			}
			if want := bots[2].asked[0].number - 1; len(journal.entries) != want {
				t.Errorf("%d decisions in the journal, want %d", len(journal.entries), want)
			}
			wantEnds(t, bots, table.BrokenOff)
		})
	})
	t.Run("while a bot answers, and the answer is kept", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s, bots := botGame()
		journal := &memory{}
		s.Journal = journal
		s.Players[2] = stopping{bots[2], func() { cancel(errStop) }}
		if _, err := table.Play(ctx, s); err != errStop {
			t.Errorf("got %v, want %v", err, errStop)
		}
		if want := bots[2].asked[0].number; len(journal.entries) != want {
			t.Errorf("%d decisions in the journal, want %d", len(journal.entries), want)
		}
		wantEnds(t, bots, table.BrokenOff)
	})
	t.Run("though house players never look", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		s := houseGame(4, 1)
		journal := &memory{}
		s.Journal = journal
		s.Decided = func(e table.Entry) {
			if e.Number == 7 {
				cancel(errStop)
			}
		}
		if _, err := table.Play(ctx, s); err != errStop || len(journal.entries) != 7 {
			t.Errorf("got %v after %d decisions, want %v after 7", err, len(journal.entries), errStop)
		}
	})
	t.Run("since the arena stops", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(fmt.Errorf("the arena stops: %w", table.ErrInterrupted))
		s, bots := botGame()
		if _, err := table.Play(ctx, s); !errors.Is(err, table.ErrInterrupted) {
			t.Errorf("got %v, want %v", err, table.ErrInterrupted)
		}
		wantEnds(t, bots, table.Interrupted)
	})
	t.Run("before the first question", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStop)
		s, bots := botGame()
		if _, err := table.Play(ctx, s); err != errStop {
			t.Errorf("got %v, want %v", err, errStop)
		}
		wantEnds(t, bots, table.BrokenOff)
	})
}

// stopping answers, and the arena stops at that moment.
type stopping struct {
	*bot
	stop func()
}

func (p stopping) Ask(ctx context.Context, q table.Question) (table.Answer, error) {
	a, err := p.bot.Ask(ctx, q)
	p.stop()
	return a, err
}

// broken is a player that fails for no reason.
type broken struct{ *bot }

var errBroken = errors.New("broken")

func (broken) Ask(context.Context, table.Question) (table.Answer, error) {
	return table.Answer{}, errBroken
}

func TestBrokenPlayer(t *testing.T) {
	s, bots := botGame()
	s.Players[0] = broken{bots[0]}
	if _, err := table.Play(t.Context(), s); !errors.Is(err, errBroken) || errors.Is(err, table.ErrHeld) {
		t.Errorf("got %v, want %v", err, errBroken)
	}
	wantEnds(t, bots, table.Failed)
}

// says is a player that answers at once and says what it likes of the time it took.
type says func(table.Question) table.Answer

func (says) Begin(table.Info, game.Seat)   {}
func (says) End(game.Result, table.Ending) {}
func (p says) Ask(_ context.Context, q table.Question) (table.Answer, error) {
	return p(q), nil
}

func TestPlayerWithImpossibleFigures(t *testing.T) {
	for _, test := range []struct {
		name    string
		took    time.Duration
		illegal int
		bank    time.Duration
	}{
		{"more time than it had", time.Hour, 0, 0},
		{"less than nothing", -time.Hour, -1, 10 * time.Second},
	} {
		s := houseGame(4, 1)
		s.Players[1] = says(func(q table.Question) table.Answer {
			a := decide(q)
			a.Took, a.Queued, a.Illegal = test.took, test.took, test.illegal
			return a
		})
		journal := &memory{}
		s.Journal = journal
		want := play(t, s)
		for _, e := range journal.entries {
			if e.Seat == 1 && e.Bank != test.bank {
				t.Fatalf("%s: a bank of %v, want %v", test.name, e.Bank, test.bank)
			}
		}
		s.Sofar, s.Journal = journal.entries, nil
		if got := play(t, s); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the game did not go on", test.name)
		}
	}
}

// panics is a strategy with a bug.
type panics struct{}

func (panics) Decide(game.View, uint64) game.Decision { panic("bug") }

func TestPanicGoesToTheCaller(t *testing.T) {
	s, bots := botGame()
	s.Players[1] = table.House(panics{}, noChance)
	func() {
		defer func() {
			if got := recover(); got != "bug" {
				t.Errorf("recovered %v, want the panic of the strategy", got)
			}
		}()
		table.Play(t.Context(), s)
	}()
	bots = slices.Delete(bots, 1, 2)
	for _, b := range bots {
		if b.begun != 1 || !slices.Equal(b.ends, []table.Ending{table.Failed}) {
			t.Errorf("seat %d was told of %d beginnings and of the ends %v, want [failed]", b.seat, b.begun, b.ends)
		}
	}
}

// chances notes the chance it is given.
type chances struct{ got []uint64 }

func (c *chances) Decide(v game.View, chance uint64) game.Decision {
	c.got = append(c.got, chance)
	return stay(20).Decide(v, chance)
}

func TestHouseChanceIsOfTheRequest(t *testing.T) {
	s := houseGame(3, 1)
	c := &chances{}
	s.Players[1] = table.House(c, func(number int) uint64 { return uint64(1000 + number) })
	var want []uint64
	for _, timing := range play(t, s).Timings {
		if timing.Seat == 1 {
			want = append(want, uint64(1000+timing.Number))
		}
	}
	if !slices.Equal(c.got, want) {
		t.Errorf("got %v, want %v", c.got, want)
	}
}

func TestSetupErrorsNameTheField(t *testing.T) {
	for _, test := range []struct {
		want  string
		wrong func(*table.Setup)
	}{
		{"players: nobody sits in seat 2", func(s *table.Setup) { s.Players[2] = nil }},
		{"seats: 2 is not 3..36", func(s *table.Setup) { s.Players = s.Players[:2] }},
		{"info.timeout: 0s", func(s *table.Setup) { s.Info.Timeout = 0 }},
		{"info.bank: -1s", func(s *table.Setup) { s.Info.Bank = -time.Second }},
		{"dealer: 4", func(s *table.Setup) { s.Info.Dealer = 4 }},
		{"target_score: -1", func(s *table.Setup) { s.Info.Rules.TargetScore = -1 }},
		{"deal: missing", func(s *table.Setup) { s.Deal = nil }},
		{"bots: 0 numbers for 4 seats", func(s *table.Setup) { s.Limit = table.NewLimit(time.Minute, 4, time.Now()) }},
		{"bots: 4 in seat 3", func(s *table.Setup) {
			s.Limit, s.Bots = table.NewLimit(time.Minute, 4, time.Now()), []int{0, 1, 2, 4}
		}},
	} {
		s := houseGame(4, 1)
		test.wrong(&s)
		if _, err := table.Play(t.Context(), s); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v, want %q", err, test.want)
		}
	}
}

// TestAllocations holds that a decision costs no allocation: a game has a handful, however long it is.
func TestAllocations(t *testing.T) {
	s := houseGame(4, 1)
	decisions := len(play(t, s).Record.Moves)
	allocs := testing.AllocsPerRun(10, func() {
		if _, err := table.Play(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	})
	if most := 20.0; allocs > most || decisions < 60 {
		t.Errorf("%v allocations for a game of %d decisions, want at most %v", allocs, decisions, most)
	}
}
