package web

import (
	"cmp"
	"context"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
)

// nightView is a tournament as it stands: what the first page and the screen show of it.
type nightView struct {
	Title      string     `json:"-"`
	ID         int64      `json:"id"`
	Name       string     `json:"name"`
	League     string     `json:"league"`
	State      string     `json:"state"`
	Says       string     `json:"says,omitempty"`    // what its state means, and why it is in it
	Unrated    string     `json:"unrated,omitempty"` // why it is not rated
	Round      int        `json:"pairing_round"`
	Rounds     int        `json:"pairing_rounds"`
	StartAt    time.Time  `json:"start_at,omitzero"`
	Ends       time.Time  `json:"expected_end,omitzero"`
	CheckIn    string     `json:"checkin"`
	Conclusion string     `json:"conclusion,omitempty"`
	Standings  []standing `json:"standings"`
	Missing    []string   `json:"missing,omitempty"` // entered, and not connected
	Final      *finalView `json:"final,omitempty"`
	over       bool
}

func (n nightView) lasts() bool { return n.over }

// Over reports whether nothing will change any more.
func (n nightView) Over() bool { return n.over }

// Leads says in a few words how it stands, for those who hear the page.
func (n nightView) Leads() string {
	if n.Round == 0 || len(n.Standings) == 0 {
		return n.Name + " is " + n.State + "."
	}
	where := fmt.Sprintf("Pairing round %d of %d", n.Round, n.Rounds)
	if n.Final != nil {
		where = "Final table, " + plural(n.Final.Games, "game", "games")
	}
	return fmt.Sprintf("%s: %s leads.", where, n.Standings[0].Bot)
}

// tournamentView is the page of a tournament.
type tournamentView struct {
	nightView
	Commitment string    `json:"commitment,omitempty"`
	Secret     string    `json:"secret,omitempty"`
	Pairings   []pairing `json:"pairings"` // the newest first, without the legs of the final table
	Live       string    `json:"-"`
}

// Newest are the pairing rounds that move: one at the most.
func (t tournamentView) Newest() []pairing { return t.Pairings[:min(1, len(t.Pairings))] }

// Earlier are those that are over.
func (t tournamentView) Earlier() []pairing { return t.Pairings[min(1, len(t.Pairings)):] }

// standing is a line of the standings.
type standing struct {
	Rank      int      `json:"rank"` // 0: outside the ranks
	Bot       string   `json:"bot"`
	Build     string   `json:"build,omitempty"`
	Owner     string   `json:"owner,omitempty"`
	House     bool     `json:"house,omitempty"`
	State     string   `json:"state,omitempty"` // if it does not play any more
	Score     float64  `json:"score"`
	Placement float64  `json:"placement"`
	Margin    float64  `json:"margin,omitempty"`        // half of the 95 % interval of placement; 0: nothing can be said
	Final     *float64 `json:"final,omitempty"`         // placement at the final table; absent for who was not there
	Alike     bool     `json:"like_the_next,omitempty"` // cannot be told apart from the line below
	Firsts    float64  `json:"first_places"`
	Points    float64  `json:"points"`
	Games     int      `json:"games"`
	Faults    []count  `json:"faults,omitempty"`
	Slips     int      `json:"slips,omitempty"`
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

// pairing is a pairing round, or a leg of the final table.
type pairing struct {
	Round   int         `json:"pairing_round"`
	Name    string      `json:"name"`
	Path    string      `json:"path"`
	Missing []string    `json:"missing,omitempty"`
	Why     []string    `json:"why,omitempty"` // in words, a line for each table and one for all
	Tables  []tableView `json:"tables"`
}

// roundName is what a pairing round is called.
func roundName(t *arena.Tournament, round int) string {
	if t.Settings.Leg(round) {
		return fmt.Sprintf("Final table, leg %d", round-t.Settings.Rounds)
	}
	return fmt.Sprintf("Pairing round %d", round)
}

// tableView is a table of a pairing round.
type tableView struct {
	Table int         `json:"table"`
	State string      `json:"state"`
	Why   string      `json:"why,omitempty"`
	Bots  []seated    `json:"bots"`
	Games []gameEntry `json:"games"`
	Ended int         `json:"games_finished"`
	Of    int         `json:"of"`
}

// gamesListed is how many games of a table the page of a tournament lists; all of them are on that of the pairing round.
const gamesListed = 24

// Newest are the last of its games.
func (t tableView) Newest() []gameEntry { return t.Games[max(0, len(t.Games)-gamesListed):] }

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
	return p.tournamentPage(ctx, int64(id))
}

