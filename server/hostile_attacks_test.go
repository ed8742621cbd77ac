package server

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// TestHostileClients attacks one arena in one way after the other. After each the bot that plays as it should must not
// have felt it.
func TestHostileClients(t *testing.T) {
	if testing.Short() {
		t.Skip("attacks by the thousand, against the clock, are not for the race detector")
	}
	s := besieged(t, func(c *Config) { c.Registration = RegistrationOpen })
	for _, a := range []struct {
		name   string
		attack func(t *testing.T, s *siege)
	}{
		{"streams that are opened and reset", openedAndReset},
		{"headers without end", headersWithoutEnd},
		{"large messages", largeMessages},
		{"what the arena does not know", unknownKinds},
		{"ids of other bots and of no request", foreignIDs},
		{"floods on a stream", streamFloods},
		{"floods of frames", frameFloods},
		{"floods of calls", callFloods},
		{"tokens in the wrong place", misplacedTokens},
		{"what is no HTTP/2", otherProtocols},
		{"floods of connections", connectionFlood},
		{"answers that nobody takes", answersNotTaken},
		{"streams for anyone", strangersStreams},
		{"spectators from one place", spectatorsFromOnePlace},
	} {
		t.Run(a.name, func(t *testing.T) {
			s, began := s.in(t), time.Now()
			a.attack(t, s)
			s.unharmed()
			t.Log(time.Since(began).Round(time.Millisecond))
		})
	}
}

const playMethod = flip7v1.PlayService_Play_FullMethodName

func openedAndReset(t *testing.T, s *siege) {
	const connections, streams = 4, 2500
	logged, before, most := len(s.log.String()), runtime.NumGoroutine(), 0
	greeting := message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello()}})
	for c := range connections {
		r := s.raw()
		go io.Copy(io.Discard, r.Conn)
		for range streams {
			token := s.mallory
			if c == 0 {
				token = ""
			}
			id := r.open(playMethod, token)
			if c > 1 {
				r.send(frameData, 0, id, greeting)
			}
			r.send(frameReset, 0, id, []byte{0, 0, 0, 8})
			most = max(most, runtime.NumGoroutine())
		}
		r.Close()
	}
	s.within(10*time.Second, "the streams are gone", func() bool { return runtime.NumGoroutine() <= before+10 })
	if limit := before + connections*256 + 50; most > limit {
		t.Errorf("%d goroutines at a time, want no more than the %d of the streams that a connection may have", most, limit)
	}
	if grown := len(s.log.String()) - logged; grown > 500<<10 {
		t.Errorf("10,000 streams add %d bytes to the log, want it bounded", grown)
	}
	conn, opened := flip7v1.NewPlayServiceClient(s.dialled()), 0
	for ; opened < 500; opened++ {
		ctx, reset := context.WithCancel(as(t.Context(), s.mallory))
		stream, err := conn.Play(ctx)
		if err == nil {
			err = stream.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello()}})
		}
		if err == nil || err == io.EOF {
			_, err = stream.Recv()
		}
		reset()
		if err == nil {
			continue
		}
		if d := detailsOf(t, err); status.Code(err) != codes.ResourceExhausted || d.reason != "FLOOD" || d.retry <= 0 {
			t.Errorf("a bot that opens one stream after the other: %v %+v, want RESOURCE_EXHAUSTED, FLOOD and a time to wait", err, d)
		}
		break
	}
	if opened == 500 {
		t.Errorf("%d streams of a bot are welcome one right after the other", opened)
	}
}

func headersWithoutEnd(t *testing.T, s *siege) {
	r := s.raw()
	padding := strings.Repeat("x", 1000)
	r.send(frameHeaders, flagEndHeaders, 1, call(playMethod, s.mallory, "a", padding, "b", padding, "c", padding, "d", padding,
		"e", padding, "f", padding, "g", padding, "h", padding, "i", padding))
	if f, err := r.until(frameReset); err != nil || f.payload[3] != 6 {
		t.Errorf("headers of 9 KB: %v, %v, want the stream reset with FRAME_SIZE_ERROR", f, err)
	}
	r.send(frameHeaders, 0, 3, call(playMethod, s.mallory))
	endless := r
	go func() {
		for range 1000 {
			endless.send(frameContinuation, 0, 3, field("padding", padding))
		}
	}()
	r.gone("headers that go on and on")

	r = s.raw()
	r.send(frameHeaders, flagEndHeaders, 1, call(playMethod, s.mallory, "padding", strings.Repeat("x", 10<<10)))
	r.gone("a header of 10 KiB")
}

