package arena

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"log/slog"
	"math/big"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flip7-arena/flip7/arena/table"
)

func TestANightWaitsForNobodyWhenAllAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(8)
		e := prepare(t, Settings{Rounds: 3}, newRoster(bots...), bots...)
		begun := time.Now()
		e.start()
		night := e.wait()
		if night.State != Finished || len(night.Rounds) != 3 {
			t.Fatalf("the night is %v after %d pairing rounds, want finished after 3", night.State, len(night.Rounds))
		}
		if waited := time.Since(begun); waited != 0 {
			t.Errorf("the check-in waited %v though everybody was there", waited)
		}
		for _, tab := range night.Rounds[0].Tables {
			if len(tab.Games) != 8 {
				t.Fatalf("a table of 4 with 2 rotations played %d games, want 8", len(tab.Games))
			}
			for entry, seats := range satAt(tab) {
				if !slices.Equal(sortedKeys(seats), []int{0, 1, 2, 3}) || seats[0] != 2 || seats[3] != 2 {
					t.Errorf("entry %d sat in the seats %v, want twice in each", entry, seats)
				}
			}
		}
		if len(e.bots.pinned) != 0 {
			t.Errorf("builds are still pinned after the night: %v", e.bots.pinned)
		}
	})
}

func TestProgramsAreEndedSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(8)
		r := newRoster(bots...)
		r.ending = 2 * time.Second
		e := prepare(t, Settings{Rounds: 1}, r, bots...)
		begun := time.Now()
		e.start()
		e.wait()
		if took := time.Since(begun); took != r.ending {
			t.Errorf("the night ended %v after its last game, want the %v that each program takes", took, r.ending)
		}
	})
}

func TestWhoIsNotThereIsNotPairedAndScoresNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(7)
		r := newRoster(bots[:6]...)
		e := prepare(t, Settings{Rounds: 2, CheckIn: time.Minute}, r, bots...)
		begun := time.Now()
		e.start()
		synctest.Wait()
		if n := len(e.now().Rounds); n != 0 {
			t.Fatalf("%d pairing rounds were made while the check-in ran", n)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		r.change(func() { r.there["bot-07"] = presence("bot-07") })
		night := e.wait()
		if got := time.Since(begun); got != time.Minute && got != 2*time.Minute {
			t.Errorf("the night took %v, want the check-in of one minute, or two", got)
		}
		if !slices.Equal(night.Rounds[0].Missing, []int{7}) {
			t.Errorf("missing in pairing round 1: %v, want entry 7", night.Rounds[0].Missing)
		}
		if s := standing(t, night, "bot-07"); s.Score.Cmp(big.NewRat(1, 1)) > 0 {
			t.Errorf("bot-07 scored %v in one pairing round at most", s.Score)
		}
		if zero := [32]byte{}; night.Entries[6].Contribution != zero {
			t.Error("a bot that came after the start added to the seeds")
		}
	})
}

func TestABotThatIsAbsentTwiceIsWithdrawnAndMayComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		r.absent["bot-02"] = true
		e := prepare(t, Settings{Rounds: 4}, r, bots...)
		e.start()
		night := e.wait()
		if len(night.Rounds[1].Tables[0].Bots) != 4 || len(night.Rounds[2].Tables[0].Bots) != 3 {
			t.Errorf("tables of %d and %d bots in pairing rounds 2 and 3, want 4 and 3: bot-02 is withdrawn after two",
				len(night.Rounds[1].Tables[0].Bots), len(night.Rounds[2].Tables[0].Bots))
		}
		all, err := night.Standings()
		if err != nil {
			t.Fatal(err)
		}
		if last := all[len(all)-1]; last.Name != "bot-02" || !last.Withdrawn {
			t.Errorf("the last of the standings is %v, want bot-02, withdrawn", last.Name)
		}
		if night.Entries[1].State != Withdrawn {
			t.Errorf("bot-02 is %v, want withdrawn", night.Entries[1].State)
		}
	})
}

func TestLateEntriesAndWithdrawalsCountFromTheNextPairingRound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(5)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 3}, r, bots[:4]...)
		// The third game's first decision is the moment in which the organiser acts.
		acted := false
		r.decide = func(bot string, q table.Question) table.Answer {
			r.mu.Lock()
			first := !acted
			acted = true
			r.mu.Unlock()
			if first {
				e.enter("bot-05")
				if err := e.Withdraw(t.Context(), e.id, "bot-01", organiser); err != nil {
					t.Error(err)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		for i, want := range [][]int{{1, 2, 3, 4}, {2, 3, 4, 5}, {2, 3, 4, 5}} {
			got := slices.Sorted(slices.Values(night.Rounds[i].Tables[0].Bots))
			if !slices.Equal(got, want) {
				t.Errorf("pairing round %d seats %v, want %v", i+1, got, want)
			}
		}
		if night.Entries[4].From != 2 {
			t.Errorf("bot-05 plays from pairing round %d, want 2", night.Entries[4].From)
		}
	})
}

func TestTheAnchorPlaysOutsideTheRanksWhenItEvensTheTables(t *testing.T) {
	for _, c := range []struct {
		name   string
		anchor Anchor
		bots   int
		want   bool
	}{
		{"7 bots at tables of 4 are joined by it", AnchorAuto, 7, true},
		{"8 bots at tables of 4 are not", AnchorAuto, 8, false},
		{"8 bots are, if it is on", AnchorOn, 8, true},
		{"7 bots are not, if it is off", AnchorOff, 7, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bots := names(c.bots)
				e := prepare(t, Settings{Rounds: 1, Anchor: c.anchor}, newRoster(bots...), bots...)
				e.start()
				night := e.wait()
				_, there := night.Entry("stay-25")
				if there != c.want {
					t.Fatalf("the anchor has entered: %v, want %v", there, c.want)
				}
				if there {
					if s := standing(t, night, "stay-25"); s.Rank != 0 {
						t.Errorf("the anchor has rank %d, want none", s.Rank)
					}
				}
			})
		})
	}
}

func TestHouseBotsFillUpWhenFewerThanThreeAreThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := prepare(t, Settings{Rounds: 2, Anchor: AnchorOff}, newRoster("solo"), "solo")
		e.start()
		night := e.wait()
		if n := len(night.Rounds[0].Tables[0].Bots); n != 3 {
			t.Fatalf("the table has %d bots, want 3", n)
		}
		all, err := night.Standings()
		if err != nil || len(all) != 1 || all[0].Name != "solo" {
			t.Errorf("standings are %v (%v), want solo alone", all, err)
		}
	})
}

func TestANightWithoutAnybodyEndsAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := prepare(t, Settings{Rounds: 2, CheckIn: time.Minute}, newRoster(), names(3)...)
		begun := time.Now()
		e.start()
		night := e.wait()
		if night.State != Finished || len(night.Rounds) != 2 || len(night.Rounds[1].Missing) != 3 {
			t.Errorf("the night is %v after %d pairing rounds, want finished after 2 with 3 missing", night.State, len(night.Rounds))
		}
		if got := time.Since(begun); got != 2*time.Minute {
			t.Errorf("the night took %v, want two check-ins of a minute", got)
		}
	})
}

func TestAPanicEndsAnAttemptAndTwoMakeTheTableVoid(t *testing.T) {
	for _, c := range []struct {
		name   string
		panics int // in the first game of table 1
		state  TableState
	}{
		{"one panic: the game is begun again on a fresh deal", 1, Complete},
		{"two panics: the table is void, 1/2 for its bots", 2, Void},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				bots := names(4)
				r := newRoster(bots...)
				for i := range bots {
					r.there[bots[i]] = Presence{Build: "v1", MaxGames: 1} // one game after the other
				}
				left := c.panics
				r.decide = func(bot string, q table.Question) table.Answer {
					if left > 0 && q.Number == 5 {
						left--
						panic("a fault of ours")
					}
					return table.Answer{Decision: stay25(q)}
				}
				e := prepare(t, Settings{Rounds: 1}, r, bots...)
				e.start()
				night := e.wait()
				tab := night.Rounds[0].Tables[0]
				if tab.State != c.state {
					t.Fatalf("the table is %v (%s), want %v", tab.State, tab.Why, c.state)
				}
				if c.state == Void {
					if s := standing(t, night, "bot-01"); s.Score.Cmp(big.NewRat(1, 2)) != 0 {
						t.Errorf("bot-01 scored %v at a void table, want 1/2", s.Score)
					}
					return
				}
				if tab.Games[0].Attempt != 2 || tab.Games[1].Attempt != 1 {
					t.Errorf("games 1 and 2 count by attempts %d and %d, want 2 and 1", tab.Games[0].Attempt, tab.Games[1].Attempt)
				}
				if _, err := Verify(bytes.NewReader(export(t, e.Arena, e.id))); err != nil {
					t.Errorf("the export does not hold: %v", err)
				}
			})
		})
	}
}

func TestAFullDiskHoldsTheNightAndItGoesOnWhenThereIsRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		e := prepare(t, Settings{Rounds: 2, Seed: seed(3)}, newRoster(bots...), bots...)
		e.book.full = true
		e.start()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if night := e.now(); night.State != Held || !strings.Contains(night.Why, errFull.Error()) {
			t.Fatalf("the night is %v (%s), want held for the full disk", night.State, night.Why)
		}
		e.book.mu.Lock()
		e.book.full = false
		e.book.mu.Unlock()
		night := e.wait()
		if night.State != Finished {
			t.Fatalf("the night is %v, want finished", night.State)
		}

		calm := prepare(t, Settings{Rounds: 2, Seed: seed(3)}, newRoster(bots...), bots...)
		calm.start()
		calm.wait()
		if !bytes.Equal(export(t, e.Arena, e.id), export(t, calm.Arena, calm.id)) {
			t.Error("a night that was held has other results than one that was not")
		}
	})
}

func TestARestartInTheMiddleOfGamesChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(8)
		settings := Settings{Rounds: 2, Seed: seed(5)}
		calm := prepare(t, settings, newRoster(bots...), bots...)
		calm.start()
		calm.wait()
		want := export(t, calm.Arena, calm.id)

		r := newRoster(bots...)
		asked := 0
		var stop func()
		r.decide = func(bot string, q table.Question) table.Answer {
			r.mu.Lock()
			asked++
			now := asked%555 == 0
			r.mu.Unlock()
			if now {
				stop()
			}
			return table.Answer{Decision: stay25(q)}
		}
		e := prepare(t, settings, r, bots...)
		stopped := make(chan struct{}, 100)
		stop = func() {
			e.Arena.stop(ErrStopping)
			stopped <- struct{}{}
		}
		e.start()
		restarts := 0
		for {
			e.Arena.work.Wait()
			if len(stopped) == 0 {
				break
			}
			for len(stopped) > 0 {
				<-stopped
			}
			restarts++
			e.Arena = New(Outside{Store: e.store, Journals: e.book, Bots: r, Audience: audienceFunc(nil), Log: slog.New(slog.DiscardHandler)})
			if err := e.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if restarts < 5 {
			t.Fatalf("the arena was restarted %d times, want 5 at least", restarts)
		}
		if night := e.wait(); night.State != Finished {
			t.Fatalf("the night is %v, want finished", night.State)
		}
		if !bytes.Equal(export(t, e.Arena, e.id), want) {
			t.Errorf("after %d restarts the results are others", restarts)
		}
	})
}

func TestWhoWaitsBeforeTheArenaGoesOnIsToldOfTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 1}, r, bots...)
		before := e.Arena
		r.decide = func(bot string, q table.Question) table.Answer {
			before.stop(ErrStopping)
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		before.work.Wait()
		e.Arena = New(Outside{Store: e.store, Journals: e.book, Bots: r, Audience: audienceFunc(nil), Log: slog.New(slog.DiscardHandler)})
		ended := make(chan *Tournament)
		go func() { ended <- e.wait() }()
		synctest.Wait()
		if err := e.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if night := <-ended; night.State != Finished {
			t.Errorf("the night is %v, want it finished", night.State)
		}
	})
}

func TestThePausedNightEndsItsTablesAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 3}, r, bots...)
		r.decide = func(bot string, q table.Question) table.Answer {
			if q.Number == 3 {
				if err := e.Pause(t.Context(), e.id, organiser); err != nil {
					t.Error(err)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		synctest.Wait()
		night := e.now()
		if night.State != Paused || len(night.Rounds) != 1 || night.Rounds[0].Tables[0].State != Complete {
			t.Fatalf("the night is %v in pairing round %d, want paused with the tables of round 1 complete", night.State, len(night.Rounds))
		}
		r.mu.Lock()
		r.decide = nil
		r.mu.Unlock()
		for range 2 { // the second is harmless
			if err := e.Continue(t.Context(), e.id, organiser); err != nil {
				t.Fatal(err)
			}
		}
		if night := e.wait(); night.State != Finished || len(night.Rounds) != 3 {
			t.Errorf("the night is %v after %d pairing rounds, want finished after 3", night.State, len(night.Rounds))
		}
	})
}

// However the night's goroutine gets to run in between.
func TestANightThatIsPausedForAMomentGoesOnWaiting(t *testing.T) {
	e := prepare(t, Settings{Rounds: 1, CheckIn: time.Hour}, newRoster(), "bot-01") // which is waited for
	e.start()
	for n := range 2000 {
		for _, err := range []error{e.Pause(t.Context(), e.id, organiser), e.Continue(t.Context(), e.id, organiser)} {
			if err != nil {
				t.Fatalf("pause %d: %v; nobody is there yet, and the hour is not over", n+1, err)
			}
		}
	}
	if rounds := len(e.now().Rounds); rounds > 0 {
		t.Errorf("%d pairing rounds were made without the bot that is waited for", rounds)
	}
}

func TestCancelBreaksOffAndNothingIsRated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 3}, r, bots...)
		cancelled := false
		r.decide = func(bot string, q table.Question) table.Answer {
			r.mu.Lock()
			first := !cancelled
			cancelled = true
			r.mu.Unlock()
			if first {
				if err := e.Cancel(t.Context(), e.id, "power cut in the hall", organiser); err != nil {
					t.Error(err)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		synctest.Wait()
		if night.State != Cancelled || night.Why != "power cut in the hall" {
			t.Errorf("the night is %v (%s), want cancelled with the reason", night.State, night.Why)
		}
		season, err := e.Season(t.Context(), "main", SeasonOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if elo, err := season.Elo(); err != nil || elo.Games != 0 {
			t.Errorf("%d games of a cancelled night are rated (%v)", elo.Games, err)
		}
	})
}

func TestATableMadeVoidByHand(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(8)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 2}, r, bots...)
		var void sync.Once // and nobody plays on meanwhile: the table could be over before
		r.decide = func(bot string, q table.Question) table.Answer {
			void.Do(func() {
				for range 2 { // the second is harmless
					if err := e.VoidTable(t.Context(), e.id, 1, 2, "two bots of one author at the keyboard", organiser); err != nil {
						t.Error(err)
					}
				}
				// Whoever is told so can rely on it: a killed arena goes on from what is kept.
				if kept, err := e.Store.Tournament(t.Context(), e.id); err != nil || kept.Rounds[0].Tables[1].State != Void {
					t.Errorf("a table that was made void is kept otherwise (%v)", err)
				}
			})
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		tab := night.Rounds[0].Tables[1]
		if tab.State != Void || tab.Why == "" || len(tab.Games) == 8 {
			t.Errorf("table 2 is %v (%s) with %d games, want void and broken off", tab.State, tab.Why, len(tab.Games))
		}
		if night.Rounds[0].Tables[0].State != Complete {
			t.Error("the other table was touched")
		}
		if _, err := Verify(bytes.NewReader(export(t, e.Arena, e.id))); err != nil {
			t.Errorf("the export does not hold: %v", err)
		}
	})
}

func TestATableMadeVoidStaysSoWhenTheNightIsCancelledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 2}, r, bots...)
		var voided atomic.Bool
		r.decide = func(bot string, q table.Question) table.Answer {
			if voided.CompareAndSwap(false, true) {
				err := e.VoidTable(t.Context(), e.id, 1, 1, "a wrong build", organiser)
				if err == nil {
					err = e.Cancel(t.Context(), e.id, "a storm", organiser)
				}
				if err != nil {
					t.Error(err)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		synctest.Wait()
		if tab := night.Rounds[0].Tables[0]; night.State != Cancelled || tab.State != Void || tab.Why != "a wrong build" {
			t.Errorf("the night is %v and its table %v (%s), want cancelled and void for its own reason", night.State, tab.State, tab.Why)
		}
	})
}

func TestATableMadeVoidAfterTheNextPairingLeavesThatAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(8)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 3}, r, bots...)
		var voided atomic.Bool
		r.decide = func(bot string, q table.Question) table.Answer {
			if len(e.now().Rounds) == 2 && voided.CompareAndSwap(false, true) {
				if err := e.VoidTable(t.Context(), e.id, 1, 1, "a wrong build", organiser); err != nil {
					t.Error(err)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		if tab := night.Rounds[0].Tables[0]; tab.State != Void || tab.VoidFrom != 3 {
			t.Errorf("table 1 is %v from pairing round %d on, want void from 3", tab.State, tab.VoidFrom)
		}
		if _, err := Verify(bytes.NewReader(export(t, e.Arena, e.id))); err != nil {
			t.Errorf("the export does not hold: %v", err)
		}
	})
}

func TestABotPlaysInOneTournamentAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 2, CheckIn: time.Hour}, r, append(bots, "nobody")...)
		other, err := e.Create(t.Context(), Settings{Name: "other"}, "", organiser)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Open(t.Context(), other.ID, organiser); err != nil {
			t.Fatal(err)
		}
		if _, err := e.Enter(t.Context(), other.ID, Entrant{Player: "bot:bot-01"}, organiser); err != nil {
			t.Fatal(err)
		}
		e.start() // waits an hour for nobody
		err = e.Start(t.Context(), other.ID, time.Time{}, organiser)
		if _, refused := errors.AsType[*StateError](err); !refused {
			t.Errorf("a second tournament with bot-01 started: %v", err)
		}
		e.wait()
		if err := e.Start(t.Context(), other.ID, time.Time{}, organiser); err != nil {
			t.Errorf("bot-01 is free again, and yet: %v", err)
		}
	})
}

func TestATournamentStartsAtItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		e := prepare(t, Settings{Rounds: 1}, newRoster(bots...), bots...)
		if err := e.Start(t.Context(), e.id, time.Now().Add(3*time.Hour), organiser); err != nil {
			t.Fatal(err)
		}
		time.Sleep(3*time.Hour - time.Second)
		synctest.Wait()
		if state := e.now().State; state != Open {
			t.Errorf("a second before its time the tournament is %v, want open", state)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if state := e.now().State; state != Finished {
			t.Errorf("at its time the tournament is %v, want finished", state)
		}
	})
}

