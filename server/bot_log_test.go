package server

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/wire"
)

// decide says something with a note, and waits for the verdict if there is to be one. What comes before that is not lost.
func (b *bot) decide(d *flip7v1.Decision, note string, verdict flip7v1.VerdictCode) {
	b.t.Helper()
	d.Note = note
	if err := b.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{{Message: &flip7v1.BotMessage_Decision{Decision: d}}}}); err != nil {
		b.t.Fatal(err)
	}
	var before []*flip7v1.ArenaMessage
	for verdict != 0 {
		m, err := b.next()
		if err != nil {
			b.t.Fatalf("%v before a verdict", err)
		}
		if m.GetVerdict().GetCode() == verdict {
			break
		}
		before = append(before, m)
	}
	b.rest = append(before, b.rest...)
}

// legally is a decision that a request allows.
func legally(r *flip7v1.DecisionRequest) *flip7v1.Decision {
	if len(r.GetLegalSeats()) > 0 {
		return &flip7v1.Decision{RequestId: r.GetRequestId(), Answer: flip7v1.Answer_ANSWER_GIVE, Seat: &r.GetLegalSeats()[0]}
	}
	return &flip7v1.Decision{RequestId: r.GetRequestId(), Answer: flip7v1.Answer_ANSWER_STAY}
}

// inWords is an entry as a test compares it.
func inWords(e *flip7v1.LogEntry) string {
	switch what := e.GetEntry().(type) {
	case *flip7v1.LogEntry_Request:
		r := what.Request
		return fmt.Sprintf("request %s %v %v %v, sent %d, %d illegal, %q", r.GetRequest().GetRequestId(), r.GetRequest().GetKind(), r.GetCause(),
			r.GetLatency().AsDuration(), r.GetSent(), r.GetIllegal(), e.GetNote())
	case *flip7v1.LogEntry_Verdict:
		return fmt.Sprintf("verdict %s %v, %q", what.Verdict.GetRequestId(), what.Verdict.GetCode(), e.GetNote())
	case *flip7v1.LogEntry_Session:
		s := what.Session
		return fmt.Sprintf("session %s build %s of %q, %v, lost %t: %s", s.GetInstanceId(), s.GetBuild(), s.GetKit(), s.GetEnd(), s.GetLost(), s.GetMessage())
	case *flip7v1.LogEntry_Line:
		if what.Line.GetFromBot() {
			return "line of the bot: " + what.Line.GetText()
		}
		return "line " + what.Line.GetText()
	}
	return "nothing"
}

