package swiss_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/flip7-arena/flip7/arena/swiss"
)

// table is a finished table; each game is written as "a=1 b=2 c=2".
func table(t testing.TB, round int, games ...string) swiss.Table {
	t.Helper()
	table := swiss.Table{Round: round}
	for _, line := range games {
		var g swiss.Game
		for _, field := range strings.Fields(line) {
			name, place, _ := strings.Cut(field, "=")
			var p int
			if _, err := fmt.Sscan(place, &p); err != nil {
				t.Fatalf("%q: %v", field, err)
			}
			g.Bots = append(g.Bots, name)
			g.Places = append(g.Places, p)
			g.Points = append(g.Points, 200-p)
			g.Faults = append(g.Faults, 0)
		}
		table.Bots = g.Bots
		table.Games = append(table.Games, g)
	}
	return table
}

func entries(names string) []swiss.Entry {
	var entries []swiss.Entry
	for _, name := range strings.Fields(names) {
		entries = append(entries, swiss.Entry{Name: name})
	}
	return entries
}

// lines writes standings as "rank name score reason".
func lines(standings []swiss.Standing) []string {
	var lines []string
	for _, s := range standings {
		line := fmt.Sprintf("%d %s %s", s.Rank, s.Name, s.Score.RatString())
		if s.Decided != swiss.ByNothing {
			line += " " + s.Decided.String()
		}
		lines = append(lines, line)
	}
	return lines
}

func TestStandings(t *testing.T) {
	edit := func(table swiss.Table, edit func(*swiss.Table)) swiss.Table {
		edit(&table)
		return table
	}
	mark := func(entries []swiss.Entry, edit func(e *swiss.Entry), names ...string) []swiss.Entry {
		for i := range entries {
			if slices.Contains(names, entries[i].Name) {
				edit(&entries[i])
			}
		}
		return entries
	}
	for _, c := range []struct {
		name    string
		entries []swiss.Entry
		tables  []swiss.Table
		rounds  int
		want    []string
	}{
		{
			"nothing played: all share the first rank", entries("b a"), nil, 0,
			[]string{"1 a 0", "1 b 0"},
		},
		{
			"a pairing round scores the mean placement of its games, ties half", entries("a b c"),
			[]swiss.Table{table(t, 1, "a=1 b=2 c=3", "b=1 c=1 a=3")}, 1,
			[]string{"1 b 5/8", "2 a 1/2 score", "3 c 3/8 score"},
		},
		{
			"a missed pairing round scores nothing, a void table half", entries("a b c d"),
			[]swiss.Table{
				table(t, 1, "a=1 b=2 c=3"),
				edit(table(t, 2, "d=1 b=2 c=3"), func(t *swiss.Table) { t.Void = true }),
			}, 2,
			// a met b and c, who got their halves without it; b met them only with it.
			[]string{"1 a 1", "2 b 1 strength of schedule", "3 c 1/2 score", "4 d 1/2 mean points"},
		},
		{
			"a table without games is still being played", entries("a b c d"),
			[]swiss.Table{table(t, 1, "a=1 b=2 c=3"), {Round: 2, Bots: []string{"a", "b", "d"}}}, 2,
			[]string{"1 a 1", "2 b 1/2 score", "3 c 0 score", "4 d 0 mean points"},
		},
		{
			"withdrawn bots stand below, by the same reasons", mark(entries("a b c d"), func(e *swiss.Entry) { e.Withdrawn = true }, "a", "b"),
			[]swiss.Table{table(t, 1, "a=1 b=2 c=3 d=4")}, 1,
			[]string{"1 c 1/3", "2 d 0 score", "3 a 1 withdrawal", "4 b 2/3 score"},
		},
		{
			"all withdrawn: nothing decided the first", mark(entries("a b c"), func(e *swiss.Entry) { e.Withdrawn = true }, "a", "b", "c"),
			[]swiss.Table{table(t, 1, "a=1 b=2 c=3")}, 1,
			[]string{"1 a 1", "2 b 1/2 score", "3 c 0 score"},
		},
		{
			"an anchor is outside the ranks but counts as an opponent", mark(entries("a b c"), func(e *swiss.Entry) { e.Anchor = true }, "a"),
			[]swiss.Table{table(t, 1, "a=1 b=2 c=3")}, 1,
			[]string{"1 b 1/2", "2 c 0 score", "0 a 1"},
		},
		{
			"a fill-in is an opponent and nothing else", mark(entries("a b house"), func(e *swiss.Entry) { e.FillIn = true }, "house"),
			[]swiss.Table{table(t, 1, "house=1 a=2 b=3")}, 1,
			[]string{"1 a 1/2", "2 b 0 score"},
		},
	} {
		got, err := swiss.Standings(c.entries, c.tables, c.rounds)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !slices.Equal(lines(got), c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, lines(got), c.want)
		}
	}
}

