package server

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// trainee is a guest that practises, and remembers what it was told of its games.
type trainee struct {
	think time.Duration // about each decision
	games int           // that it can take; 0: what is usual

	mu      sync.Mutex
	seen    map[string]flip7.Game    // by id
	running []string                 // ids
	most    int                      // games that ran at once
	ends    map[string]flip7.GameEnd // by id
	mixed   []string                 // what ran when a game of a night began
}

func (tr *trainee) guest(ctx context.Context, g *guest) {
	tr.mu.Lock()
	tr.seen, tr.ends = map[string]flip7.Game{}, map[string]flip7.GameEnd{}
	tr.mu.Unlock()
	g.kit(ctx, flip7.Bot{
		Practice: true, MaxGames: tr.games,
		Decide: func(v *flip7.View) flip7.Decision {
			pause(v.Context(), tr.think)
			return nerve(25).decide(v)
		},
		GameStarted: func(s flip7.GameStarted) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			if !s.Game.Practice {
				tr.mixed = append(tr.mixed, slices.DeleteFunc(slices.Clone(tr.running), func(id string) bool { return !tr.seen[id].Practice })...)
			}
			tr.seen[s.Game.ID] = *s.Game
			tr.running = append(tr.running, s.Game.ID)
			tr.most = max(tr.most, len(tr.running))
		},
		GameFinished: func(f flip7.GameFinished) {
			tr.mu.Lock()
			defer tr.mu.Unlock()
			tr.ends[f.GameID] = f.End
			tr.running = slices.DeleteFunc(tr.running, func(id string) bool { return id == f.GameID })
		},
	})
}

// ended is how many games of practice, or of a night, have ended so.
func (tr *trainee) ended(practice bool, how flip7.GameEnd) (n int) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for id, end := range tr.ends {
		if tr.seen[id].Practice == practice && end == how {
			n++
		}
	}
	return n
}

// atOnce is the most games that ran side by side.
func (tr *trainee) atOnce() int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return tr.most
}

// all are the games that it was ever told of.
func (tr *trainee) all() []flip7.Game {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Collect(maps.Values(tr.seen))
}

// practises are the games that a bot practises now.
func (tr *trainee) practises() (games []flip7.Game) {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	for _, id := range tr.running {
		if tr.seen[id].Practice {
			games = append(games, tr.seen[id])
		}
	}
	return games
}

func TestABotPractisesUntilANightCallsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeague(t)
		ada := &trainee{think: 250 * time.Millisecond} // so that no game is over in a second, however the cards lie
		l.invite("ada", ada.guest)
		time.Sleep(practicePause + time.Millisecond)
		now := ada.practises()
		if len(now) != 1 {
			t.Fatalf("a second after its hello it practises %d games, want 1", len(now))
		}
		if g := now[0]; g.Tournament != "" || g.Rated || len(g.Bots) != 4 || !slices.Contains(g.Bots, "ada") || len(g.ID) > 48 {
			t.Errorf("it practises %+v; want four at the table, no tournament and nothing rated", g)
		}
		id := l.opened(&flip7v1.TournamentSettings{PairingRounds: 2, Rotations: 1}, "bot:ada", "house:odds", "house:stay-25")
		time.Sleep(practicePause)
		if got := len(ada.practises()); got != 2 {
			t.Errorf("it practises %d games while the tournament is open, want 2", got)
		}
		finished := l.play(id)
		synctest.Wait()
		if finished.GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED || ada.ended(false, flip7.EndComplete) == 0 {
			t.Errorf("the night is %v, and it has played %d games of it", finished.GetState(), ada.ended(false, flip7.EndComplete))
		}
		if got := ada.ended(true, flip7.EndCalledAway); got != 2 || len(ada.mixed) > 0 {
			t.Errorf("%d games were ended by the night, want 2; %q ran when a game of the night began, want none", got, ada.mixed)
		}
		for _, s := range l.standings(id, 0) {
			if s.GetBot() == "ada" && proto.Size(s.GetFaults()) > 0 {
				t.Errorf("practice cost it faults in the night: %v", s.GetFaults())
			}
		}
		if strings.Contains(string(l.exported(id, flip7v1.ExportPart_EXPORT_PART_UNSPECIFIED)), "practice/") {
			t.Error("the night's export tells of practice")
		}
		time.Sleep(2 * practicePause)
		if len(ada.practises()) == 0 {
			t.Error("it does not practise again after the night")
		}
		if rows := l.table(&flip7v1.ListRatingsRequest{}).GetRatings(); slices.ContainsFunc(rows, func(r *flip7v1.Rating) bool { return int(r.GetGames()) > ada.ended(false, flip7.EndComplete) }) {
			t.Errorf("the Elo table counts more games than the night had: %v", rows)
		}
	})
}

