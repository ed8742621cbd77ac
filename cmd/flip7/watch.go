package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// watch shows a tournament until it is over: on a terminal its standings and tables, redrawn; elsewhere a line for what
// happens, and its standings at the end; as JSON a line for each event. It goes on from a position in the stream of what
// happens, or begins with how things stand if that is empty.
func watch(ctx context.Context, to remoteFlags, p *program, id, position string) error {
	w := &watching{p: p, id: id, position: position}
	if file, is := p.file(); is && !p.json {
		if _, terminal := windowRows(file); terminal {
			w.screen = &screen{out: file, rows: func() int { rows, _ := windowRows(file); return rows }}
		}
	}
	return w.untilOver(ctx, to)
}

// beforeStart is the position before an open tournament starts: house bots can play a night before a watch has begun. It is
// empty where there is none; what is wrong then, the start says.
func beforeStart(ctx context.Context, to remoteFlags, id string) string {
	conn, err := to.dial()
	if err != nil {
		return ""
	}
	defer conn.Close()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := flip7v1.NewWatchServiceClient(conn).WatchTournament(ctx, &flip7v1.WatchTournamentRequest{TournamentId: id})
	if err != nil {
		return ""
	}
	r, err := stream.Recv()
	if err != nil || len(r.GetEvents()) != 1 || r.GetEvents()[0].GetTournament().GetState() != flip7v1.TournamentState_TOURNAMENT_STATE_OPEN {
		return ""
	}
	return r.GetPosition()
}

// watching is a tournament that is watched, for as long as that takes: the arena may be restarted meanwhile.
type watching struct {
	p        *program
	id       string
	screen   *screen // nil: lines
	position string  // in the stream of what happens
	reached  bool    // whether the arena has ever answered
	pause    time.Duration

	settings             *flip7v1.TournamentSettings
	state, round, leader string // as last told in lines: after a restart the arena begins with how things stand
}

// The arena is looked for again after a pause, which doubles as long as it is not there.
const (
	shortestPause = 200 * time.Millisecond
	longestPause  = 5 * time.Second
)

func (w *watching) untilOver(ctx context.Context, to remoteFlags) error {
	for {
		err := w.once(ctx, to)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return w.leave()
		case status.Code(err) != codes.Unavailable || !w.reached: // what never was there may be a wrong address
			return refusal(err)
		}
		if w.pause == 0 {
			w.tell("The arena is not there; the night goes on when it is back.")
		}
		w.pause = min(max(2*w.pause, shortestPause), longestPause)
		select {
		case <-time.After(w.pause):
		case <-ctx.Done():
			return w.leave()
		}
	}
}

// leave says that only the watching was ended.
func (w *watching) leave() error {
	w.tell(fmt.Sprintf("The watch ends; the tournament goes on. Watch it again: flip7 tournament show %s --watch", w.id))
	return nil
}

// tell tells of the watching itself: not among the events, which programs may read.
func (w *watching) tell(text string) {
	if w.screen != nil {
		w.screen.add(text)
		return
	}
	fmt.Fprintln(w.p.err, text)
}

// once watches over one connection, a new one: grpc would wait longer before it tries one again that has failed.
func (w *watching) once(ctx context.Context, to remoteFlags) error {
	conn, err := to.dial()
	if err != nil {
		return err
	}
	defer conn.Close()
	tournaments := flip7v1.NewTournamentServiceClient(conn)
	changed := make(chan struct{}, 1)
	drawing, stop := context.WithCancel(ctx)
	defer stop()
	var drawer sync.WaitGroup
	if w.screen != nil {
		drawer.Go(func() { w.keepDrawn(drawing, tournaments, changed) })
	}
	err = w.follow(ctx, flip7v1.NewWatchServiceClient(conn), changed)
	stop()
	drawer.Wait()
	if err != nil || w.p.json {
		return err
	}
	return w.end(ctx, tournaments)
}

// follow takes what one stream tells, until the tournament is over.
func (w *watching) follow(ctx context.Context, client flip7v1.WatchServiceClient, changed chan<- struct{}) error {
	stream, err := client.WatchTournament(ctx, &flip7v1.WatchTournamentRequest{TournamentId: w.id, Position: w.position})
	if err != nil {
		return err
	}
	for over := false; !over; {
		r, err := stream.Recv()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if w.pause > 0 && w.screen == nil { // a screen shows it
			w.tell("The arena is back.")
		}
		w.reached, w.pause = true, 0
		w.position = cmp.Or(r.GetPosition(), w.position)
		for _, e := range r.GetEvents() {
			if err := w.event(e); err != nil {
				return err
			}
			if t := e.GetTournament(); t.GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_FINISHED ||
				t.GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_CANCELLED {
				over = true
			}
		}
		select {
		case changed <- struct{}{}:
		default: // is to be drawn already
		}
	}
	return nil
}

