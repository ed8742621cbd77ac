// Package server is how the world reaches an arena: the gRPC services, who may call what, limits, TLS, and the way up and
// down. It puts together what an arena needs and knows; tournaments themselves are in package arena, streams of bots in
// remote, what lasts in store, the pages for browsers in web.
//
// A call passes, outside in: metrics, logging, failures (what went wrong becomes what a client may read), draining, auth
// (token to caller), quotas, protovalidate, recovery; see chain.go. Of these only logging, failures, auth and recovery see
// Play: a stream of decisions is limited and checked message by message in remote, and lasts as long as a bot does. Health
// and reflection answer anyone. What a caller may hold open is bounded before all of it, by entrance.go (connections, and
// answers that nobody takes) and guard.go (calls that do not come to an end); what comes of attacks is at the top of
// hostile_test.go.
//
// A program that embeds an arena opens a store, makes a server with New, which listens at once, and lets it Serve:
//
//	kept, err := store.Open(ctx, folder, store.Options{Reserved: server.ReservedNames()})
//	s, err := server.New(server.Config{Folder: folder, Address: "127.0.0.1:0", Metrics: "off"}, server.Deps{Store: kept})
//	// callers reach it at s.Addr() with the token in s.AdminTokenFile()
//	err = s.Serve(ctx)
//	err = kept.Close()
package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/house"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/hub"
	"github.com/flip7-arena/flip7/server/launch"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/web"
)

// Deps are what a server is given. The store is the caller's, who closes it when Serve has returned.
type Deps struct {
	Store *store.Store
	Log   *slog.Logger // nil: slog.Default()
	// Listener is where bots and callers come in instead of Config.Address: one that is there already, or a bufconn.
	Listener net.Listener
}

// Server is an arena that can be reached. New makes one that listens, Serve lets callers in until it is told to stop.
type Server struct {
	config        Config
	log           *slog.Logger
	store         *store.Store
	metrics       *metrics
	logbook       *logbook
	bots          *bots
	arena         *arena.Arena
	nights        *nights
	watch         *watchService
	audience      *audience
	gate          *gate
	guard         *guard
	health        *health.Server
	main          *grpc.Server
	metricsServer *http.Server
	pages         *web.Pages
	pageServer    *http.Server

	practice *practice

	listener  net.Listener
	entrance  *entrance    // that it is behind
	admin     net.Listener // of /metrics; nil: off
	browsers  net.Listener // of the pages; nil: off
	adminFile string       // that holds the admin's token
	trust     string       // file of the certificate that kits have to trust; "": none

	// draining is the context of all calls but those of Play: it ends, with errDraining, when the arena stops, so that
	// handlers need only look at theirs.
	draining context.Context
	drain    context.CancelCauseFunc
	now      context.Context // ends when there is to be no patience any more
	hurry    context.CancelFunc

	resumed chan struct{} // closed when the tournaments that were running go on; nobody comes in before

	registering sync.Mutex // held while a bot is made, or an owner ended
	newcomers   *quotas    // owners who register themselves
	refused     *quotas    // calls with tokens that are none

	mu   sync.Mutex
	side *sideDoor // nil: it was not needed yet
}

// sideDoor is where programs come in that were started on this machine, when the main one is locked by TLS: no
// certificate of the arena is for 127.0.0.1 if an authority has signed it.
type sideDoor struct {
	grpc    *grpc.Server
	address string
}

// New makes a server and listens; Serve is to follow, and ends what New began. Wrong use is refused by the name of the
// flag.
func New(c Config, d Deps) (_ *Server, err error) {
	c, d.Log = c.complete(), slog.New(discreet{cmp.Or(d.Log, slog.Default()).Handler()})
	if err := c.check(); err != nil {
		return nil, err
	}
	s := &Server{config: c, log: d.Log, store: d.Store, health: health.NewServer(), listener: d.Listener, resumed: make(chan struct{})}
	s.draining, s.drain = context.WithCancelCause(context.Background())
	s.now, s.hurry = context.WithCancel(context.Background())
	s.gate, s.guard = &gate{lookup: s.lookup}, newGuard()
	s.newcomers = newQuotas(newcomers(), newcomers())
	s.refused = newQuotas(perSecond(c.AddressRate), perSecond(c.AddressRate))
	s.metrics = newMetrics(c.Version, remote.NewProbe())
	s.entrance = newEntrance(c.MaxStreams+c.MaxWatchers+spareConnections, s.metrics.refused)
	defer func() {
		if err != nil {
			s.metrics.close()
		}
	}()
	if s.gate.admin, s.adminFile, err = adminToken(c.Folder, d.Log); err != nil {
		return nil, err
	}
	encrypt, trust, err := transport(c, d.Log)
	if err != nil {
		return nil, err
	}
	s.trust = trust
	if s.main, err = s.grpc(encrypted(encrypt)); err != nil {
		return nil, err
	}
	s.metricsServer = &http.Server{Handler: s.metrics.handler(s.health), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: time.Minute,
		MaxHeaderBytes: 8 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)}
	if err := s.listen(); err != nil {
		return nil, err
	}
	s.assemble()
	s.register(s.main)
	s.pages = s.newPages(encrypt)
	s.pageServer = s.browsing(encrypt)
	return s, nil
}

