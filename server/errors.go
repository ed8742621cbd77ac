package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"buf.build/gen/go/bufbuild/protovalidate/protocolbuffers/go/buf/validate"
	"buf.build/go/protovalidate"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/server/store"
)

// errorDomain is ErrorInfo.domain of all errors of the arena.
const errorDomain = "flip7.arena"

// Handlers return what went wrong as it is, an error of package arena for one, and the failures interceptor makes of it
// what a client is told. What only a service can know, it says with the functions here.

// failed is an error for a client: a code, a reason in UPPER_SNAKE for programs, and a sentence for people.
func failed(code codes.Code, reason, format string, args ...any) error {
	return withDetails(code, reason, fmt.Sprintf(format, args...))
}

// invalid is an argument that cannot be: field in the words of the proto, wrong says what is wrong and what is right.
func invalid(field, wrong string) error {
	return withDetails(codes.InvalidArgument, "INVALID_ARGUMENT", field+": "+wrong, violation(field, wrong))
}

func violation(field, wrong string) *errdetails.BadRequest {
	return &errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: field, Description: discreetly(wrong)}}}
}

// missing is a thing that there is not, such as `bot "odds"`.
func missing(format string, args ...any) error {
	return withDetails(codes.NotFound, "NOT_FOUND", fmt.Sprintf(format, args...)+": there is none")
}

// later is a call that may succeed after some time: a quota is used up, or the arena stops.
func later(code codes.Code, reason string, after time.Duration, format string, args ...any) error {
	return withDetails(code, reason, fmt.Sprintf(format, args...), &errdetails.RetryInfo{RetryDelay: durationpb.New(after)})
}

func withDetails(code codes.Code, reason, message string, details ...protoadapt.MessageV1) error {
	info := &errdetails.ErrorInfo{Reason: reason, Domain: errorDomain}
	st := status.New(code, discreetly(message))
	with, err := st.WithDetails(append([]protoadapt.MessageV1{info}, details...)...)
	if err != nil { // only with code OK, or a detail that cannot be written
		return st.Err()
	}
	return with.Err()
}

// errDraining is the cause with which the contexts of calls end when the arena stops.
var errDraining = errors.New("the arena is about to stop")

// failures makes of every error that leaves the arena what a client may read. What is nobody's fault but ours is logged
// with all that is known, and told as an internal error.
type failures struct{ log *slog.Logger }

func (f failures) unary(ctx context.Context, req any, info *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	if err != nil {
		return nil, f.tell(ctx, info.FullMethod, err)
	}
	return resp, nil
}

func (f failures) stream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, handler grpc.StreamHandler) error {
	if err := handler(srv, stream); err != nil {
		return f.tell(stream.Context(), info.FullMethod, err)
	}
	return nil
}

func (f failures) tell(ctx context.Context, method string, err error) error {
	told, ours := describe(err)
	if ours {
		f.log.ErrorContext(ctx, "call failed", "method", method, "caller", callerOf(ctx).String(), "error", err)
	}
	return told
}

// describe is what a client is told of an error, and whether the error is our own.
func describe(err error) (told error, ours bool) {
	if st, isStatus := status.FromError(err); isStatus {
		return complete(st), false
	}
	if setting, is := errors.AsType[*arena.SettingError](err); is {
		return invalid(setting.Field, setting.Wrong), false
	}
	if state, is := errors.AsType[*arena.StateError](err); is {
		return failed(codes.FailedPrecondition, "WRONG_STATE", "%s", state.Wrong), false
	}
	switch {
	case errors.Is(err, arena.ErrNotFound):
		return failed(codes.NotFound, "NOT_FOUND", "%v", err), false
	case errors.Is(err, store.ErrTaken):
		return failed(codes.AlreadyExists, "NAME_TAKEN", "name: %v, or one that looks like it", err), false
	case errors.Is(err, store.ErrRetired):
		return failed(codes.FailedPrecondition, "RETIRED", "%v", err), false
	case errors.Is(err, errDraining), errors.Is(err, arena.ErrStopping):
		return draining(), false
	case errors.Is(err, context.Canceled):
		return failed(codes.Canceled, "CANCELLED", "the caller has gone"), false
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, errPatience):
		return failed(codes.DeadlineExceeded, "DEADLINE_EXCEEDED", "the deadline is over, or the caller was waited for in vain"), false
	case store.Full(err):
		return failed(codes.ResourceExhausted, "DISK_FULL", "the arena's disk is full; nothing was kept"), true
	}
	return failed(codes.Internal, "INTERNAL", "the arena failed; its log says why"), true
}

// complete adds to the error of a library what all errors of the arena carry.
func complete(st *status.Status) error {
	var bad *errdetails.BadRequest
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			return st.Err()
		case *validate.Violations: // of the protovalidate interceptor
			bad = badRequest(d)
		}
	}
	if bad != nil {
		return withDetails(codes.InvalidArgument, "INVALID_ARGUMENT", sentence(bad), bad)
	}
	return withDetails(st.Code(), upperSnake(st.Code().String()), st.Message())
}

func badRequest(violations *validate.Violations) *errdetails.BadRequest {
	bad := new(errdetails.BadRequest)
	for _, v := range violations.GetViolations() {
		wrong := v.GetMessage()
		if wrong == "must be at least 1 characters" { // as protovalidate words min_len
			wrong = "is empty"
		}
		bad.FieldViolations = append(bad.FieldViolations, &errdetails.BadRequest_FieldViolation{
			Field:       protovalidate.FieldPathString(v.GetField()),
			Description: wrong,
		})
	}
	return bad
}

func sentence(bad *errdetails.BadRequest) string {
	var all []string
	for _, v := range bad.GetFieldViolations() {
		all = append(all, v.GetField()+": "+v.GetDescription())
	}
	return strings.Join(all, "; ")
}

// upperSnake turns InvalidArgument into INVALID_ARGUMENT.
func upperSnake(camel string) string {
	var b strings.Builder
	for i, r := range camel {
		if i > 0 && 'A' <= r && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

// restart is how long a stopped arena is likely to be away: what clients are told to wait.
const restart = 2 * time.Second

// draining is what callers are told while the arena stops.
func draining() error {
	return later(codes.Unavailable, "DRAINING", restart, "%v; come back in a while", errDraining)
}
