package conformance

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Script is what happens between the arena and one run of a bot, and what it proves.
type Script struct {
	Name   string `json:"script"` // of its file, without the number before it and .txt
	Proves string `json:"proves"` // in a sentence or two
	Must   bool   `json:"must"`   // else should
	Alone  bool   `json:"alone"`  // is not played beside others: it measures time

	steps []step
}

// step is what a line of a script has the arena do, or the bot.
type step struct {
	line int // of the file, from 1
	text string
	act  action
}

// action does a step. What the bot did wrong is a *Failure.
type action interface{ do(*play) error }

//go:embed scripts/*.txt
var files embed.FS

// Scripts are all scripts. The numbers of their files put them in the order in which an author needs them.
func Scripts() []Script {
	names, err := fs.Glob(files, "scripts/*.txt")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	scripts := make([]Script, len(names))
	for i, name := range names {
		text, err := files.ReadFile(name)
		if err == nil {
			_, plain, _ := strings.Cut(path.Base(name), "-")
			scripts[i], err = Parse(strings.TrimSuffix(plain, ".txt"), string(text))
		}
		if err != nil {
			panic(err) // a test reads them all
		}
	}
	return scripts
}

// Lines are the steps as they are written.
func (s Script) Lines() []string {
	var lines []string
	last := 0
	for _, step := range s.steps {
		if step.line != last { // meet is several steps
			lines = append(lines, step.text)
		}
		last = step.line
	}
	return lines
}

// Parse reads a script. The error names the line, what is wrong there and what is right.
func Parse(name, text string) (Script, error) {
	s := Script{Name: name}
	p := parser{games: make(map[string]*seated), requests: make(map[string]*flip7v1.DecisionRequest)}
	ranked := false
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		comment, is := strings.CutPrefix(line, "#")
		switch {
		case line == "":
		case is && !ranked:
			s.Proves = strings.TrimSpace(s.Proves + " " + strings.TrimSpace(comment))
		case is:
		case !ranked:
			ranked = true
			switch line {
			case "must", "must alone":
				s.Must = true
			case "should", "should alone":
			default:
				return s, fmt.Errorf("%s.txt:%d: %q comes first, want must, should, must alone or should alone", name, i+1, line)
			}
			s.Alone = strings.HasSuffix(line, " alone")
		default:
			actions, err := p.line(line)
			if err != nil {
				return s, fmt.Errorf("%s.txt:%d: %s: %w", name, i+1, line, err)
			}
			for _, act := range actions {
				s.steps = append(s.steps, step{line: i + 1, text: line, act: act})
			}
		}
	}
	switch {
	case s.Proves == "":
		return s, fmt.Errorf("%s.txt:1: does not say what it proves: begin with # and a sentence", name)
	case len(s.steps) == 0:
		return s, fmt.Errorf("%s.txt: nothing happens", name)
	}
	return s, nil
}

// parser knows what was said so far in a script.
type parser struct {
	begun    bool // the bot
	up       bool // a stream
	games    map[string]*seated
	requests map[string]*flip7v1.DecisionRequest
	batch    *send // what "and" adds to; nil: the line before sent nothing
}

// usual is how long the bot has for what is expected of it.
const usual = 5 * time.Second

