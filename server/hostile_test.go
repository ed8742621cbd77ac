// What happens to hostile clients. In all of it a bot that plays as it should, on the same server, makes no fault and
// loses no stream. (R) marks what is tested beside package remote, which holds the conversation.
//
//	10,000 streams opened and reset      256 handlers a connection; FLOOD beyond 10 streams a second of a bot (burst 100)
//	headers over 8 KiB                   the stream is reset; one field as long, or headers without end: the connection ends
//	messages over 64 KiB, a name of 10 MB  RESOURCE_EXHAUSTED, before any of it is kept
//	invalid UTF-8, bytes that are no message  INVALID_ARGUMENT, UNREADABLE; on Play BAD_HELLO or GARBAGE
//	unknown fields                       are ignored
//	unknown kinds of messages, empty ones, hello twice (R)  a Problem each; GARBAGE after 64
//	no hello, something before it (R)    NO_HELLO after 5 s, or at once
//	replayed ids (R)                     harmless, or verdict DUPLICATE or LATE
//	guessed ids, decisions for another's game  verdict UNKNOWN_REQUEST
//	floods of decisions, capacities      FLOOD beyond 200 a second (burst 1,000); over 512 bytes they count for several
//	floods of pongs                      GARBAGE
//	floods of HTTP/2 pings               GOAWAY, ENHANCE_YOUR_CALM
//	floods of other frames               cost the one who sends them
//	floods of calls                      RATE_LIMIT: 50 a second a token, 20 an address without one
//	floods of guessed tokens             RATE_LIMIT: 20 a second an address
//	floods of registrations              RATE_LIMIT: 30 owners an address, then one a minute; TOO_MANY_BOTS an owner
//	refusals of all kinds                25 lines a second in the log; the next one says how many are missing
//	a token in the wrong place           is refused, or of no use; neither in the log nor in an error; as a build BAD_HELLO
//	HTTP/1.1, TLS in clear text, noise   the connection ends
//	a connection without a greeting, or a byte of it a second  ends after 10 s
//	headers a byte a second              end after 30 s, with the connection
//	a request a byte a second, or none   DEADLINE_EXCEEDED after 10 s
//	a hello, a decision a byte a second  NO_HELLO after 5 s, SILENT after 36 s
//	a connection without calls           ends after 5 minutes, though it answers pings
//	floods of connections                closed beyond 2,560 in all, and half of them from one address
//	packets dropped, no FIN              the connection ends after 30 s; a game waits no longer than for a silent bot
//	a bot that reads nothing             TOO_SLOW after 5 s; 1,000 of them cost 0.1 MB each, 0.3 MB with all that waits for them
//	a spectator that reads nothing       DEADLINE_EXCEEDED after 30 s, and its seat is free
//	all of those when the arena stops    are not waited for: it takes the drain grace and 10 s at most
//	answers that nobody takes            ANSWERS_NOT_TAKEN beyond 1 MiB a connection, 64 MiB in all without a token
//	streams of health and reflection     TOO_MANY_CALLS beyond 128 in all, 32 from one address; questions count as calls
//	spectators' seats, all by one        TOO_MANY_SPECTATORS beyond a quarter of them from one token or address
//	hard questions (standings, ratings)  one at a time; BUSY beyond 32 in the queue from one token or address
//	all streams taken by idle bots (R)   SERVER_FULL for others like them; bots in a tournament come in
//	any bytes to any call, as anybody    never a panic, never INTERNAL (FuzzCalls)
package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// siege is an arena with a night that goes on and on, a bot that plays in it as it should, and somebody who means harm.
type siege struct {
	*hosting
	dial    func() (net.Conn, error)
	night   string
	other   string // another night, that is open for ever
	roles   tokens
	mallory string // the token of a bot that nobody has entered
	decided *atomic.Int64
	thinks  time.Duration
}

// in is the siege for a subtest, which fails by itself and not by the test around it.
func (s *siege) in(t *testing.T) *siege {
	running, hosting, sub := *s.running, *s.hosting, *s
	running.t, hosting.running, sub.hosting = t, &running, &hosting
	return &sub
}

