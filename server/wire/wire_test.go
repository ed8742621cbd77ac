package wire_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// randomGame is a table of so many seats under options drawn by chance.
func randomGame(seats int, r *rand.Rand, observer game.Observer) (*game.State, error) {
	rules := game.DefaultRules(seats)
	rules.TieBreak = game.TieBreak(r.IntN(3))
	rules.BustedAssigns = r.IntN(2) == 0
	rules.Deal = game.Dealing(r.IntN(2))
	rules.TargetScore = 1 + r.IntN(200)
	rules.MaxRounds = 1 + r.IntN(6)
	s, err := game.New(game.Setup{Seats: seats, Rules: rules, Dealer: game.Seat(r.IntN(seats)),
		Deal: deal.NewFast(r.Uint64(), r.Uint64()), Observer: observer})
	return &s, err
}

func randomDecision(request game.Request, r *rand.Rand) game.Decision {
	var legal []game.Decision
	for d := range request.Legal() {
		legal = append(legal, d)
	}
	if request.Kind == game.Turn && r.IntN(4) > 0 {
		return game.Hit
	}
	return legal[r.IntN(len(legal))]
}

// everyTable plays random games at all seat counts and calls at with every state in which somebody is asked.
func everyTable(t *testing.T, at func(t *testing.T, s *game.State, request *wire.Request, r *rand.Rand)) {
	for seats := game.MinSeats; seats <= game.MaxSeats; seats++ {
		for seed := range uint64(2) {
			r := rand.New(rand.NewPCG(uint64(seats), seed))
			s, err := randomGame(seats, r, nil)
			if err != nil {
				t.Fatal(err)
			}
			requests := make([]*wire.Request, seats)
			for i := range requests {
				requests[i] = wire.NewRequest(wire.GameInfo(infoOf(s)), game.Seat(i))
			}
			ok := t.Run(fmt.Sprintf("%d seats, game %d", seats, seed), func(t *testing.T) {
				for !s.Over() {
					at(t, s, requests[s.Request().Seat], r)
					if err := s.Apply(randomDecision(s.Request(), r)); err != nil {
						t.Fatal(err)
					}
				}
			})
			if !ok {
				return
			}
		}
	}
}

func infoOf(s *game.State) table.Info {
	v := s.View(0)
	return table.Info{ID: "12/1/3/2", Attempt: 1, Tournament: "12", Round: 1, Table: 3, Number: 2, Of: 8,
		Bots: make([]string, v.Seats()), Rules: v.Rules(), Timeout: time.Second, Bank: 10 * time.Second}
}

// fill puts a state through the wire, bytes and all.
func fill(t *testing.T, request *wire.Request, s *game.State) *flip7v1.DecisionRequest {
	t.Helper()
	request.Fill("12/1/3/2/1/7", s.View(s.Request().Seat), nil)
	request.Time(11*time.Second, 10*time.Second, -1)
	data, err := proto.Marshal(request.Message())
	if err != nil {
		t.Fatal(err)
	}
	if most := wire.RequestSize(request.Message().GetRequest().GetGame()); len(data) > most {
		t.Errorf("a request of %d bytes, said to be %d at most", len(data), most)
	}
	var message flip7v1.ArenaMessage
	if err := proto.Unmarshal(data, &message); err != nil {
		t.Fatal(err)
	}
	return message.GetRequest()
}

// told is a position without what a request does not tell (see wire.Position).
func told(p game.Position) game.Position {
	p.Reshuffles, p.Dealing = 0, false
	p.Since = p.Rules.Decks * game.DeckSize
	for _, n := range p.Draw {
		p.Since -= n
	}
	for i := range p.Seats {
		p.Seats[i].Drawn = 0
	}
	if p.FlipThree.Running {
		p.Turn = -1
	}
	return p
}

func TestAViewComesBackAsThePositionItShows(t *testing.T) {
	everyTable(t, func(t *testing.T, s *game.State, request *wire.Request, _ *rand.Rand) {
		got, err := wire.Position(fill(t, request, s))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := told(got), told(s.Position()); !reflect.DeepEqual(got, want) {
			t.Fatalf("got  %+v\nwant %+v", got, want)
		}
	})
}