func TestAPracticeGameIsDealtOnce(t *testing.T) {
	r := prepare(t, t.TempDir())
	r.serve()
	seeds := map[[32]byte]bool{}
	for range 100 {
		table := &practiceTable{guests: []string{"ada"}, remote: r.bots.Bots}
		s := table.setup()
		if seeds[s.Seed] {
			t.Fatal("two games have one deal")
		}
		seeds[s.Seed] = true
	}
}

func TestWhoPractisesMeets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeague(t)
		ada, bob := &trainee{think: 50 * time.Millisecond, games: 1}, &trainee{}
		l.invite("ada", ada.guest)
		l.invite("bob", bob.guest)
		l.invite("eve", nerve(20).guest) // does not practise
		time.Sleep(30 * time.Second)
		met := 0
		for _, g := range ada.all() {
			if slices.Contains(g.Bots, "bob") {
				met++
			}
			if slices.Contains(g.Bots, "eve") {
				t.Errorf("eve is at a practice table: %v", g.Bots)
			}
		}
		if met == 0 || ada.atOnce() != 1 || bob.atOnce() > practiceGames {
			t.Errorf("they met in %d of %d games; ada, who takes one, had %d at once, and bob %d", met, len(ada.all()), ada.atOnce(), bob.atOnce())
		}
		if got := l.bot("ada"); !got.GetPractice() || got.GetTournamentId() != "" {
			t.Errorf("ada is shown as %v, want practising", got)
		}
		if games := ada.ended(true, flip7.EndComplete); games == 0 || games > 30 {
			t.Errorf("ada has played %d games to their end in 30 s, want some and one a second at most", games)
		}
	})
}

func (l *league) bot(name string) *flip7v1.Bot {
	l.t.Helper()
	got, err := flip7v1.NewBotServiceClient(l.conn).GetBot(l.ctx, &flip7v1.GetBotRequest{Name: name})
	if err != nil {
		l.t.Fatal(err)
	}
	return got.GetBot()
}

// TestASilentBotGetsNoMorePractice: and what it left unanswered in practice is not held against it in a night.
func TestASilentBotGetsNoMorePractice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeague(t)
		var mu sync.Mutex
		asked, silent := map[string]int{}, true
		l.invite("mute", func(ctx context.Context, g *guest) {
			g.kit(ctx, flip7.Bot{Practice: true, MaxGames: 1, MaxOpen: 8, Decide: func(v *flip7.View) flip7.Decision {
				mu.Lock()
				asked[v.Game.ID]++
				quiet := silent
				mu.Unlock()
				if quiet {
					<-ctx.Done() // a late decision would be one too
				}
				return nerve(25).decide(v)
			}})
		})
		time.Sleep(time.Hour)
		mu.Lock()
		games := len(asked)
		mu.Unlock()
		if got := l.bot("mute"); games != 1 || !got.GetAbsent() || got.GetGames() != 0 {
			t.Errorf("in an hour it got %d games and is %v; want one, and absent", games, got)
		}
		mu.Lock()
		silent = false
		mu.Unlock()
		id := l.opened(&flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 1}, "bot:mute", "house:odds", "house:stay-25")
		l.play(id)
		for _, s := range l.standings(id, 0) {
			if s.GetBot() == "mute" && proto.Size(s.GetFaults()) > 0 {
				t.Errorf("in the night it has faults: %v", s.GetFaults())
			}
		}
		mu.Lock()
		asked = map[string]int{}
		mu.Unlock()
		time.Sleep(5 * practicePause)
		mu.Lock()
		defer mu.Unlock()
		if len(asked) == 0 {
			t.Error("it has spoken, and does not practise")
		}
	})
}

