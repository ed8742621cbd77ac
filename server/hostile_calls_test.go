package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// methods are all calls of the arena, in the order of their names.
func methods() (all []protoreflect.MethodDescriptor) {
	protoregistry.GlobalFiles.RangeFilesByPackage("flip7.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			service := file.Services().Get(i)
			for j := range service.Methods().Len() {
				all = append(all, service.Methods().Get(j))
			}
		}
		return true
	})
	slices.SortFunc(all, func(a, b protoreflect.MethodDescriptor) int {
		return strings.Compare(string(a.FullName()), string(b.FullName()))
	})
	return all
}

// path names a method as a call does.
func path(m protoreflect.MethodDescriptor) string {
	return "/" + string(m.Parent().FullName()) + "/" + string(m.Name())
}

// send calls a method with bytes, and is how the call ended; ctx may end it.
func (s *siege) send(ctx context.Context, m protoreflect.MethodDescriptor, request []byte) error {
	stream, err := s.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, path(m), grpc.ForceCodecV2(loose{encoding.GetCodecV2("proto")}))
	if err != nil {
		return err
	}
	if err := stream.SendMsg(request); err != nil && err != io.EOF {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	resp := new(flip7v1.WhoAmIRequest) // has no fields: all is unknown to it
	for {
		if err := stream.RecvMsg(resp); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// scribbler makes requests that are almost right.
type scribbler struct {
	*rand.Rand
	texts map[string][]string // by the name of a field
	never []string            // texts that are not to be hit upon
}

func (s *scribbler) pick(from ...string) string { return from[s.IntN(len(from))] }

// fill gives values to some fields of a message, and to its messages so deep.
func (s *scribbler) fill(m protoreflect.Message, depth int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		field := fields.Get(i)
		if s.IntN(4) == 0 || field.Message() != nil && depth == 0 {
			continue
		}
		if !field.IsList() {
			m.Set(field, s.value(field, m.NewField(field), depth))
			continue
		}
		list := m.Mutable(field).List()
		for range s.IntN(4) {
			list.Append(s.value(field, list.NewElement(), depth))
		}
	}
}

// value is a value for a field; fresh is an empty one.
func (s *scribbler) value(field protoreflect.FieldDescriptor, fresh protoreflect.Value, depth int) protoreflect.Value {
	small := []int64{0, 1, 1, 2, 3, 4, 7, 100, 1000, 1001, -1}[s.IntN(11)]
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(s.IntN(2) == 0)
	case protoreflect.EnumKind:
		return protoreflect.ValueOfEnum(protoreflect.EnumNumber(s.IntN(8) - 1))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(small))
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(small))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(small))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64([]int64{small, small, small, math.MaxInt64, math.MinInt64}[s.IntN(5)])
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64([]float64{float64(small), math.NaN(), math.Inf(1)}[s.IntN(3)])
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte(s.text("")))
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(s.text(string(field.Name())))
	case protoreflect.MessageKind:
		s.fill(fresh.Message(), depth-1)
	}
	return fresh
}

// text is one for a field of a name.
func (s *scribbler) text(field string) string {
	if known := s.texts[field]; len(known) > 0 && s.IntN(4) > 0 {
		return s.pick(known...)
	}
	text := s.pick("", "0", "1", "2", "2/1/1/1", "99999999999999999999", "-1", " ", "a\x00b", "\u202etxt.bot", "🂡🂡", "ａｄｍｉｎ", "x'; DROP TABLE bots; --",
		"../../arena.db", "%s%n", strings.Repeat("x", 33), strings.Repeat("\u0301", 300), fmt.Sprint("new-", s.IntN(1000)))
	if slices.Contains(s.never, text) {
		return ""
	}
	return text
}

// scribblers are one for each role, with calls of that role. What the admin may break for all is not for it to hit upon:
// the night of the siege and the bot in it.
func (s *siege) scribbler(role string, chance *rand.Rand) (context.Context, *scribbler) {
	other := s.other
	texts := map[string][]string{
		"tournament_id": {s.night, other}, "id": {s.night, other}, "tournament_ids": {s.night, other},
		"game_id": {s.night + "/1/1/1", s.night + "/1/1/2", s.night + "/1/1/150", other + "/1/1/1"},
		"name":    {"regular", "mallory", "odds-bot", "ann", "main"}, "bot": {"regular", "stay-25", "odds-bot"}, "other": {"regular", "random"},
		"owner": {"ann", "bob"}, "player": {"bot:odds-bot", "house:odds", "house:nothing", "bot:regular"}, "league": {"main", "other"},
		"page_token": {nextPage(listBots, "a"), nextPage(listTournaments, "2"), nextPage(listTournaments, "-5"), nextPage(listTournaments, "x"), nextPage(listEntries, "1"),
			nextPage(listPairings, "1/1"), nextPage(listStandings, "regular"), nextPage(listAims, "1/2/0"), nextPage(listAudits, "-9223372036854775808"),
			nextPage("games", s.night+"/1/1/1"), nextPage("games", "\xff\xfe"), nextPage(listRatings, "stay-25"), nextPage(listHistory, "9223372036854775807"), "????"},
		"position": {"x-1", s.Server.watch.epoch + "-1", s.Server.watch.epoch + "-18446744073709551615"},
	}
	made := &scribbler{Rand: chance, texts: texts}
	if role == "admin" {
		made.never = []string{s.night, "regular", s.night + "/1/1/1"}
		for field := range texts {
			texts[field] = slices.DeleteFunc(texts[field], func(text string) bool {
				return strings.HasSuffix(text, "regular") || text == s.night || strings.HasPrefix(text, s.night+"/")
			})
		}
	}
	return map[string]context.Context{"admin": s.admin, "owner": s.roles.owner, "bot": s.roles.bot, "anyone": context.Background()}[role], made
}

