package main

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/rating"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/web"
	"github.com/flip7-arena/flip7/server/wire"
	"google.golang.org/protobuf/types/known/timestamppb"
)

type eloCmd struct {
	Show eloShowCmd `cmd:"" default:"withargs" help:"Show the Elo table of a league."`
	Fit  eloFitCmd  `cmd:"" help:"Rate a file of results: a line a game, \"A=1 B=2 C=2\" (name=place); \"@cluster\" starts a cluster."`
}

type eloShowCmd struct {
	remoteFlags
	League     string   `help:"The league." default:"main"`
	Since      string   `help:"Only tournaments that ended on this day or later: 2026-11-30."`
	Tournament []string `help:"Only these tournaments."`
	CSV        bool     `help:"Print CSV for programs: plain numbers." name:"csv"`
	Markdown   bool     `help:"Print a Markdown table."`
}

// Run shows the table.
func (c *eloShowCmd) Run(ctx context.Context, p *program) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	request := &flip7v1.ListRatingsRequest{League: c.League, TournamentIds: c.Tournament}
	if c.Since != "" {
		since, err := time.ParseInLocation(time.DateOnly, c.Since, time.Local)
		if err != nil {
			return fmt.Errorf("--since: %q is not a day such as 2026-11-30", c.Since)
		}
		request.Since = timestamppb.New(since)
	}
	table := &flip7v1.ListRatingsResponse{}
	err = pages(ctx, flip7v1.NewRatingServiceClient(conn).ListRatings,
		func(token string) *flip7v1.ListRatingsRequest {
			request.PageToken = token
			return request
		},
		func(page *flip7v1.ListRatingsResponse) string {
			rows := append(table.GetRatings(), page.GetRatings()...)
			table = page
			table.Ratings = rows
			return page.GetNextPageToken()
		})
	if err != nil {
		return err
	}
	if len(table.GetRatings()) == 0 {
		if err := thereIsLeague(ctx, conn, c.League); err != nil {
			return err
		}
	}
	switch {
	case p.json:
		return printProto(p.out, table)
	case c.CSV:
		return printEloCSV(p.out, table)
	case c.Markdown:
		return printEloMarkdown(p.out, table)
	}
	return printElo(p.out, c.League, table)
}

var eloColumns = []string{"rank", "bot", "owner", "elo", "+-95%", "ranks", "games", "placement", "first", "LOS", "best", "perf", "points", "bust", "faults", "p99"}

// eloCells are the cells of a row, as eloColumns names them.
func eloCells(r *flip7v1.Rating) []string {
	name := r.GetBot()
	if r.GetBuild() != "" {
		name += "@" + r.GetBuild()
	}
	margin, los, performance := "-", "-", "-"
	if r.Margin != nil {
		margin = fmt.Sprintf("%.0f", r.GetMargin())
	}
	if r.LosNext != nil {
		los = rating.Percent(r.GetLosNext(), 1)
	}
	if r.Performance != nil {
		performance = fmt.Sprintf("%.0f", r.GetPerformance())
	}
	bound := map[flip7v1.RatingBound]string{flip7v1.RatingBound_RATING_BOUND_AT_LEAST: ">", flip7v1.RatingBound_RATING_BOUND_AT_MOST: "<"}[r.GetBound()]
	ranks := "-" // of an older build
	if r.GetRankBest() > 0 {
		ranks = fmt.Sprintf("%d-%d", r.GetRankBest(), r.GetRankWorst())
	}
	mark := ""
	if r.GetProvisional() {
		mark = "?"
	}
	return []string{
		strconv.Itoa(int(r.GetRank())), name, dash(r.GetOwner()), fmt.Sprintf("%s%.0f%s", bound, r.GetElo(), mark), margin,
		ranks, strconv.Itoa(int(r.GetGames())), fmt.Sprintf("%.3f", r.GetPlacement()),
		fmt.Sprintf("%.1f %%", 100*r.GetFirstPlaces()), los, rating.Percent(r.GetPBest(), 1), performance,
		fmt.Sprintf("%.1f", r.GetPoints()), fmt.Sprintf("%.1f %%", 100*r.GetBustRate()), strconv.Itoa(int(faults(r.GetFaults()))), latency(r.GetP99(), r.GetP99() != nil && !r.GetHouse()),
	}
}