func TestPracticeEndsWithTheBotAndWithTheArena(t *testing.T) {
	for _, test := range []struct {
		name string
		end  func(l *league, leave func())
	}{
		{"the bot is retired", func(l *league, _ func()) {
			if _, err := flip7v1.NewBotServiceClient(l.conn).RetireBot(l.admin, &flip7v1.RetireBotRequest{Name: "odd"}); err != nil {
				l.t.Fatal(err)
			}
		}},
		{"the bot leaves", func(_ *league, leave func()) { leave() }},
		{"the arena stops", func(l *league, _ func()) { l.stop() }},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLeague(t)
				ada := &trainee{think: 500 * time.Millisecond, games: 1}
				l.invite("ada", ada.guest)
				visit, leave := context.WithCancel(l.ctx)
				defer leave()
				l.invite("odd", func(_ context.Context, g *guest) {
					_ = flip7.Play(visit, flip7.Bot{Practice: true, MaxGames: 1, Addr: "127.0.0.1:7777", Token: g.token, Dial: l.dial, Log: slog.New(slog.DiscardHandler),
						Decide: func(v *flip7.View) flip7.Decision { return v.Legal()[0] }})
				})
				time.Sleep(practicePause + time.Millisecond)
				if now := ada.practises(); len(now) != 1 || !slices.Contains(now[0].Bots, "odd") {
					t.Fatalf("ada practises %v, want a game with odd", now)
				}
				test.end(l, leave)
				time.Sleep(practicePause + time.Millisecond)
				if got := ada.ended(true, flip7.EndVoid); got != 1 {
					t.Errorf("%d games of ada were broken off, want 1", got)
				}
			})
		})
	}
}

func TestPracticeHasBounds(t *testing.T) {
	for _, test := range []struct{ tables, bots, want int }{{-1, 3, 0}, {1, 8, 1}, {2, 8, 2}, {0, 8, 3}} {
		t.Run(fmt.Sprintf("%d tables for %d bots", test.tables, test.bots), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := newLeague(t, func(c *Config) { c.PracticeTables = test.tables })
				for i := range test.bots {
					l.invite(fmt.Sprint("bot-", i), (&trainee{think: 500 * time.Millisecond, games: 1}).guest)
				}
				time.Sleep(practicePause + time.Millisecond)
				l.practice.mu.Lock()
				got := len(l.practice.tables)
				l.practice.mu.Unlock()
				if got != test.want {
					t.Errorf("%d tables, want %d", got, test.want)
				}
				if shown := l.bot("bot-0").GetPractice(); shown != (test.tables >= 0) {
					t.Errorf("a bot that would practise is shown as practising: %t", shown)
				}
			})
		})
	}
}

func TestABotPractisesIfAllItsInstancesWould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeague(t)
		ada := new(trainee)
		at, leave := context.WithCancel(l.ctx)
		defer leave()
		l.invite("ada", func(ctx context.Context, g *guest) {
			l.here.Go(func() {
				g.kit(at, flip7.Bot{Decide: nerve(25).decide, GameStarted: func(s flip7.GameStarted) {
					t.Errorf("the instance that would not practise is given %s", s.Game.ID)
				}})
			})
			ada.guest(ctx, g)
		})
		time.Sleep(5 * practicePause)
		if n := len(ada.all()); n > 0 {
			t.Errorf("it practises %d games though one of its instances would not", n)
		}
		leave()
		time.Sleep(2 * practicePause)
		if len(ada.all()) == 0 {
			t.Error("it does not practise though that instance has left")
		}
	})
}

func TestPracticeHasEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeague(t)
		last := map[string]int{} // number by game
		var kind flip7.EventKind
		l.invite("ada", func(ctx context.Context, g *guest) {
			g.kit(ctx, flip7.Bot{Practice: true, MaxGames: 1, Decide: nerve(25).decide, Event: func(e flip7.Event) {
				if e.Number != last[e.GameID]+1 {
					t.Errorf("event %d of %s comes after event %d", e.Number, e.GameID, last[e.GameID])
				}
				last[e.GameID], kind = e.Number, e.Kind
			}})
		})
		time.Sleep(practicePause + practicePause/2)
		l.goHome()
		if len(last) != 1 || kind != flip7.EventGameEnded {
			t.Errorf("events of %d games, the last %v; want one, to its end", len(last), kind)
		}
	})
}
