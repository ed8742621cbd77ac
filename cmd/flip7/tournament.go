package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/alecthomas/kong"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/store"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"
)

type tournamentCmd struct {
	Create   tournamentCreateCmd   `cmd:"" help:"Create a tournament as a draft; it says how long the night will last."`
	Open     tournamentOpenCmd     `cmd:"" help:"Open it: bots may enter, the commitment to the deals is public."`
	Enter    tournamentEnterCmd    `cmd:"" help:"Enter players: bot:NAME, house:STRATEGY or cmd:COMMAND."`
	Withdraw tournamentWithdrawCmd `cmd:"" help:"Withdraw a bot after the running pairing round; enter brings it back."`
	Kick     tournamentKickCmd     `cmd:"" help:"Throw a bot out, in mid-game too; only the organiser can bring it back."`
	Start    tournamentStartCmd    `cmd:"" help:"Start it, now or at a time."`
	Pause    tournamentPauseCmd    `cmd:"" help:"End the running tables, then wait."`
	Resume   tournamentResumeCmd   `cmd:"" help:"Go on after a pause."`
	Void     tournamentVoidCmd     `cmd:"" help:"Take a table out of standings and rating."`
	Cancel   tournamentCancelCmd   `cmd:"" help:"Break it off; nothing of it is rated."`
	Rehearse tournamentRehearseCmd `cmd:"" help:"Play the whole night with house bots in fast time; nothing is kept."`
	Show     tournamentShowCmd     `cmd:"" help:"Show standings and tables; without a tournament, list all."`
	Export   tournamentExportCmd   `cmd:"" help:"Write the results, or the timings, of a tournament that is over."`
}

// settingsFlags are the settings of a night; what is not given has the arena's default.
type settingsFlags struct {
	League          string         `help:"League whose Elo table the night feeds." default:"main"`
	Seats           uint32         `help:"Seats at a table, 3..18." default:"4"`
	Rounds          uint32         `help:"Pairing rounds." default:"7"`
	Rotations       uint32         `help:"Rotations of a table: it plays seats x rotations games." default:"2"`
	FinalTable      uint32         `help:"So many of the best play on at a final table after the last pairing round, 3..18; 0 for none."`
	Until           *string        `help:"The final table ends when the best is decided (the default), or only after all of --max-games: ${enum}." enum:"decided,max-games"`
	MaxGames        uint32         `help:"Games of the final table at most (10000); it also ends after ten times --table-limit."`
	DecisionTimeout time.Duration  `help:"Time for each decision." default:"1s"`
	TimeBank        *time.Duration `help:"Time of a seat for a game beyond the decision timeouts (10s)."`
	TableLimit      time.Duration  `help:"Time of a table after which slow bots are hurried." default:"10m"`
	Checkin         *time.Duration `help:"How long a pairing round waits for bots to be there (1m)." name:"checkin"`
	Concurrency     uint32         `help:"Games at once in the whole tournament; 0 for as many as the bots can take."`
	Unrated         bool           `help:"Do not rate the night."`
	Schedule        string         `help:"Bring bots of close scores together, or play a balanced plan: ${enum}." enum:"swiss,planned" default:"swiss"`
	Anchor          string         `help:"Let the house bot stay-25 play along outside the ranks: ${enum}." enum:"auto,on,off" default:"auto"`
	Seed            *uint64        `help:"Make the deals from a number: for rehearsals and tests, never rated."`
	BotsPerOwner    uint32         `help:"Bots of one owner." default:"2"`
	TieBreak        string         `help:"Tie for the lead at the end of a game: ${enum}." enum:"all_play,tied_play,shared" default:"all_play"`
	BustedDiscards  bool           `help:"A seat that busts in a Flip Three discards the cards set aside instead of assigning them."`
	DealEveryone    bool           `help:"Deal everyone a card in the first pass, whatever they hold."`
	TargetScore     uint32         `help:"Points that end a game." default:"200"`
	MaxRounds       uint32         `help:"Rounds after which a game is placed as it stands." default:"100"`
}

