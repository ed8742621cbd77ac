package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// bot is a stream of a bot that said hello and was welcomed.
type bot struct {
	flip7v1.PlayService_PlayClient
	t   testing.TB
	log *record // of the arena
	// rest is what came in the batch of the last message.
	rest []*flip7v1.ArenaMessage
}

// join opens a stream and says hello.
func (r *running) join(ctx context.Context, instance string) *bot {
	r.t.Helper()
	return r.joinWith(ctx, &flip7v1.Hello{Protocol: 1, InstanceId: instance, Build: "1", KitName: "go", KitVersion: "3.1"})
}

// joinWith opens a stream and says that hello.
func (r *running) joinWith(ctx context.Context, hello *flip7v1.Hello) *bot {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	r.t.Cleanup(cancel)
	stream, err := flip7v1.NewPlayServiceClient(r.conn).Play(ctx)
	if err != nil {
		r.t.Fatal(err)
	}
	b := &bot{PlayService_PlayClient: stream, t: r.t, log: r.log}
	if err := stream.Send(&flip7v1.PlayRequest{Messages: []*flip7v1.BotMessage{{Message: &flip7v1.BotMessage_Hello{Hello: hello}}}}); err != nil {
		r.t.Fatal(err)
	}
	if m, err := b.next(); err != nil || m.GetWelcome() == nil {
		r.t.Fatalf("after a hello: %v, %v, want a welcome", m, err)
	}
	return b
}

// next is the next message.
func (b *bot) next() (*flip7v1.ArenaMessage, error) {
	for len(b.rest) == 0 {
		batch, err := b.Recv()
		if err != nil {
			return nil, err
		}
		b.rest = batch.GetMessages()
	}
	m := b.rest[0]
	b.rest = b.rest[1:]
	return m, nil
}

// asked waits until the bot has to decide something.
func (b *bot) asked() *flip7v1.DecisionRequest {
	b.t.Helper()
	for {
		m, err := b.next()
		if err != nil {
			b.t.Fatalf("%v before a request; the log says\n%s", err, b.log)
		}
		if m.GetRequest() != nil {
			return m.GetRequest()
		}
	}
}

// end is how the stream ends: whether the arena said Drain, its Goodbye, and the status.
func (b *bot) end() (drain bool, last *flip7v1.Goodbye, err error) {
	for {
		m, err := b.next()
		if err != nil {
			return drain, last, err
		}
		drain = drain || m.GetDrain() != nil
		if g := m.GetGoodbye(); g != nil {
			last = g
		}
	}
}

