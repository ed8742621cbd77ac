package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/grpc/status"
)

// callFrom is the context of a call from an address, as a bot with a token or without one.
func callFrom(address, token string) context.Context {
	ctx := peer.NewContext(context.Background(), &peer.Peer{Addr: &net.TCPAddr{IP: net.ParseIP(address), Port: 5}})
	if token == "" {
		return ctx
	}
	return context.WithValue(ctx, callerKey{}, caller{role: botRole, name: token, hash: sha256.Sum256([]byte(token))})
}

// use takes calls until one is refused, and returns how many were taken.
func use(t *testing.T, q *quotas, ctx context.Context, now time.Time) int {
	t.Helper()
	for n := range 10_000 {
		if err := q.take(ctx, now); err != nil {
			if d := detailsOf(t, err); status.Code(err) != codes.ResourceExhausted || d.reason != "RATE_LIMIT" || d.retry <= 0 {
				t.Errorf("refused with %v %+v, want RESOURCE_EXHAUSTED, RATE_LIMIT and a time to wait", err, d)
			}
			return n
		}
	}
	t.Fatal("10,000 calls are taken at once")
	return 0
}

func TestQuotasAreOfTokensAndOnlyElseOfAddresses(t *testing.T) {
	q, now := newQuotas(perSecond(10), perSecond(5)), time.Unix(1e9, 0)
	for _, step := range []struct {
		name  string
		ctx   context.Context
		after time.Duration
		want  int
	}{
		{"a token", callFrom("10.0.0.1", "a"), 0, 40},
		{"another token behind the same address", callFrom("10.0.0.1", "b"), 0, 40},
		{"the first token from another address", callFrom("10.0.0.2", "a"), 0, 0},
		{"no token, from the address of the others", callFrom("10.0.0.1", ""), 0, 20},
		{"no token, the same address", callFrom("10.0.0.1", ""), 0, 0},
		{"no token, another address", callFrom("10.0.0.2", ""), 0, 20},
		{"no token, an IPv6 subscriber", callFrom("2001:db8::1", ""), 0, 20},
		{"no token, the same subscriber by another address", callFrom("2001:db8::2", ""), 0, 0},
		{"the first token a second later", callFrom("10.0.0.1", "a"), time.Second, 10},
	} {
		if got := use(t, q, step.ctx, now.Add(step.after)); got != step.want {
			t.Errorf("%s: %d calls are taken, want %d", step.name, got, step.want)
		}
	}
}

func TestQuotasOfManyAreBounded(t *testing.T) {
	q, now := newQuotas(perSecond(10), perSecond(5)), time.Unix(1e9, 0)
	for i := range maxQuotas {
		q.of(callFrom(fmt.Sprintf("10.1.%d.%d", i/256, i%256), ""), now).AllowN(now, 1)
	}
	if got := use(t, q, callFrom("10.0.0.1", ""), now); got != 20 {
		t.Errorf("with no room the first newcomer gets %d calls, want the 20 that all newcomers share", got)
	}
	if got := use(t, q, callFrom("10.0.0.2", ""), now); got != 0 {
		t.Errorf("with no room the second newcomer gets %d calls, want 0", got)
	}
	if got := use(t, q, callFrom("10.0.0.1", "a"), now); got != 40 {
		t.Errorf("with no room for addresses a token gets %d calls, want all of its 40", got)
	}
	now = now.Add(time.Minute) // everybody has all of the quota again
	if got := use(t, q, callFrom("10.0.0.2", ""), now); got != 20 || len(q.addresses.left) > maxQuotas {
		t.Errorf("a minute later it gets %d calls, with %d remembered; want 20 and at most %d", got, len(q.addresses.left), maxQuotas)
	}
}
