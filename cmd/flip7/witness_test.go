//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/deal"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// witness is a bot that speaks the wire itself, since a kit does not let its bot see what comes twice. It notes all that it
// is told, in order and over all its streams, so that it can be said afterwards whether it was asked again for a decision
// that had been acknowledged.
//
// A decision is acknowledged to a bot by the first thing that it is told which the decision led to: an event of the game
// that comes after the decision, the next request for another decision in the game, or the game's end. Before that a
// request may come again, with the same id and the same question. After that none may come for this decision or an
// earlier one of the game, whoever has been killed meanwhile.
type witness struct {
	name, token string
	pulse       *pulse
	wrong       func(format string, args ...any)

	mu    sync.Mutex
	games map[attemptKey]*testimony
}

// attemptKey names an attempt at a game, as GameInfo does.
type attemptKey struct {
	game    string
	attempt uint32
}

// testimony is what a witness was told, and said, of an attempt at a game.
type testimony struct {
	told     []told
	asked    map[int]*flip7v1.DecisionRequest // by number of the decision
	said     map[int]*flip7v1.Decision
	finished *flip7v1.GameFinished
}

// told is a request or an event, by its number in the game.
type told struct{ request, event int }

func (w *witness) play(ctx context.Context, conn *grpc.ClientConn) {
	ctx = metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+w.token)
	for ctx.Err() == nil {
		err := w.converse(ctx, flip7v1.NewPlayServiceClient(conn))
		if status.Code(err) != codes.Unavailable && ctx.Err() == nil {
			w.wrong("%s: the stream ended with %v", w.name, err)
			return
		}
	}
}

func (w *witness) converse(ctx context.Context, client flip7v1.PlayServiceClient) error {
	stream, err := client.Play(ctx, grpc.WaitForReady(true))
	if err != nil {
		return err
	}
	err = stream.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{{Message: &flip7v1.BotMessage_Hello{Hello: &flip7v1.Hello{
		Protocol: 1, InstanceId: w.name, WantsEvents: true, Capacity: &flip7v1.Capacity{MaxGames: 8, MaxOpen: 4}}}}}})
	for err == nil {
		var r *flip7v1.PlayResponse
		if r, err = stream.Recv(); err != nil {
			return err
		}
		said := &flip7v1.PlayRequest{}
		for _, m := range r.GetMessages() {
			if answer := w.hear(m); answer != nil {
				said.Messages = append(said.Messages, answer)
			}
		}
		if len(said.GetMessages()) > 0 {
			w.pulse.rest(ctx)
			err = stream.Send(said)
		}
	}
	if err == io.EOF { // of Send: why is for Recv to say, after what came before
		for err = nil; err == nil; {
			_, err = stream.Recv()
		}
	}
	return err
}

// hear notes what the arena says, and answers it.
func (w *witness) hear(m *flip7v1.ArenaMessage) *flip7v1.BotMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m := m.GetMessage().(type) {
	case *flip7v1.ArenaMessage_Request:
		return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: w.asked(m.Request)}}
	case *flip7v1.ArenaMessage_Event:
		t := w.testimony(m.Event.GetGameId(), m.Event.GetAttempt())
		t.told = append(t.told, told{event: int(m.Event.GetNumber())})
	case *flip7v1.ArenaMessage_GameStarted:
		before := len(w.games)
		w.testimony(m.GameStarted.GetGame().GetGameId(), m.GameStarted.GetGame().GetAttempt())
		if len(w.games) > before {
			w.pulse.beat(began)
		}
	case *flip7v1.ArenaMessage_GameFinished:
		t := w.testimony(m.GameFinished.GetGameId(), m.GameFinished.GetAttempt())
		if t.finished == nil {
			t.finished = m.GameFinished
			w.pulse.beat(ended)
		} else if !proto.Equal(t.finished, m.GameFinished) {
			w.wrong("%s: the game ended with %v, and before with %v", w.name, m.GameFinished, t.finished)
		}
	case *flip7v1.ArenaMessage_Verdict:
		w.wrong("%s: %v", w.name, m.Verdict)
	case *flip7v1.ArenaMessage_Problem:
		w.wrong("%s: %v", w.name, m.Problem)
	case *flip7v1.ArenaMessage_Ping:
		return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: m.Ping.GetNumber()}}}
	}
	return nil
}

