package server

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/emptypb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
)

// running is a server with all its parts, reached over bufconn unless its Config has an address.
type running struct {
	*Server
	t     testing.TB
	conn  *grpc.ClientConn
	admin context.Context // of calls as the admin
	log   *record
	ended chan error // takes what Serve returned
	stop  context.CancelFunc
}

// record is a log that can be read while it is written.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// start starts a server on an empty data folder. It stops with the test.
func start(t testing.TB, change ...func(*Config)) *running {
	t.Helper()
	return startIn(t, t.TempDir(), change...)
}

// startIn starts a server on a data folder.
func startIn(t testing.TB, folder string, change ...func(*Config)) *running {
	t.Helper()
	r := prepare(t, folder, change...)
	r.serve()
	return r
}

// prepare is startIn without serving yet.
func prepare(t testing.TB, folder string, change ...func(*Config)) *running {
	t.Helper()
	return prepareWith(t, folder, store.Options{Reserved: ReservedNames()}, change...)
}

// prepareWith is prepare with options for the store.
func prepareWith(t testing.TB, folder string, options store.Options, change ...func(*Config)) *running {
	t.Helper()
	config := Config{Folder: folder, Metrics: "off", Version: "test", DrainGrace: -1}
	for _, c := range change {
		c(&config)
	}
	log := new(record)
	logger := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	options.Log = logger
	kept, err := store.Open(t.Context(), folder, options)
	if err != nil {
		t.Fatal(err)
	}
	deps := Deps{Store: kept, Log: logger}
	dial := grpc.WithContextDialer(nil)
	if config.Address == "" {
		listener := bufconn.Listen(1 << 20)
		deps.Listener = listener
		dial = grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return listener.DialContext(ctx) })
	}
	s, err := New(config, deps)
	if err != nil {
		t.Fatal(err)
	}
	r := &running{Server: s, t: t, log: log, ended: make(chan error, 1)}
	creds := insecure.NewCredentials()
	if s.Trust() != "" {
		if creds, err = credentials.NewClientTLSFromFile(s.Trust(), ""); err != nil {
			t.Fatal(err)
		}
	}
	if r.conn, err = grpc.NewClient("passthrough:///"+s.Addr().String(), grpc.WithTransportCredentials(creds), dial); err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	r.admin = as(t.Context(), strings.TrimSpace(string(token)))
	t.Cleanup(func() {
		if err := kept.Close(); err != nil {
			t.Errorf("close the store: %v", err)
		}
	})
	return r
}

// serve lets callers in until the test is over.
func (r *running) serve() {
	ctx, stop := context.WithCancel(context.Background())
	r.stop = stop
	go func() { r.ended <- r.Serve(ctx) }()
	r.t.Cleanup(func() {
		r.conn.Close()
		stop()
		if err := <-r.ended; err != nil {
			r.t.Errorf("Serve: %v", err)
		}
	})
}

// as is ctx for calls with a token.
func as(ctx context.Context, token string) context.Context {
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+token)
}

func TestHealthAndReflectionAnswerWithoutAToken(t *testing.T) {
	r := start(t)
	health, err := grpc_health_v1.NewHealthClient(r.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if err != nil || health.GetStatus() != grpc_health_v1.HealthCheckResponse_SERVING {
		t.Errorf("health: %v, %v, want SERVING", health.GetStatus(), err)
	}
	stream, err := grpc_reflection_v1.NewServerReflectionClient(r.conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&grpc_reflection_v1.ServerReflectionRequest{
		MessageRequest: &grpc_reflection_v1.ServerReflectionRequest_ListServices{}}); err != nil {
		t.Fatal(err)
	}
	listed, err := stream.Recv()
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(listed.String(), "flip7.v1.PlayService") {
		t.Errorf("reflection lists %v, want flip7.v1.PlayService in it", listed)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
}

// trouble is a service whose calls end in a panic.
func trouble() *grpc.ServiceDesc {
	const why = "the sky fell on /srv/secret"
	return &grpc.ServiceDesc{
		ServiceName: "flip7.test.Trouble",
		HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Call", Handler: func(srv any, ctx context.Context, decode func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
			return chain(ctx, new(emptypb.Empty), &grpc.UnaryServerInfo{Server: srv, FullMethod: "/flip7.test.Trouble/Call"},
				func(context.Context, any) (any, error) { panic(why) })
		}}},
		Streams: []grpc.StreamDesc{{StreamName: "Stream", ServerStreams: true, Handler: func(any, grpc.ServerStream) error { panic(why) }}},
	}
}

