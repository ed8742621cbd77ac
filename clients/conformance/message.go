package conformance

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// seated is a game of a script and the bot's seat in it.
type seated struct {
	info *flip7v1.GameInfo
	me   uint32
}

const (
	decisionTimeout = time.Second
	timeBank        = 10 * time.Second
)

// message reads what stands behind send. With unknown_fields every message in it, at any depth, has fields that came
// later than the contract which the bot knows.
//
//	welcome   games=N ping_interval=D          what the bot asked is granted
//	game      ID players=N me=N practice resumed
//	request   ID turn|freeze|flip3|second|N    of the game whose name stands before the slash; see seats.go
//	          seats="..." legal="hit stay" totals="0 0 0" round=N dealer=N next=N first_pass
//	          waiting="freeze>2" drawing=N left=N aside="freeze" discard="12 5" time_left=D absent
//	request   ID again                         the same once more
//	verdict   ID illegal|late|duplicate|unknown_request|defaulted|N tries_left=N
//	finished  ID complete|failed|void|called_away|N
//	ping      N
//	drain     grace=D retry_after=D
//	goodbye   REASON come_back retry_after=D   the stream ends after it
//	problem   REASON
//	unknown                                    a message of a kind that came later
func (p *parser) message(what string, a *args) ([]*flip7v1.ArenaMessage, error) {
	var messages []*flip7v1.ArenaMessage
	add := func(m proto.Message) { messages = append(messages, arenaMessage(m)) }
	strange := a.flag("unknown_fields")
	switch what {
	case "welcome":
		add(&flip7v1.Welcome{
			Protocol: 1, Bot: "checked", SessionId: "check", Arena: "flip7 check", Games: uint32(a.number("games", 0)),
			Limits: limits(a.duration("ping_interval", 10*time.Second)),
		})
	case "game":
		for _, m := range p.started(a) {
			add(m)
		}
	case "request":
		for _, r := range p.asked(a) {
			add(r)
		}
	case "verdict":
		add(p.verdict(a))
	case "finished":
		add(p.finished(a))
	case "ping":
		for _, number := range a.spread("number") {
			add(&flip7v1.Ping{Number: a.uint(number)})
		}
	case "drain":
		add(&flip7v1.Drain{Grace: durationpb.New(a.duration("grace", time.Second)), RetryAfter: durationpb.New(a.duration("retry_after", time.Second))})
	case "goodbye":
		m := &flip7v1.Goodbye{Reason: a.reason(), Message: "the script wants it", ComeBack: a.flag("come_back")}
		if after := a.duration("retry_after", 0); after > 0 {
			m.RetryAfter = durationpb.New(after)
		}
		add(m)
	case "problem":
		add(&flip7v1.Problem{Code: 3, Reason: a.word("reason"), Message: "the script wants it"})
	case "unknown":
		m := new(flip7v1.ArenaMessage)
		m.ProtoReflect().SetUnknown(protowire.AppendBytes(protowire.AppendTag(nil, 100, protowire.BytesType), []byte{8, 1}))
		messages = append(messages, m)
	default:
		return nil, fmt.Errorf("send %s: want welcome, game, request, verdict, finished, ping, drain, goodbye, problem or unknown", what)
	}
	if strange {
		for _, m := range messages {
			addUnknown(m.ProtoReflect())
		}
	}
	return messages, a.done()
}

// limits are those that an arena has if nobody changes them.
func limits(pingInterval time.Duration) *flip7v1.Limits {
	return &flip7v1.Limits{
		MaxGames: 256, MaxOpen: 256, MaxInstances: 4, MaxBatchBytes: maxBatchBytes, MessagesPerSecond: 2000, MessageBurst: 2000,
		MaxNoteBytes: 256, IllegalTries: 10, FaultsToAbsence: 3,
		PingInterval: durationpb.New(pingInterval), NetworkAllowance: durationpb.New(500 * time.Millisecond),
		WriteTimeout: durationpb.New(readTimeout), ReconnectGrace: durationpb.New(30 * time.Second),
	}
}

// arenaMessage wraps one thing that the arena says.
func arenaMessage(m proto.Message) *flip7v1.ArenaMessage {
	wrapped := new(flip7v1.ArenaMessage)
	fields := wrapped.ProtoReflect().Descriptor().Oneofs().ByName("message").Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Message() == m.ProtoReflect().Descriptor() {
			wrapped.ProtoReflect().Set(f, protoreflect.ValueOfMessage(m.ProtoReflect()))
		}
	}
	return wrapped
}

// addUnknown gives a message, and all that are in it, fields of numbers that the contract does not have.
func addUnknown(m protoreflect.Message) {
	later := protowire.AppendVarint(protowire.AppendTag(nil, 1000, protowire.VarintType), 7)
	later = protowire.AppendString(protowire.AppendTag(later, 1001, protowire.BytesType), "came later")
	later = protowire.AppendFixed64(protowire.AppendTag(later, 1002, protowire.Fixed64Type), 7)
	m.Range(func(f protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case f.Message() == nil:
		case f.IsList():
			for i := range v.List().Len() {
				addUnknown(v.List().Get(i).Message())
			}
		default:
			addUnknown(v.Message())
		}
		return true
	})
	m.SetUnknown(append(m.GetUnknown(), later...))
}

// started reads games that begin, or go on.
func (p *parser) started(a *args) (begun []*flip7v1.GameStarted) {
	players, me, practice, resumed := a.number("players", 4), a.number("me", 0), a.flag("practice"), a.flag("resumed")
	if players < 3 || players > 36 || me >= players {
		a.fail("players=%d me=%d: want 3 to 36 players, and one of their seats", players, me)
		return nil
	}
	for _, id := range a.spread("game") {
		if p.games[id] == nil {
			p.games[id] = newGame(id, players, me, practice)
		}
		begun = append(begun, &flip7v1.GameStarted{Game: proto.CloneOf(p.games[id].info), Seat: p.games[id].me, Resumed: resumed})
	}
	return begun
}

