package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/remote"
	"github.com/flip7-arena/flip7/server/store"
	"github.com/flip7-arena/flip7/server/wire"
)

// botService registers bots and owners; the calls about owners are in owner.go.
type botService struct {
	flip7v1.UnimplementedBotServiceServer
	*Server
}

// RegisterBot makes a bot.
func (s *botService) RegisterBot(ctx context.Context, r *flip7v1.RegisterBotRequest) (*flip7v1.RegisterBotResponse, error) {
	by := callerOf(ctx)
	owner := r.GetOwner()
	if owner == "" && !by.admin() {
		owner = by.name
	}
	if err := checkName("name", r.GetName()); err != nil {
		return nil, err
	}
	if owner != "" {
		if _, err := s.store.Owner(ctx, owner); errors.Is(err, arena.ErrNotFound) { // names of before stay
			if err := checkName("owner", owner); err != nil {
				return nil, err
			}
		}
		if !by.owns(owner) {
			return nil, failed(codes.PermissionDenied, "NOT_THE_OWNER", "owner: %s cannot register bots for owner %s", by, owner)
		}
	}
	// One at a time, so that two of an owner do not both take the last place that it has.
	s.registering.Lock()
	defer s.registering.Unlock()
	if !by.admin() {
		of, err := s.store.Owner(ctx, owner)
		if err != nil {
			return nil, err
		}
		if of.Bots >= s.config.MaxBots {
			return nil, failed(codes.FailedPrecondition, "TOO_MANY_BOTS", "owner %s has %d bots, as many as an owner may have; retire one", owner, of.Bots)
		}
	}
	token, hash := newToken()
	ownerToken, ownerHash := newToken()
	made, err := s.store.AddBot(ctx, r.GetName(), owner, hash, ownerHash, time.Now())
	if err != nil {
		return nil, err
	}
	s.log.InfoContext(ctx, "a bot is registered", "name", r.GetName(), "of", owner, "by", by.String())
	bot, err := s.one(ctx, r.GetName())
	if err != nil {
		return nil, err
	}
	resp := &flip7v1.RegisterBotResponse{Bot: bot, Token: token}
	if made {
		resp.OwnerToken = ownerToken
	}
	return resp, nil
}

// GetBot shows a bot.
func (s *botService) GetBot(ctx context.Context, r *flip7v1.GetBotRequest) (*flip7v1.GetBotResponse, error) {
	bot, err := s.one(ctx, r.GetName())
	return &flip7v1.GetBotResponse{Bot: bot}, err
}

func (s *botService) one(ctx context.Context, name string) (*flip7v1.Bot, error) {
	bot, err := s.store.Bot(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("bot %q: %w", name, err)
	}
	playing, err := s.store.Playing(ctx)
	if err != nil {
		return nil, fmt.Errorf("who plays where: %w", err)
	}
	return s.describe(bot, playing), nil
}

// describe is a bot with all that is known of it now, and of where bots play.
func (s *botService) describe(bot store.Bot, playing map[string]int64) *flip7v1.Bot {
	told := &flip7v1.Bot{Name: bot.Name, Owner: bot.Owner, CreateTime: timestamp(bot.Created), RetireTime: timestamp(bot.Retired)}
	if id, plays := playing[bot.Name]; plays {
		told.TournamentId = wire.TournamentID(id)
	}
	p, connected := s.bots.Bots.Presence(bot.Name)
	told.Instances, told.Games = uint32(p.Instances), uint32(p.Games)
	told.Build, told.KitName, told.KitVersion = p.Newest.Build, p.Newest.KitName, p.Newest.KitVersion
	told.Absent, told.Practice = p.Absent, p.Practice
	if connected {
		told.Capacity = &flip7v1.Capacity{MaxGames: uint32(p.MaxGames), MaxOpen: uint32(p.MaxOpen)}
	}
	told.LastSeenTime = timestamp(s.metrics.lastSeen(bot.Name))
	return told
}

// timestamp is a time on the wire; the zero time is absent.
func timestamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

const listBots = "bots"

