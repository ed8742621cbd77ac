package web

import (
	"context"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
)

// nightView is the page of a tournament.
type nightView struct {
	Title      string      `json:"-"`
	ID         int64       `json:"id"`
	Name       string      `json:"name"`
	League     string      `json:"league"`
	State      string      `json:"state"`
	Why        string      `json:"why,omitempty"`
	Unrated    string      `json:"unrated,omitempty"` // why it is not rated
	Round      int         `json:"pairing_round"`
	Rounds     int         `json:"pairing_rounds"`
	StartAt    time.Time   `json:"start_at,omitzero"`
	Ends       time.Time   `json:"expected_end,omitzero"`
	Conclusion string      `json:"conclusion,omitempty"`
	Commitment string      `json:"commitment,omitempty"`
	Secret     string      `json:"secret,omitempty"`
	Standings  []standing  `json:"standings"`
	Missing    []string    `json:"missing,omitempty"` // entered, and not connected
	Pairings   []pairing   `json:"pairings"`          // the newest first
	Cross      *crosstable `json:"crosstable,omitempty"`
	Live       string      `json:"-"`
	over       bool
}

func (n nightView) lasts() bool { return n.over }

// Over reports whether nothing will change any more.
func (n nightView) Over() bool { return n.over }

// standing is a line of the standings.
type standing struct {
	Rank      int     `json:"rank"` // 0: outside the ranks
	Bot       string  `json:"bot"`
	Build     string  `json:"build,omitempty"`
	Owner     string  `json:"owner,omitempty"`
	House     bool    `json:"house,omitempty"`
	State     string  `json:"state,omitempty"` // if it does not play any more
	Score     float64 `json:"score"`
	Placement float64 `json:"placement"`
	Margin    float64 `json:"margin,omitempty"` // half of the 95 % interval of placement; 0: nothing can be said
	Firsts    float64 `json:"first_places"`
	Points    float64 `json:"points"`
	Games     int     `json:"games"`
	Faults    []count `json:"faults,omitempty"`
	Slips     int     `json:"slips,omitempty"`
}

// AllFaults is the number of faults of every cause.
func (s standing) AllFaults() (all int) {
	for _, f := range s.Faults {
		all += f.N
	}
	return all
}

// count is how often something happened.
type count struct {
	What string `json:"what"`
	N    int    `json:"n"`
}

// pairing is a pairing round.
type pairing struct {
	Round   int         `json:"pairing_round"`
	Missing []string    `json:"missing,omitempty"`
	Why     []string    `json:"why,omitempty"` // in words, a line for each table and one for all
	Tables  []tableView `json:"tables"`
}

// tableView is a table of a pairing round.
type tableView struct {
	Table int         `json:"table"`
	State string      `json:"state"`
	Why   string      `json:"why,omitempty"`
	Bots  []seated    `json:"bots"`
	Games []gameEntry `json:"games"`
	Of    int         `json:"of"`
}

// seated is a bot at a table, with what it scored there so far.
type seated struct {
	Bot       string  `json:"bot"`
	Placement float64 `json:"placement"`
	Points    float64 `json:"points"`
}

// gameEntry is a game of a table that there is something to see of.
type gameEntry struct {
	Game    int    `json:"game"`
	Running bool   `json:"running,omitempty"`
	Path    string `json:"path"`
}

// tournament is the page of a tournament.
func (p *Pages) tournament(ctx context.Context, r *http.Request) (view, error) {
	id, err := number(r, "tournament")
	if err != nil {
		return nil, err
	}
	return p.night(ctx, int64(id))
}

func (p *Pages) night(ctx context.Context, id int64) (*nightView, error) {
	t, err := p.Arena.Tournament(ctx, id)
	if err != nil {
		return nil, err
	}
	if t.State == arena.Draft {
		return nil, missing("Tournament %d is still a draft.", id)
	}
	n := &nightView{Title: t.Settings.Name, ID: t.ID, Name: t.Settings.Name, League: t.Settings.League, State: t.State.String(), Why: t.Why,
		Rounds: t.Settings.Rounds, Round: len(t.Rounds), StartAt: t.StartAt, Ends: p.Ends(t), over: t.State.Over()}
	commitment := t.Commitment()
	n.Commitment = hex.EncodeToString(commitment[:])
	if n.over {
		n.Secret = hex.EncodeToString(t.Secret[:])
		n.Unrated = t.Unrated()
	} else {
		n.Live = fmt.Sprintf("/t/%d/live", t.ID)
	}
	if n.Conclusion, err = p.Conclusion(ctx, t); err != nil {
		return nil, err
	}
	if n.Standings, err = p.standings(ctx, t); err != nil {
		return nil, err
	}
	n.Missing = p.missing(t)
	for _, round := range slices.Backward(t.Rounds) {
		shown, err := p.pairing(ctx, t, round)
		if err != nil {
			return nil, err
		}
		n.Pairings = append(n.Pairings, shown)
	}
	n.Cross = cross(t, n.Standings)
	return n, nil
}

