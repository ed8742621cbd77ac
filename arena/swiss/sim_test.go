package swiss_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/flip7-arena/flip7/arena/swiss"
)

// night is a tournament without games: bots of given skills, whose scores are
// their places at a table by skill and luck.
type night struct {
	swiss.Field
	skill map[string]float64
	luck  *rand.Rand
}

func newNight(bots, seats int, seed uint64) *night {
	n := &night{skill: map[string]float64{}, luck: rand.New(rand.NewPCG(seed, 0))}
	n.Seats = seats
	for i := range bots {
		n.enter(fmt.Sprintf("bot-%d", i))
	}
	return n
}

func (n *night) enter(name string) {
	n.Bots = append(n.Bots, swiss.Bot{Name: name})
	n.skill[name] = n.luck.NormFloat64()
}

func (n *night) pair(t testing.TB, round int) swiss.Pairing {
	t.Helper()
	n.Seed = fmt.Appendf(nil, "%d/%d", n.luck.Uint64(), round)
	p, err := swiss.Pair(n.Field)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// play adds what the tables ended in: 8 games each, a score of 0..5040 a round.
func (n *night) play(p swiss.Pairing) {
	number := map[string]int{}
	for i, b := range n.Bots {
		number[b.Name] = i
	}
	for _, table := range p.Tables {
		n.Met = append(n.Met, table)
		for range 8 {
			form := map[string]float64{}
			for _, name := range table {
				form[name] = n.skill[name]/4 + n.luck.NormFloat64()
			}
			for i, name := range slices.SortedFunc(slices.Values(table), func(a, b string) int { return cmp.Compare(form[a], form[b]) }) {
				n.Bots[number[name]].Score += int64(5040 / 8 * i / (len(table) - 1))
			}
		}
		if len(table) < len(p.Tables[0]) || slices.ContainsFunc(p.Tables, func(o []string) bool { return len(o) > len(table) }) {
			for _, name := range table {
				n.Bots[number[name]].Short++
			}
		}
	}
}
