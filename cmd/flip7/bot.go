package main

import (
	"context"
	"fmt"
	"text/tabwriter"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

type botCmd struct {
	Register botRegisterCmd `cmd:"" help:"Register a bot; its token is printed this once."`
	List     botListCmd     `cmd:"" help:"List the bots."`
	Rotate   botRotateCmd   `cmd:"" help:"Give a bot a new token; the old one ends at once."`
	Retire   botRetireCmd   `cmd:"" help:"Retire a bot for good; its results stay."`
	Log      botLogCmd      `cmd:"" help:"Tell how a bot fared: its notes, what went wrong, its coming and going."`
}

type botRegisterCmd struct {
	remoteFlags
	Name  string `arg:"" help:"Name of the bot, 1..32 characters, unique in the arena."`
	Owner string `help:"Its owner; only the admin may name one."`
}

// Run registers the bot.
func (c *botRegisterCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.RegisterBot,
		&flip7v1.RegisterBotRequest{Name: c.Name, Owner: c.Owner},
		func(r *flip7v1.RegisterBotResponse) error {
			fmt.Fprintf(p.out, "%s is registered. For its author, where the bot runs; the token is shown this once:\n\n", r.GetBot().GetName())
			c.printAccess(p, r.GetToken())
			if r.GetOwnerToken() != "" {
				fmt.Fprintf(p.out, "\nThe token of its owner %s, shown this once: %s\n", r.GetBot().GetOwner(), r.GetOwnerToken())
			}
			return nil
		})
}

type botListCmd struct {
	remoteFlags
	Owner   string `help:"Only the bots of this owner."`
	Retired bool   `help:"Retired ones too."`
}

// Run lists the bots.
func (c *botListCmd) Run(ctx context.Context, p *program) error {
	all := &flip7v1.ListBotsResponse{}
	return list(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.ListBots,
		func(token string) *flip7v1.ListBotsRequest {
			return &flip7v1.ListBotsRequest{Owner: c.Owner, Retired: c.Retired, PageToken: token}
		}, all,
		func() error {
			if len(all.GetBots()) == 0 {
				_, err := fmt.Fprintln(p.out, "No bot is registered. Register one: flip7 bot register NAME")
				return err
			}
			w := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "BOT\tOWNER\tSTATE\tBUILD\tKIT\tGAMES NOW")
			for _, b := range all.GetBots() {
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%d\n", b.GetName(), dash(b.GetOwner()), botState(b), dash(b.GetBuild()),
					dash(b.GetKitName()+" "+b.GetKitVersion()), b.GetGames())
			}
			return w.Flush()
		})
}

func botState(b *flip7v1.Bot) string {
	switch {
	case b.GetRetireTime() != nil:
		return "retired"
	case b.GetAbsent():
		return "absent"
	case b.GetPractice() && b.GetTournamentId() == "":
		return "practising"
	case b.GetInstances() > 1:
		return fmt.Sprintf("connected, %d instances", b.GetInstances())
	case b.GetInstances() == 1:
		return "connected"
	}
	return "not connected"
}

type botRotateCmd struct {
	remoteFlags
	Name string `arg:"" help:"Name of the bot."`
}

// Run rotates the token.
func (c *botRotateCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.RotateBot,
		&flip7v1.RotateBotRequest{Name: c.Name},
		func(r *flip7v1.RotateBotResponse) error {
			_, err := fmt.Fprintf(p.out, "%s has a new token, shown this once:\n\n  export FLIP7_TOKEN=%s\n", c.Name, r.GetToken())
			return err
		})
}

type botRetireCmd struct {
	remoteFlags
	Name string `arg:"" help:"Name of the bot."`
}

// Run retires the bot.
func (c *botRetireCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewBotServiceClient, flip7v1.BotServiceClient.RetireBot,
		&flip7v1.RetireBotRequest{Name: c.Name},
		func(*flip7v1.RetireBotResponse) error {
			_, err := fmt.Fprintf(p.out, "%s is retired.\n", c.Name)
			return err
		})
}
