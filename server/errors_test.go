package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/flip7-arena/flip7/arena"
)

// details are what an error carries for programs.
type details struct {
	reason string
	fields []string // of violations
	retry  time.Duration
}

func detailsOf(t testing.TB, err error) (d details) {
	t.Helper()
	infos := 0
	for _, detail := range status.Convert(err).Details() {
		switch detail := detail.(type) {
		case *errdetails.ErrorInfo:
			infos++
			d.reason = detail.GetReason()
			if detail.GetDomain() != "flip7.arena" {
				t.Errorf("domain %q of %v, want flip7.arena", detail.GetDomain(), err)
			}
		case *errdetails.BadRequest:
			for _, v := range detail.GetFieldViolations() {
				d.fields = append(d.fields, v.GetField())
			}
		case *errdetails.RetryInfo:
			d.retry = detail.GetRetryDelay().AsDuration()
		default:
			t.Errorf("%T in the details of %v, want only what the proto files promise", detail, err)
		}
	}
	if infos != 1 {
		t.Errorf("%d ErrorInfos in %v, want 1", infos, err)
	}
	return d
}

func TestWhatClientsAreTold(t *testing.T) {
	secret := errors.New("open /srv/arena/arena.db: disk I/O error")
	for _, test := range []struct {
		err    error
		code   codes.Code
		reason string
		field  string
		retry  bool
		logged bool
	}{
		{err: &arena.SettingError{Field: "seats", Wrong: "2 is not 3..18"}, code: codes.InvalidArgument, reason: "INVALID_ARGUMENT", field: "seats"},
		{err: fmt.Errorf("create: %w", &arena.StateError{Wrong: "tournament 3 is finished"}), code: codes.FailedPrecondition, reason: "WRONG_STATE"},
		{err: fmt.Errorf("tournament 3: %w", arena.ErrNotFound), code: codes.NotFound, reason: "NOT_FOUND"},
		{err: missing("bot %q", "odds"), code: codes.NotFound, reason: "NOT_FOUND"},
		{err: arena.ErrStopping, code: codes.Unavailable, reason: "DRAINING", retry: true},
		{err: errDraining, code: codes.Unavailable, reason: "DRAINING", retry: true},
		{err: context.Canceled, code: codes.Canceled, reason: "CANCELLED"},
		{err: context.DeadlineExceeded, code: codes.DeadlineExceeded, reason: "DEADLINE_EXCEEDED"},
		{err: status.Error(codes.Unimplemented, "method X not implemented"), code: codes.Unimplemented, reason: "UNIMPLEMENTED"},
		{err: status.Error(codes.InvalidArgument, "bad"), code: codes.InvalidArgument, reason: "INVALID_ARGUMENT"},
		{err: later(codes.ResourceExhausted, "FULL", time.Minute, "full"), code: codes.ResourceExhausted, reason: "FULL", retry: true},
		{err: fmt.Errorf("keep bot odds: disk I/O error: %w", syscall.ENOSPC), code: codes.ResourceExhausted, reason: "DISK_FULL", logged: true},
		{err: fmt.Errorf("save round 3: %w", secret), code: codes.Internal, reason: "INTERNAL", logged: true},
	} {
		log := new(record)
		f := failures{slog.New(slog.NewTextHandler(log, nil))}
		_, told := f.unary(t.Context(), nil, &grpc.UnaryServerInfo{FullMethod: "/flip7.v1.X/Y"},
			func(context.Context, any) (any, error) { return nil, test.err })
		if got := status.Code(told); got != test.code {
			t.Errorf("%v: code %v, want %v", test.err, got, test.code)
		}
		d := detailsOf(t, told)
		if d.reason != test.reason || (d.retry > 0) != test.retry || strings.Join(d.fields, " ") != test.field {
			t.Errorf("%v: details %+v, want reason %s, field %q, a time to wait: %v", test.err, d, test.reason, test.field, test.retry)
		}
		if strings.Contains(told.Error(), "/srv") {
			t.Errorf("a client is told %q, which is none of its business", told)
		}
		if logged := strings.Contains(log.String(), "disk I/O error"); logged != test.logged {
			t.Errorf("%v: the log has %q, want the error in it: %v", test.err, log, test.logged)
		}
	}
}
