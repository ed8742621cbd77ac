package server

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// browser is somebody who looks at the pages.
type browser struct {
	*hosting
	base string
}

func browse(t *testing.T) *browser {
	h := host(t, func(c *Config) { c.Address, c.Web = "127.0.0.1:0", "127.0.0.1:0" })
	return &browser{h, "http://" + h.WebAddr().String()}
}

func (b *browser) fetch(path string, header http.Header) *http.Response {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, b.base+path, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header = header
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { answer.Body.Close() })
	return answer
}

func (b *browser) page(path string) string {
	b.t.Helper()
	answer := b.fetch(path, nil)
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %s, %v: %s", path, answer.Status, err, text)
	}
	return string(text)
}

// json is what a page shows.
func (b *browser) json(path string, into any) {
	b.t.Helper()
	if err := json.Unmarshal([]byte(b.page(path)), into); err != nil {
		b.t.Fatalf("%s: %v", path, err)
	}
}

// heard is an event of a live page.
type heard struct{ name, id, data string }

// live reads a live page until it has told everything, or enough of it.
func (b *browser) live(path, last string, enough func(heard) bool) (events []heard) {
	b.t.Helper()
	header := http.Header{}
	if last != "" {
		header.Set("Last-Event-ID", last)
	}
	answer := b.fetch(path, header)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "text/event-stream" {
		b.t.Fatalf("%s: %s, %s", path, answer.Status, answer.Header.Get("Content-Type"))
	}
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(nil, 1<<20)
	var e heard
	for lines.Scan() {
		field, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch field {
		case "event":
			e.name = value
		case "id":
			e.id = value
		case "data":
			e.data += value + "\n"
		case "":
			if e.name == "" {
				continue
			}
			events = append(events, e)
			if e.name == "over" || enough(e) {
				return events
			}
			e = heard{}
		}
	}
	b.t.Fatalf("%s ended after %d events: %v", path, len(events), lines.Err())
	return nil
}

func TestATitleNamesTheArenaOnce(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, houses()...)
	for path, want := range map[string]string{"/": "<title>Flip 7 Arena</title>", "/t/" + id: " · Flip 7 Arena</title>"} {
		if page := b.page(path); !strings.Contains(page, want) {
			t.Errorf("%s: no %q in %.300s", path, want, page)
		}
	}
}

func TestAPageOfANightMovesToItsEnd(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 3, Rotations: 1}, houses()...)
	if page := b.page("/t/" + id); !strings.Contains(page, `data-live="/t/`+id+`/live"`) || !strings.Contains(page, "public when the tournament is over") {
		t.Errorf("the page of an open tournament is not live, or says nothing of its secret:\n%s", page)
	}
	seen, looks := make(chan []heard, 1), make(chan struct{})
	begun := sync.OnceFunc(func() { close(looks) })
	go func() { seen <- b.live("/t/"+id+"/live", "", func(heard) bool { begun(); return false }) }()
	<-looks // else the night could be over before
	b.play(id)
	events := <-seen
	secret := b.night(id).Secret
	last := map[string]string{}
	ids := []string{}
	for _, e := range events {
		if e.name == "told" {
			ids = append(ids, e.id)
		}
		if strings.Contains(e.data, fmt.Sprintf("%x", secret)) && !strings.Contains(e.data, "finished") {
			t.Errorf("part %s tells the secret before the end", e.name)
		}
		last[e.name] = e.data
	}
	if _, over := last["over"]; !over || len(ids) < 2 {
		t.Errorf("%d changes were told, over: %v; want some, to the end", len(ids), over)
	}
	page := b.page("/t/" + id)
	for _, part := range []string{"head", "standings", "pairings", "earlier"} {
		if html := strings.TrimSpace(last[part]); html == "" || !strings.Contains(page, html) {
			t.Errorf("part %s was last told as something that is not in the page:\n%s", part, html)
		}
	}
	if !strings.Contains(page, fmt.Sprintf("%x", secret)) || strings.Contains(page, "data-live") {
		t.Error("the page of a finished tournament does not have its secret, or is still live")
	}
}