func largeMessages(t *testing.T, s *siege) {
	client := flip7v1.NewBotServiceClient(s.conn)
	_, err := client.RegisterBot(s.admin, &flip7v1.RegisterBotRequest{Name: strings.Repeat("x", 10<<20)})
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("a name of 10 MB: %v, want RESOURCE_EXHAUSTED", err)
	}
	r := s.raw()
	id := r.open(flip7v1.BotService_WhoAmI_FullMethodName, "")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r.send(frameData, 0, id, []byte{0, 0xff, 0xff, 0xff, 0xff, 1}) // and 4 GB less a byte to come
	if f, err := r.until(frameHeaders); err != nil || f.stream != id || f.flags&flagEnd == 0 {
		t.Errorf("a message of 4 GB is announced: %v, %v, want the call to end", f, err)
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 64<<20 {
		t.Errorf("%d bytes are allocated for a message that is only announced", grown)
	}
}

func unknownKinds(t *testing.T, s *siege) {
	future := []byte{0xfa, 0x01, 0x02, 0x08, 0x01} // field 31
	if err := s.conn.Invoke(s.admin, flip7v1.BotService_WhoAmI_FullMethodName, future, new(flip7v1.WhoAmIResponse), loosely); err != nil {
		t.Errorf("a field that nobody knows: %v, want it ignored", err)
	}
	b := s.play(s.eve("future"), hello())
	m := new(flip7v1.BotMessage)
	m.ProtoReflect().SetUnknown(future)
	for range 200 {
		_ = b.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{m}})
	}
	problems := 0
	for {
		m, err := b.next()
		if err != nil {
			if status.Code(err) != codes.InvalidArgument || detailsOf(t, err).reason != "GARBAGE" || problems != 64 {
				t.Errorf("after %d Problems: %v, want GARBAGE after 64", problems, err)
			}
			return
		}
		if p := m.GetProblem(); p.GetReason() == "UNKNOWN_MESSAGE" {
			problems++
		}
	}
}

var loosely = grpc.ForceCodecV2(loose{encoding.GetCodecV2("proto")})

// eve registers another bot, for an attack that it does not survive, and is its token.
func (s *siege) eve(name string) string {
	s.t.Helper()
	return s.registered("eve-" + name)
}

// foreignIDs decides for the regular bot, by all ids that its requests may have now.
func foreignIDs(t *testing.T, s *siege) {
	b := s.play(s.eve("foreign"), hello())
	sent := 0
	for game := range 8 {
		for number := range 100 {
			id := fmt.Sprintf("%s/1/1/%d/1/%d", s.night, game+1, number+1)
			if err := b.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{decision(id, flip7v1.Answer_ANSWER_HIT)}}); err != nil {
				t.Fatal(err)
			}
			sent++
		}
	}
	for range sent {
		m, err := b.verdict()
		if err != nil || m.GetCode() != flip7v1.VerdictCode_VERDICT_CODE_UNKNOWN_REQUEST {
			t.Fatalf("a decision for another's game: %v, %v, want UNKNOWN_REQUEST", m, err)
		}
	}
}

// verdict is the next verdict.
func (b *bot) verdict() (*flip7v1.Verdict, error) {
	for {
		m, err := b.next()
		if err != nil || m.GetVerdict() != nil {
			return m.GetVerdict(), err
		}
	}
}

func streamFloods(t *testing.T, s *siege) {
	for name, says := range map[string]*flip7v1.BotMessage{
		"decisions":  decision("1/1/1/1/1/1", flip7v1.Answer_ANSWER_HIT),
		"capacities": {Message: &flip7v1.BotMessage_Capacity{Capacity: &flip7v1.Capacity{MaxGames: 1}}},
		"pongs":      {Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: 9}}},
		"long notes": {Message: &flip7v1.BotMessage_Decision{Decision: &flip7v1.Decision{Note: strings.Repeat("n", 60<<10)}}},
	} {
		token := s.eve(name)
		b := s.play(token, hello())
		sent := 0
		go func() {
			for range 100_000 {
				if b.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{says}}) != nil {
					return
				}
			}
		}()
		_, last, err := b.end()
		sent = s.bots.Stats("eve-" + name).Messages
		want := "FLOOD"
		if name == "pongs" {
			want = "GARBAGE" // there was no such ping
		}
		if detailsOf(t, err).reason != want || !last.GetComeBack() {
			t.Errorf("a flood of %s ends with %v, %v; want %s", name, last, err, want)
		}
		if name == "long notes" && sent > 30 {
			t.Errorf("%d messages of 60 KiB are taken, want them to count for more", sent)
		}
	}
}

