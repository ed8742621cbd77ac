// Package server is how the world reaches an arena: the gRPC services, who may call what, limits, TLS, and the way up and
// down. It puts together what an arena needs and knows; tournaments themselves are in package arena, streams of bots in
// remote, what lasts in store.
//
// A call passes, outside in: metrics, logging, failures (what went wrong becomes what a client may read), draining, auth
// (token to caller), quotas, protovalidate, recovery. The last three leave Play and the services of gRPC itself alone
// where they would harm: a stream of decisions is limited and checked message by message in remote.
package server

import (
	"context"
	"log/slog"
	"runtime/debug"
	"time"

	"buf.build/go/protovalidate"
	middleware "github.com/grpc-ecosystem/go-grpc-middleware/v2"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/auth"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	validation "github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/protovalidate"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/recovery"
	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/selector"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Server is an arena that can be reached.
type Server struct {
	config Config
	log    *slog.Logger
	arena  *arena.Arena
	gate   *gate

	// draining is the context of all calls but those of Play: it ends, with errDraining, when the arena stops, so that
	// handlers need only look at theirs.
	draining context.Context
	drain    context.CancelCauseFunc
}

// maxMessage bounds what anybody may send in one message, and what remote tells bots.
const maxMessage = 64 << 10

// options are the options of the gRPC server; the numbers were found by trying (see the comments).
func (s *Server) options() ([]grpc.ServerOption, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return nil, err
	}
	logger := logging.LoggerFunc(func(ctx context.Context, level logging.Level, message string, fields ...any) {
		s.log.Log(ctx, slog.Level(level), message, fields...)
	})
	// The default events race on a stream on which both sides speak at once.
	events := logging.WithLogOnEvents(logging.FinishCall)
	failures := failures{s.log}
	quotas := newQuotas(s.config.TokenRate, s.config.AddressRate)
	recovered := recovery.WithRecoveryHandlerContext(s.recovered)

	ours := selector.MatchFunc(func(_ context.Context, call interceptors.CallMeta) bool {
		return call.Service != grpc_health_v1.Health_ServiceDesc.ServiceName &&
			call.Service != grpc_reflection_v1.ServerReflection_ServiceDesc.ServiceName
	})
	management := selector.MatchFunc(func(ctx context.Context, call interceptors.CallMeta) bool {
		return ours.Match(ctx, call) && call.Service != flip7v1.PlayService_ServiceDesc.ServiceName
	})
	return []grpc.ServerOption{
		grpc.ChainUnaryInterceptor(
			logging.UnaryServerInterceptor(logger, events),
			failures.unary,
			selector.UnaryServerInterceptor(s.untilDrained, management),
			selector.UnaryServerInterceptor(auth.UnaryServerInterceptor(s.authorize), ours),
			selector.UnaryServerInterceptor(quotas.unary, management),
			selector.UnaryServerInterceptor(validation.UnaryServerInterceptor(validator), management),
			subject,
			recovery.UnaryServerInterceptor(recovered),
		),
		grpc.ChainStreamInterceptor(
			logging.StreamServerInterceptor(logger, events),
			failures.stream,
			selector.StreamServerInterceptor(s.streamUntilDrained, management),
			selector.StreamServerInterceptor(auth.StreamServerInterceptor(s.authorize), ours),
			selector.StreamServerInterceptor(quotas.stream, management),
			selector.StreamServerInterceptor(validation.StreamServerInterceptor(validator), management),
			recovery.StreamServerInterceptor(recovered),
		),
		// A frozen client is gone after 30 s. Kits ping every 20 to 30 s: with gRPC's own MinTime they would be cut off.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.ConnectionTimeout(10 * time.Second),
		grpc.MaxConcurrentStreams(256), // of one connection
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxHeaderListSize(8 << 10),
	}, nil
}

// authorize lets a caller in, or not.
func (s *Server) authorize(ctx context.Context) (context.Context, error) {
	method, _ := grpc.Method(ctx)
	c, err := s.gate.enter(ctx, method)
	if err != nil {
		return nil, err
	}
	return known(ctx, c), nil
}

// recovered is what a caller is told of a panic in its handler. The stack is for the log alone.
func (s *Server) recovered(ctx context.Context, panicked any) error {
	method, _ := grpc.Method(ctx)
	s.log.ErrorContext(ctx, "panic in a handler", "method", method, "panic", panicked, "stack", string(debug.Stack()))
	return failed(codes.Internal, "INTERNAL", "the arena failed; its log says why")
}

// subject puts what a call is about into the fields of its log.
func subject(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	var fields logging.Fields
	add := func(key, value string) {
		if value != "" {
			fields = append(fields, key, value)
		}
	}
	if about, is := req.(interface{ GetTournamentId() string }); is {
		add("tournament", about.GetTournamentId())
	}
	if about, is := req.(interface{ GetGameId() string }); is {
		add("game", about.GetGameId())
	}
	if about, is := req.(interface{ GetRequestId() string }); is {
		add("request", about.GetRequestId())
	}
	logging.AddFields(ctx, fields)
	return handler(ctx, req)
}

// untilDrained lets a call go on until the arena stops.
func (s *Server) untilDrained(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, release := s.drainable(ctx)
	defer release()
	resp, err := handler(ctx, req)
	return resp, drained(ctx, err)
}

func (s *Server) streamUntilDrained(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	ctx, release := s.drainable(stream.Context())
	defer release()
	wrapped := middleware.WrapServerStream(stream)
	wrapped.WrappedContext = ctx
	return drained(ctx, handler(srv, wrapped))
}

// drainable is a ctx that ends when the arena stops, too.
func (s *Server) drainable(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(s.draining, func() { cancel(errDraining) })
	return ctx, func() { stop(); cancel(nil) }
}

// drained is the error of a call that failed because the arena stops, however the handler put that.
func drained(ctx context.Context, err error) error {
	if err != nil && context.Cause(ctx) == errDraining {
		return errDraining
	}
	return err
}