func TestAPageOfAGameSaysThatItWasBrokenOff(t *testing.T) {
	for what, breakOff := range breakingOff {
		t.Run(what, func(t *testing.T) {
			b := browse(t)
			player := b.join(as(t.Context(), b.registered("ada")), "1")
			id := b.opened(&flip7v1.TournamentSettings{Seats: 3, PairingRounds: 1, Anchor: flip7v1.Anchor_ANCHOR_OFF}, "bot:ada", "house:odds", "house:racer")
			if _, err := b.StartTournament(b.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
				t.Fatal(err)
			}
			request, _ := player.untilAsked(nil)
			seen, begun := make(chan []heard, 1), make(chan struct{}, 100)
			go func() {
				seen <- b.live("/g/"+request.GetGame().GetGameId()+"/live", "", func(heard) bool { begun <- struct{}{}; return false })
			}()
			<-begun
			if err := breakOff(b.hosting, id); err != nil {
				t.Fatal(err)
			}
			select {
			case events := <-seen:
				table := slices.IndexFunc(events, func(e heard) bool { return e.name == "table" && strings.Contains(e.data, "was broken off") })
				if table < 0 || events[len(events)-1].name != "over" {
					t.Errorf("heard %v, want that the game was broken off, and that this is all", events)
				}
			case <-time.After(10 * time.Second):
				t.Error("the page of the game stands still")
			}
		})
	}
}

func TestAGameThatLandsAsItsNightIsCancelledIsShown(t *testing.T) {
	b := browse(t)
	player := b.join(as(t.Context(), b.registered("ada")), "1")
	id := b.opened(&flip7v1.TournamentSettings{Seats: 3, PairingRounds: 1, Anchor: flip7v1.Anchor_ANCHOR_OFF}, "bot:ada", "house:odds", "house:racer")
	if _, err := b.StartTournament(b.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	player.untilAsked(nil)
	if err := breakingOff["cancel"](b.hosting, id); err != nil {
		t.Fatal(err)
	}
	ended := func() int {
		var shown struct {
			Pairings []struct {
				Tables []struct {
					Ended int `json:"games_finished"`
				}
			}
		}
		b.json("/t/"+id+".json", &shown)
		return shown.Pairings[0].Tables[0].Ended
	}
	before := ended()
	night := b.night(id)
	last := arena.Played{Game: arena.Game{Number: 6, Attempt: 1, Seats: []int{1, 2, 3}, Faults: make([]int, 3), Slips: make([]int, 3),
		Result: game.Result{Rounds: 1, Totals: []int{200, 100, 0}, Places: []int{1, 2, 3}}}}
	if err := b.store.SaveGame(t.Context(), arena.GameID{Tournament: night.ID, Round: 1, Table: 1, Number: 6}, last); err != nil {
		t.Fatal(err)
	}
	if after := ended(); after != before+1 {
		t.Errorf("%d games are shown to have ended, and %d before another landed", after, before)
	}
}

func TestWhoComesBackHearsWhatChangedSince(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 3, Rotations: 1}, "house:odds", "house:racer")
	path := "/t/" + id + "/live"
	all := func(e heard) bool { return e.name == "told" }
	stays := b.live(path, "", all) // and goes on looking
	if len(stays) != 4 {
		t.Fatalf("at first %d events, want three parts (nothing is paired, so nothing is earlier) and where they end", len(stays))
	}
	entered := make(chan []heard, 1)
	go func() { entered <- b.live(path, stays[3].id, all) }()
	if _, err := b.EnterBot(b.admin, &flip7v1.EnterBotRequest{TournamentId: id, Player: "house:stay-25"}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range <-entered {
		names = append(names, e.name)
	}
	if !slices.Contains(names, "standings") || slices.Contains(names, "pairings") {
		t.Errorf("after an entry it was told %v, want the standings and nothing that is as it was", names)
	}
	if again := b.live(path, "otherrun-7", all); len(again) != 4 {
		t.Errorf("who comes from another run is told %d events, want everything", len(again))
	}
}

