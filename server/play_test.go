package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/flip7-arena/flip7/arena"
	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
)

func TestWhatIsTooLargeEndsAStream(t *testing.T) {
	r := start(t)
	tokens := r.roles()
	b := r.join(tokens.bot, "one")
	note := &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: &flip7v1.Decision{Note: strings.Repeat("x", maxMessage)}}}
	if err := b.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{note}}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.end(); status.Code(err) == codes.OK {
		t.Errorf("a message of %d bytes ends the stream with %v, want an error", maxMessage, err)
	}
	_, err := flip7v1.NewBotServiceClient(r.conn).GetBot(t.Context(), &flip7v1.GetBotRequest{Name: strings.Repeat("x", 2*maxMessage)})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a call of %d bytes: %v, want RESOURCE_EXHAUSTED", 2*maxMessage, err)
	}
	heavy := metadata.AppendToOutgoingContext(t.Context(), "padding", strings.Repeat("x", 10<<10))
	if _, err := flip7v1.NewBotServiceClient(r.conn).WhoAmI(heavy, &flip7v1.WhoAmIRequest{}); status.Code(err) == codes.OK {
		t.Error("a call with a header of 10 KiB is answered")
	}
	if _, err := flip7v1.NewBotServiceClient(r.conn).WhoAmI(t.Context(), &flip7v1.WhoAmIRequest{}); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestATokenRevokedWhileItsStreamOpens(t *testing.T) {
	revoked := func(context.Context, string) (caller, error) { return caller{}, errNoToken }
	s := &rechecked{BidiStreamingServer: stream{ctx: t.Context()}, recheck: revoked}
	if _, err := s.Recv(); err != errNoToken {
		t.Errorf("the first message is received, %v, though the token was revoked after it had been looked up", err)
	}
	s = &rechecked{BidiStreamingServer: stream{ctx: t.Context()}, recheck: func(context.Context, string) (caller, error) { return caller{}, nil }}
	if _, err := s.Recv(); err != nil {
		t.Fatal(err)
	}
	s.recheck = revoked // those are ended by whoever revokes the token
	if _, err := s.Recv(); err != nil {
		t.Errorf("a later message is looked at again: %v", err)
	}
}

// stream is one on which something can always be received.
type stream struct {
	flip7v1.PlayService_PlayServer
	ctx context.Context
}

func (s stream) Context() context.Context { return s.ctx }

func (stream) Recv() (*flip7v1.PlayRequest, error) { return new(flip7v1.PlayRequest), nil }

