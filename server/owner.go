package server

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
)

// RegisterOwner makes an owner.
func (s *botService) RegisterOwner(ctx context.Context, r *flip7v1.RegisterOwnerRequest) (*flip7v1.RegisterOwnerResponse, error) {
	by := callerOf(ctx)
	if err := checkName("name", r.GetName()); err != nil {
		return nil, err
	}
	invited := r.GetInvitationCode() != ""
	switch {
	case by.admin():
	case s.config.Registration == RegistrationClosed:
		return nil, failed(codes.PermissionDenied, "REGISTRATION_CLOSED", "only the admin makes owners here")
	case s.config.Registration == RegistrationInvite && !invited:
		return nil, failed(codes.PermissionDenied, "INVITATION_MISSING", "invitation_code: is empty; who becomes an owner here has one from the admin")
	case !invited: // who is invited is counted by the invitation
		if err := s.newcomers.take(ctx, time.Now()); err != nil {
			return nil, err
		}
	}
	token, err := s.addOwner(ctx, r)
	if err != nil {
		return nil, err
	}
	s.log.InfoContext(ctx, "an owner is registered", "name", r.GetName(), "by", by.String(), "invited", invited)
	owner, err := s.store.Owner(ctx, r.GetName())
	if err != nil {
		return nil, err
	}
	return &flip7v1.RegisterOwnerResponse{Owner: describeOwner(owner), Token: token}, nil
}

// addOwner keeps a new owner and makes its token. A code that is sent has to hold, also where none is needed: whoever
// sends one wants it known by whom they came.
func (s *botService) addOwner(ctx context.Context, r *flip7v1.RegisterOwnerRequest) (token string, err error) {
	token, hash := newToken()
	if r.GetInvitationCode() == "" {
		return token, s.store.AddOwner(ctx, r.GetName(), hash, time.Now())
	}
	return token, uninvited(s.store.AddInvitedOwner(ctx, r.GetName(), hash, hashOfCode(r.GetInvitationCode()), time.Now()))
}

func describeOwner(o store.Owner) *flip7v1.Owner {
	return &flip7v1.Owner{Name: o.Name, CreateTime: timestamp(o.Created), RetireTime: timestamp(o.Retired), Bots: uint32(o.Bots)}
}

const listOwners = "owners"

// ListOwners lists owners by name.
func (s *botService) ListOwners(ctx context.Context, r *flip7v1.ListOwnersRequest) (*flip7v1.ListOwnersResponse, error) {
	p, err := pageOf(listOwners, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	owners, err := s.store.Owners(ctx, p.after, p.size+1, r.GetRetired())
	if err != nil {
		return nil, fmt.Errorf("list owners: %w", err)
	}
	resp := new(flip7v1.ListOwnersResponse)
	owners, resp.NextPageToken = cut(p, listOwners, owners, func(o store.Owner) string { return o.Name })
	for _, owner := range owners {
		resp.Owners = append(resp.Owners, describeOwner(owner))
	}
	return resp, nil
}

// RotateOwner gives an owner another token.
func (s *botService) RotateOwner(ctx context.Context, r *flip7v1.RotateOwnerRequest) (*flip7v1.RotateOwnerResponse, error) {
	if err := itself(ctx, r.GetName()); err != nil {
		return nil, err
	}
	token, hash := newToken()
	if err := s.store.RotateOwner(ctx, r.GetName(), hash, time.Now()); err != nil {
		return nil, err
	}
	s.log.InfoContext(ctx, "an owner has another token", "name", r.GetName(), "by", callerOf(ctx).String())
	return &flip7v1.RotateOwnerResponse{Token: token}, nil
}

// itself refuses owners who speak for other owners.
func itself(ctx context.Context, owner string) error {
	if by := callerOf(ctx); !by.owns(owner) {
		return failed(codes.PermissionDenied, "NOT_THE_OWNER", "owner %s is not %s", owner, by)
	}
	return nil
}

// RetireOwner ends an owner and its bots for good.
func (s *botService) RetireOwner(ctx context.Context, r *flip7v1.RetireOwnerRequest) (*flip7v1.RetireOwnerResponse, error) {
	if err := itself(ctx, r.GetName()); err != nil {
		return nil, err
	}
	// First the owner, so that it registers no more bots: RegisterBot holds the same lock.
	s.registering.Lock()
	bots, err := s.allOf(ctx, r.GetName())
	if err == nil {
		s.nights.entering.Lock() // as in RetireBot
		err = s.store.RetireOwner(ctx, r.GetName(), time.Now())
		s.nights.entering.Unlock()
	}
	s.registering.Unlock()
	if err != nil {
		return nil, err
	}
	s.log.InfoContext(ctx, "an owner is retired", "name", r.GetName(), "by", callerOf(ctx).String())
	if err := s.dismiss(ctx, bots...); err != nil {
		return nil, err
	}
	owner, err := s.store.Owner(ctx, r.GetName())
	if err != nil {
		return nil, err
	}
	return &flip7v1.RetireOwnerResponse{Owner: describeOwner(owner)}, nil
}

// allOf are the names of an owner's bots that are not retired.
func (s *botService) allOf(ctx context.Context, owner string) (names []string, err error) {
	const some = 1000
	for after := ""; ; after = names[len(names)-1] {
		bots, err := s.store.BotsOf(ctx, owner, after, some, false)
		if err != nil {
			return nil, fmt.Errorf("bots of owner %q: %w", owner, err)
		}
		for _, bot := range bots {
			names = append(names, bot.Name)
		}
		if len(bots) < some {
			return names, nil
		}
	}
}
