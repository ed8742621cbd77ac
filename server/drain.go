package server

import (
	"net"
	"time"

	"google.golang.org/grpc"
)

const (
	// What a part of the way down may take before it is given up.
	closing = 5 * time.Second
	// hurried is the same once there is no patience any more.
	hurried = time.Second
)

// shutDown is the way down, see Serve.
func (s *Server) shutDown() {
	began := time.Now()
	s.health.Shutdown()
	grace := max(s.config.DrainGrace, 0)
	s.log.Info("the arena stops", "grace", grace, "games", s.metrics.games())
	s.bots.Drain(grace, restart)
	s.within("end practice", s.practice.close)
	s.lastGames(grace)
	s.drain(errDraining)
	s.within("break off the games", s.arena.Close)
	s.within("let go of the bots", s.bots.Close)
	s.within("write the logs of the bots", s.logbook.close)
	s.metrics.close()
	s.within("end the programs", s.bots.launcher.Close)

	doors := []*grpc.Server{s.main}
	s.mu.Lock()
	if s.side != nil {
		doors = append(doors, s.side.grpc)
	}
	s.mu.Unlock()
	for _, door := range doors {
		// GracefulStop waits for clients that keep their connections busy for as long as they do.
		if s.now.Err() != nil || !s.within("let callers go", door.GracefulStop) {
			s.within("end all calls", door.Stop)
		}
	}
	s.metricsServer.Close()
	s.pages.Close()
	s.pageServer.Close()
	s.listener.Close() // all are closed by now, if Serve came so far
	for _, l := range []net.Listener{s.admin, s.browsers} {
		if l != nil {
			l.Close()
		}
	}
	s.log.Info("the arena has stopped", "took", time.Since(began).Round(time.Millisecond))
}

// lastGames waits until no game is being played, or the grace is over.
func (s *Server) lastGames(grace time.Duration) {
	over := time.NewTimer(grace)
	defer over.Stop()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for s.metrics.games() > 0 {
		select {
		case <-look.C:
		case <-over.C:
			return
		case <-s.now.Done():
			return
		}
	}
}

// within does a part of the way down, and reports whether it was done in time.
func (s *Server) within(what string, do func()) bool {
	done := make(chan struct{})
	go func() { do(); close(done) }()
	patience := time.NewTimer(closing)
	defer patience.Stop()
	impatient := s.now.Done()
	for {
		select {
		case <-done:
			return true
		case <-impatient:
			impatient = nil
			patience.Reset(hurried)
		case <-patience.C:
			s.log.Warn("the way down goes on without waiting", "for", what)
			return false
		}
	}
}