func TestGameSeedsAreWhatIsPublished(t *testing.T) {
	night := &Tournament{Secret: [32]byte{1, 2, 3}, Entries: []Entry{
		{Number: 1, Name: "a", From: 1, Contribution: [32]byte{9}}, {Number: 2, Name: "b", From: 1},
		{Number: 3, Name: "late", From: 2, Contribution: [32]byte{7}}, {Number: 4, Name: "filler", From: 1, FillIn: true}}}
	mac := hmac.New(sha256.New, night.Secret[:])
	mac.Write([]byte("flip7/game/2/10/3/1"))
	a := [32]byte{9}
	mac.Write(a[:])
	mac.Write(make([]byte, 32))
	if got := night.GameSeed(2, 10, 3, 1); !bytes.Equal(got[:], mac.Sum(nil)) {
		t.Errorf("game seed %x, want %x", got, mac.Sum(nil))
	}
	before := night.GameSeed(2, 10, 3, 1)
	if before == night.GameSeed(2, 10, 3, 2) {
		t.Error("a new attempt meets the old deal")
	}
	night.Settings.Seed = seed(1)
	if before == night.GameSeed(2, 10, 3, 1) {
		t.Error("what bots brought counts in a predictable tournament")
	}
}

func TestAPlannedNightMeetsEvenlyUntilSomebodyLeaves(t *testing.T) {
	if testing.Short() {
		t.Skip("making plans is slow under the race detector, and has no race in it")
	}
	synctest.Test(t, func(t *testing.T) {
		bots := names(8)
		e := prepare(t, Settings{Rounds: 7, Schedule: Planned, Rotations: 1}, newRoster(bots...), bots...)
		e.start()
		night := e.wait()
		met := map[[2]int]int{}
		for _, r := range night.Rounds {
			for _, tab := range r.Tables {
				for _, a := range tab.Bots {
					for _, b := range tab.Bots {
						met[[2]int{a, b}]++
					}
				}
			}
		}
		for a := 1; a <= 8; a++ {
			for b := 1; b < a; b++ {
				if met[[2]int{a, b}] != 3 {
					t.Errorf("entries %d and %d met %d times in 7 pairing rounds, want 3", a, b, met[[2]int{a, b}])
				}
			}
		}
		if _, err := Verify(bytes.NewReader(export(t, e.Arena, e.id))); err != nil {
			t.Errorf("the export does not hold: %v", err)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		bots := names(9)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 4, Schedule: Planned, Rotations: 1, Anchor: AnchorOff}, r, bots...)
		gone := false
		r.decide = func(bot string, q table.Question) table.Answer {
			rounds := len(e.now().Rounds) // before r.mu: the night asks the roster under its own lock
			r.mu.Lock()
			now := !gone && rounds == 2
			gone = gone || now
			r.mu.Unlock()
			if now {
				if err := e.Withdraw(t.Context(), e.id, "bot-09", organiser); err != nil {
					t.Error(err)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		if n := len(night.Rounds[3].Tables); n != 2 {
			t.Errorf("8 bots sit at %d tables after one left, want 2", n)
		}
		if _, err := Verify(bytes.NewReader(export(t, e.Arena, e.id))); err != nil {
			t.Errorf("the export does not hold: %v", err)
		}
	})
}

func TestAKickedBotIsNotAskedAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(5)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 2, Anchor: AnchorOff}, r, bots...)
		var kicking, kicked atomic.Bool
		var asked atomic.Int32 // after it was kicked
		r.decide = func(bot string, q table.Question) table.Answer {
			if bot == "bot-02" {
				if kicked.Load() {
					asked.Add(1)
				}
				if kicking.CompareAndSwap(false, true) {
					if err := e.Kick(t.Context(), e.id, "bot-02", organiser); err != nil {
						t.Error(err)
					}
					kicked.Store(true)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		// Those that were on their way when it was kicked: one for each of the three other games that ran.
		if n := asked.Load(); n > 3 {
			t.Errorf("bot-02 was asked %d times after it was kicked, want at most once in each running game", n)
		}
		if s := standing(t, night, "bot-02"); s.Faults == 0 || !s.Withdrawn {
			t.Errorf("bot-02 has %d faults and withdrawn %v, want faults by default decisions, and withdrawn", s.Faults, s.Withdrawn)
		}
		if n := len(night.Rounds[1].Tables[0].Bots); n != 4 {
			t.Errorf("pairing round 2 seats %d bots, want the 4 others", n)
		}
		league := season(t, e.Arena, SeasonOptions{})
		for _, entry := range night.Entries {
			if got, want := league.Kicked(entry.Name, entry.Build), entry.Name == "bot-02"; got != want {
				t.Errorf("the season says of %s: kicked out %v", entry.Name, got)
			}
		}
	})
}

func TestOnlyTheOrganiserBringsAKickedBotBack(t *testing.T) {
	bots := names(3)
	e := prepare(t, Settings{Rounds: 2}, newRoster(bots...), bots...)
	if err := e.Kick(t.Context(), e.id, "bot-01", organiser); err != nil {
		t.Fatal(err)
	}
	_, err := e.Enter(t.Context(), e.id, Entrant{Player: "bot:bot-01"}, organiser)
	if _, refused := errors.AsType[*StateError](err); !refused {
		t.Errorf("its owner brought it back: %v", err)
	}
	entry, err := e.Enter(t.Context(), e.id, Entrant{Player: "bot:bot-01", ByOrganiser: true}, organiser)
	if err != nil || entry.State != Entered || entry.Number != 1 {
		t.Errorf("the organiser brings back %+v (%v), want entry 1", entry, err)
	}
}

func TestAStartThatCannotBe(t *testing.T) {
	bots := names(3)
	e := prepare(t, Settings{Rounds: 1}, newRoster(bots...))
	err := e.Start(t.Context(), e.id, time.Time{}, organiser)
	if _, refused := errors.AsType[*StateError](err); !refused {
		t.Errorf("a tournament that nobody has entered starts: %v", err)
	}
	e.enter("bot-01")
	err = e.Start(t.Context(), e.id, time.Now().Add(-time.Hour), organiser)
	if setting, refused := errors.AsType[*SettingError](err); !refused || setting.Field != "start_time" {
		t.Errorf("a start an hour ago: got %v, want a complaint about start_time", err)
	}
	if state := e.now().State; state != Open {
		t.Errorf("the tournament is %v, want open as before", state)
	}
}

