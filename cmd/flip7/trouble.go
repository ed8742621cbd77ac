package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/flip7-arena/flip7/arena/match"
)

// trouble is something that goes wrong with a program while a match is played. The first of each kind is told at once.
type trouble struct {
	of   *launched
	kind troubleKind
	what string
}

type troubleKind uint8

const (
	byDefault    troubleKind = iota // a request ended in the default decision
	disconnected                    // a stream has ended
	warned                          // it wrote a warning itself, as the bridge does before it starts a bot again
	troubleKinds
)

const (
	// lastWords is how long what a program writes may come behind what it does.
	lastWords = 200 * time.Millisecond
	// wordLines are of what it wrote then: the end of what most languages print of an exception.
	wordLines = 3
)

// played counts what the table does not show yet: of a rotation that is not over nothing counts.
type played struct{ begun, over, decisions, faults atomic.Int64 }

func (n *played) String() string {
	return fmt.Sprintf("%s begun, %d over, %s by programs, %s", counted(int(n.begun.Load()), "game", "games"), n.over.Load(),
		counted(int(n.decisions.Load()), "decision", "decisions"), counted(int(n.faults.Load()), "fault", "faults"))
}

// counting counts the games that are played.
func (n *played) counting(play match.Play) match.Play {
	return func(ctx context.Context, g match.Game) (match.Played, error) {
		n.begun.Add(1)
		out, err := play(ctx, g)
		if err == nil {
			n.over.Add(1)
		}
		return out, err
	}
}

// happened passes a trouble on if it is the first of its kind.
func (ps *programs) happened(name string, kind troubleKind, what string) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, l := range ps.all {
		if l.name == name && !l.told[kind] {
			l.told[kind] = true
			ps.troubles <- trouble{l, kind, what} // has room for all that are first
		}
	}
}

// accompany tells what goes wrong as soon as it does, and that the match is going on, until ctx ends.
func (b *board) accompany(ctx context.Context, ps *programs, seats int) {
	beat := time.NewTicker(time.Second)
	defer beat.Stop()
	var behind []trouble // whose last words may be still to come
	var spoken <-chan time.Time
	for {
		select {
		case t := <-ps.troubles:
			behind, spoken = append(behind, t), time.After(lastWords)
		case <-spoken:
			for _, t := range behind {
				b.trouble(t)
			}
			behind = nil
		case <-beat.C:
			b.beat(&ps.played, seats)
		case <-ctx.Done():
			return
		}
	}
}

// trouble tells one.
func (b *board) trouble(t trouble) {
	words := lastOf(t.of.output.last())
	if t.kind == warned && len(words) > 0 && warning(words[len(words)-1]) != "" { // the warning itself
		words = nil
	}
	if t.kind == byDefault {
		t.of.output.keep(words)
	}
	if b.silent {
		return
	}
	text := fmt.Sprintf("%s %s", t.of.name, t.what)
	switch {
	case t.of.output.echo != nil || t.kind == warned && len(words) == 0: // it is there already
	case len(words) == 0:
		text += "; it wrote nothing"
	default:
		text += "; the last it wrote:\n  " + strings.Join(words, "\n  ")
	}
	fmt.Fprintln(b, text)
}

// lastOf are the last lines, of the bot itself if it wrote some: what the bridge or a kit logs about them comes behind.
func lastOf(lines []string) []string {
	own := slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return strings.Contains(line, " level=") })
	if len(own) > 0 {
		lines = own
	}
	return lines[max(0, len(lines)-wordLines):]
}

const (
	firstBeat = 5 * time.Second // until the first rotation is over
	laterBeat = 2 * linePause
)

// beat tells that a match is going on of which nothing was to be seen for a while.
func (b *board) beat(n *played, seats int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	pause := firstBeat
	if b.games > 0 {
		pause = laterBeat
	}
	if b.silent || time.Since(b.last) < pause || time.Since(b.beaten) < pause {
		return
	}
	b.beaten = time.Now()
	b.erase()
	if b.redrawn && b.shown != nil {
		b.draw(b.shown)
	}
	fmt.Fprintf(b.out, "So far %v; the table counts whole rotations of %d games.\n", n, seats)
	if b.redrawn {
		b.lines++
	}
}

// speaksJSON reports whether a line is the first one of a bot that wants the bridge.
func speaksJSON(line string) bool {
	var first struct {
		Ready *bool `json:"ready"`
	}
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields() // a line of a log has more to say
	return decoder.Decode(&first) == nil && first.Ready != nil && *first.Ready
}

// warning is what a line warns of that was logged as the bridge and the Go kit do; empty if it does not.
func warning(line string) string {
	for _, level := range []string{"level=WARN ", "level=ERROR "} {
		if i := strings.Index(line, level); i >= 0 {
			return line[i:]
		}
	}
	return ""
}