func frameFloods(t *testing.T, s *siege) {
	for _, f := range []struct {
		name  string
		flood frame
		ends  bool
	}{
		{"pings", frame{kind: framePing, payload: make([]byte, 8)}, true}, // as too many
		{"settings", frame{kind: frameSettings}, false},
		{"window updates", frame{kind: frameWindow, payload: []byte{0, 0, 0, 1}}, false},
		{"data without any", frame{kind: frameData, stream: 1}, false},
		{"an unknown kind", frame{kind: 0x77, payload: []byte("x")}, false},
	} {
		r := s.raw()
		r.open(flip7v1.BotService_WhoAmI_FullMethodName, "")
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			burst := bytes.Repeat(framed(f.flood.kind, f.flood.flags, f.flood.stream, f.flood.payload), 100)
			for range 200 {
				r.write(burst)
			}
		}()
		if f.ends {
			if last, err := r.until(frameGoAway); err != nil || last.payload[7] != 11 {
				t.Errorf("a flood of %s: %v, %v, want GOAWAY with ENHANCE_YOUR_CALM", f.name, last, err)
			}
		}
		s.unharmed() // though nothing is read
		r.Close()
		<-sent
	}
}

func callFloods(t *testing.T, s *siege) {
	client := flip7v1.NewBotServiceClient(s.conn)
	for name, flood := range map[string]func(n int) error{
		"calls without a token": func(int) error {
			_, err := client.WhoAmI(t.Context(), &flip7v1.WhoAmIRequest{})
			return err
		},
		"guessed tokens": func(n int) error {
			_, err := client.WhoAmI(as(t.Context(), fmt.Sprint("guess ", n)), &flip7v1.WhoAmIRequest{})
			if status.Code(err) == codes.Unauthenticated {
				return nil
			}
			return err
		},
		"registrations": func(n int) error {
			_, err := client.RegisterOwner(t.Context(), &flip7v1.RegisterOwnerRequest{Name: fmt.Sprint("owner ", n)})
			return err
		},
	} {
		var err error
		n := 0
		for ; err == nil && n < 1000; n++ {
			err = flood(n)
		}
		if d := detailsOf(t, err); status.Code(err) != codes.ResourceExhausted || d.reason != "RATE_LIMIT" || d.retry <= 0 {
			t.Errorf("after %d %s: %v %+v, want RESOURCE_EXHAUSTED, RATE_LIMIT and a time to wait", n, name, err, d)
		}
	}
	many := 0
	var err error
	for ; err == nil && many < 1000; many++ {
		_, err = client.RegisterBot(s.roles.owner, &flip7v1.RegisterBotRequest{Name: fmt.Sprint("one of many ", many)})
	}
	if d := detailsOf(t, err); status.Code(err) != codes.FailedPrecondition || d.reason != "TOO_MANY_BOTS" {
		t.Errorf("after %d bots of an owner: %v %+v, want TOO_MANY_BOTS", many, err, d)
	}
}