func newGame(id string, players, me int, practice bool) *seated {
	bots := make([]string, players)
	for i := range bots {
		bots[i] = "bot-" + strconv.Itoa(i)
	}
	bots[me] = "checked"
	g := &flip7v1.GameInfo{
		GameId: id, Attempt: 1, Game: 1, Games: uint32(2 * players), Bots: bots,
		Rules: &flip7v1.Rules{
			Version: "flip7/1", TieBreak: flip7v1.TieBreak_TIE_BREAK_ALL_PLAY, BustedAssigns: new(true), Deal: flip7v1.Deal_DEAL_ONCE,
			TargetScore: 200, MaxRounds: 100, Decks: uint32(decks(players)),
		},
		DecisionTimeout: durationpb.New(decisionTimeout), TimeBank: durationpb.New(timeBank), Practice: practice,
	}
	if !practice {
		g.TournamentId, g.PairingRound, g.PairingRounds, g.Table, g.Rated = "1", 2, 5, 1, true
	}
	return &seated{g, uint32(me)}
}

// seatedAt is the game of a request, by the name before the slash.
func (p *parser) seatedAt(request string, a *args) *seated {
	name, _, _ := strings.Cut(request, "/")
	g := p.games[name]
	if g == nil {
		a.fail("request %s: send game %s first", request, name)
		g = newGame(name, 4, 0, false)
	}
	return g
}

// finished reads the end of a game.
func (p *parser) finished(a *args) *flip7v1.GameFinished {
	id, end := a.word("game"), flip7v1.GameEnd(a.enum("GAME_END_", flip7v1.GameEnd_value))
	m := &flip7v1.GameFinished{GameId: id, Attempt: 1, End: end, Rounds: 9}
	g := p.games[id]
	if g == nil {
		a.fail("game %s has not begun", id)
		return m
	}
	m.Seat = g.me
	if end == flip7v1.GameEnd_GAME_END_COMPLETE {
		for i := range g.info.GetBots() {
			m.Places, m.Totals = append(m.Places, uint32(i+1)), append(m.Totals, uint32(210-5*i))
		}
	}
	return m
}

// asked reads requests, new ones or those of before. Of several new ones the others are like the first.
func (p *parser) asked(a *args) (requests []*flip7v1.DecisionRequest) {
	again := a.flag("again")
	for i, id := range a.spread("request") {
		switch {
		case again && p.requests[id] == nil:
			a.fail("request %s again: it was not sent before", id)
			return nil
		case again:
		case i == 0:
			p.requests[id] = p.request(id, a)
		default:
			like := proto.CloneOf(requests[0])
			like.RequestId, like.Game = id, p.seatedAt(id, a).info
			p.requests[id] = like
		}
		r := proto.CloneOf(p.requests[id])
		r.Resent = again
		requests = append(requests, r)
	}
	return requests
}

// kinds are what a seat can be asked, and the card that it is about.
var kinds = map[string]struct {
	kind flip7v1.RequestKind
	card flip7v1.Card
}{
	"turn":   {flip7v1.RequestKind_REQUEST_KIND_TURN, 0},
	"freeze": {flip7v1.RequestKind_REQUEST_KIND_FREEZE, flip7v1.Card_CARD_FREEZE},
	"flip3":  {flip7v1.RequestKind_REQUEST_KIND_FLIP_THREE, flip7v1.Card_CARD_FLIP_THREE},
	"second": {flip7v1.RequestKind_REQUEST_KIND_SECOND_CHANCE, flip7v1.Card_CARD_SECOND_CHANCE},
}

// request reads a new request.
func (p *parser) request(id string, a *args) *flip7v1.DecisionRequest {
	g := p.seatedAt(id, a)
	word := a.word("kind of request")
	kind, known := kinds[word]
	if !known {
		kind.kind = flip7v1.RequestKind(a.uint(word))
	}
	left := a.duration("time_left", decisionTimeout+timeBank)
	r := &flip7v1.DecisionRequest{
		RequestId: id, Kind: kind.kind, Game: g.info, Seat: g.me, View: view(g, kind.card, a),
		TimeLeft: durationpb.New(left), TimeBank: durationpb.New(min(left, timeBank)), Absent: a.flag("absent"),
	}
	r.Legal, r.LegalSeats = legal(r, a)
	return r
}

// verdict reads a verdict. What stands, where it says so, is the default decision.
func (p *parser) verdict(a *args) *flip7v1.Verdict {
	id := a.word("request")
	v := &flip7v1.Verdict{RequestId: id, Code: flip7v1.VerdictCode(a.enum("VERDICT_CODE_", flip7v1.VerdictCode_value)), Message: "the script wants it"}
	r := p.requests[id]
	switch v.Code {
	case flip7v1.VerdictCode_VERDICT_CODE_ILLEGAL:
		v.Legal, v.LegalSeats, v.TimeLeft = r.GetLegal(), r.GetLegalSeats(), r.GetTimeLeft()
		v.TriesLeft = uint32(a.number("tries_left", 9))
	case flip7v1.VerdictCode_VERDICT_CODE_LATE, flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED:
		v.Cause = flip7v1.Cause_CAUSE_TIMED_OUT
		fallthrough
	case flip7v1.VerdictCode_VERDICT_CODE_DUPLICATE:
		v.Answer = flip7v1.Answer_ANSWER_STAY
		if seats := r.GetLegalSeats(); len(seats) > 0 {
			v.Answer, v.Seat = flip7v1.Answer_ANSWER_GIVE, &seats[0]
		}
	}
	return v
}