// shown is a tournament that spectators may see.
func (p *Pages) shown(ctx context.Context, id int64) (*arena.Tournament, error) {
	if t, known := p.past.find(id); known {
		return t, nil
	}
	t, err := p.Arena.Tournament(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case t.State == arena.Draft:
		return nil, missing("Tournament %d is still a draft.", id)
	case settled(t, time.Now()):
		p.past.keep(t)
	}
	return t, nil
}

// named is the tournament that an address names.
func (p *Pages) named(ctx context.Context, r *http.Request) (*arena.Tournament, error) {
	id, err := number(r, "tournament")
	if err != nil {
		return nil, err
	}
	return p.shown(ctx, int64(id))
}

func (p *Pages) tournamentPage(ctx context.Context, id int64) (*tournamentView, error) {
	t, err := p.shown(ctx, id)
	if err != nil {
		return nil, err
	}
	night, err := p.night(ctx, t)
	if err != nil {
		return nil, err
	}
	shown := &tournamentView{nightView: *night, Pairings: []pairing{}}
	commitment := t.Commitment()
	shown.Commitment = hex.EncodeToString(commitment[:])
	if shown.over {
		shown.Secret = hex.EncodeToString(t.Secret[:])
	} else {
		shown.Live = fmt.Sprintf("/t/%d/live", t.ID)
	}
	for _, round := range slices.Backward(t.Rounds[:shown.Round]) {
		pairing, err := p.pairing(ctx, t, round)
		if err != nil {
			return nil, err
		}
		shown.Pairings = append(shown.Pairings, pairing)
	}
	if shown.Final != nil {
		if shown.Final.Leg, err = p.pairing(ctx, t, t.Rounds[len(t.Rounds)-1]); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

func (p *Pages) night(ctx context.Context, t *arena.Tournament) (*nightView, error) {
	n := &nightView{Title: t.Settings.Name, ID: t.ID, Name: t.Settings.Name, League: t.Settings.League, State: t.State.String(),
		Rounds: t.Settings.Rounds, Round: min(len(t.Rounds), t.Settings.Rounds), StartAt: t.StartAt, Ends: p.Ends(t),
		CheckIn: short(t.Settings.CheckIn), over: t.State.Over()}
	if n.over {
		n.Unrated = t.Unrated()
	}
	why, err := p.Why(ctx, t)
	if err != nil {
		return nil, err
	}
	n.Says = stateSays(t.State, why)
	if n.Conclusion, err = p.Conclusion(ctx, t); err != nil {
		return nil, err
	}
	if n.Standings, err = p.standings(ctx, t); err != nil {
		return nil, err
	}
	n.Missing = p.missing(t)
	n.Final = finalOf(t)
	return n, nil
}

// stateSays is what a state means for those who wait, and why a tournament is in it.
func stateSays(state arena.State, why string) string {
	means := map[arena.State]string{
		arena.Paused:    "It ends the tables that run, and then waits for the organiser",
		arena.Held:      "It stands still, for a reason that is the arena's and no bot's, and goes on by itself",
		arena.Cancelled: "It was broken off; nothing of it is rated",
	}[state]
	switch {
	case means == "":
		return ""
	case why == "":
		return means + "."
	}
	return means + ": " + why + "."
}

// finalView is a final table as it stands.
type finalView struct {
	Bots      []finalist `json:"bots"`  // the first one first
	Games     int        `json:"games"` // that count
	Rotations int        `json:"rotations"`
	Says      string     `json:"says"` // whether it is decided
	Legs      []leg      `json:"legs"`
	Leg       pairing    `json:"-"` // the newest
}

// finalist is a bot at a final table.
type finalist struct {
	Bot       string   `json:"bot"`
	Placement float64  `json:"placement"`
	Lead      float64  `json:"lead"`             // over the next
	Margin    *float64 `json:"margin,omitempty"` // half of the 95 % interval of Lead
}

// leg is a part of a final table that has a page of its own.
type leg struct {
	Number int    `json:"leg"`
	Path   string `json:"path"`
}

// finalOf is the final table of a tournament, nil if none was seated.
func finalOf(t *arena.Tournament) *finalView {
	f := t.Final()
	if f == nil {
		return nil
	}
	shown := &finalView{Games: f.Games, Rotations: f.Rotations(), Says: "no leg of it that counts is over yet"}
	for _, round := range t.Rounds[t.Settings.Rounds:] {
		shown.Legs = append(shown.Legs, leg{round.Number - t.Settings.Rounds, roundPath(t.ID, round.Number)})
	}
	bots := namesOf(t, f.Bots)
	if f.Games > 0 {
		shown.Says = f.Decision().Sentence(bots, len(bots))
	}
	order := make([]int, len(bots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return f.Halves[b] - f.Halves[a] })
	for i, at := range order {
		line := finalist{Bot: bots[at]}
		if f.Games > 0 {
			line.Placement, _ = f.Placement(at).Float64()
			if i+1 < len(order) {
				lead, margin := f.Lead(at, order[i+1])
				line.Lead, line.Margin = lead, finite(margin)
			}
		}
		shown.Bots = append(shown.Bots, line)
	}
	return shown
}

// roundView is the page of a pairing round, or of a leg of the final table.
type roundView struct {
	Title      string  `json:"-"`
	Tournament int64   `json:"tournament"`
	Night      string  `json:"name"`
	Pairing    pairing `json:"pairing"`
	over       bool
}

func (r roundView) lasts() bool { return r.over }

func roundPath(tournament int64, round int) string {
	return fmt.Sprintf("/t/%d/r/%d", tournament, round)
}

// round is the page of a pairing round.
func (p *Pages) round(ctx context.Context, r *http.Request) (view, error) {
	t, err := p.named(ctx, r)
	if err != nil {
		return nil, err
	}
	n, err := number(r, "round")
	if err != nil {
		return nil, err
	}
	if n > len(t.Rounds) {
		return nil, missing("Pairing round %d is not paired.", n)
	}
	shown, err := p.pairing(ctx, t, t.Rounds[n-1])
	return &roundView{shown.Name, t.ID, t.Settings.Name, shown, t.State.Over()}, err
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
			if at := placements[e.Number-1]; at.Games > 0 {
				line.Placement = at.Mean
				if at.Margin < 1 {
					line.Margin = at.Margin
				}
			}
		}
		if s.Final != nil {
			placement, _ := s.Final.Float64()
			line.Final = &placement
		}
		lines[i] = line
	}
	for i, like := range t.Alike(ranked) {
		if like {
			lines[i-1].Alike = true
		}
	}
	err = p.Tally(ctx, t, func(tally *arena.Tally) error {
		for i, s := range ranked {
			if s.Entry.Number > len(tally.Stats) {
				continue
			}
			stats := &tally.Stats[s.Entry.Number-1]
			lines[i].Faults, lines[i].Slips = faultsOf(s.Entry.State == arena.Kicked, stats), stats.Slips
		}
		return nil
	})
	return lines, err
}

