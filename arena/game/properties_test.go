package game_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
)

// playThrough plays a game and checks it after every step, the first and the last included.
func playThrough(t *testing.T, s *game.State, setup game.Setup, decide func(game.Request) game.Decision, check func(s *game.State)) {
	t.Helper()
	if err := s.Reset(setup); err != nil {
		t.Fatal(err)
	}
	check(s)
	for !s.Over() {
		if err := s.Apply(decide(s.Request())); err != nil {
			t.Fatal(err)
		}
		check(s)
	}
}

// checkTable holds a state against what is true after every step of every game.
func checkTable(t *testing.T, s *game.State) {
	t.Helper()
	v := s.View(0)
	rules := v.Rules()

	// Every card is in exactly one place.
	var counts [game.Kinds]int
	for c := range game.Card(game.Kinds) {
		counts[c] = v.InDraw(c) + v.InDiscard(c)
	}
	for seat := range game.Seat(v.Seats()) {
		cards := 0
		for c := range v.Front(seat) {
			counts[c]++
			cards++
		}
		if cards != v.Cards(seat) {
			t.Fatalf("seat %d has %d cards, says it has %d", seat, cards, v.Cards(seat))
		}
	}
	for c := range v.Aside() {
		counts[c]++
	}
	if c, gives := v.Request().Kind.Card(); gives {
		counts[c]++
	}
	for c := range game.Card(game.Kinds) {
		if counts[c] != rules.Decks*c.PerDeck() {
			t.Fatalf("%d of %v are on the table, want %d", counts[c], c, rules.Decks*c.PerDeck())
		}
	}
	copies := s.Traced()
	slices.Sort(copies)
	if len(slices.Compact(copies)) != len(copies) {
		t.Fatalf("a copy is in two places: %v", copies)
	}

	seven := s.Position().Seven
	for seat := range game.Seat(v.Seats()) {
		var numbers []game.Card
		seconds := 0
		for c := range v.Front(seat) {
			switch {
			case c.Number():
				numbers = append(numbers, c)
			case c == game.Second:
				seconds++
			}
		}
		distinct := len(slices.Compact(slices.Clone(numbers))) // Front is in the order of cards
		switch {
		case seconds > 1:
			t.Fatalf("seat %d holds %d Second Chances", seat, seconds)
		case v.Status(seat) != game.Busted && distinct != len(numbers):
			t.Fatalf("%v seat %d has %v", v.Status(seat), seat, numbers)
		case v.Status(seat) == game.Busted && distinct != len(numbers)-1:
			t.Fatalf("busted seat %d has %v", seat, numbers)
		case distinct > 6 && seven != seat:
			t.Fatalf("seat %d has %v, and it is no Flip 7", seat, numbers)
		case v.Active().Has(seat) != (v.Status(seat) == game.Active):
			t.Fatalf("seat %d is %v, the active seats are %b", seat, v.Status(seat), v.Active())
		}
		if got, want := v.Points(seat), naiveScore(v, seat, seven == seat); got != want {
			t.Fatalf("seat %d scores %d, want %d", seat, got, want)
		}
	}

	// One request is pending, and it is a real choice (R14).
	r := s.Request()
	if (r.Kind == game.Nothing) != s.Over() {
		t.Fatalf("asked %v, and over is %t", r.Kind, s.Over())
	}
	if legal := slices.Collect(r.Legal()); !s.Over() && (len(legal) < 2 || !slices.Contains(legal, r.Default())) {
		t.Fatalf("%v of seat %d allows %v, by default %v", r.Kind, r.Seat, legal, r.Default())
	}
	for to := range r.Targets.All() {
		if !v.Active().Has(to) {
			t.Fatalf("%v of seat %d may go to %d, which is %v", r.Kind, r.Seat, to, v.Status(to))
		}
	}
}

// naiveScore adds up the names of the cards in front of a seat (R21).
func naiveScore(v game.View, seat game.Seat, seven bool) int {
	if v.Status(seat) == game.Busted {
		return 0
	}
	numbers, double, plus := 0, 1, 0
	for c := range v.Front(seat) {
		switch name := c.String(); name {
		case "x2":
			double = 2
		case "freeze", "flip3", "second":
		default:
			var n int
			if _, err := fmt.Sscan(name, &n); err != nil {
				panic(err)
			}
			if name[0] == '+' {
				plus += n
			} else {
				numbers += n
			}
		}
	}
	if seven {
		plus += 15
	}
	return numbers*double + plus
}

func TestTheTableIsSoundAfterEveryStep(t *testing.T) {
	everyTable(t, 8*scale, func(t *testing.T, setup game.Setup, hits int, r *rand.Rand) {
		var s game.State
		playThrough(t, &s, setup, func(request game.Request) game.Decision { return randomDecision(request, hits, r) },
			func(s *game.State) { checkTable(t, s) })
	})
}