func misplacedTokens(t *testing.T, s *siege) {
	token := s.eve("token")
	nights, watching := flip7v1.NewTournamentServiceClient(s.conn), s.watching()
	client := flip7v1.NewBotServiceClient(s.conn)
	for name, call := range map[string]func() error{
		"in the query": func() error {
			return s.conn.Invoke(t.Context(), flip7v1.BotService_ListOwners_FullMethodName+"?token="+token, &flip7v1.ListOwnersRequest{}, new(flip7v1.ListOwnersResponse))
		},
		"in metadata of another name": func() error {
			_, err := client.ListOwners(metadata.AppendToOutgoingContext(t.Context(), "token", token, "x-api-key", token, "cookie", token), &flip7v1.ListOwnersRequest{})
			return err
		},
		"without Bearer": func() error {
			_, err := client.WhoAmI(metadata.AppendToOutgoingContext(t.Context(), "authorization", token), &flip7v1.WhoAmIRequest{})
			return err
		},
		"as the name of a bot": func() error {
			_, err := client.RegisterBot(s.admin, &flip7v1.RegisterBotRequest{Name: token})
			return err
		},
		"as a tournament": func() error {
			_, err := nights.GetTournament(s.admin, &flip7v1.GetTournamentRequest{TournamentId: token})
			return err
		},
		"as a game": func() error {
			_, err := watching.GetGame(s.admin, &flip7v1.GetGameRequest{GameId: token})
			return err
		},
		"as a request id": func() error {
			_, err := nights.StartTournament(s.admin, &flip7v1.StartTournamentRequest{TournamentId: "404", RequestId: token})
			return err
		},
		"as a player": func() error {
			_, err := nights.EnterBot(s.admin, &flip7v1.EnterBotRequest{TournamentId: s.other, Player: "bot:" + token})
			return err
		},
		"as a page": func() error {
			_, err := nights.ListTournaments(s.admin, &flip7v1.ListTournamentsRequest{PageToken: token})
			return err
		},
	} {
		err := call()
		if code := status.Code(err); code == codes.OK || code == codes.Internal || code == codes.Unknown {
			t.Errorf("a token %s: %v, want it refused", name, err)
		} else if code != codes.Unimplemented && strings.Contains(fmt.Sprint(err, status.Convert(err).Details()), token) { // that is gRPC's own
			t.Errorf("a token %s: it is told in %v", name, err)
		}
	}
	b := s.play(token, &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Hello{Hello: &flip7v1.Hello{Protocol: 1, InstanceId: "1", Build: "v1 " + token}}})
	if _, last, err := b.end(); last.GetReason() != flip7v1.EndReason_END_REASON_BAD_HELLO || status.Code(err) != codes.InvalidArgument {
		t.Errorf("a token as a build, which is for everybody to read: %v, %v, want BAD_HELLO", last, err)
	}
	if strings.Contains(s.log.String(), token) {
		t.Error("the token is in the log")
	}
}

func otherProtocols(t *testing.T, s *siege) {
	chance := rand.New(rand.NewPCG(1, 1))
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(chance.Uint32())
	}
	for name, says := range map[string][]byte{
		"HTTP/1.1":                []byte("GET / HTTP/1.1\r\nHost: arena\r\n\r\n"),
		"an upgrade to HTTP/2":    []byte("GET / HTTP/1.1\r\nHost: arena\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n"),
		"TLS":                     append([]byte{0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3}, noise...),
		"noise":                   noise,
		"noise after the preface": append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), noise...),
	} {
		conn, err := s.dial()
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(says)
		answer, err := io.ReadAll(conn)
		if ne, is := err.(net.Error); is && ne.Timeout() {
			t.Errorf("%s: the connection stays; it was answered with %q", name, answer)
		}
		conn.Close()
	}
}

func connectionFlood(t *testing.T, s *siege) {
	limit := s.entrance.crowd.alike
	refused := value(t, s.Server, "flip7_connections_refused_total")
	var flood []net.Conn
	defer func() {
		for _, conn := range flood {
			conn.Close()
		}
		s.within(30*time.Second, "there is room again", func() bool { return s.connections() < 20 })
	}()
	for range limit + 200 {
		conn, err := s.dial()
		if err != nil {
			t.Fatal(err)
		}
		flood = append(flood, conn)
	}
	s.within(10*time.Second, "all of the flood was let in or not", func() bool {
		return s.connections() == limit && value(t, s.Server, "flip7_connections_refused_total") >= refused+100
	})
	s.unharmed() // on the connections that it has
}

// connections is how many there are.
func (s *siege) connections() int {
	s.entrance.crowd.mu.Lock()
	defer s.entrance.crowd.mu.Unlock()
	return s.entrance.crowd.in
}

