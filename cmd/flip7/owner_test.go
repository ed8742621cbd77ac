package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// serving serves an arena, in which the verbs of a test find themselves to be the admin.
func serving(t *testing.T, registration string) {
	t.Helper()
	serveFor(t, &serveCmd{Address: "127.0.0.1:0", Registration: registration})
}

// serveFor does so with other flags of serve, and returns the address; that of the pages is in the flags then.
func serveFor(t *testing.T, serve *serveCmd) string {
	t.Helper()
	serve.Data, serve.Metrics, serve.Durability = t.TempDir(), "off", "process"
	s, closeStore, err := serve.open(t.Context(), &program{out: io.Discard, err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- s.Serve(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-served; err != nil {
			t.Error(err)
		}
		if err := closeStore(); err != nil {
			t.Error(err)
		}
	})
	if pages := s.WebAddr(); pages != nil {
		serve.Web = pages.String()
	}
	t.Setenv("FLIP7_ADDR", s.Addr().String())
	t.Setenv("FLIP7_DATA", serve.Data)
	t.Setenv("FLIP7_TOKEN", "")
	t.Setenv("FLIP7_CA", s.Trust())
	return s.Addr().String()
}

// said is what a verb prints, be it why it does not do what it should.
func said(t *testing.T, args ...string) (text string, code int) {
	t.Helper()
	var out, problem bytes.Buffer
	code = run(t.Context(), args, program{out: &out, err: &problem})
	return out.String() + problem.String(), code
}

// found is what a pattern finds in brackets.
func found(t *testing.T, pattern, text string) string {
	t.Helper()
	match := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if match == nil {
		t.Fatalf("there is no %s in %s", pattern, text)
	}
	return match[1]
}

func TestATokenComesWithTheAddressOfTheArenaElsewhere(t *testing.T) {
	address := serveFor(t, &serveCmd{Address: "127.0.0.1:0", Registration: "closed", TLSSelfSigned: true, TLSHost: []string{"arena.example.org"}})
	_, port, _ := strings.Cut(address, ":")
	ca := os.Getenv("FLIP7_CA")
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"bot", "register", "ada"}, []string{"\n  FLIP7_ADDR=" + address + "\n", "\n  FLIP7_CA=" + ca + "\n",
			"127.0.0.1 is this machine alone; on another one it takes FLIP7_ADDR=arena.example.org:" + port + ".\n", "on another machine, a copy of " + ca}},
		{[]string{"owner", "register", "ann", "--address", "https://localhost:" + port}, []string{"\n  FLIP7_ADDR=https://localhost:" + port + "\n",
			"localhost is this machine alone; on another one it takes FLIP7_ADDR=arena.example.org:" + port}},
	} {
		text, code := said(t, c.args...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(text, want) {
				t.Errorf("flip7 %q: exit code %d, want %q in\n%s", c.args, code, want, text)
			}
		}
	}
	var out strings.Builder
	remoteFlags{Address: "arena.example.org:7777"}.printAccess(&program{out: &out}, "secret")
	remoteFlags{Address: "127.0.0.1:7777"}.printAccess(&program{out: &out}, "secret") // clear text, which stays on this machine
	if strings.Contains(out.String(), "machine") {
		t.Errorf("these addresses need no word:\n%s", &out)
	}
}

