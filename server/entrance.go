package server

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/peer"
	"google.golang.org/protobuf/proto"
)

const (
	// spareConnections are those beside the ones that bots and spectators need who come one by one.
	spareConnections = 512
	// metricsConnections are those to /metrics and /healthz: a monitor has one, a browser six.
	metricsConnections = 64
	// browserConnections are those to the pages: all live pages may come by one address, which is that of a proxy.
	browserConnections = 12_000
	// idleConnection is how long a connection may be without a call.
	idleConnection = 5 * time.Minute

	keepaliveTime    = 20 * time.Second // of silence, after which a connection is tried
	keepaliveTimeout = 10 * time.Second // for the answer
)

// entrance is a listener that lets so many connections in, from one address half of them at most. Others are closed at
// once: a bot that is one too many comes again after a while.
type entrance struct {
	net.Listener // set when it is there
	crowd        *crowd
	refused      prometheus.Counter

	mu          sync.Mutex
	connections map[string]*connection // by remote address; only those by TCP, which have one each
	owed        int                    // of all of them
}

func newEntrance(most int, refused prometheus.Counter) *entrance {
	return &entrance{crowd: newCrowd(most, max(most/2, 1)), refused: refused, connections: map[string]*connection{}}
}

// connection is one that was let in. Its debt is guarded by the entrance's mutex.
type connection struct {
	net.Conn
	leave func() // once
	owed  int    // bytes of answers that the caller has not taken yet
	since time.Time
}

// Accept implements net.Listener.
func (e *entrance) Accept() (net.Conn, error) {
	for {
		conn, err := e.Listener.Accept()
		if err != nil {
			return nil, err
		}
		out, ok := e.crowd.enter(prefixOf(conn.RemoteAddr()))
		if !ok {
			e.refused.Inc()
			conn.Close()
			continue
		}
		c := &connection{Conn: conn}
		c.leave = sync.OnceFunc(func() { out(); e.forget(c) })
		if tcp, is := conn.(*net.TCPConn); is {
			limitUnacknowledged(tcp, keepaliveTimeout) // gRPC does not see that there is TCP in it
			e.mu.Lock()
			e.connections[tcp.RemoteAddr().String()] = c
			e.mu.Unlock()
		}
		return c, nil
	}
}

// Close implements net.Conn.
func (c *connection) Close() error {
	defer c.leave()
	return c.Conn.Close()
}

func (e *entrance) forget(c *connection) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if address := c.RemoteAddr().String(); e.connections[address] == c {
		delete(e.connections, address)
	}
	e.owed -= c.owed
	c.owed = 0
}

// An answer waits in the arena until the caller takes it, which gRPC leaves to the caller: the handler has long returned.
const (
	smallAnswer   = 4 << 10  // up to which none of this is worth while
	mostOwed      = 1 << 20  // to one connection, unless it is a single answer
	mostOwedToAll = 64 << 20 // but for callers with a token
	overdue       = 30 * time.Second
)

// answer is an answer that somebody waits to see taken.
type answer struct {
	proto.Message
	taken func() // or given up
}

// unary has answers counted until they are taken, and refuses to give more to whoever takes none.
func (e *entrance) unary(ctx context.Context, req any, _ *grpc.UnaryServerInfo, handler grpc.UnaryHandler) (any, error) {
	resp, err := handler(ctx, req)
	m, is := resp.(proto.Message)
	if err != nil || !is {
		return resp, err
	}
	size := proto.Size(m)
	if size <= smallAnswer {
		return resp, nil
	}
	taken, ok := e.owe(ctx, size, time.Now())
	if !ok {
		return nil, later(codes.ResourceExhausted, "ANSWERS_NOT_TAKEN", overdue, "too many answers wait to be taken")
	}
	return &answer{m, taken}, nil
}

// owe notes that an answer of so many bytes is on its way, if it may be.
func (e *entrance) owe(ctx context.Context, size int, now time.Time) (taken func(), ok bool) {
	p, _ := peer.FromContext(ctx)
	if p == nil {
		return func() {}, true
	}
	address := p.Addr.String()
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.connections[address]
	if c == nil {
		return func() {}, true
	}
	if c.owed > 0 && c.owed+size > mostOwed {
		return nil, false
	}
	if e.owed+size > mostOwedToAll {
		e.dun(now)
		if callerOf(ctx).role == anyone {
			return nil, false
		}
	}
	if c.owed == 0 {
		c.since = now
	}
	c.owed += size
	e.owed += size
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.connections[address] == c {
			c.owed -= size
			e.owed -= size
		}
	}, true
}

// dun ends the connections that have not been clear of answers for long. Holds e.mu.
func (e *entrance) dun(now time.Time) {
	for _, c := range e.connections {
		if c.owed > 0 && now.Sub(c.since) > overdue {
			c.Conn.Close() // who reads there finds it out, and closes the connection
		}
	}
}
