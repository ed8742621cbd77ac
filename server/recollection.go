package server

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/wire"
)

// recalledGames is of how many games of a night, the last ones, all requests are told: they are about 25 each.
const recalledGames = 500

// recollection is what a bot was asked in the games of a night that have ended. Its log keeps what was remarkable; the
// records of the games have the rest: each request, what lay on the table, what was played and how long it took.
type recollection struct {
	night *arena.Tournament
	games []*recalled // in the order of pairing round, table and number
	found map[arena.GameID]*recalled
	more  int // games before them
}

// recalled is one game and the seat of the bot.
type recalled struct {
	arena.Played
	id       arena.GameID
	seat     game.Seat
	requests map[int]*flip7v1.DecisionRequest // by number; nil: it was not replayed yet
}

// recollect reads the games of a night in which a bot played, or one game of it.
func recollect(ctx context.Context, kept *store.Store, night *arena.Tournament, bot string, only arena.GameID) (*recollection, error) {
	r := &recollection{night: night, found: map[arena.GameID]*recalled{}}
	entry, entered := night.Entry(bot)
	if !entered {
		return r, nil
	}
	for _, round := range night.Rounds {
		for _, tab := range round.Tables {
			for _, g := range tab.Games {
				id := arena.GameID{Tournament: night.ID, Round: round.Number, Table: tab.Number, Number: g.Number}
				if seat := slices.Index(g.Seats, entry.Number); seat >= 0 && (only.Number == 0 || id == only) {
					r.games = append(r.games, &recalled{id: id, seat: game.Seat(seat)})
				}
			}
		}
	}
	r.more = max(len(r.games)-recalledGames, 0)
	r.games = r.games[r.more:]
	for _, g := range r.games {
		var err error
		if g.Played, err = kept.Game(ctx, g.id); err != nil {
			return nil, fmt.Errorf("game %s: %w", wire.GameID(g.id), err)
		}
		r.found[g.id] = g
	}
	return r, nil
}

// request is a line for a request of which the log has none. It has no text, since the record has it all.
func (g *recalled) request(number int) store.LogLine {
	return store.LogLine{Game: g.id, Attempt: g.Game.Attempt, Request: number, Kind: requestKind}
}

// complete puts lines for all other requests between those that are kept: in each game in order, and what comes after the
// last line of its game at the end.
func (r *recollection) complete(kept []store.LogLine) (lines []store.LogLine) {
	has := map[arena.GameID]map[int]bool{}
	for _, l := range kept {
		if g := r.found[l.Game]; g != nil && l.Kind == requestKind && l.Attempt == g.Game.Attempt {
			if has[l.Game] == nil {
				has[l.Game] = map[int]bool{}
			}
			has[l.Game][l.Request] = true
		}
	}
	left := map[arena.GameID][]store.LogLine{}
	for _, g := range r.games {
		for _, t := range g.Timings {
			if t.Seat == g.seat && !has[g.id][t.Number] {
				left[g.id] = append(left[g.id], g.request(t.Number))
			}
		}
	}
	if r.more > 0 {
		lines = append(lines, word(fmt.Sprintf("of the first %d games only what was remarkable is told; ask for one of them to see all of it", r.more)))
	}
	for _, l := range kept {
		if g := r.found[l.Game]; g != nil && l.Attempt == g.Game.Attempt {
			before := 0
			for before < len(left[l.Game]) && left[l.Game][before].Request < l.Request {
				before++
			}
			lines = append(lines, left[l.Game][:before]...)
			left[l.Game] = left[l.Game][before:]
		}
		lines = append(lines, l)
	}
	for _, g := range r.games {
		lines = append(lines, left[g.id]...)
	}
	return lines
}

// entry is a line in full: a request with what lay on the table.
func (r *recollection) entry(l store.LogLine) (*flip7v1.LogEntry, error) {
	g := r.found[l.Game]
	if l.Kind != requestKind || g == nil || l.Attempt != g.Game.Attempt {
		return entryOf(l)
	}
	if err := g.replay(r.night); err != nil {
		return nil, fmt.Errorf("game %s: %w", wire.GameID(g.id), err)
	}
	asked := g.requests[l.Request]
	if l.Text == "" {
		move, timing := g.Record.Moves[l.Request-1], g.Timings[l.Request-1]
		asked.Absent = timing.Absent
		told := &flip7v1.LoggedRequest{Request: asked, Cause: wire.Cause(move.Cause), Latency: durationpb.New(timing.Took), Sent: 1}
		told.Answer, told.Seat = wire.Answer(move.Decision)
		return &flip7v1.LogEntry{Entry: &flip7v1.LogEntry_Request{Request: told}}, nil
	}
	entry, err := entryOf(l)
	if err == nil && asked != nil {
		entry.GetRequest().Request = asked
	}
	return entry, err
}

// replay plays the game once more, to see what the bot saw. The times that were left are not told: no record has them.
func (g *recalled) replay(night *arena.Tournament) error {
	if g.requests != nil {
		return nil
	}
	g.requests = map[int]*flip7v1.DecisionRequest{}
	info := wire.GameSummary(night, g.id, g.Game).GetGame()
	var state game.State
	err := state.Reset(game.Setup{Seats: g.Record.Seats, Rules: g.Record.Rules, Dealer: g.Record.Dealer, Deal: deal.NewKeyed(g.Record.Seed)})
	for i, move := range g.Record.Moves {
		if err != nil {
			return err
		}
		if state.Request().Seat == g.seat {
			asked := wire.NewRequest(info, g.seat)
			asked.Fill(fmt.Sprintf("%s/%d/%d", wire.GameID(g.id), g.Game.Attempt, i+1), state.View(g.seat), nil)
			request := asked.Message().GetRequest()
			request.TimeLeft, request.TimeBank = nil, nil
			g.requests[i+1] = request
		}
		err = state.Apply(move.Decision)
	}
	return err
}

// listNight is a page of a bot's log of a night, or of a game of it, with all requests of the games that have ended. The
// lines of a night have no numbers of their own: a page begins after so many of them.
func (s *botService) listNight(ctx context.Context, query store.LogQuery, p page, after int) (*flip7v1.ListLogResponse, error) {
	night, err := s.arena.Tournament(ctx, query.Game.Tournament)
	if err != nil {
		return nil, err
	}
	s.logbook.reading.Lock()
	defer s.logbook.reading.Unlock()
	query.Limit = store.LogMost
	lines, dropped, err := s.store.Log(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("log of bot %q: %w", query.Bot, err)
	}
	memory, err := recollect(ctx, s.store, night, query.Bot, query.Game)
	if err != nil {
		return nil, err
	}
	if !query.Troubles {
		lines = memory.complete(lines)
	}
	resp := &flip7v1.ListLogResponse{Cut: uint32(dropped)}
	from := min(after, len(lines))
	to := min(from+p.size, len(lines))
	if to < len(lines) {
		resp.NextPageToken = nextPage(listLog, strconv.Itoa(to))
	}
	for _, l := range lines[from:to] {
		entry, err := memory.entry(l)
		if err != nil {
			return nil, fmt.Errorf("log of bot %q, line %d: %w", query.Bot, l.Number, err)
		}
		resp.Entries = append(resp.Entries, entry)
	}
	return resp, nil
}