func (p *parser) line(text string) ([]action, error) {
	a, err := split(text)
	if err != nil {
		return nil, err
	}
	batch := p.batch
	p.batch = nil
	verb := a.word("verb")
	within := usual
	if verb == "within" || verb == "for" {
		within = a.time("time")
		if expect := a.word("verb"); a.err != nil {
			return nil, a.err
		} else if expect != "expect" {
			return nil, fmt.Errorf("%s %v stands before expect", verb, within)
		}
	}
	switch verb {
	case "start", "meet":
		if p.begun {
			return nil, errors.New("the bot has been begun")
		}
		p.begun = true
		p.up = verb == "meet"
	case "slow":
	case "send", "and", "end":
		if !p.up {
			return nil, errors.New("no stream is up: expect stream comes before it")
		}
	default:
		if !p.begun {
			return nil, errors.New("the bot is not begun: start or meet comes before it")
		}
	}
	var act action
	switch verb {
	case "start":
		act = start{tls: a.flag("tls"), untrusted: a.flag("untrusted")}
	case "meet":
		welcome, err := p.message("welcome", &args{})
		if err != nil {
			return nil, err
		}
		return []action{start{}, expectStream{60 * time.Second}, expectHello{within: usual}, &send{messages: welcome}}, a.done()
	case "slow":
		act = slow{rate: int64(a.number("rate", 2000))}
	case "needs":
		act = needs{a.number("games", 1)}
	case "send", "and":
		if verb == "and" && batch == nil {
			return nil, errors.New("and follows send")
		}
		messages, err := p.message(a.word("what is sent"), a)
		if err != nil {
			return nil, err
		}
		p.up = messages[len(messages)-1].GetGoodbye() == nil
		if verb == "and" {
			p.batch = batch
			batch.messages = append(batch.messages, messages...)
			act = said{}
			break
		}
		p.batch = &send{messages: messages}
		act = p.batch
	case "expect", "within":
		act, err = expectation(a, within)
		if _, opens := act.(expectStream); opens {
			p.up = true
		}
	case "for":
		nothing := a.word("nothing") == "nothing"
		if !nothing && a.err == nil && a.word("stream") != "stream" {
			return nil, fmt.Errorf("for %v expect: want nothing, or no stream", within)
		}
		act = expectNothing{within, !nothing}
	case "allow":
		if decision := a.word("decision"); a.err == nil && decision != "decision" {
			return nil, fmt.Errorf("allow %s: want decision", decision)
		}
		act = allow{a.spread("id")}
	case "drop":
		act, p.up = drop{}, false
	case "away":
		act, p.up = away{}, false
	case "back":
		act = back{}
	case "end":
		act, p.up = end{a.reason(), a.duration("retry_after", 0)}, false
	default:
		return nil, fmt.Errorf("no such verb: want start, meet, send, and, expect, within, for, allow, drop, away, back, end, slow or needs")
	}
	if err == nil {
		err = a.done()
	}
	return []action{act}, err
}

// expectation reads what stands behind expect.
func expectation(a *args, within time.Duration) (action, error) {
	switch what := a.word("what is expected"); what {
	case "stream":
		return expectStream{within}, nil
	case "hello":
		return expectHello{
			within: within, protocol: uint32(a.number("protocol", 0)),
			instance: a.oneOf("instance", "some", "same"), contribution: a.oneOf("contribution", "32bytes", "fresh"),
		}, nil
	case "decision":
		return expectDecision{
			within: within, ids: a.spread("id"), legal: a.flag("legal"), pass: a.flag("pass"), same: a.flag("same"), p99: a.duration("p99_below", 0),
		}, nil
	case "pong":
		var numbers []uint32
		for _, word := range a.spread("number") {
			numbers = append(numbers, a.uint(word))
		}
		return expectPong{within, numbers}, nil
	case "exit":
		return expectExit{within}, nil
	default:
		return nil, fmt.Errorf("expect %s: want stream, hello, decision, pong or exit", what)
	}
}

// args are the words of a line: words and, each once, key=value. What nobody took is an error, so no typo goes unseen.
// The first error stays.
type args struct {
	words  []string
	values map[string]string
	err    error
}

// split takes a line apart at blanks that do not stand in "quotes". A word that begins with # ends it.
func split(line string) (*args, error) {
	a := &args{values: make(map[string]string)}
	for line != "" && line[0] != '#' {
		end, quoted := 0, false
		for end < len(line) && (quoted || line[end] != ' ') {
			quoted = quoted != (line[end] == '"')
			end++
		}
		if quoted {
			return nil, errors.New("a quote is not closed")
		}
		word := line[:end]
		line = strings.TrimLeft(line[end:], " ")
		key, value, pair := strings.Cut(word, "=")
		if !pair {
			a.words = append(a.words, word)
			continue
		}
		if _, twice := a.values[key]; twice {
			return nil, fmt.Errorf("%s is given twice", key)
		}
		a.values[key] = strings.Trim(value, `"`)
	}
	return a, nil
}

