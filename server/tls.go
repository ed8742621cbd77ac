package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/credentials"
)

const (
	selfSignedCert = "arena.pem" // in the data folder; kits trust it by FLIP7_CA
	selfSignedKey  = "arena.key" // beside it
)

// transport is how TLS is spoken, and the file of the certificate that a kit has to trust if no authority vouches for it.
// Both are empty for clear text.
func transport(c Config, log *slog.Logger) (encrypt *tls.Config, trust string, err error) {
	certFile, keyFile := c.TLSCert, c.TLSKey
	switch {
	case c.SelfSigned:
		certFile, keyFile = filepath.Join(c.Folder, selfSignedCert), filepath.Join(c.Folder, selfSignedKey)
		if err := selfSign(certFile, keyFile, c, log, time.Now()); err != nil {
			return nil, "", fmt.Errorf("--tls-self-signed: %w", err)
		}
		trust = certFile
	case certFile == "":
		return nil, "", nil
	}
	cert := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	if err := cert.load(); err != nil {
		return nil, "", fmt.Errorf("certificate %s with key %s: %w", certFile, keyFile, err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: cert.current}, trust, nil
}

// encrypted is what a gRPC server takes for it; nil for clear text.
func encrypted(encrypt *tls.Config) credentials.TransportCredentials {
	if encrypt == nil {
		return nil
	}
	return credentials.NewTLS(encrypt)
}

// certificate is read from its files again when they have changed: certificates are renewed while an arena runs.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex
	loaded *tls.Certificate
	stamp  [2]fileStamp // of the files when they were last read, or tried
}

// fileStamp tells a file from what it was before.
type fileStamp struct {
	modified time.Time
	size     int64
}

func stampOf(path string) (fileStamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return fileStamp{}, err
	}
	return fileStamp{info.ModTime(), info.Size()}, nil
}

// current is the certificate for a new connection. If the files have changed and cannot be used, as they are half
// written, it is the one from before; the next change is looked at again.
func (c *certificate) current(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stamp, err := c.stamps()
	if err != nil || stamp == c.stamp {
		return c.loaded, nil
	}
	if err := c.read(stamp); err != nil {
		c.log.Error("the certificate has changed and cannot be used; the one before stays", "file", c.certFile, "error", err)
	} else {
		c.log.Info("the certificate was read again", "file", c.certFile)
	}
	return c.loaded, nil
}

func (c *certificate) load() error {
	stamp, err := c.stamps()
	if err != nil {
		return err
	}
	return c.read(stamp)
}

func (c *certificate) stamps() (stamp [2]fileStamp, err error) {
	for i, path := range []string{c.certFile, c.keyFile} {
		if stamp[i], err = stampOf(path); err != nil {
			return stamp, err
		}
	}
	return stamp, nil
}

func (c *certificate) read(stamp [2]fileStamp) error {
	c.stamp = stamp
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err == nil {
		c.loaded = &loaded
	}
	return err
}

const (
	selfSignedLife = 10 * 365 * 24 * time.Hour // kits have a copy: a new one is work for everybody
	selfSignedLeft = 30 * 24 * time.Hour       // with less a new one is made at the start
)

// selfSign makes a certificate for this machine, unless there is one that will do.
func selfSign(certFile, keyFile string, c Config, log *slog.Logger, now time.Time) error {
	names, err := namesOf(c)
	if err != nil {
		return err
	}
	switch good, err := stillGood(certFile, keyFile, names, now); {
	case err != nil:
		return err
	case good:
		return nil
	}
	if host, _, _ := net.SplitHostPort(c.Address); host == "" || net.ParseIP(host).IsUnspecified() {
		names = names.with(ownNames())
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return err
	}
	// It is no authority, for some TLS libraries refuse one at the end of a chain; all take it as its own root.
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{Organization: []string{"Flip 7 Arena"}, CommonName: "Flip 7 Arena, self-signed"},
		NotBefore:             now.Add(-time.Hour), // clocks differ
		NotAfter:              now.Add(selfSignedLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		DNSNames:              names.dns,
		IPAddresses:           names.addresses,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	if err := writePrivate(keyFile, string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))); err != nil {
		return err
	}
	if err := writePrivate(certFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))); err != nil {
		return err
	}
	log.Info("a certificate was made; kits need its file", "file", certFile, "names", names.dns, "addresses", names.addresses)
	return os.Chmod(certFile, 0o644) // it is for everybody
}