func TestWhatIsNotListedIsRefusedAndChangesNothing(t *testing.T) {
	everyTable(t, 2*scale, func(t *testing.T, setup game.Setup, hits int, r *rand.Rand) {
		var s game.State
		playThrough(t, &s, setup, func(request game.Request) game.Decision { return randomDecision(request, hits, r) }, func(s *game.State) {
			if r.IntN(20) > 0 && !s.Over() {
				return
			}
			before := *s
			legal := slices.Collect(s.Request().Legal())
			for d := range 256 {
				d := game.Decision(d)
				if slices.Contains(legal, d) {
					continue
				}
				if err := s.Apply(d); !errors.Is(err, game.ErrIllegal) {
					t.Fatalf("%v to %+v: %v", d, s.Request(), err)
				}
				if *s != before {
					t.Fatalf("%v to %+v was refused and changed the state", d, s.Request())
				}
			}
			for _, d := range legal {
				if _, err := before.Play(d); err != nil {
					t.Fatalf("%v to %+v, which lists it: %v", d, s.Request(), err)
				}
			}
			if *s != before {
				t.Fatalf("playing the answers to %+v changed the state that they were played on", s.Request())
			}
		})
	})
}

// TestEveryRoundEnds plays seats that always hit, aiming cards so that they go round as long as they can (R24).
func TestEveryRoundEnds(t *testing.T) {
	exhausted := 0
	for _, seats := range []int{3, 12, 18, 19, 27, 36} {
		for decks := range 3 { // 0: as many as the seats ask for
			for aim := range 3 {
				r := rand.New(rand.NewPCG(uint64(seats), uint64(10*decks+aim)))
				rules := game.DefaultRules(seats)
				rules.MaxRounds = 4
				if decks > 0 {
					rules.Decks = decks
				}
				decisions := 0
				watch := observer(func(_ *game.State, e game.Event) {
					if e.Kind == game.RoundEnded {
						decisions = 0
						if e.End == game.Exhausted {
							exhausted++
						}
					}
				})
				var s game.State
				setup := game.Setup{Seats: seats, Rules: rules, Deal: deal.NewFast(r.Uint64(), r.Uint64()), Observer: watch}
				playThrough(t, &s, setup, func(request game.Request) game.Decision {
					// A hit draws a card, and a card is given once.
					if decisions++; decisions > 2*1000*rules.Decks+1 {
						t.Fatalf("%d seats, %d decks: %d decisions in round %d", seats, rules.Decks, decisions, s.View(0).Round())
					}
					switch {
					case request.Kind == game.Turn:
						return game.Hit
					case aim == 0:
						return request.Default()
					case aim == 1:
						return game.Give(request.Targets.After(request.Seat))
					}
					return randomDecision(request, 100, r)
				}, func(*game.State) {})
			}
		}
	}
	if exhausted == 0 {
		t.Error("no round ended because no card could be drawn: the cases show less than they should")
	}
}

func TestReplayingARecordGivesTheSameRecord(t *testing.T) {
	everyTable(t, 4*scale, func(t *testing.T, setup game.Setup, hits int, r *rand.Rand) {
		record := game.Record{Seats: setup.Seats, Dealer: setup.Dealer}
		for i := range record.Seed {
			record.Seed[i] = byte(r.Uint32())
		}
		setup.Deal, setup.Totals = deal.NewKeyed(record.Seed), nil
		var s game.State
		var first []game.Event
		setup.Observer = observer(func(_ *game.State, e game.Event) { first = append(first, e) })
		playThrough(t, &s, setup, func(request game.Request) game.Decision {
			d := randomDecision(request, hits, r)
			move := game.Move{Decision: d}
			if d == request.Default() && r.IntN(2) == 0 {
				move.Cause = game.Cause(r.IntN(5))
			}
			record.Moves = append(record.Moves, move)
			return d
		}, func(*game.State) {})
		record.Rules, record.Result = s.View(0).Rules(), s.Result()

		var again []game.Event
		replayed, err := record.Replay(deal.NewKeyed(record.Seed), observer(func(_ *game.State, e game.Event) { again = append(again, e) }))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(first, again) || !reflect.DeepEqual(replayed.Position(), s.Position()) {
			t.Errorf("the replay differs: %d events, then %d", len(first), len(again))
		}

		wrong := record
		wrong.Result.Totals = slices.Clone(record.Result.Totals)
		wrong.Result.Totals[r.IntN(record.Seats)]++
		if _, err := wrong.Replay(deal.NewKeyed(record.Seed), nil); !errors.Is(err, game.ErrRecord) {
			t.Errorf("a record with a wrong total: %v", err)
		}
		if len(record.Moves) > 0 {
			short := record
			short.Moves = record.Moves[:len(record.Moves)-1]
			if _, err := short.Replay(deal.NewKeyed(record.Seed), nil); !errors.Is(err, game.ErrRecord) {
				t.Errorf("a record without its last move: %v", err)
			}
			long := record
			long.Moves = append(slices.Clone(record.Moves), game.Move{Decision: game.Stay})
			if _, err := long.Replay(deal.NewKeyed(record.Seed), nil); !errors.Is(err, game.ErrRecord) {
				t.Errorf("a record with a move too many: %v", err)
			}
		}
	})
}