func TestOwnersComeByInvitation(t *testing.T) {
	serving(t, "invite")
	invited, _ := said(t, "owner", "invite", "--uses", "2", "--remark", "class 7b")
	code := found(t, `--invitation (\S+)\n`, invited)
	elsewhere := t.TempDir() // where no admin's token is
	registered, _ := said(t, "owner", "register", "ann", "--invitation", code, "--data", elsewhere)
	ann := found(t, `FLIP7_TOKEN=(\S+)\n`, registered)
	for _, step := range []struct {
		args []string
		want string // in what is printed
		code int
	}{
		{[]string{"owner", "register", "bob", "--data", elsewhere}, "invitation_code: is empty", exitUsage},
		{[]string{"owner", "register", "bob", "--data", elsewhere, "--invitation", "made up"}, "no invitation has this code; ask the admin for another one\n", exitUsage},
		{[]string{"owner", "list", "--data", elsewhere}, "--token", exitUsage},
		{[]string{"bot", "register", "ada", "--token", ann}, "ada is registered", 0},
		{[]string{"bot", "list"}, "  KIT  GAMES NOW\nada  ann ", 0}, // not those that it has played
		{[]string{"owner", "list"}, "ann    1     active", 0},
		{[]string{"owner", "invitations"}, "1/2   ann      class 7b", 0},
		{[]string{"owner", "revoke", "1"}, "Invitation 1 brings nobody any more", 0},
		{[]string{"owner", "invitations"}, "1   revoked", 0},
		{[]string{"owner", "register", "bob", "--data", elsewhere, "--invitation", code}, "was revoked", exitUsage},
		{[]string{"owner", "register", "bob"}, "bob is an owner", 0}, // by the admin
		{[]string{"owner", "invite", "--lifetime", "1s"}, "lifetime: must be", exitUsage},
		{[]string{"bot", "log", "ada", "--token", ann}, "The log of ada is empty", 0},
		{[]string{"owner", "rotate", "ann", "--token", ann}, "ann has a new token", 0},
		{[]string{"bot", "log", "ada", "--token", ann}, "unknown, or was rotated", exitUsage},
		{[]string{"owner", "retire", "ann"}, "ann and its bots are retired", 0},
		{[]string{"owner", "list"}, "bob    0     active", 0},
		{[]string{"owner", "list", "--retired"}, "ann    0     retired", 0},
	} {
		if got, exit := said(t, step.args...); exit != step.code || !strings.Contains(got, step.want) {
			t.Errorf("flip7 %s: exit code %d, %s\nwant %d, %q in it", strings.Join(step.args, " "), exit, got, step.code, step.want)
		}
	}
}

func TestAListIsPrintedAsOnOnePage(t *testing.T) {
	serving(t, "closed")
	const owners = 120 // more than are on a page
	for range owners {
		if got, code := said(t, "owner", "invite"); code != 0 {
			t.Fatal(got)
		}
	}
	var all struct {
		Invitations   []any
		NextPageToken string `json:"next_page_token"`
	}
	got, code := said(t, "--json", "owner", "invitations")
	if err := json.Unmarshal([]byte(got), &all); err != nil || code != 0 || len(all.Invitations) != owners || all.NextPageToken != "" {
		t.Errorf("exit code %d, %v, %d invitations, next page %q; want all %d and no page more", code, err, len(all.Invitations), all.NextPageToken, owners)
	}
}

func TestInvitationStates(t *testing.T) {
	now := time.Now()
	for want, i := range map[string]*flip7v1.Invitation{
		"open":    {Uses: 2, Owners: []string{"ann"}, ExpireTime: timestamppb.New(now.Add(time.Second))},
		"expired": {Uses: 2, Owners: []string{"ann"}, ExpireTime: timestamppb.New(now)},
		"used up": {Uses: 1, Owners: []string{"ann"}, ExpireTime: timestamppb.New(now)},
		"revoked": {Uses: 1, Owners: []string{"ann"}, ExpireTime: timestamppb.New(now), RevokeTime: timestamppb.New(now)},
	} {
		if got := invitationState(i, now); got != want {
			t.Errorf("%v is %s, want %s", i, got, want)
		}
	}
}

