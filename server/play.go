package server

import (
	"context"

	"google.golang.org/grpc"

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
	if !s.checked {
		s.checked = true
		if _, err := s.recheck(s.Context(), flip7v1.PlayService_Play_FullMethodName); err != nil {
			return nil, err
		}
	}
	return s.BidiStreamingServer.Recv()
}