// assemble puts the arena together.
func (s *Server) assemble() {
	s.logbook = newLogbook(s.store, s.log, s.metrics.logLost)
	s.bots = &bots{
		Bots: remote.New(remote.Config{
			Arena:  s.config.Version,
			Log:    s.log,
			Hooks:  s.logbook.hooks(s.metrics.hooks()),
			Stalls: s.metrics.probe.Lost,
			Limits: remote.Limits{
				Streams:        s.config.MaxStreams,
				Instances:      s.config.MaxInstances,
				BatchBytes:     maxMessage,
				PingInterval:   s.config.PingInterval,
				ReconnectGrace: s.config.ReconnectGrace,
			},
			NoPractice: s.config.PracticeTables < 0,
		}),
		launcher: launch.New(s.log, launch.Patience{}),
		claim:    s.claim,
		door:     s.door,
		tokens:   map[[sha256.Size]byte]string{},
	}
	spectators := hub.New()
	s.audience = &audience{metrics: s.metrics, bots: s.bots.Bots, hub: spectators, games: map[arena.GameID]*retold{}}
	s.arena = arena.New(arena.Outside{
		Store:    s.store,
		Journals: journals{s.store.Journals(), s.metrics.journal},
		Bots:     s.bots,
		Audience: s.audience,
		Log:      s.log,
	})
	s.practice = newPractice(s)
	s.bots.dismiss = s.practice.dismiss
	s.nights = newNights(s)
	s.watch = newWatchService(s.arena, spectators, s.nights.common, s.bots.there, s.config.MaxWatchers)
}

// listen opens what is not open yet.
func (s *Server) listen() (err error) {
	var opened []net.Listener // here, and closed again if another cannot be
	defer func() {
		if err != nil {
			for _, l := range opened {
				l.Close()
			}
		}
	}()
	if s.listener == nil {
		if s.listener, err = net.Listen("tcp", s.config.Address); err != nil {
			return fmt.Errorf("--address: %w", err)
		}
		opened = append(opened, s.listener)
	}
	s.entrance.Listener = s.listener
	if err := s.config.checkClear("address", s.listener.Addr()); err != nil {
		return err
	}
	if s.config.Metrics != metricsOff {
		admin := newEntrance(metricsConnections, s.metrics.refused)
		if admin.Listener, err = net.Listen("tcp", s.config.Metrics); err != nil {
			return fmt.Errorf("--metrics: %w", err)
		}
		s.admin = admin
		opened = append(opened, admin)
	}
	if s.config.Web == "" {
		return nil
	}
	pages := newEntrance(browserConnections, s.metrics.refused)
	if pages.Listener, err = net.Listen("tcp", s.config.Web); err != nil {
		return fmt.Errorf("--web: %w", err)
	}
	s.browsers = pages
	opened = append(opened, pages)
	return s.config.checkClear("web", s.browsers.Addr())
}

// Addr is where bots and callers come in.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// MetricsAddr is where /metrics is served; nil if it is not.
func (s *Server) MetricsAddr() net.Addr {
	if s.admin == nil {
		return nil
	}
	return s.admin.Addr()
}

// WebAddr is where the pages for browsers are; nil if they are not.
func (s *Server) WebAddr() net.Addr {
	if s.browsers == nil {
		return nil
	}
	return s.browsers.Addr()
}

// AdminTokenFile is the file that holds the admin's token.
func (s *Server) AdminTokenFile() string { return s.adminFile }

// Trust is the file of the certificate that callers have to trust, which kits do by FLIP7_CA; "" if no certificate was
// made here.
func (s *Server) Trust() string { return s.trust }

