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

// maxQuotas bounds the callers whose quotas are remembered: 10,000 take about a megabyte.
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
type quotas struct {
	perToken, perAddress quota

	mu   sync.Mutex
	left map[any]*rate.Limiter // by hash of the token, or address
	rest *rate.Limiter         // shared by the callers for whom there is no room
}

func newQuotas(perToken, perAddress quota) *quotas {
	return &quotas{
		perToken:   perToken,
		perAddress: perAddress,
		left:       map[any]*rate.Limiter{},
		rest:       rate.NewLimiter(perAddress.rate, perAddress.burst),
	}
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
	var key any
	limit := q.perToken
	if c := callerOf(ctx); c.role != anyone {
		key = c.hash
	} else {
		key, limit = addressOf(ctx), q.perAddress
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	limiter := q.left[key]
	if limiter == nil {
		if len(q.left) >= maxQuotas {
			q.sweep(now)
		}
		if len(q.left) >= maxQuotas {
			return q.rest
		}
		limiter = rate.NewLimiter(limit.rate, limit.burst)
		q.left[key] = limiter
	}
	return limiter
}

// sweep forgets those who have all of their quota, and so nothing to be remembered for. Holds q.mu.
func (q *quotas) sweep(now time.Time) {
	for key, limiter := range q.left {
		if limiter.TokensAt(now) >= float64(limiter.Burst()) {
			delete(q.left, key)
		}
	}
}

// addressOf is whom a call without a token counts for: an IPv4 address, or the /64 that an IPv6 subscriber has.
func addressOf(ctx context.Context) netip.Prefix {
	p, _ := peer.FromContext(ctx)
	if p == nil {
		return netip.Prefix{}
	}
	tcp, is := p.Addr.(*net.TCPAddr)
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
