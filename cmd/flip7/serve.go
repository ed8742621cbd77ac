package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/kong"
	"github.com/flip7-arena/flip7/server"
	"github.com/flip7-arena/flip7/server/store"
)

type serveCmd struct {
	Config kong.ConfigFlag `help:"JSON file with the other flags by their names; flags and environment win." env:"FLIP7_CONFIG"`

	Data       string `help:"Data folder; made if it is not there." env:"FLIP7_DATA" default:"flip7-data"`
	Address    string `help:"Where bots and callers come in, HOST:PORT; port 0 takes a free one." env:"FLIP7_ADDRESS" default:"127.0.0.1:7777"`
	Metrics    string `help:"Where /metrics and /healthz are served, HOST:PORT, or \"off\"." env:"FLIP7_METRICS" default:"127.0.0.1:7778"`
	Web        string `help:"Where the pages for browsers are served, HOST:PORT, or \"off\"." env:"FLIP7_WEB" default:"127.0.0.1:7780"`
	Durability string `help:"What acknowledged decisions survive: a killed process, or a power cut too (slower). One of ${enum}." env:"FLIP7_DURABILITY" enum:"process,power" default:"process"`

	TLSCert       string   `help:"File of a certificate (PEM), read again when it changes." env:"FLIP7_TLS_CERT" name:"tls-cert"`
	TLSKey        string   `help:"File of its key (PEM)." env:"FLIP7_TLS_KEY" name:"tls-key"`
	TLSSelfSigned bool     `help:"Make a certificate, arena.pem in the data folder, that kits trust by FLIP7_CA." env:"FLIP7_TLS_SELF_SIGNED" name:"tls-self-signed"`
	TLSHost       []string `help:"Names and addresses that the self-signed certificate is good for, beside this machine's." env:"FLIP7_TLS_HOST" name:"tls-host"`
	Insecure      bool     `help:"Allow clear text beyond this machine; tokens cross the network readable." env:"FLIP7_INSECURE"`

	Registration   string `help:"Who may become an owner without the admin: ${enum}." env:"FLIP7_REGISTRATION" enum:"closed,invite,open" default:"closed"`
	OwnerBots      int    `help:"Bots that an owner may have." env:"FLIP7_OWNER_BOTS" default:"20"`
	MaxStreams     int    `help:"Streams of all bots together." env:"FLIP7_MAX_STREAMS" default:"1024"`
	MaxInstances   int    `help:"Streams of one bot." env:"FLIP7_MAX_INSTANCES" default:"4"`
	MaxWatchers    int    `help:"Spectators." env:"FLIP7_MAX_WATCHERS" default:"1024"`
	PracticeTables int    `help:"Practice games at once, for bots that ask for them while no tournament needs them, beside a night too; a game takes hardly any time of the machine. 0: none." env:"FLIP7_PRACTICE_TABLES" default:"16"`
	TokenRate      int    `help:"Calls a second of a token; four times as many at once." env:"FLIP7_TOKEN_RATE" default:"50"`
	AddressRate    int    `help:"Calls a second of an address without a token." env:"FLIP7_ADDRESS_RATE" default:"20"`

	PingInterval   time.Duration `help:"Time between pings to a bot, 1s..15s." env:"FLIP7_PING_INTERVAL" default:"12s"`
	ReconnectGrace time.Duration `help:"How long clocks wait for bots after a restart." env:"FLIP7_RECONNECT_GRACE" default:"30s"`
	DrainGrace     time.Duration `help:"How long games go on after the arena was told to stop." env:"FLIP7_DRAIN_GRACE" default:"3s"`
	LogLevel       slog.Level    `help:"debug, info, warn or error." env:"FLIP7_LOG_LEVEL" default:"info"`
	LogJSON        bool          `help:"Log JSON lines." env:"FLIP7_LOG_JSON" name:"log-json"`
}

// Run serves until it is told to stop. A second signal ends it at once.
func (c *serveCmd) Run(ctx context.Context, p *program) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	_, missing := os.Stat(filepath.Join(c.Data, adminTokenFile))
	s, closeStore, err := c.open(ctx, p)
	if err != nil {
		return err
	}
	defer func() {
		if closed := closeStore(); err == nil {
			err = closed
		}
	}()
	c.greet(p, s, missing != nil)
	context.AfterFunc(ctx, func() { // the second signal
		again := make(chan os.Signal, 1)
		signal.Notify(again, os.Interrupt, syscall.SIGTERM)
		<-again
		s.Stop()
	})
	return s.Serve(ctx)
}

// open opens the store and a server on it.
func (c *serveCmd) open(ctx context.Context, p *program) (*server.Server, func() error, error) {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	log := slog.New(slog.NewTextHandler(p.err, options))
	if c.LogJSON {
		log = slog.New(slog.NewJSONHandler(p.err, options))
	}
	durability, err := store.ParseDurability(c.Durability)
	if err != nil {
		return nil, nil, err
	}
	var registration server.Registration
	if err := registration.UnmarshalText([]byte(c.Registration)); err != nil {
		return nil, nil, fmt.Errorf("--registration: %w", err)
	}
	config := server.Config{
		Address: c.Address, Metrics: c.Metrics, Web: orOff(c.Web), Folder: c.Data, Version: version,
		TLSCert: c.TLSCert, TLSKey: c.TLSKey, SelfSigned: c.TLSSelfSigned, Hosts: c.TLSHost, Insecure: c.Insecure,
		Registration: registration, MaxBots: c.OwnerBots, MaxStreams: c.MaxStreams, MaxInstances: c.MaxInstances,
		MaxWatchers: c.MaxWatchers, PracticeTables: orNone(c.PracticeTables), TokenRate: c.TokenRate, AddressRate: c.AddressRate,
		PingInterval: c.PingInterval, ReconnectGrace: orNone(c.ReconnectGrace), DrainGrace: orNone(c.DrainGrace),
	}
	if _, err := os.Stat(filepath.Join(c.Data, adminTokenFile)); err != nil { // else nothing new would be left behind
		if err := config.Check(); err != nil {
			return nil, nil, err
		}
	}
	kept, err := store.Open(ctx, c.Data, store.Options{Durability: durability, Log: log, Reserved: server.ReservedNames()})
	if err != nil {
		return nil, nil, fmt.Errorf("--data: %w", err)
	}
	s, err := server.New(config, server.Deps{Store: kept, Log: log})
	if err != nil {
		kept.Close()
		return nil, nil, err
	}
	return s, kept.Close, nil
}