// check refuses what the wire would take for "the default".
func (s settingsFlags) check() error {
	for _, n := range []struct {
		flag  string
		given uint32
	}{{"seats", s.Seats}, {"rounds", s.Rounds}, {"rotations", s.Rotations}, {"bots-per-owner", s.BotsPerOwner},
		{"target-score", s.TargetScore}, {"max-rounds", s.MaxRounds}} {
		if n.given == 0 {
			return fmt.Errorf("--%s: 0 is not 1 or more", n.flag)
		}
	}
	switch {
	case s.League == "":
		return errors.New("--league: is empty")
	case s.FinalTable == 0 && s.Until != nil:
		return errors.New("--until: is for a final table, and the night has none; --final-table 4 gives it one")
	case s.FinalTable == 0 && s.MaxGames > 0:
		return errors.New("--max-games: is for a final table, and the night has none; --final-table 4 gives it one")
	}
	return nil
}

func (s settingsFlags) proto() *flip7v1.TournamentSettings {
	rated, busted := !s.Unrated, !s.BustedDiscards
	settings := &flip7v1.TournamentSettings{
		League: s.League, Seats: s.Seats, PairingRounds: s.Rounds, Rotations: s.Rotations,
		FinalTable: s.FinalTable, UntilDecided: s.FinalTable > 0 && (s.Until == nil || *s.Until == "decided"), MaxGames: s.MaxGames,
		DecisionTimeout: durationpb.New(s.DecisionTimeout), TableLimit: durationpb.New(s.TableLimit),
		Concurrency: s.Concurrency, Rated: &rated, Seed: s.Seed, MaxBotsPerOwner: s.BotsPerOwner,
		Schedule: flip7v1.Schedule(flip7v1.Schedule_value["SCHEDULE_"+strings.ToUpper(s.Schedule)]),
		Anchor:   flip7v1.Anchor(flip7v1.Anchor_value["ANCHOR_"+strings.ToUpper(s.Anchor)]),
		Rules: &flip7v1.Rules{BustedAssigns: &busted, TargetScore: s.TargetScore, MaxRounds: s.MaxRounds,
			TieBreak: flip7v1.TieBreak(flip7v1.TieBreak_value["TIE_BREAK_"+strings.ToUpper(s.TieBreak)])},
	}
	if s.DealEveryone {
		settings.Rules.Deal = flip7v1.Deal_DEAL_EVERYONE
	}
	if s.TimeBank != nil {
		settings.TimeBank = durationpb.New(*s.TimeBank)
	}
	if s.Checkin != nil {
		settings.Checkin = durationpb.New(*s.Checkin)
	}
	return settings
}

type tournamentCreateCmd struct {
	remoteFlags
	settingsFlags
	Name      string `arg:"" help:"Name of the night."`
	RequestID string `help:"The same id gives the same tournament, however often it is sent." name:"request-id"`
	Open      bool   `help:"Open it at once."`
}

// Run creates the tournament.
func (c *tournamentCreateCmd) Run(ctx context.Context, p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	client := flip7v1.NewTournamentServiceClient(conn)
	r, err := client.CreateTournament(ctx, &flip7v1.CreateTournamentRequest{RequestId: c.RequestID, Name: c.Name, Settings: c.proto()})
	if err != nil {
		return refusal(err)
	}
	if c.Open {
		opened, err := client.OpenTournament(ctx, &flip7v1.OpenTournamentRequest{TournamentId: r.GetTournament().GetId()})
		if err != nil {
			return refusal(err)
		}
		r.Tournament = opened.GetTournament()
	}
	if p.json {
		return printProto(p.out, r)
	}
	printTournament(p.out, r.GetTournament())
	if r.GetExpectedDuration() != nil {
		fmt.Fprintf(p.out, "It will take about %s", rounded(r.GetExpectedDuration().AsDuration()))
		if r.GetLatestDuration() != nil {
			fmt.Fprint(p.out, "; ", latestEnd("after "+rounded(r.GetLatestDuration().AsDuration())))
		}
		fmt.Fprintln(p.out, ".")
	}
	id := r.GetTournament().GetId()
	if !c.Open {
		fmt.Fprintf(p.out, "Next: flip7 tournament open %s\n", id)
	} else {
		fmt.Fprintf(p.out, "Next: flip7 tournament enter %s bot:NAME ..., then flip7 tournament start %s\n", id, id)
	}
	return nil
}

// printed prints a tournament after a change of its state.
func printed[R interface {
	GetTournament() *flip7v1.Tournament
}](p *program) func(R) error {
	return func(r R) error {
		printTournament(p.out, r.GetTournament())
		return nil
	}
}

