package flip7_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// selfSigned is a certificate for this machine and the file that makes a client trust it.
func selfSigned(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "arena.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

// firstLine is a log that ends what is going on when something is logged, or something with a text in it: the bot would
// try for ever.
type firstLine struct {
	cancel context.CancelFunc
	with   string
	text   string
}

func (l *firstLine) Write(line []byte) (int, error) {
	l.text += string(line)
	if strings.Contains(string(line), l.with) {
		l.cancel()
	}
	return len(line), nil
}

// fullHouse is an arena that welcomes nobody and says so for good: whoever hears it has reached it.
type fullHouse struct {
	flip7v1.UnimplementedPlayServiceServer
}

func (fullHouse) Play(stream flip7v1.PlayService_PlayServer) error {
	return stream.Send(&flip7v1.PlayResponse{Messages: []*flip7v1.ArenaMessage{goodbye("REPLACED", "reached")}})
}

// serve starts an arena on a free port of this machine.
func serve(t testing.TB, arena flip7v1.PlayServiceServer, options ...grpc.ServerOption) (addr string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(options...)
	flip7v1.RegisterPlayServiceServer(server, arena)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func TestTLS(t *testing.T) {
	certificate, ca := selfSigned(t)
	_, otherCA := selfSigned(t)
	secure := serve(t, fullHouse{}, grpc.Creds(credentials.NewServerTLSFromCert(&certificate)))
	clear := serve(t, fullHouse{})
	for _, test := range []struct {
		name, addr, ca string
		want           string // in the error of Play or the first line of the log
	}{
		{"this machine without FLIP7_CA: clear text", clear, "", "reached"},
		{"http://: clear text", "http://" + clear, "", "reached"},
		{"FLIP7_CA: TLS, this machine too", secure, ca, "reached"},
		{"https:// and FLIP7_CA", "https://" + secure, ca, "reached"},
		{"https:// and the certificates of the system", "https://" + secure, "", "the certificate of https://" + secure + " is not trusted: x509: "},
		{"another machine: TLS", "arena.test:1", otherCA, "the certificate of arena.test:1 is not trusted: "},
		{"a name that the certificate is not for", "arena.test:1", ca,
			"the certificate of arena.test:1 is not trusted: it is for another name; write that in FLIP7_ADDR (x509: certificate is "},
		{"FLIP7_CA of another arena", secure, otherCA, "is not trusted: x509: "},
		{"TLS where there is none", "https://" + clear, "", "does not speak TLS"},
		{"clear text where TLS is spoken", secure, "", "closes connections in clear text"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("FLIP7_CA", test.ca)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			log := &firstLine{cancel: cancel}
			bot := flip7.Bot{
				Decide: stay, Addr: test.addr, Token: "x", Log: slog.New(slog.NewTextHandler(log, nil)),
			}
			if test.addr == "arena.test:1" {
				bot.Dial = func(ctx context.Context, _ string) (net.Conn, error) {
					return new(net.Dialer).DialContext(ctx, "tcp", secure)
				}
			}
			err := flip7.Play(ctx, bot)
			if got := err.Error() + log.text; !strings.Contains(got, test.want) {
				t.Errorf("got %s, want %q in it", got, test.want)
			}
		})
	}
}

// TestWhatAnswersIsNoArena: the likeliest slip is the port of the arena's pages, or of its metrics.
func TestWhatAnswersIsNoArena(t *testing.T) {
	t.Setenv("FLIP7_CA", "")
	const want = " answers browsers, not bots: the arena's port for bots is another one (often 7777)"
	pages := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "this is\nno place for bots", http.StatusMethodNotAllowed)
	})
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	for _, test := range []struct {
		name      string
		protocols *http.Protocols
		tls       bool
	}{
		{"pages", both, false},
		{"metrics, in HTTP/1 alone", nil, false},
		{"HTTP/1 alone by TLS", nil, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(pages)
			server.Config.Protocols = test.protocols
			server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
			bot := flip7.Bot{Decide: stay, Token: "x", Log: slog.New(slog.DiscardHandler)}
			if test.tls {
				server.StartTLS()
				bot.TLS = server.Client().Transport.(*http.Transport).TLSClientConfig
			} else {
				server.Start()
			}
			defer server.Close()
			bot.Addr = server.Listener.Addr().String()
			err := flip7.Play(t.Context(), bot)
			if err == nil || err.Error() != bot.Addr+want {
				t.Errorf("got %v, want %s%s", err, bot.Addr, want)
			}
		})
	}
}

// moved is an arena that welcomes a bot and ends the stream.
type moved struct {
	flip7v1.UnimplementedPlayServiceServer
}

func (moved) Play(stream flip7v1.PlayService_PlayServer) error {
	return stream.Send(&flip7v1.PlayResponse{Messages: []*flip7v1.ArenaMessage{
		{Message: &flip7v1.ArenaMessage_Welcome{Welcome: &flip7v1.Welcome{Protocol: 1, Bot: "tester"}}},
	}})
}

func TestWhatAnswersIsNoArenaForNow(t *testing.T) {
	t.Setenv("FLIP7_CA", "")
	for _, test := range []struct {
		name   string
		first  string // where the first connection leads; empty: where the others do
		status int
		want   string
	}{
		{"a proxy whose arena is away", "", http.StatusServiceUnavailable, "503"},
		{"an arena that has welcomed the bot before", serve(t, moved{}), http.StatusMethodNotAllowed, "answers browsers, not bots"},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(test.status) }))
			server.Config.Protocols = new(http.Protocols)
			server.Config.Protocols.SetUnencryptedHTTP2(true)
			server.Start()
			defer server.Close()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			log := &firstLine{cancel: cancel, with: test.want}
			next := test.first
			err := flip7.Play(ctx, flip7.Bot{
				Decide: stay, Addr: "http://arena.test:1", Token: "x", Log: slog.New(slog.NewTextHandler(log, nil)),
				Dial: func(ctx context.Context, _ string) (net.Conn, error) {
					addr := cmp.Or(next, server.Listener.Addr().String())
					next = ""
					return new(net.Dialer).DialContext(ctx, "tcp", addr)
				},
			})
			if !errors.Is(err, context.Canceled) || !strings.Contains(log.text, "; trying again") {
				t.Errorf("the bot ended with %v, want that it tries again:\n%s", err, log.text)
			}
		})
	}
}

func TestANameThatNobodyHas(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	log := &firstLine{cancel: cancel}
	const addr = "http://no..name:7777" // which is looked up nowhere
	flip7.Play(ctx, flip7.Bot{Decide: stay, Addr: addr, Token: "x", Log: slog.New(slog.NewTextHandler(log, nil))})
	if want := "cannot reach " + addr + ": no address was found for that name; trying again"; !strings.Contains(log.text, want) {
		t.Errorf("got %s, want %q in it", log.text, want)
	}
}

func TestAnArenaThatClosesTheConnectionAtOnceIsTriedAgain(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		// As it is when a server is killed before it has said a word, and another one comes in its place.
		if conn, err := listener.Accept(); err == nil {
			conn.Close()
		}
		server := grpc.NewServer()
		flip7v1.RegisterPlayServiceServer(server, fullHouse{})
		t.Cleanup(server.Stop)
		_ = server.Serve(listener)
	}()
	err = flip7.Play(t.Context(), flip7.Bot{Decide: stay, Addr: listener.Addr().String(), Token: "x", Log: slog.New(slog.DiscardHandler)})
	if want := "reached"; !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}
