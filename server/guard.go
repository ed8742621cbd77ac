package server

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/tap"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	// requestArrives is how long a request may take from its headers to its last byte.
	requestArrives = 10 * time.Second
	// somethingTaken is how long a caller may take nothing of what is streamed to it.
	somethingTaken = 30 * time.Second
	// callEnds bounds a call that has one answer, however many others wait for the same desk.
	callEnds = time.Minute

	// mostCalls bounds the calls at a time, and mostStrangers the streams of health and reflection; a quarter of them may
	// come from one address. Play is bounded by remote, spectators by their seats.
	mostCalls     = 1024
	mostStrangers = 128
)

// errPatience is why a call ends whose caller does not send, or take, anything.
var errPatience = errors.New("the caller sends nothing, or takes nothing")

// patience is the context of a call that can be ended from outside. gRPC itself waits for a caller for as long as it
// answers pings.
type patience struct {
	context.Context
	timer *time.Timer // stands still unless something is waited for
}

type patienceKey struct{}

// Err implements context.Context: gRPC tells a caller no more than that.
func (p *patience) Err() error {
	if context.Cause(p.Context) == errPatience {
		return context.DeadlineExceeded
	}
	return p.Context.Err()
}

// Value implements context.Context.
func (p *patience) Value(key any) any {
	if key == (patienceKey{}) {
		return p
	}
	return p.Context.Value(key)
}

// begin is where gRPC has calls begin. It refuses none: of a call that is refused here gRPC keeps the timer of its deadline,
// which is the caller's to choose.
func begin(ctx context.Context, call *tap.Info) (context.Context, error) {
	if call.FullMethodName == flip7v1.PlayService_Play_FullMethodName {
		return ctx, nil // remote looks after it
	}
	ctx, cancel := context.WithCancelCause(ctx)
	p := &patience{ctx, time.AfterFunc(requestArrives, func() { cancel(errPatience) })}
	context.AfterFunc(ctx, func() { p.timer.Stop() })
	return p, nil
}

// hurry ends the call if what is waited for has not happened within a time.
func hurry(ctx context.Context, within time.Duration) (happened func()) {
	p, is := ctx.Value(patienceKey{}).(*patience)
	if !is {
		return func() {}
	}
	p.timer.Reset(within)
	return func() { p.timer.Stop() }
}

// guard bears with no caller for ever, nor with too many at a time.
type guard struct {
	calls     *crowd // that read a message and answer it
	strangers *crowd // the streams of health and reflection, which are for anyone
}

func newGuard() *guard {
	return &guard{newCrowd(mostCalls, mostCalls/4), newCrowd(mostStrangers, mostStrangers/4)}
}

// enter takes a call in if there is room.
func enter(ctx context.Context, c *crowd) (leave func(), err error) {
	leave, ok := c.enter(addressOf(ctx))
	if !ok {
		return nil, later(codes.ResourceExhausted, "TOO_MANY_CALLS", time.Second, "as many calls are under way as may be, in all or from this address")
	}
	return leave, nil
}

// stream is an interceptor, and has to be the first.
func (g *guard) stream(service any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	in := g.calls
	switch name, _, _ := strings.Cut(strings.TrimPrefix(info.FullMethod, "/"), "/"); name {
	case flip7v1.PlayService_ServiceDesc.ServiceName:
		return handler(service, &reading{ServerStream: stream})
	case flip7v1.WatchService_ServiceDesc.ServiceName:
		return handler(service, &impatient{reading{ServerStream: stream}})
	case grpc_health_v1.Health_ServiceDesc.ServiceName, grpc_reflection_v1.ServerReflection_ServiceDesc.ServiceName:
		in = g.strangers
	}
	leave, err := enter(stream.Context(), in)
	if err != nil {
		return err
	}
	defer leave()
	return handler(service, &impatient{reading{ServerStream: stream}})
}

// reading is a stream that knows bytes that are no message.
type reading struct{ grpc.ServerStream }

// RecvMsg implements grpc.ServerStream.
func (r *reading) RecvMsg(v any) error {
	if err := r.ServerStream.RecvMsg(v); err != nil {
		return err
	}
	return readable(v)
}

// impatient is a stream that ends when the caller sends nothing that is waited for, or takes nothing.
type impatient struct{ reading }

// RecvMsg implements grpc.ServerStream.
func (i *impatient) RecvMsg(v any) error {
	defer hurry(i.Context(), requestArrives)()
	return i.reading.RecvMsg(v)
}

// SendMsg implements grpc.ServerStream.
func (i *impatient) SendMsg(m any) error {
	defer hurry(i.Context(), somethingTaken)()
	return i.reading.SendMsg(m)
}

// guarded registers services with guarded calls. Those with one answer are read in their handlers, where no interceptor
// comes first.
type guarded struct {
	*grpc.Server
	guard *guard
}

// RegisterService implements grpc.ServiceRegistrar.
func (g guarded) RegisterService(d *grpc.ServiceDesc, service any) {
	own := *d
	own.Methods = slices.Clone(d.Methods)
	for i, m := range own.Methods {
		own.Methods[i].Handler = func(service any, ctx context.Context, decode func(any) error, chain grpc.UnaryServerInterceptor) (any, error) {
			leave, err := enter(ctx, g.guard.calls)
			if err != nil {
				return nil, err
			}
			defer leave()
			return m.Handler(service, ctx, func(v any) error {
				defer hurry(ctx, requestArrives)()
				if err := decode(v); err != nil {
					return err
				}
				return readable(v)
			}, chain)
		}
	}
	g.Server.RegisterService(&own, service)
}
