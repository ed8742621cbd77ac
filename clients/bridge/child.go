package bridge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	flip7 "github.com/flip7-arena/flip7/clients/go"
)

const (
	// mostFailures is how often in a row a process may end without having answered anything. With the usual back-off the
	// last time is half a minute after the first.
	mostFailures = 8
	// steady is how long a process has to run for its end not to count as a failure.
	steady = 30 * time.Second
	// mostDeaths is how many processes may end while they have a request, before that is taken for what ends them.
	mostDeaths = 2
)

// child is a process of the command, started again whenever it ends, and the requests that it has still to answer.
type child struct {
	config *Config
	log    *slog.Logger
	number int
	name   string  // "bot", or "bot 2" among others
	shown  *shared // for standard error
	lines  *shared // for all lines

	mu   sync.Mutex
	run  *run // the process that is ready; nil: none is
	open []*question
}

// question is a request that waits for an answer.
type question struct {
	view   *flip7.View
	answer chan flip7.Decision // has room for it
	deaths int                 // processes that ended while they had it
}

func (q *question) id() string { return q.view.Request().GetRequestId() }

// void reports whether an answer would be of no use any more.
func (q *question) void() bool { return q.view.Context().Err() != nil }

// keep has a process running until ctx ends, and says when the first is ready. The error says why there will be none.
func (c *child) keep(ctx context.Context, ready chan<- struct{}) error {
	began := false // once
	pause := c.config.Patience.Again
	for failures := 1; ; failures++ {
		started := time.Now()
		answered, err := c.live(ctx, func() {
			if !began {
				ready <- struct{}{}
			}
			began = true
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case !began:
			return err // the author is there to read it
		case answered || time.Since(started) > steady:
			failures, pause = 0, c.config.Patience.Again
		case failures == mostFailures:
			return commandError("%v; that was the %dth time in a row, without an answer in between", err, mostFailures)
		}
		c.log.Warn(err.Error()+"; the command is started again", "in", pause)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
		pause = min(2*pause, 64*c.config.Patience.Again)
	}
}

// live is the life of one process. It calls up when that is ready, and says why it is over.
func (c *child) live(ctx context.Context, up func()) (answered bool, err error) {
	r, err := c.begin()
	if err != nil {
		return false, err
	}
	defer r.end()
	if err := r.becomeReady(ctx, c.config.Patience.Ready); err != nil {
		return false, err
	}
	c.attach(r)
	up()
	select {
	case <-ctx.Done():
		err = context.Cause(ctx)
	case err = <-r.failed:
	case <-r.process.Gone():
		err = r.over()
	}
	return c.detach(err), err
}

// attach makes a process the one that is asked, from what is open on.
func (c *child) attach(r *run) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run = r
	for _, q := range c.open {
		r.ask(lineOf(requestOf(q.view, q.deaths > 0)))
	}
}

// detach gives up the process that is asked, because of err. What it left open waits for the next, unless it is what ends
// processes, or of no use any more.
func (c *child) detach(err error) (answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	answered = c.run.answers > 0
	c.run = nil
	c.open = slices.DeleteFunc(c.open, func(q *question) bool {
		if q.void() {
			q.answer <- q.view.Pass()
			return true
		}
		if q.deaths++; q.deaths < mostDeaths {
			return false
		}
		why := fmt.Sprintf("%d processes ended over this request; the last: %v", q.deaths, err)
		c.log.Error("passed for the command: "+why, "position", q.view)
		q.answer <- passed(q.view, why)
		return true
	})
	return answered
}

// ask returns what the command decides. It waits for the answer also when that is of no use any more: until then, or until
// the process is given up, that is busy, and what it says next without an id is about this request and no other.
func (c *child) ask(v *flip7.View) flip7.Decision {
	q := &question{view: v, answer: make(chan flip7.Decision, 1)}
	line := lineOf(requestOf(v, false))
	c.mu.Lock()
	c.open = append(c.open, q)
	if c.run != nil {
		c.run.ask(line)
	}
	c.mu.Unlock()
	select {
	case d := <-q.answer:
		return d
	case <-v.Context().Done():
	}
	r := c.asked(q)
	if r == nil {
		return v.Pass()
	}
	r.hint()
	select {
	case d := <-q.answer:
		return d
	case <-time.After(c.config.Patience.Hung):
		r.fail(fmt.Errorf("request %s is not answered though its time was up %v ago", q.id(), c.config.Patience.Hung))
	}
	return <-q.answer // from detach, if not from the process at this moment
}

// asked is the process that a request is put to. If there is none the request is withdrawn.
func (c *child) asked(q *question) *run {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil {
		c.drop(q)
	}
	return c.run
}

// drop forgets a question. Call with mu held.
func (c *child) drop(q *question) {
	c.open = slices.DeleteFunc(c.open, func(o *question) bool { return o == q })
}

// decided takes what a process decided. The error says why it is not taken.
func (c *child) decided(r *run, s said, wrong error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != r {
		return nil // it is about to end; its requests are another's now
	}
	q, err := c.meant(s.ID)
	if err != nil {
		r.tell(lineOf(verdict{Type: "verdict", ID: s.ID, Code: codeUnknown, Message: err.Error()}))
		return err
	}
	var d flip7.Decision
	if wrong == nil {
		d, wrong = read(q.view, s.Decision)
	}
	if wrong == nil {
		d = d.Note(s.Note)
	} else {
		d = passed(q.view, wrong.Error())
		c.log.Warn(fmt.Sprintf("passed for the command: %v", wrong), "position", q.view)
		r.tell(lineOf(verdict{Type: "verdict", ID: q.id(), Code: codeUnreadable, Message: wrong.Error() + "; passed for it",
			Legal: written(q.view.Legal())}))
	}
	r.answers++
	c.drop(q)
	q.answer <- d
	return nil
}

// passed is a pass that tells the bot's owner why, in the words of the kits.
func passed(v *flip7.View, why string) flip7.Decision {
	return v.Pass().Note("decide failed: " + strings.Join(strings.Fields(why), " "))
}

// meant is the open request that an answer is about. Call with mu held.
func (c *child) meant(id string) (*question, error) {
	switch {
	case id == "" && len(c.open) == 1:
		return c.open[0], nil
	case id == "" && len(c.open) > 1:
		return nil, errors.New("it has no id, and more than one request is open")
	}
	for _, q := range c.open {
		if q.id() == id {
			return q, nil
		}
	}
	if id == "" {
		return nil, errors.New("no request is open")
	}
	return nil, fmt.Errorf("no request %q is open", id)
}

// tell tells the process, if there is one, something that wants no answer.
func (c *child) tell(line []byte) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != nil {
		c.run.tell(line)
	}
}