func TestALogTellsHowABotFared(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, func(c *Config) { c.TokenRate = 1000 })
		tokens := r.roles()
		before := r.join(tokens.bot, "one")
		if err := before.CloseSend(); err != nil {
			t.Fatal(err)
		}
		before.end()
		ctx, hangUp := context.WithCancel(tokens.bot)
		b := r.join(ctx, "two")
		r.logbook.flush() // what was before the night is in no tournament
		night := wire.TournamentID(r.night(func(id int64) error {
			_, err := r.arena.Enter(t.Context(), id, arena.Entrant{Player: "bot:odds-bot", Owner: "ann"}, arena.Act{Who: "admin"})
			return err
		}).ID)

		first := b.asked()
		time.Sleep(time.Second)
		b.decide(&flip7v1.Decision{RequestId: first.GetRequestId()}, "a slip", flip7v1.VerdictCode_VERDICT_CODE_ILLEGAL)
		b.decide(&flip7v1.Decision{RequestId: first.GetRequestId(), Answer: flip7v1.Answer_ANSWER_PASS}, "no idea", flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED)
		second := b.asked()
		b.decide(&flip7v1.Decision{RequestId: first.GetRequestId(), Answer: flip7v1.Answer_ANSWER_HIT}, "I have one", flip7v1.VerdictCode_VERDICT_CODE_DUPLICATE)
		b.decide(&flip7v1.Decision{RequestId: "x/1/1"}, "", flip7v1.VerdictCode_VERDICT_CODE_UNKNOWN_REQUEST)
		time.Sleep(2 * time.Second)
		b.decide(legally(second), "enough", 0)
		third := b.asked()
		b.decide(legally(third), "", 0) // goes well, and needs no word
		fourth := b.asked()
		hangUp()
		synctest.Wait()
		r.join(tokens.bot, "two") // is asked again, and says nothing until it is thrown out
		time.Sleep(10 * time.Minute)

		request := func(r *flip7v1.DecisionRequest, rest string) string {
			return fmt.Sprintf("request %s %v %s", r.GetRequestId(), r.GetKind(), rest)
		}
		slip := "verdict " + first.GetRequestId() + ` VERDICT_CODE_ILLEGAL, "a slip"`
		passed := request(first, `CAUSE_PASSED 1s, sent 1, 1 illegal, "no idea"`)
		duplicate := "verdict " + first.GetRequestId() + ` VERDICT_CODE_DUPLICATE, "I have one"`
		nothing := `verdict x/1/1 VERDICT_CODE_UNKNOWN_REQUEST, ""`
		enough := request(second, `CAUSE_CHOSEN 2s, sent 1, 0 illegal, "enough"`)
		lost := `session two build 1 of "go 3.1", END_REASON_UNSPECIFIED, lost true: the connection is gone`
		silent := `session two build 1 of "go 3.1", END_REASON_SILENT, lost false: nothing was heard for 36s`
		fault := request(fourth, `CAUSE_DISCONNECTED 5m10s, sent 2, 0 illegal, ""`)
		came := `session two build 1 of "go 3.1", END_REASON_UNSPECIFIED, lost false: it came`
		inNight := []string{slip, passed, duplicate, nothing, enough, lost, came, silent, fault}
		all := append([]string{
			`session one build 1 of "go 3.1", END_REASON_UNSPECIFIED, lost false: it came`,
			`session one build 1 of "go 3.1", END_REASON_CLOSED, lost false: the bot closed its side`,
			came,
		}, inNight...)
		ofGame := slices.DeleteFunc(slices.Clone(inNight), func(entry string) bool { return !strings.Contains(entry, " "+first.GetGame().GetGameId()+"/") })

		for _, test := range []struct {
			what string
			ask  *flip7v1.ListLogRequest
			want []string
		}{
			{"all", &flip7v1.ListLogRequest{}, all},
			{"two a page", &flip7v1.ListLogRequest{PageSize: 2}, all},
			{"of the night", &flip7v1.ListLogRequest{TournamentId: night}, inNight},
			{"of a game", &flip7v1.ListLogRequest{GameId: first.GetGame().GetGameId()}, ofGame},
			{"of a game of the night", &flip7v1.ListLogRequest{TournamentId: night, GameId: first.GetGame().GetGameId(), PageSize: 1}, ofGame},
			{"troubles", &flip7v1.ListLogRequest{Troubles: true}, []string{slip, passed, duplicate, nothing, lost, silent, fault}},
		} {
			got := slices.DeleteFunc(r.logOf(tokens.owner, "odds-bot", test.ask), func(entry string) bool { return strings.HasPrefix(entry, "line") })
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: the log says\n%s\nwant\n%s", test.what, strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		}
		log := r.logOf(tokens.owner, "odds-bot", &flip7v1.ListLogRequest{TournamentId: night})
		end := slices.Index(log, lost)
		asked := func(r *flip7v1.DecisionRequest) string { // whatever the cards made it be about
			kinds := map[flip7v1.RequestKind]game.Kind{flip7v1.RequestKind_REQUEST_KIND_TURN: game.Turn, flip7v1.RequestKind_REQUEST_KIND_FREEZE: game.GiveFreeze,
				flip7v1.RequestKind_REQUEST_KIND_FLIP_THREE: game.GiveFlip3, flip7v1.RequestKind_REQUEST_KIND_SECOND_CHANCE: game.GiveSecond}
			return fmt.Sprintf("request %s (%v)", r.GetRequestId(), kinds[r.GetKind()])
		}
		said := func(r *flip7v1.DecisionRequest) string {
			answer := strings.ToLower(strings.TrimPrefix(legally(r).GetAnswer().String(), "ANSWER_"))
			return fmt.Sprintf("bot: %s for request %s", answer, r.GetRequestId())
		}
		lastWords := []string{"bot: unspecified for request x/1/1", "unknown request, of request x/1/1", said(second), asked(third), said(third), asked(fourth)}
		for i, want := range lastWords {
			who, words, _ := strings.Cut(log[end-len(lastWords)+i], "s before: ")
			if strings.HasPrefix(who, "line of the bot") {
				words = "bot: " + words
			}
			if words != want {
				t.Errorf("last word %d before the stream was lost is %q, want %q", i+1, words, want)
			}
		}
	})
}

