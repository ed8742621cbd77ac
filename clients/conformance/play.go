package conformance

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// play is one run of a bot along a script. One goroutine follows the script and owns all of this.
type play struct {
	ctx    context.Context
	config *Config
	arena  *arena
	bot    Process
	output *tail
	folder string // of the certificate; empty: none
	rate   int64  // bytes a second that go over the bot's line; 0: as fast as it goes

	stream    *stream        // the bot's newest
	awaits    string         // "stream" or "exit", when the script is at that line
	hello     *flip7v1.Hello // the newest
	capacity  *flip7v1.Capacity
	asked     map[string]*asked
	waiting   []*flip7v1.ArenaMessage // requests that wait for room
	pings     map[uint32]bool         // sent and not answered
	allowed   map[string]bool         // decisions that may come and need not
	unclaimed []heard                 // what the bot said and the script has not yet come to
	note      string
}

// asked is a request that was sent and what became of it.
type asked struct {
	request  *flip7v1.DecisionRequest
	sent     int // how often
	answered int // how often
	open     bool
	at       time.Time         // sent last
	decision *flip7v1.Decision // the first
}

// heard is what the bot said.
type heard struct {
	message *flip7v1.BotMessage
	at      time.Time
	spare   bool // a decision once more: it may be expected, and harms nobody if it is not
}

// Failure is what a bot did wrong, and where.
type Failure struct {
	Line     int      `json:"line"` // of the script
	Step     string   `json:"step"` // what stands there
	Expected string   `json:"expected"`
	Came     string   `json:"came"`
	Hint     string   `json:"hint,omitempty"`   // what most often is behind it
	Output   []string `json:"output,omitempty"` // the last lines that the bot wrote

	like string // failures of which this is the same look alike
}

func (f *Failure) Error() string { return fmt.Sprintf("line %d: %s: came %s", f.Line, f.Step, f.Came) }

// skip says why a script was not played to its end.
type skip string

func (s skip) Error() string { return string(s) }

// unexpected is what the bot did; the step that it came in says what was expected.
type unexpected struct {
	text string
	gist string // without what differs from script to script
	hint string
}

func (u unexpected) Error() string { return u.text }

func came(format string, args ...any) error {
	u := unexpected{text: fmt.Sprintf(format, args...), gist: format}
	if format == "%s" || format == "%v" {
		u.gist = u.text
	}
	return u
}

const nothingCame = "nothing for %s"

const (
	passHint = "a pass asks for the default decision; a kit passes when the bot's function fails or its decision is not legal, and writes why"
	slowHint = "the bot takes too long to decide, or its answer never leaves it: behind flip7 bridge each line has to be flushed"
)

const (
	jsonCame = `{"ready":true} on its standard output: it speaks lines of JSON, not gRPC`
	jsonHint = "start it by the bridge: flip7 bridge -- COMMAND"
)

// lastMoment is how long a script goes on after its last line: what a bot had no business to say comes behind what it had.
const lastMoment = 100 * time.Millisecond

// follow plays the steps. What the bot did wrong is a *Failure, why it was spared the rest a skip.
func (p *play) follow(script Script) error {
	steps := slices.Clip(script.steps)
	last := steps[len(steps)-1]
	steps = append(steps, step{line: last.line, text: "(the end)", act: expectNothing{lastMoment, false}})
	for _, s := range steps {
		if err := p.blamed(s, s.act.do(p)); err != nil {
			return err
		}
	}
	return nil
}

// blamed makes a *Failure of what the bot did.
func (p *play) blamed(at step, err error) error {
	what, is := errors.AsType[unexpected](err)
	if !is {
		return err
	}
	f := &Failure{Line: at.line, Step: at.text, Came: what.text, Hint: what.hint, Expected: "nothing that was not asked for",
		like: fmt.Sprintf("%T %s", at.act, what.gist)}
	if act, is := at.act.(interface{ wants() string }); is {
		f.Expected = act.wants()
	}
	if left := p.leftOver(); left != nil {
		f.Came += "; and " + left.Error()
	}
	return f
}

// close ends all that the script began.
func (p *play) close() {
	if p.bot != nil {
		p.bot.End()
	}
	if p.arena != nil && p.arena.server != nil {
		p.arena.close()
	}
	if p.folder != "" {
		os.RemoveAll(p.folder)
	}
}

// await waits until something is so.
func (p *play) await(d time.Duration, so func() bool) error {
	timeUp, err := p.until(d, false, so)
	if timeUp {
		return came(nothingCame, span(d))
	}
	return err
}

