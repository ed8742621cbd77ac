package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/hub"
	"github.com/flip7-arena/flip7/server/wire"
)

const (
	// heartbeat is after how long a spectator hears something though nothing happens; proxies cut what is idle longer.
	heartbeat = 15 * time.Second
	// watchBatch is how many events go into one message, so that it stays well below what a client takes by default.
	watchBatch = 200
)

// watchService shows spectators what happens. Each reads from the hub at its own pace.
type watchService struct {
	flip7v1.UnimplementedWatchServiceServer
	arena  *arena.Arena
	hub    *hub.Hub
	epoch  string // names this run of the program in positions: numbers of events begin anew with it
	seats  *crowd // of spectators
	common wire.Common
	ready  func(bot string) bool // whether a bot is connected, and not absent
}

func newWatchService(a *arena.Arena, h *hub.Hub, common wire.Common, ready func(bot string) bool, spectators int) *watchService {
	return &watchService{arena: a, hub: h, common: common, ready: ready, epoch: rand.Text()[:8],
		seats: newCrowd(spectators, max(spectators/4, 1))}
}

// sit takes a spectator's seat.
func (s *watchService) sit(ctx context.Context) (leave func(), err error) {
	leave, ok := s.seats.enter(placeOf(ctx))
	if !ok {
		return nil, later(codes.ResourceExhausted, "TOO_MANY_SPECTATORS", time.Minute, "the arena takes %d spectators, %d of them from one place",
			s.seats.most, s.seats.alike)
	}
	return leave, nil
}

// WatchTournament tells what happens in a tournament.
func (s *watchService) WatchTournament(r *flip7v1.WatchTournamentRequest, stream grpc.ServerStreamingServer[flip7v1.WatchTournamentResponse]) error {
	leave, err := s.sit(stream.Context())
	if err != nil {
		return err
	}
	defer leave()
	ctx := stream.Context()
	id, err := tournamentID(r.GetTournamentId())
	if err != nil {
		return err
	}
	if _, err := s.arena.Tournament(ctx, id); err != nil { // the hub remembers whatever it is asked for
		return err
	}
	w := &spectator{watchService: s, request: r, id: id, stream: stream, following: map[arena.GameID]*followed{}}
	if w.after, w.missed, err = s.position(r.GetPosition()); err != nil {
		return err
	}
	last := s.hub.Last(id)
	if w.after > last { // it has ended so long ago that its events are forgotten
		w.missed = 1
	}
	if r.GetPosition() == "" || w.missed > 0 {
		w.after = last
		if err := w.begin(ctx); err != nil {
			return err
		}
	}
	for {
		over, err := w.next(ctx)
		if err != nil || over {
			return err
		}
	}
}

// position reads where to go on. Of another run of the program nothing is known: missed is 1 then.
func (s *watchService) position(text string) (after, missed uint64, err error) {
	if text == "" {
		return 0, 0, nil
	}
	epoch, number, found := strings.Cut(text, "-")
	after, err = strconv.ParseUint(number, 10, 64)
	if !found || err != nil {
		return 0, 0, invalid("position", "is none that WatchTournament has told")
	}
	if epoch != s.epoch {
		return 0, 1, nil
	}
	return after, 0, nil
}

// spectator is one stream of WatchTournament.
type spectator struct {
	*watchService
	request   *flip7v1.WatchTournamentRequest
	id        int64
	stream    grpc.ServerStreamingServer[flip7v1.WatchTournamentResponse]
	after     uint64 // the last event that was told, or need not be
	missed    uint64
	following map[arena.GameID]*followed // with game_events only
	pending   []*flip7v1.TournamentEvent
}

// begin tells how things stand.
func (w *spectator) begin(ctx context.Context) error {
	t, err := w.arena.Tournament(ctx, w.id)
	if err != nil {
		return err
	}
	now := time.Now()
	w.add(now, &flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_Tournament{Tournament: w.common.Tournament(t)}})
	if n := len(t.Rounds); n > 0 {
		round := t.Rounds[n-1]
		w.add(now, &flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_PairingRound{PairingRound: wire.PairingRound(t, round)}})
		for _, tab := range round.Tables {
			if tab.State == arena.Playing && w.wants(t, tab) {
				w.add(now, &flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_Table{Table: wire.Table(t, n, tab, "")}})
			}
		}
	}
	for _, id := range w.hub.Games(w.id) {
		if g, there := w.hub.Game(id, 0); there && !g.Ended && w.wantsGame(t, id) {
			w.add(now, &flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_GameStarted{GameStarted: wire.GameInfo(g.Info)}})
			w.follow(id)
		}
	}
	return w.flush(t.State.Over())
}

