//go:build unix

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/timestamppb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// A window shows what fits, says how much does not, and is never scrolled.
func TestTheWatchedNightFitsTheWindow(t *testing.T) {
	night := &flip7v1.Tournament{Id: "7", Name: "friday", State: flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING, StateWhy: "it waits", PairingRound: 2,
		GamesFinished: 12, Games: 336, Settings: &flip7v1.TournamentSettings{PairingRounds: 7}}
	var standings []*flip7v1.Standing
	var tables []*flip7v1.Table
	for i := range 40 {
		standings = append(standings, &flip7v1.Standing{Rank: uint32(i + 1), Bot: fmt.Sprint("bot-", i+1), LikeAbove: i > 0})
		tables = append(tables, &flip7v1.Table{Number: uint32(i + 1), State: flip7v1.TableState_TABLE_STATE_RUNNING, Games: 8, GamesFinished: 3, Bots: []string{"ada"}})
	}
	tables[0].State = flip7v1.TableState_TABLE_STATE_FINISHED
	for _, c := range []struct {
		rows, lines   int
		want, without []string
	}{
		{rows: 120, lines: 87, want: []string{"  ~40  bot-40 ", "\n40     running  3/8    ada\n"}, without: []string{"more", "The first"}},
		{rows: 24, lines: 22, want: []string{`Tournament 7 "friday" is running` + "\nit waits\n\n", "\nThe first 5 of 40 bots:\n", "   ~5  bot-5 ",
			"\nPairing round 2: 1 of 40 tables over; 12 of at most 336 games in all\n", "\n2      running  3/8    ada\n", "\nand 32 more\n"},
			without: []string{"bot-6", "\n1  "}},
		{rows: 0, lines: 22},
		{rows: 6, lines: 4, want: []string{"Tournament 7"}},
		{rows: 1, lines: 1, want: []string{"Tournament 7"}},
	} {
		got := picture(night, standings, &flip7v1.ListPairingsResponse{Tables: tables}, c.rows)
		if n := strings.Count(got, "\n"); n != c.lines {
			t.Errorf("a window of %d rows gets %d lines, want %d:\n%s", c.rows, n, c.lines, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("a window of %d rows: want %q in:\n%s", c.rows, want, got)
			}
		}
		for _, without := range c.without {
			if strings.Contains(got, without) {
				t.Errorf("a window of %d rows: want no %q in:\n%s", c.rows, without, got)
			}
		}
	}
}