func TestATokenIsToldOnceAndKeptAsAHash(t *testing.T) {
	r := start(t)
	client := flip7v1.NewBotServiceClient(r.conn)
	registered, err := client.RegisterBot(r.admin, &flip7v1.RegisterBotRequest{Name: "odds-bot", Owner: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if registered.GetOwnerToken() == "" || registered.GetBot().GetOwner() != "ann" {
		t.Errorf("owner ann was there before: %v", registered)
	}
	second, err := client.RegisterBot(r.admin, &flip7v1.RegisterBotRequest{Name: "racer-bot", Owner: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	if second.GetOwnerToken() != "" {
		t.Error("the token of an owner is told a second time")
	}
	rotated, err := client.RotateBot(as(t.Context(), registered.GetOwnerToken()), &flip7v1.RotateBotRequest{Name: "odds-bot"})
	if err != nil {
		t.Fatal(err)
	}
	who := func(token string) (*flip7v1.WhoAmIResponse, error) {
		return client.WhoAmI(as(t.Context(), token), &flip7v1.WhoAmIRequest{})
	}
	if _, err := who(registered.GetToken()); status.Code(err) != codes.Unauthenticated {
		t.Errorf("the token from before it was rotated: %v, want UNAUTHENTICATED", err)
	}
	if me, err := who(rotated.GetToken()); err != nil || me.GetName() != "odds-bot" {
		t.Errorf("the new token is one of %q, %v, want odds-bot", me.GetName(), err)
	}
	r.never([]string{registered.GetToken(), registered.GetOwnerToken(), second.GetToken(), rotated.GetToken()})
}

func TestWhoMayRegisterWhat(t *testing.T) {
	r := start(t, func(c *Config) { c.MaxBots = 2 })
	tokens := r.roles() // ann has odds-bot
	client := flip7v1.NewBotServiceClient(r.conn)
	if _, err := client.RegisterOwner(r.admin, &flip7v1.RegisterOwnerRequest{Name: "bob"}); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		what        string
		by          context.Context
		name, owner string
		code        codes.Code
		reason      string
	}{
		{"an owner a bot for another", tokens.owner, "x", "bob", codes.PermissionDenied, "NOT_THE_OWNER"},
		{"a name that is taken", tokens.owner, "odds-bot", "", codes.AlreadyExists, "NAME_TAKEN"},
		{"a name that looks like it", tokens.owner, "ODDS-bot", "", codes.AlreadyExists, "NAME_TAKEN"},
		{"a name of a house bot", tokens.owner, "stay-25", "", codes.AlreadyExists, "NAME_TAKEN"},
		{"a name of a house bot that is not offered", tokens.owner, "stay-26", "", codes.AlreadyExists, "NAME_TAKEN"},
		{"the admin's name", tokens.admin, "Admin", "", codes.AlreadyExists, "NAME_TAKEN"},
		{"a name with a colon", tokens.owner, "house:odds", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name that is a formula", tokens.owner, "=1+1", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name with a slash", tokens.owner, "a/b", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name with a percent sign", tokens.owner, "a%2f", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name of dots", tokens.owner, "..", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name that asks for JSON", tokens.owner, "bot.json", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name with a blank of Braille", tokens.owner, "odds-bot\u2800", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name that begins with a filler", tokens.owner, "\u3164bot", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name of accents alone", tokens.owner, "\u0301\u0301", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"an owner whose name is a formula", tokens.admin, "x", "@SUM(A1)", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name with a Cyrillic o in it", tokens.owner, "b\u043et", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name with a Greek omicron in it", tokens.owner, "b\u03bft", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a name that steers a terminal", tokens.owner, "x\x1b[31m", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"no name", tokens.owner, "", "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"a long name", tokens.owner, strings.Repeat("x", 33), "", codes.InvalidArgument, "INVALID_ARGUMENT"},
		{"an owner its second bot", tokens.owner, "racer-bot", "ann", codes.OK, ""},
		{"an owner its third bot of two", tokens.owner, "third", "", codes.FailedPrecondition, "TOO_MANY_BOTS"},
		{"the admin a third bot for an owner", tokens.admin, "third", "ann", codes.OK, ""},
		{"the admin one of its own", tokens.admin, "the-admins", "", codes.OK, ""},
		{"the admin a Cyrillic name with digits", tokens.admin, "\u0431\u043e\u0442-25", "", codes.OK, ""},
	} {
		_, err := client.RegisterBot(test.by, &flip7v1.RegisterBotRequest{Name: test.name, Owner: test.owner})
		reason := ""
		if err != nil {
			reason = detailsOf(t, err).reason
		}
		if status.Code(err) != test.code || reason != test.reason {
			t.Errorf("%s: %v (%s), want %v (%s)", test.what, err, reason, test.code, test.reason)
		}
	}
}

func TestWhoMayBecomeAnOwner(t *testing.T) {
	for registration, want := range map[Registration]codes.Code{
		RegistrationClosed: codes.PermissionDenied,
		RegistrationInvite: codes.PermissionDenied,
		RegistrationOpen:   codes.OK,
	} {
		r := start(t, func(c *Config) { c.Registration = registration })
		client := flip7v1.NewBotServiceClient(r.conn)
		_, err := client.RegisterOwner(t.Context(), &flip7v1.RegisterOwnerRequest{Name: "ann"})
		if got := status.Code(err); got != want {
			t.Errorf("registration %v: anyone becomes an owner: %v, want %v", registration, err, want)
		}
		if _, err := client.RegisterOwner(r.admin, &flip7v1.RegisterOwnerRequest{Name: "bob"}); err != nil {
			t.Errorf("registration %v: the admin makes an owner: %v", registration, err)
		}
	}
}

func TestOwnersDoNotComeInFloods(t *testing.T) {
	r := start(t, func(c *Config) { c.Registration, c.AddressRate = RegistrationOpen, 1000 })
	client := flip7v1.NewBotServiceClient(r.conn)
	made := 0
	for n := range 100 {
		_, err := client.RegisterOwner(t.Context(), &flip7v1.RegisterOwnerRequest{Name: fmt.Sprint("owner ", n)})
		if err != nil {
			if d := detailsOf(t, err); status.Code(err) != codes.ResourceExhausted || d.retry <= 0 {
				t.Errorf("owner %d: %v %+v, want RESOURCE_EXHAUSTED with a time to wait", n, err, d)
			}
			break
		}
		made++
	}
	if want := newcomers().burst; made != want {
		t.Errorf("%d owners register at once from one address, want %d", made, want)
	}
	if _, err := client.RegisterOwner(r.admin, &flip7v1.RegisterOwnerRequest{Name: "by the admin"}); err != nil {
		t.Errorf("the admin makes one more: %v", err)
	}
}

func TestOwnersLookAfterTheirOwnOnly(t *testing.T) {
	r := start(t)
	tokens := r.roles() // ann has odds-bot
	client := flip7v1.NewBotServiceClient(r.conn)
	bob, err := client.RegisterOwner(r.admin, &flip7v1.RegisterOwnerRequest{Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	other := as(t.Context(), bob.GetToken())
	for what, call := range map[string]func(context.Context) error{
		"rotate a bot": func(ctx context.Context) error {
			_, err := client.RotateBot(ctx, &flip7v1.RotateBotRequest{Name: "odds-bot"})
			return err
		},
		"retire a bot": func(ctx context.Context) error {
			_, err := client.RetireBot(ctx, &flip7v1.RetireBotRequest{Name: "odds-bot"})
			return err
		},
		"rotate an owner": func(ctx context.Context) error {
			_, err := client.RotateOwner(ctx, &flip7v1.RotateOwnerRequest{Name: "ann"})
			return err
		},
		"retire an owner": func(ctx context.Context) error {
			_, err := client.RetireOwner(ctx, &flip7v1.RetireOwnerRequest{Name: "ann"})
			return err
		},
	} {
		if err := call(other); status.Code(err) != codes.PermissionDenied {
			t.Errorf("%s of another: %v, want PERMISSION_DENIED", what, err)
		}
	}
	if _, err := client.RotateBot(tokens.owner, &flip7v1.RotateBotRequest{Name: "nobody"}); status.Code(err) != codes.NotFound {
		t.Errorf("rotate a bot that there is not: %v, want NOT_FOUND", err)
	}
}

func TestListsHavePages(t *testing.T) {
	r := start(t, func(c *Config) { c.TokenRate = 1000 })
	client := flip7v1.NewBotServiceClient(r.conn)
	var want []string
	for i := range 7 {
		name := fmt.Sprintf("bot-%d", i)
		want = append(want, name)
		if _, err := client.RegisterBot(r.admin, &flip7v1.RegisterBotRequest{Name: name, Owner: "ann"}); err != nil {
			t.Fatal(err)
		}
	}
	connected, err := client.RotateBot(r.admin, &flip7v1.RotateBotRequest{Name: "bot-4"})
	if err != nil {
		t.Fatal(err)
	}
	r.join(as(t.Context(), connected.GetToken()), "one")
	for _, test := range []struct {
		name string
		ask  *flip7v1.ListBotsRequest
		want []string
	}{
		{"all", &flip7v1.ListBotsRequest{}, want},
		{"three a page", &flip7v1.ListBotsRequest{PageSize: 3}, want},
		{"a last page that is full", &flip7v1.ListBotsRequest{PageSize: 7}, want},
		{"of an owner", &flip7v1.ListBotsRequest{PageSize: 2, Owner: "ann"}, want},
		{"of nobody", &flip7v1.ListBotsRequest{PageSize: 2, Owner: "bob"}, nil},
		{"connected", &flip7v1.ListBotsRequest{PageSize: 2, Connected: true}, []string{"bot-4"}},
	} {
		var got []string
		pages := 0
		for {
			page, err := client.ListBots(t.Context(), test.ask)
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			for _, bot := range page.GetBots() {
				got = append(got, bot.GetName())
			}
			pages++
			if test.ask.PageToken = page.GetNextPageToken(); test.ask.PageToken == "" {
				break
			}
		}
		if !slices.Equal(got, test.want) || pages > 4 {
			t.Errorf("%s: %v on %d pages, want %v", test.name, got, pages, test.want)
		}
	}
	for _, token := range []string{"x", nextPage(listOwners, "ann"), nextPage("botsbots", "a")} {
		_, err := client.ListBots(t.Context(), &flip7v1.ListBotsRequest{PageToken: token})
		if status.Code(err) != codes.InvalidArgument {
			t.Errorf("page token %q: %v, want INVALID_ARGUMENT", token, err)
		}
	}
	shown, err := client.GetBot(t.Context(), &flip7v1.GetBotRequest{Name: "bot-4"})
	if b := shown.GetBot(); err != nil || b.GetInstances() != 1 || b.GetBuild() != "1" || b.GetKitName() != "go" || b.GetKitVersion() != "3.1" ||
		b.GetLastSeenTime() == nil || b.GetCapacity().GetMaxGames() != 8 {
		t.Errorf("a connected bot is shown as %v, %v; want 1 instance of build 1 by kit go 3.1 for 8 games, seen now", b, err)
	}
	_, err = client.ListBots(t.Context(), &flip7v1.ListBotsRequest{PageSize: 1001})
	if d := detailsOf(t, err); status.Code(err) != codes.InvalidArgument || !slices.Equal(d.fields, []string{"page_size"}) {
		t.Errorf("1001 bots a page: %v %+v, want INVALID_ARGUMENT for page_size", err, d)
	}
}

func TestStreamsEndWithTheirToken(t *testing.T) {
	r := start(t)
	tokens := r.roles()
	client := flip7v1.NewBotServiceClient(r.conn)
	for _, test := range []struct {
		what string
		do   func() (token string, err error)
	}{
		{"rotated by its owner", func() (string, error) {
			resp, err := client.RotateBot(tokens.owner, &flip7v1.RotateBotRequest{Name: "odds-bot"})
			return resp.GetToken(), err
		}},
		{"retired", func() (string, error) {
			_, err := client.RetireBot(tokens.owner, &flip7v1.RetireBotRequest{Name: "odds-bot"})
			return "", err
		}},
	} {
		b := r.join(tokens.bot, "one")
		token, err := test.do()
		if err != nil {
			t.Fatalf("%s: %v", test.what, err)
		}
		_, last, err := b.end()
		if d := detailsOf(t, err); last.GetReason() != flip7v1.EndReason_END_REASON_TOKEN_REVOKED || last.GetComeBack() ||
			status.Code(err) != codes.Unauthenticated || d.reason != "TOKEN_REVOKED" {
			t.Errorf("%s: the stream ends with %v, %v; want TOKEN_REVOKED and not to come back", test.what, last, err)
		}
		stream, err := flip7v1.NewPlayServiceClient(r.conn).Play(tokens.bot)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := stream.Recv(); status.Code(err) != codes.Unauthenticated {
			t.Errorf("%s: a stream with the old token: %v, want UNAUTHENTICATED", test.what, err)
		}
		tokens.bot = as(t.Context(), token)
	}
}

func TestWhatEndsWithAnOwner(t *testing.T) {
	r := start(t)
	tokens := r.roles()
	client := flip7v1.NewBotServiceClient(r.conn)
	night := r.night(func(id int64) error {
		_, err := r.arena.Enter(t.Context(), id, arena.Entrant{Player: "bot:odds-bot", Owner: "ann"}, arena.Act{Who: "admin"})
		return err
	})
	b := r.join(tokens.bot, "one")
	for range 2 { // the second time is fine
		resp, err := client.RetireOwner(r.admin, &flip7v1.RetireOwnerRequest{Name: "ann"})
		if err != nil || resp.GetOwner().GetRetireTime() == nil || resp.GetOwner().GetBots() != 0 {
			t.Fatalf("retire an owner: %v, %v, want one that is retired and has no bots", resp, err)
		}
	}
	if _, last, _ := b.end(); last.GetReason() != flip7v1.EndReason_END_REASON_TOKEN_REVOKED {
		t.Errorf("the stream of its bot ends with %v, want TOKEN_REVOKED", last)
	}
	now, err := r.arena.Tournament(t.Context(), night.ID)
	if e, _ := now.Entry("odds-bot"); err != nil || e.State != arena.Withdrawn {
		t.Errorf("the entry of its bot is %v, %v, want withdrawn", e, err)
	}
	acts, err := r.store.Acts(t.Context(), night.ID)
	if last := acts[len(acts)-1]; err != nil || last.Who != "admin" || last.What != "withdraw odds-bot" || last.Why != "the bot is retired" {
		t.Errorf("the audit log ends with %+v, %v, want that the admin withdrew odds-bot, and why", last, err)
	}
	for who, ctx := range map[string]context.Context{"owner": tokens.owner, "bot": tokens.bot} {
		if _, err := client.WhoAmI(ctx, &flip7v1.WhoAmIRequest{}); status.Code(err) != codes.Unauthenticated {
			t.Errorf("the token of the %s: %v, want UNAUTHENTICATED", who, err)
		}
	}
	_, err = client.RegisterBot(r.admin, &flip7v1.RegisterBotRequest{Name: "new", Owner: "ann"})
	if d := detailsOf(t, err); status.Code(err) != codes.FailedPrecondition || d.reason != "RETIRED" {
		t.Errorf("a bot for a retired owner: %v %+v, want FAILED_PRECONDITION", err, d)
	}
	if _, err := client.RegisterBot(r.admin, &flip7v1.RegisterBotRequest{Name: "odds-bot"}); status.Code(err) != codes.AlreadyExists {
		t.Errorf("the name of a retired bot: %v, want ALREADY_EXISTS", err)
	}
}

func TestABotThatEntersAsItRetiresIsNotWaitedFor(t *testing.T) {
	h := host(t)
	tokens := h.roles()
	bots := flip7v1.NewBotServiceClient(h.conn)
	id := h.opened(nil)
	for n := range 60 {
		name := fmt.Sprintf("bot-%d", n)
		if _, err := bots.RegisterBot(h.admin, &flip7v1.RegisterBotRequest{Name: name, Owner: "ann"}); err != nil {
			t.Fatal(err)
		}
		var both sync.WaitGroup
		both.Go(func() {
			_, err := h.EnterBot(h.admin, &flip7v1.EnterBotRequest{TournamentId: id, Player: name})
			if err != nil && status.Code(err) != codes.FailedPrecondition {
				t.Errorf("%s enters: %v", name, err)
			}
		})
		both.Go(func() {
			if _, err := bots.RetireBot(tokens.owner, &flip7v1.RetireBotRequest{Name: name}); err != nil {
				t.Errorf("%s retires: %v", name, err)
			}
		})
		both.Wait()
	}
	number, _ := wire.TournamentIDOf(id)
	night, err := h.arena.Tournament(t.Context(), number)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range night.Entries {
		if e.State == arena.Entered {
			t.Errorf("%s is retired, and the night waits for it", e.Name)
		}
	}
}
