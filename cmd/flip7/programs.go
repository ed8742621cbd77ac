package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/flip7-arena/flip7/arena/game"
	"github.com/flip7-arena/flip7/arena/match"
	"github.com/flip7-arena/flip7/arena/table"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/launch"
	"github.com/flip7-arena/flip7/server/remote"
)

// helloPatience is how long a program has to say hello: `go run` compiles first, and that may take a while.
const helloPatience = time.Minute

// programs are bots that a match starts itself. They come in on loopback and are players as in an arena, but one that ends
// is not started again: its author wants to know.
type programs struct {
	flip7v1.UnimplementedPlayServiceServer
	bots    *remote.Bots
	server  *grpc.Server
	address string
	all     []*launched
	lost    context.CancelCauseFunc

	troubles chan trouble
	played   played

	mu      sync.Mutex
	byToken map[string]string // names
	wrongs  map[string]string // by name: what the bot was told of its first wrong decision
}

// launched is a program that runs.
type launched struct {
	name    string
	command string
	output  *output
	process *launch.Process
	told    [troubleKinds]bool // that had one
}

// openPrograms lets programs in, as soon as they are started. With patience for a debugger nothing is cut off that stands
// still. The context that it returns ends when a program does.
func openPrograms(ctx context.Context, debugged bool) (context.Context, *programs, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("let programs in: %w", err)
	}
	ps := &programs{address: listener.Addr().String(), byToken: map[string]string{}, wrongs: map[string]string{}}
	ctx, ps.lost = context.WithCancelCause(ctx)
	alive := keepalive.ServerParameters{Time: 20 * time.Second, Timeout: 10 * time.Second}
	limits := remote.Limits{ReconnectGrace: -1}
	if debugged {
		alive.Time = math.MaxInt64
		limits.WriteTimeout, limits.HelloTimeout = aDay, aDay
	}
	ps.bots = remote.New(remote.Config{Arena: version, Limits: limits, Log: slog.New(slog.DiscardHandler), Hooks: remote.Hooks{
		Judged: ps.judged, Answered: ps.answered, Ended: ps.ended,
	}})
	ps.server = grpc.NewServer(
		grpc.KeepaliveParams(alive),
		grpc.KeepaliveEnforcementPolicy(keepalive.EnforcementPolicy{MinTime: 10 * time.Second, PermitWithoutStream: true}),
		grpc.MaxRecvMsgSize(64<<10),
		grpc.WaitForHandlers(true),
	)
	flip7v1.RegisterPlayServiceServer(ps.server, ps)
	go func() { _ = ps.server.Serve(listener) }() // until Stop
	return ctx, ps, nil
}

// Play implements flip7v1.PlayServiceServer.
func (ps *programs) Play(stream grpc.BidiStreamingServer[flip7v1.PlayRequest, flip7v1.PlayResponse]) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	for _, authorization := range md.Get("authorization") {
		ps.mu.Lock()
		name, known := ps.byToken[strings.TrimPrefix(authorization, "Bearer ")]
		ps.mu.Unlock()
		if known {
			return ps.bots.Serve(name, stream)
		}
	}
	return status.Error(codes.Unauthenticated, "this is not the token that the match gave to a program, in FLIP7_TOKEN")
}

func (ps *programs) judged(j remote.Judged) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	if _, told := ps.wrongs[j.Bot]; !told {
		ps.wrongs[j.Bot] = j.Verdict.GetMessage()
	}
}

func (ps *programs) answered(a remote.Answered) {
	ps.played.decisions.Add(1)
	if a.Cause.Fault() {
		ps.played.faults.Add(1)
		ps.happened(a.Bot, byDefault, fmt.Sprintf("has its first fault: the default decision was played, the cause is %q", strings.ReplaceAll(a.Cause.String(), "_", " ")))
	}
}

func (ps *programs) ended(stream remote.Session, reason flip7v1.EndReason, text string) {
	switch reason {
	case flip7v1.EndReason_END_REASON_TOKEN_REVOKED: // the match is over
	case flip7v1.EndReason_END_REASON_UNSPECIFIED:
		ps.happened(stream.Bot, disconnected, "has left its stream and may come back")
	default:
		ps.happened(stream.Bot, disconnected, "was sent away and may come back: "+text)
	}
}

// wrong is what a program was told of its first wrong decision; empty if it made none.
func (ps *programs) wrong(name string) string {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	return ps.wrongs[name]
}

// wrote is what a program had written last at its first fault.
func (ps *programs) wrote(name string) []string {
	for _, l := range ps.all {
		if l.name == name {
			return l.output.atFault()
		}
	}
	return nil
}

// start starts the programs among the players.
func (ps *programs) start(players []contestant, echo io.Writer) error {
	ps.troubles = make(chan trouble, len(players)*int(troubleKinds))
	for _, player := range players {
		if !player.started() {
			continue
		}
		l := &launched{name: player.name, command: player.command}
		l.output = &output{name: player.name, echo: echo, json: make(chan struct{}), warn: func(text string) {
			ps.happened(l.name, warned, "warns: "+text)
		}}
		ps.mu.Lock()
		ps.all = append(ps.all, l) // what it does may be told of at once
		ps.mu.Unlock()
		if err := ps.launch(l, player.command); err != nil {
			ps.mu.Lock()
			ps.all = ps.all[:len(ps.all)-1]
			ps.mu.Unlock()
			return fmt.Errorf("player: %w", err)
		}
		go func() {
			<-l.process.Gone()
			ps.lost(&lostError{l, "ended (" + howEnded(l.process.Err()) + ")"})
		}()
	}
	return nil
}