func TestADrawingReplacesTheLast(t *testing.T) {
	var out strings.Builder
	s := &screen{out: &out}
	s.draw("one\ntwo\n")
	s.add("three")
	s.draw("four\n")
	const want = "\033[?7lone\ntwo\n\033[?7h" + "\r\033[?7lthree\n\033[?7h" + "\033[3A\r\033[J\033[?7lfour\n\033[?7h"
	if out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// On a terminal the end is all of the standings, however low the window.
func TestATerminalIsLeftWithTheEnd(t *testing.T) {
	flip7, here := arenaHere(t)
	flip7("tournament", "create", "watched", "--open", "--rounds", "2", "--seed", "3")
	flip7("tournament", "enter", "1", "house:odds", "house:stay-25", "house:stay-20", "house:random", "house:racer")
	flip7("tournament", "start", "1")
	var out bytes.Buffer
	w := &watching{p: &program{out: &out}, id: "1", screen: &screen{out: &out, rows: func() int { return 5 }}}
	if err := w.untilOver(t.Context(), here); err != nil {
		t.Fatal(err)
	}
	_, last, _ := strings.Cut(out.String()[strings.LastIndex(out.String(), "\033[?7l"):], "l")
	last = strings.Replace(last, "\033[?7h", "", 1)
	for _, want := range []string{`Tournament 1 "watched" is finished` + "\n\n  RANK ", " random ", "\nnot decided: "} {
		if !strings.Contains(last, want) || strings.Contains(last, "\033") {
			t.Errorf("want %q in what is left, and nothing redrawn:\n%q", want, last)
		}
	}
}

// Who watches a night whose arena is killed is told so once each time, and sees its end.
func TestAWatchOutlivesTheArena(t *testing.T) {
	n := openNight(t, filepath.Join(t.TempDir(), "data"))
	n.verb("tournament", "create", "watched", "--open", "--rounds", "1", "--seed", "3")
	n.verb("tournament", "enter", tournament, "house:odds", "house:stay-25", "house:stay-20")
	out, outs := pipe(t)
	problems, wrong := pipe(t)
	ended := make(chan int, 1)
	go func() {
		ended <- run(n.ctx, []string{"tournament", "show", tournament, "--watch", "--data", n.server.data, "--address", n.server.address},
			program{out: outs, err: wrong})
		outs.Close()
		wrong.Close()
	}()
	events, told := bufio.NewReader(out), bufio.NewReader(problems)
	next := func(from *bufio.Reader, want string) {
		t.Helper()
		if line, err := from.ReadString('\n'); err != nil || !regexp.MustCompile(`^(\d\d:\d\d:\d\d  )?`+want+"\n$").MatchString(line) {
			t.Fatalf("told %q (%v), want %q", line, err, want)
		}
	}
	next(events, "the tournament is open")
	for range 2 {
		n.server.kill()
		next(told, "The arena is not there; the night goes on when it is back.")
		n.server.lookedFor()
		n.server.start()
		next(told, "The arena is back.")
	}
	n.start()
	next(events, "the tournament is running")
	rest, err := io.ReadAll(events)
	if code := <-ended; code != 0 || err != nil || !strings.Contains(string(rest), "\n\n  RANK ") || strings.Contains(string(rest), "is open") {
		t.Errorf("exit code %d (%v) and %s, want 0 and the standings", code, err, rest)
	}
	if more, _ := io.ReadAll(told); len(more) > 0 {
		t.Errorf("then told %q, want nothing more", more)
	}
}

// lookedFor returns when somebody has looked in vain for a server that is not there.
func (s *served) lookedFor() {
	s.t.Helper()
	nobody, err := net.Listen("tcp", s.address)
	if err != nil {
		s.t.Fatal(err)
	}
	defer nobody.Close()
	conn, err := nobody.Accept()
	if err != nil {
		s.t.Fatal(err)
	}
	conn.Close()
}

// pipe is one that takes some writing before it is read.
func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r, w
}

func TestAWatchOfAnArenaThatNeverWasThereEnds(t *testing.T) {
	s := newServed(t, t.TempDir(), nil)
	text, code := said(t, "tournament", "show", "1", "--watch", "--address", s.address)
	if want := "flip7: --address: no arena can be reached there ("; code != exitUsage || !strings.HasPrefix(text, want) {
		t.Errorf("exit code %d and %q, want %d and %q", code, text, exitUsage, want)
	}
}

func TestWhatStandsStillHasNoExpectedEnd(t *testing.T) {
	for state, want := range map[flip7v1.TournamentState]bool{
		flip7v1.TournamentState_TOURNAMENT_STATE_RUNNING: true,
		flip7v1.TournamentState_TOURNAMENT_STATE_PAUSED:  false,
		flip7v1.TournamentState_TOURNAMENT_STATE_HELD:    false,
	} {
		line := headline(&flip7v1.Tournament{Id: "7", Name: "friday", State: state, ExpectedEndTime: timestamppb.Now()})
		if got := strings.Contains(line, "expected end"); got != want {
			t.Errorf("%v: %q, an end is told: %v, want %v", state, line, got, want)
		}
	}
}

func TestOnlyATerminalIsRedrawn(t *testing.T) {
	for device, want := range map[string]bool{os.DevNull: false, "/dev/zero": false, "/dev/ptmx": true} {
		file, err := os.OpenFile(device, os.O_RDWR, 0)
		if want && (err != nil || runtime.GOOS != "linux") {
			continue // elsewhere this end of a terminal need not answer as one
		}
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		for json, want := range map[bool]bool{false: want, true: false} {
			if got := onTerminal(&program{err: file, json: json}); got != want {
				t.Errorf("%s, JSON %v: redrawn %v, want %v", device, json, got, want)
			}
		}
	}
}