// next waits for something to happen and tells it. Over is true when there will be nothing more.
func (w *spectator) next(ctx context.Context) (over bool, err error) {
	changed := w.hub.Changed(w.id)
	if w.request.GetGameEvents() {
		changed = w.hub.Played(w.id)
	}
	events, missed := w.hub.Events(w.id, w.after, watchBatch)
	w.missed += missed
	w.after += missed + uint64(len(events))
	if len(events) == 0 {
		if w.plays(); len(w.pending) > 0 {
			return false, w.flush(false)
		}
		t, err := w.arena.Tournament(ctx, w.id)
		if err != nil {
			return false, err
		}
		if t.State.Over() && w.hub.Last(w.id) <= w.after { // less, if its events are forgotten
			return true, w.flush(w.missed > 0)
		}
		select {
		case <-changed:
			return false, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(heartbeat):
			return false, w.flush(true)
		}
	}
	t, err := w.arena.Tournament(ctx, w.id)
	if err != nil {
		return false, err
	}
	for _, e := range events {
		if err := w.translate(ctx, t, e); err != nil {
			return false, err
		}
	}
	w.plays()
	return false, w.flush(false)
}

// translate adds what an event tells, if the spectator wants to know. The tournament is as it is now, which may be later
// than the event: what is told of it is never less than what happened.
func (w *spectator) translate(ctx context.Context, t *arena.Tournament, e arena.Event) error {
	id := arena.GameID{Tournament: e.Tournament, Round: e.Round, Table: e.Table, Number: e.Game}
	add := func(event *flip7v1.TournamentEvent) { w.add(e.At, event) }
	switch e.Kind {
	case arena.StateChanged:
		then := *t
		if name, _, _ := strings.Cut(e.Text, ":"); !t.State.Over() || name != t.State.String() {
			if state, err := arena.ParseState(name); err == nil {
				then.State = state // as it was then, so that it ends once, and last
			}
		}
		add(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_Tournament{Tournament: w.common.Tournament(&then)}})
	case arena.EntriesChanged:
		for _, entry := range e.Entries {
			add(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_Entry{Entry: wire.Entry(t, entry, w.ready(entry.Name))}})
		}
	case arena.RoundPaired:
		add(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_PairingRound{PairingRound: wire.PairingRound(t, t.Rounds[e.Round-1])}})
	case arena.TableChanged:
		tab := t.Rounds[e.Round-1].Tables[e.Table-1]
		if state, err := arena.ParseTableState(e.Text); err == nil {
			tab.State = state // as it was then, so that it finishes once
		}
		if w.wants(t, tab) {
			add(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_Table{Table: wire.Table(t, e.Round, tab, "")}})
		}
	case arena.GameBegan:
		if w.wantsGame(t, id) {
			add(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_GameStarted{GameStarted: wire.GameInfo(*e.Info)}})
			w.follow(id)
		}
	case arena.GameEnded:
		if w.wantsGame(t, id) {
			if err := w.seeOut(ctx, id, e.At); err != nil {
				return err
			}
			add(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_GameFinished{GameFinished: wire.GameSummary(t, id, *e.Result)}})
		}
	case arena.StandingsChanged:
		changed := &flip7v1.StandingsChanged{PairingRounds: uint32(min(e.Round, t.Settings.Rounds))}
		if then := finishedRounds(t); len(then.Rounds) > 0 { // among tables half played the lead is luck of who played more
			if standings, err := then.Standings(); err == nil && len(standings) > 0 {
				changed.Leader = standings[0].Name
			}
		}
		add(&flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_StandingsChanged{StandingsChanged: changed}})
	}
	return nil
}

// finishedRounds is a tournament without the round that is being played.
func finishedRounds(t *arena.Tournament) *arena.Tournament {
	then := *t
	playing := slices.IndexFunc(then.Rounds, func(r arena.Round) bool {
		return slices.ContainsFunc(r.Tables, func(tab arena.Table) bool { return tab.State != arena.Complete && tab.State != arena.Void })
	})
	if playing >= 0 {
		then.Rounds = then.Rounds[:playing]
	}
	return &then
}

