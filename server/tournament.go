package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/launch"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/wire"
)

// nights is what the services of tournaments and of ratings share: what they have worked out, and the locks under which
// they do in several steps what has to look like one.
type nights struct {
	*Server
	common wire.Common

	entering   sync.Mutex   // one bot at a time, so that two house bots do not get one name
	excluding  sync.Mutex   // one result at a time
	changed    atomic.Int64 // what counts was, so many times
	counting   desk
	concluding desk
	rating     desk

	finished     *cache[int64, *finished]
	conclusions  *cache[int64, string]
	tallies      *cache[int64, *arena.Tally]
	explanations *cache[roundKey, []string]
	seasons      *cache[seasonKey, *season] // of whole leagues
	parts        *cache[seasonKey, *season] // of some of their tournaments, as somebody asked
}

// talliedEntrants is for how many entrants, of all tournaments, tallies are remembered: eight nights of 500.
const talliedEntrants = 4096

type roundKey struct {
	tournament int64
	round      int
}

func newNights(s *Server) *nights {
	return &nights{
		Server:   s,
		common:   wire.Common{Power: s.store.Durability() == store.Power, ReconnectGrace: max(s.config.ReconnectGrace, 0), Folder: s.config.Folder},
		counting: newDesk(), concluding: newDesk(), rating: newDesk(),
		// A finished tournament takes a few kilobytes, a tally four or five for each entrant, a season some hundred bytes a
		// game.
		finished:     newCache[int64, *finished](2000),
		conclusions:  newCache[int64, string](2000),
		tallies:      newCache[int64, *arena.Tally](talliedEntrants),
		explanations: newCache[roundKey, []string](500),
		seasons:      newCache[seasonKey, *season](8),
		parts:        newCache[seasonKey, *season](4),
	}
}

// tournamentService sets tournaments up and runs them; what only reads is in tournament_lists.go, what streams in
// tournament_streams.go.
type tournamentService struct {
	flip7v1.UnimplementedTournamentServiceServer
	*nights
}

// tournament finds a tournament by its id on the wire.
func (s *nights) tournament(ctx context.Context, id string) (*arena.Tournament, error) {
	number, ok := wire.TournamentIDOf(id)
	if !ok {
		return nil, missing("tournament %q", id)
	}
	return s.arena.Tournament(ctx, number)
}

// act is an entry of the audit log: what was done, by the verb that people type, to what, and why. The arena adds when.
func act(ctx context.Context, verb, subject, why string) arena.Act {
	return arena.Act{Who: callerOf(ctx).String(), What: strings.TrimSuffix(verb+" "+subject, " "), Why: why}
}

// shown is a tournament as it is now, with all that is said of it.
func (s *nights) shown(ctx context.Context, id int64) (*flip7v1.Tournament, error) {
	t, err := s.arena.Tournament(ctx, id)
	if err != nil {
		return nil, err
	}
	return s.show(ctx, t)
}

func (s *nights) show(ctx context.Context, t *arena.Tournament) (*flip7v1.Tournament, error) {
	w := s.common.Tournament(t)
	w.Lag = s.metrics.lag.of(t.ID)
	switch t.State {
	case arena.Paused:
		why, err := s.lastWhy(ctx, t.ID, "pause")
		if err != nil {
			return nil, err
		}
		w.StateWhy = why
	case arena.Finished:
		conclusion, err := s.conclude(ctx, t)
		if err != nil {
			return nil, err
		}
		w.Conclusion = conclusion
	}
	expect(w, t, time.Now())
	return w, nil
}

// lastWhy is why something was done to a tournament the last time; empty if nobody said.
func (s *nights) lastWhy(ctx context.Context, id int64, what string) (why string, err error) {
	acts, err := s.arena.Store.Acts(ctx, id)
	if err != nil {
		return "", fmt.Errorf("audit log of tournament %d: %w", id, err)
	}
	for _, a := range acts {
		if a.What == what {
			why = a.Why
		}
	}
	return why, nil
}

// conclude says in a sentence how a finished tournament ended. It takes a fit of all games, so that it is done once.
func (s *nights) conclude(ctx context.Context, t *arena.Tournament) (string, error) {
	text, known := s.conclusions.get(t.ID)
	if known {
		return text, nil
	}
	err := s.concluding.work(ctx, func() error { // which may be asked for at the counting desk
		c, err := t.Conclude()
		text = c.Text
		return err
	})
	if err == nil {
		s.conclusions.put(t.ID, text)
	}
	return text, err
}

