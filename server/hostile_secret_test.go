package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/server/wire"
)

// secrets are what must be found nowhere, in all the ways in which it may be written.
type secrets map[string][][]byte

// add adds 32 bytes.
func (s secrets) add(what string, secret [32]byte) {
	text := hex.EncodeToString(secret[:])
	s[what] = [][]byte{secret[:], []byte(text), []byte(strings.ToUpper(text)), []byte(base64.RawStdEncoding.EncodeToString(secret[:])),
		[]byte(base64.RawURLEncoding.EncodeToString(secret[:])), []byte(fmt.Sprint(secret))}
}

// in is what of the secrets is in something.
func (s secrets) in(haystack []byte) (found []string) {
	for what, forms := range s {
		if slices.ContainsFunc(forms, func(form []byte) bool { return bytes.Contains(haystack, form) }) {
			found = append(found, what)
		}
	}
	return found
}

// secrets are the tokens, and what is secret of the night: its secret until it is over, and the seeds of the games at
// tables that are playing.
func (s *siege) secrets() (all secrets, public [32]byte) {
	s.t.Helper()
	number, _ := wire.TournamentIDOf(s.night)
	t, err := s.arena.Tournament(context.Background(), number)
	if err != nil {
		s.t.Fatal(err)
	}
	all = secrets{}
	for i, token := range append(s.roles.all, s.mallory, tokenIn(s.t, s.AdminTokenFile())) {
		all[fmt.Sprint("token ", i+1)] = [][]byte{[]byte(token)}
	}
	all.add("the secret", t.Secret)
	playing := 0
	for _, round := range t.Rounds {
		for _, tab := range round.Tables {
			if tab.State != arena.Playing {
				continue
			}
			for game := range len(tab.Bots) * t.Settings.Rotations {
				all.add(fmt.Sprintf("the seed of game %d/%d/%d", round.Number, tab.Number, game+1), t.GameSeed(round.Number, tab.Number, game+1, 1))
				playing++
			}
		}
	}
	if t.State != arena.Running || playing == 0 {
		s.t.Fatalf("the night is %v with %d games at tables that play, want it running", t.State, playing)
	}
	return all, t.Commitment()
}

// tapped is what came on connections.
type tapped struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// ear is a connection whose reader is listened to.
type ear struct {
	net.Conn
	to *tapped
}

// Read implements net.Conn.
func (c ear) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.to.mu.Lock()
	defer c.to.mu.Unlock()
	c.to.all.Write(p[:n])
	return n, err
}