// until waits until something is so, or time is up. This program may have stood still as both happened: then the bot is
// not to blame, so what is there when time is up has come in time, or, if it is to be quiet till then, after it.
func (p *play) until(d time.Duration, quiet bool, so func() bool) (timeUp bool, err error) {
	begun, timer, last := time.Now(), time.NewTimer(d), quiet
	defer timer.Stop()
	for !so() {
		if quiet && time.Since(begun) >= d {
			return true, nil
		}
		var json <-chan struct{} // nil: what a bot writes that came by gRPC is its own affair
		if p.stream == nil {
			json = p.output.json
		}
		select {
		case <-json:
			return false, unexpected{text: jsonCame, gist: jsonCame, hint: jsonHint}
		case e := <-p.arena.events:
			if err := p.take(e); err != nil {
				return false, err
			}
		case <-p.bot.Gone():
			if p.awaits == "exit" {
				return false, nil
			}
			return false, p.gone()
		case <-timer.C:
			if last {
				return true, nil
			}
			last = true
			timer.Reset(lastMoment)
		case <-p.ctx.Done():
			return false, p.ctx.Err()
		}
	}
	return false, nil
}

// gone is that the bot has ended.
func (p *play) gone() error {
	status := "exit status 0"
	if err := p.bot.Err(); err != nil {
		status = err.Error()
	}
	u := unexpected{text: "the bot ended: " + status}
	u.gist = fmt.Sprint(u.text, p.output.lines()) // one may end for many reasons
	return u
}

// lastWords are the last lines that the bot wrote: what it writes about what it did may come behind that.
func (p *play) lastWords() []string {
	select {
	case <-p.bot.Gone():
	case <-time.After(2 * lastMoment):
	case <-p.ctx.Done():
	}
	return p.output.lines()
}

// take looks at what happened: it is what is expected now or may be expected later, means nothing, or is wrong whatever
// the script expects.
func (p *play) take(e event) error {
	switch {
	case e.stream.over:
		return nil
	case e.wrong != nil:
		return came("%v", e.wrong)
	case e.message != nil:
		return p.hear(e)
	case e.gone != nil && p.awaits == "stream": // it may leave the stream that it has
		p.lose()
		return nil
	case e.gone != nil:
		// Most often because the bot ended, which says more.
		select {
		case <-p.bot.Gone():
			return p.gone()
		case <-time.After(300 * time.Millisecond):
		}
		u := unexpected{text: e.gone.Error(), gist: e.gone.Error()}
		for _, a := range p.asked {
			if a.open {
				u.hint = slowHint // what computes without end cannot keep its stream alive either
			}
		}
		return u
	case p.awaits != "stream":
		return came("a new stream of the bot")
	}
	p.lose()
	p.stream, p.awaits = e.stream, ""
	return nil
}

// hear takes a message.
func (p *play) hear(e event) error {
	first := !e.stream.greeted
	e.stream.greeted = true
	switch m := e.message.GetMessage().(type) {
	case *flip7v1.BotMessage_Decision:
		return p.decided(m.Decision, e)
	case *flip7v1.BotMessage_Capacity:
		p.takes(m.Capacity)
		return p.release()
	case *flip7v1.BotMessage_Pong:
		if !p.pings[m.Pong.GetNumber()] {
			return came("%s, which was not asked for", describe(e.message))
		}
		delete(p.pings, m.Pong.GetNumber())
	case *flip7v1.BotMessage_Hello:
		if !first {
			return came("another hello on the same stream")
		}
	case nil:
		return came("a message that holds nothing that the contract knows")
	}
	p.unclaimed = append(p.unclaimed, heard{e.message, e.at, false})
	return nil
}

// takes keeps how much the bot can take.
func (p *play) takes(c *flip7v1.Capacity) {
	p.capacity = &flip7v1.Capacity{MaxGames: c.GetMaxGames(), MaxOpen: max(c.GetMaxOpen(), 1)}
}

// decided takes a decision. The same once more is harmless, and so is another one if the request came once more.
func (p *play) decided(d *flip7v1.Decision, e event) error {
	id := d.GetRequestId()
	a := p.asked[id]
	if a == nil {
		return came("%s, and no such request was sent", describe(e.message))
	}
	a.open = false
	a.answered++
	if !p.allowed[id] && a.answered > a.sent && a.decision != nil && !same(a.decision, d) {
		return came("%s, which had been answered by %s", describe(e.message), words(a.decision))
	}
	if !p.allowed[id] {
		p.unclaimed = append(p.unclaimed, heard{e.message, e.at, a.decision != nil})
	}
	if a.decision == nil {
		a.decision = d
	}
	return p.release()
}