func printTournament(w io.Writer, t *flip7v1.Tournament) {
	fmt.Fprintf(w, "Tournament %s %q is %s", t.GetId(), t.GetName(), stateWords(t.GetState()))
	if t.GetStateWhy() != "" {
		fmt.Fprintf(w, " (%s)", t.GetStateWhy())
	}
	s := t.GetSettings()
	fmt.Fprintf(w, ": league %s, tables of %d, %s, %s a table, %d entered.\n", s.GetLeague(), s.GetSeats(),
		counted(s.GetPairingRounds(), "pairing round", "pairing rounds"), counted(s.GetRotations(), "rotation", "rotations"), t.GetEntries())
	if s.GetFinalTable() > 0 {
		until := ""
		if s.GetUntilDecided() {
			until = "until the best is decided, "
		}
		fmt.Fprintf(w, "Then the best %d play on at a final table, %s%d games at most.\n", s.GetFinalTable(), until, s.GetMaxGames())
	}
	switch {
	case t.GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING && t.GetPairingRound() > 0:
		if t.GetPairingRound() > s.GetPairingRounds() {
			fmt.Fprintf(w, "Final table, %d of at most %d games finished", t.GetGamesFinished(), t.GetGames())
		} else {
			fmt.Fprintf(w, "Pairing round %d of %d, %d of %d games finished", t.GetPairingRound(), s.GetPairingRounds(), t.GetGamesFinished(), t.GetGames())
		}
		if t.GetExpectedEndTime() != nil {
			fmt.Fprintf(w, ", expected end %s", t.GetExpectedEndTime().AsTime().Local().Format("15:04:05"))
		}
		fmt.Fprintln(w, ".")
	case t.GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_OPEN && t.GetStartTime() != nil:
		fmt.Fprintf(w, "It starts at %s.\n", t.GetStartTime().AsTime().Local().Format(time.DateTime))
	}
	if len(t.GetCommitment()) > 0 {
		fmt.Fprintf(w, "Commitment to the deals (SHA-256 of the secret): %x\n", t.GetCommitment())
	}
	if len(t.GetSecret()) > 0 {
		fmt.Fprintf(w, "The secret: %x\n", t.GetSecret())
	}
	if t.GetPredictable() {
		fmt.Fprintln(w, "Its deals are predictable (--seed): it is not rated.")
	}
}

// printConclusion prints the last line of a night that is over: who won, and how sure that is.
func printConclusion(w io.Writer, t *flip7v1.Tournament) {
	if t.GetConclusion() != "" {
		fmt.Fprintf(w, "\n%s\n", t.GetConclusion())
	}
}

func tournamentState(s flip7v1.TournamentState) string {
	return strings.ToLower(strings.TrimPrefix(s.String(), "TOURNAMENT_STATE_"))
}

// stateWords are a state behind "is".
func stateWords(s flip7v1.TournamentState) string {
	if s == flip7v1.TournamentState_TOURNAMENT_STATE_DRAFT {
		return "a draft"
	}
	return tournamentState(s)
}

// rounded writes how long something will take, as nobody can say to the second.
func rounded(d time.Duration) string {
	if d <= time.Minute {
		return d.Round(time.Second).String()
	}
	text := strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	if hours, is := strings.CutSuffix(text, "h0m"); is {
		return hours + "h"
	}
	return text
}

// latestEnd words a bound that is far from what is expected, so that nobody takes it for the plan.
func latestEnd(when string) string {
	return "at the latest " + when + ", were every game as long and every bot as slow as can be"
}

// nightArg names a tournament.
type nightArg struct {
	remoteFlags
	ID string `arg:"" name:"tournament" help:"Number of the tournament."`
}

type tournamentOpenCmd struct{ nightArg }

// Run opens it.
func (c *tournamentOpenCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.OpenTournament,
		&flip7v1.OpenTournamentRequest{TournamentId: c.ID}, printed[*flip7v1.OpenTournamentResponse](p))
}

type tournamentEnterCmd struct {
	nightArg
	Players []string `arg:"" name:"player" help:"bot:NAME, house:STRATEGY or cmd:COMMAND."`
	As      string   `help:"Name to play under; needed for a command, and for a second bot of a kind."`
}

