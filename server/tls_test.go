package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health/grpc_health_v1"
)

func TestSelfSignedThereAndBack(t *testing.T) {
	r := start(t, func(c *Config) { c.Address, c.SelfSigned = "127.0.0.1:0", true })
	if r.Trust() != filepath.Join(r.config.Folder, "arena.pem") {
		t.Errorf("kits are to trust %q, want arena.pem in the data folder", r.Trust())
	}
	if _, err := grpc_health_v1.NewHealthClient(r.conn).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err != nil {
		t.Errorf("a caller who trusts arena.pem: %v", err)
	}
	clear, err := grpc.NewClient("passthrough:///"+r.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer clear.Close()
	if _, err := grpc_health_v1.NewHealthClient(clear).Check(t.Context(), &grpc_health_v1.HealthCheckRequest{}); err == nil {
		t.Error("a caller in clear text is let in where there is TLS")
	}
}

// leaf is the certificate in a file.
func leaf(t *testing.T, file string) *x509.Certificate {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(content)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestWhatASelfSignedCertificateIsGoodFor(t *testing.T) {
	folder := t.TempDir()
	config := Config{Folder: folder, SelfSigned: true, Address: "0.0.0.0:7777", Hosts: []string{"arena.example.org", "192.0.2.7"}}
	_, trust, err := transport(config, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	first := leaf(t, trust)
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "arena.example.org", "192.0.2.7"} {
		if err := first.VerifyHostname(host); err != nil {
			t.Error(err)
		}
	}
	if err := first.VerifyHostname("example.org"); err == nil {
		t.Error("it is good for example.org, which nobody asked for")
	}
	for file, want := range map[string]fs.FileMode{"arena.key": 0o600, "arena.pem": 0o644} {
		info, err := os.Stat(filepath.Join(folder, file))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf("%s has mode %v, want %v", file, got, want)
		}
	}

	config.Hosts = []string{"192.0.2.7"} // fewer names: the old one will do
	if _, _, err := transport(config, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if again := leaf(t, trust); !again.Equal(first) {
		t.Error("the second start made a new certificate, though the first will do: every kit has a copy of that")
	}
	config.Hosts = []string{"other.example.org"}
	if _, _, err := transport(config, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	if err := leaf(t, trust).VerifyHostname("other.example.org"); err != nil {
		t.Errorf("after a start with another name: %v", err)
	}

	if err := selfSign(filepath.Join(folder, "old.pem"), filepath.Join(folder, "old.key"), config, slog.New(slog.DiscardHandler), time.Now().Add(-selfSignedLife)); err != nil {
		t.Fatal(err)
	}
	if err := selfSign(filepath.Join(folder, "old.pem"), filepath.Join(folder, "old.key"), config, slog.New(slog.DiscardHandler), time.Now()); err != nil {
		t.Fatal(err)
	}
	if left := time.Until(leaf(t, filepath.Join(folder, "old.pem")).NotAfter); left < selfSignedLeft {
		t.Errorf("a certificate that has run out is used on: %v left", left)
	}
}

func TestAuthorsAreToldAnAddressThatTheyCanReach(t *testing.T) {
	signed := func(hosts ...string) *tls.Config {
		return &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
			known := names{}.with(hosts)
			return &tls.Certificate{Leaf: &x509.Certificate{DNSNames: known.dns, IPAddresses: known.addresses}}, nil
		}}
	}
	own := slices.DeleteFunc(append(ownNames(), "::"), isLoopback)[0]
	for _, c := range []struct {
		listens string
		asked   []string
		encrypt *tls.Config
		trust   string
		want    string
	}{
		{"127.0.0.1:7777", nil, nil, "", "127.0.0.1:7777"},
		{"192.0.2.7:7777", nil, nil, "", "http://192.0.2.7:7777"}, // kits would speak TLS
		{"[::]:7777", nil, nil, "", "http://" + net.JoinHostPort(own, "7777")},
		{"[::]:7777", nil, signed("localhost", "arena.example.org"), "", "arena.example.org:7777"},
		{"0.0.0.0:7777", []string{"asked.example.org"}, signed("localhost", "asked.example.org", "vm"), "arena.pem", "asked.example.org:7777"},
		{"[::]:7777", []string{"192.0.2.7"}, signed("localhost", "127.0.0.1", "192.0.2.7", "vm"), "arena.pem", "192.0.2.7:7777"},
		{"192.0.2.7:7777", nil, signed("*.example.org"), "", "192.0.2.7:7777"},
		{"127.0.0.1:7777", nil, signed("localhost"), "", "https://127.0.0.1:7777"}, // kits would speak clear text
		{"127.0.0.1:7777", nil, signed("localhost"), "arena.pem", "127.0.0.1:7777"},
		{"bufconn", nil, nil, "", "bufconn"},
	} {
		if got := callersAddress(c.listens, c.asked, c.encrypt, c.trust); got != c.want {
			t.Errorf("listening on %s, asked for %v, trust in %q: authors are told %s, want %s", c.listens, c.asked, c.trust, got, c.want)
		}
	}
}

func TestTheFirstPageSaysWhatAnAuthorHasToType(t *testing.T) {
	r := start(t, func(c *Config) { c.Address, c.Web, c.SelfSigned = "127.0.0.1:0", "127.0.0.1:0", true })
	page := httptest.NewRecorder()
	r.pages.ServeHTTP(page, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil))
	for _, want := range []string{"export FLIP7_ADDR=" + r.Addr().String() + " FLIP7_TOKEN=... FLIP7_CA=arena.pem", "<code>arena.pem</code>"} {
		if !strings.Contains(page.Body.String(), want) {
			t.Errorf("want %q in\n%s", want, page.Body)
		}
	}
}

func TestHostsThatAreNone(t *testing.T) {
	for _, host := range []string{"", "a b", "https://arena", "arena:7777", "ärena.org", strings.Repeat("a", 254)} {
		_, _, err := transport(Config{Folder: t.TempDir(), SelfSigned: true, Address: ":0", Hosts: []string{host}}, slog.New(slog.DiscardHandler))
		if err == nil || !strings.Contains(err.Error(), "--tls-host") {
			t.Errorf("host %q: error %v, want one that names --tls-host", host, err)
		}
	}
}

func TestCertificatesAreReadAgainWhenTheyChange(t *testing.T) {
	folder := t.TempDir()
	log := slog.New(slog.DiscardHandler)
	certFile, keyFile := filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	renew := func(host string) {
		t.Helper()
		os.Remove(certFile)
		os.Remove(keyFile)
		if err := selfSign(certFile, keyFile, Config{Hosts: []string{host}}, log, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	renew("first.example.org")
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	expect := func(when, host string) {
		t.Helper()
		got, err := c.current(nil)
		if err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		if err := got.Leaf.VerifyHostname(host); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	expect("at first", "first.example.org")

	if err := os.WriteFile(certFile, []byte("half of a certif"), 0o600); err != nil {
		t.Fatal(err)
	}
	expect("while it is being written", "first.example.org")
	os.Remove(certFile)
	expect("while it is not there", "first.example.org")
	renew("second.example.org")
	expect("after it was renewed", "second.example.org")
}