// testimony is that of an attempt at a game.
func (w *witness) testimony(game string, attempt uint32) *testimony {
	key := attemptKey{game, attempt}
	t := w.games[key]
	if t == nil {
		t = &testimony{asked: map[int]*flip7v1.DecisionRequest{}, said: map[int]*flip7v1.Decision{}}
		w.games[key] = t
	}
	return t
}

// asked notes a request and answers it, always with the same decision.
func (w *witness) asked(r *flip7v1.DecisionRequest) *flip7v1.Decision {
	id := r.GetRequestId()
	t := w.testimony(r.GetGame().GetGameId(), r.GetGame().GetAttempt())
	number, err := strconv.Atoi(id[strings.LastIndexByte(id, '/')+1:])
	if err != nil || r.GetAbsent() {
		w.wrong("%s: request %v, want one with a number that is to be answered", w.name, r)
	}
	t.told = append(t.told, told{request: number})
	question := proto.CloneOf(r)
	question.TimeLeft, question.TimeBank, question.LastLatency, question.Resent = nil, nil, nil, false
	if before := t.asked[number]; before == nil {
		t.asked[number] = question
		w.pulse.beat(asked)
	} else if !proto.Equal(before, question) {
		w.wrong("%s: request %s comes again as\n%v\nand was\n%v", w.name, id, question, before)
	}

	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id))
	chance := int(hash.Sum32() >> 8)
	d := &flip7v1.Decision{RequestId: id, Answer: flip7v1.Answer_ANSWER_HIT}
	switch seats := r.GetLegalSeats(); {
	case len(seats) > 0:
		d.Answer, d.Seat = flip7v1.Answer_ANSWER_GIVE, &seats[chance%len(seats)]
	case chance%4 == 0:
		d.Answer = flip7v1.Answer_ANSWER_STAY
	}
	t.said[number] = d
	return d
}

// check compares what the witness was told with what was played.
func (w *witness) check(results []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, t := range w.games {
		if key.attempt != 1 {
			w.wrong("%s: game %s was begun %d times; a killed server is no reason", w.name, key.game, key.attempt)
		}
		var id arena.GameID
		if _, err := fmt.Sscanf(key.game, "%d/%d/%d/%d", &id.Tournament, &id.Round, &id.Table, &id.Number); err != nil {
			w.wrong("%s: game %q: %v", w.name, key.game, err)
			continue
		}
		_, record, err := arena.ExportedGame(bytes.NewReader(results), id)
		if err == nil {
			err = t.check(record)
		}
		if err != nil {
			w.wrong("%s: game %s: %v", w.name, key.game, err)
		}
	}
}

func (t *testimony) check(record game.Record) error {
	var played decisions // before the n-th event, it included
	if _, err := record.Replay(deal.NewKeyed(record.Seed), &played); err != nil {
		return err
	}
	acknowledged := 0 // the decision up to which all are
	for i, told := range t.told {
		switch {
		case told.event > len(played):
			return fmt.Errorf("there is no event %d", told.event)
		case told.event > 0:
			acknowledged = max(acknowledged, played[told.event-1])
		case told.request <= acknowledged:
			return fmt.Errorf("request %d comes as number %d of what was told, when decision %d had been acknowledged", told.request, i+1, acknowledged)
		default:
			acknowledged = told.request - 1
		}
	}
	// Who was not there when a game ended is not told; its result is kept all the same.
	if f := t.finished; f != nil && (f.GetEnd() != flip7v1.GameEnd_GAME_END_COMPLETE || !slices.Equal(f.GetPlaces(), wire.Numbers(record.Result.Places))) {
		return fmt.Errorf("it was told that it ended with %v, want the places %v", f, record.Result.Places)
	}
	for number, said := range t.said {
		if number > len(record.Moves) {
			return fmt.Errorf("decision %d was asked for, and there are %d", number, len(record.Moves))
		}
		move := record.Moves[number-1]
		if want := wire.Decision(said.GetRequestId(), move.Decision); move.Cause != game.Chosen || !proto.Equal(said, want) {
			return fmt.Errorf("decision %d is %v in the record (%v), and was %v", number, want, move.Cause, said)
		}
	}
	return nil
}

// decisions counts the decisions of a game: an element for each event.
type decisions []int

// Observe implements game.Observer.
func (d *decisions) Observe(_ *game.State, e game.Event) {
	count := 0
	if len(*d) > 0 {
		count = (*d)[len(*d)-1]
	}
	if e.Kind == game.Decided {
		count++
	}
	*d = append(*d, count)
}
