package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

type ownerCmd struct {
	Register    ownerRegisterCmd `cmd:"" help:"Become an owner, who registers bots; the token is printed this once."`
	List        ownerListCmd     `cmd:"" help:"List the owners."`
	Rotate      ownerRotateCmd   `cmd:"" help:"Give an owner a new token; the old one ends at once."`
	Retire      ownerRetireCmd   `cmd:"" help:"Retire an owner and its bots for good; their results stay."`
	Invite      inviteCmd        `cmd:"" help:"Make a code with which people become owners; it is printed this once."`
	Invitations invitationsCmd   `cmd:"" help:"List the invitations, and whom they brought."`
	Revoke      revokeCmd        `cmd:"" help:"End an invitation."`
}

type ownerRegisterCmd struct {
	remoteFlags
	Name       string `arg:"" help:"Name of the owner, 1..32 characters, unique in the arena."`
	Invitation string `help:"Code of an invitation, where owners are made by invitation." env:"FLIP7_INVITATION"`
}

// Run registers the owner.
func (c *ownerRegisterCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.RegisterOwner,
		&flip7v1.RegisterOwnerRequest{Name: c.Name, InvitationCode: c.Invitation},
		func(r *flip7v1.RegisterOwnerResponse) error {
			fmt.Fprintf(p.out, "%s is an owner. With these in the environment flip7 bot register NAME makes a bot of theirs; the token is shown this once:\n\n", r.GetOwner().GetName())
			c.printAccess(p, r.GetToken())
			return nil
		})
}

type ownerListCmd struct {
	remoteFlags
	Retired bool `help:"Retired ones too."`
}

// Run lists the owners.
func (c *ownerListCmd) Run(ctx context.Context, p *program) error {
	all := &flip7v1.ListOwnersResponse{}
	return list(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.ListOwners,
		func(token string) *flip7v1.ListOwnersRequest {
			return &flip7v1.ListOwnersRequest{Retired: c.Retired, PageToken: token}
		}, all,
		func() error {
			if len(all.GetOwners()) == 0 {
				_, err := fmt.Fprintln(p.out, "There is no owner: the bots are the organiser's. Make one: flip7 owner register NAME")
				return err
			}
			w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "OWNER\tBOTS\tSTATE\tMADE")
			for _, o := range all.GetOwners() {
				state := "active"
				if o.GetRetireTime() != nil {
					state = "retired"
				}
				fmt.Fprintf(w, "%s\t%d\t%s\t%s\n", o.GetName(), o.GetBots(), state, o.GetCreateTime().AsTime().Local().Format(time.DateTime))
			}
			return w.Flush()
		})
}

type ownerRotateCmd struct {
	remoteFlags
	Name string `arg:"" help:"Name of the owner."`
}

// Run rotates the token.
func (c *ownerRotateCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.RotateOwner,
		&flip7v1.RotateOwnerRequest{Name: c.Name},
		func(r *flip7v1.RotateOwnerResponse) error {
			fmt.Fprintf(p.out, "%s has a new token, shown this once; the tokens of its bots stay:\n\n", c.Name)
			c.printAccess(p, r.GetToken())
			return nil
		})
}

type ownerRetireCmd struct {
	remoteFlags
	Name string `arg:"" help:"Name of the owner."`
}

// Run retires the owner.
func (c *ownerRetireCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.RetireOwner,
		&flip7v1.RetireOwnerRequest{Name: c.Name},
		func(*flip7v1.RetireOwnerResponse) error {
			_, err := fmt.Fprintf(p.out, "%s and its bots are retired.\n", c.Name)
			return err
		})
}

type inviteCmd struct {
	remoteFlags
	Uses     uint32        `help:"How many owners it may bring, 1..1000." default:"1"`
	Lifetime time.Duration `help:"How long it holds, 1m to 366 days." default:"168h"`
	Remark   string        `help:"For whom it is, to be remembered in the list."`
}

// Run makes the invitation.
func (c *inviteCmd) Run(ctx context.Context, p *program) error {
	if c.Uses == 0 {
		return errors.New("--uses: 0 is not 1 or more")
	}
	return ask(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.CreateInvitation,
		&flip7v1.CreateInvitationRequest{Uses: c.Uses, Lifetime: durationpb.New(c.Lifetime), Remark: c.Remark},
		func(r *flip7v1.CreateInvitationResponse) error {
			i := r.GetInvitation()
			_, err := fmt.Fprintf(p.out, "Invitation %s holds until %s; uses: %d. Who has its code, shown this once, becomes an owner by\n\n  flip7 owner register NAME --invitation %s\n\nwhere the arena is served with --registration invite, or open.\n",
				i.GetId(), i.GetExpireTime().AsTime().Local().Format(time.DateTime), i.GetUses(), r.GetCode())
			return err
		})
}

type invitationsCmd struct {
	remoteFlags
}

// Run lists the invitations.
func (c *invitationsCmd) Run(ctx context.Context, p *program) error {
	all := &flip7v1.ListInvitationsResponse{}
	return list(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.ListInvitations,
		func(token string) *flip7v1.ListInvitationsRequest {
			return &flip7v1.ListInvitationsRequest{PageToken: token}
		}, all,
		func() error {
			if len(all.GetInvitations()) == 0 {
				_, err := fmt.Fprintln(p.out, "There is no invitation. Make one: flip7 owner invite")
				return err
			}
			w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "ID\tSTATE\tEXPIRES\tUSED\tBROUGHT\tREMARK")
			for _, i := range all.GetInvitations() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d/%d\t%s\t%s\n", i.GetId(), invitationState(i, time.Now()), i.GetExpireTime().AsTime().Local().Format(time.DateTime),
					len(i.GetOwners()), i.GetUses(), dash(strings.Join(i.GetOwners(), ", ")), dash(i.GetRemark()))
			}
			return w.Flush()
		})
}

func invitationState(i *flip7v1.Invitation, now time.Time) string {
	switch {
	case i.GetRevokeTime() != nil:
		return "revoked"
	case len(i.GetOwners()) >= int(i.GetUses()):
		return "used up"
	case !now.Before(i.GetExpireTime().AsTime()):
		return "expired"
	}
	return "open"
}

type revokeCmd struct {
	remoteFlags
	ID string `arg:"" name:"id" help:"The invitation, as listed by flip7 owner invitations."`
}

// Run revokes the invitation.
func (c *revokeCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.RevokeInvitation,
		&flip7v1.RevokeInvitationRequest{Id: c.ID},
		func(r *flip7v1.RevokeInvitationResponse) error {
			_, err := fmt.Fprintf(p.out, "Invitation %s brings nobody any more; whom it has brought stays.\n", r.GetInvitation().GetId())
			return err
		})
}
