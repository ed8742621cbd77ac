package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/emptypb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// whoMayCall is what the proto files say in words. The roles are in the order admin, owner, bot, anyone.
const whoMayCall = `
PlayService.Play                        bot
BotService.RegisterBot                  admin owner
BotService.GetBot                       admin owner bot anyone
BotService.ListBots                     admin owner bot anyone
BotService.RotateBot                    admin owner
BotService.RetireBot                    admin owner
BotService.ListLog                      admin owner bot
BotService.RegisterOwner                admin owner bot anyone
BotService.ListOwners                   admin
BotService.RotateOwner                  admin owner
BotService.RetireOwner                  admin owner
BotService.CreateInvitation             admin
BotService.ListInvitations              admin
BotService.RevokeInvitation             admin
BotService.WhoAmI                       admin owner bot anyone
TournamentService.CreateTournament      admin
TournamentService.OpenTournament        admin
TournamentService.EnterBot              admin owner bot
TournamentService.WithdrawBot           admin owner bot
TournamentService.KickBot               admin
TournamentService.StartTournament       admin
TournamentService.PauseTournament       admin
TournamentService.ResumeTournament      admin
TournamentService.CancelTournament      admin
TournamentService.VoidTable             admin
TournamentService.RehearseTournament    admin
TournamentService.GetTournament         admin owner bot anyone
TournamentService.ListTournaments       admin owner bot anyone
TournamentService.ListEntries           admin owner bot anyone
TournamentService.ListPairings          admin owner bot anyone
TournamentService.ListStandings         admin owner bot anyone
TournamentService.ListAims              admin owner bot anyone
TournamentService.ListAudits            admin owner bot anyone
TournamentService.ExportTournament      admin owner bot anyone
RatingService.CreateLeague              admin
RatingService.GetLeague                 admin owner bot anyone
RatingService.ListLeagues               admin owner bot anyone
RatingService.ListLeagueTournaments     admin owner bot anyone
RatingService.ExcludeResult             admin
RatingService.IncludeResult             admin
RatingService.ListRatings               admin owner bot anyone
RatingService.CompareBots               admin owner bot anyone
RatingService.ListRatingHistory         admin owner bot anyone
WatchService.WatchTournament            admin owner bot anyone
WatchService.WatchGame                  admin owner bot anyone
WatchService.ListGames                  admin owner bot anyone
WatchService.GetGame                    admin owner bot anyone
WatchService.GetGameRecord              admin owner bot anyone
`

// tokens are calls of each role.
type tokens struct {
	admin, owner, bot, anyone context.Context
	all                       []string // that are to be kept secret
}

// roles registers owner ann with bot odds-bot.
func (r *running) roles() tokens {
	r.t.Helper()
	client := flip7v1.NewBotServiceClient(r.conn)
	owner, err := client.RegisterOwner(r.admin, &flip7v1.RegisterOwnerRequest{Name: "ann"})
	if err != nil {
		r.t.Fatal(err)
	}
	tokens := tokens{admin: r.admin, owner: as(r.t.Context(), owner.GetToken()), anyone: r.t.Context(), all: []string{owner.GetToken()}}
	bot, err := client.RegisterBot(tokens.owner, &flip7v1.RegisterBotRequest{Name: "odds-bot"})
	if err != nil {
		r.t.Fatal(err)
	}
	tokens.bot, tokens.all = as(r.t.Context(), bot.GetToken()), append(tokens.all, bot.GetToken())
	return tokens
}

func TestWhoMayCall(t *testing.T) {
	r := start(t, func(c *Config) { c.TokenRate, c.AddressRate = 1000, 1000 })
	tokens := r.roles()
	table := map[string][]string{}
	for line := range strings.Lines(strings.TrimSpace(whoMayCall)) {
		words := strings.Fields(line)
		table["/flip7.v1."+strings.Replace(words[0], ".", "/", 1)] = words[1:]
	}
	for _, method := range methods() {
		name := path(method)
		roles, known := table[name]
		if !known {
			t.Errorf("%s is in no line of the table: who may call it?", name)
		}
		for role, ctx := range map[string]context.Context{"admin": tokens.admin, "owner": tokens.owner, "bot": tokens.bot, "anyone": tokens.anyone} {
			err := r.call(ctx, name, method)
			want := codes.OK
			switch {
			case slices.Contains(roles, role):
			case role == "anyone":
				want = codes.Unauthenticated
			default:
				want = codes.PermissionDenied
			}
			got, reason := status.Code(err), ""
			if err != nil {
				reason = detailsOf(t, err).reason
			}
			refused := reason == "ROLE" || reason == "TOKEN_MISSING"
			if refused != (want != codes.OK) || refused && got != want {
				t.Errorf("%s as %s: %v (%s), want %v", name, role, got, reason, want)
			}
		}
	}
}

// call makes a call with an empty message, and waits for its first answer.
func (r *running) call(ctx context.Context, name string, method protoreflect.MethodDescriptor) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	stream, err := r.conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: method.IsStreamingServer(), ClientStreams: method.IsStreamingClient()}, name)
	if err != nil {
		return err
	}
	if err := stream.SendMsg(new(emptypb.Empty)); err != nil && err != io.EOF {
		return err
	}
	if err := stream.CloseSend(); err != nil {
		return err
	}
	if err = stream.RecvMsg(new(emptypb.Empty)); err == io.EOF {
		return nil
	}
	return err
}

