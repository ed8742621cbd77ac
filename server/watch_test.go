package server

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

func (h *hosting) watching() flip7v1.WatchServiceClient { return flip7v1.NewWatchServiceClient(h.conn) }

// seen is what a spectator of a tournament was told.
type seen struct {
	events    []*flip7v1.TournamentEvent
	positions []string // after each event; "" in the middle of a batch
	missed    uint64
}

// watchAll reads a spectator's stream to its end.
func watchAll(t *testing.T, stream grpc.ServerStreamingClient[flip7v1.WatchTournamentResponse]) seen {
	t.Helper()
	var s seen
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return s
		}
		if err != nil {
			t.Fatal(err)
		}
		s.missed += r.GetMissed()
		for i, e := range r.GetEvents() {
			s.events = append(s.events, e)
			position := ""
			if i == len(r.GetEvents())-1 {
				position = r.GetPosition()
			}
			s.positions = append(s.positions, position)
		}
	}
}

func (h *hosting) watch(r *flip7v1.WatchTournamentRequest) grpc.ServerStreamingClient[flip7v1.WatchTournamentResponse] {
	h.t.Helper()
	stream, err := h.watching().WatchTournament(h.t.Context(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return stream
}

func TestASpectatorSeesANightToItsEndAndResumesAnywhere(t *testing.T) {
	h := host(t)
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 2, Rotations: 1}, houses()...)
	stream := h.watch(&flip7v1.WatchTournamentRequest{TournamentId: id, GameEvents: true})
	first, err := stream.Recv() // how things stand before the start
	if err != nil || first.GetEvents()[0].GetTournament().GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_OPEN {
		t.Fatalf("the first message is %v (%v), want the open tournament", first, err)
	}
	h.play(id)
	s := watchAll(t, stream)

	started, finished, rounds, tables := map[string]bool{}, map[string]bool{}, 0, 0
	events := map[string][]*flip7v1.GameEvent{}
	for _, e := range s.events {
		switch {
		case e.GetGameStarted() != nil:
			started[e.GetGameStarted().GetGameId()] = true
		case e.GetGameEvent() != nil:
			g := e.GetGameEvent().GetGameId()
			if !started[g] || finished[g] {
				t.Fatalf("an event of game %s, which has started: %v, finished: %v", g, started[g], finished[g])
			}
			events[g] = append(events[g], e.GetGameEvent())
		case e.GetGameFinished() != nil:
			finished[e.GetGameFinished().GetGame().GetGameId()] = true
		case e.GetPairingRound() != nil:
			rounds++
		case e.GetTable().GetState() == flip7v1.TableState_TABLE_STATE_FINISHED:
			tables++
		}
	}
	// 8 house bots at 2 tables of 4, one rotation of 4 games each, 2 pairing rounds.
	if rounds != 2 || tables != 4 || len(started) != 16 || len(finished) != 16 {
		t.Errorf("saw %d pairing rounds, %d finished tables, %d games started and %d finished; want 2, 4, 16, 16", rounds, tables, len(started), len(finished))
	}
	if last := s.events[len(s.events)-1].GetTournament().GetState(); last != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED {
		t.Errorf("the last event tells of state %v, want finished", last)
	}

	// What was seen card by card is what the record says.
	for g, list := range events {
		if recorded := h.game(g, 0); !slices.EqualFunc(list, recorded, func(a, b *flip7v1.GameEvent) bool { return proto.Equal(a, b) }) {
			t.Errorf("game %s: %d events were seen, and its record has %d others", g, len(list), len(recorded))
		}
	}

	// Who lost the stream anywhere goes on from the last position and sees the same.
	for i, position := range s.positions {
		if position == "" || i%7 != 0 {
			continue
		}
		rest := watchAll(t, h.watch(&flip7v1.WatchTournamentRequest{TournamentId: id, Position: position}))
		want := slices.DeleteFunc(slices.Clone(s.events[i+1:]), func(e *flip7v1.TournamentEvent) bool { return e.GetGameEvent() != nil })
		if len(rest.events) != len(want) || rest.missed != 0 {
			t.Errorf("from position %s: %d events with %d missed, want %d with none", position, len(rest.events), rest.missed, len(want))
		}
	}
}

// game is the events of a game after one of them, as WatchGame tells them.
func (h *hosting) game(id string, after uint32) (events []*flip7v1.GameEvent) {
	h.t.Helper()
	stream, err := h.watching().WatchGame(h.t.Context(), &flip7v1.WatchGameRequest{GameId: id, AfterEvent: after})
	if err != nil {
		h.t.Fatal(err)
	}
	var last *flip7v1.WatchGameResponse
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			h.t.Fatal(err)
		}
		events = append(events, r.GetEvents()...)
		last = r
	}
	if last.GetFinished().GetEnd() != flip7v1.GameEnd_GAME_END_COMPLETE {
		h.t.Errorf("game %s ended for its spectator with %v, want complete", id, last)
	}
	return events
}