// ListBots lists bots by name.
func (s *botService) ListBots(ctx context.Context, r *flip7v1.ListBotsRequest) (*flip7v1.ListBotsResponse, error) {
	p, err := pageOf(listBots, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	var bots []store.Bot
	for after := p.after; len(bots) <= p.size; {
		var some []store.Bot
		if r.GetOwner() == "" {
			some, err = s.store.Bots(ctx, after, p.size+1, r.GetRetired())
		} else {
			some, err = s.store.BotsOf(ctx, r.GetOwner(), after, p.size+1, r.GetRetired())
		}
		if err != nil {
			return nil, fmt.Errorf("list bots: %w", err)
		}
		for _, bot := range some {
			if _, connected := s.bots.Bots.Presence(bot.Name); connected || !r.GetConnected() {
				bots = append(bots, bot)
			}
		}
		if len(some) <= p.size {
			break
		}
		after = some[len(some)-1].Name
	}
	playing, err := s.store.Playing(ctx)
	if err != nil {
		return nil, fmt.Errorf("who plays where: %w", err)
	}
	resp := new(flip7v1.ListBotsResponse)
	bots, resp.NextPageToken = cut(p, listBots, bots, func(b store.Bot) string { return b.Name })
	for _, bot := range bots {
		resp.Bots = append(resp.Bots, s.describe(bot, playing))
	}
	return resp, nil
}

// look is a bot that the caller may look after.
func (s *botService) look(ctx context.Context, name string) (store.Bot, error) {
	bot, err := s.store.Bot(ctx, name)
	if err != nil {
		return bot, fmt.Errorf("bot %q: %w", name, err)
	}
	if by := callerOf(ctx); !by.owns(bot.Owner) {
		return bot, failed(codes.PermissionDenied, "NOT_THE_OWNER", "bot %s is not one of %s", name, by)
	}
	return bot, nil
}

// RotateBot gives a bot another token.
func (s *botService) RotateBot(ctx context.Context, r *flip7v1.RotateBotRequest) (*flip7v1.RotateBotResponse, error) {
	bot, err := s.look(ctx, r.GetName())
	if err != nil {
		return nil, err
	}
	token, hash := newToken()
	if err := s.store.RotateBot(ctx, bot.Name, hash, time.Now()); err != nil {
		return nil, err
	}
	s.log.InfoContext(ctx, "a bot has another token", "name", bot.Name, "by", callerOf(ctx).String())
	s.bots.End(bot.Name, flip7v1.EndReason_END_REASON_TOKEN_REVOKED, "the bot has another token now")
	return &flip7v1.RotateBotResponse{Token: token}, nil
}

// RetireBot ends a bot for good.
func (s *botService) RetireBot(ctx context.Context, r *flip7v1.RetireBotRequest) (*flip7v1.RetireBotResponse, error) {
	bot, err := s.look(ctx, r.GetName())
	if err != nil {
		return nil, err
	}
	s.nights.entering.Lock() // who enters is not retired, or seen by dismiss
	err = s.store.RetireBot(ctx, bot.Name, time.Now())
	s.nights.entering.Unlock()
	if err != nil {
		return nil, err
	}
	if err := s.dismiss(ctx, bot.Name); err != nil {
		return nil, err
	}
	told, err := s.one(ctx, bot.Name)
	return &flip7v1.RetireBotResponse{Bot: told}, err
}

// dismiss ends the streams and the entries of bots that were retired.
func (s *botService) dismiss(ctx context.Context, bots ...string) error {
	for _, name := range bots {
		s.log.InfoContext(ctx, "a bot is retired", "name", name, "by", callerOf(ctx).String())
		s.bots.Stop(name)
		s.bots.End(name, flip7v1.EndReason_END_REASON_TOKEN_REVOKED, "the bot is retired")
	}
	live, err := s.store.Live(ctx)
	if err != nil {
		return fmt.Errorf("the tournaments that run: %w", err)
	}
	for _, t := range live {
		for _, name := range bots {
			if e, entered := t.Entry(name); !entered || e.State != arena.Entered {
				continue
			}
			err := s.arena.Withdraw(ctx, t.ID, name, act(ctx, "withdraw", name, "the bot is retired"))
			if _, over := errors.AsType[*arena.StateError](err); err != nil && !over {
				return fmt.Errorf("withdraw %q from tournament %d: %w", name, t.ID, err)
			}
		}
	}
	return nil
}

// WhoAmI says what a token stands for.
func (s *botService) WhoAmI(ctx context.Context, _ *flip7v1.WhoAmIRequest) (*flip7v1.WhoAmIResponse, error) {
	by := callerOf(ctx)
	resp := &flip7v1.WhoAmIResponse{Name: by.name, Arena: s.config.Version, Protocols: []uint32{remote.Protocol}}
	switch by.role {
	case adminRole:
		resp.Role = flip7v1.Role_ROLE_ADMIN
	case ownerRole:
		resp.Role = flip7v1.Role_ROLE_OWNER
	case botRole:
		resp.Role = flip7v1.Role_ROLE_BOT
	default:
		resp.Role = flip7v1.Role_ROLE_ANYONE
	}
	return resp, nil
}

// lookup finds whose token has a hash; see gate.
func (s *Server) lookup(ctx context.Context, hash [32]byte) (caller, error) {
	if c, known := s.bots.started(hash); known {
		return c, nil
	}
	bot, err := s.store.BotByToken(ctx, hash)
	if err == nil {
		return caller{role: botRole, name: bot.Name, owner: bot.Owner}, nil
	}
	if !errors.Is(err, arena.ErrNotFound) {
		return caller{}, err
	}
	owner, err := s.store.OwnerByToken(ctx, hash)
	if errors.Is(err, arena.ErrNotFound) {
		err = errNoToken
	}
	return caller{role: ownerRole, name: owner.Name}, err
}

// claim makes sure that there is a bot of a name that is the organiser's, so that nobody else comes by that name and by
// what it has achieved.
func (s *Server) claim(ctx context.Context, name string) error {
	bot, err := s.store.Bot(ctx, name)
	switch {
	case errors.Is(err, arena.ErrNotFound):
		_, nobody := newToken() // RotateBot gives it one that is known to somebody
		_, err = s.store.AddBot(ctx, name, "", nobody, [32]byte{}, time.Now())
		if errors.Is(err, store.ErrTaken) {
			return failed(codes.AlreadyExists, "NAME_TAKEN", "as_name: %v, or one that looks like it", err)
		}
		return err
	case err != nil:
		return fmt.Errorf("bot %q: %w", name, err)
	case !bot.Retired.IsZero():
		return failed(codes.FailedPrecondition, "RETIRED", "bot %s is retired", name)
	case bot.Owner != "":
		return failed(codes.AlreadyExists, "NAME_TAKEN", "as_name: %q is a bot of owner %s", name, bot.Owner)
	}
	return nil
}
