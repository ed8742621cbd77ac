package server

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/wire"
)

const (
	listLog = "log entries"
	// requestKind is that of lines about requests.
	requestKind = "request"
)

// ListLog tells how a bot fared.
func (s *botService) ListLog(ctx context.Context, r *flip7v1.ListLogRequest) (*flip7v1.ListLogResponse, error) {
	bot, err := s.store.Bot(ctx, r.GetName())
	if err != nil {
		return nil, fmt.Errorf("bot %q: %w", r.GetName(), err)
	}
	if by := callerOf(ctx); !by.owns(bot.Owner) && !by.is(bot.Name) {
		return nil, failed(codes.PermissionDenied, "NOT_THE_OWNER", "the log of bot %s is not for %s", bot.Name, by)
	}
	p, err := pageOf(listLog, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	after, err := p.number()
	if err != nil {
		return nil, err
	}
	query := store.LogQuery{Bot: bot.Name, Troubles: r.GetTroubles()}
	if query.Game, err = s.where(ctx, r); err != nil {
		return nil, err
	}
	s.logbook.flush()
	if query.Game.Tournament != 0 {
		return s.listNight(ctx, query, p, int(after))
	}
	query.After, query.Limit = after, p.size+1
	lines, dropped, err := s.store.Log(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("log of bot %q: %w", bot.Name, err)
	}
	resp := &flip7v1.ListLogResponse{Cut: uint32(dropped)}
	lines, resp.NextPageToken = cut(p, listLog, lines, func(l store.LogLine) string { return strconv.FormatInt(l.Number, 10) })
	for _, l := range lines {
		entry, err := entryOf(l)
		if err != nil {
			return nil, fmt.Errorf("log of bot %q, line %d: %w", bot.Name, l.Number, err)
		}
		resp.Entries = append(resp.Entries, entry)
	}
	return resp, nil
}

// where is the tournament or game of which a log is asked for; zero for all.
func (s *botService) where(ctx context.Context, r *flip7v1.ListLogRequest) (of arena.GameID, err error) {
	if r.GetTournamentId() != "" {
		t, err := s.nights.tournament(ctx, r.GetTournamentId())
		if err != nil {
			return of, err
		}
		of.Tournament = t.ID
	}
	if r.GetGameId() == "" {
		return of, nil
	}
	game, ok := wire.GameIDOf(r.GetGameId())
	if !ok {
		return of, missing("game %q", r.GetGameId())
	}
	if of.Tournament != 0 && game.Tournament != of.Tournament {
		return of, invalid("game_id", fmt.Sprintf("%s is no game of tournament %s", r.GetGameId(), r.GetTournamentId()))
	}
	return game, nil
}

// The text of a line is the entry as JSON, without what has a column: when, and the stream. The names in it are those of
// the contract, which do not change.

// entryOf reads what line makes.
func entryOf(l store.LogLine) (*flip7v1.LogEntry, error) {
	entry := new(flip7v1.LogEntry)
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal([]byte(l.Text), entry); err != nil {
		return nil, err
	}
	entry.Time, entry.SessionId = timestamp(l.At), l.Session
	return entry, nil
}

// line is what is kept of an entry.
func line(at time.Time, tournament int64, entry *flip7v1.LogEntry) store.LogLine {
	text, err := protojson.MarshalOptions{UseProtoNames: true}.Marshal(entry)
	if err != nil {
		panic(err) // of text that is no UTF-8, which nothing that was received is
	}
	l := store.LogLine{At: at, Game: arena.GameID{Tournament: tournament}, Trouble: true, Text: string(text)}
	switch entry.GetEntry().(type) {
	case *flip7v1.LogEntry_Request:
		l.Kind = requestKind
	case *flip7v1.LogEntry_Verdict:
		l.Kind = "verdict"
	case *flip7v1.LogEntry_Session:
		l.Kind = "session"
	case *flip7v1.LogEntry_Line:
		l.Kind = "line"
	}
	return l
}

// word is a line of the arena's own.
func word(text string) store.LogLine {
	return line(time.Now(), 0, &flip7v1.LogEntry{Entry: &flip7v1.LogEntry_Line{Line: &flip7v1.LoggedLine{Text: text}}})
}

// game is that to which something happened, as on the wire; empty if it is of none.
func (h happening) game() string {
	switch what := h.what.(type) {
	case remote.Answered:
		return what.Game
	case remote.Judged:
		return what.Game
	}
	return ""
}

// line is what is kept of what happened to a bot that plays in a tournament, or in none (0).
func (h happening) line(tournament int64) (l store.LogLine) {
	switch what := h.what.(type) {
	case remote.Answered:
		l = line(h.at, 0, answered(what))
		l.Attempt, l.Request, l.Session = what.Attempt, what.Number, what.Session.ID
	case remote.Judged:
		l = line(h.at, tournament, &flip7v1.LogEntry{Entry: &flip7v1.LogEntry_Verdict{Verdict: what.Verdict}, Note: what.Note})
		l.Attempt, l.Request, l.Session = what.Attempt, what.Number, what.Session.ID
	case passage:
		l = line(h.at, tournament, passed(what))
		l.Session = what.stream.ID
	case lastWord:
		l = line(h.at, tournament, &flip7v1.LogEntry{Entry: &flip7v1.LogEntry_Line{Line: &flip7v1.LoggedLine{
			FromBot: what.said.FromBot, Text: fmt.Sprintf("%v before: %s", what.before.Round(time.Millisecond), what.said.Text)}}})
		l.Session = what.stream.ID
	case remark:
		l = word(string(what))
	}
	if game := h.game(); game != "" {
		l.Game, _ = wire.GameIDOf(game) // zero for one that is of no tournament
	}
	l.Trouble = h.trouble
	return l
}

func answered(a remote.Answered) *flip7v1.LogEntry {
	r := &flip7v1.LoggedRequest{
		Request: &flip7v1.DecisionRequest{
			RequestId: fmt.Sprintf("%s/%d/%d", a.Game, a.Attempt, a.Number),
			Kind:      wire.RequestKind(a.Kind),
			Game:      &flip7v1.GameInfo{GameId: a.Game, Attempt: uint32(a.Attempt)},
			Seat:      uint32(a.Seat),
		},
		Cause:   wire.Cause(a.Cause),
		Latency: durationpb.New(a.Took),
		Sent:    uint32(a.Sent),
		Illegal: uint32(a.Illegal),
	}
	r.Answer, r.Seat = wire.Answer(a.Decision)
	return &flip7v1.LogEntry{Entry: &flip7v1.LogEntry_Request{Request: r}, Note: a.Note}
}

func passed(p passage) *flip7v1.LogEntry {
	return &flip7v1.LogEntry{Entry: &flip7v1.LogEntry_Session{Session: &flip7v1.LoggedSession{
		InstanceId: p.stream.Instance,
		Build:      p.stream.Build,
		Kit:        strings.TrimSpace(p.stream.KitName + " " + p.stream.KitVersion),
		End:        p.reason,
		Lost:       p.gone && p.reason == flip7v1.EndReason_END_REASON_UNSPECIFIED,
		Message:    p.text,
	}}}
}