// TestALogTellsAllThatABotWasAsked though it has kept the notes only: as the bot was asked it, but for the times.
func TestALogTellsAllThatABotWasAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLeague(t)
		asked := map[string]*flip7v1.DecisionRequest{}
		l.invite("ada", func(ctx context.Context, g *guest) {
			g.comeBack(ctx, func(context.Context, *visit) {}, func(v *visit, r *flip7v1.DecisionRequest) {
				if asked[r.GetRequestId()] = r; len(asked)%7 != 0 || len(r.GetLegalSeats()) > 0 {
					v.answer(r)
					return
				}
				said := decision(r.GetRequestId(), flip7v1.Answer_ANSWER_STAY)
				said.GetDecision().Note = "enough"
				v.say(said)
			})
		})
		id := l.opened(&flip7v1.TournamentSettings{PairingRounds: 2, Rotations: 1}, "bot:ada", "house:odds", "house:stay-25")
		l.play(id)
		l.goHome()

		notes, game := 0, ""
		told := map[string]bool{}
		last := map[string]int{} // number by game
		ask := &flip7v1.ListLogRequest{Name: "ada", TournamentId: id, PageSize: 7}
		for more := true; more; more = ask.PageToken != "" {
			page, err := flip7v1.NewBotServiceClient(l.conn).ListLog(l.admin, ask)
			if err != nil {
				t.Fatal(err)
			}
			ask.PageToken = page.GetNextPageToken()
			for _, e := range page.GetEntries() {
				r := e.GetRequest().GetRequest()
				if r == nil {
					continue
				}
				want := asked[r.GetRequestId()]
				if want == nil || told[r.GetRequestId()] {
					t.Fatalf("it tells of %s, which was never asked or is told already", r.GetRequestId())
				}
				want.TimeLeft, want.TimeBank, want.LastLatency = nil, nil, nil
				for _, seat := range want.GetView().GetSeats() {
					seat.BankSeconds = 0
				}
				if !proto.Equal(r, want) {
					t.Errorf("it tells\n%v\nand was asked\n%v", r, want)
				}
				game = r.GetGame().GetGameId()
				number, _ := strconv.Atoi(r.GetRequestId()[strings.LastIndexByte(r.GetRequestId(), '/')+1:])
				if number < last[game] {
					t.Errorf("%s comes after request %d", r.GetRequestId(), last[game])
				}
				last[game], told[r.GetRequestId()] = number, true
				if e.GetNote() != "" {
					notes++
				}
				if gives := len(want.GetLegalSeats()) > 0; gives != (e.GetRequest().GetAnswer() == flip7v1.Answer_ANSWER_GIVE) || e.GetRequest().GetCause() != flip7v1.Cause_CAUSE_CHOSEN {
					t.Errorf("%s was answered %v, %v", r.GetRequestId(), e.GetRequest().GetAnswer(), e.GetRequest().GetCause())
				}
			}
		}
		if len(told) != len(asked) || notes == 0 {
			t.Errorf("it tells of %d requests, %d with notes; it was asked %d", len(told), notes, len(asked))
		}
		of := l.logOf(l.admin, "ada", &flip7v1.ListLogRequest{GameId: game})
		if len(of) == 0 || slices.ContainsFunc(of, func(entry string) bool { return !strings.HasPrefix(entry, "request "+game+"/") }) {
			t.Errorf("of game %s it tells\n%s", game, strings.Join(of, "\n"))
		}
	})
}