func TestAStartThatFailsAtItsTimeSaysWhyAndIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		e := prepare(t, Settings{Rounds: 1}, newRoster(bots...))
		if err := e.Start(t.Context(), e.id, time.Now().Add(time.Minute), organiser); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if night := e.now(); night.State != Open || !strings.Contains(night.Why, "nobody has entered") {
			t.Errorf("at its time the tournament is %v (%s), want open, and that nobody has entered", night.State, night.Why)
		}
		for _, bot := range bots {
			e.enter(bot)
		}
		time.Sleep(startRetry)
		synctest.Wait()
		if night := e.wait(); night.State != Finished || night.Why != "" {
			t.Errorf("with bots there it is %v (%s), want finished", night.State, night.Why)
		}
	})
}

func TestTheAnchorAndFillInsDoNotPlayByThemselves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoster("solo")
		e := prepare(t, Settings{Rounds: 3, CheckIn: time.Minute, Anchor: AnchorOn}, r, "solo")
		left := false
		r.decide = func(bot string, q table.Question) table.Answer {
			r.mu.Lock()
			now := !left
			left = true
			r.mu.Unlock()
			if now {
				if err := e.Withdraw(t.Context(), e.id, "solo", organiser); err != nil {
					t.Error(err)
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		night := e.wait()
		if len(night.Rounds[0].Tables) != 1 || len(night.Rounds[1].Tables)+len(night.Rounds[2].Tables) != 0 {
			t.Errorf("there are %d, %d and %d tables, want 1, 0, 0: the only bot has left", len(night.Rounds[0].Tables), len(night.Rounds[1].Tables), len(night.Rounds[2].Tables))
		}
		season, err := e.Season(t.Context(), "main", SeasonOptions{})
		if err != nil {
			t.Fatal(err)
		}
		elo, err := season.Elo()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range elo.Rows {
			if row.Bot != "solo" && row.Bot != "stay-25" {
				t.Errorf("%s, which only filled the table up, is in the Elo table", row.Bot)
			}
		}
		if len(elo.Rows) != 2 || elo.Games != len(night.Rounds[0].Tables[0].Games) {
			t.Errorf("%d rows of %d games, want solo and the anchor, of %d", len(elo.Rows), elo.Games, len(night.Rounds[0].Tables[0].Games))
		}
	})
}

func TestANightWhoseBotsHaveAllLeftWaitsForOneToComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 2, CheckIn: time.Minute, Anchor: AnchorOff}, r, bots...)
		left := false
		r.decide = func(bot string, q table.Question) table.Answer {
			r.mu.Lock()
			now := !left
			left = true
			r.mu.Unlock()
			if now {
				for _, bot := range bots {
					if err := e.Withdraw(t.Context(), e.id, bot, organiser); err != nil {
						t.Error(err)
					}
				}
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		time.Sleep(30 * time.Second)
		synctest.Wait()
		e.enter(bots[0]) // the round begins at once: everybody who has entered is there
		if night := e.wait(); len(night.Rounds[1].Tables) != 1 {
			t.Errorf("pairing round 2 has %d tables, want 1: one of them came back in time", len(night.Rounds[1].Tables))
		}
	})
}

// meddling is a Store in which something happens right before something is written. Like one on a disk it does not begin
// what nobody waits for any more.
type meddling struct {
	*Memory
	head  func(*Tournament) error
	round func(Round) error
	game  func(GameID) error
	table func(Table) error
	entry func(Entry) error
	read  func()
}

func (m *meddling) SaveHead(ctx context.Context, t *Tournament) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.head != nil {
		if err := m.head(t); err != nil {
			return err
		}
	}
	return m.Memory.SaveHead(ctx, t)
}

func (m *meddling) SaveRound(ctx context.Context, id int64, r Round) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.round != nil {
		if err := m.round(r); err != nil {
			return err
		}
	}
	return m.Memory.SaveRound(ctx, id, r)
}

func (m *meddling) SaveGame(ctx context.Context, id GameID, p Played) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.game != nil {
		if err := m.game(id); err != nil {
			return err
		}
	}
	return m.Memory.SaveGame(ctx, id, p)
}

func (m *meddling) SaveTable(ctx context.Context, id int64, round int, t Table) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if m.table != nil {
		if err := m.table(t); err != nil {
			return err
		}
	}
	return m.Memory.SaveTable(ctx, id, round, t)
}

func (m *meddling) SaveEntries(ctx context.Context, id int64, entries ...Entry) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for _, e := range entries {
		if m.entry == nil {
			break
		}
		if err := m.entry(e); err != nil {
			return err
		}
	}
	return m.Memory.SaveEntries(ctx, id, entries...)
}

func (m *meddling) Audit(ctx context.Context, id int64, act Act) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return m.Memory.Audit(ctx, id, act)
}

func (m *meddling) Tournament(ctx context.Context, id int64) (*Tournament, error) {
	t, err := m.Memory.Tournament(ctx, id)
	if m.read != nil {
		m.read()
	}
	return t, err
}

// meddle puts a store into the arena in which something can happen.
func (e *eve) meddle() *meddling {
	m := &meddling{Memory: e.store}
	e.Arena.Store = m
	return m
}

// hired is a roster that knows which commands run.
type hired struct {
	*roster
	running map[string]bool
}

func (h *hired) Start(bot, _ string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running[bot] = true
	return nil
}

func (h *hired) Stop(bot string) {
	h.mu.Lock()
	delete(h.running, bot)
	h.mu.Unlock()
	time.Sleep(h.ending)
}

// hire opens a tournament that commands may enter.
func hire(t *testing.T, s Settings, r *roster) (*eve, *hired) {
	t.Helper()
	h := &hired{r, map[string]bool{}}
	e := prepare(t, s, r)
	e.Arena.Bots = h
	return e, h
}