// night opens and starts a night of two house bots and what else is entered, in which bots have minutes to decide.
func (r *running) night(enter ...func(id int64) error) *arena.Tournament {
	r.t.Helper()
	ctx := context.Background()
	settings := arena.DefaultSettings()
	settings.Name, settings.Seats, settings.Rounds, settings.Rotations = "night", 3, 1, 1
	settings.DecisionTimeout, settings.Anchor = 5*time.Minute, arena.AnchorOff
	made, err := r.arena.Create(ctx, settings, "", arena.Act{Who: "admin"})
	if err != nil {
		r.t.Fatal(err)
	}
	if err := r.arena.Open(ctx, made.ID, arena.Act{Who: "admin"}); err != nil {
		r.t.Fatal(err)
	}
	for _, house := range []string{"house:odds", "house:racer"} {
		if _, err := r.arena.Enter(ctx, made.ID, arena.Entrant{Player: house}, arena.Act{Who: "admin"}); err != nil {
			r.t.Fatal(err)
		}
	}
	for _, enter := range enter {
		if err := enter(made.ID); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := r.arena.Start(ctx, made.ID, time.Time{}, arena.Act{Who: "admin"}); err != nil {
		r.t.Fatal(err)
	}
	return made
}

func TestDrainingEndsInBoundedTimeThoughABotNeverDecides(t *testing.T) {
	t.Setenv("ARENA_TEST_PROGRAM", "1")
	folder := t.TempDir()
	var id int64
	var token string
	t.Run("the night is broken off", func(t *testing.T) {
		r := startIn(t, folder, func(c *Config) { c.DrainGrace = 50 * time.Millisecond })
		tokens := r.roles()
		token = tokens.all[1]
		b := r.join(tokens.bot, "one")
		id = r.night(func(id int64) error {
			_, err := r.arena.Enter(t.Context(), id, arena.Entrant{Player: "bot:odds-bot", Owner: "ann"}, arena.Act{Who: "admin"})
			return err
		}, r.enterProgram).ID
		b.asked()
		began := time.Now()
		r.stop()
		drained, last, ended := b.end()
		if d := detailsOf(t, ended); !drained || last.GetReason() != flip7v1.EndReason_END_REASON_DRAINING || !last.GetComeBack() ||
			status.Code(ended) != codes.Unavailable || d.retry <= 0 {
			t.Errorf("Drain: %v, then %v, then %v %+v; want Drain, Goodbye for DRAINING, UNAVAILABLE and a time to wait", drained, last, ended, d)
		}
		r.conn.Close()
		err := <-r.ended
		if took := time.Since(began); err != nil || took > 30*time.Second { // the bot has five minutes
			t.Errorf("Serve returned %v after %v, want nil within 30 s", err, took)
		}
		r.ended <- err
	})
	t.Run("and goes on", func(t *testing.T) {
		r := startIn(t, folder)
		went, err := r.arena.Tournament(t.Context(), id)
		if err != nil || went.State != arena.Running {
			t.Fatalf("after a new start the tournament is %v, %v; want it running", went.State, err)
		}
		b := r.join(as(t.Context(), token), "one")
		if !r.bots.launcher.Running("by-command") {
			t.Error("the program that plays in the night was not started again")
		}
		b.asked()
		if got := value(t, r.Server, "flip7_games_running"); got < 1 {
			t.Errorf("flip7_games_running is %v, and the bot is asked", got)
		}
	})
}

func TestGamesGoOnForTheGrace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const grace = 20 * time.Second
		r := start(t, func(c *Config) { c.DrainGrace = grace })
		tokens := r.roles()
		b := r.join(tokens.bot, "one")
		r.night(func(id int64) error {
			_, err := r.arena.Enter(t.Context(), id, arena.Entrant{Player: "bot:odds-bot", Owner: "ann"}, arena.Act{Who: "admin"})
			return err
		})
		b.asked()
		began := time.Now()
		r.stop()
		drain, last, _ := b.end()
		if took := time.Since(began); !drain || last.GetReason() != flip7v1.EndReason_END_REASON_DRAINING || took < grace || took > grace+2*time.Second {
			t.Errorf("Drain: %v, then after %v Goodbye for %v; want Drain, and %v later DRAINING", drain, took, last.GetReason(), grace)
		}
		r.conn.Close()
		err := <-r.ended
		r.ended <- err
	})
}

func TestStopDoesNotWait(t *testing.T) {
	r := start(t, func(c *Config) { c.DrainGrace, c.Metrics = time.Minute, "127.0.0.1:0" })
	tokens := r.roles()
	b := r.join(tokens.bot, "one")
	r.night(func(id int64) error {
		_, err := r.arena.Enter(t.Context(), id, arena.Entrant{Player: "bot:odds-bot", Owner: "ann"}, arena.Act{Who: "admin"})
		return err
	})
	b.asked()
	r.stop()
	for drain := false; !drain; {
		m, err := b.next()
		if err != nil {
			t.Fatal(err)
		}
		drain = m.GetDrain() != nil
	}
	resp, err := http.Get("http://" + r.MetricsAddr().String() + "/healthz")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("/healthz while the arena drains: %s, want 503", resp.Status)
	}
	r.Stop()
	began := time.Now()
	err = <-r.ended
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v with a minute of grace, want it at once", took)
	}
	r.ended <- err
}

// TestProgram is no test: it is the program that TestProgramsAreBots starts.
func TestProgram(t *testing.T) {
	if os.Getenv("ARENA_TEST_PROGRAM") == "" {
		t.Skip("this is the program of another test")
	}
	err := flip7.Play(context.Background(), flip7.Bot{Decide: func(v *flip7.View) flip7.Decision { return v.Legal()[len(v.Legal())-1] }})
	fmt.Println("the arena is left:", err)
}

// enterProgram enters TestProgram as by-command.
func (r *running) enterProgram(id int64) error {
	command := fmt.Sprintf("cmd:'%s' -test.run '^TestProgram$'", os.Args[0])
	_, err := r.arena.Enter(r.t.Context(), id, arena.Entrant{Player: command, Name: "by-command"}, arena.Act{Who: "admin"})
	return err
}

