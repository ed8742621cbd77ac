package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

type tournamentShowCmd struct {
	remoteFlags
	ID    string `arg:"" optional:"" name:"tournament" help:"Number of the tournament; left out, all are listed."`
	Round uint32 `xor:"what" help:"Show the tables of this pairing round; left out, of the last."`
	Aim   bool   `xor:"what" help:"Show who gave Freeze and Flip Three to whom more often than the others at the table."`
	Audit bool   `xor:"what" help:"Show who did what, and why."`
	Watch bool   `xor:"what" help:"Show it until it is over: on a terminal redrawn, elsewhere a line for what happens; as JSON, a line for each event."`
}

// Run shows the tournament.
func (c *tournamentShowCmd) Run(ctx context.Context, p *program) error {
	switch {
	case c.ID == "" && (c.Round > 0 || c.Aim || c.Audit || c.Watch):
		return errors.New("tournament: is left out, and --round, --aim, --audit and --watch are of one")
	case c.ID == "":
		return c.list(ctx, p)
	case c.Watch:
		return watch(ctx, c.remoteFlags, p, c.ID, "")
	case c.Aim:
		return c.aim(ctx, p)
	case c.Audit:
		return c.audit(ctx, p)
	}
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	client := flip7v1.NewTournamentServiceClient(conn)
	r, err := client.GetTournament(ctx, &flip7v1.GetTournamentRequest{TournamentId: c.ID})
	if err != nil {
		return refusal(err)
	}
	standings, err := allStandings(ctx, client, c.ID)
	if err != nil {
		return err
	}
	round, paired := c.Round, r.GetTournament().GetPairingRound()
	if round > paired {
		return fmt.Errorf("--round: %d is not a pairing round of tournament %s, which has had %d", round, c.ID, paired)
	}
	if round == 0 {
		round = paired
	}
	pairings, err := pairingsOf(ctx, client, c.ID, round)
	if err != nil {
		return err
	}
	if p.json {
		return printProto(p.out, r, standings, pairings)
	}
	printTournament(p.out, r.GetTournament())
	printLag(p.out, r.GetTournament().GetLag())
	if len(standings.GetStandings()) > 0 {
		fmt.Fprintln(p.out)
		printStandings(p.out, standings.GetStandings())
	}
	if len(pairings.GetTables()) > 0 {
		fmt.Fprintf(p.out, "\n%s\n", roundName(round, r.GetTournament().GetSettings()))
		printTables(p.out, pairings.GetTables(), r.GetTournament().GetState())
	}
	printMissing(p.out, pairings)
	printFinal(p.out, r.GetTournament().GetFinalTable())
	printConclusion(p.out, r.GetTournament())
	return nil
}

// roundName names a pairing round, or a leg of the final table.
func roundName(round uint32, s *flip7v1.TournamentSettings) string {
	if s.GetFinalTable() > 0 && round > s.GetPairingRounds() {
		return fmt.Sprintf("Final table, leg %d", round-s.GetPairingRounds())
	}
	return fmt.Sprintf("Pairing round %d", round)
}

// printLag says how late the arena itself was, if it knows: it forgets when it is restarted. What it gives back to bots is
// measured by looks of its own, so that it may have stood still for longer than the other looks came late.
func printLag(w io.Writer, lag *flip7v1.ArenaLag) {
	if lag == nil {
		return
	}
	fmt.Fprintf(w, "The arena's own lag, by 100 looks a second: %s half of the time, %s 99 %% of the time, %s at most", latency(lag.GetP50(), true), latency(lag.GetP99(), true),
		latency(lag.GetMax(), true))
	if lag.GetStalls() > 0 {
		fmt.Fprintf(w, ". By 1000 looks a second, which miss less, it stood still for more than 5ms %s, %s in all", counted(lag.GetStalls(), "time", "times"), latency(lag.GetStalled(), true))
	}
	fmt.Fprintln(w, ". Stalls are never charged to bots.")
}

func allStandings(ctx context.Context, client flip7v1.TournamentServiceClient, id string) (*flip7v1.ListStandingsResponse, error) {
	all := &flip7v1.ListStandingsResponse{}
	err := pages(ctx, client.ListStandings,
		func(token string) *flip7v1.ListStandingsRequest {
			return &flip7v1.ListStandingsRequest{TournamentId: id, PageToken: token}
		},
		func(page *flip7v1.ListStandingsResponse) string {
			all.Standings = append(all.Standings, page.GetStandings()...)
			all.PairingRounds = page.GetPairingRounds()
			return page.GetNextPageToken()
		})
	return all, err
}

