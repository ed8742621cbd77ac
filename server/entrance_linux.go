package server

import (
	"net"
	"syscall"
	"time"
)

// limitUnacknowledged ends a connection when what was sent on it has not been acknowledged for so long.
func limitUnacknowledged(conn *net.TCPConn, limit time.Duration) {
	const tcpUserTimeout = 0x12 // not in package syscall
	raw, err := conn.SyscallConn()
	if err != nil {
		return // it is closed
	}
	_ = raw.Control(func(fd uintptr) {
		_ = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(limit.Milliseconds())) // else keepalive finds it out, later
	})
}
