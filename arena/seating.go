package arena

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/flip7-arena/flip7/arena/swiss"
)

// pair seats the bots with these entry numbers in a new pairing round; nobody at all makes a round without tables.
func (t *Tournament) pair(number int, seated []int) (Round, error) {
	round := Round{Number: number, Spread: "0"}
	if len(seated) == 0 {
		return round, nil
	}
	field, err := t.field(number, seated)
	if err != nil {
		return round, err
	}
	pairing, err := t.bring(number, seated, field)
	if err != nil {
		return round, fmt.Errorf("pair round %d: %w", number, err)
	}
	round.Cost, round.Shares, round.Spread, round.Repeats = pairing.Cost, pairing.Shares, pairing.Spread.String(), pairing.Repeats
	for i, names := range pairing.Tables {
		tab := Table{Number: i + 1}
		for _, name := range names {
			e, _ := t.Entry(name)
			tab.Bots = append(tab.Bots, e.Number)
		}
		round.Tables = append(round.Tables, tab)
	}
	return round, nil
}

// bring brings the bots of a field together, by the plan of the night as long as that holds: until a bot comes, goes or is
// missing.
func (t *Tournament) bring(number int, seated []int, field swiss.Field) (swiss.Pairing, error) {
	if t.Settings.Schedule != Planned || !t.unchanged(number, seated) {
		return swiss.Pair(field)
	}
	first, err := t.field(1, seated)
	if err != nil {
		return swiss.Pairing{}, err
	}
	plan, err := first.Plan(t.Settings.Rounds)
	if err != nil {
		return swiss.Pairing{}, err
	}
	return field.Weigh(plan[number-1])
}

// unchanged reports whether the bots with these entry numbers, ascending, are those of every pairing round so far.
func (t *Tournament) unchanged(number int, seated []int) bool {
	for _, r := range t.Rounds[:number-1] {
		var then []int
		for _, tab := range r.Tables {
			then = append(then, tab.Bots...)
		}
		slices.Sort(then)
		if !slices.Equal(then, seated) {
			return false
		}
	}
	return true
}

// field is what the pairing of a round depends on.
func (t *Tournament) field(number int, seated []int) (swiss.Field, error) {
	field := swiss.Field{Seats: t.Settings.Seats, Seed: t.pairSeed(number)}
	short := make([]int, len(t.Entries)+1)
	for _, r := range t.Rounds[:number-1] {
		largest := 0
		for _, tab := range r.Tables {
			largest = max(largest, len(tab.Bots))
		}
		for _, tab := range r.Tables {
			var names []string
			for _, bot := range tab.Bots {
				names = append(names, t.Entries[bot-1].Name)
				if len(tab.Bots) < largest {
					short[bot]++
				}
			}
			field.Met = append(field.Met, names)
		}
	}
	scores, err := t.scores(number - 1)
	if err != nil {
		return field, err
	}
	for _, bot := range seated {
		e := t.Entries[bot-1]
		field.Bots = append(field.Bots, swiss.Bot{Name: e.Name, Score: scores[bot], Short: short[bot], Owner: e.Owner})
	}
	return field, nil
}

// order is who sits where in a game of a table: each rotation starts from a freshly seeded order, and shifts by one seat
// a game, so that in a rotation every bot sits in every seat once. The result holds entry numbers by seat.
func (t *Tournament) order(round int, tab Table, number int) []int {
	rotation, shift := (number-1)/len(tab.Bots), (number-1)%len(tab.Bots)
	order := slices.Clone(tab.Bots)
	slices.Sort(order)
	var seed [32]byte
	copy(seed[:], t.orderSeed(round, tab.Number, rotation+1))
	rand.New(rand.NewChaCha8(seed)).Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return append(order[shift:], order[:shift]...)
}

// Order is who sits where in a game that was paired: entry numbers by seat.
func (t *Tournament) Order(id GameID) []int {
	return t.order(id.Round, t.Rounds[id.Round-1].Tables[id.Table-1], id.Number)
}
