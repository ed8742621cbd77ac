package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

const (
	// maxBatchBytes and maxMessages bound what a bot may send at once (PlayRequest).
	maxBatchBytes = 64 << 10
	maxMessages   = 64
	// readTimeout is how long a bot may leave unread what it is sent (Limits.write_timeout).
	readTimeout = 5 * time.Second
	// eventsWaiting is what may have happened and not been looked at yet; then the bot's messages wait on the wire.
	eventsWaiting = 256
)

// arena is where the bot of one script comes: real gRPC, one address, PlayService and nothing else. What happens there is
// told in events; what is said is for the script to say.
type arena struct {
	flip7v1.UnimplementedPlayServiceServer
	token  string
	listen func(addr string) (net.Listener, error)
	claim  net.Listener // of the port; nil: none
	server *grpc.Server
	addr   string
	events chan event
	done   chan struct{} // closed when nobody looks at events any more
	door   *door
	rate   atomic.Int64 // bytes a second; 0: as fast as it goes
}

// event is something that happened on a stream: a message, its end, or neither, when it was opened.
type event struct {
	stream  *stream
	message *flip7v1.BotMessage
	gone    error // why nothing more is heard
	wrong   error // what the bot must not do, whatever the script expects
	at      time.Time
}

// open begins to listen. With secure the bot is spoken to over TLS.
func (a *arena) open(secure credentials.TransportCredentials) error {
	a.events, a.done = make(chan event, eventsWaiting), make(chan struct{})
	options := []grpc.ServerOption{
		grpc.MaxRecvMsgSize(maxBatchBytes),
		grpc.InitialWindowSize(64 << 10), // does not grow: what is not read is felt
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
	}
	if secure != nil {
		options = append(options, grpc.Creds(secure))
	}
	a.server = grpc.NewServer(options...)
	flip7v1.RegisterPlayServiceServer(a.server, a)
	if err := a.back(anywhere); err != nil {
		return err
	}
	if c, is := a.door.Listener.(claimed); is {
		a.claim = c.claim
	}
	return nil
}

// back begins to listen at an address.
func (a *arena) back(addr string) error {
	listener, err := a.listen(addr)
	if err != nil {
		return err
	}
	a.addr = listener.Addr().String()
	a.door = &door{Listener: listener, arena: a}
	go a.server.Serve(a.door) // ends with the door
	return nil
}

func (a *arena) close() {
	close(a.done)
	a.server.Stop()
	if a.claim != nil {
		a.claim.Close()
	}
}

// stream is one call of Play.
type stream struct {
	grpc flip7v1.PlayService_PlayServer
	end  chan error // what it is to end with; has room for one

	// Owned by who follows the script.
	over    bool // ended or lost; what still comes of it means nothing
	greeted bool // a word was heard on it
}

// Play is the handler: it tells what the bot says and ends when the script wants it to.
func (a *arena) Play(g flip7v1.PlayService_PlayServer) error {
	s := &stream{grpc: g, end: make(chan error, 1)}
	if md, _ := metadata.FromIncomingContext(g.Context()); len(md.Get("authorization")) != 1 || md.Get("authorization")[0] != "Bearer "+a.token {
		a.tell(event{stream: s, wrong: fmt.Errorf("a stream with the metadata authorization %q, want \"Bearer \" and what is in FLIP7_TOKEN", md.Get("authorization"))})
		return status.Error(codes.Unauthenticated, "the token is unknown")
	}
	a.tell(event{stream: s})
	go a.read(s)
	select {
	case err := <-s.end:
		return err
	case <-g.Context().Done():
		return g.Context().Err()
	}
}

func (a *arena) tell(e event) {
	e.at = time.Now()
	select {
	case a.events <- e:
	case <-a.done:
	}
}

func (a *arena) read(s *stream) {
	for {
		batch, err := s.grpc.Recv()
		switch {
		case errors.Is(err, io.EOF):
			a.tell(event{stream: s, gone: errors.New("the bot closed its side of the stream")})
			return
		case status.Code(err) == codes.Canceled:
			a.tell(event{stream: s, gone: errors.New("the bot broke off the stream")})
			return
		case err != nil:
			a.tell(event{stream: s, gone: fmt.Errorf("the stream broke: %s", status.Convert(err).Message())})
			return
		}
		if n := len(batch.GetMessages()); n == 0 || n > maxMessages {
			a.tell(event{stream: s, wrong: fmt.Errorf("a batch of %d messages, 1 to %d may travel together", n, maxMessages)})
			return
		}
		for _, m := range batch.GetMessages() {
			a.tell(event{stream: s, message: m})
		}
	}
}

var errUnread = errors.New("the bot left unread what it was sent")

// send says something, all in one batch, and does not wait for ever until there is room for it.
func (s *stream) send(ctx context.Context, messages []*flip7v1.ArenaMessage) error {
	sent := make(chan error, 1)
	go func() { sent <- s.grpc.Send(&flip7v1.PlayResponse{Messages: messages}) }()
	select {
	case <-sent: // that a stream is broken comes as an event
		return nil
	case <-time.After(readTimeout):
		return errUnread
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hangUp ends the stream with what play_service.proto promises for a reason.
func (s *stream) hangUp(reason flip7v1.EndReason, words string, retryAfter time.Duration) {
	s.over = true
	st := status.New(codeOf(reason), words)
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: nameOf(reason), Domain: "flip7.arena"}}
	if retryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(retryAfter)})
	}
	if detailed, err := st.WithDetails(details...); err == nil { // not with the code OK
		st = detailed
	}
	s.end <- st.Err()
}

// codeOf is the status code behind a reason (see EndReason).
func codeOf(reason flip7v1.EndReason) codes.Code {
	switch reason {
	case flip7v1.EndReason_END_REASON_REPLACED:
		return codes.Aborted
	case flip7v1.EndReason_END_REASON_TOKEN_REVOKED:
		return codes.Unauthenticated
	case flip7v1.EndReason_END_REASON_PROTOCOL_TOO_OLD, flip7v1.EndReason_END_REASON_BUILD_CHANGED:
		return codes.FailedPrecondition
	case flip7v1.EndReason_END_REASON_BAD_HELLO, flip7v1.EndReason_END_REASON_GARBAGE:
		return codes.InvalidArgument
	case flip7v1.EndReason_END_REASON_NO_HELLO, flip7v1.EndReason_END_REASON_SILENT:
		return codes.DeadlineExceeded
	case flip7v1.EndReason_END_REASON_SERVER_FULL, flip7v1.EndReason_END_REASON_TOO_MANY_INSTANCES,
		flip7v1.EndReason_END_REASON_TOO_SLOW, flip7v1.EndReason_END_REASON_FLOOD:
		return codes.ResourceExhausted
	case flip7v1.EndReason_END_REASON_CLOSED:
		return codes.OK
	case flip7v1.EndReason_END_REASON_INTERNAL:
		return codes.Internal
	}
	return codes.Unavailable
}