// tooFar is how far ahead an end is not told any more: it is a bound that nobody plans with.
const tooFar = 30 * 24 * time.Hour

// houseGame is how long a game takes of which no bot outside has to be waited for, on a small machine.
const houseGame = 2 * time.Millisecond

// expect adds when a tournament will end, if that can be said.
func expect(w *flip7v1.Tournament, t *arena.Tournament, now time.Time) {
	bots, house, left := 0, 0, t.Settings.Rounds // pairing rounds
	for _, e := range t.Entries {
		if e.State == arena.Entered && !e.FillIn {
			bots++
			if strings.HasPrefix(e.Player, "house:") {
				house++
			}
		}
	}
	for _, r := range t.Rounds[:min(len(t.Rounds), t.Settings.Rounds)] {
		over := true
		for _, tab := range r.Tables {
			over = over && (tab.State == arena.Complete || tab.State == arena.Void)
		}
		if over {
			left--
		}
	}
	if t.State.Over() || bots == 0 {
		return
	}
	begins := now
	if !t.State.Live() && t.StartAt.After(now) {
		begins = t.StartAt
	}
	span := arena.Estimate(t.Settings, bots)
	games, done := time.Duration(max(w.GetGames(), 1)), time.Duration(w.GetGamesFinished())
	pace := houseGame + span.Expected/games*time.Duration(bots-house)/time.Duration(bots) // house bots answer at once
	if done > 0 && !t.Started.IsZero() {
		// Its own pace says more, but not before a pairing round is over: many games begin at once, and may end at once too.
		early := max(0, firstRound(t)-done)
		pace = (now.Sub(t.Started) + early*pace) / (done + early)
	}
	if expected := pace * (games - done); told(expected) {
		w.ExpectedEndTime = timestamp(begins.Add(expected))
	}
	if latest := (span.Latest-span.Final)/time.Duration(t.Settings.Rounds)*time.Duration(left) + span.Final; told(span.Latest) {
		w.LatestEndTime = timestamp(begins.Add(latest))
	}
}

// firstRound is how many games the first pairing round has.
func firstRound(t *arena.Tournament) (games time.Duration) {
	for _, r := range t.Rounds[:min(len(t.Rounds), 1)] {
		for _, tab := range r.Tables {
			games += time.Duration(t.Settings.Games(r.Number, len(tab.Bots)))
		}
	}
	return games
}

// told reports whether a time ahead is one that is told.
func told(ahead time.Duration) bool { return ahead >= 0 && ahead <= tooFar }

// setting is an error of settings in the words of the request.
func setting(err error) error {
	wrong, is := errors.AsType[*arena.SettingError](err)
	switch {
	case !is || wrong.Field == "name":
		return err
	case wrong.Field == "bots_per_owner":
		return invalid("settings.max_bots_per_owner", wrong.Wrong)
	}
	return invalid("settings."+wrong.Field, wrong.Wrong)
}

// CreateTournament makes a draft.
func (s *tournamentService) CreateTournament(ctx context.Context, r *flip7v1.CreateTournamentRequest) (*flip7v1.CreateTournamentResponse, error) {
	settings, err := s.common.SettingsOf(r.GetName(), r.GetSettings())
	if err != nil {
		return nil, setting(err)
	}
	t, err := s.arena.Create(ctx, settings, r.GetRequestId(), act(ctx, "create", "", ""))
	if err != nil {
		return nil, setting(err)
	}
	s.log.InfoContext(ctx, "a tournament is created", "tournament", t.ID, "name", t.Settings.Name, "by", callerOf(ctx).String())
	shown, err := s.show(ctx, t)
	if err != nil {
		return nil, err
	}
	resp := &flip7v1.CreateTournamentResponse{Tournament: shown}
	span := arena.Estimate(t.Settings, 2*t.Settings.Seats) // as it is with full tables
	if told(span.Expected) {
		resp.ExpectedDuration = durationpb.New(span.Expected)
	}
	if told(span.Latest) {
		resp.LatestDuration = durationpb.New(span.Latest)
	}
	return resp, nil
}

