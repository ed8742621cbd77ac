package server

import (
	"net"
	"strings"
	"testing"
	"time"
)

func TestNonsenseIsRefusedByTheNameOfTheFlag(t *testing.T) {
	for _, test := range []struct {
		change func(*Config)
		want   string
	}{
		{func(c *Config) { c.Folder = "" }, "--data: is empty"},
		{func(c *Config) { c.Address = "localhost" }, `--address: "localhost" is not HOST:PORT`},
		{func(c *Config) { c.Metrics = "7778" }, `--metrics: "7778" is not HOST:PORT`},
		{func(c *Config) { c.TLSCert = "cert.pem" }, "--tls-cert, --tls-key: one without the other"},
		{func(c *Config) { c.TLSCert, c.TLSKey, c.SelfSigned = "a", "b", true }, "--tls-self-signed: there is a certificate already"},
		{func(c *Config) { c.Hosts = []string{"arena.local"} }, "--tls-host: is for --tls-self-signed only"},
		{func(c *Config) { c.MaxStreams = -1 }, "--max-streams: -1 is not 1.."},
		{func(c *Config) { c.TokenRate = 2_000_000 }, "--token-rate: 2000000 is not 1..1000000"},
		{func(c *Config) { c.PingInterval = time.Minute }, "--ping-interval: 1m0s is not 1s..15s"},
		{func(c *Config) { c.DrainGrace = time.Hour }, "--drain-grace: 1h0m0s is not 0s..1m0s"},
		{func(c *Config) { c.DrainGrace, c.ReconnectGrace = -1, -1 }, ""},
		{func(c *Config) { c.Metrics = "off" }, ""},
		{func(*Config) {}, ""},
	} {
		c := Config{Folder: "data"}
		test.change(&c)
		err := c.complete().check()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("got %v, want an error that begins with %q", err, test.want)
		}
	}
}

func TestWhatCannotBeServedIsRefusedBeforeAnythingIsMade(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, test := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"a flag that is nonsense", func(c *Config) { c.TokenRate = -1 }, "--token-rate: "},
		{"an address that is taken", func(c *Config) { c.Address = taken.Addr().String() }, "--address: listen "},
		{"pages where somebody else is", func(c *Config) { c.Web = taken.Addr().String() }, "--web: listen "},
		{"metrics where somebody else is", func(c *Config) { c.Metrics = taken.Addr().String() }, "--metrics: listen "},
		{"clear text for everybody", func(c *Config) { c.Address = ":0" }, "--address: "},
		{"pages in clear text for everybody", func(c *Config) { c.Web = ":0" }, "--web: "},
		{"a certificate that is not there", func(c *Config) { c.TLSCert, c.TLSKey = "no.pem", "no.key" }, "certificate no.pem with key no.key: "},
		{"a host that is none", func(c *Config) { c.SelfSigned, c.Hosts = true, []string{"a b"} }, `--tls-host: "a b"`},
		{"nothing wrong", func(*Config) {}, ""},
	} {
		c := Config{Folder: "data", Address: "127.0.0.1:0", Metrics: "off"}
		test.change(&c)
		err := c.Check()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.HasPrefix(err.Error(), test.want)) {
			t.Errorf("%s: got %v, want an error that begins with %q", test.name, err, test.want)
		}
	}
}

func TestClearTextIsRefusedBeyondThisMachine(t *testing.T) {
	here := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7777}
	everywhere := &net.TCPAddr{IP: net.IPv6zero, Port: 7777}
	for _, test := range []struct {
		name    string
		config  Config
		on      net.Addr
		refused bool
	}{
		{"on loopback", Config{}, here, false},
		{"on IPv6 loopback", Config{}, &net.TCPAddr{IP: net.IPv6loopback}, false},
		{"everywhere", Config{}, everywhere, true},
		{"on one address of a network", Config{}, &net.TCPAddr{IP: net.IPv4(192, 168, 1, 7)}, true},
		{"everywhere, self-signed", Config{SelfSigned: true}, everywhere, false},
		{"everywhere, with a certificate", Config{TLSCert: "a", TLSKey: "b"}, everywhere, false},
		{"everywhere, as was asked for", Config{Insecure: true}, everywhere, false},
	} {
		if err := test.config.checkClear("address", test.on); (err != nil) != test.refused {
			t.Errorf("%s: error %v, want one: %v", test.name, err, test.refused)
		}
	}
}
