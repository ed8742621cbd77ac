package remote

import (
	"fmt"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// domain is that of all error details of this arena.
const domain = "flip7.arena"

// breather is how long a bot is to stay away that asked for more than there is, or sent too much.
const breather = 10 * time.Second

// textBytes bounds what is said in words.
const textBytes = 512

// end is why a stream ends. Reason UNSPECIFIED: the connection is gone, and nobody is there to be told.
type end struct {
	reason   flip7v1.EndReason
	code     codes.Code
	text     string
	comeBack bool
	retry    time.Duration // 0: as the bot likes
}

// ending is an end for a reason, with the code and the advice that the proto file promises for it.
func ending(reason flip7v1.EndReason, text string) end {
	e := end{reason: reason, text: cut(text, textBytes)}
	switch reason {
	case flip7v1.EndReason_END_REASON_REPLACED:
		e.code = codes.Aborted
	case flip7v1.EndReason_END_REASON_TOKEN_REVOKED:
		e.code = codes.Unauthenticated
	case flip7v1.EndReason_END_REASON_PROTOCOL_TOO_OLD, flip7v1.EndReason_END_REASON_BUILD_CHANGED:
		e.code = codes.FailedPrecondition
	case flip7v1.EndReason_END_REASON_BAD_HELLO:
		e.code = codes.InvalidArgument
	case flip7v1.EndReason_END_REASON_NO_HELLO, flip7v1.EndReason_END_REASON_SILENT:
		e.code, e.comeBack = codes.DeadlineExceeded, true
	case flip7v1.EndReason_END_REASON_SERVER_FULL, flip7v1.EndReason_END_REASON_TOO_MANY_INSTANCES,
		flip7v1.EndReason_END_REASON_FLOOD:
		e.code, e.comeBack, e.retry = codes.ResourceExhausted, true, breather
	case flip7v1.EndReason_END_REASON_DRAINING:
		e.code, e.comeBack, e.retry = codes.Unavailable, true, time.Second
	case flip7v1.EndReason_END_REASON_TOO_SLOW:
		e.code, e.comeBack = codes.ResourceExhausted, true
	case flip7v1.EndReason_END_REASON_GARBAGE:
		e.code, e.comeBack, e.retry = codes.InvalidArgument, true, breather
	case flip7v1.EndReason_END_REASON_CLOSED:
		e.code, e.comeBack = codes.OK, true
	case flip7v1.EndReason_END_REASON_INTERNAL:
		e.code, e.comeBack = codes.Internal, true
	default:
		e.code, e.comeBack = codes.Unavailable, true
	}
	return e
}

func buildChanged(pinned, build string) end {
	return ending(flip7v1.EndReason_END_REASON_BUILD_CHANGED,
		fmt.Sprintf("build %q plays in the running tournament; this is build %q", pinned, build))
}

// goodbye is the last message, or nil if there is nobody to hear it.
func (e end) goodbye() *flip7v1.ArenaMessage {
	if e.reason == flip7v1.EndReason_END_REASON_UNSPECIFIED {
		return nil
	}
	g := &flip7v1.Goodbye{Reason: e.reason, Message: e.text, ComeBack: e.comeBack}
	if e.retry > 0 {
		g.RetryAfter = durationpb.New(e.retry)
	}
	return &flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Goodbye{Goodbye: g}}
}

// status is what the stream ends with: the same as goodbye, as gRPC says it.
func (e end) status() error {
	if e.code == codes.OK {
		return nil
	}
	s := status.New(e.code, e.text)
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: e.name(), Domain: domain}}
	if e.retry > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(e.retry)})
	}
	if detailed, err := s.WithDetails(details...); err == nil {
		s = detailed
	}
	return s.Err()
}

// name is the reason without its prefix.
func (e end) name() string {
	if e.reason == flip7v1.EndReason_END_REASON_UNSPECIFIED {
		return "LOST"
	}
	return strings.TrimPrefix(e.reason.String(), "END_REASON_")
}

// cut is the longest beginning of a text that is valid UTF-8 and has no more than so many bytes.
func cut(text string, bytes int) string {
	if len(text) > bytes {
		text = text[:bytes]
	}
	return strings.ToValidUTF8(text, "")
}