func TestALogOfVeryManyGamesSaysWhatItLeavesOut(t *testing.T) {
	r := recollection{more: 3}
	lines := r.complete([]store.LogLine{{Number: 1}})
	if len(lines) != 2 || !strings.Contains(lines[0].Text, "first 3 games") || lines[1].Number != 1 {
		t.Errorf("got %+v, want a word about three games, and then what is kept", lines)
	}
}

// logOf is the log of a bot in words, page by page.
func (r *running) logOf(ctx context.Context, bot string, ask *flip7v1.ListLogRequest) (entries []string) {
	r.t.Helper()
	ask.Name = bot
	for last := (time.Time{}); ; {
		page, err := flip7v1.NewBotServiceClient(r.conn).ListLog(ctx, ask)
		if err != nil {
			r.t.Fatal(err)
		}
		if n := len(page.GetEntries()); ask.GetPageSize() > 0 && n > int(ask.GetPageSize()) || page.GetCut() != 0 {
			r.t.Errorf("a page for %d entries has %d, and %d are cut", ask.GetPageSize(), n, page.GetCut())
		}
		for _, e := range page.GetEntries() {
			if e.GetTime() == nil { // the record of a game knows no time of day
			} else if at := e.GetTime().AsTime(); at.Before(last) || e.GetSessionId() == "" && e.GetSession() != nil {
				r.t.Errorf("%v is of %q, and the entry before it of %v", e, e.GetSessionId(), last)
			} else {
				last = at
			}
			entries = append(entries, inWords(e))
		}
		if ask.PageToken = page.GetNextPageToken(); ask.PageToken == "" {
			return entries
		}
	}
}

