package conformance

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// plain is a bot without a kit that does one thing wrong, or nothing.
type plain struct {
	sin    string
	output io.Writer

	instance     string
	contribution []byte
	drained      time.Duration // what Drain said about coming back
	answered     map[string]bool

	pongs []*flip7v1.BotMessage // hoarded

	mu   sync.Mutex      // for Send too
	open map[string]bool // games with a request
}

// errFinal is that coming back is of no use.
var errFinal = errors.New("the arena says not to come back")

func sinner(sin string) bot {
	return func(ctx context.Context, env map[string]string, output io.Writer, dial func(context.Context, string) (net.Conn, error)) error {
		p := &plain{sin: sin, output: output, instance: rand.Text(), answered: make(map[string]bool), open: make(map[string]bool)}
		for {
			wait, err := p.converse(ctx, env, dial)
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, errFinal) && sin != "comes back whatever it is told":
				return err
			case sin == "ends with the stream":
				return err
			case sin == "comes back at once":
				wait = 0
			}
			if wait == 0 {
				wait = 100 * time.Millisecond
			}
			io.WriteString(output, "coming back\n")
			select {
			case <-time.After(wait):
			case <-ctx.Done():
			}
		}
	}
}

// converse holds one stream, and says when to come back.
func (p *plain) converse(ctx context.Context, env map[string]string, dial func(context.Context, string) (net.Conn, error)) (time.Duration, error) {
	conn, err := grpc.NewClient("passthrough:///"+env["FLIP7_ADDR"], grpc.WithContextDialer(dial), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	token := env["FLIP7_TOKEN"]
	if p.sin == "has another token" {
		token = "another"
	}
	ctx, cancel := context.WithCancel(metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token))
	defer cancel()
	stream, err := flip7v1.NewPlayServiceClient(conn).Play(ctx)
	if err != nil {
		return p.told(err)
	}
	if p.sin == "says hello after 6 seconds" {
		time.Sleep(6 * time.Second)
	}
	p.say(stream, p.hello())
	patience := time.Hour
	silence := time.AfterFunc(patience, cancel)
	defer silence.Stop()
	for {
		batch, err := stream.Recv()
		if err != nil {
			return p.told(err)
		}
		for _, m := range batch.GetMessages() {
			switch m := m.GetMessage().(type) {
			case *flip7v1.ArenaMessage_Welcome:
				if p.sin != "hears no silence" {
					patience = 3 * m.Welcome.GetLimits().GetPingInterval().AsDuration()
				}
			case *flip7v1.ArenaMessage_Ping:
				p.pinged(stream, m.Ping.GetNumber())
			case *flip7v1.ArenaMessage_Request:
				if err := p.asked(stream, m.Request); err != nil {
					return 0, err
				}
			case *flip7v1.ArenaMessage_Drain:
				p.drained = m.Drain.GetRetryAfter().AsDuration()
				if p.sin == "leaves at the drain" {
					return p.drained, nil
				}
			case *flip7v1.ArenaMessage_Goodbye:
				if !m.Goodbye.GetComeBack() {
					return 0, errFinal
				}
				return m.Goodbye.GetRetryAfter().AsDuration(), nil
			case *flip7v1.ArenaMessage_Verdict:
				if p.sin == "ends when it was too late" && m.Verdict.GetCode() == flip7v1.VerdictCode_VERDICT_CODE_LATE {
					return 0, errFinal
				}
			case nil:
				if p.sin == "ends at messages that it does not know" {
					return 0, errFinal
				}
			}
		}
		silence.Reset(patience)
	}
}

func (p *plain) pinged(stream flip7v1.PlayService_PlayClient, number uint32) {
	pong := &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: number}}}
	switch {
	case p.sin == "answers no pings":
	case p.sin == "answers hundreds of pings at once" && number >= 100:
		if p.pongs = append(p.pongs, pong); len(p.pongs) == 100 {
			p.say(stream, p.pongs...)
			p.pongs = nil
		}
	default:
		p.say(stream, pong)
	}
}

func (p *plain) hello() *flip7v1.BotMessage {
	if p.sin != "brings the same bytes each time" || p.contribution == nil {
		p.contribution = make([]byte, 32)
		rand.Read(p.contribution)
	}
	hello := &flip7v1.Hello{Protocol: 1, InstanceId: p.instance, Contribution: p.contribution}
	switch p.sin {
	case "brings no bytes":
		hello.Contribution = nil
	case "brings equal bytes":
		hello.Contribution = make([]byte, 32)
	case "has a new name on each stream":
		hello.InstanceId = rand.Text()
	case "takes two requests at once": // which is none either
		hello.Capacity = &flip7v1.Capacity{MaxGames: 8, MaxOpen: 2}
	case "takes one game": // which is no sin
		hello.Capacity = &flip7v1.Capacity{MaxGames: 1, MaxOpen: 1}
	}
	return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Hello{Hello: hello}}
}

