package server

import (
	"cmp"
	"crypto/tls"
	"fmt"
	"net"
	"strings"
	"time"
)

// Config is what an organiser chooses about the server. A zero field means its default, so that only what differs needs
// to be said; the field comments name the flags.
type Config struct {
	// Address is where bots and callers come in, HOST:PORT; port 0 takes a free one. --address, default
	// "127.0.0.1:7777". With no host it listens everywhere.
	Address string
	// Metrics is where /metrics and /healthz are served by plain HTTP, HOST:PORT, or "off". --metrics, default
	// "127.0.0.1:7778".
	Metrics string
	// Web is where the pages for browsers are served, HOST:PORT; empty for nowhere. --web.
	Web string
	// Folder is the data folder: the admin's token and the self-signed certificate are there.
	Folder string
	// Version is that of the arena, for logs and bots.
	Version string

	// TLSCert and TLSKey are the files of a certificate and its key, in PEM, read again when they change. --tls-cert,
	// --tls-key.
	TLSCert, TLSKey string
	// SelfSigned makes a certificate, Folder/arena.pem, that kits trust by FLIP7_CA. --tls-self-signed.
	SelfSigned bool
	// Hosts are further names and addresses that the self-signed certificate is good for. --tls-host.
	Hosts []string
	// Insecure allows clear text beyond this machine, tokens included. --insecure.
	Insecure bool

	// Registration says who may become an owner without the admin. --registration, default RegistrationClosed.
	Registration Registration
	// MaxBots is how many bots an owner may have at a time. --owner-bots, default 20. The admin is not bound.
	MaxBots int
	// MaxStreams bounds the streams of all bots together. --max-streams, default 1024.
	MaxStreams int
	// MaxInstances bounds the streams of one bot. --max-instances, default 4.
	MaxInstances int
	// MaxWatchers bounds the streams of all spectators together. --max-watchers, default 1024.
	MaxWatchers int
	// PracticeTables bounds the practice games that run at once. --practice-tables, default 16; negative for none.
	PracticeTables int
	// TokenRate is how many calls a second a token may make over a longer time; four times as many at once.
	// --token-rate, default 50.
	TokenRate int
	// AddressRate is the same for an address, of calls without a token. --address-rate, default 20.
	AddressRate int

	// PingInterval is the time between two pings to a bot, 1 s..15 s. --ping-interval, default 12 s.
	PingInterval time.Duration
	// ReconnectGrace is how long clocks wait for bots after a restart, at most 10 min. --reconnect-grace, default 30 s;
	// negative for none.
	ReconnectGrace time.Duration
	// DrainGrace is how long games go on after the arena was told to stop, at most 1 min. --drain-grace, default 3 s;
	// negative for none.
	DrainGrace time.Duration
}

// Registration says who may become an owner without the admin.
type Registration uint8

const (
	RegistrationClosed Registration = iota // nobody
	RegistrationInvite                     // who has an invitation code
	RegistrationOpen                       // anyone
)

var registrationNames = [...]string{"closed", "invite", "open"}

func (r Registration) String() string {
	if int(r) < len(registrationNames) {
		return registrationNames[r]
	}
	return fmt.Sprintf("Registration(%d)", uint8(r))
}

// UnmarshalText reads "closed", "invite" or "open".
func (r *Registration) UnmarshalText(text []byte) error {
	for i, name := range registrationNames {
		if name == string(text) {
			*r = Registration(i)
			return nil
		}
	}
	return fmt.Errorf("%q is not one of %s", text, strings.Join(registrationNames[:], ", "))
}

// metricsOff is Config.Metrics when nothing is to be served.
const metricsOff = "off"

func (c Config) complete() Config {
	c.Address = cmp.Or(c.Address, "127.0.0.1:7777")
	c.Metrics = cmp.Or(c.Metrics, "127.0.0.1:7778")
	c.Version = cmp.Or(c.Version, "devel")
	c.MaxBots = cmp.Or(c.MaxBots, 20)
	c.MaxStreams = cmp.Or(c.MaxStreams, 1024)
	c.MaxInstances = cmp.Or(c.MaxInstances, 4)
	c.MaxWatchers = cmp.Or(c.MaxWatchers, 1024)
	c.PracticeTables = cmp.Or(c.PracticeTables, 16)
	c.TokenRate = cmp.Or(c.TokenRate, 50)
	c.AddressRate = cmp.Or(c.AddressRate, 20)
	c.PingInterval = cmp.Or(c.PingInterval, 12*time.Second)
	c.ReconnectGrace = cmp.Or(c.ReconnectGrace, 30*time.Second)
	c.DrainGrace = cmp.Or(c.DrainGrace, 3*time.Second)
	return c
}