// Run enters the players one after the other; it stops at the first that is refused.
func (c *tournamentEnterCmd) Run(ctx context.Context, p *program) error {
	if c.As != "" && len(c.Players) > 1 {
		return fmt.Errorf("--as: names one player, and %d are entered", len(c.Players))
	}
	for _, player := range c.Players {
		err := ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.EnterBot,
			&flip7v1.EnterBotRequest{TournamentId: c.ID, Player: player, AsName: c.As},
			func(r *flip7v1.EnterBotResponse) error {
				_, err := fmt.Fprintf(p.out, "%s has entered as number %d.\n", r.GetEntry().GetBot(), r.GetEntry().GetNumber())
				return err
			})
		if err != nil {
			return fmt.Errorf("%w; %q has not entered", err, player) // whether it is to blame or not
		}
	}
	return nil
}

type tournamentWithdrawCmd struct {
	nightArg
	Bot string `arg:"" help:"Name of the bot."`
	Why string `help:"Reason, for the audit log."`
}

// Run withdraws the bot.
func (c *tournamentWithdrawCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.WithdrawBot,
		&flip7v1.WithdrawBotRequest{TournamentId: c.ID, Bot: c.Bot, Why: c.Why},
		func(r *flip7v1.WithdrawBotResponse) error {
			_, err := fmt.Fprintf(p.out, "%s is withdrawn. Until the last pairing round begins, this brings it back: flip7 tournament enter %s %s\n",
				c.Bot, c.ID, comesBack(r.GetEntry()))
			return err
		})
}

// comesBack is how a player that has left is entered again. Its command is told to nobody.
func comesBack(e *flip7v1.Entry) string {
	kind, what, _ := strings.Cut(e.GetPlayer(), ":")
	if kind == "cmd" {
		what = "COMMAND"
	}
	back := typed(kind+":"+what, runtime.GOOS)
	if kind == "cmd" || what != e.GetBot() {
		back += " --as " + typed(e.GetBot(), runtime.GOOS)
	}
	return back
}

type tournamentKickCmd struct {
	nightArg
	Bot string `arg:"" help:"Name of the bot."`
	Why string `required:"" help:"Reason, for the audit log."`
}

// Run kicks the bot out.
func (c *tournamentKickCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.KickBot,
		&flip7v1.KickBotRequest{TournamentId: c.ID, Bot: c.Bot, Why: c.Why},
		func(*flip7v1.KickBotResponse) error {
			_, err := fmt.Fprintf(p.out, "%s is out of tournament %s; only the organiser can bring it back.\n", c.Bot, c.ID)
			return err
		})
}

type tournamentStartCmd struct {
	nightArg
	At        *string `help:"When: a time today or tomorrow such as 20:30, or RFC 3339. Left out: now."`
	RequestID string  `help:"The same id starts once, however often it is sent." name:"request-id"`
	Watch     bool    `help:"Show what happens until it is over; as JSON, a line for each event after the line of the start."`
}

// Run starts it.
func (c *tournamentStartCmd) Run(ctx context.Context, p *program) error {
	request := &flip7v1.StartTournamentRequest{TournamentId: c.ID, RequestId: c.RequestID}
	if c.At != nil {
		at, err := clock(*c.At, time.Now())
		if err != nil {
			return err
		}
		request.StartTime = timestamppb.New(at)
	}
	var before string
	if c.Watch {
		before = beforeStart(ctx, c.remoteFlags, c.ID)
	}
	err := ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.StartTournament,
		request, func(r *flip7v1.StartTournamentResponse) error {
			t := r.GetTournament()
			printTournament(p.out, t)
			fmt.Fprint(p.out, ends(t))
			bots, err := c.bots(ctx)
			if err != nil {
				return err
			}
			fmt.Fprint(p.out, company(t.GetSettings(), t.GetPredictable(), bots))
			return nil
		})
	if err != nil && strings.HasPrefix(err.Error(), "tournament "+c.ID+" is ") && !strings.HasSuffix(err.Error(), "; open it first") {
		look := "flip7 tournament show " + c.ID
		if strings.HasSuffix(err.Error(), "already") {
			look += " --watch"
		}
		return fmt.Errorf("%w; to look at it: %s", err, look)
	}
	if err != nil || !c.Watch {
		return err
	}
	return watch(ctx, c.remoteFlags, p, c.ID, before)
}

