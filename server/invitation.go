package server

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/flip7-arena/flip7/arena"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
)

const (
	// longestRemark is how many characters the remark of an invitation may have.
	longestRemark = 128
	// usualLifetime is how long an invitation holds if nothing is said.
	usualLifetime = 7 * 24 * time.Hour
)

// newCode makes the code of an invitation, of 128 bits and more, and the hash under which it is kept. People type it, so
// it is shorter than a token, and case does not count.
func newCode() (code string, hash [sha256.Size]byte) {
	code = rand.Text()
	return code, hashOfCode(code)
}

// hashOfCode is the hash under which a code is kept, however a person has typed it.
func hashOfCode(code string) [sha256.Size]byte {
	return sha256.Sum256([]byte(strings.ToUpper(strings.TrimSpace(code))))
}

// uninvited is the error of a code that brings nobody, as a client is told.
func uninvited(err error) error {
	for _, known := range []struct {
		err    error
		reason string
	}{
		{store.ErrNoInvitation, "INVITATION_UNKNOWN"},
		{store.ErrExpired, "INVITATION_EXPIRED"},
		{store.ErrUsedUp, "INVITATION_USED_UP"},
		{store.ErrRevoked, "INVITATION_REVOKED"},
	} {
		if errors.Is(err, known.err) {
			return failed(codes.PermissionDenied, known.reason, "invitation_code: %v; ask the admin for another one", known.err)
		}
	}
	return err
}

// CreateInvitation makes an invitation.
func (s *botService) CreateInvitation(ctx context.Context, r *flip7v1.CreateInvitationRequest) (*flip7v1.CreateInvitationResponse, error) {
	if r.GetRemark() != "" {
		if err := arena.CheckName("remark", r.GetRemark(), longestRemark); err != nil {
			return nil, err
		}
	}
	now := time.Now()
	lifetime := usualLifetime
	if r.GetLifetime() != nil {
		lifetime = r.GetLifetime().AsDuration()
	}
	code, hash := newCode()
	id, err := s.store.AddInvitation(ctx, store.Invitation{
		Uses: int(cmp.Or(r.GetUses(), 1)), Remark: r.GetRemark(), Created: now, Expires: now.Add(lifetime),
	}, hash)
	if err != nil {
		return nil, err
	}
	s.log.InfoContext(ctx, "an invitation is made", "invitation", id, "by", callerOf(ctx).String())
	made, err := s.invitation(ctx, id)
	return &flip7v1.CreateInvitationResponse{Invitation: made, Code: code}, err
}

// invitation is an invitation as it is now.
func (s *botService) invitation(ctx context.Context, id int64) (*flip7v1.Invitation, error) {
	i, err := s.store.Invitation(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("invitation %d: %w", id, err)
	}
	return describeInvitation(i), nil
}

func describeInvitation(i store.Invitation) *flip7v1.Invitation {
	return &flip7v1.Invitation{Id: invitationID(i), CreateTime: timestamp(i.Created), ExpireTime: timestamp(i.Expires), Uses: uint32(i.Uses),
		Owners: i.Owners, RevokeTime: timestamp(i.Revoked), Remark: i.Remark}
}

// invitationID is the id of an invitation on the wire: its number, decimal.
func invitationID(i store.Invitation) string { return strconv.FormatInt(i.ID, 10) }

const listInvitations = "invitations"

// ListInvitations lists invitations, newest first.
func (s *botService) ListInvitations(ctx context.Context, r *flip7v1.ListInvitationsRequest) (*flip7v1.ListInvitationsResponse, error) {
	p, err := pageOf(listInvitations, r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	before, err := p.number()
	if err != nil {
		return nil, err
	}
	list, err := s.store.Invitations(ctx, before, p.size+1)
	if err != nil {
		return nil, fmt.Errorf("list invitations: %w", err)
	}
	resp := new(flip7v1.ListInvitationsResponse)
	list, resp.NextPageToken = cut(p, listInvitations, list, invitationID)
	for _, i := range list {
		resp.Invitations = append(resp.Invitations, describeInvitation(i))
	}
	return resp, nil
}

// RevokeInvitation ends an invitation.
func (s *botService) RevokeInvitation(ctx context.Context, r *flip7v1.RevokeInvitationRequest) (*flip7v1.RevokeInvitationResponse, error) {
	id, err := strconv.ParseInt(r.GetId(), 10, 64)
	if err != nil {
		return nil, missing("invitation %q", r.GetId())
	}
	if err := s.store.RevokeInvitation(ctx, id, time.Now()); err != nil {
		return nil, fmt.Errorf("invitation %d: %w", id, err)
	}
	s.log.InfoContext(ctx, "an invitation is revoked", "invitation", id, "by", callerOf(ctx).String())
	revoked, err := s.invitation(ctx, id)
	return &flip7v1.RevokeInvitationResponse{Invitation: revoked}, err
}