// claim takes what was said out of what the script has not come to.
func (p *play) claim(is func(*flip7v1.BotMessage) bool) (heard, bool) {
	i := slices.IndexFunc(p.unclaimed, func(h heard) bool { return is(h.message) })
	if i < 0 {
		return heard{}, false
	}
	h := p.unclaimed[i]
	p.unclaimed = slices.Delete(p.unclaimed, i, i+1)
	return h, true
}

// leftOver is what the bot said and the script did not come to.
func (p *play) leftOver() error {
	var said []string
	for _, u := range p.unclaimed {
		if !u.spare {
			said = append(said, describe(u.message))
		}
	}
	p.unclaimed = nil
	switch n := len(said); {
	case n == 0:
		return nil
	case n > 3:
		said = append(said[:3], fmt.Sprintf("%d more", n-3))
	}
	return came("%s", strings.Join(said, ", "))
}

// say sends a batch. Requests that there is no room for wait.
func (p *play) say(messages []*flip7v1.ArenaMessage) error {
	var now []*flip7v1.ArenaMessage
	flush := func() error {
		for batch := range slices.Chunk(now, maxMessages) {
			if err := p.stream.send(p.ctx, batch); errors.Is(err, errUnread) {
				return came("%v for %s", err, span(readTimeout))
			} else if err != nil {
				return err
			}
		}
		now = nil
		return nil
	}
	for _, m := range messages {
		switch what := m.GetMessage().(type) {
		case *flip7v1.ArenaMessage_Welcome:
			w := proto.CloneOf(what.Welcome)
			w.Capacity, w.Events, w.Practice = p.capacity, p.hello.GetWantsEvents(), p.hello.GetPractice()
			m = arenaMessage(w)
		case *flip7v1.ArenaMessage_Request:
			if a := p.asked[what.Request.GetRequestId()]; a == nil && !p.room(what.Request) {
				p.waiting = append(p.waiting, m)
				continue
			}
			p.ask(what.Request)
		case *flip7v1.ArenaMessage_Verdict:
			if a := p.asked[what.Verdict.GetRequestId()]; a != nil && what.Verdict.GetCause() != 0 {
				a.open = false
			}
		case *flip7v1.ArenaMessage_GameFinished:
			for _, a := range p.asked {
				if a.request.GetGame().GetGameId() == what.GameFinished.GetGameId() {
					a.open = false
				}
			}
		case *flip7v1.ArenaMessage_Ping:
			p.pings[what.Ping.GetNumber()] = true
		case *flip7v1.ArenaMessage_Goodbye:
			now = append(now, m)
			if err := flush(); err != nil {
				return err
			}
			p.stream.hangUp(what.Goodbye.GetReason(), what.Goodbye.GetMessage(), what.Goodbye.GetRetryAfter().AsDuration())
			p.lose()
			return nil
		}
		now = append(now, m)
	}
	return flush()
}

// room reports whether the arena may ask now: the bot's capacity is respected, and a game asks a seat one thing at a time.
func (p *play) room(r *flip7v1.DecisionRequest) bool {
	open := 0
	for _, a := range p.asked {
		if a.open {
			open++
			if a.request.GetGame().GetGameId() == r.GetGame().GetGameId() {
				return false
			}
		}
	}
	return open < int(p.capacity.GetMaxOpen())
}

// ask keeps that a request is sent now.
func (p *play) ask(r *flip7v1.DecisionRequest) {
	a := p.asked[r.GetRequestId()]
	if a == nil {
		a = &asked{request: r}
		p.asked[r.GetRequestId()] = a
	}
	a.sent++
	a.open, a.at = a.decision == nil, time.Now() // one that was answered keeps nobody waiting
}

// release sends the requests that there is room for now.
func (p *play) release() error {
	waiting := p.waiting
	p.waiting = nil
	if len(waiting) == 0 || p.stream.over {
		return nil
	}
	return p.say(waiting)
}

// lose forgets the stream and what was said on it.
func (p *play) lose() {
	if p.stream != nil {
		p.stream.over = true
	}
	p.unclaimed, p.waiting = nil, nil
	clear(p.pings)
	for _, a := range p.asked {
		a.open = false
	}
}