// wants reports whether the spectator asked for a table.
func (w *spectator) wants(t *arena.Tournament, tab arena.Table) bool {
	if n := w.request.GetTable(); n != 0 && int(n) != tab.Number {
		return false
	}
	bot := w.request.GetBot()
	return bot == "" || slices.ContainsFunc(tab.Bots, func(number int) bool { return t.Entries[number-1].Name == bot })
}

func (w *spectator) wantsGame(t *arena.Tournament, id arena.GameID) bool {
	return w.wants(t, t.Rounds[id.Round-1].Tables[id.Table-1])
}

func (w *spectator) add(at time.Time, e *flip7v1.TournamentEvent) {
	e.Time = timestamppb.New(at)
	w.pending = append(w.pending, e)
}

// flush sends what is pending, in batches; if there is nothing, only when something has to be heard.
func (w *spectator) flush(empty bool) error {
	for len(w.pending) > 0 || empty {
		n := min(len(w.pending), watchBatch)
		r := &flip7v1.WatchTournamentResponse{Events: w.pending[:n], Missed: w.missed}
		if n == len(w.pending) { // only then all up to the position has been told
			r.Position = w.epoch + "-" + strconv.FormatUint(w.after, 10)
		}
		if err := w.stream.Send(r); err != nil {
			return err
		}
		w.pending, w.missed, empty = w.pending[n:], 0, false
	}
	w.pending = nil
	return nil
}

// followed is a game that is told card by card.
type followed struct {
	follower *hub.Follower
	events   []*flip7v1.GameEvent
	number   int
}

// Observe implements game.Observer.
func (f *followed) Observe(s *game.State, e game.Event) {
	f.number++
	f.events = append(f.events, wire.Event(f.follower.Info.ID, f.follower.Attempt, f.number, s, e))
}

// follow begins to tell a game card by card, if that was asked for.
func (w *spectator) follow(id arena.GameID) {
	if w.request.GetGameEvents() {
		w.following[id] = nil // begun by catchUp
		w.catchUp(id)
	}
}

// plays tells what has happened in all games that are followed.
func (w *spectator) plays() {
	for _, id := range w.hub.Games(w.id) {
		if _, follows := w.following[id]; follows {
			w.catchUp(id)
		}
	}
}

// catchUp tells what has happened in one game.
func (w *spectator) catchUp(id arena.GameID) {
	f, follows := w.following[id]
	if !follows {
		return
	}
	f, err := catchUp(w.hub, id, f)
	if err != nil || f == nil {
		return // the game is over, and told as finished
	}
	w.following[id] = f
	now := time.Now()
	for _, e := range f.events {
		w.add(now, &flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_GameEvent{GameEvent: e}})
	}
	f.events = nil
}

// seeOut tells a game that has ended to its end: from its record, for the hub may have forgotten it with its table.
func (w *spectator) seeOut(ctx context.Context, id arena.GameID, at time.Time) error {
	f, follows := w.following[id]
	delete(w.following, id)
	if !follows {
		return nil
	}
	played, err := w.arena.Store.Game(ctx, id)
	if err != nil {
		return err
	}
	events := &eventList{id: wire.GameID(id), attempt: played.Game.Attempt}
	if err := replay(played, events); err != nil {
		return fmt.Errorf("replay game %s: %w", events.id, err)
	}
	told := 0
	if f != nil && f.follower.Attempt == played.Game.Attempt {
		told = f.number
	}
	for _, e := range events.list[told:] {
		w.add(at, &flip7v1.TournamentEvent{Event: &flip7v1.TournamentEvent_GameEvent{GameEvent: e}})
	}
	return nil
}

// catchUp follows a game up to now: from its beginning if f is nil or of an older attempt. It is nil if the hub does not
// have the game any more.
func catchUp(h *hub.Hub, id arena.GameID, f *followed) (*followed, error) {
	after := 0
	if f != nil {
		after = f.follower.Moves()
	}
	g, there := h.Game(id, after)
	if !there {
		return nil, nil
	}
	if f != nil && f.follower.Attempt == g.Attempt {
		return f, f.follower.Catch(g.Moves)
	}
	if g, there = h.Game(id, 0); !there {
		return nil, nil
	}
	f = &followed{follower: &hub.Follower{Info: g.Info, Attempt: g.Attempt}}
	follower, err := hub.Follow(g, f)
	f.follower = follower
	return f, err
}