// ends says when a tournament that starts will end; empty if that is too far ahead to be told.
func ends(t *flip7v1.Tournament) string {
	if t.GetExpectedEndTime() == nil {
		return ""
	}
	text := "Expected end " + t.GetExpectedEndTime().AsTime().Local().Format(time.DateTime)
	if t.GetLatestEndTime() != nil {
		text += "; " + latestEnd(t.GetLatestEndTime().AsTime().Local().Format(time.DateTime))
	}
	return text + ".\n"
}

// bots is how many have entered and not left; the anchor, which comes by itself, is none of them.
func (c *tournamentStartCmd) bots(ctx context.Context) (n uint32, err error) {
	conn, err := c.dial()
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	err = pages(ctx, flip7v1.NewTournamentServiceClient(conn).ListEntries,
		func(token string) *flip7v1.ListEntriesRequest {
			return &flip7v1.ListEntriesRequest{TournamentId: c.ID, PageToken: token}
		},
		func(page *flip7v1.ListEntriesResponse) string {
			for _, e := range page.GetEntries() {
				if e.GetState() == flip7v1.EntryState_ENTRY_STATE_ENTERED && !e.GetAnchor() {
					n++
				}
			}
			return page.GetNextPageToken()
		})
	return n, err
}

// company says who plays along with bots that are too few for a table; empty if there are enough.
func company(s *flip7v1.TournamentSettings, predictable bool, bots uint32) string {
	seats := s.GetSeats()
	if bots >= seats {
		return ""
	}
	text := fmt.Sprintf("Fewer bots than seats (%d of %d): outside the ranks ", bots, seats)
	rated := s.GetRated() && !predictable
	if s.GetAnchor() == flip7v1.Anchor_ANCHOR_ON || s.GetAnchor() != flip7v1.Anchor_ANCHOR_OFF && rated {
		text += "house bot stay-25 plays along as the anchor if it has not entered, and "
	}
	return text + "house bots odds and stay-20 fill up where fewer than three would play.\n"
}

// clock reads a time of day, the next time it comes, or a point in time.
func clock(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		if !at.After(now) {
			return at, fmt.Errorf("--at: %s is past", text)
		}
		return at, nil
	}
	of, err := time.Parse("15:04", text)
	if err != nil {
		return time.Time{}, fmt.Errorf("--at: %q is not a time such as 20:30 or 2026-11-30T20:30:00+01:00", text)
	}
	at := time.Date(now.Year(), now.Month(), now.Day(), of.Hour(), of.Minute(), 0, 0, now.Location())
	if !at.After(now) {
		at = at.AddDate(0, 0, 1)
	}
	return at, nil
}

type whyArg struct {
	nightArg
	Why string `help:"Reason, for the audit log."`
}

type tournamentPauseCmd struct{ whyArg }

// Run pauses it.
func (c *tournamentPauseCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.PauseTournament,
		&flip7v1.PauseTournamentRequest{TournamentId: c.ID, Why: c.Why}, printed[*flip7v1.PauseTournamentResponse](p))
}

type tournamentResumeCmd struct{ whyArg }

// Run lets it go on.
func (c *tournamentResumeCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.ResumeTournament,
		&flip7v1.ResumeTournamentRequest{TournamentId: c.ID, Why: c.Why}, printed[*flip7v1.ResumeTournamentResponse](p))
}

type tournamentCancelCmd struct{ whyArg }

// Run cancels it.
func (c *tournamentCancelCmd) Run(ctx context.Context, p *program) error {
	return ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.CancelTournament,
		&flip7v1.CancelTournamentRequest{TournamentId: c.ID, Why: c.Why}, printed[*flip7v1.CancelTournamentResponse](p))
}

type tournamentVoidCmd struct {
	nightArg
	Round uint32 `arg:"" help:"Pairing round."`
	Table uint32 `arg:"" help:"Table."`
	Why   string `required:"" help:"Reason, for the audit log and the table."`
}

// Run makes the table void.
func (c *tournamentVoidCmd) Run(ctx context.Context, p *program) error {
	err := ask(ctx, c.remoteFlags, p, flip7v1.NewTournamentServiceClient, flip7v1.TournamentServiceClient.VoidTable,
		&flip7v1.VoidTableRequest{TournamentId: c.ID, PairingRound: c.Round, Table: c.Table, Why: c.Why},
		func(*flip7v1.VoidTableResponse) error {
			_, err := fmt.Fprintf(p.out, "Table %d of pairing round %d is void: 1/2 for its bots, nothing of it is rated.\n", c.Table, c.Round)
			return err
		})
	if err != nil && strings.HasPrefix(err.Error(), "tournament "+c.ID+" is finished") {
		return fmt.Errorf("%w; to take the table out of the rating: flip7 league exclude %s/%d/%d --why REASON", err, c.ID, c.Round, c.Table)
	}
	return err
}