// besiege starts a siege on a server that is reached by dial.
func besiege(r *running, dial func() (net.Conn, error), thinks time.Duration) *siege {
	r.t.Helper()
	s := &siege{hosting: hostingOf(r), dial: dial, decided: new(atomic.Int64), thinks: thinks}
	token := s.registered("regular")
	s.mallory = s.registered("mallory")
	s.night = s.opened(&flip7v1.TournamentSettings{PairingRounds: 100, Rotations: 50, Seats: 3, Anchor: flip7v1.Anchor_ANCHOR_OFF},
		"bot:regular", "house:stay-25", "house:random")
	if _, err := s.StartTournament(s.admin, &flip7v1.StartTournamentRequest{TournamentId: s.night}); err != nil {
		r.t.Fatal(err)
	}
	s.other, s.roles = s.opened(nil, "house:odds"), r.roles()
	ctx, leave := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() {
		left <- flip7.Play(ctx, flip7.Bot{Addr: "http://arena:1", Token: token, Log: slog.New(slog.DiscardHandler), Decide: s.decide,
			Dial: func(context.Context, string) (net.Conn, error) { return dial() }})
	}()
	r.t.Cleanup(func() {
		leave()
		if err := <-left; !errors.Is(err, context.Canceled) {
			r.t.Errorf("the regular bot ended with %v", err)
		}
	})
	s.unharmed()
	return s
}

// decide is the regular bot.
func (s *siege) decide(v *flip7.View) flip7.Decision {
	legal := v.Legal()
	select {
	case <-time.After(s.thinks):
	case <-v.Context().Done():
	}
	return legal[int(s.decided.Add(1))%len(legal)]
}

// unharmed waits until the regular bot has decided some more, and makes sure that it never made a fault or lost a stream,
// that callers are answered, and that nothing happened that only a programmer could mend.
func (s *siege) unharmed() {
	s.t.Helper()
	goal := s.decided.Load() + 10
	s.within(time.Minute, "the regular bot is asked", func() bool { return s.decided.Load() >= goal })
	stats := s.bots.Stats("regular")
	for cause, n := range stats.Causes {
		if cause.Fault() {
			s.t.Errorf("the regular bot has %d faults: %v", n, cause)
		}
	}
	if stats.Lost > 0 {
		s.t.Errorf("the regular bot has lost %d streams", stats.Lost)
	}
	if _, err := flip7v1.NewBotServiceClient(s.conn).WhoAmI(s.admin, &flip7v1.WhoAmIRequest{}); err != nil {
		s.t.Errorf("the admin's call: %v", err)
	}
	for _, line := range s.complaints() {
		s.t.Errorf("the log says %s", line)
	}
}

// within waits until something is so, which nothing tells.
func (s *siege) within(patience time.Duration, what string, so func() bool) {
	s.t.Helper()
	over := time.NewTimer(patience)
	defer over.Stop()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !so() {
		select {
		case <-look.C:
		case <-over.C:
			s.t.Fatalf("it is not so in %v: %s; the log ends with\n%s", patience, what, s.log.String()[max(0, len(s.log.String())-5000):])
		}
	}
}

// complaints are the lines of the log about what only a programmer could mend.
func (s *siege) complaints() (lines []string) {
	for line := range strings.Lines(s.log.String()) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "panic") {
			lines = append(lines, line)
		}
	}
	return lines
}

// besieged is a siege over TCP, in real time.
func besieged(t testing.TB, change ...func(*Config)) *siege {
	t.Helper()
	usual := func(c *Config) { c.Address, c.TokenRate, c.MaxWatchers = "127.0.0.1:0", 1_000_000, 40 }
	r := start(t, append([]func(*Config){usual}, change...)...)
	return besiege(r, func() (net.Conn, error) { return net.Dial("tcp", r.Addr().String()) }, time.Millisecond)
}

// patiently is a siege in a bubble, where hours take no time.
func patiently(t *testing.T, attack func(t *testing.T, s *siege)) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t)
		s := besiege(r, r.listener.(*bufconn.Listener).Dial, 200*time.Millisecond)
		attack(t, s)
		s.unharmed()
	})
}

// raw is a new connection on which frames are spoken.
func (s *siege) raw(settings ...uint32) *raw {
	s.t.Helper()
	conn, err := s.dial()
	if err != nil {
		s.t.Fatal(err)
	}
	return speak(s.t, conn, settings...)
}

// dialled is another connection of a client.
func (s *siege) dialled() *grpc.ClientConn {
	s.t.Helper()
	conn, err := grpc.NewClient("passthrough:///arena", grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return s.dial() }))
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { conn.Close() })
	return conn
}

// play opens a stream for a bot on another connection and says hello, unless it is to say nothing.
func (s *siege) play(token string, says ...*flip7v1.BotMessage) *bot {
	s.t.Helper()
	stream, err := flip7v1.NewPlayServiceClient(s.dialled()).Play(as(s.t.Context(), token))
	if err != nil {
		s.t.Fatal(err)
	}
	if err := stream.Send(&flip7v1.PlayRequest{Messages: says}); err != nil {
		s.t.Fatal(err)
	}
	return &bot{PlayService_PlayClient: stream, t: s.t, log: s.log}
}