// pairingsOf are the tables of a pairing round; before the first one there are none.
func pairingsOf(ctx context.Context, client flip7v1.TournamentServiceClient, id string, round uint32) (*flip7v1.ListPairingsResponse, error) {
	all := &flip7v1.ListPairingsResponse{}
	if round == 0 {
		return all, nil
	}
	err := pages(ctx, client.ListPairings,
		func(token string) *flip7v1.ListPairingsRequest {
			return &flip7v1.ListPairingsRequest{TournamentId: id, PairingRound: round, PageToken: token}
		},
		func(page *flip7v1.ListPairingsResponse) string {
			all.PairingRounds = append(all.PairingRounds, page.GetPairingRounds()...)
			all.Tables = append(all.Tables, page.GetTables()...)
			return page.GetNextPageToken()
		})
	return all, err
}

func printTables(w io.Writer, tables []*flip7v1.Table, night flip7v1.TournamentState) {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TABLE\tSTATE\tGAMES\tBOTS")
	for _, tab := range tables {
		state := strings.ToLower(strings.TrimPrefix(tab.GetState().String(), "TABLE_STATE_"))
		unfinished := tab.GetState() == flip7v1.TableState_TABLE_STATE_RUNNING || tab.GetState() == flip7v1.TableState_TABLE_STATE_WAITING
		if unfinished && night == flip7v1.TournamentState_TOURNAMENT_STATE_CANCELLED {
			state = "broken off"
		}
		if tab.GetStateWhy() != "" {
			state += " (" + tab.GetStateWhy() + ")"
		}
		fmt.Fprintf(t, "%d\t%s\t%d/%d\t%s\n", tab.GetNumber(), state, tab.GetGamesFinished(), tab.GetGames(), seated(tab))
	}
	_ = t.Flush()
}

// seated are the bots of a table, with their scores as far as there are some.
func seated(tab *flip7v1.Table) string {
	bots := slices.Clone(tab.GetBots())
	for i := range min(len(bots), len(tab.GetScores())) {
		bots[i] += fmt.Sprintf(" %.3f", tab.GetScores()[i])
	}
	return strings.Join(bots, ", ")
}

// printMissing says who was left out of a pairing round, if somebody was.
func printMissing(w io.Writer, pairings *flip7v1.ListPairingsResponse) {
	if rounds := pairings.GetPairingRounds(); len(rounds) > 0 && len(rounds[0].GetMissing()) > 0 {
		fmt.Fprintf(w, "N%s.\n", leftOut(rounds[0])[1:])
	}
}

// leftOut says who of those who entered does not sit at a table of a pairing round.
func leftOut(round *flip7v1.PairingRound) string {
	return "not there, and left out of it: " + strings.Join(round.GetMissing(), ", ")
}

// list lists all tournaments.
func (c *tournamentShowCmd) list(ctx context.Context, p *program) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	all := &flip7v1.ListTournamentsResponse{}
	err = pages(ctx, flip7v1.NewTournamentServiceClient(conn).ListTournaments,
		func(token string) *flip7v1.ListTournamentsRequest {
			return &flip7v1.ListTournamentsRequest{PageToken: token}
		},
		func(page *flip7v1.ListTournamentsResponse) string {
			all.Tournaments = append(all.Tournaments, page.GetTournaments()...)
			return page.GetNextPageToken()
		})
	if err != nil {
		return err
	}
	if p.json {
		return printProto(p.out, all)
	}
	if len(all.GetTournaments()) == 0 {
		fmt.Fprintln(p.out, "There is no tournament. Create one: flip7 tournament create NAME --open")
		return nil
	}
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tNAME\tLEAGUE\tSTATE\tROUND\tBOTS\tCREATED")
	for _, n := range all.GetTournaments() {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%d/%d\t%d\t%s\n", n.GetId(), n.GetName(), n.GetSettings().GetLeague(), tournamentState(n.GetState()),
			min(n.GetPairingRound(), n.GetSettings().GetPairingRounds()), n.GetSettings().GetPairingRounds(), n.GetEntries(), n.GetCreateTime().AsTime().Local().Format(time.DateTime))
	}
	return t.Flush()
}

// audit shows the audit log.
func (c *tournamentShowCmd) audit(ctx context.Context, p *program) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	all := &flip7v1.ListAuditsResponse{}
	err = pages(ctx, flip7v1.NewTournamentServiceClient(conn).ListAudits,
		func(token string) *flip7v1.ListAuditsRequest {
			return &flip7v1.ListAuditsRequest{TournamentId: c.ID, PageToken: token}
		},
		func(page *flip7v1.ListAuditsResponse) string {
			all.Audits = append(all.Audits, page.GetAudits()...)
			return page.GetNextPageToken()
		})
	if err != nil {
		return err
	}
	if p.json {
		return printProto(p.out, all)
	}
	t := tabwriter.NewWriter(p.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "TIME\tWHO\tWHAT\tWHY")
	for _, a := range all.GetAudits() {
		fmt.Fprintf(t, "%s\t%s\t%s %s\t%s\n", a.GetTime().AsTime().Local().Format(time.DateTime), a.GetWho(), a.GetAction(), a.GetSubject(), dash(a.GetWhy()))
	}
	return t.Flush()
}
