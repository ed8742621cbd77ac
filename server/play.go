package server

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
)

// playService is where bots come in. Who they are, auth has found out; all else is remote's.
type playService struct {
	flip7v1.UnimplementedPlayServiceServer
	bots    *remote.Bots
	recheck func(ctx context.Context, method string) (caller, error)
}

func (s *playService) Play(stream grpc.BidiStreamingServer[flip7v1.PlayRequest, flip7v1.PlayResponse]) error {
	return s.bots.Serve(callerOf(stream.Context()).name, &rechecked{BidiStreamingServer: stream, recheck: s.recheck})
}

// rechecked is a stream whose token is looked at once more before the first message. A token that is revoked while its
// stream opens would otherwise slip through: known to auth as it was good, and not yet among the streams that are ended.
type rechecked struct {
	grpc.BidiStreamingServer[flip7v1.PlayRequest, flip7v1.PlayResponse]
	recheck func(ctx context.Context, method string) (caller, error)
	checked bool // only the goroutine that receives looks at it
}

func (s *rechecked) Recv() (*flip7v1.PlayRequest, error) {
	if s.checked {
		return s.BidiStreamingServer.Recv()
	}
	s.checked = true
	if _, err := s.recheck(s.Context(), flip7v1.PlayService_Play_FullMethodName); err != nil {
		return nil, err
	}
	batch, err := s.BidiStreamingServer.Recv()
	if err != nil {
		return nil, err
	}
	return batch, checkPublic(batch)
}

// checkPublic refuses a Hello with a token where everybody could read it.
func checkPublic(batch *flip7v1.PlayRequest) error {
	for _, m := range batch.GetMessages() {
		h := m.GetHello()
		for _, f := range []struct{ name, text string }{
			{"build", h.GetBuild()}, {"kit_name", h.GetKitName()}, {"kit_version", h.GetKitVersion()},
		} {
			if discreetly(f.text) != f.text {
				return failed(codes.InvalidArgument, "TOKEN_MISPLACED", "%s: looks like a token, and is for everybody to read", f.name)
			}
		}
	}
	return nil
}