func printElo(w io.Writer, league string, table *flip7v1.ListRatingsResponse) error {
	if len(table.GetRatings()) == 0 {
		fmt.Fprintf(w, "League %s has no rated game yet: finish a tournament that is not --unrated and has no --seed.\n", league)
		return nil
	}
	fmt.Fprintf(w, "League %s: %s of %s in %s\n\n", league, counted(table.GetGames(), "game", "games"),
		counted(table.GetTournaments(), "tournament", "tournaments"), counted(table.GetClusters(), "cluster", "clusters"))
	var t strings.Builder
	fmt.Fprintln(&t, strings.ToUpper(strings.Join(eloColumns, "\t"))+"\t")
	group := uint32(0)
	for _, r := range table.GetRatings() {
		if r.GetGroup() != group {
			group = r.GetGroup()
			fmt.Fprintln(&t, "\tnot comparable with the above:\t")
		}
		fmt.Fprintln(&t, strings.Join(eloCells(r), "\t")+"\t")
		for _, old := range r.GetOlderBuilds() {
			cells := eloCells(old)
			cells[0] = "older"
			fmt.Fprintln(&t, strings.Join(cells, "\t")+"\t")
		}
	}
	fmt.Fprintln(w, fitted(t.String()))
	clusters := 0
	for _, r := range table.GetRatings() {
		if r.GetBot() == arena.Candidate && r.GetBuild() == "" {
			clusters = int(r.GetClusters())
		}
	}
	fmt.Fprintln(w, rating.ZeroSays(table.GetAnchor(), arena.Candidate, clusters))
	fmt.Fprintln(w, "Placement ranks (0..1, what equal bots share is 0.5); first places are shown beside it.")
	noTime := ""
	if slices.ContainsFunc(table.GetRatings(), (*flip7v1.Rating).GetHouse) {
		noTime = "; house bots take no time"
	}
	fmt.Fprintf(w, "House bots that fill a table up do not count as opponents. P99: 99 of 100 decisions took no longer%s.\n", noTime)
	fmt.Fprintln(w, "LOS: how likely a bot is stronger than the next. ?: provisional (few games, wide, or before the third night).")
	if line := alike(table.GetRatings()); line != "" {
		fmt.Fprintln(w, line)
	}
	return nil
}

// alike says which rows cannot be told apart: of each stretch the first and the last. Stretches overlap, for of three bots
// the second may be like the first and like the third, and those may differ.
func alike(rows []*flip7v1.Rating) string {
	var runs []string
	reached := 0
	for i, r := range rows {
		last := min(i+int(r.GetAlikeBelow()), len(rows)-1) // on this page
		if last == i || last <= reached {
			continue
		}
		reached = last
		to := " to "
		if last == i+1 {
			to = " and "
		}
		runs = append(runs, r.GetBot()+to+rows[last].GetBot())
	}
	if len(runs) == 0 {
		return ""
	}
	return "Cannot be told apart: " + strings.Join(runs, "; ") + "."
}

// csvColumns are for programs: numbers as they are, shares from 0 to 1, and an empty cell where there is none.
var csvColumns = []string{"rank", "rank_best", "rank_worst", "bot", "build", "owner", "elo", "bound", "provisional", "margin", "games", "placement",
	"first_places", "los_next", "p_best", "performance", "points", "bust_rate", "faults", "p99_seconds"}

func printEloCSV(w io.Writer, table *flip7v1.ListRatingsResponse) error {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	maybe := func(x *float64) string {
		if x == nil {
			return ""
		}
		return number(*x)
	}
	out := csv.NewWriter(w)
	if err := out.Write(csvColumns); err != nil {
		return err
	}
	for _, r := range table.GetRatings() {
		bound, p99 := "", ""
		if r.GetBound() != flip7v1.RatingBound_RATING_BOUND_UNSPECIFIED {
			bound = wire.Word(r.GetBound(), "RATING_BOUND_")
		}
		if r.GetP99() != nil && !r.GetHouse() {
			p99 = number(r.GetP99().AsDuration().Seconds())
		}
		err := out.Write([]string{
			fmt.Sprint(r.GetRank()), fmt.Sprint(r.GetRankBest()), fmt.Sprint(r.GetRankWorst()),
			web.Cell(r.GetBot()), web.Cell(r.GetBuild()), web.Cell(r.GetOwner()),
			number(r.GetElo()), bound, fmt.Sprint(r.GetProvisional()), maybe(r.Margin), fmt.Sprint(r.GetGames()), number(r.GetPlacement()),
			number(r.GetFirstPlaces()), maybe(r.LosNext), number(r.GetPBest()), maybe(r.Performance), number(r.GetPoints()),
			number(r.GetBustRate()), fmt.Sprint(faults(r.GetFaults())), p99,
		})
		if err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

func printEloMarkdown(w io.Writer, table *flip7v1.ListRatingsResponse) error {
	row := func(cells []string) {
		for i, cell := range cells {
			cells[i] = web.MarkdownCell(cell)
		}
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
	row(append([]string{}, eloColumns...))
	row(strings.Split(strings.TrimSuffix(strings.Repeat("---,", len(eloColumns)), ","), ","))
	for _, r := range table.GetRatings() {
		row(eloCells(r))
	}
	return nil
}
