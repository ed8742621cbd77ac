package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/arena/house"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// ExportTournament sends a tournament as a file.
func (s *tournamentService) ExportTournament(r *flip7v1.ExportTournamentRequest, stream grpc.ServerStreamingServer[flip7v1.ExportTournamentResponse]) error {
	t, err := s.tournament(stream.Context(), r.GetTournamentId())
	if err != nil {
		return err
	}
	export := s.arena.ExportResults
	if r.GetPart() == flip7v1.ExportPart_EXPORT_PART_TIMINGS {
		export = s.arena.ExportTimings
	}
	return export(stream.Context(), t.ID, chunks(func(chunk []byte) error {
		return stream.Send(&flip7v1.ExportTournamentResponse{Chunk: chunk})
	}))
}

// longestChunk bounds a piece of a file: half of what a client takes in a message.
const longestChunk = 32 << 10

// chunks is a writer that sends what is written in pieces.
type chunks func(chunk []byte) error

// Write implements io.Writer.
func (send chunks) Write(p []byte) (int, error) {
	for chunk := range slices.Chunk(p, longestChunk) {
		if err := send(chunk); err != nil {
			return 0, err
		}
	}
	return len(p), nil
}

// RehearseTournament plays a night with house bots and tells what would happen.
func (s *tournamentService) RehearseTournament(r *flip7v1.RehearseTournamentRequest, stream grpc.ServerStreamingServer[flip7v1.RehearseTournamentResponse]) error {
	ctx := stream.Context()
	settings, entries, err := s.rehearsed(ctx, r)
	if err != nil {
		return err
	}
	// One game at a time, which changes no result: the arena may be playing a true night beside it.
	settings.Concurrency = 1
	p := &progress{rounds: cmp.Or(settings.Rounds, arena.DefaultSettings().Rounds), news: make(chan struct{}, 1)}
	type ending struct {
		*arena.Rehearsal
		err error
	}
	ended := make(chan ending, 1)
	go func() {
		rehearsal, err := arena.Rehearse(ctx, settings, entries, p.happened)
		ended <- ending{rehearsal, err}
	}()
	for {
		select {
		case <-p.news:
			for _, told := range p.take() {
				if err := stream.Send(told); err != nil {
					return err // ends ctx, and so the rehearsal
				}
			}
		case end := <-ended:
			if end.err != nil {
				return end.err
			}
			for _, told := range append(p.take(), s.rehearsal(end.Rehearsal)) {
				if err := stream.Send(told); err != nil {
					return err
				}
			}
			return nil
		}
	}
}

// rehearsed is what is to be rehearsed.
func (s *tournamentService) rehearsed(ctx context.Context, r *flip7v1.RehearseTournamentRequest) (settings arena.Settings, entries []arena.Entry, err error) {
	name := "rehearsal"
	if r.GetTournamentId() != "" {
		t, err := s.tournament(ctx, r.GetTournamentId())
		if err != nil {
			return settings, nil, err
		}
		settings, name = t.Settings, t.Settings.Name
		for _, e := range t.Entries {
			if e.State == arena.Entered && !e.FillIn && !e.Anchor {
				entries = append(entries, arena.Entry{Name: e.Name, Player: e.Player, Owner: e.Owner})
			}
		}
	}
	if r.GetTournamentId() == "" || r.GetSettings() != nil {
		if settings, err = s.common.SettingsOf(name, r.GetSettings()); err != nil {
			return settings, nil, setting(err)
		}
	}
	if r.GetBots() > 0 || len(entries) == 0 {
		entries = houseField(int(cmp.Or(r.GetBots(), rehearsalBots)))
	}
	settings.BotsPerOwner = 1000 // whoever has entered plays
	return settings, entries, nil
}

// rehearsalBots is how many bots rehearse if nobody says it.
const rehearsalBots = 8

// houseField are house bots of all kinds in turn, so many in all.
func houseField(bots int) (entries []arena.Entry) {
	kinds := house.Names()
	for n := range bots {
		kind := kinds[n%len(kinds)]
		name := kind
		if lap := n/len(kinds) + 1; lap > 1 {
			name = fmt.Sprintf("%s-%d", kind, lap)
		}
		entries = append(entries, arena.Entry{Name: name, Player: "house:" + kind})
	}
	return entries
}

// rehearsal is how a rehearsal ended.
func (s *tournamentService) rehearsal(r *arena.Rehearsal) *flip7v1.RehearseTournamentResponse {
	w := &flip7v1.RehearseTournamentResponse{Tournament: s.common.Tournament(r.Tournament), GamesFinished: uint32(r.Games), Games: uint32(r.Games),
		Line: fmt.Sprintf("%d games, %d decisions", r.Games, r.Decisions)}
	w.Tournament.Id = "" // nothing is kept of it
	w.Tournament.Conclusion = r.Conclusion.Text
	placements, alike := r.Tournament.Placements(), r.Tournament.Alike(r.Standings)
	for i, line := range r.Standings {
		shown := wire.Standing(r.Tournament, line, placements[line.Entry.Number-1], arena.Stats{})
		shown.LikeAbove = alike[i]
		w.Standings = append(w.Standings, shown)
	}
	if told(r.Span.Expected) {
		w.ExpectedDuration = durationpb.New(r.Span.Expected)
	}
	if told(r.Span.Latest) {
		w.LatestDuration = durationpb.New(r.Span.Latest)
	}
	return w
}

// progress is how far a rehearsal is. Whoever plays it must not wait for whoever hears of it: lines wait here, a few for
// each pairing round.
type progress struct {
	rounds int
	news   chan struct{} // holds something if there is something to take

	mu    sync.Mutex
	games uint32
	lines []string
	told  time.Time
}

// progressEvery is how often it is told how many games are over.
const progressEvery = 200 * time.Millisecond

func (p *progress) happened(e arena.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Kind {
	case arena.RoundPaired:
		switch {
		case e.Round <= p.rounds:
			p.lines = append(p.lines, fmt.Sprintf("pairing round %d of %d", e.Round, p.rounds))
		case e.Round == p.rounds+1:
			p.lines = append(p.lines, "final table")
		}
	case arena.GameEnded:
		p.games++
		if now := time.Now(); now.Sub(p.told) < progressEvery {
			return
		} else {
			p.told = now
		}
	default:
		return
	}
	select {
	case p.news <- struct{}{}:
	default:
	}
}

// take is what is new since the last time.
func (p *progress) take() (news []*flip7v1.RehearseTournamentResponse) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, line := range p.lines {
		news = append(news, &flip7v1.RehearseTournamentResponse{GamesFinished: p.games, Line: line})
	}
	if p.lines = nil; len(news) == 0 {
		news = append(news, &flip7v1.RehearseTournamentResponse{GamesFinished: p.games})
	}
	return news
}
