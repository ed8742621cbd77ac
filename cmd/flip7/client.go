package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// remoteFlags say which arena a verb talks to, and as whom.
type remoteFlags struct {
	Address string `help:"Address of the arena: HOST:PORT, clear text on this machine and TLS elsewhere; or https://HOST:PORT, http://HOST:PORT." env:"FLIP7_ADDR" default:"127.0.0.1:7777"`
	Token   string `help:"Token of the admin, an owner or a bot. Without one, the admin token in the data folder is used if it is there." env:"FLIP7_TOKEN"`
	Data    string `help:"Data folder of an arena on this machine." env:"FLIP7_DATA" default:"flip7-data"`
	CA      string `help:"PEM file with the certificates to trust; without it those of the system." env:"FLIP7_CA" name:"ca"`
}

// dial connects; nothing is sent before the first call.
func (f remoteFlags) dial() (*grpc.ClientConn, error) {
	target, encrypted, err := f.target()
	if err != nil {
		return nil, err
	}
	transport := insecure.NewCredentials()
	if encrypted {
		config := &tls.Config{MinVersion: tls.VersionTLS12}
		if f.CA != "" {
			pem, err := os.ReadFile(f.CA)
			if err != nil {
				return nil, fmt.Errorf("--ca: %w", err)
			}
			config.RootCAs = x509.NewCertPool()
			if !config.RootCAs.AppendCertsFromPEM(pem) {
				return nil, fmt.Errorf("--ca: %s holds no certificate in PEM", f.CA)
			}
		}
		transport = credentials.NewTLS(config)
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(transport)}
	if token := f.token(); token != "" {
		options = append(options, grpc.WithPerRPCCredentials(bearer{token, encrypted}))
	}
	conn, err := grpc.NewClient("passthrough:///"+target, options...)
	if err != nil {
		return nil, fmt.Errorf("--address: %q: %w", f.Address, err)
	}
	return conn, nil
}