func TestAFaultOfARecordIsTheDefaultDecision(t *testing.T) {
	s, err := game.New(game.Setup{Seats: 3, Rules: game.Rules{MaxRounds: 1}, Deal: lowest{}})
	if err != nil {
		t.Fatal(err)
	}
	record := game.Record{Seats: 3, Rules: s.View(0).Rules(), Moves: []game.Move{{Decision: game.Hit, Cause: game.TimedOut}}}
	if _, err := record.Replay(lowest{}, nil); !errors.Is(err, game.ErrRecord) {
		t.Errorf("a hit of a seat that timed out: %v", err)
	}
}

// highest deals kinds as kinds does, but the highest copy of each; when they are used up it deals the highest copy in the
// pile, where kinds gives up.
type highest struct{ kinds }

func (h *highest) Draw(d game.Draw) (game.Copy, error) {
	var last, found game.Copy
	for c := range d.Pile.All() {
		last = c
		if h.next < len(h.cards) && d.Pile.Card(c) == h.cards[h.next] {
			found = c
		}
	}
	if h.next == len(h.cards) {
		return last, nil
	}
	h.next++
	return found, nil
}

func TestAViewTellsNothingButWhatIsPublic(t *testing.T) {
	everyTable(t, 2*scale, func(t *testing.T, setup game.Setup, hits int, r *rand.Rand) {
		drawn := &kinds{from: setup.Deal}
		setup.Deal = drawn
		var s game.State
		var decisions []game.Decision
		var cards []int
		playThrough(t, &s, setup, func(request game.Request) game.Decision {
			cards = append(cards, len(drawn.cards))
			decisions = append(decisions, randomDecision(request, hits, r))
			return decisions[len(decisions)-1]
		}, func(*game.State) {})
		if len(decisions) == 0 {
			return
		}
		// Two games with the same past, of other copies, and with another future.
		at := r.IntN(len(decisions))
		setup.Deal = &highest{kinds{cards: drawn.cards[:cards[at]]}}
		other, err := game.New(setup)
		if err != nil {
			t.Fatal(err)
		}
		setup.Deal = &kinds{cards: drawn.cards}
		one, err := game.New(setup)
		for _, d := range decisions[:at] {
			err = errors.Join(err, one.Apply(d), other.Apply(d))
		}
		if err != nil {
			t.Fatal(err)
		}
		if a, b := one.Position(), other.Position(); !reflect.DeepEqual(a, b) {
			t.Fatalf("positions differ\n%+v\n%+v", a, b)
		}
		seat := game.Seat(r.IntN(setup.Seats))
		if a, b := told(one.View(seat)), told(other.View(seat)); a != b {
			t.Fatalf("views differ\n%s\n%s", a, b)
		}
	})
}

// told is all that a View tells: the results of all its methods, for every seat and card.
func told(v game.View) string {
	var all strings.Builder
	for i := range reflect.TypeOf(v).NumMethod() {
		name, method := reflect.TypeOf(v).Method(i).Name, reflect.ValueOf(v).Method(i)
		calls := [][]reflect.Value{nil}
		for in := range method.Type().NumIn() {
			var more [][]reflect.Value
			for _, args := range calls {
				switch method.Type().In(in) {
				case reflect.TypeFor[game.Seat]():
					for seat := range game.Seat(v.Seats()) {
						more = append(more, append(slices.Clone(args), reflect.ValueOf(seat)))
					}
				case reflect.TypeFor[game.Card]():
					for card := range game.Card(game.Kinds) {
						more = append(more, append(slices.Clone(args), reflect.ValueOf(card)))
					}
				default:
					panic("View." + name + " takes something else than a seat or a card")
				}
			}
			calls = more
		}
		for _, args := range calls {
			for _, out := range method.Call(args) {
				if out.Kind() != reflect.Func {
					fmt.Fprintln(&all, name, args, out)
					continue
				}
				for value := range out.Seq() {
					fmt.Fprintln(&all, name, args, value)
				}
			}
		}
	}
	return all.String()
}

// TestAPositionHoldsNoCopies: which copy of a kind lies where is not public, nor is anything of the deal.
func TestAPositionHoldsNoCopies(t *testing.T) {
	var walk func(at string, of reflect.Type)
	walk = func(at string, of reflect.Type) {
		switch of {
		case reflect.TypeFor[game.Copy](), reflect.TypeFor[game.Pack](), reflect.TypeFor[game.Draw](), reflect.TypeFor[game.State]():
			t.Errorf("%s is a %v", at, of)
		}
		switch of.Kind() {
		case reflect.Struct:
			for i := range of.NumField() {
				if f := of.Field(i); !f.IsExported() {
					t.Errorf("%s.%s is not exported", at, f.Name)
				} else {
					walk(at+"."+f.Name, f.Type)
				}
			}
		case reflect.Slice, reflect.Array:
			walk(at+"[]", of.Elem())
		case reflect.Interface, reflect.Pointer, reflect.Func, reflect.Map, reflect.Chan:
			t.Errorf("%s is a %v", at, of)
		}
	}
	walk("Position", reflect.TypeFor[game.Position]())
}