// check refuses what the server would take for "the default", before anything is made.
func (c *serveCmd) check() error {
	for _, s := range []struct{ flag, given string }{{"data", c.Data}, {"address", c.Address}, {"metrics", c.Metrics}, {"web", c.Web}} {
		if s.given == "" {
			return fmt.Errorf("--%s: is empty", s.flag)
		}
	}
	for _, n := range []struct {
		flag  string
		given int
	}{{"owner-bots", c.OwnerBots}, {"max-streams", c.MaxStreams}, {"max-instances", c.MaxInstances}, {"max-watchers", c.MaxWatchers},
		{"token-rate", c.TokenRate}, {"address-rate", c.AddressRate}} {
		if n.given < 1 {
			return fmt.Errorf("--%s: %d is not 1 or more", n.flag, n.given)
		}
	}
	if c.PracticeTables < 0 {
		return fmt.Errorf("--practice-tables: %d is not 0 or more", c.PracticeTables)
	}
	if c.PingInterval <= 0 || c.ReconnectGrace < 0 || c.DrainGrace < 0 {
		return errors.New("--ping-interval, --reconnect-grace, --drain-grace: a time cannot be negative, and pings need one")
	}
	return nil
}

// orNone makes the 0 of a flag the none of a Config, in which 0 means the default.
func orNone[N int | time.Duration](n N) N {
	if n == 0 {
		return -1
	}
	return n
}

// orOff makes the "off" of a flag the empty address of a Config.
func orOff(address string) string {
	if address == "off" {
		return ""
	}
	return address
}

// reachable is an address of this machine where a server that listens on addr can be reached.
func reachable(addr net.Addr) string {
	if tcp, is := addr.(*net.TCPAddr); is && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	return addr.String()
}

// greetJSON tells a program that has started the arena where to find it. The admin's token it reads from the file.
func (c *serveCmd) greetJSON(p *program, s *server.Server) {
	where := struct {
		Version   string `json:"version"`
		Address   string `json:"address"`
		Data      string `json:"data"`
		TokenFile string `json:"admin_token_file"`
		Metrics   string `json:"metrics,omitempty"`
		Pages     string `json:"pages,omitempty"`
		CA        string `json:"ca,omitempty"`
	}{Version: version, Address: reachable(s.Addr()), Data: c.Data, TokenFile: s.AdminTokenFile(), CA: s.Trust()}
	if s.MetricsAddr() != nil {
		where.Metrics = fmt.Sprintf("http://%s/metrics", s.MetricsAddr())
	}
	if s.WebAddr() != nil {
		where.Pages = pagesURL(s, c.TLSCert != "" || c.TLSSelfSigned)
	}
	_ = json.NewEncoder(p.out).Encode(where)
}

// pagesURL is where a browser on this machine finds the pages.
func pagesURL(s *server.Server, encrypted bool) string {
	scheme := "http"
	if encrypted {
		scheme = "https"
	}
	return scheme + "://" + reachable(s.WebAddr()) + "/"
}

// greet says where the arena is and what to do next.
func (c *serveCmd) greet(p *program, s *server.Server, first bool) {
	if p.json {
		c.greetJSON(p, s)
		return
	}
	fmt.Fprintf(p.out, "Flip 7 Arena %s on %s, data in %s\n", version, s.Addr(), c.Data)
	if s.MetricsAddr() != nil {
		fmt.Fprintf(p.out, "Metrics: http://%s/metrics\n", s.MetricsAddr())
	}
	if s.WebAddr() != nil {
		fmt.Fprintf(p.out, "Pages: %s\n", pagesURL(s, c.TLSCert != "" || c.TLSSelfSigned))
	}
	env := ""
	if here := reachable(s.Addr()); here != "127.0.0.1:7777" {
		env += " FLIP7_ADDR=" + here
	}
	if c.Data != "flip7-data" {
		env += " FLIP7_DATA=" + c.Data
	}
	if s.Trust() != "" {
		env += " FLIP7_CA=" + s.Trust()
	}
	if token, err := os.ReadFile(s.AdminTokenFile()); first && err == nil {
		fmt.Fprintf(p.out, "The admin's token: %s\n", strings.TrimSpace(string(token)))
	}
	fmt.Fprintf(p.out, "The admin's token is kept in %s; the verbs below find it there.\n\nIn another terminal", s.AdminTokenFile())
	if env != "" {
		fmt.Fprintf(p.out, ", after export%s", env)
	}
	fmt.Fprint(p.out, `:
  flip7 bot register NAME                      a token for a bot, shown once
  flip7 tournament create "First night" --open
  flip7 tournament enter 1 bot:NAME house:odds house:stay-25 house:racer
  flip7 tournament start 1 --watch
  flip7 elo

`)
}