// Bots that are always in the same company have no strength of schedule.
func TestTieBreaks(t *testing.T) {
	points := func(table swiss.Table, game int, points ...int) swiss.Table {
		table.Games[game].Points = points
		return table
	}
	faults := func(table swiss.Table, game int, faults ...int) swiss.Table {
		table.Games[game].Faults = faults
		return table
	}
	block := []string{"a=1 b=2 c=3 d=4 e=5 f=6", "a=1 b=2 c=3 d=4 e=5 f=6", "c=1 a=2 b=3 d=4 e=5 f=6"}
	for _, c := range []struct {
		name  string
		table swiss.Table
		want  []string
	}{
		{
			"head to head", table(t, 1, "a=1 c=2 d=3 b=4", "b=1 a=2 c=3 d=4", "b=1 c=2 a=3 d=4"),
			[]string{"1 b 2/3", "2 a 2/3 head to head", "3 c 5/9 score", "4 d 1/9 score"},
		},
		{
			"head to head of three, then of the two it leaves tied",
			table(t, 1, slices.Concat(block, block, block, []string{"b=1 c=2 d=3 e=4 f=5 a=6", "c=1 b=2 d=3 e=4 f=5 a=6"})...),
			[]string{"1 a 42/55", "2 b 42/55 head to head", "3 c 42/55 head to head", "4 d 24/55 score", "5 e 13/55 score", "6 f 2/55 score"},
		},
		{
			"first places", table(t, 1, "a=1 c=2 b=3 d=4", "c=1 b=2 d=3 a=4"),
			[]string{"1 c 5/6", "2 a 1/2 score", "3 b 1/2 first places", "4 d 1/6 score"},
		},
		{
			"a first place is shared by those tied for it", table(t, 1, "a=1 b=1 c=3", "b=1 c=2 a=3", "a=1 c=2 b=3"),
			[]string{"1 a 7/12", "1 b 7/12", "3 c 1/3 score"},
		},
		{
			"mean points", points(table(t, 1, "a=1 b=2 c=3", "b=1 a=2 c=3"), 1, 230, 199, 0),
			[]string{"1 b 3/4", "2 a 3/4 mean points", "3 c 0 score"},
		},
		{
			"fewest faults", faults(table(t, 1, "a=1 b=2 c=3", "b=1 a=2 c=3"), 0, 3, 1, 0),
			[]string{"1 b 3/4", "2 a 3/4 faults", "3 c 0 score"},
		},
		{
			"nothing: a shared rank, and the next one left out", table(t, 1, "c=1 a=2 b=3 d=4", "c=1 b=2 a=3 d=4"),
			[]string{"1 c 1", "2 a 1/2 score", "2 b 1/2", "4 d 0 score"},
		},
	} {
		names := strings.Join(c.table.Bots, " ")
		got, err := swiss.Standings(entries(names), []swiss.Table{c.table}, 1)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if !slices.Equal(lines(got), c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, lines(got), c.want)
		}
	}
}

func TestStrengthOfScheduleIsWhatOpponentsDidElsewhere(t *testing.T) {
	standings, err := swiss.Standings(entries("a b c d e f"), []swiss.Table{
		table(t, 1, "a=1 b=2 c=3"), table(t, 1, "d=1 e=2 f=3"),
		table(t, 2, "a=1 b=2 d=3"), table(t, 2, "c=1 e=1 f=3"),
		table(t, 3, "f=1 b=2 c=3"),
	}, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		// b twice: 1/2 in 1; c: 3/4 in 2; d: 1 in 2.
		"a": "15/32",
		// a twice: 0 in 1; c twice: 3/4 in 1; d: 1 in 2; f: 0 in 2.
		"b": "1/3",
		// e: 3/4 in 2; f: 1 in 2; a: 1 in 2; b: 1 in 2.
		"d": "15/32",
	}
	for _, s := range standings {
		if w, stated := want[s.Name]; stated && s.Strength.RatString() != w {
			t.Errorf("strength of %s's schedule: %s, want %s", s.Name, s.Strength.RatString(), w)
		}
	}
}

// Every table hands out half of its seats, so the scores of a night add up, and
// the order in which things are listed does not matter.
func TestStandingsOfANightAddUp(t *testing.T) {
	for _, bots := range []int{16, 21} {
		tables, entries, seats := playedNight(t, bots, 6)
		standings, err := swiss.Standings(entries, tables, 6)
		if err != nil {
			t.Fatal(err)
		}
		sum := new(big.Rat)
		for _, s := range standings {
			sum.Add(sum, s.Score)
		}
		if want := big.NewRat(int64(seats), 2); sum.Cmp(want) != 0 {
			t.Errorf("%d bots: scores add up to %s, want %s", bots, sum.RatString(), want.RatString())
		}
		r := rand.New(rand.NewPCG(1, 0))
		again, err := swiss.Standings(shuffled(r, entries), shuffled(r, tables), 6)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(again), fmt.Sprint(standings); got != want {
			t.Errorf("in another order:\n got %s\nwant %s", got, want)
		}
	}
}