// target is where to connect, by the rules that kits follow.
func (f remoteFlags) target() (target string, encrypted bool, err error) {
	target, isTLS := strings.CutPrefix(f.Address, "https://")
	target, isClear := strings.CutPrefix(target, "http://")
	host, _, err := net.SplitHostPort(target)
	if err != nil {
		return "", false, fmt.Errorf("--address: %q is not HOST:PORT", f.Address)
	}
	return target, isTLS || !isClear && (f.CA != "" || !loopback(host)), nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// adminTokenFile holds the admin's token in a data folder.
const adminTokenFile = "admin.token"

// token is the one that was given, or else the admin's if its file can be read.
func (f remoteFlags) token() string {
	if f.Token != "" {
		return f.Token
	}
	raw, err := os.ReadFile(filepath.Join(f.Data, adminTokenFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// printAccess prints what lets its holder in at this arena, by the address at which it was found; and what differs on
// another machine, if that may be where the holder is: clear text is for this one.
func (f remoteFlags) printAccess(p *program, token string) {
	fmt.Fprintf(p.out, "  FLIP7_ADDR=%s\n  FLIP7_TOKEN=%s\n", f.Address, token)
	if f.CA != "" {
		fmt.Fprintf(p.out, "  FLIP7_CA=%s\n", f.CA)
	}
	target, encrypted, err := f.target()
	if err != nil || !encrypted {
		return
	}
	host, port, _ := net.SplitHostPort(target)
	if loopback(host) {
		address := "the address at which it finds this one in FLIP7_ADDR"
		if name := f.nameElsewhere(); name != "" {
			address = "FLIP7_ADDR=" + net.JoinHostPort(name, port)
		}
		fmt.Fprintf(p.out, "\n%s is this machine alone; on another one it takes %s.\n", host, address)
	}
	if f.CA != "" {
		fmt.Fprintf(p.out, "\nFLIP7_CA is a file, no secret: on another machine, a copy of %s.\n", f.CA)
	}
}

// nameElsewhere is the first name, or else the first address, that is not this machine's own and for which the
// certificate to trust is good. That of an arena that signs for itself has such; that of an authority has none.
func (f remoteFlags) nameElsewhere() string {
	text, err := os.ReadFile(f.CA)
	if err != nil {
		return ""
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return ""
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return ""
	}
	hosts := certificate.DNSNames
	for _, address := range certificate.IPAddresses {
		hosts = append(hosts, address.String())
	}
	if i := slices.IndexFunc(hosts, func(host string) bool { return !loopback(host) && !strings.Contains(host, "*") }); i >= 0 {
		return hosts[i]
	}
	return ""
}

// bearer sends a token with every call.
type bearer struct {
	token  string
	secure bool
}

// GetRequestMetadata implements credentials.PerRPCCredentials.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity implements credentials.PerRPCCredentials.
func (b bearer) RequireTransportSecurity() bool { return b.secure }

// refusal says in one line what the arena answered, or why it could not be reached.
func refusal(err error) error {
	s, ok := status.FromError(err)
	if !ok || err == nil {
		return err
	}
	text := asTyped(s.Message())
	switch {
	case s.Code() == codes.Unavailable && strings.Contains(text, "server preface"):
		return errors.New("--address: what answers there does not speak as this expects; a server with TLS takes --ca (FLIP7_CA) or https://, one without http://")
	case s.Code() == codes.Unavailable && strings.Contains(text, "connection error"):
		cause := text[strings.LastIndex(text, "desc = ")+len("desc = "):]
		return fmt.Errorf("--address: no arena can be reached there (%s); is \"flip7 serve\" running?", strings.Trim(cause, `"`))
	case strings.HasPrefix(text, "invitation_code: "): // no token would help
	case s.Code() == codes.Unauthenticated || s.Code() == codes.PermissionDenied:
		text += "; tokens come from --token, FLIP7_TOKEN, or else the admin.token in the --data folder"
	}
	for _, d := range s.Details() {
		switch d := d.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				named := asTyped(v.GetField() + ": " + v.GetDescription())
				if !strings.Contains(text, named) && !strings.Contains(text, v.GetDescription()) {
					text += "; " + named
				}
			}
		case *errdetails.RetryInfo:
			text += fmt.Sprintf("; try again in %v", d.GetRetryDelay().AsDuration())
		}
	}
	return errors.New(text)
}

// asTyped names what a refusal is about by the flag that says it: settings.pairing_rounds is --rounds.
func asTyped(refusal string) string {
	field, wrong, named := strings.Cut(refusal, ": ")
	if !named {
		return refusal
	}
	if field == "settings.rules" { // and which of them
		field, wrong, _ = strings.Cut("settings."+wrong, ": ")
	}
	flag, setting := strings.CutPrefix(field, "settings.")
	switch flag {
	case "player", "authorization": // there is but one
		return wrong
	case "pairing_round":
		return "round: " + wrong
	case "as_name":
		flag = "as"
	case "pairing_rounds":
		flag = "rounds"
	case "max_bots_per_owner":
		flag = "bots-per-owner"
	case "start_time":
		flag = "at"
	case "bots", "owner", "remark", "request_id", "uses", "why":
	default:
		if strings.HasPrefix(flag, "tournament_ids[") { // one of several
			flag = "tournament"
		} else if !setting {
			return refusal
		}
	}
	return "--" + strings.ReplaceAll(flag, "_", "-") + ": " + wrong
}

// ask makes one call to the arena and prints the answer: as JSON, or as text does it.
func ask[Client any, Request, Response proto.Message](ctx context.Context, to remoteFlags, p *program,
	client func(grpc.ClientConnInterface) Client,
	method func(Client, context.Context, Request, ...grpc.CallOption) (Response, error),
	request Request, text func(Response) error) error {
	conn, err := to.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	response, err := method(client(conn), ctx, request)
	if err != nil {
		return refusal(err)
	}
	if p.json {
		return printProto(p.out, response)
	}
	return text(response)
}

// list gets all of a list, page by page, and prints it as if it were on one page: as JSON, or as text does it.
func list[Client any, Request proto.Message, Page interface {
	proto.Message
	GetNextPageToken() string
}](ctx context.Context, to remoteFlags, p *program,
	client func(grpc.ClientConnInterface) Client,
	method func(Client, context.Context, Request, ...grpc.CallOption) (Page, error),
	request func(token string) Request, all Page, text func() error) error {
	conn, err := to.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	err = pages(ctx, func(ctx context.Context, r Request, _ ...grpc.CallOption) (Page, error) {
		return method(client(conn), ctx, r)
	}, request,
		func(page Page) string {
			next := page.GetNextPageToken()
			page.ProtoReflect().Clear(page.ProtoReflect().Descriptor().Fields().ByName("next_page_token"))
			proto.Merge(all, page) // which appends
			return next
		})
	if err != nil {
		return err
	}
	if p.json {
		return printProto(p.out, all)
	}
	return text()
}

// pages gets page after page of a list; add takes one and says where the next begins.
func pages[Request, Response any](ctx context.Context, method func(context.Context, Request, ...grpc.CallOption) (Response, error),
	request func(token string) Request, add func(Response) (next string)) error {
	for token := ""; ; {
		page, err := method(ctx, request(token))
		if err != nil {
			return refusal(err)
		}
		if token = add(page); token == "" {
			return nil
		}
	}
}

// printProto prints messages as one JSON document, an object with the fields of all of them, on one line; of fields of one
// name the last stays. protojson varies its white space on purpose; programs that compare output need it not to.
func printProto(w io.Writer, messages ...proto.Message) error {
	var document map[string]any
	for _, m := range messages {
		raw, err := protojson.MarshalOptions{UseProtoNames: true, EmitDefaultValues: true}.Marshal(m)
		if err != nil {
			return err
		}
		if err := json.Unmarshal(raw, &document); err != nil { // which adds
			return err
		}
	}
	delete(document, "next_page_token") // all pages are here
	return json.NewEncoder(w).Encode(document)
}
