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
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection/grpc_reflection_v1"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// maxMessage bounds what anybody may send in one message, and what remote tells bots.
const maxMessage = 64 << 10

// grpc is a gRPC server without services yet. Encrypt is nil for clear text.
func (s *Server) grpc(encrypt credentials.TransportCredentials) (*grpc.Server, error) {
	validator, err := protovalidate.New()
	if err != nil {
		return nil, err
	}
	refusals := newSparing(refusalLines())
	logger := logging.LoggerFunc(func(ctx context.Context, level logging.Level, message string, fields ...any) {
		if level > logging.LevelDebug && level < logging.LevelError {
			allowed, leftOut := refusals.line(time.Now())
			if !allowed {
				return
			}
			if leftOut > 0 {
				fields = append(fields, "left_out", leftOut)
			}
		}
		s.log.Log(ctx, slog.Level(level), message, fields...)
	})
	// The default events race on a stream on which both sides speak at once.
	events, levels := logging.WithLogOnEvents(logging.FinishCall), logging.WithLevels(levelOf)
	failures := failures{s.log}
	quotas := newQuotas(perSecond(s.config.TokenRate), perSecond(s.config.AddressRate))
	recovered := recovery.WithRecoveryHandlerContext(s.recovered)

	ours := selector.MatchFunc(func(_ context.Context, call interceptors.CallMeta) bool {
		return call.Service != grpc_health_v1.Health_ServiceDesc.ServiceName &&
			call.Service != grpc_reflection_v1.ServerReflection_ServiceDesc.ServiceName
	})
	reflected := selector.MatchFunc(func(_ context.Context, call interceptors.CallMeta) bool {
		return call.Service == grpc_reflection_v1.ServerReflection_ServiceDesc.ServiceName
	})
	management := selector.MatchFunc(func(ctx context.Context, call interceptors.CallMeta) bool {
		return ours.Match(ctx, call) && call.Service != flip7v1.PlayService_ServiceDesc.ServiceName
	})
	if encrypt == nil {
		encrypt = insecure.NewCredentials()
	}
	return grpc.NewServer(
		grpc.Creds(encrypt),
		grpc.ChainUnaryInterceptor(
			s.metrics.calls.UnaryServerInterceptor(),
			logging.UnaryServerInterceptor(logger, events, levels),
			failures.unary,
			selector.UnaryServerInterceptor(s.untilDrained, management),
			selector.UnaryServerInterceptor(auth.UnaryServerInterceptor(s.authorize), ours),
			selector.UnaryServerInterceptor(quotas.unary, management),
			s.entrance.unary,
			selector.UnaryServerInterceptor(validation.UnaryServerInterceptor(validator), management),
			subject,
			recovery.UnaryServerInterceptor(recovered),
		),
		grpc.ChainStreamInterceptor(
			s.guard.stream,
			selector.StreamServerInterceptor(s.metrics.calls.StreamServerInterceptor(), management),
			logging.StreamServerInterceptor(logger, events, levels),
			failures.stream,
			selector.StreamServerInterceptor(s.streamUntilDrained, management),
			selector.StreamServerInterceptor(auth.StreamServerInterceptor(s.authorize), ours),
			selector.StreamServerInterceptor(quotas.stream, management),
			selector.StreamServerInterceptor(quotas.messages, reflected),
			selector.StreamServerInterceptor(validation.StreamServerInterceptor(validator), management),
			selector.StreamServerInterceptor(streamSubject, management),
			recovery.StreamServerInterceptor(recovered),
		),
		// A frozen client is gone after 30 s. Kits ping every 20 to 30 s: with gRPC's own MinTime they would be cut off.
		grpc.KeepaliveParams(keepalive.ServerParameters{Time: keepaliveTime, Timeout: keepaliveTimeout, MaxConnectionIdle: idleConnection}),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.ConnectionTimeout(10*time.Second),
		grpc.InTapHandle(begin),
		grpc.ForceServerCodecV2(newCodec()),
		grpc.MaxConcurrentStreams(256), // of one connection
		grpc.MaxRecvMsgSize(maxMessage),
		grpc.MaxHeaderListSize(8<<10),
		grpc.WaitForHandlers(true), // what they use is closed after them
	), nil
}

// authorize lets a caller in, or not.
func (s *Server) authorize(ctx context.Context) (context.Context, error) {
	method, _ := grpc.Method(ctx)
	c, err := s.gate.enter(ctx, method)
	if err != nil {
		// Who knows no token may guess, but not as fast as it likes.
		if limited := s.refused.take(ctx, time.Now()); limited != nil {
			return nil, limited
		}
		return nil, err
	}
	return known(ctx, c), nil
}

// recovered is what a caller is told of a panic in its handler. The stack is for the log alone.
func (s *Server) recovered(ctx context.Context, panicked any) error {
	method, _ := grpc.Method(ctx)
	s.metrics.panics.Inc()
	s.log.ErrorContext(ctx, "panic in a handler", "method", method, "panic", panicked, "stack", string(debug.Stack()))
	return failed(codes.Internal, "INTERNAL", "the arena failed; its log says why")
}

// levelOf is how much a call that ended so deserves to be read: what went well is for whoever looks for something.
func levelOf(code codes.Code) logging.Level {
	if code == codes.OK {
		return logging.LevelDebug
	}
	return logging.DefaultServerCodeToLevel(code)
}

// subject puts what a call is about into the fields of its log.
func subject(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	addSubject(ctx, req)
	return handler(ctx, req)
}

func streamSubject(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	return handler(srv, &subjectStream{stream})
}

// subjectStream is a stream with one request, which says what it is about.
type subjectStream struct{ grpc.ServerStream }

// RecvMsg implements grpc.ServerStream.
func (s *subjectStream) RecvMsg(req any) error {
	err := s.ServerStream.RecvMsg(req)
	if err == nil {
		addSubject(s.Context(), req)
	}
	return err
}

func addSubject(ctx context.Context, req any) {
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
}

// untilDrained lets a call go on until the arena stops, and no longer than a call may take.
func (s *Server) untilDrained(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, callEnds)
	defer cancel()
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