// missing are the bots that have entered and are not there.
func (p *Pages) missing(t *arena.Tournament) (names []string) {
	if t.State.Over() {
		return nil
	}
	for _, e := range t.Entries {
		if e.State == arena.Entered && strings.HasPrefix(e.Player, "bot:") && !p.Present(e.Name) {
			names = append(names, e.Name)
		}
	}
	return names
}

// faultNames are the causes of faults as they are shown, in order.
var faultNames = []struct {
	cause game.Cause
	name  string
}{{game.TimedOut, "timed out"}, {game.Disconnected, "disconnected"}, {game.Illegal, "illegal"}, {game.Passed, "passed"}}

func (p *Pages) standings(ctx context.Context, t *arena.Tournament) ([]standing, error) {
	ranked, err := t.Standings()
	if err != nil {
		return nil, err
	}
	placements := t.Placements()
	lines := make([]standing, len(ranked))
	for i, s := range ranked {
		e := s.Entry
		score, _ := s.Score.Float64()
		line := standing{Rank: s.Rank, Bot: e.Name, Build: e.Build, Owner: e.Owner, House: strings.HasPrefix(e.Player, "house:"), Score: score, Games: s.Games}
		if e.State != arena.Entered {
			line.State = e.State.String()
		}
		if s.Games > 0 {
			line.Firsts, _ = s.Firsts.Float64()
			line.Points, _ = s.Points.Float64()
			line.Placement = placements[e.Number-1].Mean
			if m := placements[e.Number-1].Margin; m < 1 {
				line.Margin = m
			}
		}
		lines[i] = line
	}
	err = p.Tally(ctx, t, func(tally *arena.Tally) error {
		for i, s := range ranked {
			if s.Entry.Number > len(tally.Stats) {
				continue
			}
			stats := &tally.Stats[s.Entry.Number-1]
			for _, f := range faultNames {
				if n := stats.Faults[f.cause]; n > 0 {
					lines[i].Faults = append(lines[i].Faults, count{f.name, n})
				}
			}
			lines[i].Slips = stats.Slips
		}
		return nil
	})
	return lines, err
}

func (p *Pages) pairing(ctx context.Context, t *arena.Tournament, r arena.Round) (pairing, error) {
	shown := pairing{Round: r.Number, Missing: names(t, r.Missing)}
	var err error
	if shown.Why, err = p.Explain(ctx, t, r.Number); err != nil {
		return shown, err
	}
	running := map[arena.GameID]bool{}
	for _, id := range p.Watch.Running(t.ID) {
		running[id] = true
	}
	for _, tab := range r.Tables {
		tv := tableView{Table: tab.Number, State: tab.State.String(), Why: tab.Why, Of: len(tab.Bots) * t.Settings.Rotations}
		sums := make([]float64, len(t.Entries)+1)
		points := make([]int, len(t.Entries)+1)
		ended := map[int]bool{}
		for _, g := range tab.Games {
			ended[g.Number] = true
			for seat, number := range g.Seats {
				sums[number] += arena.PlacementOf(g.Result.Places, seat)
				points[number] += g.Result.Totals[seat]
			}
		}
		for number := 1; number <= tv.Of; number++ {
			id := arena.GameID{Tournament: t.ID, Round: r.Number, Table: tab.Number, Number: number}
			if ended[number] || running[id] {
				tv.Games = append(tv.Games, gameEntry{number, !ended[number], fmt.Sprintf("/g/%d/%d/%d/%d", t.ID, r.Number, tab.Number, number)})
			}
		}
		for _, number := range tab.Bots {
			s := seated{Bot: t.Entries[number-1].Name}
			if n := float64(len(tab.Games)); n > 0 {
				s.Placement, s.Points = sums[number]/n, float64(points[number])/n
			}
			tv.Bots = append(tv.Bots, s)
		}
		slices.SortStableFunc(tv.Bots, func(a, b seated) int { return cmpDown(a.Placement, b.Placement) })
		shown.Tables = append(shown.Tables, tv)
	}
	return shown, nil
}