type tournamentExportCmd struct {
	nightArg
	Timings bool   `help:"Write the timings instead of the results."`
	Out     string `short:"o" help:"File to write; it must not be there yet. Left out, standard output."`
}

// Run writes the export.
func (c *tournamentExportCmd) Run(ctx context.Context, p *program) error {
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	part := flip7v1.ExportPart_EXPORT_PART_RESULTS
	if c.Timings {
		part = flip7v1.ExportPart_EXPORT_PART_TIMINGS
	}
	export := func(w io.Writer) error {
		stream, err := flip7v1.NewTournamentServiceClient(conn).ExportTournament(ctx, &flip7v1.ExportTournamentRequest{TournamentId: c.ID, Part: part})
		if err != nil {
			return refusal(err)
		}
		return receive(stream, w)
	}
	if c.Out == "" {
		return export(p.out)
	}
	return writeNew(c.Out, export)
}

// writeNew writes a file that is not there yet. It is complete or not there: what is not complete is in a folder beside it
// whose name ends in ".part", as with a backup.
func writeNew(file string, write func(io.Writer) error) (err error) {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("%s is there already; an export replaces nothing", file)
	}
	part, err := os.MkdirTemp(filepath.Dir(file), filepath.Base(file)+".*.part")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(part)) }()
	whole, err := os.Create(filepath.Join(part, "export")) // with the rights of any new file
	if err != nil {
		return err
	}
	defer whole.Close()
	if err := write(whole); err != nil {
		return err
	}
	if err := errors.Join(whole.Sync(), whole.Close()); err != nil { // a name could be on the disk before what it names
		return err
	}
	return store.Name(whole.Name(), file, "an export")
}

// receive writes the chunks of an export.
func receive(stream interface {
	Recv() (*flip7v1.ExportTournamentResponse, error)
}, w io.Writer) error {
	for {
		r, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return refusal(err)
		}
		if _, err := w.Write(r.GetChunk()); err != nil {
			return err
		}
	}
}

type tournamentRehearseCmd struct {
	remoteFlags
	settingsFlags
	ID   string `arg:"" optional:"" name:"tournament" help:"Rehearse this tournament with its entrants; left out, the settings given here."`
	Bots uint32 `help:"How many bots, when no tournament is named." default:"16"`
}

// check refuses what would be ignored, or taken for "the default".
func (c *tournamentRehearseCmd) check() error {
	var left tournamentRehearseCmd // when no flag is given
	if err := kong.ApplyDefaults(&left); err != nil {
		return err
	}
	switch {
	case c.ID != "" && (c.Bots != left.Bots || !reflect.DeepEqual(c.settingsFlags, left.settingsFlags)):
		return fmt.Errorf("tournament: %s has settings and entrants of its own; --bots and flags such as --rounds are for a rehearsal without a tournament", c.ID)
	case c.Bots == 0:
		return errors.New("--bots: 0 is not 1 or more")
	}
	return c.settingsFlags.check()
}

// Run rehearses, with progress, and prints what would happen.
func (c *tournamentRehearseCmd) Run(ctx context.Context, p *program) error {
	if err := c.check(); err != nil {
		return err
	}
	conn, err := c.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	request := &flip7v1.RehearseTournamentRequest{TournamentId: c.ID}
	if c.ID == "" {
		request.Settings, request.Bots = c.proto(), c.Bots
	}
	stream, err := flip7v1.NewTournamentServiceClient(conn).RehearseTournament(ctx, request)
	if err != nil {
		return refusal(err)
	}
	for {
		r, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return refusal(err)
		}
		switch {
		case p.json && r.GetTournament() == nil: // progress, for people
		case p.json:
			if err := printProto(p.out, r); err != nil {
				return err
			}
		case r.GetTournament() != nil:
			fmt.Fprintln(p.out)
			printStandings(p.out, r.GetStandings())
			printFinal(p.out, r.GetTournament().GetFinalTable())
			fmt.Fprintf(p.out, "\n%s. With bots on other machines the night would take about %s", counted(r.GetGamesFinished(), "game", "games"), rounded(r.GetExpectedDuration().AsDuration()))
			if r.GetLatestDuration() != nil {
				fmt.Fprint(p.out, "; ", latestEnd("after "+rounded(r.GetLatestDuration().AsDuration())))
			}
			fmt.Fprintln(p.out, ".")
			printConclusion(p.out, r.GetTournament())
		case r.GetLine() != "":
			fmt.Fprintln(p.out, r.GetLine())
		}
	}
}