func (a *args) fail(format string, values ...any) {
	if a.err == nil {
		a.err = fmt.Errorf(format, values...)
	}
}

// word takes the next word.
func (a *args) word(what string) string {
	if len(a.words) == 0 {
		a.fail("%s is missing", what)
		return ""
	}
	word := a.words[0]
	a.words = a.words[1:]
	return word
}

// flag takes a word if it is there.
func (a *args) flag(name string) bool {
	i := slices.Index(a.words, name)
	if i >= 0 {
		a.words = slices.Delete(a.words, i, i+1)
	}
	return i >= 0
}

// value takes the value of a key.
func (a *args) value(key string) (value string, given bool) {
	value, given = a.values[key]
	delete(a.values, key)
	return value, given
}

func (a *args) oneOf(key string, allowed ...string) string {
	value, given := a.value(key)
	if given && !slices.Contains(allowed, value) {
		a.fail("%s=%s: want one of %s", key, value, strings.Join(allowed, ", "))
	}
	return value
}

func (a *args) number(key string, missing int) int {
	value, given := a.value(key)
	if !given {
		return missing
	}
	return int(a.uint(value))
}

func (a *args) uint(word string) uint32 {
	n, err := strconv.ParseUint(word, 10, 31)
	if err != nil {
		a.fail("%q is no number", word)
	}
	return uint32(n)
}

func (a *args) duration(key string, missing time.Duration) time.Duration {
	value, given := a.value(key)
	if !given {
		return missing
	}
	return a.parsedTime(value)
}

// time takes a word that is a time.
func (a *args) time(what string) time.Duration { return a.parsedTime(a.word(what)) }

func (a *args) parsedTime(text string) time.Duration {
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		a.fail("%q is no time such as 500ms or 5s", text)
	}
	return d
}

// spread takes a word that stands for several: "g[1..3]/1" is g1/1, g2/1 and g3/1.
func (a *args) spread(what string) []string {
	word := a.word(what)
	before, rest, several := strings.Cut(word, "[")
	if !several {
		return []string{word}
	}
	span, after, closed := strings.Cut(rest, "]")
	first, last, both := strings.Cut(span, "..")
	if !closed || !both {
		a.fail("%s: want something like g[1..8]/1", word)
		return nil
	}
	from, to := a.uint(first), a.uint(last)
	if from > to || to-from >= 10_000 {
		a.fail("%s: want the lower number first, and at most 10000 of them", word)
		return nil
	}
	var words []string
	for n := from; n <= to; n++ {
		words = append(words, before+strconv.Itoa(int(n))+after)
	}
	return words
}

// reason takes the name of an EndReason, or its number.
func (a *args) reason() flip7v1.EndReason {
	return flip7v1.EndReason(a.enum("END_REASON_", flip7v1.EndReason_value))
}

// enum takes the name of a value of an enum of the contract, without its prefix and in any case, or a number.
func (a *args) enum(prefix string, values map[string]int32) int32 {
	word := a.word("name")
	if n, known := values[prefix+strings.ToUpper(word)]; known {
		return n
	}
	n, err := strconv.ParseInt(word, 10, 32)
	if err != nil {
		names := slices.Sorted(maps.Keys(values))
		a.fail("%q is none of %s, nor a number", word, strings.ToLower(strings.ReplaceAll(strings.Join(names, ", "), prefix, "")))
	}
	return int32(n)
}

// done is what is wrong with the line.
func (a *args) done() error {
	switch {
	case a.err != nil:
		return a.err
	case len(a.words) > 0:
		return fmt.Errorf("what is %q?", a.words[0])
	case len(a.values) > 0:
		return fmt.Errorf("what is %s=?", slices.Sorted(maps.Keys(a.values))[0])
	}
	return nil
}