func TestTheLeadIsThatOfFinishedRounds(t *testing.T) {
	round := func(states ...arena.TableState) (r arena.Round) {
		for _, state := range states {
			r.Tables = append(r.Tables, arena.Table{State: state})
		}
		return r
	}
	night := &arena.Tournament{Rounds: []arena.Round{round(arena.Complete, arena.Void), round(arena.Complete, arena.Playing)}}
	if got := len(finishedRounds(night).Rounds); got != 1 || len(night.Rounds) != 2 {
		t.Errorf("%d rounds count and %d are there, want 1 of 2", got, len(night.Rounds))
	}
	night.Rounds[1].Tables[1].State = arena.Complete
	if got := len(finishedRounds(night).Rounds); got != 2 {
		t.Errorf("when the second is over %d rounds count, want 2", got)
	}
}

func TestAPositionOfAnotherRunBeginsAnew(t *testing.T) {
	h := host(t)
	id := h.opened(nil, houses()...)
	h.play(id)
	s := watchAll(t, h.watch(&flip7v1.WatchTournamentRequest{TournamentId: id, Position: "before-12"}))
	if s.missed == 0 || len(s.events) == 0 || s.events[0].GetTournament() == nil {
		t.Errorf("%d events with %d missed, want how things stand, and that something was missed", len(s.events), s.missed)
	}
	stream := h.watch(&flip7v1.WatchTournamentRequest{TournamentId: id, Position: "nonsense"})
	if _, err := stream.Recv(); status.Code(err) != codes.InvalidArgument {
		t.Errorf("a position that is none: got %v, want InvalidArgument", err)
	}
}

func TestSpectatorsAreBounded(t *testing.T) {
	r := start(t, func(c *Config) { c.MaxWatchers = 1 })
	h := &hosting{r, flip7v1.NewTournamentServiceClient(r.conn), flip7v1.NewRatingServiceClient(r.conn)}
	id := h.opened(nil, houses()...)
	ctx, leave := context.WithCancel(t.Context())
	first, err := h.watching().WatchTournament(ctx, &flip7v1.WatchTournamentRequest{TournamentId: id})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := first.Recv(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.watch(&flip7v1.WatchTournamentRequest{TournamentId: id}).Recv(); status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a second spectator of one: got %v, want ResourceExhausted", err)
	}
	leave()
	for {
		if _, err := first.Recv(); err != nil {
			break
		}
	}
}

func TestAGameIsSeenWhileItIsPlayed(t *testing.T) {
	h := host(t)
	token := h.registered("ada")
	player := h.joinWith(as(t.Context(), token), &flip7v1.Hello{Protocol: 1, InstanceId: "1", WantsEvents: true})
	id := h.opened(&flip7v1.TournamentSettings{Seats: 3, PairingRounds: 1, Rotations: 1, Anchor: flip7v1.Anchor_ANCHOR_OFF},
		"bot:ada", "house:odds", "house:racer")
	if _, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	request, told := player.untilAsked(nil)
	game := request.GetGame().GetGameId()

	stream, err := h.watching().WatchGame(t.Context(), &flip7v1.WatchGameRequest{GameId: game})
	if err != nil {
		t.Fatal(err)
	}
	r, err := stream.Recv()
	if err != nil || r.GetGame().GetGameId() != game || len(r.GetEvents()) == 0 || r.GetEvents()[0].GetNumber() != 1 {
		t.Fatalf("a spectator is told first %v (%v), want the game and its events from the first", r, err)
	}
	events := r.GetEvents()
	got, err := h.watching().GetGame(t.Context(), &flip7v1.GetGameRequest{GameId: game})
	if err != nil || got.GetGame().GetState() != flip7v1.GameState_GAME_STATE_RUNNING || len(got.GetView().GetSeats()) != 3 {
		t.Errorf("the running game is %v (%v), want a view of 3 seats", got, err)
	}
	if _, err := h.watching().GetGameRecord(t.Context(), &flip7v1.GetGameRecordRequest{GameId: game}); status.Code(err) != codes.FailedPrecondition {
		t.Errorf("the record of a running game, with its seed: %v, want FailedPrecondition", err)
	}

	done := make(chan []*flip7v1.GameEvent, 1)
	go func() { done <- player.passAll(request, told) }()
	h.wait(id)
	for {
		r, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, r.GetEvents()...)
	}
	if recorded := h.game(game, 0); !slices.EqualFunc(events, recorded, func(a, b *flip7v1.GameEvent) bool { return proto.Equal(a, b) }) {
		t.Errorf("%d events were seen live, and the record has %d others", len(events), len(recorded))
	}
	if rest := h.game(game, 10); len(rest) != len(events)-10 || rest[0].GetNumber() != 11 {
		t.Errorf("after event 10 there are %d, want %d from 11", len(rest), len(events)-10)
	}
	record, err := h.watching().GetGameRecord(t.Context(), &flip7v1.GetGameRecordRequest{GameId: game})
	if err != nil || len(record.GetRecord().GetSeed()) != 32 {
		t.Errorf("the record of the finished game: %v (%v)", record, err)
	}
	player.CloseSend()

	// The bot at the table wanted to know as well, and was told the same of that game.
	last := uint32(0)
	for _, e := range <-done {
		if e.GetGameId() != game {
			continue
		}
		if e.GetNumber() != last+1 || !proto.Equal(e, events[last]) {
			t.Fatalf("the bot was told %v after event %d, want %v", e, last, events[last])
		}
		last++
	}
	if last == 0 {
		t.Error("the bot was told of no event")
	}
}