// anything makes a call of a role with a request that is almost right, or with one that is wrong in a byte.
func (s *siege) anything(t *testing.T, m protoreflect.MethodDescriptor, role string, seed uint64) {
	chance := rand.New(rand.NewPCG(seed, 7))
	ctx, scribbler := s.scribbler(role, chance)
	kind, err := protoregistry.GlobalTypes.FindMessageByName(m.Input().FullName())
	if err != nil {
		t.Fatal(err)
	}
	made := kind.New()
	scribbler.fill(made, 3)
	request, err := proto.MarshalOptions{AllowPartial: true}.Marshal(made.Interface())
	if err != nil { // of a text that is not UTF-8: there is none
		t.Fatal(err)
	}
	if role != "admin" && len(request) > 0 && chance.IntN(4) == 0 {
		request[chance.IntN(len(request))] ^= byte(1 << chance.IntN(8))
	}
	s.answered(t, ctx, m, role, request)
}

// answered makes a call, and checks that the arena says whose fault it is if it fails, and that it is not its own.
func (s *siege) answered(t *testing.T, ctx context.Context, m protoreflect.MethodDescriptor, role string, request []byte) {
	patience := 10 * time.Second
	if m.IsStreamingServer() { // some have no end
		patience = 20 * time.Millisecond
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	err := s.send(ctx, m, request)
	code := status.Code(err)
	if err == nil || m.IsStreamingServer() && code == codes.DeadlineExceeded {
		return
	}
	if code == codes.Internal || code == codes.Unknown || code == codes.DataLoss || code == codes.DeadlineExceeded {
		t.Errorf("%s as %s of %x: %v", m.FullName(), role, request, err)
	}
	detailsOf(t, err)
}

var everyone = []string{"admin", "owner", "bot", "anyone"}

// TestEveryCallWithAnything makes many calls of every kind, as everybody. FuzzCalls goes on from here.
func TestEveryCallWithAnything(t *testing.T) {
	s := besieged(t)
	rounds := 10
	if testing.Short() {
		rounds = 2
	}
	for i, m := range methods() {
		for j, role := range everyone {
			for n := range rounds {
				s.anything(t, m, role, uint64(i*1000+j*100+n))
			}
		}
	}
	s.unharmed()
}

// FuzzCalls calls the arena with bytes, and with what a seed makes of a request.
func FuzzCalls(f *testing.F) {
	s := besieged(f)
	all := methods()
	for i := range all {
		f.Add(uint8(i), uint8(i%4), uint64(i), []byte(nil))
		f.Add(uint8(i), uint8(i%4), uint64(0), []byte{0x0a, 3, 'o', 'd', 'd'})
	}
	f.Fuzz(func(t *testing.T, method, role uint8, seed uint64, request []byte) {
		m, who := all[int(method)%len(all)], everyone[int(role)%len(everyone)]
		if seed != 0 {
			s.anything(t, m, who, seed)
		} else if who != "admin" { // whose bytes might end the siege
			ctx, _ := s.scribbler(who, rand.New(rand.NewPCG(1, 1)))
			s.answered(t, ctx, m, who, request)
		}
		for _, line := range s.complaints() {
			t.Errorf("the log says %s", line)
		}
	})
}

// texts are the paths of all fields of a message that are texts, as field descriptors.
func texts(m protoreflect.MessageDescriptor, above []protoreflect.FieldDescriptor, do func(path []protoreflect.FieldDescriptor)) {
	for i := range m.Fields().Len() {
		field := m.Fields().Get(i)
		path := append(slices.Clip(above), field)
		switch {
		case field.Kind() == protoreflect.StringKind:
			do(path)
		case field.Message() != nil && len(above) < 4:
			texts(field.Message(), path, do)
		}
	}
}

// garbled is a message with one text that is not UTF-8.
func garbled(path []protoreflect.FieldDescriptor) (b []byte) {
	b = []byte{'a', 0xff, 0xfe}
	for _, field := range slices.Backward(path) {
		b = protowire.AppendBytes(protowire.AppendTag(nil, field.Number(), protowire.BytesType), b)
	}
	return b
}

func TestTextsThatAreNotUTF8(t *testing.T) {
	s := besieged(t)
	tried := 0
	for _, m := range methods() {
		ctx := s.admin
		if m.IsStreamingClient() {
			ctx = as(t.Context(), s.mallory)
		}
		texts(m.Input(), nil, func(path []protoreflect.FieldDescriptor) {
			tried++
			err := s.send(ctx, m, garbled(path))
			if d := detailsOf(t, err); status.Code(err) != codes.InvalidArgument || d.reason != "UNREADABLE" && d.reason != "BAD_HELLO" {
				t.Errorf("%s, %s: %v %+v, want INVALID_ARGUMENT, UNREADABLE or BAD_HELLO", m.FullName(), path[len(path)-1].FullName(), err, d)
			}
		})
	}
	t.Logf("%d fields", tried)
	s.unharmed()
}