// playedNight is a night with games of chance; seats counts those taken in all.
func playedNight(t testing.TB, bots, rounds int) (tables []swiss.Table, entries []swiss.Entry, seats int) {
	n := newNight(bots, 4, 1)
	for _, b := range n.Bots {
		entries = append(entries, swiss.Entry{Name: b.Name})
	}
	for round := 1; round <= rounds; round++ {
		r := rand.New(rand.NewPCG(uint64(round), 0))
		for names := shuffled(r, entries); len(names) > 0; {
			size := swiss.Sizes(len(names), 4)[0]
			played := swiss.Table{Round: round}
			for _, e := range names[:size] {
				played.Bots = append(played.Bots, e.Name)
			}
			for range 2 * size {
				game := swiss.Game{Bots: shuffled(r, played.Bots), Points: make([]int, size), Faults: make([]int, size)}
				for i := range size {
					game.Places = append(game.Places, i+1)
					game.Points[i] = r.IntN(250)
				}
				played.Games = append(played.Games, game)
			}
			tables = append(tables, played)
			names = names[size:]
			seats += size
		}
	}
	return tables, entries, seats
}

func TestStandingsRefuse(t *testing.T) {
	with := func(edit func(t *swiss.Table)) []swiss.Table {
		table := table(t, 1, "a=1 b=2 c=3")
		edit(&table)
		return []swiss.Table{table}
	}
	abc := entries("a b c")
	for _, c := range []struct {
		entries []swiss.Entry
		tables  []swiss.Table
		rounds  int
		want    string
	}{
		{abc, nil, -1, "rounds: -1 is negative"},
		{[]swiss.Entry{{}}, nil, 0, "entries[0].name: empty"},
		{entries("a b a"), nil, 0, `entries[2].name: "a" is there twice`},
		{abc, with(func(*swiss.Table) {}), 0, "tables[0].round: 1 is not 1..0"},
		{abc, with(func(t *swiss.Table) { t.Bots = t.Bots[:2] }), 1, "tables[0].bots: 2 are not 3..18"},
		{abc, with(func(t *swiss.Table) { t.Bots = strings.Fields("a b x") }), 1, `tables[0].bots[2]: "x" is not entered`},
		{abc, append(with(func(*swiss.Table) {}), table(t, 1, "c=1 b=2 a=3")), 1, `tables[1].bots[0]: "c" sits twice in pairing round 1`},
		{abc, with(func(t *swiss.Table) { t.Games[0].Places = []int{1, 2} }), 1, "tables[0].games[0].bots, places, points, faults: 3, 2, 3, 3 are not one for each of 3 at the table"},
		{abc, with(func(t *swiss.Table) { t.Games[0].Bots = strings.Fields("a b b") }), 1, `tables[0].games[0].bots: "c" of the table is missing`},
		{abc, with(func(t *swiss.Table) { t.Games[0].Places[1] = 4 }), 1, "tables[0].games[0].places[1]: 4 is not 1..3"},
		{abc, with(func(t *swiss.Table) { t.Games[0].Faults[2] = -1 }), 1, "tables[0].games[0].faults[2]: -1 is negative"},
	} {
		if _, err := swiss.Standings(c.entries, c.tables, c.rounds); err == nil || err.Error() != c.want {
			t.Errorf("got error %v, want %s", err, c.want)
		}
	}
}

func TestUnits(t *testing.T) {
	rat := func(values ...string) []*big.Rat {
		var rats []*big.Rat
		for _, v := range values {
			r, ok := new(big.Rat).SetString(v)
			if !ok {
				t.Fatal(v)
			}
			rats = append(rats, r)
		}
		return rats
	}
	got, err := swiss.Units(rat("1/2", "0", "5/6", "-7/4", "3"))
	if want := []int64{6, 0, 10, -21, 36}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %d, %v, want %d", got, err, want)
	}
	if _, err := swiss.Units(rat("1/4294967291", "1/4294967279", "1/3")); err == nil {
		t.Error("a unit of 1/(3*4294967291*4294967279) fits in 64 bits?")
	}
}

func BenchmarkStandings1000(b *testing.B) {
	tables, entries, _ := playedNight(b, 1000, 20)
	for b.Loop() {
		if _, err := swiss.Standings(entries, tables, 20); err != nil {
			b.Fatal(err)
		}
	}
}
