package server

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/hub"
	"github.com/flip7-arena/flip7/server/web"
	"github.com/flip7-arena/flip7/server/wire"
)

// newPages are the pages for browsers, made of what the services tell.
func (s *Server) newPages(encrypt *tls.Config) *web.Pages {
	ratings := &ratingService{nights: s.nights}
	waiting := newCrowd(1024, 128)
	return web.New(web.Config{
		Arena: s.arena,
		Watch: onlookers{s.watch.hub},
		Enter: func(r *http.Request) (leave func(), ok bool) {
			return waiting.enter(addressOf(r.Context()))
		},
		Present: s.bots.there,
		Season: func(ctx context.Context, league string, do func(*arena.Season, *arena.Elo) error) error {
			return crowded(ratings.season(ctx, league, arena.SeasonOptions{}, func(found *season) error {
				if err := found.table(); err != nil {
					return err
				}
				return do(found.Season, found.elo)
			}))
		},
		History: ratings.history,
		Explain: func(ctx context.Context, t *arena.Tournament, round int) ([]string, error) {
			lines, err := s.nights.explain(ctx, t, round)
			return lines, crowded(err)
		},
		Tally: func(ctx context.Context, t *arena.Tournament, do func(*arena.Tally) error) (err error) {
			counted := s.nights.count(ctx, t, func(tally *arena.Tally) { err = do(tally) })
			return cmp.Or(crowded(counted), err)
		},
		Ends: func(t *arena.Tournament) time.Time {
			if t.State == arena.Paused || t.State == arena.Held {
				return time.Time{} // it moves away as long as that lasts
			}
			shown := s.nights.common.Tournament(t)
			expect(shown, t, time.Now())
			if shown.GetExpectedEndTime() == nil {
				return time.Time{}
			}
			return shown.GetExpectedEndTime().AsTime()
		},
		Why: func(ctx context.Context, t *arena.Tournament) (string, error) {
			if t.State == arena.Paused {
				return s.nights.lastWhy(ctx, t.ID, "pause")
			}
			return s.nights.common.Why(t), nil
		},
		Entered: s.store.Entered,
		Conclusion: func(ctx context.Context, t *arena.Tournament) (string, error) {
			if t.State != arena.Finished {
				return "", nil
			}
			text, err := s.nights.conclude(ctx, t)
			return text, crowded(err)
		},
		Owner:   s.reader,
		MayTry:  s.mayTry,
		Trouble: s.trouble,
		Secure:  s.config.encrypted(),
		Address: callersAddress(s.listener.Addr().String(), s.config.Hosts, encrypt, s.trust),
		Trust:   s.trust,
		Log:     s.log,
	})
}

// history is how a bot stood after each tournament of a league that it played in.
func (s *ratingService) history(ctx context.Context, league, bot string) (moments []*arena.Moment, err error) {
	err = s.season(ctx, league, arena.SeasonOptions{}, func(found *season) error {
		played := found.Played(bot)
		for _, night := range played[max(0, len(played)-fitsACall):] {
			moment, err := found.moment(night)
			if err != nil {
				return err
			}
			moments = append(moments, moment)
		}
		return nil
	})
	return moments, crowded(err)
}

// crowded tells pages in their words that too many wait at a desk.
func crowded(err error) error {
	if status.Code(err) == codes.ResourceExhausted {
		return web.ErrBusy
	}
	return err
}

// reader is who has the token of a hash, if pages have something for them.
func (s *Server) reader(ctx context.Context, hash [sha256.Size]byte) (web.Reader, bool, error) {
	if subtle.ConstantTimeCompare(hash[:], s.gate.admin[:]) == 1 {
		return web.Reader{Admin: true}, true, nil
	}
	c, err := s.lookup(ctx, hash)
	if errors.Is(err, errNoToken) || err == nil && c.role != ownerRole {
		return web.Reader{}, false, nil
	}
	return web.Reader{Owner: c.name}, err == nil, err
}

// mayTry counts that a token is tried from an address, as often as calls without one may be made.
func (s *Server) mayTry(r *http.Request) time.Duration {
	address, err := net.ResolveTCPAddr("tcp", r.RemoteAddr)
	if err != nil {
		return time.Second
	}
	now := time.Now()
	reserved := s.refused.addresses.of(prefixOf(address), now).ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait > 0 {
		reserved.CancelAt(now)
	}
	return wait
}

// trouble are the lines of a bot's log about what went wrong, as its owner gets them by a call.
func (s *Server) trouble(ctx context.Context, who web.Reader, bot string) (lines []web.LogLine, mine bool, err error) {
	c := caller{role: ownerRole, name: who.Owner}
	if who.Admin {
		c = caller{role: adminRole}
	}
	ctx = context.WithValue(ctx, callerKey{}, c)
	request := &flip7v1.ListLogRequest{Name: bot, Troubles: true, PageSize: 1000}
	var all []*flip7v1.LogEntry
	for {
		page, err := (&botService{Server: s}).ListLog(ctx, request)
		if status.Code(err) == codes.PermissionDenied || errors.Is(err, arena.ErrNotFound) {
			return nil, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		all = append(all, page.GetEntries()...)
		if request.PageToken = page.GetNextPageToken(); request.PageToken == "" {
			break
		}
	}
	for _, e := range wire.Joined(all) {
		text, _ := wire.LogWords(e)
		line := web.LogLine{Text: text}
		if e.GetTime() != nil {
			line.At = e.GetTime().AsTime()
		}
		lines = append(lines, line)
	}
	return lines, true, nil
}

// onlookers let the pages see what spectators see.
type onlookers struct{ *hub.Hub }

// Running implements web.Watch.
func (o onlookers) Running(tournament int64) []arena.GameID { return o.Games(tournament) }

// Follow implements web.Watch.
func (o onlookers) Follow(id arena.GameID, tell game.Observer) (running web.Running, there bool, err error) {
	g, there := o.Game(id, 0)
	if !there {
		return running, false, nil
	}
	f, err := hub.Follow(g, tell)
	if err != nil {
		return running, false, fmt.Errorf("follow game %v: %w", id, err)
	}
	return web.Running{Info: g.Info, Attempt: g.Attempt, Moves: g.Moves, State: &f.State, Ended: g.Ended}, true, nil
}

// browsing is the server of the pages. How long an answer may take is not bounded here: a live page goes on for as long as
// somebody looks at it, and bounds each write.
func (s *Server) browsing(encrypt *tls.Config) *http.Server {
	return &http.Server{Handler: s.pages, TLSConfig: encrypt, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { // as calls by gRPC say where they come from
			return peer.NewContext(ctx, &peer.Peer{Addr: c.RemoteAddr()})
		},
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(s.log.Handler(), slog.LevelDebug)}
}

// serveBrowsers lets browsers in, until the server is closed.
func (s *Server) serveBrowsers() error {
	var warming sync.WaitGroup
	warming.Go(s.pages.Warm)
	defer warming.Wait()
	if s.pageServer.TLSConfig != nil {
		return s.pageServer.ServeTLS(s.browsers, "", "")
	}
	return s.pageServer.Serve(s.browsers)
}
