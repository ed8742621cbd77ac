package server

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/grpc-ecosystem/go-grpc-middleware/v2/interceptors/logging"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// role is what a token allows. The zero role reads what is public.
type role uint8

const (
	anyone role = 1 << iota
	botRole
	ownerRole
	adminRole
	everyRole = anyone | botRole | ownerRole | adminRole
)

// caller is who makes a call.
type caller struct {
	role  role
	name  string // of the bot or owner; "" for the others
	owner string // of a bot; "" if it is the organiser's
	hash  [sha256.Size]byte
}

// String is how logs and the audit log name a caller; there is never a token in it.
func (c caller) String() string {
	switch c.role {
	case adminRole:
		return "admin"
	case ownerRole:
		return "owner " + c.name
	case botRole:
		return "bot " + c.name
	}
	return "anyone"
}

// admin reports whether the caller is the organiser.
func (c caller) admin() bool { return c.role == adminRole }

// owns reports whether the caller may look after what an owner has; the organiser may look after everything.
func (c caller) owns(owner string) bool {
	return c.admin() || c.role == ownerRole && c.name == owner
}

// is reports whether the caller is the bot.
func (c caller) is(bot string) bool { return c.role == botRole && c.name == bot }

type callerKey struct{}

// callerOf is who makes the call that ctx belongs to.
func callerOf(ctx context.Context) caller {
	c, known := ctx.Value(callerKey{}).(caller)
	if !known {
		return caller{role: anyone}
	}
	return c
}

// allowed is who may make a call at all. Whose bot it is about, and whether registration is open, the handlers look at.
// What is not listed is for the admin only, so that a new call is closed until somebody has thought about it.
func allowed(method string) role {
	switch method {
	case flip7v1.PlayService_Play_FullMethodName:
		return botRole
	case flip7v1.BotService_RegisterBot_FullMethodName,
		flip7v1.BotService_RotateBot_FullMethodName,
		flip7v1.BotService_RetireBot_FullMethodName,
		flip7v1.BotService_RotateOwner_FullMethodName,
		flip7v1.BotService_RetireOwner_FullMethodName:
		return ownerRole | adminRole
	case flip7v1.BotService_ListLog_FullMethodName,
		flip7v1.TournamentService_EnterBot_FullMethodName,
		flip7v1.TournamentService_WithdrawBot_FullMethodName:
		return botRole | ownerRole | adminRole
	case flip7v1.BotService_GetBot_FullMethodName,
		flip7v1.BotService_ListBots_FullMethodName,
		flip7v1.BotService_RegisterOwner_FullMethodName,
		flip7v1.BotService_WhoAmI_FullMethodName,
		flip7v1.TournamentService_GetTournament_FullMethodName,
		flip7v1.TournamentService_ListTournaments_FullMethodName,
		flip7v1.TournamentService_ListEntries_FullMethodName,
		flip7v1.TournamentService_ListPairings_FullMethodName,
		flip7v1.TournamentService_ListStandings_FullMethodName,
		flip7v1.TournamentService_ListAims_FullMethodName,
		flip7v1.TournamentService_ListAudits_FullMethodName,
		flip7v1.TournamentService_ExportTournament_FullMethodName,
		flip7v1.RatingService_GetLeague_FullMethodName,
		flip7v1.RatingService_ListLeagues_FullMethodName,
		flip7v1.RatingService_ListLeagueTournaments_FullMethodName,
		flip7v1.RatingService_ListRatings_FullMethodName,
		flip7v1.RatingService_CompareBots_FullMethodName,
		flip7v1.RatingService_ListRatingHistory_FullMethodName,
		flip7v1.WatchService_WatchTournament_FullMethodName,
		flip7v1.WatchService_WatchGame_FullMethodName,
		flip7v1.WatchService_ListGames_FullMethodName,
		flip7v1.WatchService_GetGame_FullMethodName,
		flip7v1.WatchService_GetGameRecord_FullMethodName:
		return everyRole
	}
	return adminRole
}

// errNoToken is a token that stands for nobody.
var errNoToken = errors.New("unknown token")

// gate lets callers in.
type gate struct {
	admin [sha256.Size]byte // of the admin's token
	// lookup finds a bot or owner by the hash of its token; errNoToken if there is none or it was revoked.
	lookup func(ctx context.Context, hash [sha256.Size]byte) (caller, error)
}