// Check refuses what New would refuse, as far as that can be seen before anything is made. It takes the addresses for a
// moment to see whether they are free.
func (c Config) Check() error {
	c = c.complete()
	if err := c.check(); err != nil {
		return err
	}
	if _, err := namesOf(c); err != nil {
		return err
	}
	if c.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
			return fmt.Errorf("certificate %s with key %s: %w", c.TLSCert, c.TLSKey, err)
		}
	}
	for _, door := range []struct {
		flag, address string
		tokens        bool // come in there
	}{{"address", c.Address, true}, {"metrics", c.Metrics, false}, {"web", c.Web, true}} {
		if door.address == "" || door.address == metricsOff {
			continue
		}
		l, err := net.Listen("tcp", door.address)
		if err != nil {
			return fmt.Errorf("--%s: %w", door.flag, err)
		}
		defer l.Close() // behind the others: two on one address are refused
		if door.tokens {
			if err := c.checkClear(door.flag, l.Addr()); err != nil {
				return err
			}
		}
	}
	return nil
}

// check refuses what cannot be, by the name of the flag.
func (c Config) check() error {
	for _, n := range []struct {
		flag      string
		got       int
		low, high int
	}{
		{"owner-bots", c.MaxBots, 1, 10_000},
		{"max-streams", c.MaxStreams, 1, 1_000_000},
		{"max-instances", c.MaxInstances, 1, 1000},
		{"max-watchers", c.MaxWatchers, 1, 1_000_000},
		{"practice-tables", max(c.PracticeTables, 0), 0, 10_000},
		{"token-rate", c.TokenRate, 1, 1_000_000},
		{"address-rate", c.AddressRate, 1, 1_000_000},
	} {
		if n.got < n.low || n.got > n.high {
			return fmt.Errorf("--%s: %d is not %d..%d", n.flag, n.got, n.low, n.high)
		}
	}
	for _, d := range []struct {
		flag      string
		got       time.Duration
		low, high time.Duration
	}{
		{"ping-interval", c.PingInterval, time.Second, 15 * time.Second}, // proxies cut what is idle for a minute
		{"reconnect-grace", max(c.ReconnectGrace, 0), 0, 10 * time.Minute},
		{"drain-grace", max(c.DrainGrace, 0), 0, time.Minute},
	} {
		if d.got < d.low || d.got > d.high {
			return fmt.Errorf("--%s: %v is not %v..%v", d.flag, d.got, d.low, d.high)
		}
	}
	switch {
	case c.Folder == "":
		return fmt.Errorf("--data: is empty; it names the data folder")
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return fmt.Errorf("--tls-cert, --tls-key: one without the other; it takes both files or neither")
	case c.TLSCert != "" && c.SelfSigned:
		return fmt.Errorf("--tls-self-signed: there is a certificate already, --tls-cert %s", c.TLSCert)
	case len(c.Hosts) > 0 && !c.SelfSigned:
		return fmt.Errorf("--tls-host: is for --tls-self-signed only; the names of other certificates are what they are")
	}
	if err := checkAddress("address", c.Address); err != nil {
		return err
	}
	if c.Metrics != metricsOff {
		if err := checkAddress("metrics", c.Metrics); err != nil {
			return err
		}
	}
	if c.Web != "" {
		return checkAddress("web", c.Web)
	}
	return nil
}

func checkAddress(flag, address string) error {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return fmt.Errorf("--%s: %q is not HOST:PORT: %w", flag, address, err)
	}
	return nil
}

// encrypted reports whether callers come in by TLS.
func (c Config) encrypted() bool { return c.TLSCert != "" || c.SelfSigned }

// checkClear refuses clear text on an address that others can reach. It looks at what is listened on: a host name says
// too little.
func (c Config) checkClear(flag string, listening net.Addr) error {
	if tcp, is := listening.(*net.TCPAddr); !is || tcp.IP.IsLoopback() || c.encrypted() || c.Insecure {
		return nil
	}
	return fmt.Errorf("--%s: %v can be reached from other machines, and tokens would cross the network in clear text; "+
		"use --tls-self-signed, or --tls-cert and --tls-key (or --insecure, if something else encrypts)", flag, listening)
}