// answersNotTaken asks for long answers on connections that open no window for them.
func answersNotTaken(t *testing.T, s *siege) {
	request := message(t, &flip7v1.ListGamesRequest{TournamentId: s.night, PageSize: 1000})
	const connections, calls = 2, 100 // no more than may be under way
	var all []*raw
	for range connections {
		r := s.raw(noWindow...)
		go io.Copy(io.Discard, r.Conn)
		for range calls {
			id := r.open(flip7v1.WatchService_ListGames_FullMethodName, s.mallory)
			r.send(frameData, flagEnd, id, request)
		}
		all = append(all, r)
	}
	owed := func() (total, most int) {
		s.entrance.mu.Lock()
		defer s.entrance.mu.Unlock()
		for _, c := range s.entrance.connections {
			most = max(most, c.owed)
		}
		return s.entrance.owed, most
	}
	s.within(20*time.Second, "the answers wait, as many as may", func() bool { total, _ := owed(); return total > connections*mostOwed*3/4 })
	if total, most := owed(); most > mostOwed || total > connections*mostOwed {
		t.Errorf("%d bytes of answers wait, %d for one connection; want no more than %d", total, most, mostOwed)
	}
	before, _ := owed()
	for id := uint32(1); id <= all[0].last; id += 2 {
		all[0].send(frameReset, 0, id, []byte{0, 0, 0, 8})
	}
	s.within(10*time.Second, "what is given up is not owed", func() bool { total, _ := owed(); return total < before*3/4 })
	for _, r := range all {
		r.Close()
	}
	s.within(10*time.Second, "nothing is owed to who is gone", func() bool { total, _ := owed(); return total == 0 })
}

// strangersStreams opens streams for which nobody needs a token.
func strangersStreams(t *testing.T, s *siege) {
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	health := grpc_health_v1.NewHealthClient(s.conn)
	var err error
	n := 0
	for ; err == nil && n < 200; n++ {
		var stream grpc_health_v1.Health_WatchClient
		if stream, err = health.Watch(ctx, &grpc_health_v1.HealthCheckRequest{}); err == nil {
			_, err = stream.Recv()
		}
	}
	if d := detailsOf(t, err); status.Code(err) != codes.ResourceExhausted || d.reason != "TOO_MANY_CALLS" || n != mostStrangers/4+1 {
		t.Errorf("after %d streams: %v %+v, want TOO_MANY_CALLS after %d", n, err, d, mostStrangers/4)
	}
	if _, err := health.Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Errorf("a probe meanwhile: %v", err)
	}
	leave()
	s.within(10*time.Second, "they are gone", func() bool {
		s.guard.strangers.mu.Lock()
		defer s.guard.strangers.mu.Unlock()
		return s.guard.strangers.in == 0
	})

	stream, err := grpc_reflection_v1.NewServerReflectionClient(s.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask := &grpc_reflection_v1.ServerReflectionRequest{MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_FileContainingSymbol{
		FileContainingSymbol: "flip7.v1.PlayService"}}
	for n = 0; err == nil && n < 1000; n++ {
		if err = stream.Send(ask); err == nil || err == io.EOF {
			_, err = stream.Recv()
		}
	}
	if d := detailsOf(t, err); status.Code(err) != codes.ResourceExhausted || d.reason != "RATE_LIMIT" {
		t.Errorf("after %d questions about the services: %v %+v, want RATE_LIMIT", n, err, d)
	}
}

func spectatorsFromOnePlace(t *testing.T, s *siege) {
	ctx, leave := context.WithCancel(as(t.Context(), s.mallory))
	defer leave()
	var err error
	n := 0
	for ; err == nil && n < 100; n++ {
		var stream grpc.ServerStreamingClient[flip7v1.WatchTournamentResponse]
		if stream, err = s.watching().WatchTournament(ctx, &flip7v1.WatchTournamentRequest{TournamentId: s.night}); err == nil {
			_, err = stream.Recv()
		}
	}
	if d := detailsOf(t, err); status.Code(err) != codes.ResourceExhausted || d.reason != "TOO_MANY_SPECTATORS" || n != s.Server.watch.seats.alike+1 {
		t.Errorf("after %d spectators of one token: %v %+v, want TOO_MANY_SPECTATORS", n, err, d)
	}
	other, err := s.watching().WatchTournament(s.roles.owner, &flip7v1.WatchTournamentRequest{TournamentId: s.night})
	if err == nil {
		_, err = other.Recv()
	}
	if err != nil {
		t.Errorf("a spectator from elsewhere: %v", err)
	}
}

