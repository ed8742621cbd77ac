package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"google.golang.org/grpc"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

type leagueCmd struct {
	Add     leagueAddCmd     `cmd:"" help:"Make a league; a tournament that names one makes it too."`
	Show    leagueShowCmd    `cmd:"" help:"Show the tournaments of a league, and which of them count."`
	Exclude leagueExcludeCmd `cmd:"" help:"Take a mistaken result out of the rating, with a reason."`
	Include leagueIncludeCmd `cmd:"" help:"Put it back."`
}

type leagueAddCmd struct {
	remoteFlags
	Name string `arg:"" help:"Name of the league: a-z, 0-9 and -."`
}

// Run makes the league.
func (c *leagueAddCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewRatingServiceClient, flip7v1.RatingServiceClient.CreateLeague,
		&flip7v1.CreateLeagueRequest{Name: c.Name},
		func(*flip7v1.CreateLeagueResponse) error {
			_, err := fmt.Fprintf(p.out, "League %s is there.\n", c.Name)
			return err
		})
}

type leagueShowCmd struct {
	remoteFlags
	League string `arg:"" optional:"" help:"The league." default:"main"`
}

// Run shows the league.
func (c *leagueShowCmd) Run(ctx context.Context, p *program) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	all := &flip7v1.ListLeagueTournamentsResponse{}
	err = pages(ctx, flip7v1.NewRatingServiceClient(conn).ListLeagueTournaments,
		func(token string) *flip7v1.ListLeagueTournamentsRequest {
			return &flip7v1.ListLeagueTournamentsRequest{League: c.League, PageToken: token}
		},
		func(page *flip7v1.ListLeagueTournamentsResponse) string {
			all.Tournaments = append(all.Tournaments, page.GetTournaments()...)
			return page.GetNextPageToken()
		})
	if err != nil {
		return err
	}
	if len(all.GetTournaments()) == 0 {
		if err := thereIsLeague(ctx, conn, c.League); err != nil {
			return err
		}
	}
	if p.json {
		return printProto(p.out, all)
	}
	if len(all.GetTournaments()) == 0 {
		fmt.Fprintf(p.out, "League %s has no tournament yet.\n", c.League)
		return nil
	}
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TOURNAMENT\tNAME\tSTATE\tGAMES\tIN THE RATING")
	for _, n := range all.GetTournaments() {
		counts := "yes"
		if !n.GetCounts() {
			counts = "no: " + n.GetWhyNot()
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%s\n", n.GetTournament().GetId(), n.GetTournament().GetName(),
			tournamentState(n.GetTournament().GetState()), n.GetGames(), counts)
		for _, e := range n.GetExclusions() {
			if e.GetResult().GetPairingRound() == 0 {
				continue // all of it, which is said
			}
			fmt.Fprintf(t, "\t\t\t\ttaken out: %s (%s)\n", resultName(e.GetResult()), e.GetWhy())
		}
	}
	return t.Flush()
}

// thereIsLeague refuses a league of which nothing is known: a slip of the pen is no league without results.
func thereIsLeague(ctx context.Context, conn *grpc.ClientConn, name string) error {
	var names []string
	err := pages(ctx, flip7v1.NewRatingServiceClient(conn).ListLeagues,
		func(token string) *flip7v1.ListLeaguesRequest { return &flip7v1.ListLeaguesRequest{PageToken: token} },
		func(page *flip7v1.ListLeaguesResponse) string {
			for _, league := range page.GetLeagues() {
				names = append(names, league.GetName())
			}
			return page.GetNextPageToken()
		})
	if err == nil && !slices.Contains(names, name) {
		err = fmt.Errorf("league %s: there is none of that name, but %s", name, strings.Join(names, ", "))
	}
	return err
}

func resultName(r *flip7v1.ResultRef) string {
	parts := []string{r.GetTournamentId()}
	for _, n := range []uint32{r.GetPairingRound(), r.GetTable(), r.GetGame()} {
		if n != 0 {
			parts = append(parts, strconv.Itoa(int(n)))
		}
	}
	return strings.Join(parts, "/")
}

// resultArg names a result.
type resultArg struct {
	remoteFlags
	Result string `arg:"" help:"TOURNAMENT, TOURNAMENT/ROUND/TABLE or TOURNAMENT/ROUND/TABLE/GAME."`
}

func (c resultArg) ref() (*flip7v1.ResultRef, error) {
	parts := strings.Split(c.Result, "/")
	ref := &flip7v1.ResultRef{TournamentId: parts[0]}
	for i, field := range []*uint32{&ref.PairingRound, &ref.Table, &ref.Game}[:min(len(parts)-1, 3)] {
		n, err := strconv.ParseUint(parts[i+1], 10, 32)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("result: %q is not TOURNAMENT, TOURNAMENT/ROUND/TABLE or TOURNAMENT/ROUND/TABLE/GAME", c.Result)
		}
		*field = uint32(n)
	}
	if len(parts) == 2 || len(parts) > 4 {
		return nil, fmt.Errorf("result: %q is not TOURNAMENT, TOURNAMENT/ROUND/TABLE or TOURNAMENT/ROUND/TABLE/GAME", c.Result)
	}
	return ref, nil
}

type leagueExcludeCmd struct {
	resultArg
	Why string `required:"" help:"Reason, shown with the table."`
}

// Run takes the result out.
func (c *leagueExcludeCmd) Run(ctx context.Context, p *program) error {
	ref, err := c.ref()
	if err != nil {
		return err
	}
	return ask(ctx, c.remoteFlags, p, flip7v1.NewRatingServiceClient, flip7v1.RatingServiceClient.ExcludeResult,
		&flip7v1.ExcludeResultRequest{Result: ref, Why: c.Why},
		func(*flip7v1.ExcludeResultResponse) error {
			_, err := fmt.Fprintf(p.out, "%s is out of the rating.\n", c.Result)
			return err
		})
}

type leagueIncludeCmd struct {
	resultArg
	Why string `help:"Reason, for the audit log."`
}

// Run puts the result back.
func (c *leagueIncludeCmd) Run(ctx context.Context, p *program) error {
	ref, err := c.ref()
	if err != nil {
		return err
	}
	return ask(ctx, c.remoteFlags, p, flip7v1.NewRatingServiceClient, flip7v1.RatingServiceClient.IncludeResult,
		&flip7v1.IncludeResultRequest{Result: ref, Why: c.Why},
		func(*flip7v1.IncludeResultResponse) error {
			_, err := fmt.Fprintf(p.out, "%s is in the rating again.\n", c.Result)
			return err
		})
}