// TestNobodyLearnsWhatIsSecret plays a night and meanwhile has everybody ask all that they may, and put their tokens in
// the wrong places. No token, secret or seed comes to anybody, into the log or onto a page; nor does anybody learn how
// long others think.
func TestNobodyLearnsWhatIsSecret(t *testing.T) {
	heard := new(tapped)
	r := start(t, func(c *Config) {
		c.Address, c.Metrics, c.TokenRate, c.AddressRate = "127.0.0.1:0", "127.0.0.1:0", 1_000_000, 1_000_000
	})
	s := besiege(r, func() (net.Conn, error) {
		conn, err := net.Dial("tcp", r.Addr().String())
		return ear{conn, heard}, err
	}, 5*time.Millisecond)
	s.conn = s.dialled()
	b := s.play(s.mallory, hello())
	if _, err := b.next(); err != nil {
		t.Fatal(err)
	}
	durations := map[protoreflect.FullName]string{}
	said := new(bytes.Buffer) // in errors
	for _, m := range methods() {
		if m.IsStreamingClient() || allowed(path(m)) != everyRole || m.Name() == "RegisterOwner" {
			continue
		}
		for _, request := range s.questions(m) {
			for _, ctx := range []context.Context{t.Context(), s.roles.bot, s.roles.owner} {
				if err := s.ask(ctx, m, request, durations); err != nil {
					fmt.Fprintln(said, err, status.Convert(err).Details())
				}
			}
		}
	}
	page, err := http.Get("http://" + s.MetricsAddr().String() + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer page.Body.Close()
	metrics, err := io.ReadAll(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	all, commitment := s.secrets() // of what was playing all the time: it is the first round
	heard.mu.Lock()
	answers := bytes.Clone(heard.all.Bytes())
	heard.mu.Unlock()
	for where, what := range map[string][]byte{"an answer": answers, "an error": said.Bytes(), "the log": []byte(s.log.String()), "the metrics": metrics} {
		if found := all.in(what); len(found) > 0 {
			t.Errorf("%v is in %s", found, where)
		}
	}
	if !bytes.Contains(answers, commitment[:]) || said.Len() == 0 {
		t.Error("the test looks in the wrong place: not even the commitment was heard")
	}
	t.Logf("%d secrets are not in %d bytes of answers, %d of errors, %d of the log", len(all), len(answers), said.Len(), len(s.log.String()))
	for field, where := range durations {
		switch field.Parent() {
		case "flip7.v1.TournamentSettings", "flip7.v1.GameInfo", "flip7.v1.ArenaLag": // limits, and what the arena itself took
		default:
			t.Errorf("%s is told while the table plays: %s", field, where)
		}
	}
	s.unharmed()
}

// questions are requests for a call about the night.
func (s *siege) questions(m protoreflect.MethodDescriptor) (requests []protoreflect.Message) {
	kind, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
	if err != nil {
		s.t.Fatal(err)
	}
	texts := map[protoreflect.Name][]string{
		"tournament_id": {s.night, s.mallory}, "game_id": {s.night + "/1/1/1", s.night + "/1/1/2", s.night + "/1/1/8", s.night + "/1/1/150", s.mallory},
		"name": {"regular"}, "bot": {"", "regular"}, "other": {"random"}, "page_token": {"", s.mallory}, "position": {""},
	}
	fields := m.Input().Fields()
	requests = []protoreflect.Message{kind.New()}
	for i := range fields.Len() {
		field := fields.Get(i)
		var values []protoreflect.Value
		switch {
		case field.IsList():
		case field.Kind() == protoreflect.StringKind:
			for _, text := range texts[field.Name()] {
				values = append(values, protoreflect.ValueOfString(text))
			}
		case field.Kind() == protoreflect.BoolKind:
			values = []protoreflect.Value{protoreflect.ValueOfBool(true)}
		case field.Kind() == protoreflect.EnumKind && strings.HasSuffix(string(field.Name()), "part"):
			values = []protoreflect.Value{protoreflect.ValueOfEnum(1), protoreflect.ValueOfEnum(2)}
		}
		if len(values) == 0 {
			continue
		}
		before := requests
		requests = nil
		for _, request := range before {
			for _, value := range values {
				next := kind.New()
				request.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
					next.Set(field, value)
					return true
				})
				next.Set(field, value)
				requests = append(requests, next)
			}
		}
	}
	return requests
}

// ask makes a call, reads what comes of it for a while, and notes what times are told.
func (s *siege) ask(ctx context.Context, m protoreflect.MethodDescriptor, request protoreflect.Message, durations map[protoreflect.FullName]string) error {
	if m.IsStreamingServer() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, 30*time.Millisecond)
		defer cancel()
	}
	stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, path(m))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request.Interface()); err != nil && err != io.EOF {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	kind, err := protoregistry.GlobalTypes.FindMessageByName(m.Output().FullName())
	if err != nil {
		return err
	}
	for {
		answer := kind.New()
		if err := stream.RecvMsg(answer.Interface()); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		times(answer, func(field protoreflect.FieldDescriptor) {
			durations[field.FullName()] = fmt.Sprintf("%s of %v", m.FullName(), protojson.Format(request.Interface()))
		})
	}
}

// times are the fields of a message, and of those in it, that hold spans of time.
func times(m protoreflect.Message, do func(protoreflect.FieldDescriptor)) {
	m.Range(func(field protoreflect.FieldDescriptor, value protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.Message().FullName() == "google.protobuf.Duration":
			do(field)
		case field.IsList():
			for i := range value.List().Len() {
				times(value.List().Get(i).Message(), do)
			}
		default:
			times(value.Message(), do)
		}
		return true
	})
}
