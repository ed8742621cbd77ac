package arena

import (
	"bytes"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flip7-arena/flip7/arena/table"
)

// conclusion is what a night came to; its export says the same, and holds.
func conclusion(t *testing.T, a *Arena, night *Tournament) Conclusion {
	t.Helper()
	c, err := night.Conclude()
	if err != nil {
		t.Fatal(err)
	}
	v, err := Verify(bytes.NewReader(export(t, a, night.ID)))
	if err != nil {
		t.Fatalf("the export does not hold: %v", err)
	}
	if v.Conclusion != c.Text {
		t.Errorf("verified: %q, want %q", v.Conclusion, c.Text)
	}
	return c
}

func TestAFinalTableIsDecidedAndNamesTheWinner(t *testing.T) {
	var first []byte
	for _, concurrency := range []int{1, 16, 0} {
		s := Settings{Name: "final", Rounds: 2, FinalTable: 3, UntilDecided: true, MaxGames: 3000, Seed: seed(3), Concurrency: concurrency}
		a, night := playHouse(t, s, "house:random", "house:racer", "house:random", "house:stay-15", "house:random", "house:random")
		f := night.Final()
		if f == nil || f.Games < 300 || f.Games%30 != 0 || f.Games == 3000 {
			t.Fatalf("the final played %+v, want some legs of 30 games, and not all of them", f)
		}
		c := conclusion(t, a, night)
		if want := "decided: racer-2 is the best of the finalists, after "; !c.Decided || c.Leader != 2 || c.Rotations != f.Rotations() || !strings.HasPrefix(c.Text, want) {
			t.Errorf("got %+v, want %s...", c, want)
		}
		standings, err := night.Standings()
		if err != nil {
			t.Fatal(err)
		}
		if top := standings[0]; top.Name != "racer-2" || top.Rank != 1 || top.Final == nil || top.Games != f.Games+2*6 {
			t.Errorf("%+v leads, want racer-2 with %d games", top, f.Games+2*6)
		}
		if below := standings[3]; below.Final != nil || below.Rank != 4 {
			t.Errorf("fourth is %+v, want who played no final", below)
		}
		if results := export(t, a, night.ID); first == nil {
			first = results
		} else if !bytes.Equal(first, results) {
			t.Errorf("concurrency %d gives other results than 1", concurrency)
		}
	}
}

func TestAFinalTablePlaysNoMoreThanItsGames(t *testing.T) {
	clones := slices.Repeat([]string{"house:stay-25"}, 5)
	a, night := playHouse(t, Settings{Name: "clones", Rounds: 1, FinalTable: 4, UntilDecided: true, MaxGames: 411, Seed: seed(1)}, clones...)
	f := night.Final()
	if f.Games != 408 || len(night.Rounds) != 12 {
		t.Errorf("%d games in %d legs, want the 102 rotations of 4 that 411 games allow, in 11", f.Games, len(night.Rounds)-1)
	}
	c := conclusion(t, a, night)
	if c.Decided || !strings.HasPrefix(c.Text, "not decided: stay-25-") || !strings.Contains(c.Text, "would tell") {
		t.Errorf("clones: got %q, want it not decided", c.Text)
	}
	standings, err := night.Standings()
	if err != nil {
		t.Fatal(err)
	}
	var order []int
	for i, s := range standings[:4] {
		order = append(order, s.Entry.Number)
		if s.Rank != i+1 || i > 0 && s.Final.Cmp(standings[i-1].Final) > 0 {
			t.Errorf("%s, with %v in the final, has rank %d after %v", s.Name, s.Final, s.Rank, standings[i-1].Final)
		}
	}
	if slices.Equal(order, f.Bots) {
		t.Error("the final left the finalists in the order of the pairing rounds, so nothing is shown")
	}
	if alike := night.Alike(standings); alike[0] || !alike[1] || !alike[2] || !alike[3] {
		t.Errorf("told apart: %v, want clones that are not", alike)
	}
	// Whoever wants to know more plays all games, however early it is decided.
	_, night = playHouse(t, Settings{Name: "all", Rounds: 1, FinalTable: 3, MaxGames: 330, Seed: seed(1)}, "house:racer", "house:random", "house:stay-15")
	if f := night.Final(); f.Games != 330 || !f.Decision().Decided {
		t.Errorf("%d games, decided %v; want all 330 though it was decided", f.Games, f.Decision().Decided)
	}
}

// prepareFinal opens a night whose final table is played by the first of the bots.
func prepareFinal(t *testing.T, r *roster, bots ...string) *eve {
	return prepare(t, Settings{Rounds: 1, FinalTable: 3, MaxGames: 90, Seed: seed(8)}, r, bots...)
}

func TestARestartInTheFinalChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(6)
		calm := prepareFinal(t, newRoster(bots...), bots...)
		calm.start()
		calm.wait()
		want := export(t, calm.Arena, calm.id)

		r := newRoster(bots...)
		var e *eve
		var asked atomic.Int64
		r.decide = func(bot string, q table.Question) table.Answer {
			if asked.Add(1)%999 == 0 {
				e.Arena.stop(ErrStopping)
			}
			return table.Answer{Decision: stay25(q)}
		}
		e = prepareFinal(t, r, bots...)
		e.start()
		restarts := 0 // in the final
		for e.Arena.work.Wait(); e.Arena.ctx.Err() != nil; e.Arena.work.Wait() {
			if legs := len(e.now().legs()); legs > 0 {
				restarts++
			}
			e.Arena = New(Outside{Store: e.store, Journals: e.book, Bots: r, Audience: audienceFunc(nil), Log: slog.New(slog.DiscardHandler)})
			if err := e.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if restarts < 3 {
			t.Fatalf("the arena was restarted %d times in the final, want 3 at least", restarts)
		}
		if night := e.wait(); night.State != Finished {
			t.Fatalf("the night is %v, want finished", night.State)
		}
		if !bytes.Equal(export(t, e.Arena, e.id), want) {
			t.Errorf("after %d restarts the results are others", restarts)
		}
	})
}

// What is done by hand in the second leg of a final of bot-04, bot-01 and bot-03.
func TestAFinalTableEndsWhenAFinalistIsGone(t *testing.T) {
	for _, c := range []struct {
		name  string
		do    func(e *eve, finalist string) error
		legs  int // that count
		ended string
	}{
		{"withdrawn: the leg is played to its end", func(e *eve, finalist string) error {
			return e.Withdraw(e.t.Context(), e.id, finalist, organiser)
		}, 2, "%s left"},
		{"kicked: the leg does not count", func(e *eve, finalist string) error {
			return e.Kick(e.t.Context(), e.id, finalist, organiser)
		}, 1, "%s left"},
		{"gone for good, but not withdrawn: it plays the default decisions", func(e *eve, finalist string) error {
			e.bots.change(func() { delete(e.bots.there, finalist); e.bots.absent[finalist] = true })
			return nil
		}, 3, ""},
		{"a leg made void: the others count", func(e *eve, _ string) error {
			return e.VoidTable(e.t.Context(), e.id, 3, 1, "a wrong build", organiser)
		}, 2, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bots := names(6)
				r := newRoster(bots...)
				var e *eve
				var mu sync.Mutex // not that of the roster, which the night looks at under its own
				finalist := ""
				r.decide = func(bot string, q table.Question) table.Answer {
					mu.Lock()
					defer mu.Unlock()
					if night := e.now(); finalist == "" && len(night.legs()) == 2 {
						finalist = bot
						if err := c.do(e, finalist); err != nil {
							t.Error(err)
						}
					}
					return table.Answer{Decision: stay25(q)}
				}
				e = prepareFinal(t, r, bots...)
				e.start()
				night := e.wait()
				f := night.Final()
				if want := strings.ReplaceAll(c.ended, "%s", finalist); f.Games != 30*c.legs || f.Ended != want {
					t.Errorf("%d games count and it ended early because %q, want %d and %q", f.Games, f.Ended, 30*c.legs, want)
				}
				standings, err := night.Standings()
				if err != nil {
					t.Fatal(err)
				}
				if last := standings[len(standings)-1]; strings.HasSuffix(c.ended, "left") && (last.Name != finalist || last.Final == nil || last.Rank != 6) {
					t.Errorf("the last of the standings is %+v, want %s, who left the final", last, finalist)
				}
				if got := conclusion(t, e.Arena, night); c.ended != "" && !strings.HasSuffix(got.Text, "; the final table ended early: "+f.Ended) {
					t.Errorf("got %q, which does not say why it ended", got.Text)
				}
			})
		})
	}
}