// OpenTournament lets bots enter.
func (s *tournamentService) OpenTournament(ctx context.Context, r *flip7v1.OpenTournamentRequest) (*flip7v1.OpenTournamentResponse, error) {
	shown, err := s.change(ctx, r.GetTournamentId(), func(t *arena.Tournament) error {
		return s.arena.Open(ctx, t.ID, act(ctx, "open", "", ""))
	})
	return &flip7v1.OpenTournamentResponse{Tournament: shown}, err
}

// change does something to a tournament and shows it as it is then.
func (s *tournamentService) change(ctx context.Context, id string, do func(*arena.Tournament) error) (*flip7v1.Tournament, error) {
	t, err := s.tournament(ctx, id)
	if err != nil {
		return nil, err
	}
	if err := do(t); err != nil {
		return nil, err
	}
	return s.shown(ctx, t.ID)
}

// EnterBot enters a bot.
func (s *tournamentService) EnterBot(ctx context.Context, r *flip7v1.EnterBotRequest) (*flip7v1.EnterBotResponse, error) {
	s.entering.Lock()
	defer s.entering.Unlock()
	t, err := s.tournament(ctx, r.GetTournamentId())
	if err != nil {
		return nil, err
	}
	who, err := s.entrant(ctx, t, r)
	if err != nil {
		return nil, err
	}
	entry, err := s.arena.Enter(ctx, t.ID, arena.Entrant{Player: who.player, Name: who.name, Owner: who.owner, ByOrganiser: callerOf(ctx).admin()}, act(ctx, "enter", who.name, ""))
	if wrong, is := errors.AsType[*arena.SettingError](err); is && wrong.Field == "name" {
		field := "as_name"
		if r.GetAsName() == "" {
			field = "player"
		}
		return nil, invalid(field, wrong.Wrong)
	}
	if err != nil {
		return nil, err
	}
	if t, err = s.arena.Tournament(ctx, t.ID); err != nil {
		return nil, err
	}
	shown, err := s.entry(ctx, t, entry.Name)
	return &flip7v1.EnterBotResponse{Entry: shown}, err
}

// entrant is who is to be entered, as the arena takes it.
type entrant struct{ player, name, owner string }

// entrant finds out who is meant, and whether the caller may enter that.
func (s *tournamentService) entrant(ctx context.Context, t *arena.Tournament, r *flip7v1.EnterBotRequest) (entrant, error) {
	kind, what, found := strings.Cut(r.GetPlayer(), ":")
	if !found {
		kind, what = "bot", r.GetPlayer()
	}
	by, as := callerOf(ctx), r.GetAsName()
	switch {
	case kind == "bot" && as != "":
		return entrant{}, invalid("as_name", "is for house bots and commands; a registered bot plays under its own name")
	case kind == "bot":
		return s.registered(ctx, what)
	case kind != "house" && kind != "cmd":
		return entrant{}, invalid("player", fmt.Sprintf("%q is not bot:NAME, house:STRATEGY or cmd:COMMAND", r.GetPlayer()))
	case !by.admin():
		return entrant{}, failed(codes.PermissionDenied, "ROLE", "player: house bots and commands are entered by the admin; the token is that of %s", by)
	case kind == "cmd" && as == "":
		return entrant{}, invalid("as_name", "is empty; a command needs a name to play under")
	}
	if as != "" {
		if err := checkName("as_name", as); err != nil {
			return entrant{}, err
		}
	}
	if kind == "cmd" {
		if err := launch.Check(what); err != nil { // before the name is claimed for good
			return entrant{}, invalid("player", err.Error())
		}
		return entrant{r.GetPlayer(), as, ""}, s.claim(ctx, as)
	}
	if as == "" {
		name, err := s.freeName(ctx, t, r.GetPlayer(), what)
		return entrant{r.GetPlayer(), name, ""}, err
	}
	there, err := s.isBot(ctx, as)
	if there {
		err = failed(codes.AlreadyExists, "NAME_TAKEN", "as_name: %q is a registered bot", as)
	}
	if err != nil {
		return entrant{}, err
	}
	return entrant{r.GetPlayer(), as, ""}, nil
}