// early stands before the spectators and looks whether the bots know already.
type early struct {
	spectators
	told   *audience
	looked atomic.Int32
	wrong  func(format string, args ...any)
}

// Happened implements arena.Audience.
func (e *early) Happened(event arena.Event) {
	id := arena.GameID{Tournament: event.Tournament, Round: event.Round, Table: event.Table, Number: event.Game}
	if event.Kind == arena.GamePlay {
		e.told.mu.Lock()
		r := e.told.games[id]
		e.told.mu.Unlock()
		if g, there := e.Game(id, 0); there && r != nil {
			e.looked.Add(1)
			if bots, now := r.follower.Moves(), len(g.Moves)+len(event.Moves); bots != now {
				e.wrong("spectators of game %v are told of decision %d when the bots know of %d", id, now, bots)
			}
		}
	}
	e.spectators.Happened(event)
}

func TestSpectatorsAreToldNothingEarlierThanBots(t *testing.T) {
	h := host(t)
	before := &early{spectators: h.audience.hub, told: h.audience, wrong: t.Errorf}
	h.audience.hub = before // nothing has happened yet
	player := h.joinWith(as(t.Context(), h.registered("ada")), &flip7v1.Hello{Protocol: 1, InstanceId: "1", WantsEvents: true})
	id := h.opened(&flip7v1.TournamentSettings{Seats: 3, PairingRounds: 1, Rotations: 1, Anchor: flip7v1.Anchor_ANCHOR_OFF},
		"bot:ada", "house:odds", "house:racer")
	if _, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	request, told := player.untilAsked(nil)
	done := make(chan struct{})
	go func() { player.passAll(request, told); close(done) }()
	h.wait(id)
	player.CloseSend()
	<-done
	if before.looked.Load() < 50 {
		t.Errorf("%d decisions were looked at, want those of three games", before.looked.Load())
	}
}

func TestGamesAreListedPageByPage(t *testing.T) {
	h := host(t)
	id := h.opened(&flip7v1.TournamentSettings{PairingRounds: 2, Rotations: 1}, houses()...)
	h.play(id)
	var games []string
	pages := all(t, 5, h.watching().ListGames,
		func(size uint32, token string) *flip7v1.ListGamesRequest {
			return &flip7v1.ListGamesRequest{TournamentId: id, PageSize: size, PageToken: token}
		},
		func(r *flip7v1.ListGamesResponse) {
			for _, g := range r.GetGames() {
				games = append(games, g.GetGame().GetGameId())
				if g.GetState() != flip7v1.GameState_GAME_STATE_ENDED || len(g.GetPlaces()) != 4 {
					t.Errorf("game %s is %v with places %v", g.GetGame().GetGameId(), g.GetState(), g.GetPlaces())
				}
			}
		})
	if len(games) != 16 || pages != 4 || len(slices.Compact(slices.Clone(games))) != 16 {
		t.Errorf("%d games on %d pages: %v; want 16 different ones on 4", len(games), pages, games)
	}
	one, err := h.watching().ListGames(t.Context(), &flip7v1.ListGamesRequest{TournamentId: id, PairingRound: 2, Bot: "odds"})
	if err != nil || len(one.GetGames()) != 4 {
		t.Errorf("odds has %d games in pairing round 2 (%v), want 4", len(one.GetGames()), err)
	}
}

// registered registers a bot and returns its token.
func (h *hosting) registered(name string) string {
	h.t.Helper()
	r, err := flip7v1.NewBotServiceClient(h.conn).RegisterBot(h.admin, &flip7v1.RegisterBotRequest{Name: name})
	if err != nil {
		h.t.Fatal(err)
	}
	return r.GetToken()
}