// faultsOf are faults by cause, those that there were; kicked says whether who made them was kicked out.
func faultsOf(kicked bool, stats *arena.Stats) []count {
	faults := []count{}
	for _, f := range faultNames {
		name := f.name
		if f.cause == game.Disconnected && kicked {
			name += " or kicked out" // who is kicked out in mid-game is not asked any more
		}
		if n := stats.Faults[f.cause]; n > 0 {
			faults = append(faults, count{name, n})
		}
	}
	return faults
}

func (p *Pages) pairing(ctx context.Context, t *arena.Tournament, r arena.Round) (pairing, error) {
	shown := pairing{Round: r.Number, Name: roundName(t, r.Number), Path: roundPath(t.ID, r.Number), Missing: namesOf(t, r.Missing), Tables: []tableView{}}
	var err error
	if shown.Why, err = p.Explain(ctx, t, r.Number); err != nil {
		return shown, err
	}
	running := map[arena.GameID]bool{}
	for _, id := range p.Watch.Running(t.ID) {
		running[id] = true
	}
	for _, tab := range r.Tables {
		tv := tableView{Table: tab.Number, State: tab.State.String(), Why: tab.Why, Ended: len(tab.Games), Of: t.Settings.Games(r.Number, len(tab.Bots))}
		if t.State == arena.Cancelled && (tab.State == arena.Waiting || tab.State == arena.Playing) {
			tv.State = "broken off"
		}
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
		slices.SortStableFunc(tv.Bots, func(a, b seated) int { return cmp.Compare(b.Placement, a.Placement) })
		shown.Tables = append(shown.Tables, tv)
	}
	return shown, nil
}

// tournamentSource is a tournament as it goes on.
func (p *Pages) tournamentSource(r *http.Request) (source, error) {
	t, err := p.named(r.Context(), r)
	if err != nil {
		return source{}, err
	}
	return source{key: r.URL.Path, parts: []string{"head", "standings", "final", "legs", "pairings", "earlier"}, pause: 500 * time.Millisecond,
		changed: func() <-chan struct{} { return p.Watch.Changed(t.ID) },
		find:    func(ctx context.Context) (view, error) { return p.tournamentPage(ctx, t.ID) }}, nil
}