func cmpDown(a, b float64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

// crosstable says who finished above whom: in the row of a bot, how often it came before the bot of the column.
type crosstable struct {
	Bots []string    `json:"bots"`
	Rows [][]meeting `json:"rows"`
}

// meeting is how two bots did against each other, as the first of them sees it.
type meeting struct {
	Games int `json:"games"`
	Above int `json:"above"`
	Tied  int `json:"tied"`
}

// Share is the share of games in which the first came before the second, those tied half.
func (m meeting) Share() int { return (200*m.Above + 100*m.Tied + m.Games) / (2 * m.Games) }

// cross is the crosstable in the order of the standings.
func cross(t *arena.Tournament, standings []standing) *crosstable {
	c := &crosstable{Rows: make([][]meeting, len(standings))}
	row := map[string]int{}
	for i, s := range standings {
		c.Bots = append(c.Bots, s.Bot)
		c.Rows[i] = make([]meeting, len(standings))
		row[s.Bot] = i
	}
	games := 0
	for _, r := range t.Rounds {
		for _, tab := range r.Tables {
			if tab.State == arena.Void {
				continue
			}
			for _, g := range tab.Games {
				games++
				for one, number := range g.Seats {
					for other, opponent := range g.Seats {
						i, there := row[t.Entries[number-1].Name]
						j, too := row[t.Entries[opponent-1].Name]
						if !there || !too || one == other {
							continue
						}
						m := &c.Rows[i][j]
						m.Games++
						switch places := g.Result.Places; {
						case places[one] < places[other]:
							m.Above++
						case places[one] == places[other]:
							m.Tied++
						}
					}
				}
			}
		}
	}
	if games == 0 {
		return nil
	}
	return c
}

// tournamentSource is a tournament as it goes on.
func (p *Pages) tournamentSource(r *http.Request) (source, error) {
	id, err := number(r, "tournament")
	if err != nil {
		return source{}, err
	}
	if _, err := p.night(r.Context(), int64(id)); err != nil {
		return source{}, err
	}
	return source{key: r.URL.Path, parts: []string{"head", "standings", "pairings", "cross"}, pause: 500 * time.Millisecond,
		changed: func() <-chan struct{} { return p.Watch.Changed(int64(id)) },
		find:    func(ctx context.Context) (view, error) { return p.night(ctx, int64(id)) }}, nil
}

// results sends the exported results of a tournament that is over.
func (p *Pages) results(w http.ResponseWriter, r *http.Request) {
	id, err := number(r, "tournament")
	if err == nil {
		var t *arena.Tournament
		if t, err = p.Arena.Tournament(r.Context(), int64(id)); err == nil && !t.State.Over() {
			err = &wrong{http.StatusConflict, "The results are here when the tournament is over: they hold its secret."}
		}
	}
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="tournament-%d.jsonl"`, id))
	if err := p.Arena.ExportResults(r.Context(), int64(id), w); err != nil && r.Context().Err() == nil {
		p.Log.Error("export", "tournament", id, "error", err)
		panic(http.ErrAbortHandler) // so that nobody takes half of it for the whole
	}
}

// standingColumns are the columns of the standings that are downloaded.
var standingColumns = []string{"rank", "bot", "build", "owner", "score", "placement", "margin95", "first_places", "points", "games", "faults"}

func (s standing) cells() []string {
	decimals := func(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }
	rank, margin := "", ""
	if s.Rank > 0 {
		rank = strconv.Itoa(s.Rank)
	}
	if s.Margin > 0 {
		margin = decimals(s.Margin, 4)
	}
	return []string{rank, s.Bot, s.Build, s.Owner, decimals(s.Score, 4), decimals(s.Placement, 4), margin, decimals(s.Firsts, 4), decimals(s.Points, 2),
		strconv.Itoa(s.Games), strconv.Itoa(s.AllFaults())}
}

// standingsCSV sends the standings as CSV.
func (p *Pages) standingsCSV(w http.ResponseWriter, r *http.Request) {
	p.download(w, r, "text/csv; charset=utf-8", func(out *strings.Builder, lines []standing) {
		table := csv.NewWriter(out)
		_ = table.Write(standingColumns)
		for _, line := range lines {
			_ = table.Write(line.cells())
		}
		table.Flush()
	})
}

// standingsMarkdown sends the standings as a table in Markdown.
func (p *Pages) standingsMarkdown(w http.ResponseWriter, r *http.Request) {
	escape := strings.NewReplacer("|", `\|`)
	p.download(w, r, "text/markdown; charset=utf-8", func(out *strings.Builder, lines []standing) {
		fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(standingColumns, " | "), strings.Repeat(" --- |", len(standingColumns)))
		for _, line := range lines {
			cells := line.cells()
			for i := range cells {
				cells[i] = escape.Replace(cells[i])
			}
			fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
		}
	})
}

func (p *Pages) download(w http.ResponseWriter, r *http.Request, contentType string, write func(*strings.Builder, []standing)) {
	shown, err := p.tournament(r.Context(), r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	var out strings.Builder
	write(&out, shown.(*nightView).Standings)
	answer(w, r, contentType, []byte(out.String()), shown.lasts())
}