func TestALogIsToldInWords(t *testing.T) {
	at := func(second int) *timestamppb.Timestamp {
		return timestamppb.New(time.Date(2026, 11, 30, 20, 15, second, 0, time.Local))
	}
	request := func(kind flip7v1.RequestKind) *flip7v1.DecisionRequest {
		return &flip7v1.DecisionRequest{RequestId: "1/2/3/4/1/17", Kind: kind}
	}
	whole := request(flip7v1.RequestKind_REQUEST_KIND_TURN)
	whole.Absent, whole.Game = true, &flip7v1.GameInfo{Bots: []string{"ada", "odds"}}
	whole.View = &flip7v1.View{Round: 2, DrawPile: []uint32{30, 0, 10}, FlipThree: &flip7v1.FlipThree{Seat: 2, DrawsLeft: 1}, Seats: []*flip7v1.Seat{
		{Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE, Row: []flip7v1.Card{4, 13}, Modifiers: []flip7v1.Card{wire.Card(game.Plus4)}, SecondChance: true, Points: 19, Total: 20},
		{Status: flip7v1.SeatStatus_SEAT_STATUS_BUSTED, Row: []flip7v1.Card{6, 6}, Total: 31},
		{Status: flip7v1.SeatStatus_SEAT_STATUS_ACTIVE},
	}}
	log := &flip7v1.ListLogResponse{Cut: 12, Entries: []*flip7v1.LogEntry{
		{Time: at(1), SessionId: "6b-1", Entry: &flip7v1.LogEntry_Session{Session: &flip7v1.LoggedSession{InstanceId: "X1", Kit: "go 3.1", Message: "it came"}}},
		{Time: at(2), Entry: &flip7v1.LogEntry_Verdict{Verdict: &flip7v1.Verdict{RequestId: "\x1b[31m/1/17",
			Code: flip7v1.VerdictCode_VERDICT_CODE_UNKNOWN_REQUEST, Message: "there is none"}}, Note: "a \x1b[31mnote"},
		{Time: at(3), Entry: &flip7v1.LogEntry_Request{Request: &flip7v1.LoggedRequest{Request: request(flip7v1.RequestKind_REQUEST_KIND_TURN),
			Answer: flip7v1.Answer_ANSWER_HIT, Cause: flip7v1.Cause_CAUSE_CHOSEN, Latency: durationpb.New(12345678), Sent: 1, Illegal: 2}}},
		{Time: at(4), Entry: &flip7v1.LogEntry_Request{Request: &flip7v1.LoggedRequest{Request: request(flip7v1.RequestKind_REQUEST_KIND_FLIP_THREE),
			Answer: flip7v1.Answer_ANSWER_GIVE, Seat: new(uint32(3)), Cause: flip7v1.Cause_CAUSE_TIMED_OUT, Latency: durationpb.New(11 * time.Second), Sent: 2}}},
		{Time: at(5), SessionId: "6b-1", Entry: &flip7v1.LogEntry_Session{Session: &flip7v1.LoggedSession{End: flip7v1.EndReason_END_REASON_TOO_SLOW, Message: "nothing could be written for 5s"}}},
		{Time: at(6), SessionId: "6b-2", Entry: &flip7v1.LogEntry_Session{Session: &flip7v1.LoggedSession{Lost: true}}},
		{Time: at(7), Entry: &flip7v1.LogEntry_Line{Line: &flip7v1.LoggedLine{Text: "3 notes are missing here: they came faster than they could be kept"}}},
		{Time: at(8), Entry: &flip7v1.LogEntry_Line{Line: &flip7v1.LoggedLine{Text: "4 notes are missing here: they came faster than they could be kept"}}},
		{Entry: &flip7v1.LogEntry_Request{Request: &flip7v1.LoggedRequest{Request: whole, Answer: flip7v1.Answer_ANSWER_STAY,
			Cause: flip7v1.Cause_CAUSE_TIMED_OUT, Sent: 1}}},
	}}
	const want = `The 12 oldest entries are gone: a log has no room for more.
2026-11-30 20:15:01.000  stream 6b-1 began: instance X1, build -, kit go 3.1
2026-11-30 20:15:02.000  request ?[31m/1/17: unknown request: there is none; note "a \x1b[31mnote"
2026-11-30 20:15:03.000  request 1/2/3/4/1/17 (turn): hit, charged 12.3ms, 2 illegal
2026-11-30 20:15:04.000  request 1/2/3/4/1/17 (flip three): timed out, so the default is played: give to seat 3, charged 11s, sent 2 times
2026-11-30 20:15:05.000  stream 6b-1 ended (too slow): nothing could be written for 5s
2026-11-30 20:15:06.000  stream 6b-2 was lost
2026-11-30 20:15:07.000  7 notes are missing here: they came faster than they could be kept
                         request 1/2/3/4/1/17 (turn): timed out, so the default is played: stay at once: it was absent
                           round 2: [ada: 3 12 +4 second = 19, total 20] [odds busted: 5 5 = 0, total 31] [seat 2: = 0, total 0] 40 to draw, Flip Three of seat 2 with 1 to go
`
	var out strings.Builder
	if err := printLog(&out, &botLogCmd{Name: "ada"}, log); err != nil || out.String() != want {
		t.Errorf("%v, got\n%s\nwant\n%s", err, out.String(), want)
	}
	for want, asked := range map[string]*botLogCmd{"The log of ada is empty.\n": {Name: "ada"}, "The log of ada has no such entries.\n": {Name: "ada", Troubles: true}} {
		var out strings.Builder
		if err := printLog(&out, asked, &flip7v1.ListLogResponse{}); err != nil || out.String() != want {
			t.Errorf("%v, got %q, want %q", err, &out, want)
		}
	}
}