// night is a tournament as the arena has it.
func (b *browser) night(id string) *arena.Tournament {
	b.t.Helper()
	var number int64
	fmt.Sscan(id, &number)
	night, err := b.arena.Tournament(b.t.Context(), number)
	if err != nil {
		b.t.Fatal(err)
	}
	return night
}

// shownGame is a game as its page shows it in JSON.
type shownGame struct {
	Seed  string
	Frame struct {
		Step, Last int
		Over       bool
		Says       string
		Rounds     []struct{ Round, Step int }
		Seats      []struct {
			Bot          string
			Total, Place int
			Status       string
		}
	}
}

func TestAReplayEndsAsTheRecordSays(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, houses()...)
	b.play(id)
	night := b.night(id)
	games := 0
	for _, tab := range night.Rounds[0].Tables {
		for _, g := range tab.Games {
			games++
			path := fmt.Sprintf("/g/%s/1/%d/%d", id, tab.Number, g.Number)
			var first, last shownGame
			b.json(path+".json", &first)
			if first.Frame.Step != 1 || first.Frame.Over || len(first.Frame.Rounds) != g.Result.Rounds || first.Frame.Rounds[0].Step != 1 {
				t.Fatalf("%s begins at step %d with %d rounds, want step 1 and %d", path, first.Frame.Step, len(first.Frame.Rounds), g.Result.Rounds)
			}
			b.json(fmt.Sprintf("%s.json?step=%d", path, first.Frame.Last), &last)
			if !last.Frame.Over || len(last.Seed) != 64 {
				t.Errorf("%s: the last step is not the end, or there is no seed: %+v", path, last)
			}
			for seat, s := range last.Frame.Seats {
				if s.Bot != night.Entries[g.Seats[seat]-1].Name || s.Total != g.Result.Totals[seat] || s.Place != g.Result.Places[seat] {
					t.Errorf("%s, seat %d: %s with %d in place %d; the record says %d in place %d", path, seat, s.Bot, s.Total, s.Place, g.Result.Totals[seat], g.Result.Places[seat])
				}
			}
		}
	}
	if games != 8 {
		t.Errorf("%d games were looked at, want 8", games)
	}
	// Whoever came before another did so in the crosstable.
	var cross struct {
		Bots []string
		Rows [][]struct{ Games, Above, Tied int }
	}
	b.json("/t/"+id+"/crosstable.json", &cross)
	above, met := 0, 0
	for i, row := range cross.Rows {
		for j, m := range row {
			above += 2*m.Above + m.Tied
			met += m.Games
			if back := cross.Rows[j][i]; back.Games != m.Games || back.Above+m.Above+m.Tied != m.Games || i == j && m.Games > 0 {
				t.Errorf("%s against %s: %+v, and back %+v", cross.Bots[i], cross.Bots[j], m, back)
			}
		}
	}
	if met != 8*12 || above != met || cross.Bots[0] != b.standings(id, 0)[0].GetBot() {
		t.Errorf("in 8 games of four the crosstable has %d meetings and %d halves above; its first bot is %s", met, above, cross.Bots[0])
	}
	b.says("/t/"+id+"/crosstable", "who finished above whom", " games, ")
	// Any moment has its address; one past the end is the end.
	var moment, past shownGame
	b.json("/g/"+id+"/1/1/1.json?step=20", &moment)
	b.json("/g/"+id+"/1/1/1.json?step=100000", &past)
	if moment.Frame.Step != 20 || past.Frame.Step != past.Frame.Last {
		t.Errorf("steps 20 and 100000 show steps %d and %d of %d", moment.Frame.Step, past.Frame.Step, past.Frame.Last)
	}
}