// event prints an event, unless a screen shows what it has changed.
func (w *watching) event(e *flip7v1.TournamentEvent) error {
	if t := e.GetTournament(); t != nil {
		w.settings = t.GetSettings()
	}
	switch {
	case w.screen != nil:
		return nil
	case w.p.json:
		return printProto(w.p.out, e)
	}
	if line := w.line(e); line != "" {
		fmt.Fprintf(w.p.out, "%s  %s\n", e.GetTime().AsTime().Local().Format(time.TimeOnly), line)
	}
	return nil
}

// line is an event in words; empty for what would only be noise, and for what was told last.
func (w *watching) line(e *flip7v1.TournamentEvent) string {
	line, last := "", (*string)(nil)
	switch e := e.GetEvent().(type) {
	case *flip7v1.TournamentEvent_Tournament:
		line, last = "the tournament is "+stateWords(e.Tournament.GetState()), &w.state
		if why := e.Tournament.GetStateWhy(); why != "" {
			line += ": " + why
		}
	case *flip7v1.TournamentEvent_PairingRound:
		if leg := e.PairingRound.GetNumber(); w.settings.GetFinalTable() > 0 && leg > w.settings.GetPairingRounds() {
			if len(e.PairingRound.GetMissing()) > 0 {
				return "final table: " + leftOut(e.PairingRound)
			}
			return "" // its table says it when it ends
		}
		line, last = fmt.Sprintf("pairing round %d: %s, %s", e.PairingRound.GetNumber(), counted(e.PairingRound.GetTables(), "table", "tables"),
			counted(e.PairingRound.GetRepeats(), "repeat meeting", "repeat meetings")), &w.round
		if len(e.PairingRound.GetMissing()) > 0 {
			line += "; " + leftOut(e.PairingRound)
		}
	case *flip7v1.TournamentEvent_Table:
		if !tableOver(e.Table) {
			return ""
		}
		return fmt.Sprintf("%s, table %d is %s: %s", strings.ToLower(roundName(e.Table.GetPairingRound(), w.settings)), e.Table.GetNumber(),
			strings.ToLower(strings.TrimPrefix(e.Table.GetState().String(), "TABLE_STATE_")), seated(e.Table))
	case *flip7v1.TournamentEvent_StandingsChanged:
		if e.StandingsChanged.GetLeader() == "" {
			return "" // no pairing round is over
		}
		line, last = "leader: "+e.StandingsChanged.GetLeader(), &w.leader
	}
	if last == nil || *last == line {
		return ""
	}
	waited := last == &w.state && strings.HasPrefix(w.state, line+": ") // for what is not said any more
	*last = line
	if waited {
		return "the tournament goes on"
	}
	return line
}

func tableOver(tab *flip7v1.Table) bool {
	return tab.GetState() == flip7v1.TableState_TABLE_STATE_FINISHED || tab.GetState() == flip7v1.TableState_TABLE_STATE_VOID
}

// end prints how the tournament has ended: all of it, whatever the height of the window.
func (w *watching) end(ctx context.Context, client flip7v1.TournamentServiceClient) error {
	night, err := client.GetTournament(ctx, &flip7v1.GetTournamentRequest{TournamentId: w.id})
	if err != nil {
		return err
	}
	standings, err := allStandings(ctx, client, w.id)
	if err != nil {
		return err
	}
	if w.screen != nil {
		w.screen.draw(headline(night.GetTournament()))
	}
	fmt.Fprintln(w.p.out)
	printStandings(w.p.out, standings.GetStandings())
	printFinal(w.p.out, night.GetTournament().GetFinalTable())
	printConclusion(w.p.out, night.GetTournament())
	return nil
}

// screen is the lower part of a terminal, which is redrawn. What stands above it stays.
type screen struct {
	out   io.Writer
	rows  func() int // of the window, which may change
	lines int        // drawn
}

// drawPause is between two drawings: who looks on reads no faster, and the arena has a night to run.
const drawPause = 500 * time.Millisecond

// draw replaces what was drawn. Lines that are too long are cut by the terminal, so that the next drawing knows how many
// there are; all is one write, so that it does not flicker.
func (s *screen) draw(text string) {
	back := ""
	if s.lines > 0 {
		back = fmt.Sprintf("\033[%dA\r\033[J", s.lines)
	}
	fmt.Fprint(s.out, back+"\033[?7l"+text+"\033[?7h")
	s.lines = strings.Count(text, "\n")
}

