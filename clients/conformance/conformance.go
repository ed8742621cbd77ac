// Package conformance checks bots. It plays the arena's side of the conversation in play_service.proto from scripts, one
// run of the bot for each, and says in words what the bot did that it should not, or did not that it must. It is for kits
// and for bots that do without one; it knows the contract, and neither the server nor any strategy.
//
// The scripts are the files in scripts, to be read as prose:
//
//	# A bot that is asked whether to hit or to stay says which, within its time.
//	must
//	meet
//	send game g1 players=4 me=2
//	send request g1/1 turn seats="12 5 +4 | 0 7 | frozen 3 freeze | second"
//	within 1s expect decision g1/1 legal
//
// First what the script proves; then must, or should for what the contract asks for but nobody is harmed without; then
// line by line what happens. The bot is begun at "start", or at "meet", which stands for the beginning of most scripts:
//
//	start
//	within 60s expect stream
//	expect hello
//	send welcome
//
// The other verbs:
//
//	start tls               the bot is begun, with FLIP7_CA
//	within D expect ...     the bot does that within D; within 5 s where no time is given
//	for D expect nothing    the bot says nothing, opens no stream and does not end
//	for D expect no stream  the bot may end, too
//	send ...                the arena says that
//	and ...                 the arena says that in the same batch as the line before
//	allow decision ID       the bot may answer that, and need not
//	drop                    the connection is lost
//	away, back              the arena is gone, nobody listens; it is back at the same address
//	end REASON              the stream ends with a status that gives the reason, without a Goodbye
//	slow rate=N             from now on N bytes a second, a few at a time
//	needs games=N           the script is left out for a bot that takes fewer games at once
//
// What is expected may come in any order among what else is expected of it; what is left over at the end is a failure, and
// so is an answer that nobody asked for. A request or a game "g[1..8]" is eight. The arena respects the bot's capacity, and
// the course of a game: requests beyond it wait until there is room. message.go has what can be sent, step.go what can be
// expected.
package conformance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// Config is a bot and how to check it. Begin must be set.
type Config struct {
	// Begin starts the bot with variables "KEY=value" added to its environment. What it writes goes to output, which may
	// be written to from several goroutines.
	Begin func(env []string, output io.Writer) (Process, error)
	// Scripts are those to be played. nil: all.
	Scripts []Script
	// Concurrency is how many are played at once. 0: 4.
	Concurrency int
	// Kit is the name under which failures are known. Empty: what the bot says in its hello.
	Kit string
	// Known are failures that are expected.
	Known []KnownFailure
	// Told, if set, is called with each result, in the order of the scripts, as soon as all before it are there.
	Told func(Result)

	// listen is net.Listen but in tests.
	listen func(addr string) (net.Listener, error)
}

// Process is a bot that runs.
type Process interface {
	Gone() <-chan struct{} // closed when it has ended
	Err() error            // what it ended in; to be asked when it is gone
	End()                  // ends it and all that it started, and returns when it is gone
}

// anywhere is the address of an arena that has none yet.
const anywhere = "127.0.0.1:0"

// loopback listens on this machine. Anywhere is a port that the system does not give to whoever connects to somewhere, so
// that nobody takes it while the arena of a script is down.
func loopback(addr string) (net.Listener, error) {
	if addr == anywhere {
		for range 100 {
			if l, err := listenAt(20_000 + 2*rand.IntN(5_000)); err == nil {
				return l, nil
			}
		}
	}
	return net.Listen("tcp", addr)
}

// claimed is a listener on a port that stays claimed when it is closed, until claim is: no other check listens where an
// arena is only away.
type claimed struct {
	net.Listener
	claim net.Listener // on the next port
}

// listenAt claims an even port and listens on it.
func listenAt(port int) (net.Listener, error) {
	claim, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+1))
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		claim.Close()
		return nil, err
	}
	return claimed{l, claim}, nil
}

// Check plays the scripts: the first one before the others, which are left out if the bot opens no stream there. The error
// says why the bot could not be begun at all, or that ctx ended; the report then holds what was there by then.
func Check(ctx context.Context, c Config) (Report, error) {
	if c.Scripts == nil {
		c.Scripts = Scripts()
	}
	if c.Told == nil {
		c.Told = func(Result) {}
	}
	if c.listen == nil {
		c.listen = loopback
	}
	report := Report{Of: len(c.Scripts)}
	first, err := c.play(ctx, 0)
	if err != nil {
		return report, err
	}
	c.Told(report.add(first))
	if first.absent {
		return report, nil
	}

	ctx, cancel := context.WithCancelCause(ctx)
	results := make([]chan Result, len(c.Scripts))
	for i := range results {
		results[i] = make(chan Result, 1)
	}
	play := func(i int) {
		result, err := c.play(ctx, i)
		if err != nil {
			cancel(err)
			return
		}
		results[i] <- result
	}
	var playing sync.WaitGroup
	defer playing.Wait()
	defer cancel(nil)
	playing.Go(func() {
		var together sync.WaitGroup
		room := make(chan struct{}, cmp.Or(c.Concurrency, 4))
		for i, script := range c.Scripts {
			if i > 0 && !script.Alone {
				room <- struct{}{}
				together.Go(func() { defer func() { <-room }(); play(i) })
			}
		}
		together.Wait()
		for i, script := range c.Scripts {
			if i > 0 && script.Alone {
				play(i)
			}
		}
	})
	for _, result := range results[1:] {
		select {
		case r := <-result:
			c.Told(report.add(r))
		case <-ctx.Done():
			return report, context.Cause(ctx)
		}
	}
	return report, nil
}

// play plays one script. The error is none of the bot's.
func (c *Config) play(ctx context.Context, number int) (Result, error) {
	script, begun := c.Scripts[number], time.Now()
	p := &play{ctx: ctx, config: c, output: newTail(), asked: make(map[string]*asked), pings: make(map[uint32]bool), allowed: make(map[string]bool)}
	defer p.close()
	err := p.follow(script)
	if ctx.Err() != nil {
		return Result{}, context.Cause(ctx)
	}
	result := Result{
		Number: number + 1, Script: script.Name, Proves: script.Proves, Must: script.Must, Outcome: Passed, Note: p.note,
		Steps: script.Lines(), Kit: p.hello.GetKitName(), Version: p.hello.GetKitVersion(), absent: p.stream == nil,
	}
	if skipped, is := errors.AsType[skip](err); is {
		result.Outcome, result.Note = Skipped, string(skipped)
	} else if broken, is := errors.AsType[*Failure](err); is {
		broken.Output = p.lastWords()
		result.Outcome, result.Failure = Failed, broken
		if !script.Must {
			result.Outcome = Warned
		}
	} else if err != nil {
		return Result{}, err
	}
	result.strays = p.output.stray()
	result.judge(cmp.Or(c.Kit, result.Kit), c.Known)
	result.Seconds = time.Since(begun).Seconds()
	return result, nil
}