func (ps *programs) launch(l *launched, command string) error {
	args, err := launch.Split(command)
	if err != nil {
		return err
	}
	token := rand.Text()
	ps.mu.Lock()
	ps.byToken[token] = l.name
	ps.mu.Unlock()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = launch.Environment([]string{"FLIP7_ADDR=" + ps.address, "FLIP7_TOKEN=" + token})
	cmd.Stdout, cmd.Stderr = l.output, l.output
	if l.process, err = launch.Begin(cmd); err != nil {
		return fmt.Errorf("start %q: %w", command, err)
	}
	return nil
}

func howEnded(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// greet waits until all programs have said hello.
func (ps *programs) greet(ctx context.Context, patience time.Duration, waiting func(name string)) error {
	tell, late := time.After(3*time.Second), time.After(patience)
	for _, l := range ps.all {
		for {
			changed := ps.bots.Changed()
			p, connected := ps.bots.Presence(l.name)
			if connected && p.MaxGames == 0 {
				return &lostError{l, "said in its hello that it takes no games (max_games 0)"}
			}
			if connected {
				break
			}
			select {
			case <-changed:
			case <-l.output.json:
				return &lostError{l, fmt.Sprintf("speaks lines of JSON, not gRPC: start it by the bridge, as %q", "cmd:flip7 bridge -- "+l.command)}
			case <-tell:
				waiting(l.name)
			case <-late:
				return &lostError{l, fmt.Sprintf("did not say hello to the arena in %v, at the address in FLIP7_ADDR", patience)}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// rotations is how many rotations the programs can play side by side, at least one.
func (ps *programs) rotations(m match.Match) (most int, of string) {
	most = math.MaxInt
	for _, l := range ps.all {
		p, _ := ps.bots.Presence(l.name)
		seats := (m.Seats + len(m.Names) - 1) / len(m.Names) // of a name at a table
		if n := max(p.MaxGames/seats, 1); n < most {
			most, of = n, l.name
		}
	}
	return most, of
}

// sitDown is a program's seat in a game. One that sits in several seats of a table plays a game in each, so that it cannot
// mistake one for another.
func (ps *programs) sitDown(name string) match.SitDown {
	return func(match.Game, game.Seat) table.Player { return apart{ps.bots.Player(name)} }
}

// apart is a player of a game that has a name of its own for each seat.
type apart struct{ table.Player }

func (a apart) Begin(info table.Info, seat game.Seat) {
	info.ID = fmt.Sprintf("%s/%d", info.ID, seat)
	a.Player.Begin(info, seat)
}

// close ends the programs and lets no more in.
func (ps *programs) close() {
	var ending sync.WaitGroup
	for _, l := range ps.all {
		ps.bots.End(l.name, flip7v1.EndReason_END_REASON_TOKEN_REVOKED, "the match is over")
		ending.Go(func() { l.process.End(launch.Patience{}) })
	}
	ending.Wait()
	ps.bots.Close()
	ps.server.Stop()
	ps.lost(nil)
}

// lostError is that a match cannot go on because of a program.
type lostError struct {
	*launched
	what string
}

func (e *lostError) Error() string {
	lines := e.output.last()
	if len(lines) == 0 {
		return fmt.Sprintf("%s %s; it wrote nothing", e.name, e.what)
	}
	return fmt.Sprintf("%s %s; the last it wrote:\n  %s", e.name, e.what, strings.Join(lines, "\n  "))
}

// isLost reports whether an error is about a program.
func isLost(err error) bool {
	_, is := errors.AsType[*lostError](err)
	return is
}

const (
	outputLines = 20  // of a program's output that are shown when something is wrong with it
	outputBytes = 400 // of a line
)

// output is what a program writes: the last lines are kept, and all are echoed if somebody wants to see them.
type output struct {
	name string
	echo io.Writer     // nil: nowhere
	json chan struct{} // closed when it begins to speak lines of JSON
	warn func(string)  // is told of each line that is a warning

	mu      sync.Mutex
	ready   bool     // json is closed
	warning string   // the first
	warned  int      // how many there were
	kept    []string // what it had written last at its first fault
	lines   []string
	partial []byte
}

// Write implements io.Writer.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, ended := bytes.Cut(rest, []byte("\n"))
		o.partial = append(o.partial, line[:min(len(line), outputBytes-len(o.partial))]...)
		if rest = after; ended {
			o.line(strings.TrimRight(string(o.partial), "\r"))
			o.partial = o.partial[:0]
		}
	}
	return len(p), nil
}

func (o *output) line(text string) {
	if o.echo != nil {
		fmt.Fprintf(o.echo, "%s: %s\n", o.name, text)
	}
	if !o.ready && speaksJSON(text) {
		o.ready = true
		close(o.json)
	}
	if w := warning(text); w != "" {
		if o.warned++; o.warned == 1 {
			o.warning = w
			o.warn(w)
		}
	}
	if len(o.lines) == outputLines {
		o.lines = slices.Delete(o.lines, 0, 1)
	}
	o.lines = append(o.lines, text)
}

// last is the last lines, oldest first.
func (o *output) last() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	lines := slices.Clone(o.lines)
	if len(o.partial) > 0 {
		lines = append(lines, string(o.partial))
	}
	return lines
}

// keep keeps what was written last when something went wrong.
func (o *output) keep(lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.kept = lines
}

// atFault is what was written last at the first fault, as far as that was kept; else what was written last of all.
func (o *output) atFault() []string {
	last := o.last()
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.kept == nil {
		return lastOf(last)
	}
	return o.kept
}

// warnings are how many lines were warnings, and the first of them.
func (o *output) warnings() (first string, n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.warning, o.warned
}
