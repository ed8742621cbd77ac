package conformance

import (
	"net"
	"sync"
	"time"
)

// door is a listener that can lose the connections that came through it, and slow them down.
type door struct {
	net.Listener
	arena *arena

	mu    sync.Mutex
	conns []net.Conn
}

func (d *door) Accept() (net.Conn, error) {
	conn, err := d.Listener.Accept()
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conns = append(d.conns, conn)
	return &line{Conn: conn, arena: d.arena}, nil
}

// cut loses all connections as a network does: nothing that was under way arrives.
func (d *door) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, conn := range d.conns {
		if tcp, is := conn.(*net.TCPConn); is {
			_ = tcp.SetLinger(0) // a reset instead of a farewell
		}
		conn.Close()
	}
	d.conns = nil
}

// line is a connection that may be slow.
type line struct {
	net.Conn
	arena *arena
}

// piece is how many bytes travel together on a slow line: less than a frame of HTTP/2, so that whoever takes a piece for
// a message is found out.
const piece = 40

func (l *line) Read(b []byte) (int, error) {
	if !l.crawl() {
		return l.Conn.Read(b)
	}
	return l.Conn.Read(b[:min(len(b), piece)])
}

func (l *line) Write(b []byte) (written int, err error) {
	for len(b) > 0 {
		part := b
		if l.crawl() {
			part = b[:min(len(b), piece)]
		}
		n, err := l.Conn.Write(part)
		written += n
		if err != nil {
			return written, err
		}
		b = b[n:]
	}
	return written, nil
}

// crawl waits as long as a piece takes, and reports whether the line is slow.
func (l *line) crawl() bool {
	rate := l.arena.rate.Load()
	if rate > 0 {
		time.Sleep(time.Second * piece / time.Duration(rate))
	}
	return rate > 0
}