// asked answers a request by the first legal decision.
func (p *plain) asked(stream flip7v1.PlayService_PlayClient, r *flip7v1.DecisionRequest) error {
	d := &flip7v1.Decision{RequestId: r.GetRequestId(), Answer: flip7v1.Answer_ANSWER_PASS}
	known := r.GetKind() >= flip7v1.RequestKind_REQUEST_KIND_TURN && r.GetKind() <= flip7v1.RequestKind_REQUEST_KIND_SECOND_CHANCE
	for _, a := range r.GetLegal() {
		if known && a <= flip7v1.Answer_ANSWER_GIVE {
			d.Answer = a
		}
	}
	if len(r.GetLegalSeats()) > 0 {
		d.Seat = &r.GetLegalSeats()[0]
	}
	again := p.answered[r.GetRequestId()]
	p.answered[r.GetRequestId()] = true
	switch p.sin {
	case "takes two requests at once":
		game := r.GetGame().GetGameId()
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.open[game] || len(p.open) == 2 {
			return errFinal
		}
		p.open[game] = true
		time.AfterFunc(100*time.Millisecond, func() {
			p.mu.Lock()
			delete(p.open, game)
			p.mu.Unlock()
			p.say(stream, decision(d))
		})
		return nil
	case "takes 2 seconds now and then":
		if strings.HasSuffix(r.GetRequestId(), "99") {
			time.Sleep(2 * time.Second)
		}
	case "takes more than 2 seconds":
		time.Sleep(2*time.Second + 2*lastMoment)
	case "passes when its time is up":
		<-time.After(r.GetTimeLeft().AsDuration())
		d.Answer = flip7v1.Answer_ANSWER_PASS
	case "passes":
		d.Answer = flip7v1.Answer_ANSWER_PASS
		time.AfterFunc(50*time.Millisecond, func() { io.WriteString(p.output, "the function failed\n") })
	case "stays whatever it is asked":
		d.Answer = flip7v1.Answer_ANSWER_STAY
	case "names no seat":
		d.Seat = nil
	case "gives to itself":
		d.Seat = new(r.GetSeat())
	case "is confused by 17 seats":
		if r.GetSeat() >= 17 {
			d.Answer = flip7v1.Answer_ANSWER_UNSPECIFIED
		}
	case "guesses at kinds that it does not know":
		if !known {
			d.Answer = flip7v1.Answer_ANSWER_HIT
		}
	case "ends at kinds that it does not know":
		if !known {
			return errFinal
		}
	case "breaks off when it is asked":
		return errors.New("too long")
	case "ends at fields that it does not know":
		if len(r.ProtoReflect().GetUnknown()) > 0 {
			return errFinal
		}
	case "answers a request once":
		if again {
			return nil
		}
	case "changes its mind when asked again":
		if again && d.Seat != nil {
			d.Seat = &r.GetLegalSeats()[1]
		} else if again {
			d.Answer = flip7v1.Answer_ANSWER_HIT
		}
	case "answers only in time":
		if r.GetTimeLeft().AsDuration() == 0 {
			return nil
		}
	case "answers twice":
		defer p.say(stream, decision(&flip7v1.Decision{RequestId: r.GetRequestId(), Answer: flip7v1.Answer_ANSWER_PASS}))
	case "answers what nobody asked":
		d.RequestId += "0"
	case "says hello again":
		p.say(stream, p.hello())
	case "says nothing in many words":
		p.say(stream, &flip7v1.BotMessage{})
	}
	p.say(stream, decision(d))
	return nil
}

func decision(d *flip7v1.Decision) *flip7v1.BotMessage {
	return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: d}}
}

// told reads the end of a stream from its status.
func (p *plain) told(err error) (time.Duration, error) {
	wait := p.drained
	if p.sin == "forgets the drain" {
		wait = 0
	}
	for _, detail := range status.Convert(err).Details() {
		switch d := detail.(type) {
		case *errdetails.RetryInfo:
			wait = d.GetRetryDelay().AsDuration()
		case *errdetails.ErrorInfo:
			if slices.Contains([]string{"REPLACED", "TOKEN_REVOKED", "PROTOCOL_TOO_OLD", "BUILD_CHANGED", "BAD_HELLO"}, d.GetReason()) {
				return 0, errFinal
			}
		}
	}
	return wait, err
}

func (p *plain) say(stream flip7v1.PlayService_PlayClient, messages ...*flip7v1.BotMessage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	_ = stream.Send(&flip7v1.PlayRequest{Messages: messages}) // Recv says why
}

// Who does not decide, or not as it should, passes only what asks for no decision.
var undecided = []string{"hello", "ping", "takeover", "takeover-by-status", "token-revoked", "token-refused", "protocol-too-old",
	"bad-hello", "unknown-reason", "drain-by-status"}