// ReservedNames are names that no bot and no owner may have: those of house bots, and those that would pass for somebody
// who speaks for the arena.
func ReservedNames() []string {
	names := []string{
		"admin", "administrator", "anyone", "arena", "bot", "flip7", "house", "official", "oracle", "organiser", "organizer", "owner", "system",
	}
	for n := 1; ; n++ { // stay-N for all the N that there are
		name := fmt.Sprintf("stay-%d", n)
		if _, err := house.New(name); err != nil {
			return append(names, house.Names()...)
		}
		names = append(names, name)
	}
}

// register adds the services to a gRPC server.
func (s *Server) register(door *grpc.Server) {
	to := guarded{door, s.guard}
	flip7v1.RegisterPlayServiceServer(to, &playService{bots: s.bots.Bots, recheck: s.gate.enter})
	flip7v1.RegisterBotServiceServer(to, &botService{Server: s})
	flip7v1.RegisterTournamentServiceServer(to, &tournamentService{nights: s.nights})
	flip7v1.RegisterRatingServiceServer(to, &ratingService{nights: s.nights})
	flip7v1.RegisterWatchServiceServer(to, s.watch)
	grpc_health_v1.RegisterHealthServer(to, s.health)
	reflection.RegisterV1(to)
	s.metrics.calls.InitializeMetrics(door)
}

// door is where programs come in that were started on this machine.
func (s *Server) door() (string, error) {
	tcp, is := s.listener.Addr().(*net.TCPAddr)
	switch {
	case is && !s.config.encrypted() && tcp.IP.IsUnspecified():
		return fmt.Sprintf("http://127.0.0.1:%d", tcp.Port), nil
	case is && !s.config.encrypted():
		return "http://" + tcp.String(), nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.side != nil {
		return s.side.address, nil
	}
	if s.draining.Err() != nil {
		return "", errDraining
	}
	opened, err := s.grpc(nil)
	if err != nil {
		return "", err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.register(opened)
	s.side = &sideDoor{opened, "http://" + listener.Addr().String()}
	go func() {
		select {
		case <-s.resumed:
		case <-s.draining.Done():
		}
		if err := opened.Serve(listener); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			s.log.Error("the door for programs on this machine has closed", "error", err)
		}
	}()
	return s.side.address, nil
}

// Serve lets callers in and goes on with the tournaments that were running, until ctx ends or Stop is called. Then it
// drains: bots are told, games that end soon do, all others are in the journal. It returns when nothing runs any more,
// which takes the drain grace and a few seconds at most. It may be called once.
func (s *Server) Serve(ctx context.Context) error {
	err := s.resume(ctx)
	if err == nil {
		err = s.serve(ctx)
	} else if ctx.Err() != nil {
		err = nil // it was told to stop before it had begun
	}
	s.shutDown()
	return err
}

// resume goes on with the tournaments that were running, and with the programs that play in them.
func (s *Server) resume(ctx context.Context) error {
	live, err := s.store.Live(ctx)
	if err != nil {
		return fmt.Errorf("the tournaments that run: %w", err)
	}
	// Programs come first: a tournament that has nothing left to play ends at once, and its programs with it.
	s.bots.startAgain(live, s.log)
	if err := s.arena.Resume(ctx); err != nil {
		return err
	}
	close(s.resumed)
	return nil
}

// serve lets callers in until ctx ends, Stop is called or a door breaks.
func (s *Server) serve(ctx context.Context) error {
	broken := make(chan error, 3)
	go func() {
		if err := s.main.Serve(s.entrance); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			broken <- fmt.Errorf("serve %v: %w", s.listener.Addr(), err)
		}
	}()
	if s.admin != nil {
		go func() {
			if err := s.metricsServer.Serve(s.admin); !errors.Is(err, http.ErrServerClosed) {
				broken <- fmt.Errorf("serve metrics on %v: %w", s.admin.Addr(), err)
			}
		}()
	}
	if s.browsers != nil {
		go func() {
			if err := s.serveBrowsers(); !errors.Is(err, http.ErrServerClosed) {
				broken <- fmt.Errorf("serve pages on %v: %w", s.browsers.Addr(), err)
			}
		}()
	}
	s.practice.begin()
	s.log.Info("the arena is open", "address", s.listener.Addr().String(), "tls", s.config.encrypted(), "version", s.config.Version)
	select {
	case <-ctx.Done():
		return nil
	case <-s.now.Done():
		return nil
	case err := <-broken:
		return err
	}
}

// Stop ends Serve at once: nobody is waited for. What was acknowledged is kept all the same.
func (s *Server) Stop() { s.hurry() }