func TestPanicsAreForTheLogAlone(t *testing.T) {
	r := prepare(t, t.TempDir())
	r.main.RegisterService(trouble(), nil)
	r.serve()
	call := func() error {
		return r.conn.Invoke(r.admin, "/flip7.test.Trouble/Call", new(emptypb.Empty), new(emptypb.Empty))
	}
	stream := func() error {
		stream, err := r.conn.NewStream(r.admin, &grpc.StreamDesc{ServerStreams: true}, "/flip7.test.Trouble/Stream")
		if err != nil {
			return err
		}
		return stream.RecvMsg(new(emptypb.Empty))
	}
	for name, do := range map[string]func() error{"a call": call, "a stream": stream} {
		err := do()
		if d := detailsOf(t, err); status.Code(err) != codes.Internal || d.reason != "INTERNAL" || strings.Contains(err.Error(), "sky") {
			t.Errorf("%s that panics ends with %v %+v, want INTERNAL and not a word of the reason", name, err, d)
		}
	}
	if log := r.log.String(); !strings.Contains(log, "the sky fell") || !strings.Contains(log, "server_test.go") {
		t.Errorf("the log says %s\nwant the reason and the stack", log)
	}
	if got := value(t, r.Server, "flip7_panics_total"); got != 2 {
		t.Errorf("flip7_panics_total is %v, want 2", got)
	}
}

func TestTheLogSaysWhatACallIsAbout(t *testing.T) {
	r := start(t)
	tokens := r.roles()
	ctx := tokens.owner
	_, _ = flip7v1.NewTournamentServiceClient(r.conn).StartTournament(r.admin, &flip7v1.StartTournamentRequest{TournamentId: "71", RequestId: "r-72"})
	_, _ = flip7v1.NewWatchServiceClient(r.conn).GetGame(ctx, &flip7v1.GetGameRequest{GameId: "71/1/1/1"})
	watch, err := flip7v1.NewWatchServiceClient(r.conn).WatchTournament(tokens.bot, &flip7v1.WatchTournamentRequest{TournamentId: "73"})
	if err == nil {
		_, _ = watch.Recv()
	}
	r.conn.Close()
	r.stop()
	err = <-r.ended // the log of a stream is written after its end
	r.ended <- err
	for method, want := range map[string][]string{
		"StartTournament": {"admin=true", "tournament=71", "request=r-72"},
		"GetGame":         {"owner=ann", "game=71/1/1/1"},
		"WatchTournament": {"bot=odds-bot", "tournament=73"},
	} {
		lines := slices.Collect(strings.Lines(r.log.String()))
		at := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "grpc.method="+method+" ") })
		if at < 0 {
			t.Errorf("%s is not in the log:\n%s", method, r.log)
			continue
		}
		for _, field := range want {
			if !strings.Contains(lines[at], " "+field+" ") {
				t.Errorf("the log of %s has no %s: %s", method, field, lines[at])
			}
		}
	}
}

