package server

import (
	"context"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
)

// maxQuotas bounds the tokens, and the addresses, whose quotas are remembered: 10,000 take about a megabyte.
const maxQuotas = 10_000

// quota is how many calls a second may be made over a longer time, and how many at once.
type quota struct {
	rate  rate.Limit
	burst int
}

// perSecond is a quota of so many calls a second, and four times as many at once.
func perSecond(n int) quota { return quota{rate.Limit(n), 4 * n} }

// newcomers is how many owners may register from one address: a whole league at the beginning of its first night, and
// then few.
func newcomers() quota { return quota{rate.Every(time.Minute), 30} }

// quotas limit calls: by token, and by address only those that have none, since a whole league night can sit behind the
// one address of a NAT. The ratelimit interceptor of go-grpc-middleware is not used: it makes text of a limiter's error,
// and so loses the time to wait.
type quotas struct{ tokens, addresses *limiters }

func newQuotas(perToken, perAddress quota) *quotas {
	return &quotas{newLimiters(perToken), newLimiters(perAddress)}
}

func (q *quotas) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	if err := q.take(ctx, time.Now()); err != nil {
		return nil, err
	}
	return handler(ctx, req)
}

func (q *quotas) stream(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := q.take(stream.Context(), time.Now()); err != nil {
		return err
	}
	return handler(srv, stream)
}

// messages has every message count of a stream.
func (q *quotas) messages(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, counted{stream, q})
}

type counted struct {
	grpc.ServerStream
	quotas *quotas
}

// RecvMsg implements grpc.ServerStream.
func (c counted) RecvMsg(m any) error {
	if err := c.quotas.take(c.Context(), time.Now()); err != nil {
		return err
	}
	return c.ServerStream.RecvMsg(m)
}

// take counts a call, or says when to come back.
func (q *quotas) take(ctx context.Context, now time.Time) error {
	reserved := q.of(ctx, now).ReserveN(now, 1)
	wait := reserved.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reserved.CancelAt(now)
	return later(codes.ResourceExhausted, "RATE_LIMIT", wait, "too many calls; the next one is taken in %v", wait.Round(time.Millisecond))
}

func (q *quotas) of(ctx context.Context, now time.Time) *rate.Limiter {
	if callerOf(ctx).role == anyone {
		return q.addresses.of(placeOf(ctx), now)
	}
	return q.tokens.of(placeOf(ctx), now)
}

// limiters are the quotas of many, each of its own.
type limiters struct {
	quota

	mu    sync.Mutex
	left  map[any]*rate.Limiter // by place
	swept time.Time
	rest  *rate.Limiter // shared by those for whom there is no room
}

func newLimiters(q quota) *limiters {
	return &limiters{quota: q, left: map[any]*rate.Limiter{}, rest: rate.NewLimiter(q.rate, q.burst)}
}

func (l *limiters) of(place any, now time.Time) *rate.Limiter {
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.left[place]
	if limiter == nil {
		if len(l.left) >= maxQuotas {
			l.sweep(now)
		}
		if len(l.left) >= maxQuotas {
			return l.rest
		}
		limiter = rate.NewLimiter(l.rate, l.burst)
		l.left[place] = limiter
	}
	return limiter
}

// sweep forgets those who have all of their quota, and so nothing to be remembered for. It looks at all, and so once a
// second at most, however many come. Holds l.mu.
func (l *limiters) sweep(now time.Time) {
	if now.Sub(l.swept) < time.Second {
		return
	}
	l.swept = now
	for place, limiter := range l.left {
		if limiter.TokensAt(now) >= float64(limiter.Burst()) {
			delete(l.left, place)
		}
	}
}

// placeOf is where a call comes from: from whom by its token, or else from which address.
func placeOf(ctx context.Context) any {
	if c := callerOf(ctx); c.role != anyone {
		return c.hash
	}
	return addressOf(ctx)
}

// addressOf is whom a call without a token counts for: an IPv4 address, or the /64 that an IPv6 subscriber has.
func addressOf(ctx context.Context) netip.Prefix {
	p, _ := peer.FromContext(ctx)
	if p == nil {
		return netip.Prefix{}
	}
	return prefixOf(p.Addr)
}

func prefixOf(a net.Addr) netip.Prefix {
	tcp, is := a.(*net.TCPAddr)
	if !is {
		return netip.Prefix{}
	}
	address := tcp.AddrPort().Addr().Unmap()
	bits := 32
	if address.Is6() {
		bits = 64
	}
	prefix, _ := address.Prefix(bits)
	return prefix
}

// sparing is a log that is not to be filled by those who are refused.
type sparing struct {
	limiter *rate.Limiter

	mu      sync.Mutex
	leftOut int // since the last line
}

// refusalLines is how many lines about calls that failed are logged.
func refusalLines() quota { return perSecond(25) }

func newSparing(q quota) *sparing { return &sparing{limiter: rate.NewLimiter(q.rate, q.burst)} }

// line reports whether there is a line to spare, and how many were not since the last one.
func (s *sparing) line(now time.Time) (allowed bool, leftOut int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.limiter.AllowN(now, 1) {
		s.leftOut++
		return false, 0
	}
	leftOut, s.leftOut = s.leftOut, 0
	return true, leftOut
}