// TestAThousandReadersThatNeverRead measures what they cost: at first, and when there waits for them as much as may.
func TestAThousandReadersThatNeverRead(t *testing.T) {
	if os.Getenv("FLIP7_SOAK") == "" {
		t.Skip("a minute against the clock: make soak runs it")
	}
	const bots, instances = 250, 4
	s := besieged(t, func(c *Config) { c.MaxWatchers = 1024 })
	settings := &flip7v1.TournamentSettings{PairingRounds: 1, Rotations: 2, Seats: 10, Anchor: flip7v1.Anchor_ANCHOR_OFF,
		DecisionTimeout: durationpb.New(10 * time.Millisecond), TimeBank: durationpb.New(0)}
	var tokens, players []string
	for n := range bots {
		tokens = append(tokens, s.eve(fmt.Sprint("reader-", n)))
		players = append(players, fmt.Sprint("bot:eve-reader-", n))
	}
	id := s.opened(settings, players...)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapInuse + m.StackInuse
	}
	before := heap()
	for n := range bots * instances {
		r := s.raw(noWindow...) // gRPC has to keep what is sent
		greeting := hello()
		greeting.GetHello().InstanceId, greeting.GetHello().WantsEvents = fmt.Sprint(n%instances), true
		stream := r.open(playMethod, tokens[n/instances])
		r.send(frameData, 0, stream, message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{greeting}}))
		r.cling(stream)
	}
	count := func(of func(bot string) int) (n int) {
		for i := range bots {
			n += of(fmt.Sprint("eve-reader-", i))
		}
		return n
	}
	s.within(30*time.Second, "all readers are welcome", func() bool {
		return count(func(bot string) int { p, _ := s.bots.Bots.Presence(bot); return p.Instances }) == bots*instances
	})
	each := func() uint64 { return (max(heap(), before) - before) / uint64(bots*instances) }
	idle := each()
	if _, err := s.StartTournament(s.admin, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		t.Fatal(err)
	}
	s.within(30*time.Second, "there is more than fits for all of them", func() bool {
		return count(func(bot string) int { return min(s.bots.Stats(bot).Dropped, 1) }) == bots
	})
	full := each()
	t.Logf("%d readers that never read cost %d KB each, and %d KB with all that waits for them", bots*instances, idle>>10, full>>10)
	if full > 512<<10 {
		t.Errorf("a reader that never reads costs %d bytes, want 512 KiB at most", full)
	}
	s.unharmed()
}

// TestAThousandSessionsLeaveNothing: neither a goroutine nor a file.
func TestAThousandSessionsLeaveNothing(t *testing.T) {
	s := besieged(t)
	token := s.eve("leaver")
	greeting := message(t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{hello()}})
	files := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip("this system does not tell which files are open")
		}
		return len(list)
	}
	session := func(n int) {
		conn, err := s.dial()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if n%7 == 0 {
			return // without a word
		}
		r := speak(t, conn)
		id := r.open([]string{playMethod, flip7v1.WatchService_WatchTournament_FullMethodName, flip7v1.BotService_WhoAmI_FullMethodName}[n%3], token)
		if n%5 > 0 {
			r.send(frameData, 0, id, greeting)
		}
		if n%2 == 0 {
			_, _ = r.next()
		}
	}
	sessions := func(many int) {
		var crowd sync.WaitGroup
		for c := range 4 {
			crowd.Go(func() {
				for n := range many / 4 {
					session(4*n + c)
				}
			})
		}
		crowd.Wait()
		s.within(20*time.Second, "the last connection is gone", func() bool { return s.connections() <= 2 })
		s.unharmed()
	}
	sessions(100) // after which the pools are as large as they become
	goroutines, open := runtime.NumGoroutine(), files()
	sessions(1000)
	// The games of the night come and go meanwhile.
	s.within(20*time.Second, fmt.Sprintf("no more than %d goroutines and %d files, after 1,000 sessions there are %d and %d",
		goroutines, open, runtime.NumGoroutine(), files()), func() bool { return runtime.NumGoroutine() <= goroutines+20 && files() <= open+12 })
	t.Logf("before %d goroutines and %d files, after 1,000 sessions %d and %d", goroutines, open, runtime.NumGoroutine(), files())
}