// enter is the caller of a method by its metadata. A wrong token is refused also where none is needed: whoever sends one
// wants to be known.
func (g *gate) enter(ctx context.Context, method string) (caller, error) {
	c := caller{role: anyone}
	token, err := bearer(ctx)
	if err != nil {
		return caller{}, err
	}
	if token != "" {
		hash := sha256.Sum256([]byte(token))
		if subtle.ConstantTimeCompare(hash[:], g.admin[:]) == 1 {
			c.role = adminRole
		} else if c, err = g.lookup(ctx, hash); errors.Is(err, errNoToken) {
			return caller{}, failed(codes.Unauthenticated, "TOKEN_UNKNOWN", "authorization: the token is unknown, or was rotated or revoked")
		} else if err != nil {
			return caller{}, fmt.Errorf("look up a token: %w", err)
		}
		c.hash = hash
	}
	switch needs := allowed(method); {
	case needs&c.role != 0:
		return c, nil
	case c.role == anyone:
		return caller{}, failed(codes.Unauthenticated, "TOKEN_MISSING", "authorization: this call needs the token of %s: send \"authorization: Bearer TOKEN\"", needs)
	default:
		return caller{}, failed(codes.PermissionDenied, "ROLE", "this call is for %s; the token is that of %s", needs, c)
	}
}

// String names who has one of the roles.
func (r role) String() string {
	var names []string
	for _, known := range []struct {
		role role
		name string
	}{{adminRole, "the admin"}, {ownerRole, "an owner"}, {botRole, "a bot"}, {anyone, "anyone"}} {
		if r&known.role != 0 {
			names = append(names, known.name)
		}
	}
	return strings.Join(names, " or ")
}

// bearer is the token of a call; "" if it has none.
func bearer(ctx context.Context) (string, error) {
	values := metadata.ValueFromIncomingContext(ctx, "authorization")
	switch len(values) {
	case 0:
		return "", nil
	case 1:
	default:
		return "", failed(codes.Unauthenticated, "TOKEN_MALFORMED", "authorization: given %d times; it takes one", len(values))
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if token = strings.TrimSpace(token); !strings.EqualFold(scheme, "bearer") || token == "" {
		return "", failed(codes.Unauthenticated, "TOKEN_MALFORMED", "authorization: is not of the form \"Bearer TOKEN\"")
	}
	return token, nil
}

// known is ctx with the caller, and with the caller in the fields of the log of the call.
func known(ctx context.Context, c caller) context.Context {
	switch c.role {
	case botRole:
		logging.AddFields(ctx, logging.Fields{"bot", c.name})
	case ownerRole:
		logging.AddFields(ctx, logging.Fields{"owner", c.name})
	case adminRole:
		logging.AddFields(ctx, logging.Fields{"admin", true})
	}
	return context.WithValue(ctx, callerKey{}, c)
}

// newToken makes a token of 256 bits, and the hash under which it is kept. It does not begin with a dash, which a command
// line would take for a flag.
func newToken() (token string, hash [sha256.Size]byte) {
	for token == "" || token[0] == '-' {
		var secret [32]byte
		rand.Read(secret[:]) // never fails
		token = base64.RawURLEncoding.EncodeToString(secret[:])
	}
	return token, sha256.Sum256([]byte(token))
}

// adminTokenFile is the file in the data folder that holds the admin's token.
const adminTokenFile = "admin.token"

// adminToken is the hash of the admin's token, and where the token is. The first start makes the token; to rotate it,
// stop the arena and delete the file.
func adminToken(folder string, log *slog.Logger) (hash [sha256.Size]byte, path string, err error) {
	path = filepath.Join(folder, adminTokenFile)
	content, err := os.ReadFile(path)
	switch {
	case err == nil:
		token := strings.TrimSpace(string(content))
		if len(token) < 32 {
			return hash, path, fmt.Errorf("admin token: %s holds no token of at least 32 characters; delete it to have a new one made", path)
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			log.Warn("others may read the admin token", "file", path, "mode", info.Mode().Perm().String(), "mend", "chmod 600")
		}
		return sha256.Sum256([]byte(token)), path, nil
	case !errors.Is(err, fs.ErrNotExist):
		return hash, path, fmt.Errorf("admin token: %w", err)
	}
	token, hash := newToken()
	if err := writePrivate(path, token+"\n"); err != nil {
		return hash, path, fmt.Errorf("admin token: %w", err)
	}
	return hash, path, nil
}

// writePrivate makes a file that only its owner can read, whole or not at all.
func writePrivate(path, content string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".new-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // fails once the file has its name
	if _, err = file.WriteString(content); err == nil {
		err = file.Sync()
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	return err
}
