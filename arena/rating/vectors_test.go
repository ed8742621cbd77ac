package rating

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// printed fails unless got is want to the last digit that want shows, which its source may have rounded or cut.
func printed(t *testing.T, what string, got float64, want string) {
	t.Helper()
	value, err := strconv.ParseFloat(want, 64)
	if err != nil {
		t.Fatal(err)
	}
	_, fraction, _ := strings.Cut(want, ".")
	if unit := math.Pow10(-len(fraction)); !(math.Abs(got-value) < unit) {
		t.Errorf("%s: got %.*f, want %s", what, len(fraction)+2, got, want)
	}
}

func read(t testing.TB, text string) Games {
	t.Helper()
	games, err := ReadGames(strings.NewReader(text))
	if err != nil {
		t.Fatalf("ReadGames(%q): %v", text, err)
	}
	return games
}

func fit(t testing.TB, games Games, prior float64) *Table {
	t.Helper()
	table, err := Fit(games, prior)
	if err != nil {
		t.Fatalf("Fit with prior %v: %v", prior, err)
	}
	return table
}

// named returns the row of a name.
func named(t testing.TB, table *Table, name string) Row {
	t.Helper()
	i := table.Row(name)
	if i < 0 {
		t.Fatalf("no row for %q", name)
	}
	return table.Rows[i]
}

func TestUpdate(t *testing.T) {
	for _, c := range []struct {
		name    string
		ratings []float64
		places  []int
		want    []string
	}{
		{"two in order", []float64{1200, 1000}, []int{1, 2}, []string{"1207.68809835", "992.31190165"}},
		{"three in order", []float64{1200, 1000, 900}, []int{1, 2, 3}, []string{"1208.34629612", "1002.55321444", "889.10048944"}},
		{"a tie for the second place", []float64{1200, 1000, 800}, []int{1, 2, 2}, []string{"1207.06479284", "989.33333333", "803.60187383"}},
		{"places as competitions count them", []float64{1200, 1000, 800}, []int{1, 3, 3}, []string{"1207.06479284", "989.33333333", "803.60187383"}},
		{"all tied", []float64{1200, 1000, 800}, []int{1, 1, 1}, []string{"1185.7314595", "1000", "814.2685405"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := fmt.Sprint(c.ratings)
			for seat, got := range Update(c.ratings, c.places, 32) {
				printed(t, fmt.Sprintf("seat %d", seat), got, c.want[seat])
			}
			if after := fmt.Sprint(c.ratings); after != before {
				t.Errorf("Update changed its argument from %s to %s", before, after)
			}
		})
	}
}

// fourBots are wins, draws and losses of the first against the second.
func fourBots(t testing.TB) Games {
	var text strings.Builder
	for _, meeting := range []struct {
		pair              string
		wins, draws, lost int
	}{
		{"AB", 6, 1, 3}, {"AC", 5, 2, 3}, {"AD", 8, 0, 2}, {"BC", 4, 3, 3}, {"BD", 6, 2, 2}, {"CD", 5, 1, 4},
	} {
		first, second := meeting.pair[:1], meeting.pair[1:]
		text.WriteString(strings.Repeat(first+"=1 "+second+"=2\n", meeting.wins))
		text.WriteString(strings.Repeat(first+"=1 "+second+"=1\n", meeting.draws))
		text.WriteString(strings.Repeat(first+"=2 "+second+"=1\n", meeting.lost))
	}
	return read(t, text.String())
}

func TestFitStrengths(t *testing.T) {
	theta := func(r Row) float64 { return r.Theta }
	elo := func(r Row) float64 { return r.Elo }
	for _, c := range []struct {
		name  string
		games Games
		prior float64
		value func(Row) float64
		want  map[string]string
	}{
		{"choix", read(t, "0=1 1=2\n0=1 1=2\n1=1 2=2\n2=1 0=2"), 0, theta,
			map[string]string{"0": "0.419617624", "1": "-0.419617624", "2": "0.000000000"}},
		{"a cycle", read(t, "0=1 1=2\n1=1 2=2\n2=1 0=2"), 0, theta,
			map[string]string{"0": "0.000000000", "1": "0.000000000", "2": "0.000000000"}},
		{"four bots", fourBots(t), 0, elo,
			map[string]string{"A": "102.2894", "B": "18.1538", "C": "-18.1538", "D": "-102.2894"}},
		// The ghost at the mean draws all towards it: +-99.3415 and +-17.6504 are the ratings themselves.
		{"four bots and the ghost", fourBots(t), DefaultPrior, elo,
			map[string]string{"A": "99.3415", "B": "17.6504", "C": "-17.6504", "D": "-99.3415"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := fit(t, c.games, c.prior)
			for name, want := range c.want {
				printed(t, name, c.value(named(t, table, name)), want)
			}
		})
	}
}

const threeClusters = `
@cluster
A=1 B=2 C=3
A=3 B=1 C=2
A=1 B=3 C=2
@cluster
A=2 B=1 C=3
A=1 B=1 C=3
A=3 B=2 C=1
@cluster
A=1 B=2 C=3
A=2 B=3 C=1
A=1 B=2 C=3
`

func TestFitErrors(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string
		robust [3]string // of A, B, C
	}{
		{"three clusters", threeClusters, [3]string{"60.386417", "58.338647", "2.047770"}},
		{"each game its own cluster", strings.ReplaceAll(threeClusters, "@cluster", ""), [3]string{"71.662186", "58.923714", "75.978740"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			table := fit(t, read(t, c.text), 0)
			for i, name := range []string{"A", "B", "C"} {
				row := named(t, table, name)
				printed(t, name+" Elo", row.Elo, [3]string{"67.264133", "13.473807", "-80.737940"}[i])
				printed(t, name+" naive error", row.Naive, [3]string{"57.366056", "55.925329", "58.084184"}[i])
				printed(t, name+" robust error", row.Robust, c.robust[i])
			}
		})
	}
}

// Among equals a game tells each of its m players 3(m-1)/(4(m+1)) about the distance to the others' mean.
func TestInformationOfAGame(t *testing.T) {
	for m, want := range map[int]string{2: "0.25", 3: "0.375", 4: "0.45", 5: "0.5", 6: "0.536"} {
		games := Games{Names: make([]string, m), List: []Game{{Players: make([]int, m), Places: make([]int, m)}}}
		for i := range m {
			games.Names[i], games.List[0].Players[i] = strconv.Itoa(i), i
		}
		equal := make([]float64, m)
		model := newModel(games, 0)
		// The frame's stiffness is no information: what is left of the diagonal is.
		information := model.information(equal, pairWeight)
		frame := math.Abs(information.At(0, 0) + float64(m-1)*information.At(0, 1))
		printed(t, fmt.Sprintf("m = %d", m), information.At(0, 0)-frame/float64(m), want)
		naive := model.information(equal, func(int) float64 { return 1 })
		frame = math.Abs(naive.At(0, 0) + float64(m-1)*naive.At(0, 1))
		printed(t, fmt.Sprintf("m = %d, naive", m), naive.At(0, 0)-frame/float64(m), strconv.FormatFloat(float64(m-1)/4, 'f', 3, 64))
	}
}
