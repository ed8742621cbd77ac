package match_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/house"
	"github.com/flip7-arena/flip7/arena/match"
	"github.com/flip7-arena/flip7/arena/table"
)

func strategy(t *testing.T, name string) house.Strategy {
	t.Helper()
	s, err := house.New(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTablesPlayTheKeyedDealOfTheSeed(t *testing.T) {
	bot := strategy(t, "stay-25")
	tables := match.Tables{Names: []string{"a", "b", "c"}, Timeout: time.Second,
		Players: []match.SitDown{match.House(bot), match.House(bot), match.House(bot)}}
	g := match.Game{Number: 1, Of: 3, Seats: []int{2, 0, 1}, Rules: game.DefaultRules(3), Dealer: 2, Seed: [32]byte{1, 2, 3}}
	got, err := tables.Play(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	s, err := game.New(game.Setup{Seats: 3, Rules: g.Rules, Dealer: 2, Deal: deal.NewKeyed(g.Seed)})
	if err != nil {
		t.Fatal(err)
	}
	for !s.Over() {
		if err := s.Apply(bot.Decide(s.View(s.Request().Seat), 0)); err != nil {
			t.Fatal(err)
		}
	}
	if want := s.Result(); textOf(got.Result.Totals) != textOf(want.Totals) || got.Result.Rounds != want.Rounds {
		t.Errorf("got %+v, want %+v", got.Result, want)
	}
}

// sleeper stays after 20 ms and does not know whom to give a card.
type sleeper struct{}

func (sleeper) Begin(table.Info, game.Seat)            {}
func (sleeper) End(result game.Result, _ table.Ending) {}
func (sleeper) Ask(_ context.Context, q table.Question) (table.Answer, error) {
	answer := table.Answer{Took: 20 * time.Millisecond}
	if q.View.Request().Kind == game.Turn {
		answer.Decision, answer.Illegal = game.Stay, 1
	} else {
		answer.Passed = true
	}
	return answer, nil
}

func TestFaultsSlipsAndLatencyAreOfTheNameThatMadeThem(t *testing.T) {
	names := []string{"quick", "sleeper"}
	m := match.Match{Names: names, Games: 40, Rules: game.Rules{BustedAssigns: true}, Play: match.Tables{
		Names: names, Timeout: time.Second,
		Players: []match.SitDown{match.House(strategy(t, "stay-15")), func(match.Game, game.Seat) table.Player { return sleeper{} }},
	}.Play}
	r := run(t, m)
	if got := line(t, r, "sleeper"); got.Faults == 0 || got.Slips == 0 || got.P50 < 19*time.Millisecond || got.P99 > 22*time.Millisecond {
		t.Errorf("the sleeper: got %+v, want faults, slips and about 20 ms", got)
	} else if got.Causes["passed"] != got.Faults || len(got.Causes) != 1 {
		t.Errorf("the sleeper's %d faults are by cause %v, want all passed", got.Faults, got.Causes)
	}
	if got := line(t, r, "quick"); got.Faults != 0 || got.Slips != 0 || got.P99 != 0 {
		t.Errorf("the quick one: got %+v, want no faults, no slips, no time", got)
	}
}

// wanderer decides what is not legal.
type wanderer struct{}

func (wanderer) Decide(game.View, uint64) game.Decision { return game.Give(game.MaxSeats) }

func TestALocalStrategyThatDecidesIllegallyEndsTheMatch(t *testing.T) {
	play := match.Local([]house.Strategy{strategy(t, "stay-25"), wanderer{}, strategy(t, "odds")})
	_, err := match.Run(t.Context(), match.Match{Names: []string{"a", "b", "c"}, Games: 3, Play: play})
	if !errors.Is(err, game.ErrIllegal) {
		t.Errorf("got %v, want %v", err, game.ErrIllegal)
	}
}
