package flip7

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

// keepaliveEvery is how often the connection is tried while nothing else travels. Arenas refuse more than one ping in
// 10 s; proxies give up on a connection that was idle for 60 s.
const keepaliveEvery = 25 * time.Second

// usualAddr is where `flip7 serve` listens if it is not told otherwise.
const usualAddr = "127.0.0.1:7777"

// arena is where a bot plays and how it gets there.
type arena struct {
	host string      // as the author wrote it, for messages
	addr string      // host:port
	tls  *tls.Config // nil: clear text
	dial func(context.Context, string) (net.Conn, error)

	// untrusted is the last error of a TLS handshake, which grpc tells as text only.
	untrusted *atomic.Pointer[error]
}

// arenaOf reads where to play from a bot and, for what it leaves out, the environment.
func arenaOf(bot Bot) (arena, error) {
	written := cmp.Or(bot.Addr, strings.TrimSpace(os.Getenv("FLIP7_ADDR")), usualAddr)
	a := arena{host: written, dial: bot.Dial, untrusted: new(atomic.Pointer[error])}
	scheme, rest, found := strings.Cut(written, "://")
	if !found {
		scheme, rest = "", written
	}
	a.addr = strings.TrimSuffix(rest, "/")
	if scheme == "https" && !hasPort(a.addr) {
		a.addr = net.JoinHostPort(strings.Trim(a.addr, "[]"), "443")
	}
	host, port, err := net.SplitHostPort(a.addr)
	if err != nil || host == "" || port == "" || strings.ContainsAny(a.addr, "/?#@ ") {
		return a, wrongUse("FLIP7_ADDR %q is not host:port, http://host:port or https://host[:port]", written)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return a, wrongUse("FLIP7_ADDR %q has port %s, want 1 to 65535", written, port)
	}
	ca := os.Getenv("FLIP7_CA")
	switch {
	case bot.TLS != nil:
		a.tls = bot.TLS.Clone()
	case scheme == "http" && ca != "":
		return a, wrongUse("FLIP7_ADDR %q asks for clear text but FLIP7_CA is set: write https://, or unset FLIP7_CA", written)
	case ca != "":
		if a.tls, err = trusting(ca); err != nil {
			return a, err
		}
	case scheme == "https", scheme == "" && !loopback(host):
		a.tls = new(tls.Config)
	case scheme != "" && scheme != "http":
		return a, wrongUse("FLIP7_ADDR %q begins with %s://, want http://, https:// or neither", written, scheme)
	}
	if a.tls != nil && a.tls.ServerName == "" {
		a.tls.ServerName = host
	}
	return a, nil
}

// trusting is the TLS configuration that trusts what a PEM file holds and nothing else.
func trusting(file string) (*tls.Config, error) {
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, wrongUse("FLIP7_CA cannot be read: %v", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, wrongUse("FLIP7_CA %s holds no certificate in PEM", file)
	}
	return &tls.Config{RootCAs: roots}, nil
}

func hasPort(addr string) bool {
	_, _, err := net.SplitHostPort(addr)
	return err == nil
}

// loopback reports whether an address cannot leave this machine.
func loopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// connect readies a connection; it is made when the first stream is opened. A fresh one for each stream: after silence
// the old one may be dead without knowing.
func (a arena) connect() (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if a.tls != nil {
		creds = &watchedTLS{credentials.NewTLS(a.tls), a.untrusted}
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(creds),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: keepaliveEvery, Timeout: 10 * time.Second}),
		// One try a connection: when to try again is decided where the reason is known.
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.DefaultConfig, MinConnectTimeout: 10 * time.Second}),
		grpc.WithUserAgent("flip7-" + kitName + "/" + kitVersion),
		grpc.WithDisableRetry(),
		grpc.WithDisableServiceConfig(),
	}
	target := "dns:///" + a.addr
	if a.dial != nil {
		options = append(options, grpc.WithContextDialer(a.dial))
		target = "passthrough:///" + a.addr // the dialer knows what the address means
	}
	a.untrusted.Store(nil)
	return grpc.NewClient(target, options...)
}

// watchedTLS keeps the error of a handshake.
type watchedTLS struct {
	credentials.TransportCredentials
	failed *atomic.Pointer[error]
}

func (w *watchedTLS) ClientHandshake(ctx context.Context, authority string, conn net.Conn) (net.Conn, credentials.AuthInfo, error) {
	secure, info, err := w.TransportCredentials.ClientHandshake(ctx, authority, conn)
	if err != nil {
		w.failed.Store(&err)
	}
	return secure, info, err
}

func (w *watchedTLS) Clone() credentials.TransportCredentials {
	return &watchedTLS{w.TransportCredentials.Clone(), w.failed}
}

// misfit says in words why a stream failed, if it is because one side speaks TLS or HTTP/2 and the other does not, or for
// want of trust; else it is empty. Trying again mends that only if something at the arena changes, unless it is passing.
func (a arena) misfit(err error) (words string, passing bool) {
	switch text := err.Error(); {
	case strings.Contains(text, "http2: frame too large"), strings.Contains(text, "is not a settings frame"):
		if strings.Contains(text, "looked like an HTTP/1.1 header") {
			return notForBots(a.host, forBrowsers), false
		}
		return notForBots(a.host, "in a way that no arena does"), false
	case a.tls == nil && strings.Contains(text, "error reading server preface"):
		// It may be that of an arena which stops at this moment.
		return a.host + " closes connections in clear text; if it speaks TLS, write https:// before the address or set FLIP7_CA", true
	}
	last := a.untrusted.Load()
	if last == nil {
		return "", false
	}
	if bad, ok := errors.AsType[x509.HostnameError](*last); ok {
		return fmt.Sprintf("the certificate of %s is not trusted: it is for another name; write that in FLIP7_ADDR (%v)", a.host, bad), false
	}
	if bad, ok := errors.AsType[*tls.CertificateVerificationError](*last); ok {
		return fmt.Sprintf("the certificate of %s is not trusted: %v; FLIP7_CA names the PEM file to trust", a.host, bad.Err), false
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](*last); ok {
		return a.host + " does not speak TLS; if the way there is safe, write http:// before the address", false
	}
	if text := (*last).Error(); strings.Contains(text, "ALPN") || strings.Contains(text, "no application protocol") {
		return notForBots(a.host, forBrowsers), false // a server for HTTP/1 alone
	}
	return "", false
}

const forBrowsers = "browsers, not bots"

// notForBots says that something answers which is not where bots come in: an arena's pages, as a rule, or its metrics.
func notForBots(host, whom string) string {
	return host + " answers " + whom + ": the arena's port for bots is another one (often 7777)"
}
