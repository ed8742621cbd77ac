package swiss_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/flip7-arena/flip7/arena/swiss"
)

// The second pairing round of seven bots, explained. Four bots that have met
// cannot spread over two tables without meeting again, nor can three; and of
// the three that sat at the smaller table one has to go there again.
func ExamplePair() {
	field := swiss.Field{
		Seats: 4,
		Seed:  []byte("flip7/pair/2"),
		Bots: []swiss.Bot{
			{Name: "ann", Score: 20}, {Name: "bob", Score: 14}, {Name: "cat", Score: 10}, {Name: "dan", Score: 4},
			{Name: "eve", Score: 18, Short: 1}, {Name: "fay", Score: 12, Short: 1}, {Name: "gus", Score: 6, Short: 1},
		},
		Met: [][]string{{"ann", "bob", "cat", "dan"}, {"eve", "fay", "gus"}},
	}
	pairing, err := swiss.Pair(field)
	if err != nil {
		log.Fatal(err)
	}
	lines, err := field.Explain(pairing)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(strings.Join(lines, "\n"))
	// Output:
	// table 1: ann, eve, bob (scores 20 to 14): ann and bob meet for the 2nd time (cost 2), ann has 3 of 6 others yet to meet and bob 3; at the smaller size: eve for the 2nd time
	// table 2: fay, cat, gus, dan (scores 12 to 4): fay and gus meet for the 2nd time (cost 2), fay has 4 of 6 others yet to meet and gus 4; cat and dan meet for the 2nd time (cost 2), cat has 3 of 6 others yet to meet and dan 3
	// in all: 3 pairs meet again, cost 6, shares 1, spread 216; no pairing of these bots costs less
}

func ExampleStandings() {
	entries := []swiss.Entry{{Name: "ann"}, {Name: "bob"}, {Name: "cat"}}
	game := func(places ...int) swiss.Game {
		return swiss.Game{Bots: []string{"ann", "bob", "cat"}, Places: places, Points: []int{203, 180, 97}, Faults: []int{0, 0, 2}}
	}
	table := swiss.Table{Round: 1, Bots: []string{"ann", "bob", "cat"}, Games: []swiss.Game{game(1, 2, 3), game(2, 1, 3)}}
	standings, err := swiss.Standings(entries, []swiss.Table{table}, 1)
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range standings {
		fmt.Println(s.Rank, s.Name, s.Score.RatString(), s.Points.FloatString(1), s.Decided)
	}
	// Output:
	// 1 ann 3/4 203.0 nothing
	// 2 bob 3/4 180.0 mean points
	// 3 cat 0 97.0 score
}