// A finalist that plugs itself out and in again is waited for as long as it is not known to be absent, and no longer.
func TestAFinalTableWaitsForAFinalist(t *testing.T) {
	for _, c := range []struct {
		name   string
		absent bool // what it left unanswered says so
		back   time.Duration
		waited time.Duration
	}{
		{"that comes back", false, 20 * time.Second, 20 * time.Second},
		{"that does not, before each leg", false, time.Hour, 2 * time.Minute},
		{"that was absent before: not again", true, time.Hour, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bots := names(6)
				r := newRoster(bots...)
				var e *eve
				var gone atomic.Bool
				r.decide = func(bot string, q table.Question) table.Answer {
					if len(e.now().legs()) == 1 && gone.CompareAndSwap(false, true) {
						r.change(func() { delete(r.there, bot); r.absent[bot] = c.absent })
						time.AfterFunc(c.back, func() { r.change(func() { r.there[bot] = presence(bot) }) })
					}
					return table.Answer{Decision: stay25(q)}
				}
				e = prepareFinal(t, r, bots...)
				began := time.Now()
				e.start()
				night := e.wait()
				if f := night.Final(); f.Games != 90 || f.Ended != "" {
					t.Errorf("%d games, ended early because %q; want all 90", f.Games, f.Ended)
				}
				if waited := night.Ended.Sub(began); waited != c.waited {
					t.Errorf("the final waited %v, want %v", waited, c.waited)
				}
				conclusion(t, e.Arena, night)
			})
		})
	}
}

func TestTheNextOfTheStandingsTakesTheSeatOfAFinalistWhoIsNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(6)
		r := newRoster(bots...)
		e := prepareFinal(t, r, bots...)
		var gone atomic.Bool
		r.decide = func(bot string, q table.Question) table.Answer {
			if gone.CompareAndSwap(false, true) {
				r.mu.Lock()
				defer r.mu.Unlock()
				for _, bot := range bots[:2] {
					delete(r.there, bot)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		ranking, err := night.ranking()
		if err != nil {
			t.Fatal(err)
		}
		want := slices.DeleteFunc(ranking, func(n int) bool { return n <= 2 })[:3]
		if f := night.Final(); !slices.Equal(f.Bots, want) {
			t.Errorf("%v play the final, want the best three who are there, %v", f.Bots, want)
		}
		conclusion(t, e.Arena, night)
	})
}

func TestAFinalTablePausesBetweenLegs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		e := prepareFinal(t, r, bots...)
		var paused atomic.Bool
		r.decide = func(bot string, q table.Question) table.Answer {
			if len(e.now().legs()) == 1 && paused.CompareAndSwap(false, true) {
				if err := e.Pause(t.Context(), e.id, organiser); err != nil {
					t.Error(err)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		synctest.Wait()
		if night := e.now(); night.State != Paused || night.Final().Games != 30 {
			t.Fatalf("the night is %v with %d games of the final, want it paused after one leg", night.State, night.Final().Games)
		}
		if err := e.Continue(t.Context(), e.id, organiser); err != nil {
			t.Fatal(err)
		}
		if night := e.wait(); night.Final().Games != 90 {
			t.Errorf("the final ended after %d games, want 90", night.Final().Games)
		}
	})
}

// Bots that take their time, though nobody hurries them, do not keep the night going for ever.
func TestAFinalTableEndsOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		r := newRoster(bots...)
		var e *eve
		r.decide = func(bot string, q table.Question) table.Answer {
			if len(e.now().legs()) > 0 && q.Number == 1 {
				time.Sleep(time.Minute)
			}
			return table.Answer{Decision: stay25(q)}
		}
		e = prepare(t, Settings{Rounds: 1, FinalTable: 3, MaxGames: 3000, TableLimit: 2 * time.Minute, Seed: seed(8)}, r, bots...)
		e.start()
		night := e.wait()
		if f := night.Final(); f.Games == 0 || f.Games > 600 || f.Ended != "its time was over" {
			t.Errorf("%d games, ended because %q; want it to end by the clock", f.Games, f.Ended)
		}
		conclusion(t, e.Arena, night)
	})
}

func TestVerifyNamesWhatIsWrongWithAFinal(t *testing.T) {
	a, night := playHouse(t, Settings{Name: "final", Rounds: 1, FinalTable: 3, MaxGames: 60, Seed: seed(3)}, field(6)...)
	results := string(export(t, a, night.ID))
	first := strings.Index(results, `{"line":"pairing_round","round":2,`)
	second := strings.Index(results, `{"line":"pairing_round","round":3,`)
	standings := strings.Index(results, `{"line":"standing"`)
	for _, c := range []struct{ name, results, want string }{
		{"without its last leg", results[:second] + results[standings:], "its final table is not over after 1 legs"},
		{"without a final", results[:first] + results[standings:], "its final table is not over after 0 legs"},
		{"another conclusion", strings.Replace(results, `"decided":false`, `"decided":true`, 1), "conclusion: it is"},
		{"no conclusion", results[:strings.Index(results, `{"line":"conclusion"`)], "conclusion: it is"},
		{"games beyond the last", strings.Replace(results, `"max_games":60`, `"max_games":30`, 1), "it was over before"},
		{"a leg with the cost of a pairing", results[:first] + strings.Replace(results[first:], `"cost":0`, `"cost":1`, 1), "nobody is paired here"},
		{"a leg with the spread of a pairing", results[:first] + strings.Replace(results[first:], `"spread":"0"`, `"spread":"1"`, 1), "nobody is paired here"},
		{"other finalists", strings.Replace(results, `"final_table":3`, `"final_table":4`, 1), "the standings seat others there"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := Verify(strings.NewReader(c.results)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want ... %s", err, c.want)
			}
		})
	}
}