func TestProgramsAreBots(t *testing.T) {
	t.Setenv("ARENA_TEST_PROGRAM", "1")
	r := start(t)
	tokens := r.roles()
	night := r.night(r.enterProgram)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	done, err := r.arena.Wait(ctx, night.ID)
	if err != nil || done.State != arena.Finished {
		t.Fatalf("the night: %v, %v, the program wrote %q; want it finished", done, err, r.bots.launcher.Output("by-command"))
	}
	for _, g := range done.Rounds[0].Tables[0].Games {
		if slices.Max(g.Faults) > 0 {
			t.Errorf("game %d of entrants %v has faults %v, want none", g.Number, g.Seats, g.Faults)
		}
	}
	if r.bots.launcher.Running("by-command") || len(r.bots.tokens) != 0 {
		t.Errorf("after the tournament the program is wanted: %v, with %d tokens", r.bots.launcher.Running("by-command"), len(r.bots.tokens))
	}

	client := flip7v1.NewBotServiceClient(r.conn)
	_, err = client.RegisterBot(tokens.owner, &flip7v1.RegisterBotRequest{Name: "By-Command"})
	if status.Code(err) != codes.AlreadyExists {
		t.Errorf("an owner registers the name of the program: %v, want ALREADY_EXISTS", err)
	}
	if err := r.bots.Start("odds-bot", "/bin/true"); err == nil || !strings.Contains(err.Error(), "ann") {
		t.Errorf("a program under the name of ann's bot: %v, want an error that names ann", err)
	}
	err = r.bots.Start("other", "bot | tee log")
	if setting, is := errors.AsType[*arena.SettingError](err); !is || setting.Field != "player" || len(r.bots.tokens) != 0 {
		t.Errorf("what cannot be started: error %v and %d tokens, want one of the player and none", err, len(r.bots.tokens))
	}
}

// A program takes a while to end, and the next tournament needs one of its name at once.
func TestAProgramThatIsStartedWhileItsForerunnerEndsIsABot(t *testing.T) {
	t.Setenv("ARENA_TEST_PROGRAM", "1")
	r := start(t)
	command := fmt.Sprintf("'%s' -test.run '^TestProgram$'", os.Args[0])
	if err := r.bots.Start("by-command", command); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { r.bots.Stop("by-command"); close(ended) }()
	for r.bots.launcher.Running("by-command") {
		runtime.Gosched()
	}
	if err := r.bots.Start("by-command", command); err != nil {
		t.Fatal(err)
	}
	<-ended
	r.bots.mu.Lock()
	tokens := len(r.bots.tokens)
	r.bots.mu.Unlock()
	if !r.bots.launcher.Running("by-command") || tokens != 1 {
		t.Errorf("the second program is wanted: %v, with %d tokens; want one", r.bots.launcher.Running("by-command"), tokens)
	}
	r.bots.Stop("by-command")
}

// The server was killed between the last result of a night and its end.
func TestProgramsOfANightThatIsOverAtOnceAreEnded(t *testing.T) {
	folder := t.TempDir()
	kept, err := store.Open(t.Context(), folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	settings := arena.DefaultSettings()
	settings.Name, settings.Rounds = "night", 1
	night := &arena.Tournament{Settings: settings, State: arena.Running, Created: time.Now(), Started: time.Now()}
	round := arena.Round{Number: 1, Spread: "0", Tables: []arena.Table{{Number: 1, State: arena.Void}}}
	for n := range 6 {
		night.Entries = append(night.Entries, arena.Entry{Number: n + 1, Name: fmt.Sprintf("program-%d", n+1), From: 1,
			Player: fmt.Sprintf("cmd:'%s' -test.run '^$'", os.Args[0])})
		round.Tables[0].Bots = append(round.Tables[0].Bots, n+1)
	}
	err = errors.Join(kept.Create(t.Context(), night, ""), kept.SaveEntries(t.Context(), night.ID, night.Entries...),
		kept.SaveRound(t.Context(), night.ID, round), kept.Close())
	if err != nil {
		t.Fatal(err)
	}
	r := startIn(t, folder)
	if done, err := r.arena.Wait(t.Context(), night.ID); err != nil || done.State != arena.Finished {
		t.Fatalf("the night: %v, %v, want it finished", done, err)
	}
	if _, err := flip7v1.NewBotServiceClient(r.conn).WhoAmI(t.Context(), &flip7v1.WhoAmIRequest{}); err != nil {
		t.Fatal(err) // who is answered comes after all that was started again
	}
	for _, e := range night.Entries {
		if r.bots.launcher.Running(e.Name) {
			t.Errorf("%s is wanted after the tournament for which it was started", e.Name)
		}
	}
}