// untilAsked reads on until the bot has to decide, and gathers events.
func (b *bot) untilAsked(told []*flip7v1.GameEvent) (*flip7v1.DecisionRequest, []*flip7v1.GameEvent) {
	for {
		m, err := b.next()
		if err != nil {
			return nil, told
		}
		if e := m.GetEvent(); e != nil {
			told = append(told, e)
		}
		if r := m.GetRequest(); r != nil {
			return r, told
		}
	}
}

// passAll passes at every request, from one that is open, until the stream ends, and returns the events that came.
func (b *bot) passAll(request *flip7v1.DecisionRequest, told []*flip7v1.GameEvent) []*flip7v1.GameEvent {
	for request != nil {
		if err := b.pass(request); err != nil {
			return told
		}
		request, told = b.untilAsked(told)
	}
	return told
}

func (b *bot) pass(request *flip7v1.DecisionRequest) error {
	pass := &flip7v1.Decision{RequestId: request.GetRequestId(), Answer: flip7v1.Answer_ANSWER_PASS}
	return b.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{{Message: &flip7v1.BotMessage_Decision{Decision: pass}}}})
}

// breakingOff are the ways to break a game off, by what is done: the tournament has one table.
var breakingOff = map[string]func(h *hosting, id string) error{
	"cancel": func(h *hosting, id string) error {
		_, err := h.CancelTournament(h.admin, &flip7v1.CancelTournamentRequest{TournamentId: id, Why: "a storm"})
		return err
	},
	"void": func(h *hosting, id string) error {
		_, err := h.VoidTable(h.admin, &flip7v1.VoidTableRequest{TournamentId: id, PairingRound: 1, Table: 1, Why: "a wrong build"})
		return err
	},
}

func TestWhoWatchesAGameIsToldThatItWasBrokenOff(t *testing.T) {
	retold := func(h *hosting) int {
		h.audience.mu.Lock()
		defer h.audience.mu.Unlock()
		return len(h.audience.games)
	}
	for what, breakOff := range breakingOff {
		t.Run(what, func(t *testing.T) {
			h := host(t)
			player := h.joinWith(as(t.Context(), h.registered("ada")), &flip7v1.Hello{Protocol: 1, InstanceId: "1", WantsEvents: true,
				Capacity: &flip7v1.Capacity{MaxGames: 1}}) // so that both requests are of one game
			id := h.opened(&flip7v1.TournamentSettings{Seats: 3, PairingRounds: 1, Anchor: flip7v1.Anchor_ANCHOR_OFF}, "bot:ada", "house:odds", "house:racer")
			if _, err := h.StartTournament(h.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
				t.Fatal(err)
			}
			request, _ := player.untilAsked(nil)
			player.pass(request)
			request, _ = player.untilAsked(nil)
			if games := retold(h); games == 0 {
				t.Error("no game is told to the bot at the table, which wants events")
			}
			ctx, leave := context.WithTimeout(t.Context(), 10*time.Second)
			defer leave()
			stream, err := h.watching().WatchGame(ctx, &flip7v1.WatchGameRequest{GameId: request.GetGame().GetGameId()})
			if err == nil {
				_, err = stream.Recv()
			}
			if err == nil {
				err = breakOff(h, id)
			}
			if err != nil {
				t.Fatal(err)
			}
			var last *flip7v1.WatchGameResponse
			for {
				r, err := stream.Recv()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("the game was broken off, and its spectator is told %v", err)
				}
				last = r
			}
			if f := last.GetFinished(); f.GetState() != flip7v1.GameState_GAME_STATE_ENDED || f.GetEnd() != flip7v1.GameEnd_GAME_END_VOID {
				t.Errorf("a spectator is told last %v, want that the game has ended, void", last)
			}
			if games := retold(h); games != 0 {
				t.Errorf("%d games are remembered for bots that want events, want none", games)
			}
		})
	}
}

func TestAPositionInANightThatIsForgottenBeginsAnew(t *testing.T) {
	h := host(t)
	night := func() string {
		id := h.opened(&flip7v1.TournamentSettings{Seats: 3, PairingRounds: 1, Rotations: 1}, "house:odds", "house:racer", "house:stay-20")
		h.play(id)
		return id
	}
	first := night()
	told := watchAll(t, h.watch(&flip7v1.WatchTournamentRequest{TournamentId: first}))
	for range 9 { // of eight that are over it is remembered what happened
		night()
	}
	ctx, leave := context.WithTimeout(t.Context(), 10*time.Second)
	defer leave()
	stream, err := h.watching().WatchTournament(ctx, &flip7v1.WatchTournamentRequest{TournamentId: first, Position: told.positions[len(told.positions)-1]})
	if err != nil {
		t.Fatal(err)
	}
	s := watchAll(t, stream)
	if s.missed == 0 || len(s.events) == 0 || s.events[0].GetTournament().GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED {
		t.Errorf("%d events with %d missed, want how things stand, and that something was missed", len(s.events), s.missed)
	}
}