// says fails if a page does not have all of some texts.
func (b *browser) says(path string, texts ...string) {
	b.t.Helper()
	page := b.page(path)
	for _, text := range texts {
		if !strings.Contains(page, text) {
			b.t.Errorf("%s does not say %q:\n%s", path, text, page)
		}
	}
}

func TestPagesSayWhatANightWaitsFor(t *testing.T) {
	b := browse(t)
	b.says("/", "No night is open", "flip7 tournament create", "None yet", "No rated night")
	b.says("/screen", "The first night is still to come")
	tokens := b.roles()
	bot := b.join(tokens.bot, "one")
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 2, Seats: 3, Rotations: 1, DecisionTimeout: durationpb.New(5 * time.Minute), Anchor: flip7v1.Anchor_ANCHOR_OFF})
	b.says("/t/"+id, "Nobody has entered yet", "flip7 tournament enter "+id, "None is paired yet", "flip7 tournament start "+id)
	for _, player := range []string{"odds-bot", "house:odds", "house:racer"} {
		if _, err := b.EnterBot(b.admin, &flip7v1.EnterBotRequest{TournamentId: id, Player: player}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.StartTournament(b.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	bot.asked()
	b.says("/", "Pairing round 1 of 2", "running")
	b.says("/t/"+id, "(running)", "Expected to end")
	b.says("/screen", "Most at stake: table 1", "is asked")
	b.says("/t/"+id+"/r/1", "Pairing round 1", "Why these tables")
	if _, err := b.PauseTournament(b.admin, &flip7v1.PauseTournamentRequest{TournamentId: id, Why: "pizza"}); err != nil {
		t.Fatal(err)
	}
	b.says("/", "then waits for the organiser: pizza.")
	if _, err := b.VoidTable(b.admin, &flip7v1.VoidTableRequest{TournamentId: id, PairingRound: 1, Table: 1, Why: "a wrong build"}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.CancelTournament(b.admin, &flip7v1.CancelTournamentRequest{TournamentId: id, Why: "a storm"}); err != nil {
		t.Fatal(err)
	}
	b.wait(id)
	b.says("/t/"+id, "nothing of it is rated: a storm.", "a wrong build. It counts 0.5 for each of its bots", "Not rated")
	if _, err := flip7v1.NewBotServiceClient(b.conn).RegisterBot(b.admin, &flip7v1.RegisterBotRequest{Name: "absent"}); err != nil {
		t.Fatal(err)
	}
	b.opened(&flip7v1.TournamentSettings{PairingRounds: 2, League: "juniors"}, "absent")
	b.says("/", "Elo table of juniors", `<a href="/?league=main">main</a>`)
	b.says("/?league=main", "No rated night of league main", `<a href="/?league=juniors">juniors</a>`, `data-live="/live?league=main"`)
	b.says("/", `Not connected: <a href="/b/absent">absent</a>. Before each pairing round they are waited for, 1m at the most`)
}

// A night that cannot keep what happens stands still until it can, and says so.
func TestPagesOfANightThatIsHeld(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, houses()...)
	inTheWay := filepath.Join(b.config.Folder, "journal", id+".log") // of the journal's file
	if err := os.Mkdir(inTheWay, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := b.StartTournament(b.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	b.live("/t/"+id+"/live", "", func(e heard) bool { return strings.Contains(e.data, `<span class="tag held">`) })
	for _, path := range []string{"/t/" + id, "/", "/screen", "/t/" + id + ".json", "/index.json", "/screen.json"} {
		page := b.page(path)
		for _, want := range []string{"held", "It stands still, for a reason that is the arena", "goes on by itself: open the journal"} {
			if !strings.Contains(page, want) {
				t.Errorf("%s: want %q in\n%s", path, want, page)
			}
		}
		for _, wrong := range []string{b.config.Folder, "Expected to end", "until about", "expected_end"} {
			if strings.Contains(page, wrong) {
				t.Errorf("%s: want no %q in\n%s", path, wrong, page)
			}
		}
	}
	if why := b.get(id).GetStateWhy(); !strings.Contains(why, "journal") || strings.Contains(why, b.config.Folder) {
		t.Errorf("by a call it is held for %q, want what failed and not where the data is", why)
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if night := b.wait(id); night.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED || night.GetStateWhy() != "" {
		t.Errorf("with nothing in the way it is %v: %s", night.GetState(), night.GetStateWhy())
	}
	if page := b.page("/t/" + id); strings.Contains(page, "stands still") {
		t.Errorf("it is over, and the page says\n%s", page)
	}
}

// Seeds and thinking times of a table are told when it is over, also of a game that has ended before.
func TestPagesKeepWhatIsSecretUntilTheTableIsOver(t *testing.T) {
	b := browse(t)
	token := b.roles().all[1] // of odds-bot
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Seats: 3, Rotations: 1, DecisionTimeout: durationpb.New(5 * time.Minute), Anchor: flip7v1.Anchor_ANCHOR_OFF},
		"odds-bot", "house:odds", "house:racer")
	second, goOn := make(chan struct{}), make(chan struct{})
	reached := sync.OnceFunc(func() { close(second) })
	think := sync.OnceFunc(func() { // up to 200 ms of its first decision may be the network's, and what the arena stalls is not charged
		began, lost := time.Now(), b.metrics.probe.Lost()
		for time.Since(began)-(b.metrics.probe.Lost()-lost) < 250*time.Millisecond {
			time.Sleep(10 * time.Millisecond)
		}
	})
	ctx, leave := context.WithCancel(t.Context())
	played := make(chan error, 1)
	go func() {
		played <- flip7.Play(ctx, flip7.Bot{Addr: "http://" + b.Addr().String(), Token: token, MaxGames: 1, Log: slog.New(slog.DiscardHandler),
			Decide: func(v *flip7.View) flip7.Decision {
				if v.Game.Number == 2 {
					reached()
					<-goOn
				}
				think()
				return v.Pass()
			}})
	}()
	if _, err := b.StartTournament(b.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	<-second
	ended := "/g/" + id + "/1/1/1.json?step="
	told := func(step int) (names []string) {
		for _, name := range b.keys(fmt.Sprint(ended, step)) {
			if name == "seed" || name == "thought" {
				names = append(names, name)
			}
		}
		return names
	}
	var end shownGame
	b.json(ended+"10000", &end)
	for step := 1; step <= end.Frame.Last; step++ {
		if names := told(step); len(names) > 0 {
			t.Errorf("step %d of a game whose table is not over tells %v", step, names)
		}
	}
	close(goOn)
	b.wait(id)
	thought := 0
	for step := 1; step <= end.Frame.Last; step++ {
		thought += len(told(step)) - 1
	}
	if !end.Frame.Over || thought < 1 {
		t.Errorf("the game is over: %v; when its table is, %d steps tell how long a bot thought, want some", end.Frame.Over, thought)
	}
	leave()
	<-played
}

// A final table has thousands of games; its page stays short, and each of them has its address.
func TestPagesOfAFinalTable(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, FinalTable: 3, UntilDecided: true, MaxGames: 1200}, "house:racer", "house:random", "house:cards-5", "house:stay-15")
	b.play(id)
	night := b.night(id)
	final := night.Final()
	var shown struct {
		Final struct {
			Games, Rotations int
			Says             string
			Legs             []struct{ Path string }
			Bots             []struct {
				Bot             string
				Placement, Lead float64
			}
		}
		Standings []struct {
			Bot   string
			Final float64
		}
		Pairings []struct{}
	}
	b.json("/t/"+id+".json", &shown)
	if f := shown.Final; f.Games != final.Games || f.Rotations != final.Rotations() || len(f.Legs) != len(night.Rounds)-1 || len(shown.Pairings) != 1 {
		t.Errorf("%d games, %d rotations and %d legs are shown, and %d pairing rounds; want %d, %d, %d and 1", f.Games, f.Rotations, len(f.Legs), len(shown.Pairings),
			final.Games, final.Rotations(), len(night.Rounds)-1)
	}
	for i, line := range shown.Final.Bots {
		above := i == 0 || line.Placement <= shown.Final.Bots[i-1].Placement
		if !above || line.Bot != shown.Standings[i].Bot || line.Placement != shown.Standings[i].Final || i < 2 && math.Abs(line.Lead-(line.Placement-shown.Final.Bots[i+1].Placement)) > 1e-9 {
			t.Errorf("line %d of the final is %+v; of the standings %+v", i+1, line, shown.Standings[i])
		}
	}
	page := b.page("/t/" + id)
	if len(page) > 40_000 || !strings.Contains(page, "Final table, leg") || !strings.Contains(page, `>all 30</a>`) {
		t.Errorf("the page has %d bytes, want no list of all games:\n%s", len(page), page)
	}
	b.says("/screen", strings.TrimPrefix(b.get(id).GetConclusion(), "d"), fmt.Sprintf(`<span class="value">%.3f</span>`, shown.Final.Bots[0].Placement))
	last := shown.Final.Legs[len(shown.Final.Legs)-1].Path
	b.says(last, "Final table, leg "+fmt.Sprint(len(shown.Final.Legs)), "All games of table 1", fmt.Sprintf(`href="/g/%s/%d/1/1"`, id, len(night.Rounds)))
	b.says(fmt.Sprintf("/g/%s/%d/1/1", id, len(night.Rounds)), "Final table, leg", "game 1 of 30")
	b.says("/b/"+shown.Final.Bots[0].Bot, "Recent games", fmt.Sprintf(`href="/g/%s/%d/1/30"`, id, len(night.Rounds)), "Rating after each night")
}

func TestWhatIsNotThereIsSaid(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, houses()...)
	for _, c := range []struct {
		path   string
		status int
		says   string
	}{
		{"/nosuch", 404, "no such page"},
		{"/t/7", 404, "no such thing"},
		{"/t/x", 404, "numbered from 1"},
		{"/t/0.json", 404, "numbered from 1"},
		{"/t/" + id + "/results.jsonl", 409, "when the tournament is over"},
		{"/t/" + id + "/r/1", 404, "not paired"},
		{"/g/" + id + "/1/1/1", 404, "no such table"},
		{"/g/" + id + "/1/1/1/live", 404, "no such table"},
		{"/t/0" + id + "/live", 404, "no tournament"},
		{"/t/+" + id, 404, "no tournament"},
		{"/g/" + id + "/1/1/1?step=0", 400, "step"},
		{"/b/nobody", 404, "No bot"},
		{"/?league=nosuch", 404, "no league"},
		{"/live?league=nosuch", 404, "no league"},
		{"/b/odds?league=nosuch", 404, "no league"},
		{"/static/nosuch.css", 404, ""},
		{"/static/../web.go", 404, ""},
	} {
		answer := b.fetch(c.path, nil)
		text, _ := io.ReadAll(answer.Body)
		if answer.StatusCode != c.status || !strings.Contains(string(text), c.says) {
			t.Errorf("%s: %s, want %d and %q in\n%s", c.path, answer.Status, c.status, c.says, text)
		}
	}
}

func TestOtherMethodsAreAnsweredToo(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, houses()...)
	for _, c := range []struct {
		method, path string
		status       int
	}{{"HEAD", "/t/" + id, 200}, {"HEAD", "/t/" + id + "/live", 200}, {"POST", "/t/" + id, 405}, {"DELETE", "/", 405}, {"PUT", "/signin", 405}} {
		r, err := http.NewRequestWithContext(t.Context(), c.method, b.base+c.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != c.status || c.method == "HEAD" && len(text) > 0 {
			t.Errorf("%s %s: %s with %d bytes (%v), want %d", c.method, c.path, answer.Status, len(text), err, c.status)
		}
	}
}

// What a browser is told to do with pages: nothing from elsewhere, and what may be kept.
func TestHeadersOfPages(t *testing.T) {
	b := browse(t)
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, houses()...)
	b.play(id)
	page := b.fetch("/", nil)
	policy := page.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("policy %q", policy)
	}
	text, _ := io.ReadAll(page.Body)
	if strings.Contains(string(text), "style=") || strings.Contains(string(text), "<script>") || strings.Contains(string(text), "onclick") {
		t.Error("there is style or script in the page, which its policy refuses")
	}
	tag := page.Header.Get("ETag")
	if again := b.fetch("/", http.Header{"If-None-Match": {tag}}); again.StatusCode != http.StatusNotModified {
		t.Errorf("the same page again is %s, want 304", again.Status)
	}
	css := string(text)[strings.Index(string(text), "/static/style.css"):]
	css = css[:strings.Index(css, `"`)]
	kept := map[string]string{
		"/": "no-cache", css: "public, max-age=31536000, immutable", "/static/style.css": "no-cache",
		"/t/" + id: "public, max-age=3600", "/g/" + id + "/1/1/1?step=3": "public, max-age=3600", "/nosuch": "no-store",
	}
	for path, want := range kept {
		if got := b.fetch(path, nil).Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: Cache-Control %q, want %q", path, got, want)
		}
	}
	// The first page with all that it loads.
	size := len(text)
	for _, part := range []string{css, "/static/live.js", "/static/icon.svg"} {
		size += len(b.page(part))
	}
	if size > 100_000 {
		t.Errorf("the first page has %d bytes in all, want 100 kB at most", size)
	}
	for _, path := range []string{"/.json", "/index.json"} {
		if names := b.keys(path); !slices.Contains(names, "past") || !slices.Contains(names, "elo") {
			t.Errorf("the JSON of the first page, %s, has %v", path, names)
		}
	}
	if names := b.keys("/t/" + id + ".json"); !slices.Contains(names, "standings") {
		t.Errorf("the JSON of a tournament has %v", names)
	}
}