// names are what a certificate is good for.
type names struct {
	dns       []string
	addresses []net.IP
}

func (n names) with(hosts []string) names {
	for _, host := range hosts {
		if address := net.ParseIP(host); address == nil {
			if !slices.Contains(n.dns, host) {
				n.dns = append(n.dns, host)
			}
		} else if !slices.ContainsFunc(n.addresses, address.Equal) {
			n.addresses = append(n.addresses, address)
		}
	}
	return n
}

// namesOf is what the certificate has to be good for: this machine by its own names, the address that is listened on,
// and what was asked for.
func namesOf(c Config) (names, error) {
	n := names{}.with([]string{"localhost", "127.0.0.1", "::1"})
	if host, _, err := net.SplitHostPort(c.Address); err == nil && host != "" && !net.ParseIP(host).IsUnspecified() {
		n = n.with([]string{host})
	}
	for _, host := range c.Hosts {
		if host == "" || len(host) > 253 || !isHost(host) {
			return n, fmt.Errorf("--tls-host: %q is no host name or address", host)
		}
	}
	return n.with(c.Hosts), nil
}

// isHost reports whether a name can be in a certificate: an address, or letters, digits, dots and hyphens.
func isHost(host string) bool {
	if net.ParseIP(host) != nil {
		return true
	}
	for _, r := range host {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '-' && r != '.' {
			return false
		}
	}
	return true
}

// ownNames are the names by which other machines are likely to know this one. They are put into a new certificate and not
// asked of an old one: addresses come and go, and kits have a copy of the certificate.
func ownNames() []string {
	var hosts []string
	if host, err := os.Hostname(); err == nil && isHost(host) {
		hosts = append(hosts, host)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return hosts
	}
	for _, address := range addresses {
		if of, is := address.(*net.IPNet); is && of.IP.IsGlobalUnicast() {
			hosts = append(hosts, of.IP.String())
		}
	}
	return hosts
}

// callersAddress is what authors type to reach an arena that listens at an address: where that is everywhere, by a name
// that its certificate is good for, or else by one of the machine's own; and with the scheme if kits would take another.
func callersAddress(listens string, asked []string, encrypt *tls.Config, trust string) string {
	host, port, err := net.SplitHostPort(listens)
	if err != nil {
		return listens
	}
	if net.ParseIP(host).IsUnspecified() {
		known := slices.Clone(asked)
		if encrypt != nil {
			if cert, err := encrypt.GetCertificate(nil); err == nil && cert.Leaf != nil {
				known = append(known, cert.Leaf.DNSNames...)
				for _, address := range cert.Leaf.IPAddresses {
					known = append(known, address.String())
				}
			}
		}
		known = append(known, ownNames()...)
		if i := slices.IndexFunc(known, func(name string) bool { return !isLoopback(name) && !strings.Contains(name, "*") }); i >= 0 {
			host = known[i]
		}
	}
	address := net.JoinHostPort(host, port)
	switch local := isLoopback(host); {
	case encrypt == nil && !local:
		return "http://" + address
	case encrypt != nil && local && trust == "":
		return "https://" + address
	}
	return address
}

func isLoopback(host string) bool { return host == "localhost" || net.ParseIP(host).IsLoopback() }

// stillGood reports whether there is a self-signed certificate that holds for a while and for all the names. One that is
// there and cannot be read is an error: nothing is written over what may be somebody's.
func stillGood(certFile, keyFile string, names names, now time.Time) (bool, error) {
	pair, err := tls.LoadX509KeyPair(certFile, keyFile)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s and %s: %w; delete both to have new ones made", certFile, keyFile, err)
	}
	for _, name := range names.dns {
		if pair.Leaf.VerifyHostname(name) != nil {
			return false, nil
		}
	}
	for _, address := range names.addresses {
		if pair.Leaf.VerifyHostname(address.String()) != nil {
			return false, nil
		}
	}
	return now.Add(selfSignedLeft).Before(pair.Leaf.NotAfter), nil
}