func printStandings(w io.Writer, standings []*flip7v1.Standing) {
	var t strings.Builder
	final, alike := "", false
	if playedFinal(standings) {
		final = "FINAL\t"
	}
	fmt.Fprintf(&t, "RANK\tBOT\t%sSCORE\tPLACEMENT\t+-95 %%\tFIRST\tPOINTS\tGAMES\tFAULTS\tP99\t\n", final)
	for _, s := range standings {
		rank := "-"
		if s.GetRank() > 0 {
			rank = fmt.Sprint(s.GetRank())
		}
		if s.GetLikeAbove() {
			rank, alike = "~"+rank, true
		}
		name := s.GetBot()
		if s.GetWithdrawn() {
			name += " (out)" // withdrawn or kicked
		}
		if final != "" {
			final = "\t"
		}
		if s.FinalPlacement != nil {
			final = fmt.Sprintf("%.3f\t", s.GetFinalPlacement())
		}
		margin := "-"
		if s.PlacementMargin != nil && s.GetPlacementMargin() < 0.5 { // wider says nothing
			margin = fmt.Sprintf("%.3f", s.GetPlacementMargin())
		}
		means := "-\t-\t-\t-"
		if s.GetGames() > 0 {
			means = fmt.Sprintf("%.3f\t%s\t%.1f %%\t%.1f", s.GetPlacement(), margin, 100*s.GetFirstPlaces(), s.GetPoints())
		}
		fmt.Fprintf(&t, "%s\t%s\t%s%.3f\t%s\t%d\t%d\t%s\t\n", rank, name, final, s.GetScore(), means, s.GetGames(), faults(s.GetFaults()), latency(s.GetLatency().GetP99(), s.GetLatency().GetMax().AsDuration() > 0))
	}
	fmt.Fprint(w, fitted(t.String()))
	if alike {
		fmt.Fprintln(w, "~: the games cannot tell it from the bot above; who is higher may be luck.")
	}
	if final != "" {
		fmt.Fprintln(w, "SCORE to POINTS: of the pairing rounds; GAMES, FAULTS, P99: of the final too.")
	}
}

// playedFinal reports whether some of the standings come from a final table.
func playedFinal(standings []*flip7v1.Standing) bool {
	return slices.ContainsFunc(standings, func(s *flip7v1.Standing) bool { return s.FinalPlacement != nil })
}

// printFinal prints the final table, if there is one: the leader against each of the others, the nearest first.
func printFinal(w io.Writer, f *flip7v1.FinalTable) {
	if f.GetGames() == 0 {
		return
	}
	fmt.Fprintf(w, "\nFinal table: %d games, %d rotations; %s leads\n", f.GetGames(), f.GetRotations(), f.GetLeader())
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "AHEAD OF\tBY\t+-\t\t")
	pairs := slices.SortedStableFunc(slices.Values(f.GetPairs()), func(a, b *flip7v1.FinalPair) int {
		return cmp.Compare(a.GetDifference(), b.GetDifference())
	})
	for _, pair := range pairs {
		told := "may be luck"
		if pair.GetDecided() {
			told = "more than luck"
		}
		fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%s\t\n", pair.GetBot(), pair.GetDifference(), pair.GetMargin(), told)
	}
	_ = t.Flush()
}

func faults(f *flip7v1.FaultCounts) uint32 {
	return f.GetPassed() + f.GetIllegal() + f.GetDisconnected() + f.GetTimedOut()
}

// latency writes a measured duration; house bots take no time.
func latency(d *durationpb.Duration, measured bool) string {
	switch d := d.AsDuration(); {
	case !measured:
		return "-"
	case d < 100*time.Microsecond:
		return "<0.1ms"
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < 100*time.Millisecond:
		return d.Round(time.Millisecond / 10).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	default:
		return d.Round(10 * time.Millisecond).String()
	}
}