// keys is the names in the object that a page shows.
func (b *browser) keys(path string) (names []string) {
	object := map[string]json.RawMessage{}
	b.json(path, &object)
	for name := range object {
		names = append(names, name)
	}
	return names
}

// visitor is a browser that keeps cookies, and goes where it is sent.
type visitor struct {
	*browser
	client *http.Client
}

func (b *browser) visitor() *visitor {
	jar, err := cookiejar.New(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return &visitor{b, &http.Client{Jar: jar}}
}

func (v *visitor) look(path string) (text string, answer *http.Response) {
	v.t.Helper()
	answer, err := v.client.Get(v.base + path)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.read(answer), answer
}

func (v *visitor) read(answer *http.Response) string {
	v.t.Helper()
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	return string(text)
}

// post posts a form to a page, with what the form on it has to bring along.
func (v *visitor) post(path string, values url.Values) (text string, answer *http.Response) {
	v.t.Helper()
	page, _ := v.look("/signin")
	_, rest, _ := strings.Cut(page, `name="form" value="`)
	form, _, _ := strings.Cut(rest, `"`)
	values.Set("form", form)
	answer, err := v.client.PostForm(v.base+path, values)
	if err != nil {
		v.t.Fatal(err)
	}
	return v.read(answer), answer
}

func TestOwnersSeeTheLogsOfTheirBots(t *testing.T) {
	b := browse(t)
	bots := flip7v1.NewBotServiceClient(b.conn)
	owner := func(name string) string {
		r, err := bots.RegisterOwner(b.admin, &flip7v1.RegisterOwnerRequest{Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return r.GetToken()
	}
	ada, eve := owner("lovelace"), owner("mallory")
	registered, err := bots.RegisterBot(as(t.Context(), ada), &flip7v1.RegisterBotRequest{Name: "engine"})
	if err != nil {
		t.Fatal(err)
	}
	id := b.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, "bot:engine", "house:odds", "house:racer", "house:stay-20")
	// A bot that answers nothing, but passes: every decision of it is a fault, and so in its log.
	ctx, leave := context.WithCancel(t.Context())
	played := make(chan error, 1)
	go func() {
		played <- flip7.Play(ctx, flip7.Bot{Addr: "http://" + b.Addr().String(), Token: registered.GetToken(), Log: slog.New(slog.DiscardHandler),
			Decide: func(v *flip7.View) flip7.Decision { return v.Pass() }})
	}()
	b.play(id)
	leave()
	<-played

	told := "so the default is played"
	someone := b.visitor()
	if page, _ := someone.look("/b/engine"); strings.Contains(page, told) || !strings.Contains(page, "/signin?next=/b/engine") {
		t.Error("somebody who has not signed in sees the log, or is not told how to")
	}
	if _, answer := someone.post("/signin", url.Values{"token": {registered.GetToken()}}); answer.StatusCode != http.StatusForbidden {
		t.Errorf("a bot's token signs in: %s", answer.Status)
	}
	answer, err := someone.client.PostForm(b.base+"/signin", url.Values{"token": {ada}, "form": {"guessed"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := someone.read(answer); answer.StatusCode != http.StatusForbidden || !strings.Contains(text, "form") {
		t.Errorf("a form of another site is taken: %s", answer.Status)
	}
	page, answer := someone.post("/signin", url.Values{"token": {ada}, "next": {"/b/engine"}})
	if answer.Request.URL.Path != "/b/engine" || !strings.Contains(page, told) {
		t.Errorf("its owner is at %s and sees no log:\n%s", answer.Request.URL, page)
	}
	if kept := answer.Header.Get("Cache-Control"); kept != "no-store" {
		t.Errorf("the page with the log has Cache-Control %q, want no-store", kept)
	}
	if strings.Contains(page, ada) {
		t.Error("the token is on the page")
	}
	cookies := someone.client.Jar.Cookies(answer.Request.URL)
	if len(cookies) != 2 {
		t.Errorf("cookies %v, want one of the session and one of the form", cookies)
	}
	other := b.visitor()
	other.post("/signin", url.Values{"token": {eve}})
	if page, _ := other.look("/b/engine"); strings.Contains(page, told) {
		t.Error("another owner sees the log")
	}
	// A token that is rotated ends the sessions that it began.
	if _, err := bots.RotateOwner(as(t.Context(), ada), &flip7v1.RotateOwnerRequest{Name: "lovelace"}); err != nil {
		t.Fatal(err)
	}
	if page, _ := someone.look("/b/engine"); strings.Contains(page, told) {
		t.Error("the log is still shown after the token was rotated")
	}
	other.post("/signout", url.Values{})
	if page, _ := other.look("/signin"); !strings.Contains(page, "Owner&#39;s token") && !strings.Contains(page, "Owner's token") {
		t.Error("who has signed out is still signed in")
	}
}

func TestCookiesAreForThisSiteAndNoScript(t *testing.T) {
	b := browse(t)
	answer := b.fetch("/signin", nil)
	cookies := answer.Cookies()
	if len(cookies) != 1 || !cookies[0].HttpOnly || cookies[0].SameSite != http.SameSiteStrictMode || cookies[0].Secure {
		t.Errorf("cookies %v, want one, HttpOnly, SameSite=Strict, and not Secure without TLS", cookies)
	}
}

func TestTokensAreNotTriedWithoutEnd(t *testing.T) {
	h := &hosting{running: start(t, func(c *Config) { c.Web, c.AddressRate = "127.0.0.1:0", 1 })}
	v := (&browser{h, "http://" + h.WebAddr().String()}).visitor()
	for n := 0; ; n++ {
		text, answer := v.post("/signin", url.Values{"token": {fmt.Sprint("guess ", n)}})
		if answer.StatusCode == http.StatusTooManyRequests {
			if answer.Header.Get("Retry-After") == "" || !strings.Contains(text, "Too many") {
				t.Errorf("it is refused without a word about when to come again:\n%s", text)
			}
			return
		}
		if n == 100 {
			t.Fatal("100 guesses are taken")
		}
	}
}