// mostExports is how many exports are taken at once: each is a file as long as it is.
const mostExports = 16

// results sends the exported results of a tournament that is over.
func (p *Pages) results(w http.ResponseWriter, r *http.Request) {
	select {
	case p.exports <- struct{}{}:
		defer func() { <-p.exports }()
	default:
		p.refuse(w, r, ErrBusy)
		return
	}
	file, err := p.export(r)
	if err != nil {
		p.refuse(w, r, err)
		return
	}
	defer discard(file)
	w.Header().Set("Content-Type", "application/jsonl; charset=utf-8")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="tournament-%s.jsonl"`, r.PathValue("tournament")))
	http.ServeContent(&patient{w, http.NewResponseController(w)}, r, "", time.Time{}, file)
}

// discard removes a file that nobody else has.
func discard(file *os.File) {
	file.Close()
	os.Remove(file.Name())
}

// export writes an export to a file of its own: it is made at the desk, and may be taken slowly.
func (p *Pages) export(r *http.Request) (file *os.File, err error) {
	leave, ok := p.Enter(r)
	if !ok {
		return nil, ErrBusy
	}
	defer leave()
	id, err := number(r, "tournament")
	if err != nil {
		return nil, err
	}
	if file, err = os.CreateTemp("", "flip7-results-*.jsonl"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			discard(file)
		}
	}()
	err = p.boards.desk.work(r.Context(), func() error {
		t, err := p.Arena.Tournament(r.Context(), int64(id))
		if err != nil {
			return err
		}
		if !t.State.Over() {
			return &wrong{http.StatusConflict, "The results are here when the tournament is over: they hold its secret."}
		}
		return p.Arena.ExportResults(r.Context(), t.ID, file)
	})
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	return file, err
}

// patient is a writer whose reader may be slow, but must take something all the time.
type patient struct {
	http.ResponseWriter
	control *http.ResponseController
}

// Write implements http.ResponseWriter.
func (p *patient) Write(raw []byte) (int, error) {
	if err := p.control.SetWriteDeadline(time.Now().Add(takesLong)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return p.ResponseWriter.Write(raw)
}

// standingColumns are the columns of the standings that are downloaded.
var standingColumns = []string{"rank", "bot", "build", "owner", "final", "score", "placement", "margin95", "first_places", "points", "games", "faults"}

func (s standing) cells() []string {
	decimals := func(x float64, n int) string { return strconv.FormatFloat(x, 'f', n, 64) }
	rank, margin, final := "", "", ""
	if s.Rank > 0 {
		rank = strconv.Itoa(s.Rank)
	}
	if s.Final != nil {
		final = decimals(*s.Final, 4)
	}
	if s.Margin > 0 {
		margin = decimals(s.Margin, 4)
	}
	return []string{rank, s.Bot, s.Build, s.Owner, final, decimals(s.Score, 4), decimals(s.Placement, 4), margin, decimals(s.Firsts, 4), decimals(s.Points, 2),
		strconv.Itoa(s.Games), strconv.Itoa(s.AllFaults())}
}

// standingsCSV sends the standings as CSV.
func (p *Pages) standingsCSV() http.HandlerFunc {
	return p.download("text/csv; charset=utf-8", func(out *strings.Builder, lines []standing) {
		table := csv.NewWriter(out)
		_ = table.Write(standingColumns)
		for _, line := range lines {
			line.Bot, line.Build, line.Owner = Cell(line.Bot), Cell(line.Build), Cell(line.Owner)
			_ = table.Write(line.cells())
		}
		table.Flush()
	})
}

// standingsMarkdown sends the standings as a table in Markdown.
func (p *Pages) standingsMarkdown() http.HandlerFunc {
	return p.download("text/markdown; charset=utf-8", func(out *strings.Builder, lines []standing) {
		fmt.Fprintf(out, "| %s |\n|%s\n", strings.Join(standingColumns, " | "), strings.Repeat(" --- |", len(standingColumns)))
		for _, line := range lines {
			cells := line.cells()
			for i := range cells {
				cells[i] = MarkdownCell(cells[i])
			}
			fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
		}
	})
}

func (p *Pages) download(contentType string, write func(*strings.Builder, []standing)) http.HandlerFunc {
	return p.serve(func(ctx context.Context, r *http.Request) (m made, err error) {
		shown, err := p.tournament(ctx, r)
		if err != nil {
			return m, err
		}
		var out strings.Builder
		write(&out, shown.(*tournamentView).Standings)
		return made{contentType: contentType, body: []byte(out.String()), lasts: shown.lasts()}, nil
	})
}
