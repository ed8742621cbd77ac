package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	flip7 "github.com/flip7-arena/flip7/clients/go"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"
)

type demoCmd struct {
	Rounds uint32 `help:"Pairing rounds." default:"5"`
	Keep   bool   `help:"Leave the server up until Ctrl-C, and its data where it is."`
}

// cast are the bots of the demo: house strategies that play from afar, one of them slow, one that vanishes for a while.
var cast = []demoBot{
	{name: "racer-bot", strategy: "racer"},
	{name: "odds-bot", strategy: "odds"},
	{name: "careful", strategy: "stay-20"},
	{name: "classic", strategy: "stay-25"},
	{name: "daring", strategy: "stay-30"},
	{name: "snail", strategy: "cards-5", thinks: 10 * time.Millisecond},
	{name: "ghost", strategy: "stay-15", vanishes: 2 * time.Second},
	{name: "monkey", strategy: "random"},
}

// Run runs the demo.
func (c *demoCmd) Run(ctx context.Context, p *program) (err error) {
	if p.json {
		return errors.New("--json: the demo is for people; for programs flip7 serve, tournament and elo take it")
	}
	if c.Rounds == 0 {
		return errors.New("--rounds: 0 is not 1..100")
	}
	folder, err := os.MkdirTemp("", "flip7-demo-")
	if err != nil {
		return err
	}
	if !c.Keep {
		defer os.RemoveAll(folder)
	}
	logFile, err := os.Create(filepath.Join(folder, "arena.log"))
	if err != nil {
		return err
	}
	defer logFile.Close()
	quiet := &program{out: io.Discard, err: logFile}
	serve := &serveCmd{Data: folder, Address: "127.0.0.1:0", Metrics: "127.0.0.1:0", Web: "127.0.0.1:0", Durability: "process", Registration: "closed", DrainGrace: time.Second}
	s, closeStore, err := serve.open(ctx, quiet)
	if err != nil {
		return err
	}
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	var work sync.WaitGroup
	served := make(chan error, 1)
	work.Go(func() { served <- s.Serve(serving) })
	defer func() {
		stop()
		work.Wait()
		err = errors.Join(err, <-served, closeStore())
	}()

	d := &demo{p: p, remote: remoteFlags{Address: s.Addr().String(), Data: folder}, rounds: c.Rounds, begun: time.Now(), log: logFile}
	fmt.Fprintf(p.out, "An arena on %s, with an empty data folder, and eight bots that reach it over gRPC:\n"+
		"house strategies, one of them slow (snail), one that will vanish for a while (ghost).\nWatch it: http://%s/\n", s.Addr(), s.WebAddr())
	if err := d.play(ctx); err != nil {
		if ctx.Err() != nil {
			fmt.Fprintln(p.out, "Broken off.")
			return exit(exitNo)
		}
		return err
	}
	if c.Keep {
		fmt.Fprintf(p.out, "\nThe arena stays up on %s until Ctrl-C:\n\n  export FLIP7_ADDR=%s FLIP7_DATA=%s\n", s.Addr(), s.Addr(), folder)
		<-ctx.Done()
	}
	return nil
}

// demo is one run.
type demo struct {
	p      *program
	remote remoteFlags
	rounds uint32
	begun  time.Time
	log    io.Writer
}

func (d *demo) play(ctx context.Context) error {
	conn, err := d.remote.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	ctx, end := context.WithCancel(ctx)
	var bots sync.WaitGroup
	defer bots.Wait()
	defer end()

	id, err := d.prepare(ctx, conn, &bots)
	if err != nil {
		return refusal(err)
	}
	tournaments := flip7v1.NewTournamentServiceClient(conn)
	if _, err := tournaments.StartTournament(ctx, &flip7v1.StartTournamentRequest{TournamentId: id}); err != nil {
		return refusal(err)
	}
	if err := d.follow(ctx, flip7v1.NewWatchServiceClient(conn), tournaments, id); err != nil {
		return err
	}
	return d.report(ctx, conn, id)
}

// prepare registers and starts the bots and opens a tournament with them.
func (d *demo) prepare(ctx context.Context, conn *grpc.ClientConn, bots *sync.WaitGroup) (id string, err error) {
	timeBank := durationpb.New(400 * time.Millisecond)
	created, err := flip7v1.NewTournamentServiceClient(conn).CreateTournament(ctx, &flip7v1.CreateTournamentRequest{
		Name: "Demo night",
		Settings: &flip7v1.TournamentSettings{
			PairingRounds: d.rounds, DecisionTimeout: durationpb.New(200 * time.Millisecond), TimeBank: timeBank,
			Checkin: durationpb.New(5 * time.Second),
		},
	})
	if err != nil {
		return "", err
	}
	id = created.GetTournament().GetId()
	opened, err := flip7v1.NewTournamentServiceClient(conn).OpenTournament(ctx, &flip7v1.OpenTournamentRequest{TournamentId: id})
	if err != nil {
		return "", err
	}
	fmt.Fprintf(d.p.out, "Tournament %s: %d pairing rounds at tables of %d, %d games a table.\nCommitment to its deals: %x\n\n", id, d.rounds,
		opened.GetTournament().GetSettings().GetSeats(), 2*opened.GetTournament().GetSettings().GetSeats(), opened.GetTournament().GetCommitment())
	for _, bot := range cast {
		registered, err := flip7v1.NewBotServiceClient(conn).RegisterBot(ctx, &flip7v1.RegisterBotRequest{Name: bot.name})
		if err != nil {
			return "", err
		}
		if _, err := flip7v1.NewTournamentServiceClient(conn).EnterBot(ctx, &flip7v1.EnterBotRequest{TournamentId: id, Player: "bot:" + bot.name}); err != nil {
			return "", err
		}
		kit, err := bot.kit(d.remote.Address, registered.GetToken(), d.log)
		if err != nil {
			return "", err
		}
		bots.Go(func() { bot.play(ctx, kit, d.p.out) })
	}
	return id, nil
}