// Tomorrow's tournament is prepared while tonight's runs.
func TestACommandEndsWithTheLastTournamentThatItHasEntered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoster("sparring")
		e, h := hire(t, Settings{Rounds: 1}, r)
		next, err := e.Create(t.Context(), Settings{Name: "tomorrow"}, "", organiser)
		if err == nil {
			err = e.Open(t.Context(), next.ID, organiser)
		}
		for _, id := range []int64{e.id, next.ID} {
			if err == nil {
				_, err = e.Enter(t.Context(), id, Entrant{Player: "cmd:true", Name: "sparring", ByOrganiser: true}, organiser)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		e.start()
		e.wait()
		if !h.running["sparring"] {
			t.Error("the command was ended with the first tournament, and the second needs it")
		}
		if err := e.Cancel(t.Context(), next.ID, "nobody comes", organiser); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if h.running["sparring"] {
			t.Error("the command runs on after the second tournament was cancelled")
		}
	})
}

func TestABotThatPlaysElsewhereByNowKeepsItsBuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		var e *eve
		var other *Tournament
		var left, free sync.Once
		r.decide = func(bot string, q table.Question) table.Answer {
			switch len(e.now().Rounds) {
			case 1:
				left.Do(func() {
					if err := e.Withdraw(t.Context(), e.id, "bot-04", organiser); err != nil {
						t.Error(err)
					}
				})
			case 2:
				free.Do(func() {
					if err := e.Start(t.Context(), other.ID, time.Time{}, organiser); err != nil {
						t.Error(err)
					}
					r.Pin("bot-04", "v1") // as by its first pairing there
				})
			}
			return table.Answer{Decision: stay25(q)}
		}
		e = prepare(t, Settings{Rounds: 2}, r, bots...)
		other, err := e.Create(t.Context(), Settings{Name: "another night", Rounds: 2, CheckIn: time.Hour}, "", organiser)
		if err == nil {
			err = e.Open(t.Context(), other.ID, organiser)
		}
		for _, who := range []string{"bot:bot-04", "bot:bot-05"} {
			if err == nil {
				_, err = e.Enter(t.Context(), other.ID, Entrant{Player: who}, organiser)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		e.start()
		e.wait()
		if _, pinned := r.pinned["bot-04"]; !pinned {
			t.Error("the end of the night that bot-04 has left lets it change its build in the one in which it plays")
		}
	})
}

func TestAnEntryThatFailsKeepsNobodyFromPlayingElsewhere(t *testing.T) {
	e := prepare(t, Settings{Rounds: 2, CheckIn: time.Hour}, newRoster(), "bot-01")
	other, err := e.Create(t.Context(), Settings{Name: "another night", CheckIn: time.Hour}, "", organiser)
	if err == nil {
		err = e.Open(t.Context(), other.ID, organiser)
	}
	if err == nil {
		_, err = e.Enter(t.Context(), other.ID, Entrant{Player: "bot:bot-02"}, organiser)
	}
	if err != nil {
		t.Fatal(err)
	}
	e.start()
	m := e.meddle()
	m.entry = func(Entry) error { return errFull }
	if _, err := e.Enter(t.Context(), e.id, Entrant{Player: "bot:bot-02"}, organiser); !errors.Is(err, errFull) {
		t.Fatalf("got %v, want that there is no room", err)
	}
	if err := e.Start(t.Context(), other.ID, time.Time{}, organiser); err != nil {
		t.Errorf("bot-02 has entered one tournament only, and that does not start: %v", err)
	}
}

// As programs are ended, which takes them seconds, the last game is over and the night is not.
func TestANightThatIsPausedOrCancelledAtTheVeryEndIsNotFinished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		r := newRoster(bots...)
		r.ending = 2 * time.Second
		e := prepare(t, Settings{Rounds: 1}, r, bots...)
		e.start()
		time.Sleep(time.Second)
		if err := e.Pause(t.Context(), e.id, organiser); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if state := e.now().State; state != Paused {
			t.Errorf("a night that was paused is %v a minute later", state)
		}
		if err := e.Continue(t.Context(), e.id, organiser); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if err := e.Cancel(t.Context(), e.id, "the wrong bots", organiser); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if night := e.now(); night.State != Cancelled || night.Why != "the wrong bots" {
			t.Errorf("a night that was cancelled is %v (%s) a minute later", night.State, night.Why)
		}
	})
}

func TestWhoActsAsTheNightEndsActsInTimeOrIsRefused(t *testing.T) {
	bots := names(3)
	e := prepare(t, Settings{Rounds: 1}, newRoster(bots...), bots...)
	found := e.nights[e.id]
	e.start()
	e.wait()
	before := export(t, e.Arena, e.id)
	for what, do := range map[string]func() error{
		"cancel":   func() error { return e.Cancel(t.Context(), e.id, "late", organiser) },
		"withdraw": func() error { return e.Withdraw(t.Context(), e.id, "bot-01", organiser) },
		"kick":     func() error { return e.Kick(t.Context(), e.id, "bot-02", organiser) },
		"void":     func() error { return e.VoidTable(t.Context(), e.id, 1, 1, "late", organiser) },
	} {
		e.nights[e.id] = found // as whoever looked before the end has it
		if _, refused := errors.AsType[*StateError](do()); !refused {
			t.Errorf("%s: not refused, and the night is finished", what)
		}
	}
	delete(e.nights, e.id)
	if state := e.now().State; state != Finished || !bytes.Equal(export(t, e.Arena, e.id), before) {
		t.Errorf("the finished night is %v now, or its results are others", state)
	}
}

func TestNothingBeginsInANightThatWasCancelled(t *testing.T) {
	bots := names(3)
	e := prepare(t, Settings{Rounds: 1}, newRoster(bots...), bots...)
	n := e.nights[e.id]
	var once sync.Once
	e.bots.decide = func(bot string, q table.Question) table.Answer {
		once.Do(func() {
			if err := e.Cancel(t.Context(), e.id, "a storm", organiser); err != nil {
				t.Error(err)
			}
			// Another game was about to begin.
			s := &sitting{night: n, t: n.t, round: 1, table: n.t.Rounds[0].Tables[0]}
			s.announce(s.setup(2, 1), nil)
		})
		return table.Answer{Decision: stay25(q)}
	}
	e.start()
	e.wait()
	e.Arena.Close()
	over := slices.IndexFunc(*e.events, func(event Event) bool { return event.Text == Cancelled.String() })
	if begun := slices.ContainsFunc((*e.events)[over:], func(event Event) bool { return event.Kind == GameBegan }); begun {
		t.Error("a game began after the night was cancelled: whoever counts those that run counts it for ever")
	}
}

