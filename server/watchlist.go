package server

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/hub"
	"github.com/flip7-arena/flip7/server/wire"
)

// ListGames lists the games of a tournament, those that wait, run and have ended.
func (s *watchService) ListGames(ctx context.Context, r *flip7v1.ListGamesRequest) (*flip7v1.ListGamesResponse, error) {
	id, err := tournamentID(r.GetTournamentId())
	if err != nil {
		return nil, err
	}
	p, err := pageOf("games", r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	t, err := s.arena.Tournament(ctx, id)
	if err != nil {
		return nil, err
	}
	begin := arena.GameID{}
	if p.after != "" {
		var ok bool
		if begin, ok = wire.GameIDOf(p.after); !ok {
			return nil, invalid("page_token", "is damaged; send next_page_token as it came")
		}
	}
	var games []*flip7v1.GameSummary
	for g := range gamesOf(t, r, begin) {
		w := summary(t, g, s.hub)
		if r.GetState() != flip7v1.GameState_GAME_STATE_UNSPECIFIED && w.GetState() != r.GetState() {
			continue
		}
		if games = append(games, w); len(games) > p.size {
			break
		}
	}
	page, next := cut(p, "games", games, func(g *flip7v1.GameSummary) string { return g.GetGame().GetGameId() })
	return &flip7v1.ListGamesResponse{Games: page, NextPageToken: next}, nil
}

// gamesOf yields the games that a request asks for, after one of them, by pairing round, table and game.
func gamesOf(t *arena.Tournament, r *flip7v1.ListGamesRequest, after arena.GameID) func(yield func(arena.GameID) bool) {
	return func(yield func(arena.GameID) bool) {
		for _, round := range t.Rounds {
			if n := r.GetPairingRound(); n != 0 && int(n) != round.Number || round.Number < after.Round {
				continue
			}
			for _, tab := range round.Tables {
				here := arena.GameID{Tournament: t.ID, Round: round.Number, Table: tab.Number}
				if n := r.GetTable(); n != 0 && int(n) != tab.Number || round.Number == after.Round && tab.Number < after.Table {
					continue
				}
				if bot := r.GetBot(); bot != "" && !slices.ContainsFunc(tab.Bots, func(n int) bool { return t.Entries[n-1].Name == bot }) {
					continue
				}
				first := 1
				if round.Number == after.Round && tab.Number == after.Table {
					first = after.Number + 1
				}
				for here.Number = first; here.Number <= t.Settings.Games(round.Number, len(tab.Bots)); here.Number++ {
					if !yield(here) {
						return
					}
				}
			}
		}
	}
}

// summary is how a game stands, whether it has ended, runs or waits.
func summary(t *arena.Tournament, id arena.GameID, h *hub.Hub) *flip7v1.GameSummary {
	tab := t.Rounds[id.Round-1].Tables[id.Table-1]
	if at, ended := slices.BinarySearchFunc(tab.Games, id.Number, func(g arena.Game, n int) int { return g.Number - n }); ended {
		return wire.GameSummary(t, id, tab.Games[at])
	}
	w := wire.GameSummary(t, id, arena.Game{Number: id.Number, Attempt: 1, Seats: t.Order(id)})
	w.State, w.End, w.Places, w.Totals, w.Faults, w.Rounds = flip7v1.GameState_GAME_STATE_WAITING, flip7v1.GameEnd_GAME_END_UNSPECIFIED, nil, nil, nil, 0
	if tab.State == arena.Void || t.State == arena.Cancelled {
		w.State, w.End = flip7v1.GameState_GAME_STATE_ENDED, flip7v1.GameEnd_GAME_END_VOID
		w.EndWhy = tab.Why
	} else if g, running := h.Game(id, 0); running {
		w.State = flip7v1.GameState_GAME_STATE_RUNNING
		w.Game.Attempt = uint32(g.Attempt)
	}
	return w
}

// GetGame shows a game as it stands.
func (s *watchService) GetGame(ctx context.Context, r *flip7v1.GetGameRequest) (*flip7v1.GetGameResponse, error) {
	id, t, err := s.game(ctx, r.GetGameId())
	if err != nil {
		return nil, err
	}
	response := &flip7v1.GetGameResponse{Game: summary(t, id, s.hub)}
	if response.Game.GetState() != flip7v1.GameState_GAME_STATE_RUNNING {
		return response, nil
	}
	f, err := catchUp(s.hub, id, nil)
	if err != nil {
		return nil, fmt.Errorf("follow game %s: %w", r.GetGameId(), err)
	}
	if f != nil {
		v := f.follower.State.View(0)
		response.View, response.LastEvent = wire.View(response.Game.GetGame(), v), uint32(f.number)
		response.Game.Rounds = uint32(v.Round())
		response.Game.Totals = wire.Numbers(f.follower.State.Result().Totals)
	}
	return response, nil
}

// GetGameRecord gives all that replays a game, when its table has ended.
func (s *watchService) GetGameRecord(ctx context.Context, r *flip7v1.GetGameRecordRequest) (*flip7v1.GetGameRecordResponse, error) {
	id, t, err := s.game(ctx, r.GetGameId())
	if err != nil {
		return nil, err
	}
	if tab := t.Rounds[id.Round-1].Tables[id.Table-1]; tab.State != arena.Complete && tab.State != arena.Void {
		return nil, failed(codes.FailedPrecondition, "TABLE_RUNNING", "game %s: its table is %v; records are public when all its games have ended", r.GetGameId(), tab.State)
	}
	played, err := s.arena.Store.Game(ctx, id)
	if err != nil {
		return nil, err
	}
	if n := int(r.GetAttempt()); n != 0 && n != played.Game.Attempt {
		return nil, missing("attempt %d at game %s", n, r.GetGameId())
	}
	record, err := wire.Record(t, id, played)
	if err != nil {
		return nil, err
	}
	return &flip7v1.GetGameRecordResponse{Record: record}, nil
}

// replay plays a record again for an observer.
func replay(p arena.Played, observer game.Observer) error {
	_, err := p.Record.Replay(deal.NewKeyed(p.Record.Seed), observer)
	return err
}

// tournamentID reads the id of a tournament in a request.
func tournamentID(text string) (int64, error) {
	id, ok := wire.TournamentIDOf(text)
	if !ok {
		return 0, missing("tournament %q", text)
	}
	return id, nil
}
