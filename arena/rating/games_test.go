package rating

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestReadGames(t *testing.T) {
	games := read(t, `# the first night
A=1 B=2
C=2 A=1  B=2   # two tied
@cluster
A=12 x=y=3
B=1 A=1

@cluster
@cluster # nobody came to the one before
B=2 C=1
`)
	if want := []string{"A", "B", "C", "x=y"}; !slices.Equal(games.Names, want) {
		t.Errorf("names: got %q, want %q", games.Names, want)
	}
	want := "[{[0 1] [1 2] 0} {[2 0 1] [2 1 2] 1} {[0 3] [12 3] 3} {[1 0] [1 1] 3} {[1 2] [2 1] 5}]"
	if got := fmt.Sprint(games.List); got != want {
		t.Errorf("games:\n got %s\nwant %s", got, want)
	}
}

func TestReadGamesSaysWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"nothing", "", "no games: want at least one line such as A=1 B=2 C=2"},
		{"comments only", "# A=1 B=2\n", "no games: want at least one line such as A=1 B=2 C=2"},
		{"no place", "A=1 B=2\n\nA B=2", `line 3: "A" is not name=place`},
		{"no name", "=1 B=2", `line 1: "=1" is not name=place`},
		{"place in words", "A=1 B=second", `line 1: place "second" of "B": want a whole number from 1`},
		{"place zero", "A=0 B=1", `line 1: place "0" of "A": want a whole number from 1`},
		{"negative place", "A=-1 B=1", `line 1: place "-1" of "A": want a whole number from 1`},
		{"fraction", "A=1.5 B=1", `line 1: place "1.5" of "A": want a whole number from 1`},
		{"place beyond counting", "A=99999999999999999999 B=1", `line 1: place "99999999999999999999" of "A": want a whole number from 1`},
		{"a name twice", "A=1 B=2 A=3", `line 1: "A" plays twice: want each name once`},
		{"one player", "# so lonely\nA=1", `line 2: "A" plays alone: want two players or more`},
		{"an unknown mark", "@rotation", `line 1: "@rotation" is no mark: want @cluster alone on its line`},
		{"a mark with a game", "@cluster A=1 B=2", `line 1: "@cluster A=1 B=2" is no mark: want @cluster alone on its line`},
		{"a mark within a game", "A=1 @B=2", `line 1: name "@B": want printable UTF-8 that does not begin with @`},
		{"a control character", "A=1 B\x1b[31m=2", `line 1: name "B\x1b[31m": want printable UTF-8 that does not begin with @`},
		{"not UTF-8", "A=1 \xff=2", `line 1: name "\xff": want printable UTF-8 that does not begin with @`},
		{"an endless line", "A=1 B=2\n" + strings.Repeat("x", maxLine+1), "line 2: longer than 65536 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadGames(strings.NewReader(c.text))
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
}

func TestReadGamesPassesOnReadErrors(t *testing.T) {
	broken := errors.New("disk on fire")
	if _, err := ReadGames(failing{broken}); !errors.Is(err, broken) {
		t.Errorf("got %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// For every input: either an error that names a line, or games that read the same when written again and that the prior
// gives finite ratings.
func FuzzReadGames(f *testing.F) {
	f.Add("A=1 B=2 C=2\n@cluster\nB=1 A=1 # tied\n")
	f.Add("@cluster\r\nx=y=1 é=3\r\n")
	f.Add("A=1 B=0")
	f.Fuzz(func(t *testing.T, text string) {
		games, err := ReadGames(strings.NewReader(text))
		if err != nil {
			if line, ok := errors.AsType[*LineError](err); ok && line.Line < 1 || !ok && err != ErrNoGames {
				t.Fatalf("error without a line: %v", err)
			}
			return
		}
		if len(games.Names) < 50 {
			for _, row := range fit(t, games, DefaultPrior).Rows {
				if math.IsNaN(row.Elo) || math.Abs(row.Elo) > 1e5 || math.IsNaN(row.Robust) || !(row.Naive > 0) {
					t.Fatalf("got %+v, want a rating", row)
				}
			}
		}
		var again strings.Builder
		for _, game := range games.List {
			again.WriteString("@cluster\n")
			for seat, bot := range game.Players {
				fmt.Fprintf(&again, "%s=%d ", games.Names[bot], game.Places[seat])
			}
			again.WriteString("\n")
		}
		if again.Len() > maxLine {
			return
		}
		second := read(t, again.String())
		if !slices.Equal(second.Names, games.Names) || len(second.List) != len(games.List) {
			t.Fatalf("written and read again: got %v, want %v", second, games)
		}
		for i, game := range second.List {
			if !slices.Equal(game.Players, games.List[i].Players) || !slices.Equal(game.Places, games.List[i].Places) {
				t.Fatalf("game %d written and read again: got %v, want %v", i, game, games.List[i])
			}
		}
	})
}