func TestTokensThatAreNone(t *testing.T) {
	r := start(t)
	tokens := r.roles()
	for _, test := range []struct {
		name   string
		values []string
		reason string
	}{
		{"unknown", []string{"Bearer aGVsbG8"}, "TOKEN_UNKNOWN"},
		{"without Bearer", []string{tokens.all[1]}, "TOKEN_MALFORMED"},
		{"of another scheme", []string{"Basic " + tokens.all[1]}, "TOKEN_MALFORMED"},
		{"empty", []string{"Bearer "}, "TOKEN_MALFORMED"},
		{"given twice", []string{"Bearer " + tokens.all[1], "Bearer " + tokens.all[1]}, "TOKEN_MALFORMED"},
		{"with something after it", []string{"Bearer " + tokens.all[1] + "x"}, "TOKEN_UNKNOWN"},
		{"its hash", []string{"Bearer " + hashOf(tokens.all[1])}, "TOKEN_UNKNOWN"},
	} {
		ctx := metadata.NewOutgoingContext(t.Context(), metadata.MD{"authorization": test.values})
		// A call for which no token is needed: whoever sends one that is wrong is to learn of it.
		_, err := flip7v1.NewBotServiceClient(r.conn).WhoAmI(ctx, &flip7v1.WhoAmIRequest{})
		if d := detailsOf(t, err); status.Code(err) != codes.Unauthenticated || d.reason != test.reason {
			t.Errorf("a token %s: %v %+v, want UNAUTHENTICATED, %s", test.name, err, d, test.reason)
		}
	}
	for want, ctx := range map[flip7v1.Role]context.Context{flip7v1.Role_ROLE_ADMIN: tokens.admin, flip7v1.Role_ROLE_OWNER: tokens.owner,
		flip7v1.Role_ROLE_BOT: tokens.bot, flip7v1.Role_ROLE_ANYONE: tokens.anyone} {
		me, err := flip7v1.NewBotServiceClient(r.conn).WhoAmI(ctx, &flip7v1.WhoAmIRequest{})
		if err != nil || me.GetRole() != want {
			t.Errorf("the token of %v is one of %v, %v", want, me.GetRole(), err)
		}
	}
	tokens.all = append(tokens.all, tokenIn(t, r.AdminTokenFile()))
	r.never(tokens.all)
}

func hashOf(token string) string {
	hash := sha256.Sum256([]byte(token))
	return base64.RawURLEncoding.EncodeToString(hash[:])
}

func tokenIn(t testing.TB, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

// never looks for tokens in the log, and in all files but the admin's own.
func (r *running) never(tokens []string) {
	r.t.Helper()
	for _, token := range tokens {
		if len(token) < 40 {
			r.t.Errorf("a token has %d characters, want the 43 of 256 bits", len(token))
		}
	}
	r.hidden(tokens)
}

// hidden looks for secrets of any length where never does.
func (r *running) hidden(secrets []string) {
	r.t.Helper()
	for _, secret := range secrets {
		if strings.Contains(r.log.String(), secret) {
			r.t.Errorf("%s is in the log", secret)
		}
	}
	err := filepath.WalkDir(r.config.Folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || path == r.AdminTokenFile() {
			return err
		}
		content, err := os.ReadFile(path)
		for _, secret := range secrets {
			if bytes.Contains(content, []byte(secret)) {
				r.t.Errorf("%s is in %s", secret, path)
			}
		}
		return err
	})
	if err != nil {
		r.t.Error(err)
	}
}

func TestTheAdminsTokenStaysUntilItsFileIsDeleted(t *testing.T) {
	folder := t.TempDir()
	var seen []string
	for _, delete := range []bool{false, true, false} {
		t.Run("", func(t *testing.T) {
			r := startIn(t, folder)
			info, err := os.Stat(r.AdminTokenFile())
			if err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("the file of the admin's token: mode %v, %v, want 0600", info.Mode().Perm(), err)
			}
			seen = append(seen, tokenIn(t, r.AdminTokenFile()))
			if _, err := flip7v1.NewBotServiceClient(r.conn).ListOwners(r.admin, &flip7v1.ListOwnersRequest{}); err != nil {
				t.Errorf("the admin's token is refused: %v", err)
			}
			if delete {
				os.Remove(r.AdminTokenFile())
			}
		})
	}
	if seen[0] != seen[1] || seen[1] == seen[2] {
		t.Error("the token has to be the same at the second start, and another one after its file was deleted")
	}
}

func TestAnAdminTokenFileThatHoldsNone(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, adminTokenFile), []byte("\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Folder: folder}, Deps{}); err == nil || !strings.Contains(err.Error(), "delete it") {
		t.Errorf("an empty file as the admin's token: %v, want an error that says what to do", err)
	}
}

func TestTokensAreNotTakenForFlags(t *testing.T) {
	for range 1000 {
		if token, hash := newToken(); len(token) != 43 || token[0] == '-' || hash != sha256.Sum256([]byte(token)) {
			t.Fatalf("token %q of %d characters with hash %x", token, len(token), hash)
		}
	}
}