// A bot was absent at a table that is complete, the disk does not take that at once, and meanwhile the table is made void.
func TestATableMadeVoidRightAfterItsEndHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		r := newRoster(bots...)
		r.absent["bot-02"] = true
		e := prepare(t, Settings{Rounds: 2}, r, bots...)
		full := false
		e.meddle().entry = func(entry Entry) error {
			if entry.AbsentTables == 1 && !full {
				full = true
				return errFull
			}
			return nil
		}
		e.start()
		time.Sleep(500 * time.Millisecond)
		if state := e.now().Rounds[0].Tables[0].State; state != Complete {
			t.Fatalf("the table is %v, want complete", state)
		}
		if err := e.VoidTable(t.Context(), e.id, 1, 1, "a wrong build", organiser); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		night := e.now()
		if night.State != Finished || night.Rounds[0].Tables[0].State != Void {
			t.Fatalf("the night is %v, its first table %v; want finished and void", night.State, night.Rounds[0].Tables[0].State)
		}
		if absent := night.Entries[1].AbsentTables; absent != 2 {
			t.Errorf("bot-02 was absent at %d tables running, want 2", absent)
		}
	})
}

// The disk is full as the first round is paired. Who comes and goes until there is room is taken for what it is then.
func TestWhoEntersOrLeavesWhileAPairingIsHeldCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(5)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 1, CheckIn: time.Minute, Anchor: AnchorOn}, r, bots[:4]...)
		full := true
		e.meddle().round = func(Round) error {
			if full {
				return errFull
			}
			return nil
		}
		e.start()
		time.Sleep(500 * time.Millisecond)
		if state := e.now().State; state != Held {
			t.Fatalf("the night is %v, want held", state)
		}
		if err := e.Withdraw(t.Context(), e.id, "bot-04", organiser); err != nil {
			t.Fatal(err)
		}
		e.enter("bot-05")
		full = false
		night := e.wait()
		var seated []string
		for _, tab := range night.Rounds[0].Tables {
			for _, number := range tab.Bots {
				seated = append(seated, night.Entries[number-1].Name)
			}
		}
		slices.Sort(seated)
		if want := []string{"bot-01", "bot-02", "bot-03", "bot-05", "stay-25"}; !slices.Equal(seated, want) || len(night.Rounds[0].Missing) > 0 {
			t.Errorf("%v were seated and %v missing, want %v and nobody", seated, night.Rounds[0].Missing, want)
		}
	})
}

// Else it would play a night of which nobody knows by which build.
func TestABotThatIsGoneAsItsFirstRoundIsPairedIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 1, CheckIn: time.Minute}, r, bots...)
		tries := 0
		e.meddle().entry = func(entry Entry) error {
			if tries++; tries == 1 {
				return errFull
			}
			return nil
		}
		e.start()
		time.Sleep(500 * time.Millisecond)
		r.change(func() { delete(r.there, "bot-02") })
		time.Sleep(30 * time.Second)
		r.change(func() { r.there["bot-02"] = presence("bot-02") })
		if night := e.wait(); len(night.Rounds[0].Tables[0].Bots) != 4 || night.Entries[1].Build != "v1" {
			t.Errorf("%d bots sit at the table and bot-02 plays by build %q, want 4 and v1", len(night.Rounds[0].Tables[0].Bots), night.Entries[1].Build)
		}
	})
}

func TestABotKickedBeforeARestartIsNotAskedAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(4)
		r := newRoster(bots...)
		e := prepare(t, Settings{Rounds: 1}, r, bots...)
		var kicking, restarted atomic.Bool
		var asked atomic.Int32 // after the restart
		r.decide = func(bot string, q table.Question) table.Answer {
			if restarted.Load() && bot == "bot-02" {
				asked.Add(1)
			}
			if kicking.CompareAndSwap(false, true) {
				if err := e.Kick(t.Context(), e.id, "bot-02", organiser); err != nil {
					t.Error(err)
				}
				e.Arena.stop(ErrStopping)
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		e.Arena.work.Wait()
		restarted.Store(true)
		e.Arena = New(Outside{Store: e.store, Journals: e.book, Bots: r, Audience: audienceFunc(nil), Log: slog.New(slog.DiscardHandler)})
		if err := e.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		if night := e.wait(); night.State != Finished || asked.Load() != 0 {
			t.Errorf("the night is %v, and the bot that was kicked out was asked %d times after the restart; want finished, and never", night.State, asked.Load())
		}
	})
}

// Its old time came just as another one was set.
func TestATournamentThatIsSetToAnotherTimeDoesNotStartAtTheOldOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		e := prepare(t, Settings{Rounds: 1}, newRoster(bots...), bots...)
		began := time.Now()
		old := began.Add(time.Hour)
		for _, at := range []time.Time{old, old.Add(time.Hour)} {
			if err := e.Start(t.Context(), e.id, at, organiser); err != nil {
				t.Fatal(err)
			}
		}
		e.nights[e.id].startAtLast(old)
		if night := e.wait(); night.Started.Sub(began) != 2*time.Hour {
			t.Errorf("the night started after %v, want 2 hours", night.Started.Sub(began))
		}
	})
}

// Two act on a draft at the same time: while one reads it, the other cancels it.
func TestATournamentThatIsCancelledWhileItIsReadStaysSo(t *testing.T) {
	e := prepare(t, Settings{Rounds: 1}, newRoster())
	draft, err := e.Create(t.Context(), Settings{Name: "another night"}, "", organiser)
	if err != nil {
		t.Fatal(err)
	}
	m := e.meddle()
	m.read = func() {
		m.read = nil
		if err := e.Cancel(t.Context(), draft.ID, "a mistake", organiser); err != nil {
			t.Error(err)
		}
	}
	if _, refused := errors.AsType[*StateError](e.Open(t.Context(), draft.ID, organiser)); !refused {
		t.Error("a tournament that was cancelled could be opened")
	}
	if now, err := e.Tournament(t.Context(), draft.ID); err != nil || now.State != Cancelled {
		t.Errorf("the tournament is %v (%v), want cancelled", now.State, err)
	}
}