// add draws a line below; the carriage return is for the ^C that a terminal shows.
func (s *screen) add(line string) {
	fmt.Fprint(s.out, "\r\033[?7l"+line+"\n\033[?7h")
	s.lines++
}

// keepDrawn draws how things stand whenever something has changed.
func (w *watching) keepDrawn(ctx context.Context, client flip7v1.TournamentServiceClient, changed <-chan struct{}) {
	for {
		select {
		case <-changed:
		case <-ctx.Done():
			return
		}
		if text, err := look(ctx, client, w.id, w.screen.rows()); err == nil { // else the stream tells what is wrong
			w.screen.draw(text)
		}
		select {
		case <-time.After(drawPause):
		case <-ctx.Done():
			return
		}
	}
}

// look is how a tournament stands now, to be drawn in a window of so many rows.
func look(ctx context.Context, client flip7v1.TournamentServiceClient, id string, rows int) (string, error) {
	night, err := client.GetTournament(ctx, &flip7v1.GetTournamentRequest{TournamentId: id})
	if err != nil {
		return "", err
	}
	standings, err := allStandings(ctx, client, id)
	if err != nil {
		return "", err
	}
	pairings, err := pairingsOf(ctx, client, id, night.GetTournament().GetPairingRound())
	if err != nil {
		return "", err
	}
	return picture(night.GetTournament(), standings.GetStandings(), pairings, rows), nil
}

// picture is how a tournament stands, in fewer lines than the window has rows: the last one is the cursor's, and one is
// kept for what is added. Tables take half of them at most.
func picture(t *flip7v1.Tournament, standings []*flip7v1.Standing, pairings *flip7v1.ListPairingsResponse, rows int) string {
	room := max(cmp.Or(rows, 24)-2, 1) // some terminals do not know
	var below strings.Builder
	if tables := pairings.GetTables(); len(tables) > 0 {
		playing := slices.DeleteFunc(slices.Clone(tables), tableOver)
		fmt.Fprintf(&below, "\n%s: %d of %s over; %d of at most %d games in all\n", roundName(t.GetPairingRound(), t.GetSettings()),
			len(tables)-len(playing), counted(uint32(len(tables)), "table", "tables"), t.GetGamesFinished(), t.GetGames())
		printMissing(&below, pairings)
		shown := fitting(len(playing), room/2-strings.Count(below.String(), "\n")-1) // heads
		if shown > 0 {
			printTables(&below, playing[:shown], t.GetState())
		}
		if more := len(playing) - shown; more > 0 {
			fmt.Fprintf(&below, "and %d more\n", more)
		}
	}
	printFinal(&below, t.GetFinalTable())

	var above strings.Builder
	fmt.Fprintln(&above, headline(t)) // and a blank line
	if len(standings) > 0 {
		around := 2 // heads, what ~ says
		if playedFinal(standings) {
			around++ // what counts the final
		}
		shown := fitting(len(standings), room-strings.Count(above.String()+below.String(), "\n")-around)
		if shown < len(standings) {
			fmt.Fprintf(&above, "The first %d of %d bots:\n", shown, len(standings))
		}
		printStandings(&above, standings[:shown])
	}
	lines := strings.SplitAfter(above.String()+below.String(), "\n")
	return strings.Join(lines[:min(len(lines), room)], "")
}

// fitting is how many of so many things are shown in so many lines, one of which says it if they are not all.
func fitting(things, lines int) int {
	if things <= lines {
		return things
	}
	return max(lines-1, 1)
}

// still reports whether a tournament does not go on for now.
func still(t *flip7v1.Tournament) bool {
	return t.GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_PAUSED || t.GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_HELD
}

// headline is where a tournament is, in a line or two.
func headline(t *flip7v1.Tournament) string {
	line := fmt.Sprintf("Tournament %s %q is %s", t.GetId(), t.GetName(), stateWords(t.GetState()))
	switch {
	case t.GetState() == flip7v1.TournamentState_TOURNAMENT_STATE_OPEN && t.GetStartTime() != nil:
		line += ", starts at " + t.GetStartTime().AsTime().Local().Format(time.DateTime)
	case still(t): // its end moves away as long as that lasts
	case t.GetExpectedEndTime() != nil:
		line += ", expected end " + t.GetExpectedEndTime().AsTime().Local().Format(time.TimeOnly)
	}
	if t.GetStateWhy() != "" {
		line += "\n" + t.GetStateWhy() // such as for whom it waits: the more there are the longer
	}
	return line + "\n"
}