func TestWhereProgramsOnThisMachineComeIn(t *testing.T) {
	for _, test := range []struct {
		name    string
		config  Config
		through string // the main door, or another one
	}{
		{"loopback", Config{Address: "127.0.0.1:0"}, "main"},
		{"everywhere", Config{Address: ":0", Insecure: true}, "main"},
		{"behind TLS", Config{Address: "127.0.0.1:0", SelfSigned: true}, "side"},
	} {
		r := start(t, func(c *Config) {
			c.Address, c.Insecure, c.SelfSigned = test.config.Address, test.config.Insecure, test.config.SelfSigned
		})
		address, err := r.door()
		if err != nil {
			t.Fatal(err)
		}
		host, plain := strings.CutPrefix(address, "http://")
		if main := fmt.Sprintf("127.0.0.1:%d", r.Addr().(*net.TCPAddr).Port); !plain || (host == main) != (test.through == "main") {
			t.Errorf("%s: programs come in by %s, want http:// and the %s door (the main one is %s)", test.name, address, test.through, main)
		}
		conn, err := grpc.NewClient("passthrough:///"+host, grpc.WithTransportCredentials(insecure.NewCredentials()))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := flip7v1.NewBotServiceClient(conn).WhoAmI(t.Context(), &flip7v1.WhoAmIRequest{}); err != nil {
			t.Errorf("%s: a call by that door: %v", test.name, err)
		}
	}
}

func TestQuotasHoldForCalls(t *testing.T) {
	r := start(t, func(c *Config) { c.AddressRate = 1 })
	client := flip7v1.NewBotServiceClient(r.conn)
	for n := range 100 {
		_, err := client.WhoAmI(t.Context(), &flip7v1.WhoAmIRequest{})
		if err == nil {
			continue
		}
		if d := detailsOf(t, err); n < 4 || status.Code(err) != codes.ResourceExhausted || d.retry <= 0 {
			t.Errorf("call %d without a token: %v %+v, want RESOURCE_EXHAUSTED with a time to wait, after 4 calls", n+1, err, d)
		}
		if _, err := client.WhoAmI(r.admin, &flip7v1.WhoAmIRequest{}); err != nil {
			t.Errorf("a call with a token from the same address: %v", err)
		}
		return
	}
	t.Error("100 calls at once are answered")
}

func TestServeEndsWhenToldTo(t *testing.T) {
	r := start(t)
	if _, err := grpc_health_v1.NewHealthClient(r.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Fatal(err)
	}
	r.stop()
	select {
	case err := <-r.ended:
		r.ended <- err
	case <-time.After(20 * time.Second):
		t.Fatal("Serve goes on 20 s after it was told to end")
	}
	_, err := grpc_health_v1.NewHealthClient(r.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{})
	if status.Code(err) != codes.Unavailable {
		t.Errorf("a call after the end: %v, want UNAVAILABLE", err)
	}
}

func TestAServerThatCannotListenEverywhereListensNowhere(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	// Below those that the system gives to whoever asks for any: nobody gets one of these in between.
	port := 20_000 + os.Getpid()%10_000
	free := func() string {
		for port < 32_000 {
			port++
			if l, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port)); err == nil {
				defer l.Close()
				return l.Addr().String()
			}
		}
		t.Fatal("no port is free")
		return ""
	}
	kept, err := store.Open(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer kept.Close()
	address, metrics := free(), free()
	_, err = New(Config{Folder: t.TempDir(), Address: address, Metrics: metrics, Web: taken.Addr().String()}, Deps{Store: kept, Log: slog.New(slog.DiscardHandler)})
	if err == nil || !strings.HasPrefix(err.Error(), "--web: ") {
		t.Fatalf("got %v, want --web refused", err)
	}
	for _, left := range []string{address, metrics} {
		l, err := net.Listen("tcp", left)
		if err != nil {
			t.Errorf("%s is still listened on: %v", left, err)
			continue
		}
		l.Close()
	}
}

// A program that is started again is there before the tournaments go on in which it plays.
func TestProgramsComeInWhenTournamentsGoOn(t *testing.T) {
	r := prepare(t, t.TempDir())
	address, err := r.door()
	if err != nil {
		t.Fatal(err)
	}
	conn, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(address, "http://"), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := flip7v1.NewBotServiceClient(conn)
	early, leave := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer leave()
	if _, err := client.WhoAmI(early, &flip7v1.WhoAmIRequest{}); status.Code(err) != codes.DeadlineExceeded {
		t.Errorf("a call before that: %v, want no answer", err)
	}
	r.serve()
	if _, err := client.WhoAmI(t.Context(), &flip7v1.WhoAmIRequest{}); err != nil {
		t.Errorf("a call after that: %v", err)
	}
}
