package server

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// The kinds of HTTP/2 frames, and flags of theirs (RFC 9113, section 6).
const (
	frameData         = 0
	frameHeaders      = 1
	frameReset        = 3
	frameSettings     = 4
	framePing         = 6
	frameGoAway       = 7
	frameWindow       = 8
	frameContinuation = 9

	flagEnd        = 1 // of a stream, or this is the answer to a ping
	flagEndHeaders = 4
)

// noWindow are settings of a client that takes nothing of a stream: the initial window is 0 bytes.
var noWindow = []uint32{4, 0}

// raw is a connection on which HTTP/2 is spoken frame by frame, as no client library would.
type raw struct {
	net.Conn
	t    testing.TB
	last uint32 // the newest stream
}

// frame is one that came.
type frame struct {
	kind, flags byte
	stream      uint32
	payload     []byte
}

// speak begins HTTP/2 on a connection, with settings as number and value.
func speak(t testing.TB, conn net.Conn, settings ...uint32) *raw {
	t.Cleanup(func() { conn.Close() })
	r := &raw{Conn: conn, t: t}
	var payload []byte
	for i := 0; i < len(settings); i += 2 {
		payload = binary.BigEndian.AppendUint16(payload, uint16(settings[i]))
		payload = binary.BigEndian.AppendUint32(payload, settings[i+1])
	}
	r.write(append([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), framed(frameSettings, 0, 0, payload)...))
	return r
}

// framed is a frame as it is sent.
func framed(kind, flags byte, stream uint32, payload []byte) []byte {
	head := []byte{byte(len(payload) >> 16), byte(len(payload) >> 8), byte(len(payload)), kind, flags}
	return append(binary.BigEndian.AppendUint32(head, stream), payload...)
}

// write sends bytes. Whether the arena still listens is for whoever reads to find out.
func (r *raw) write(b []byte) { _, _ = r.Conn.Write(b) }

func (r *raw) send(kind, flags byte, stream uint32, payload []byte) {
	r.write(framed(kind, flags, stream, payload))
}

// field is a header field as HPACK has it, without compression.
func field(name, value string) []byte {
	b := []byte{0}
	for _, s := range []string{name, value} {
		if n := len(s); n < 127 {
			b = append(b, byte(n))
		} else {
			b = binary.AppendUvarint(append(b, 127), uint64(n-127))
		}
		b = append(b, s...)
	}
	return b
}

// call is the headers of a call; more are names and values.
func call(method, token string, more ...string) (block []byte) {
	fields := []string{":method", "POST", ":scheme", "http", ":path", method, ":authority", "arena", "content-type", "application/grpc", "te", "trailers"}
	if token != "" {
		fields = append(fields, "authorization", "Bearer "+token)
	}
	fields = append(fields, more...)
	for i := 0; i < len(fields); i += 2 {
		block = append(block, field(fields[i], fields[i+1])...)
	}
	return block
}

// open opens a stream for a call, and is its number.
func (r *raw) open(method, token string) uint32 {
	r.last = max(r.last+2, 1) | 1
	r.send(frameHeaders, flagEndHeaders, r.last, call(method, token))
	return r.last
}

// message is a message as gRPC has it on a stream.
func message(t testing.TB, m proto.Message) []byte {
	t.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(b))), b...)
}

// next is the next frame that comes within a minute.
func (r *raw) next() (f frame, err error) {
	if err := r.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		return f, err
	}
	var head [9]byte
	if _, err := io.ReadFull(r.Conn, head[:]); err != nil {
		return f, err
	}
	f = frame{kind: head[3], flags: head[4], stream: binary.BigEndian.Uint32(head[5:]), payload: make([]byte, int(head[0])<<16|int(head[1])<<8|int(head[2]))}
	_, err = io.ReadFull(r.Conn, f.payload)
	return f, err
}

// until reads to the first frame of a kind, and answers pings meanwhile as a polite client would.
func (r *raw) until(kind byte) (frame, error) {
	for {
		f, err := r.next()
		if err != nil || f.kind == kind {
			return f, err
		}
		if f.kind == framePing && f.flags&flagEnd == 0 {
			r.send(framePing, flagEnd, 0, f.payload)
		}
	}
}

// cling keeps a stream of a bot alive until the connection is gone: it answers the pings of the connection, and says
// something every ten seconds though it has taken nothing of what it was asked.
func (r *raw) cling(stream uint32) {
	alive := message(r.t, &flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{{Message: &flip7v1.BotMessage_Pong{Pong: &flip7v1.Pong{Number: 1}}}}})
	done := make(chan struct{})
	says := time.NewTicker(10 * time.Second)
	go func() {
		for {
			select {
			case <-says.C:
				r.send(frameData, 0, stream, alive)
			case <-done:
				return
			}
		}
	}()
	go func() {
		defer close(done)
		defer says.Stop()
		for {
			f, err := r.next()
			if err != nil {
				return
			}
			if f.kind == framePing && f.flags&flagEnd == 0 {
				r.send(framePing, flagEnd, 0, f.payload)
			}
		}
	}()
	r.t.Cleanup(func() { r.Close(); <-done })
}

// gone reads until the arena has closed the connection.
func (r *raw) gone(why string) {
	r.t.Helper()
	for {
		if _, err := r.next(); err == nil {
			continue
		} else if ne, is := errors.AsType[net.Error](err); is && ne.Timeout() {
			r.t.Errorf("%s: the connection stays", why)
		}
		return
	}
}