// registered is a registered bot that the caller may look after, or is.
func (s *tournamentService) registered(ctx context.Context, name string) (entrant, error) {
	bot, err := s.store.Bot(ctx, name)
	if errors.Is(err, arena.ErrNotFound) {
		return entrant{}, missing("bot %q", name)
	}
	if err != nil {
		return entrant{}, fmt.Errorf("bot %q: %w", name, err)
	}
	if by := callerOf(ctx); !by.owns(bot.Owner) && !by.is(bot.Name) {
		return entrant{}, failed(codes.PermissionDenied, "NOT_THE_OWNER", "player: bot %s is not one of %s", name, by)
	}
	if !bot.Retired.IsZero() {
		return entrant{}, failed(codes.FailedPrecondition, "RETIRED", "player: bot %s is retired", name)
	}
	return entrant{"bot:" + bot.Name, bot.Name, bot.Owner}, nil
}

func (s *tournamentService) isBot(ctx context.Context, name string) (bool, error) {
	_, err := s.store.Bot(ctx, name)
	if errors.Is(err, arena.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// freeName is the name of a house bot, with a number if that is taken; one that has withdrawn comes back.
func (s *tournamentService) freeName(ctx context.Context, t *arena.Tournament, player, strategy string) (string, error) {
	for n := 1; ; n++ {
		name := strategy
		if n > 1 {
			name = fmt.Sprintf("%s-%d", strategy, n)
		}
		if e, entered := t.Entry(name); entered {
			if e.Player == player && e.State == arena.Withdrawn && !e.Anchor && !e.FillIn {
				return name, nil
			}
			continue
		}
		if there, err := s.isBot(ctx, name); err != nil || !there {
			return name, err
		}
	}
}

// explainLeaving keeps the reason for which a bot was taken out that is out already, once however often it is given in a row.
func (s *tournamentService) explainLeaving(ctx context.Context, id int64, why arena.Act) error {
	acts, err := s.arena.Store.Acts(ctx, id)
	if err != nil {
		return fmt.Errorf("audit log of tournament %d: %w", id, err)
	}
	var last arena.Act
	_, bot, _ := strings.Cut(why.What, " ")
	for _, a := range acts {
		if _, subject, _ := strings.Cut(a.What, " "); subject == bot {
			last = a
		}
	}
	if last.Who == why.Who && last.What == why.What && last.Why == why.Why {
		return nil
	}
	why.At = time.Now().UTC()
	return s.arena.Store.Audit(ctx, id, why)
}

// WithdrawBot takes a bot out from the next pairing round on.
func (s *tournamentService) WithdrawBot(ctx context.Context, r *flip7v1.WithdrawBotRequest) (*flip7v1.WithdrawBotResponse, error) {
	shown, err := s.leave(ctx, r.GetTournamentId(), r.GetBot(), func(t *arena.Tournament, e *arena.Entry) error {
		by := callerOf(ctx)
		registered := strings.HasPrefix(e.Player, "bot:")
		if !by.admin() && !(registered && (by.owns(e.Owner) || by.is(e.Name))) {
			return failed(codes.PermissionDenied, "NOT_THE_OWNER", "bot: %s is not one of %s", e.Name, by)
		}
		why := act(ctx, "withdraw", e.Name, r.GetWhy())
		if e.State == arena.Withdrawn && why.Why != "" {
			return s.explainLeaving(ctx, t.ID, why)
		}
		return s.arena.Withdraw(ctx, t.ID, e.Name, why)
	})
	return &flip7v1.WithdrawBotResponse{Entry: shown}, err
}

// KickBot takes a bot out for the whole tournament.
func (s *tournamentService) KickBot(ctx context.Context, r *flip7v1.KickBotRequest) (*flip7v1.KickBotResponse, error) {
	shown, err := s.leave(ctx, r.GetTournamentId(), r.GetBot(), func(t *arena.Tournament, e *arena.Entry) error {
		why := act(ctx, "kick", e.Name, r.GetWhy())
		if e.State == arena.Kicked && why.Why != "" {
			return s.explainLeaving(ctx, t.ID, why)
		}
		return s.arena.Kick(ctx, t.ID, e.Name, why)
	})
	return &flip7v1.KickBotResponse{Entry: shown}, err
}

// leave does something to an entry and shows it as it is then.
func (s *tournamentService) leave(ctx context.Context, id, bot string, do func(*arena.Tournament, *arena.Entry) error) (*flip7v1.Entry, error) {
	t, err := s.tournament(ctx, id)
	if err != nil {
		return nil, err
	}
	e, entered := t.Entry(bot)
	if !entered {
		return nil, missing("bot %q in tournament %s", bot, id)
	}
	if err := do(t, e); err != nil {
		return nil, err
	}
	if t, err = s.arena.Tournament(ctx, t.ID); err != nil {
		return nil, err
	}
	return s.entry(ctx, t, bot)
}

// StartTournament starts a tournament, now or later. A request id is kept in the audit log, so that it starts once
// however often it comes.
func (s *tournamentService) StartTournament(ctx context.Context, r *flip7v1.StartTournamentRequest) (*flip7v1.StartTournamentResponse, error) {
	at, subject, why := time.Time{}, "", ""
	if r.GetStartTime() != nil {
		if err := r.GetStartTime().CheckValid(); err != nil {
			return nil, invalid("start_time", "is no point in time")
		}
		if at = r.GetStartTime().AsTime(); at.After(time.Now()) {
			subject = at.Format(time.RFC3339)
		}
	}
	if r.GetRequestId() != "" {
		why = "request " + r.GetRequestId()
	}
	shown, err := s.change(ctx, r.GetTournamentId(), func(t *arena.Tournament) error {
		if why != "" {
			if before, err := s.didStart(ctx, t.ID, why); err != nil || before {
				return err
			}
		}
		if t.State.Live() {
			return &arena.StateError{Wrong: fmt.Sprintf("tournament %d is %v already", t.ID, t.State)}
		}
		return s.arena.Start(ctx, t.ID, at, act(ctx, "start", subject, why))
	})
	return &flip7v1.StartTournamentResponse{Tournament: shown}, err
}

// didStart reports whether a request has started a tournament before.
func (s *tournamentService) didStart(ctx context.Context, id int64, request string) (bool, error) {
	acts, err := s.arena.Store.Acts(ctx, id)
	if err != nil {
		return false, fmt.Errorf("audit log of tournament %d: %w", id, err)
	}
	for _, a := range acts {
		if a.Why == request && (a.What == "start" || strings.HasPrefix(a.What, "start ")) {
			return true, nil
		}
	}
	return false, nil
}

// PauseTournament lets running tables end and then waits.
func (s *tournamentService) PauseTournament(ctx context.Context, r *flip7v1.PauseTournamentRequest) (*flip7v1.PauseTournamentResponse, error) {
	shown, err := s.change(ctx, r.GetTournamentId(), func(t *arena.Tournament) error {
		return s.arena.Pause(ctx, t.ID, act(ctx, "pause", "", r.GetWhy()))
	})
	return &flip7v1.PauseTournamentResponse{Tournament: shown}, err
}

// ResumeTournament goes on.
func (s *tournamentService) ResumeTournament(ctx context.Context, r *flip7v1.ResumeTournamentRequest) (*flip7v1.ResumeTournamentResponse, error) {
	shown, err := s.change(ctx, r.GetTournamentId(), func(t *arena.Tournament) error {
		return s.arena.Continue(ctx, t.ID, act(ctx, "resume", "", r.GetWhy()))
	})
	return &flip7v1.ResumeTournamentResponse{Tournament: shown}, err
}

// CancelTournament stops a tournament for good.
func (s *tournamentService) CancelTournament(ctx context.Context, r *flip7v1.CancelTournamentRequest) (*flip7v1.CancelTournamentResponse, error) {
	shown, err := s.change(ctx, r.GetTournamentId(), func(t *arena.Tournament) error {
		if t.State == arena.Cancelled {
			return nil
		}
		return s.arena.Cancel(ctx, t.ID, r.GetWhy(), act(ctx, "cancel", "", r.GetWhy()))
	})
	return &flip7v1.CancelTournamentResponse{Tournament: shown}, err
}

// VoidTable takes a table out, also one that is being played.
func (s *tournamentService) VoidTable(ctx context.Context, r *flip7v1.VoidTableRequest) (*flip7v1.VoidTableResponse, error) {
	t, err := s.tournament(ctx, r.GetTournamentId())
	if err != nil {
		return nil, err
	}
	round, number := int(r.GetPairingRound()), int(r.GetTable())
	subject := fmt.Sprintf("%d/%d", round, number)
	if err := s.arena.VoidTable(ctx, t.ID, round, number, r.GetWhy(), act(ctx, "void", subject, r.GetWhy())); err != nil {
		return nil, err
	}
	if t, err = s.arena.Tournament(ctx, t.ID); err != nil {
		return nil, err
	}
	shown, err := s.table(ctx, t, round, t.Rounds[round-1].Tables[number-1])
	return &flip7v1.VoidTableResponse{Table: shown}, err
}
