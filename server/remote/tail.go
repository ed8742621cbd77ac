package remote

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Said is one message of a stream in a line.
type Said struct {
	At      time.Time
	FromBot bool
	Text    string // short, without what a bot is free to say
}

// tail is the last that was said on a stream: it shows what a bot was at when its stream was lost. Something is said to it
// with every message, so it keeps what costs nothing, and finds the words for it at the end. Nothing that a bot has sent is
// held longer than an id.
type tail struct {
	said [8]utterance
	n    int // ever said
}

// utterance is one message.
type utterance struct {
	at     time.Time
	arena  *flip7v1.ArenaMessage // it said; not a request
	key    string                // of the game that a request of the arena is about
	number int                   // of that request
	kind   game.Kind             // of it
	id     string                // of the request that a decision of the bot is for
	answer flip7v1.Answer
	other  string // that the bot said
}

func (t *tail) add(u utterance) {
	t.said[t.n%len(t.said)] = u
	t.n++
}

// says notes what the arena said.
func (t *tail) says(i item, m *flip7v1.ArenaMessage, now time.Time) {
	if p := i.player; p != nil { // the message is used again for the next request
		t.add(utterance{at: now, key: p.key, number: p.number, kind: p.asked.Kind})
		return
	}
	t.add(utterance{at: now, arena: m})
}

// hears notes what the bot said.
func (t *tail) hears(m *flip7v1.BotMessage, now time.Time) {
	u := utterance{at: now}
	switch m := m.GetMessage().(type) {
	case *flip7v1.BotMessage_Decision:
		u.answer, u.id = m.Decision.GetAnswer(), m.Decision.GetRequestId()
		if key, _ := splitID(u.id); key == "" {
			u.answer, u.id, u.other = 0, "", "a decision for no request" // which may be named at any length
		}
	case *flip7v1.BotMessage_Pong:
		u.other = "pong"
	case *flip7v1.BotMessage_Capacity:
		u.other = "capacity"
	case *flip7v1.BotMessage_Hello:
		u.other = "hello"
	default:
		u.other = "something that is no message"
	}
	t.add(u)
}

// lines are the last messages, oldest first.
func (t *tail) lines() (lines []Said) {
	for i := max(t.n-len(t.said), 0); i < t.n; i++ {
		lines = append(lines, t.said[i%len(t.said)].line())
	}
	return lines
}

func (u *utterance) line() Said {
	said := Said{At: u.at, FromBot: u.id != "" || u.other != ""}
	switch {
	case u.id != "":
		said.Text = lower(u.answer, "ANSWER_") + " for request " + u.id
	case u.other != "":
		said.Text = u.other
	case u.key != "":
		said.Text = "request " + u.key + "/" + strconv.Itoa(u.number) + " (" + u.kind.String() + ")"
	default:
		said.Text = inShort(u.arena)
	}
	return said
}

// inShort is a message of the arena, but a request, in a few words.
func inShort(m *flip7v1.ArenaMessage) string {
	switch m := m.GetMessage().(type) {
	case *flip7v1.ArenaMessage_Welcome:
		return "welcome"
	case *flip7v1.ArenaMessage_Verdict:
		return lower(m.Verdict.GetCode(), "VERDICT_CODE_") + ", of request " + m.Verdict.GetRequestId()
	case *flip7v1.ArenaMessage_GameStarted:
		return "game " + m.GameStarted.GetGame().GetGameId() + " begins"
	case *flip7v1.ArenaMessage_GameFinished:
		return "game " + m.GameFinished.GetGameId() + " is over"
	case *flip7v1.ArenaMessage_Ping:
		return "ping"
	case *flip7v1.ArenaMessage_Drain:
		return "drain"
	case *flip7v1.ArenaMessage_Problem:
		return "problem: " + m.Problem.GetMessage()
	}
	return "something else"
}

// lower is an enum value without what all of them begin with.
func lower(value fmt.Stringer, prefix string) string {
	return strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(value.String(), prefix), "_", " "))
}