// Whoever paused the night went away before the answer.
func TestWhatWasDoneIsNotedThoughNobodyWaitsForIt(t *testing.T) {
	e := prepare(t, Settings{Rounds: 1, CheckIn: time.Hour}, newRoster(), "bot-01")
	e.start()
	ctx, leave := context.WithCancel(t.Context())
	e.meddle().head = func(*Tournament) error { leave(); return nil }
	_ = e.Pause(ctx, e.id, Act{Who: "admin", What: "pause"})
	acts, err := e.store.Acts(t.Context(), e.id)
	if err != nil {
		t.Fatal(err)
	}
	noted := slices.ContainsFunc(acts, func(a Act) bool { return a.What == "pause" })
	if paused := e.now().State == Paused; paused != noted {
		t.Errorf("the night is paused: %v, and that is noted: %v", paused, noted)
	}
}

func TestANightThatIsHeldAndGoesOnAfterAPauseSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bots := names(3)
		e := prepare(t, Settings{Rounds: 1}, newRoster(bots...), bots...)
		e.book.full = true
		e.start()
		time.Sleep(5 * time.Second)
		held := e.now()
		for _, do := range []func() error{
			func() error { return e.Pause(t.Context(), e.id, organiser) },
			func() error { return e.Continue(t.Context(), e.id, organiser) },
		} {
			if err := do(); err != nil {
				t.Fatal(err)
			}
		}
		if now := e.now(); held.State != Held || now.State != Held || now.Why != held.Why {
			t.Errorf("the night is %v (%s), and was %v (%s) before the pause; nothing can be written yet", now.State, now.Why, held.State, held.Why)
		}
		if err := e.Pause(t.Context(), e.id, organiser); err != nil {
			t.Fatal(err)
		}
		e.book.mu.Lock()
		e.book.full = false
		e.book.mu.Unlock()
		time.Sleep(time.Minute)
		if err := e.Continue(t.Context(), e.id, organiser); err != nil {
			t.Fatal(err)
		}
		if now := e.now(); now.State != Running && now.State != Finished || now.Why != "" {
			t.Errorf("the night is %v (%s), want it running or, by now, finished", now.State, now.Why)
		}
		if night := e.wait(); night.State != Finished {
			t.Errorf("the night is %v, want finished", night.State)
		}
	})
}

func TestATableThatCouldNotBeMadeVoidIsNotNotedAsVoid(t *testing.T) {
	bots := names(3)
	e := prepare(t, Settings{Rounds: 1}, newRoster(bots...), bots...)
	var once sync.Once
	full := false // as the table is made void
	e.meddle().table = func(Table) error {
		if full {
			return errFull
		}
		return nil
	}
	e.bots.decide = func(bot string, q table.Question) table.Answer {
		once.Do(func() {
			full = true
			if err := e.VoidTable(t.Context(), e.id, 1, 1, "a wrong build", Act{Who: "admin", What: "void 1/1"}); !errors.Is(err, errFull) {
				t.Errorf("got %v, want that there is no room", err)
			}
			full = false
		})
		return table.Answer{Decision: stay25(q)}
	}
	e.start()
	night := e.wait()
	acts, err := e.store.Acts(t.Context(), e.id)
	if err != nil || slices.ContainsFunc(acts, func(a Act) bool { return a.What == "void 1/1" }) {
		t.Errorf("the table is %v, and the audit log says %v (%v)", night.Rounds[0].Tables[0].State, acts, err)
	}
}

// guarded are Journals of a store that is closed once the arena is.
type guarded struct {
	Journals
	closed atomic.Bool
	late   atomic.Int32 // opened after that
}

func (g *guarded) Open(id int64) (Journal, error) {
	if g.closed.Load() {
		g.late.Add(1)
	}
	return g.Journals.Open(id)
}

// However the two meet.
func TestANightThatStartsAsTheArenaClosesDoesNotOutliveIt(t *testing.T) {
	for n := range 300 {
		e := prepare(t, Settings{Rounds: 1, CheckIn: time.Hour}, newRoster(), "bot-01")
		g := &guarded{Journals: e.book}
		e.Arena.Journals = g
		started := make(chan struct{})
		go func() {
			if err := e.Start(context.Background(), e.id, time.Time{}, organiser); err != nil {
				t.Error(err)
			}
			close(started)
		}()
		e.Close()
		g.closed.Store(true)
		<-started
		e.work.Wait()
		if g.late.Load() > 0 {
			t.Fatalf("try %d: the night opened its journal after the arena was closed", n+1)
		}
	}
}

// However they meet.
func TestWhoWaitsAsTheArenaGoesOnIsToldOfTheEnd(t *testing.T) {
	for n := range 200 {
		before := prepare(t, Settings{Rounds: 1, CheckIn: -1}, newRoster(), "bot-01") // which does not come
		night := before.now()
		night.State = Running
		if err := before.store.SaveHead(t.Context(), night); err != nil {
			t.Fatal(err)
		}
		a := New(before.Outside)
		ctx, leave := context.WithTimeout(t.Context(), 5*time.Second)
		var waiting sync.WaitGroup
		for range 4 {
			waiting.Go(func() {
				if done, err := a.Wait(ctx, night.ID); err != nil || done.State != Finished {
					t.Errorf("try %d: %v, want the night, finished", n+1, err)
				}
			})
		}
		if err := a.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		waiting.Wait()
		leave()
		a.Close()
		if t.Failed() {
			break
		}
	}
}

// It was ended with the tournament before, which was over just as it entered the next one.
func TestACommandThatDoesNotRunIsStartedWithItsTournament(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRoster("sparring")
		e, h := hire(t, Settings{Rounds: 1}, r)
		if _, err := e.Enter(t.Context(), e.id, Entrant{Player: "cmd:true", Name: "sparring", ByOrganiser: true}, organiser); err != nil {
			t.Fatal(err)
		}
		h.Stop("sparring")
		var idle atomic.Bool
		r.decide = func(bot string, q table.Question) table.Answer {
			h.mu.Lock()
			defer h.mu.Unlock()
			if !h.running[bot] {
				idle.Store(true)
			}
			return table.Answer{Decision: stay25(q)}
		}
		e.start()
		if night := e.wait(); night.State != Finished || idle.Load() {
			t.Errorf("the night is %v, and the command did not run: %v", night.State, idle.Load())
		}
	})
}