func TestAGameGoesOnFromARequestAsItWouldHave(t *testing.T) {
	everyTable(t, func(t *testing.T, s *game.State, request *wire.Request, r *rand.Rand) {
		p, err := wire.Position(fill(t, request, s))
		if err != nil {
			t.Fatal(err)
		}
		// Both go on with the same cards and decisions for a while; what is not told must make no difference.
		seed := r.Uint64()
		there, err := game.At(p, deal.NewFast(seed, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		here, err := game.At(s.Position(), deal.NewFast(seed, 1), nil)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < 12 && !here.Over(); n++ {
			d := randomDecision(here.Request(), r)
			if err := here.Apply(d); err != nil {
				t.Fatal(err)
			}
			if err := there.Apply(d); err != nil {
				t.Fatalf("decision %d, %v: %v", n, d, err)
			}
			if got, want := told(there.Position()), told(here.Position()); !reflect.DeepEqual(got, want) {
				t.Fatalf("after decision %d, %v\ngot  %+v\nwant %+v", n, d, got, want)
			}
		}
	})
}

func TestARequestSaysWhatIsLegal(t *testing.T) {
	everyTable(t, func(t *testing.T, s *game.State, request *wire.Request, _ *rand.Rand) {
		w := fill(t, request, s)
		var want, got []game.Decision
		for d := range s.Request().Legal() {
			want = append(want, d)
		}
		for _, answer := range w.GetLegal() {
			if answer != flip7v1.Answer_ANSWER_GIVE {
				d, _ := wire.DecisionOf(&flip7v1.Decision{Answer: answer})
				got = append(got, d)
			}
		}
		for _, seat := range w.GetLegalSeats() {
			d, _ := wire.DecisionOf(&flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_GIVE, Seat: &seat})
			got = append(got, d)
		}
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	})
}

func TestATimedRequestIsSentAgainAsItWas(t *testing.T) {
	s, err := randomGame(5, rand.New(rand.NewPCG(1, 2)), nil)
	if err != nil {
		t.Fatal(err)
	}
	banks := []time.Duration{0, time.Millisecond, time.Second, 1001 * time.Millisecond, 10 * time.Second}
	request := wire.NewRequest(wire.GameInfo(infoOf(s)), s.Request().Seat)
	request.Fill("g/1/9", s.View(s.Request().Seat), banks)
	request.Time(3500*time.Millisecond, 2500*time.Millisecond, 40*time.Millisecond)
	first := request.Message().GetRequest()
	again := request.Again(1200*time.Millisecond, 1200*time.Millisecond).GetRequest()
	if got := again.GetTimeLeft().AsDuration(); got != 1200*time.Millisecond || !again.GetResent() {
		t.Errorf("again: %v left, resent %t", got, again.GetResent())
	}
	again.TimeLeft, again.TimeBank, again.Resent = first.TimeLeft, first.TimeBank, false
	if !proto.Equal(first, again) {
		t.Errorf("got  %v\nwant %v", again, first)
	}
	for i, want := range []uint32{0, 1, 1, 2, 10} {
		if got := first.GetView().GetSeats()[i].GetBankSeconds(); got != want {
			t.Errorf("bank of %v: told as %d s, want %d s", banks[i], got, want)
		}
	}
}

// events keeps what happens, as it is and as it comes back from the wire.
type events struct {
	t         *testing.T
	was, came []game.Event
	last      *flip7v1.GameEvent
}

func (o *events) Observe(s *game.State, e game.Event) {
	o.last = wire.Event("g", 1, len(o.was)+1, s, e)
	back, err := wire.EventOf(o.last)
	if err != nil {
		o.t.Fatal(err)
	}
	o.was, o.came = append(o.was, e), append(o.came, back)
}

func TestEventsComeBack(t *testing.T) {
	for seats := game.MinSeats; seats <= game.MaxSeats; seats++ {
		r := rand.New(rand.NewPCG(uint64(seats), 9))
		o := &events{t: t}
		s, err := randomGame(seats, r, o)
		if err != nil {
			t.Fatal(err)
		}
		for !s.Over() {
			if err := s.Apply(randomDecision(s.Request(), r)); err != nil {
				t.Fatal(err)
			}
		}
		if !reflect.DeepEqual(o.came, o.was) {
			t.Fatalf("%d seats\ngot  %v\nwant %v", seats, o.came, o.was)
		}
		result := s.Result()
		if got, want := o.last.GetPlaces(), wire.Numbers(result.Places); !reflect.DeepEqual(got, want) {
			t.Errorf("%d seats: places %v, want %v", seats, got, want)
		}
		if got, want := o.last.GetTotals(), wire.Numbers(result.Totals); !reflect.DeepEqual(got, want) {
			t.Errorf("%d seats: totals %v, want %v", seats, got, want)
		}
	}
}

func TestNamesAgree(t *testing.T) {
	cards := flip7v1.Card(0).Descriptor().Values()
	names := map[string]string{"freeze": "FREEZE", "flip3": "FLIP_THREE", "second": "SECOND_CHANCE", "x2": "X2"}
	for c := range game.Card(game.Kinds) {
		name := names[c.String()]
		if c.Number() {
			name = "NUMBER_" + c.String()
		} else if plus, found := strings.CutPrefix(c.String(), "+"); found {
			name = "PLUS_" + plus
		}
		if got := cards.ByNumber(wire.Card(c).Number()); got == nil || string(got.Name()) != "CARD_"+name {
			t.Errorf("%v travels as %v", c, got)
		}
		if back, err := wire.CardOf(wire.Card(c)); err != nil || back != c {
			t.Errorf("%v comes back as %v, %v", c, back, err)
		}
	}
	for c := game.Chosen; c <= game.TimedOut; c++ {
		if got, want := wire.Cause(c).String(), "CAUSE_"+strings.ToUpper(c.String()); got != want {
			t.Errorf("cause %v travels as %s, want %s", c, got, want)
		}
		if back, err := wire.CauseOf(wire.Cause(c)); err != nil || back != c {
			t.Errorf("cause %v comes back as %v, %v", c, back, err)
		}
	}
}

func TestRulesComeBack(t *testing.T) {
	for _, rules := range []game.Rules{
		game.DefaultRules(4),
		{TieBreak: game.Shared, Deal: game.DealEveryone, TargetScore: 50, MaxRounds: 3, Decks: 2},
		{TieBreak: game.TiedPlay, BustedAssigns: true, TargetScore: 1, MaxRounds: 1, Decks: 1},
	} {
		got, err := wire.RulesOf(wire.Rules(rules))
		if err != nil || got != rules {
			t.Errorf("got %+v, %v; want %+v", got, err, rules)
		}
	}
	for _, left := range []*flip7v1.Rules{nil, {}} {
		if got, err := wire.RulesOf(left); err != nil || got.Complete(4) != game.DefaultRules(4) {
			t.Errorf("rules left out are %+v, %v", got, err)
		}
	}
	for _, c := range []struct {
		rules *flip7v1.Rules
		want  string
	}{
		{&flip7v1.Rules{Version: "flip7/2"}, `version: "flip7/2"`},
		{&flip7v1.Rules{TieBreak: 9}, "tie_break: 9"},
		{&flip7v1.Rules{Deal: -1}, "deal: -1"},
		{&flip7v1.Rules{Decks: 17}, "decks: 17"},
		{&flip7v1.Rules{TargetScore: 1<<32 - 1}, "target_score: 4294967295"},
	} {
		if _, err := wire.RulesOf(c.rules); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got %v, want %q", c.rules, err, c.want)
		}
	}
}

