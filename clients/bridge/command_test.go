package bridge_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// asCommand in the environment makes the test binary a command: one of commands, by its first argument.
const asCommand = "BRIDGE_TEST_AS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) == "" {
		os.Setenv(asCommand, "1") // for those that the tests start
		os.Exit(m.Run())
	}
	c := &talk{in: bufio.NewReader(os.Stdin), args: os.Args[2:]}
	commands[os.Args[1]](c)
}

// commands are what an author may have written.
var commands = map[string]func(*talk){
	"first":     first,
	"silent":    func(c *talk) { c.say(`{"ready":true}`); c.untilEnd() },
	"unready":   func(c *talk) { c.untilEnd() },
	"says":      says,
	"fragile":   fragile,
	"deadly":    deadly,
	"ends":      func(c *talk) { c.say(c.args...); os.Exit(3) },
	"late":      late,
	"pair":      pair,
	"waits":     waits,
	"parent":    parent,
	"corrected": corrected,
	"mortal":    mortal,
	"noted":     noted,
	"complains": func(c *talk) { fmt.Fprint(os.Stderr, "it hurts\na lot"); first(c) },
}

// talk is the command's side.
type talk struct {
	in   *bufio.Reader
	args []string
}

// line is a line to a command, as far as the commands here look.
type line struct {
	Type    string
	ID      string
	Legal   []string
	Code    string
	Process int
	Resent  bool

	BustProbability float64 `json:"bust_probability"`
}

// next is the next line; at the end of standard input the command ends.
func (c *talk) next() (l line) {
	text, err := c.in.ReadBytes('\n')
	if err != nil {
		os.Exit(0)
	}
	if err := json.Unmarshal(text, &l); err != nil {
		panic(err)
	}
	return l
}

// request is the next request.
func (c *talk) request() line { return c.until("request") }

// until is the next line of a type.
func (c *talk) until(what string) line {
	for {
		if l := c.next(); l.Type == what {
			return l
		}
	}
}

// both are the next lines of two types, in whatever order they come.
func (c *talk) both(one, other string) (ones, others line) {
	for ones.Type == "" || others.Type == "" {
		switch l := c.next(); l.Type {
		case one:
			ones = l
		case other:
			others = l
		}
	}
	return ones, others
}

func (c *talk) untilEnd() { c.until("the end") }

func (c *talk) say(lines ...string) {
	for _, text := range lines {
		fmt.Println(text)
	}
}

func (c *talk) answer(id, decision, note string) {
	text, err := json.Marshal(map[string]string{"id": id, "decision": decision, "note": note})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n", text)
}

// first takes the first decision that is legal.
func first(c *talk) {
	c.until("hello")
	c.say(`{"ready":true}`)
	for {
		r := c.request()
		note := ""
		if r.Resent {
			note = "again"
		}
		c.answer(r.ID, r.Legal[0], note)
	}
}

// says answers each request with its arguments as lines: ID stands for the request's id, LONG for a long text.
func says(c *talk) {
	c.say(`{"ready":true}`)
	for {
		r := c.request()
		for _, text := range c.args {
			c.say(strings.NewReplacer("ID", r.ID, "LONG", strings.Repeat("long ", 50_000)).Replace(text))
		}
	}
}

// fragile is, in its first process, a command that says something strange to a request, and ends when it is told END;
// then it is first. The first argument is a file by which a process knows which it is.
func fragile(c *talk) {
	file, err := os.OpenFile(c.args[0], os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		first(c)
	}
	file.Close()
	c.say(`{"ready":true}`)
	c.request()
	for _, text := range c.args[1:] {
		if text == "END" {
			os.Exit(3)
		}
		c.say(strings.ReplaceAll(text, "ENDLESS", strings.Repeat("x", 1<<20)))
	}
	c.untilEnd()
}

// deadly is a request that ends the command; it answers others.
func deadly(c *talk) {
	c.say(`{"ready":true}`)
	for {
		r := c.request()
		if r.ID == "deadly" {
			os.Exit(3)
		}
		c.answer(r.ID, r.Legal[0], "")
	}
}

// mortal answers one request and ends.
func mortal(c *talk) {
	c.say(`{"ready":true}`)
	r := c.request()
	c.answer(r.ID, r.Legal[0], "")
	os.Exit(3)
}

// corrected says what is no decision, and what it is told of that with its next.
func corrected(c *talk) {
	c.say(`{"ready":true}`)
	c.request()
	c.say(`{"decision":"raise"}`)
	code := c.until("verdict").Code
	c.answer(c.request().ID, "hit", code)
	c.untilEnd()
}

// late stays, but says so only when it hears that its time was up; it names no ids.
func late(c *talk) {
	c.say(`{"ready":true}`)
	c.both("request", "verdict")
	c.say(`{"decision":"stay"}`)
	for {
		c.request()
		c.say(`{"decision":"hit"}`)
	}
}

// pair answers two requests at once: first without an id, and when it hears that this will not do, the newer one first.
func pair(c *talk) {
	c.say(`{"ready":true}`)
	one, other := c.request(), c.request()
	c.say(`{"decision":"stay"}`)
	verdict := c.until("verdict")
	c.answer(other.ID, "stay", verdict.Code)
	c.answer(one.ID, "hit", "")
	c.untilEnd()
}

// waits answers a request when it hears that a game has begun, and tells which process it is.
func waits(c *talk) {
	process := c.until("hello").Process
	c.say(`{"ready":true}`)
	request, _ := c.both("request", "game_started")
	c.answer(request.ID, "hit", fmt.Sprint("process ", process))
	c.untilEnd()
}

// parent starts a process that would outlive it, with file 3 open as it has.
func parent(c *talk) {
	child := exec.Command("sleep", "1000")
	child.ExtraFiles = []*os.File{os.NewFile(3, "heard")}
	if err := child.Start(); err != nil {
		panic(err)
	}
	first(c)
}

// noted is first, with a note.
func noted(c *talk) {
	c.until("hello")
	c.say(`{"ready":true}`)
	for {
		r := c.request()
		c.answer(r.ID, r.Legal[0], fmt.Sprintf("%.1f %% bust", 100*r.BustProbability))
	}
}