// follow prints a line for each pairing round until the tournament is over.
func (d *demo) follow(ctx context.Context, client flip7v1.WatchServiceClient, tournaments flip7v1.TournamentServiceClient, id string) error {
	stream, err := client.WatchTournament(ctx, &flip7v1.WatchTournamentRequest{TournamentId: id})
	if err != nil {
		return refusal(err)
	}
	round := uint32(0)
	for {
		r, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return refusal(err)
		}
		for _, e := range r.GetEvents() {
			if next := e.GetPairingRound().GetNumber(); next > round {
				d.progress(ctx, tournaments, id, round)
				round = next
			}
			switch e.GetTournament().GetState() {
			case flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED:
				d.progress(ctx, tournaments, id, round)
				return nil
			case flip7v1.TournamentState_TOURNAMENT_STATE_CANCELLED:
				return fmt.Errorf("the tournament was cancelled: %s", e.GetTournament().GetStateWhy())
			}
		}
	}
}

// progress prints where the night stands after a pairing round.
func (d *demo) progress(ctx context.Context, client flip7v1.TournamentServiceClient, id string, round uint32) {
	if round == 0 {
		return
	}
	standings, err := allStandings(ctx, client, id)
	if err != nil || len(standings.GetStandings()) == 0 {
		return
	}
	leader := standings.GetStandings()[0]
	fmt.Fprintf(d.p.out, "%5.1fs  pairing round %d of %d is over; %s leads with %.3f\n", time.Since(d.begun).Seconds(), round, d.rounds, leader.GetBot(), leader.GetScore())
}

// report prints what came of it.
func (d *demo) report(ctx context.Context, conn *grpc.ClientConn, id string) error {
	standings, err := allStandings(ctx, flip7v1.NewTournamentServiceClient(conn), id)
	if err != nil {
		return err
	}
	fmt.Fprint(d.p.out, "\nStandings (a score is the sum of mean placements, 0..1 a pairing round)\n\n")
	printStandings(d.p.out, standings.GetStandings())
	night, err := flip7v1.NewTournamentServiceClient(conn).GetTournament(ctx, &flip7v1.GetTournamentRequest{TournamentId: id})
	if err != nil {
		return refusal(err)
	}
	printConclusion(d.p.out, night.GetTournament())
	fmt.Fprintln(d.p.out)
	for _, s := range standings.GetStandings() {
		if f := s.GetFaults(); faults(f) > 0 {
			fmt.Fprintf(d.p.out, "Faults of %s: %d timed out, %d disconnected, %d illegal, %d passed; the default decision was played.\n",
				s.GetBot(), f.GetTimedOut(), f.GetDisconnected(), f.GetIllegal(), f.GetPassed())
		}
	}
	table, err := flip7v1.NewRatingServiceClient(conn).ListRatings(ctx, &flip7v1.ListRatingsRequest{})
	if err != nil {
		return refusal(err)
	}
	fmt.Fprintln(d.p.out)
	if err := printElo(d.p.out, "main", table); err != nil {
		return err
	}
	fmt.Fprintf(d.p.out, `
All of it took %.1f s. What to try next:
  flip7 serve                                             an arena of your own
  flip7 match house:odds house:stay-25 --games 20000      how much better is counting cards?
  flip7 demo --keep                                       look around: flip7 tournament show 1, flip7 replay 1/1/1/1
  flip7 new-bot python my-bot                             a bot of your own: 15 lines
`, time.Since(d.begun).Seconds())
	return nil
}

// demoBot is a bot of the demo.
type demoBot struct {
	name     string
	strategy string
	thinks   time.Duration // before each decision
	vanishes time.Duration // for how long, once, in the middle of the night
}

// play plays until the night is over.
func (b demoBot) play(ctx context.Context, kit flip7.Bot, out io.Writer) {
	if b.vanishes == 0 {
		_ = flip7.Play(ctx, kit) // why it ended is in the log
		return
	}
	var once sync.Once
	left := make(chan struct{})
	kit.GameFinished = func(g flip7.GameFinished) {
		once.Do(func() { close(left) }) // after its first game it has had enough
	}
	first, vanish := context.WithCancel(ctx)
	go func() {
		select {
		case <-left:
		case <-ctx.Done():
		}
		vanish()
	}()
	_ = flip7.Play(first, kit)
	if ctx.Err() != nil {
		return
	}
	fmt.Fprintf(out, "        %s has vanished in mid-game, for %v\n", b.name, b.vanishes)
	select {
	case <-time.After(b.vanishes):
	case <-ctx.Done():
		return
	}
	fmt.Fprintf(out, "        %s is back\n", b.name)
	_ = flip7.Play(ctx, kit)
}
