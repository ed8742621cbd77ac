package rating

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Game is one result: who played and who came where.
type Game struct {
	Players []int // indices into Games.Names, one a seat; a name may hold several seats, whose mutual pairs count nothing
	Places  []int // the place of each seat, the least is the best, equal ones tied; only their order matters
	Cluster int   // games with the same number belong together; any numbers will do
}

// Games are the results that feed one table.
type Games struct {
	Names []string // of the bots, each once
	List  []Game
}

// ErrNoGames says that a result file holds comments at the most.
var ErrNoGames = errors.New("no games: want at least one line such as A=1 B=2 C=2")

// LineError says what is wrong with which line of a result file.
type LineError struct {
	Line int // from 1
	Err  error
}

func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns what was wrong.
func (e *LineError) Unwrap() error { return e.Err }

// maxLine bounds a line of a result file: 36 seats of long names are some kilobytes.
const maxLine = 1 << 16

// ReadGames reads a result file: a line a game, as in "A=1 B=2 C=2" (name=place, the least is the best, equal places
// are a tie). What follows a field that begins with # is a comment. A line "@cluster" begins a cluster, to which the
// games up to the next one belong; each game before the first is a cluster of its own.
//
// What is wrong with the file is told as a [*LineError], or as [ErrNoGames].
func ReadGames(r io.Reader) (Games, error) {
	var games Games
	index := map[string]int{}
	clusters, marked := 0, false
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	line := 0
	for lines.Scan() {
		line++
		fields := withoutComment(strings.Fields(lines.Text()))
		if len(fields) == 0 {
			continue
		}
		if strings.HasPrefix(fields[0], "@") {
			if len(fields) > 1 || fields[0] != "@cluster" {
				return Games{}, &LineError{line, fmt.Errorf("%q is no mark: want @cluster alone on its line", strings.Join(fields, " "))}
			}
			clusters, marked = clusters+1, true
			continue
		}
		names, places, err := parseGame(fields)
		if err != nil {
			return Games{}, &LineError{line, err}
		}
		game := Game{Players: make([]int, len(names)), Places: places, Cluster: clusters}
		for seat, name := range names {
			bot, known := index[name]
			if !known {
				bot = len(games.Names)
				index[name] = bot
				games.Names = append(games.Names, name)
			}
			game.Players[seat] = bot
		}
		games.List = append(games.List, game)
		if !marked {
			clusters++
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return Games{}, &LineError{line + 1, fmt.Errorf("longer than %d bytes", maxLine)}
	case err != nil:
		return Games{}, fmt.Errorf("read games: %w", err)
	case len(games.List) == 0:
		return Games{}, ErrNoGames
	}
	return games, nil
}

func withoutComment(fields []string) []string {
	if i := slices.IndexFunc(fields, func(f string) bool { return f[0] == '#' }); i >= 0 {
		return fields[:i]
	}
	return fields
}

func parseGame(fields []string) (names []string, places []int, err error) {
	for _, field := range fields {
		// The last = parts name and place, so a name may hold one.
		cut := strings.LastIndexByte(field, '=')
		if cut <= 0 {
			return nil, nil, fmt.Errorf("%q is not name=place", field)
		}
		name := field[:cut]
		if !printable(name) {
			return nil, nil, fmt.Errorf("name %q: want printable UTF-8 that does not begin with @", name)
		}
		if slices.Contains(names, name) {
			return nil, nil, fmt.Errorf("%q plays twice: want each name once", name)
		}
		place, err := strconv.ParseUint(field[cut+1:], 10, 31)
		if err != nil || place == 0 {
			return nil, nil, fmt.Errorf("place %q of %q: want a whole number from 1", field[cut+1:], name)
		}
		names, places = append(names, name), append(places, int(place))
	}
	if len(names) < 2 {
		return nil, nil, fmt.Errorf("%q plays alone: want two players or more", names[0])
	}
	return names, places, nil
}

func printable(name string) bool {
	return utf8.ValidString(name) && name[0] != '@' && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}