func TestSettingsOfAFinalTable(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Settings
		want string
	}{
		{"two finalists", Settings{FinalTable: 2}, "final_table: 2 is not 3..18, or 0 for none"},
		{"nineteen", Settings{FinalTable: 19}, "final_table: 19 is not 3..18, or 0 for none"},
		{"until decided without a final", Settings{UntilDecided: true}, "until_decided: is for a final table; say how many play on with final_table"},
		{"games without a final", Settings{MaxGames: 400}, "max_games: is for a final table; say how many play on with final_table"},
		{"too few games to decide", Settings{FinalTable: 4, UntilDecided: true, MaxGames: 399},
			"max_games: 399 are too few: nothing is decided before 100 rotations, which are 400 games of 4 finalists"},
		{"less than a rotation", Settings{FinalTable: 4, MaxGames: 3}, "max_games: 3 is not 4, one rotation of the final table, to 1000000"},
		{"too many games", Settings{FinalTable: 4, MaxGames: 1_000_001}, "max_games: 1000001 is not 4, one rotation of the final table, to 1000000"},
		{"all that is needed", Settings{FinalTable: 4, UntilDecided: true, MaxGames: 400}, ""},
	} {
		c.in.Name = "night"
		got := ""
		if err := c.in.complete().Check(); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	if s := (Settings{FinalTable: 4}).complete(); s.MaxGames != 10_000 || s.UntilDecided {
		t.Errorf("defaults: %+v, want 10000 games", s)
	}
}

func TestAnAnchorTakesNothingFromWhoLeads(t *testing.T) {
	// stay-25 is much stronger than these, and plays along outside the ranks.
	var weak []string
	for points := range 8 {
		weak = append(weak, fmt.Sprintf("house:stay-%d", 8+points%2))
	}
	a, night := playHouse(t, Settings{Name: "weak", Rounds: 4, Seed: seed(3), Anchor: AnchorOn}, weak...)
	anchored := slices.ContainsFunc(night.Entries, func(e Entry) bool { return e.Anchor })
	text := conclusion(t, a, night).Text
	found := regexp.MustCompile(`P\(best\) (\d+) %`).FindStringSubmatch(text)
	if !anchored || found == nil {
		t.Fatalf("anchored %t: %q", anchored, text)
	}
	if p, err := strconv.Atoi(found[1]); err != nil || p < 100/len(weak) {
		t.Errorf("%q: one of %d who leads is at least as likely the best as any", text, len(weak))
	}
}

func TestANightWithoutAFinalSaysWhoLeads(t *testing.T) {
	a, night := playHouse(t, Settings{Name: "plain", Rounds: 3, Seed: seed(3)}, field(8)...)
	standings, err := night.Standings()
	if err != nil {
		t.Fatal(err)
	}
	c := conclusion(t, a, night)
	if want := "not decided: " + standings[0].Name + " leads, P(best) "; c.Decided || !strings.HasPrefix(c.Text, want) || !strings.HasSuffix(c.Text, " %; a final table would tell") {
		t.Errorf("got %q, want %s...", c.Text, want)
	}
	// Two tables that never met say nothing about each other.
	a, night = playHouse(t, Settings{Name: "apart", Rounds: 1, Seed: seed(3)}, field(8)...)
	if c := conclusion(t, a, night); strings.Contains(c.Text, "P(best)") {
		t.Errorf("got %q though half of the bots never met the other half", c.Text)
	}
}

// Whoever was expected and did not come may.
func TestWhoSitsAtTheFinalTableDoesNotPlayElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(6)
		r := newRoster(bots...)
		e := prepareFinal(t, r, bots...)
		var gone, looked atomic.Bool
		r.decide = func(bot string, q table.Question) table.Answer {
			if gone.CompareAndSwap(false, true) {
				for _, better := range []string{"bot-03", "bot-04", "bot-06"} {
					r.change(func() { delete(r.there, better) })
				}
			}
			if night := e.now(); len(night.legs()) == 1 && looked.CompareAndSwap(false, true) {
				if len(night.legs()[0].Missing) == 0 {
					t.Error("nobody is missing at the final table")
				}
				for _, entry := range night.Entries {
					if got, want := e.Plays(entry.Name), slices.Contains(night.finalBots(), entry.Number); got != want {
						t.Errorf("%s plays in a night: %v, and sits at the final table: %v", entry.Name, got, want)
					}
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		e.wait()
	})
}