func TestEachSinIsFoundWhereItShould(t *testing.T) {
	if testing.Short() {
		t.Skip("plays all scripts thirty times")
	}
	for _, c := range []struct {
		sin   string
		found []string // the scripts that it fails
		but   []string // or, where these are most, those that it passes
	}{
		{sin: ""},
		{sin: "says hello after 6 seconds", but: []string{"token-refused", "slow-network"}},
		{sin: "brings no bytes", found: []string{"hello", "reconnect", "restart", "late-arena", "server-full", "drain"}},
		{sin: "brings equal bytes", found: []string{"hello", "reconnect", "restart", "late-arena", "server-full", "drain"}},
		{sin: "brings the same bytes each time", found: []string{"reconnect", "restart", "late-arena", "server-full", "drain"}},
		{sin: "has a new name on each stream", found: []string{"reconnect", "game-gone", "restart", "late-arena", "silence",
			"unknown-reason", "server-full", "drain", "drain-by-status"}},
		{sin: "answers no pings", found: []string{"ping", "unknown-fields", "repeated-request", "reconnect", "game-gone", "silence",
			"many-games", "batches", "slow-network"}},
		{sin: "answers hundreds of pings at once", found: []string{"batches"}},
		{sin: "says hello again", but: undecided},
		{sin: "says nothing in many words", but: undecided},
		{sin: "answers what nobody asked", but: undecided},
		{sin: "answers twice", but: undecided},
		{sin: "passes", but: undecided},
		{sin: "stays whatever it is asked", found: []string{"freeze", "flip-three", "second-chance", "whole-game", "eighteen-seats",
			"thirty-six-seats", "unknown-fields", "unknown-kind", "the-same-answer", "too-late", "many-games", "slow-network"}},
		{sin: "gives to itself", found: []string{"flip-three", "second-chance", "whole-game"}},
		{sin: "is confused by 17 seats", found: []string{"eighteen-seats", "thirty-six-seats"}},
		{sin: "takes more than 2 seconds", found: []string{"many-games", "latency"}},
		{sin: "takes 2 seconds now and then", found: []string{"latency"}},
		{sin: "ends at fields that it does not know", found: []string{"unknown-fields"}},
		{sin: "ends at messages that it does not know", found: []string{"unknown-messages"}},
		{sin: "ends at kinds that it does not know", found: []string{"unknown-kind"}},
		{sin: "guesses at kinds that it does not know", found: []string{"unknown-kind"}},
		{sin: "answers a request once", found: []string{"repeated-request", "the-same-answer", "reconnect", "restart"}},
		{sin: "changes its mind when asked again", found: []string{"the-same-answer"}},
		{sin: "ends when it was too late", found: []string{"too-late", "absent"}},
		{sin: "answers only in time", found: []string{"absent"}},
		{sin: "ends with the stream", found: []string{"reconnect", "game-gone", "restart", "late-arena", "silence", "unknown-reason",
			"server-full", "drain", "drain-by-status"}},
		{sin: "hears no silence", found: []string{"silence"}},
		{sin: "comes back whatever it is told", found: []string{"takeover", "takeover-by-status", "token-revoked", "token-refused",
			"protocol-too-old", "bad-hello", "unknown-reason"}},
		{sin: "comes back at once", found: []string{"server-full", "drain", "drain-by-status"}},
		{sin: "forgets the drain", found: []string{"drain-by-status"}},
		{sin: "leaves at the drain", found: []string{"drain"}},
	} {
		t.Run(c.sin, func(t *testing.T) {
			report := check(t, sinner(c.sin), Config{Scripts: overMemory()})
			want := c.found
			if c.but != nil {
				for _, s := range overMemory() {
					if !slices.Contains(c.but, s.Name) {
						want = append(want, s.Name)
					}
				}
			}
			var found []string
			for _, r := range report.Results {
				if r.Failure != nil {
					found = append(found, r.Script)
				}
			}
			if !slices.Equal(found, want) {
				t.Errorf("it is found by %q, want %q", found, want)
			}
		})
	}
}

func TestTheCapacityOfABotIsRespectedAndUsed(t *testing.T) {
	report := check(t, sinner("takes two requests at once"), Config{Scripts: chosen("many-games", "latency")})
	// Each takes 100 ms: of eight games two at a time, twice, then of three one and two; of one game one at a time.
	for i, least := range []float64{1, 20} {
		if r := report.Results[i]; r.Outcome != Passed || r.Seconds < least || r.Seconds > least+0.2 {
			t.Errorf("%s: got %s after %.2f s, %v; want that it passed after %.0f s", r.Script, r.Outcome, r.Seconds, r.Failure, least)
		}
	}
}

func TestASlowLineIsSlow(t *testing.T) {
	report := check(t, kit, Config{Scripts: chosen("slow-network")})
	if r := report.Results[0]; r.Outcome != Passed || r.Seconds < 0.4 {
		t.Errorf("got %s after %.2f s, %v; want that it passed after half a second", r.Outcome, r.Seconds, r.Failure)
	}
}