// WatchGame tells what happens in one game.
func (s *watchService) WatchGame(r *flip7v1.WatchGameRequest, stream grpc.ServerStreamingServer[flip7v1.WatchGameResponse]) error {
	leave, err := s.sit(stream.Context())
	if err != nil {
		return err
	}
	defer leave()
	id, _, err := s.game(stream.Context(), r.GetGameId())
	if err != nil {
		return err
	}
	var f *followed
	attempt, after := int(r.GetAttempt()), int(r.GetAfterEvent())
	for {
		played := s.hub.Played(id.Tournament)
		next, err := catchUp(s.hub, id, f)
		if err != nil {
			return fmt.Errorf("follow game %s: %w", r.GetGameId(), err)
		}
		if next == nil {
			return s.watchFinished(stream, id, attempt, after)
		}
		response := &flip7v1.WatchGameResponse{}
		if next != f { // the beginning, or a new attempt
			response.Game = wire.GameInfo(next.follower.Info)
			if f != nil || attempt != 0 && attempt != next.follower.Attempt {
				after = 0
			}
			attempt, f = next.follower.Attempt, next
		}
		for _, e := range f.events {
			if int(e.GetNumber()) > after {
				response.Events = append(response.Events, e)
				after = int(e.GetNumber())
			}
		}
		f.events = nil
		over := f.follower.State.Over()
		if over {
			t, err := s.arena.Tournament(stream.Context(), id.Tournament)
			if err != nil {
				return err
			}
			response.Finished = summary(t, id, s.hub)
			over = response.Finished.GetState() == flip7v1.GameState_GAME_STATE_ENDED // else it is not kept yet
			if !over {
				response.Finished = nil
			}
		}
		if response.Game != nil || len(response.Events) > 0 || over {
			if err := stream.Send(response); err != nil {
				return err
			}
		}
		if over {
			return nil
		}
		select {
		case <-played:
		case <-stream.Context().Done():
			return context.Cause(stream.Context())
		case <-time.After(heartbeat):
			if err := stream.Send(&flip7v1.WatchGameResponse{}); err != nil {
				return err
			}
		}
	}
}

// watchFinished tells a game whose table is over from its record.
func (s *watchService) watchFinished(stream grpc.ServerStreamingServer[flip7v1.WatchGameResponse], id arena.GameID, attempt, after int) error {
	t, err := s.arena.Tournament(stream.Context(), id.Tournament)
	if err != nil {
		return err
	}
	finished := summary(t, id, s.hub)
	if finished.GetState() != flip7v1.GameState_GAME_STATE_ENDED || finished.GetEnd() != flip7v1.GameEnd_GAME_END_COMPLETE {
		return stream.Send(&flip7v1.WatchGameResponse{Game: finished.GetGame(), Finished: finished})
	}
	played, err := s.arena.Store.Game(stream.Context(), id)
	if err != nil {
		return err
	}
	if attempt != 0 && attempt != played.Game.Attempt {
		after = 0
	}
	events := &eventList{id: wire.GameID(id), attempt: played.Game.Attempt}
	if err := replay(played, events); err != nil {
		return fmt.Errorf("replay game %s: %w", events.id, err)
	}
	list := events.list[min(after, len(events.list)):]
	response := &flip7v1.WatchGameResponse{Game: finished.GetGame()}
	for part := range slices.Chunk(list, watchBatch) {
		response.Events = part
		if err := stream.Send(response); err != nil {
			return err
		}
		response = &flip7v1.WatchGameResponse{}
	}
	return stream.Send(&flip7v1.WatchGameResponse{Finished: finished})
}

// eventList gathers the events of a game for the wire.
type eventList struct {
	id      string
	attempt int
	list    []*flip7v1.GameEvent
}

// Observe implements game.Observer.
func (l *eventList) Observe(s *game.State, e game.Event) {
	l.list = append(l.list, wire.Event(l.id, l.attempt, len(l.list)+1, s, e))
}

// game finds the tournament and table of a game.
func (s *watchService) game(ctx context.Context, text string) (id arena.GameID, t *arena.Tournament, err error) {
	id, ok := wire.GameIDOf(text)
	if !ok {
		return id, nil, missing("game %q", text)
	}
	if t, err = s.arena.Tournament(ctx, id.Tournament); err != nil {
		return id, nil, err
	}
	if id.Round > len(t.Rounds) || id.Table > len(t.Rounds[id.Round-1].Tables) {
		return id, nil, missing("game %q", text)
	}
	if id.Number > t.Settings.Games(id.Round, len(t.Rounds[id.Round-1].Tables[id.Table-1].Bots)) {
		return id, nil, missing("game %q", text)
	}
	return id, t, nil
}