func TestALogIsWrittenBeforeTheArenaStops(t *testing.T) {
	folder := t.TempDir()
	t.Run("a bot is there when the arena stops", func(t *testing.T) {
		r := startIn(t, folder)
		b := r.join(r.roles().bot, "one")
		r.stop()
		b.end()
	})
	t.Run("and has read of it since", func(t *testing.T) {
		r := startIn(t, folder)
		want := []string{
			`session one build 1 of "go 3.1", END_REASON_UNSPECIFIED, lost false: it came`,
			`session one build 1 of "go 3.1", END_REASON_DRAINING, lost false: the arena is about to stop`,
		}
		if got := r.logOf(r.admin, "odds-bot", &flip7v1.ListLogRequest{}); !slices.Equal(got, want) {
			t.Errorf("the log says\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

func TestWhoMayReadALog(t *testing.T) {
	r := start(t)
	tokens := r.roles() // ann has odds-bot
	client := flip7v1.NewBotServiceClient(r.conn)
	other, err := client.RegisterBot(r.admin, &flip7v1.RegisterBotRequest{Name: "racer-bot", Owner: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	const mine = "odds-bot"
	for _, test := range []struct {
		who  string
		by   context.Context
		ask  *flip7v1.ListLogRequest
		want codes.Code
	}{
		{"its owner", tokens.owner, &flip7v1.ListLogRequest{Name: mine}, codes.OK},
		{"the bot itself", tokens.bot, &flip7v1.ListLogRequest{Name: mine}, codes.OK},
		{"the admin", tokens.admin, &flip7v1.ListLogRequest{Name: mine}, codes.OK},
		{"another owner", as(t.Context(), other.GetOwnerToken()), &flip7v1.ListLogRequest{Name: mine}, codes.PermissionDenied},
		{"another bot", as(t.Context(), other.GetToken()), &flip7v1.ListLogRequest{Name: mine}, codes.PermissionDenied},
		{"anyone", tokens.anyone, &flip7v1.ListLogRequest{Name: mine}, codes.Unauthenticated},
		{"the admin, of nobody", tokens.admin, &flip7v1.ListLogRequest{Name: "nobody"}, codes.NotFound},
		{"its owner, of no tournament", tokens.owner, &flip7v1.ListLogRequest{Name: mine, TournamentId: "7"}, codes.NotFound},
		{"its owner, of what is no game", tokens.owner, &flip7v1.ListLogRequest{Name: mine, GameId: "7"}, codes.NotFound},
	} {
		if _, err := client.ListLog(test.by, test.ask); status.Code(err) != test.want {
			t.Errorf("%s reads %v: %v, want %v", test.who, test.ask, err, test.want)
		}
	}
	night := wire.TournamentID(r.night().ID)
	_, err = client.ListLog(tokens.owner, &flip7v1.ListLogRequest{Name: mine, TournamentId: night, GameId: "99/1/1/1"})
	if d := detailsOf(t, err); status.Code(err) != codes.InvalidArgument || !slices.Equal(d.fields, []string{"game_id"}) {
		t.Errorf("a game of another tournament: %v %+v, want INVALID_ARGUMENT for game_id", err, d)
	}
}

// logged is what of a server keeps the logs of bots a and b, and the folder.
func logged(t *testing.T) (s *Server, folder string) {
	folder = t.TempDir()
	kept, err := store.Open(t.Context(), folder, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, bot := range []string{"a", "b"} {
		if _, err := kept.AddBot(t.Context(), bot, "", [32]byte{byte(i)}, [32]byte{}, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	s = &Server{store: kept, metrics: newMetrics("test", remote.NewProbe())}
	s.logbook = newLogbook(kept, slog.New(slog.DiscardHandler), s.metrics.logLost)
	t.Cleanup(func() {
		s.metrics.probe.Close()
		s.logbook.close()
		if err := kept.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, folder
}

const lostEntries = "flip7_log_entries_lost_total"

// lines is how many lines the log of a bot has, and the last one.
func (s *Server) lines(t *testing.T, bot string) (n int, last string) {
	t.Helper()
	all, _, err := s.store.Log(t.Context(), store.LogQuery{Bot: bot, Limit: 2 * store.LogMost})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		return 0, ""
	}
	e, err := entryOf(all[len(all)-1])
	if err != nil {
		t.Fatal(err)
	}
	return len(all), inWords(e)
}

func TestAFloodOfNotesIsCutAndHidesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := logged(t)
		l := s.logbook
		note := remote.Answered{Bot: "a", Game: "1/1/1/1", Attempt: 1, Number: 1, Kind: game.Turn, Decision: game.Hit, Note: strings.Repeat("x", 256)}
		fault, other, silent, absent := note, note, note, note
		fault.Cause, fault.Note = game.TimedOut, ""
		other.Bot, silent.Note = "b", ""
		absent.Absent, absent.Cause, absent.Note = true, game.TimedOut, ""
		told := 0
		hooks := l.hooks(remote.Hooks{Answered: func(remote.Answered) { told++ }})
		const flood = 3 * logBurst
		for range flood {
			hooks.Answered(note)
		}
		for _, a := range []remote.Answered{fault, other, silent, absent} {
			hooks.Answered(a)
		}
		l.flush()
		lines, last := s.lines(t, "a")
		missing := flood - (logBurst - logSpare)
		if want := fmt.Sprintf("line %d notes are missing here: they came faster than they could be kept", missing); lines != logBurst-logSpare+2 || last != want {
			t.Errorf("after a flood of %d there are %d lines, the last is %q; want %d, the last %q", flood, lines, last, logBurst-logSpare+2, want)
		}
		troubles, _, err := s.store.Log(t.Context(), store.LogQuery{Bot: "a", Troubles: true, Limit: 10})
		if err != nil || len(troubles) != 2 || troubles[0].Kind != "request" {
			t.Errorf("troubles are %+v, %v; want the fault after the flood, and that entries are missing", troubles, err)
		}
		if lines, _ := s.lines(t, "b"); lines != 1 {
			t.Errorf("another bot has %d lines, want its one", lines)
		}
		if told != flood+4 {
			t.Errorf("of %d answers %d were told on", flood+4, told)
		}
		time.Sleep(2 * logBurst / logRate * time.Second) // and then it is as before
		hooks.Answered(note)
		time.Sleep(logPause)
		synctest.Wait()
		if lines, last := s.lines(t, "a"); lines != logBurst-logSpare+3 || !strings.HasPrefix(last, "request") {
			t.Errorf("a while after the flood there are %d lines, the last is %q; want one more", lines, last)
		}
	})
}

func TestPracticeLeavesRoomForNightsInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := logged(t)
		hooks := s.logbook.hooks(remote.Hooks{Answered: func(remote.Answered) {}})
		fine := remote.Answered{Bot: "a", Game: "practice/x", Attempt: 1, Number: 1, Kind: game.Turn, Decision: game.Hit, Note: "well"}
		fault := fine
		fault.Cause = game.TimedOut
		for range 3 * practiceBurst {
			hooks.Answered(fine)
			hooks.Answered(fault)
			hooks.Judged(remote.Judged{Bot: "a", Game: "practice/x", Verdict: &flip7v1.Verdict{}})
		}
		s.logbook.flush()
		lines, last := s.lines(t, "a")
		if lines != practiceBurst+1 || !strings.HasPrefix(last, "line more that goes wrong in practice is not kept") {
			t.Errorf("there are %d lines, the last is %q; want %d, and then that there is more", lines, last, practiceBurst)
		}
		fault.Game = "1/1/1/1"
		hooks.Answered(fault)
		s.logbook.flush()
		if lines, _ := s.lines(t, "a"); lines != practiceBurst+2 {
			t.Errorf("a fault in a night makes them %d, want one more", lines)
		}
	})
}

func TestWhatWaitsToBeLoggedIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := logged(t)
		l := s.logbook
		for n := range 2 * logRoom {
			l.add(fmt.Sprint("bot ", n%100), true, passage{})
		}
		if lost := value(t, s, lostEntries); l.entries != logRoom || lost != logRoom {
			t.Errorf("of %d entries %d wait and %v are lost, want %d and the rest", 2*logRoom, l.entries, lost, logRoom)
		}
	})
}

func TestALogThatCannotBeKeptIsSaidToBeMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, folder := logged(t)
		l := s.logbook
		db, err := sql.Open("sqlite", filepath.Join(folder, "arena.db"))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		l.hooks(remote.Hooks{}).Judged(remote.Judged{Bot: "a", Game: "1/1/1/1", Verdict: &flip7v1.Verdict{}})
		l.flush()
		for _, step := range []string{"ALTER TABLE log_lines RENAME TO away", "ALTER TABLE away RENAME TO log_lines"} {
			if _, err := db.Exec(step); err != nil {
				t.Fatal(err)
			}
			for range 3 {
				l.hooks(remote.Hooks{}).Judged(remote.Judged{Bot: "a", Game: "1/1/1/1", Verdict: &flip7v1.Verdict{}})
				l.flush()
			}
		}
		if lines, _ := s.lines(t, "a"); lines != 1+3+1 {
			t.Errorf("there are %d lines, want the one before, the three after, and one that says that three are missing", lines)
		}
		if lost := value(t, s, lostEntries); lost != 3 {
			t.Errorf("%v entries are lost, want 3", lost)
		}
	})
}