// The last result of the leg is being kept.
func TestAFinalistKickedAtTheEndOfALegEndsTheFinal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		e := prepareFinal(t, newRoster(bots...), bots...)
		var games atomic.Int32
		e.meddle().game = func(id GameID) error {
			if id.Round > 1 && games.Add(1) == 30 {
				if err := e.Kick(t.Context(), e.id, e.now().Entries[e.now().finalBots()[0]-1].Name, organiser); err != nil {
					t.Error(err)
				}
			}
			return nil
		}
		e.start()
		time.Sleep(time.Minute)
		if night := e.now(); night.State != Finished || len(night.legs()) != 1 {
			t.Errorf("the night is %v after %d legs, want finished after 1", night.State, len(night.legs()))
		}
		if _, err := Verify(bytes.NewReader(export(t, e.Arena, e.id))); err != nil {
			t.Errorf("the export does not hold: %v", err)
		}
	})
}

// The arena is killed after it was kept that a finalist is out, and before it is kept that the leg is void.
func TestALegIsVoidWithAFinalistWhoWasKickedBeforeARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		var e *eve
		var kicked sync.Once
		r.decide = func(bot string, q table.Question) table.Answer {
			if len(e.now().legs()) == 1 {
				kicked.Do(func() {
					if err := e.Kick(t.Context(), e.id, bot, organiser); err != nil {
						t.Error(err)
					}
				})
			}
			return table.Answer{Decision: stay25(q)}
		}
		e = prepareFinal(t, r, bots...)
		e.meddle().table = func(tab Table) error {
			if tab.State == Void {
				e.Arena.stop(ErrStopping)
				return ErrStopping
			}
			return nil
		}
		e.start()
		e.Arena.work.Wait()
		e.Arena = New(Outside{Store: e.store, Journals: e.book, Bots: r, Audience: audienceFunc(nil), Log: slog.New(slog.DiscardHandler)})
		if err := e.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if night := e.wait(); night.State != Finished || night.legs()[0].Tables[0].State != Void {
			t.Errorf("the night is %v and its leg %v, want finished and void", night.State, night.legs()[0].Tables[0].State)
		}
		if _, err := Verify(bytes.NewReader(export(t, e.Arena, e.id))); err != nil {
			t.Errorf("the export does not hold: %v", err)
		}
	})
}

// All is decided, and the programs are being ended, which takes them seconds.
func TestAFinalWhoseLastLegIsMadeVoidAtTheVeryEndGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		r := newRoster(bots...)
		r.ending = 2 * time.Second
		e, h := hire(t, Settings{Rounds: 1, FinalTable: 3, UntilDecided: true, MaxGames: 3000, Seed: seed(8)}, r)
		var missing atomic.Int32 // of those that are asked
		r.decide = func(bot string, q table.Question) table.Answer {
			r.mu.Lock()
			defer r.mu.Unlock()
			if !h.running[bot] {
				missing.Add(1)
			}
			if bot == "bot-01" {
				return table.Answer{Decision: stay25(q)}
			}
			return table.Answer{Passed: true}
		}
		for _, bot := range bots {
			if _, err := e.Enter(t.Context(), e.id, Entrant{Player: "cmd:true", Name: bot, ByOrganiser: true}, organiser); err != nil {
				t.Fatal(err)
			}
		}
		e.start()
		time.Sleep(time.Second)
		decided := e.now()
		if decided.State != Running || !decided.finalOver(len(decided.legs())) {
			t.Fatalf("the night is %v after %d legs, want it running and decided", decided.State, len(decided.legs()))
		}
		if err := e.VoidTable(t.Context(), e.id, len(decided.Rounds), 1, "a wrong build", organiser); err != nil {
			t.Fatal(err)
		}
		night := e.wait()
		if len(night.Rounds) != len(decided.Rounds)+1 || missing.Load() > 0 {
			t.Errorf("%d legs and then %d, in which programs were asked %d times that did not run; want one more, and never",
				len(decided.legs()), len(night.legs()), missing.Load())
		}
		if _, err := Verify(bytes.NewReader(export(t, e.Arena, e.id))); err != nil {
			t.Errorf("the export does not hold: %v", err)
		}
		if len(h.running) > 0 {
			t.Errorf("%v run after the night", h.running)
		}
	})
}