func TestWhatMakesNoSenseIsNoDecision(t *testing.T) {
	seat := func(n uint32) *uint32 { return &n }
	for _, c := range []struct {
		name string
		said *flip7v1.Decision
		want game.Decision
		pass bool
	}{
		{"nothing", nil, 0, false},
		{"unspecified", &flip7v1.Decision{}, 0, false},
		{"an answer of the future", &flip7v1.Decision{Answer: 77}, 0, false},
		{"a negative answer", &flip7v1.Decision{Answer: -1}, 0, false},
		{"give without a seat", &flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_GIVE}, 0, false},
		{"give to no seat", &flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_GIVE, Seat: seat(36)}, 0, false},
		{"give to a seat that would wrap around", &flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_GIVE, Seat: seat(1<<32 - 2)}, 0, false},
		{"give", &flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_GIVE, Seat: seat(0)}, game.Give(0), false},
		{"hit with a seat", &flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_HIT, Seat: seat(1)}, game.Hit, false},
		{"pass", &flip7v1.Decision{Answer: flip7v1.Answer_ANSWER_PASS}, 0, true},
	} {
		if got, pass := wire.DecisionOf(c.said); got != c.want || pass != c.pass {
			t.Errorf("%s: got %v, %t; want %v, %t", c.name, got, pass, c.want, c.pass)
		}
	}
	for _, d := range []game.Decision{game.Hit, game.Stay, game.Give(0), game.Give(35)} {
		if got, pass := wire.DecisionOf(wire.Decision("g/1/1", d)); got != d || pass {
			t.Errorf("%v comes back as %v, %t", d, got, pass)
		}
	}
	if _, pass := wire.DecisionOf(wire.Decision("g/1/1", 0)); !pass {
		t.Error("0 is not a pass")
	}
}

// FuzzPosition: whatever bytes come, a position is refused or is one that game.At can judge; nothing panics.
func FuzzPosition(f *testing.F) {
	s, err := randomGame(4, rand.New(rand.NewPCG(3, 4)), nil)
	if err != nil {
		f.Fatal(err)
	}
	request := wire.NewRequest(wire.GameInfo(infoOf(s)), s.Request().Seat)
	request.Fill("g/1/1", s.View(s.Request().Seat), nil)
	data, err := proto.Marshal(request.Message().GetRequest())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		var w flip7v1.DecisionRequest
		if proto.Unmarshal(data, &w) != nil {
			return
		}
		p, err := wire.Position(&w)
		if err != nil {
			return
		}
		if at, err := game.At(p, deal.NewFast(1, 2), nil); err == nil {
			at.View(p.Request.Seat)
		}
	})
}

// BenchmarkRequest is what a request costs before gRPC: filled and marshalled.
func BenchmarkRequest(b *testing.B) {
	for _, seats := range []int{4, 18} {
		b.Run(fmt.Sprintf("%d seats", seats), func(b *testing.B) {
			s, err := randomGame(seats, rand.New(rand.NewPCG(3, 4)), nil)
			if err != nil {
				b.Fatal(err)
			}
			request := wire.NewRequest(wire.GameInfo(infoOf(s)), s.Request().Seat)
			v := s.View(s.Request().Seat)
			var data []byte
			b.ReportAllocs()
			for b.Loop() {
				request.Fill("12/1/3/2/1/7", v, nil)
				request.Time(11*time.Second, 10*time.Second, time.Millisecond)
				data, err = proto.MarshalOptions{}.MarshalAppend(data[:0], request.Message())
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(data)), "bytes")
		})
	}
}
