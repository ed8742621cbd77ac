package conformance

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc/credentials"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// start begins to listen and starts the bot.
//
//	start
//	start tls            FLIP7_CA names the certificate
//	start tls untrusted  nothing says that it may be trusted
type start struct{ tls, untrusted bool }

func (s start) do(p *play) error {
	p.arena = &arena{token: rand.Text(), listen: p.config.listen}
	p.arena.rate.Store(p.rate)
	env := []string{"FLIP7_TOKEN=" + p.arena.token}
	var secure credentials.TransportCredentials
	scheme := ""
	if s.tls {
		scheme = "https://"
		var file string
		var err error
		if secure, file, err = p.certificate(); err != nil {
			return err
		}
		if !s.untrusted {
			env = append(env, "FLIP7_CA="+file)
		}
	}
	if err := p.arena.open(secure); err != nil {
		return err
	}
	env = append(env, "FLIP7_ADDR="+scheme+p.arena.addr)
	bot, err := p.config.Begin(env, p.output)
	if err != nil {
		return err
	}
	p.bot = bot
	return nil
}

// expectStream is that the bot calls Play, with its token.
//
//	expect stream
type expectStream struct{ within time.Duration }

func (s expectStream) wants() string {
	return fmt.Sprintf("the bot opens a stream with its token within %s", span(s.within))
}

func (s expectStream) do(p *play) error {
	p.awaits = "stream"
	return p.await(s.within, func() bool { return p.awaits == "" })
}

// expectHello is that the bot says who it is, as the first word of a stream.
//
//	expect hello protocol=1 instance=some|same contribution=32bytes|fresh
type expectHello struct {
	within       time.Duration
	protocol     uint32 // 0: any
	instance     string
	contribution string
}

func (s expectHello) wants() string {
	what := []string{fmt.Sprintf("a hello within %s", span(s.within))}
	if s.protocol > 0 {
		what = append(what, fmt.Sprintf("protocol %d", s.protocol))
	}
	switch s.instance {
	case "some":
		what = append(what, "an instance_id of 1 to 64 printable ASCII bytes")
	case "same":
		what = append(what, "the instance_id of the hello before")
	}
	switch s.contribution {
	case "32bytes":
		what = append(what, "a contribution of 32 bytes, not all alike")
	case "fresh":
		what = append(what, "another contribution of 32 bytes than in the hello before")
	}
	return strings.Join(what, ", ")
}

func (s expectHello) do(p *play) error {
	var said heard
	found := false
	err := p.await(s.within, func() bool {
		said, found = p.claim(func(*flip7v1.BotMessage) bool { return true })
		return found
	})
	switch {
	case err != nil:
		return err
	case said.message.GetHello() == nil:
		return came("%s", describe(said.message))
	}
	hello, before := said.message.GetHello(), p.hello
	p.hello = hello
	p.takes(hello.GetCapacity())
	if hello.GetCapacity() == nil {
		p.takes(&flip7v1.Capacity{MaxGames: 8})
	}
	id, bytes := hello.GetInstanceId(), hello.GetContribution()
	printable := len(id) >= 1 && len(id) <= 64 && !strings.ContainsFunc(id, func(r rune) bool { return r < ' ' || r > '~' })
	distinct := len(slices.Compact(slices.Sorted(slices.Values(bytes))))
	for _, text := range []string{hello.GetBuild(), hello.GetKitName(), hello.GetKitVersion()} {
		if len(text) > 64 {
			return came("a build or a kit of %d bytes, 64 is the most: %q", len(text), text)
		}
	}
	switch {
	case s.protocol > 0 && hello.GetProtocol() != s.protocol:
		return came("protocol %d", hello.GetProtocol())
	case s.instance == "some" && !printable:
		return came("instance_id %q", id)
	case s.instance == "same" && id != before.GetInstanceId():
		return came("instance_id %q, before it was %q", id, before.GetInstanceId())
	case s.contribution != "" && len(bytes) != 32:
		return came("a contribution of %d bytes", len(bytes))
	case s.contribution != "" && distinct < 4:
		return came("a contribution that is not random: %x", bytes)
	case s.contribution == "fresh" && string(bytes) == string(before.GetContribution()):
		return came("the same contribution again: %x", bytes)
	}
	return nil
}

// send is a batch that the arena says.
type send struct{ messages []*flip7v1.ArenaMessage }

func (s *send) wants() string { return "the bot reads what it is sent" }

func (s *send) do(p *play) error { return p.say(s.messages) }

// said stands for a line that went with the one before.
type said struct{}

func (said) do(*play) error { return nil }

// expectDecision is that the bot answers requests, in any order.
//
//	expect decision ID legal|pass same p99_below=D
type expectDecision struct {
	within      time.Duration
	ids         []string
	legal, pass bool
	same        bool          // as it was answered before
	p99         time.Duration // 0: whatever it is
}

func (s expectDecision) wants() string {
	what := "a decision"
	switch {
	case s.legal:
		what = "a legal decision"
	case s.pass:
		what = "ANSWER_PASS"
	}
	if len(s.ids) == 1 {
		what += " for " + s.ids[0]
	} else {
		what += fmt.Sprintf(" for each of %s to %s", s.ids[0], s.ids[len(s.ids)-1])
	}
	what += fmt.Sprintf(" within %s", span(s.within))
	if s.same {
		what += ", the same as before"
	}
	if s.p99 > 0 {
		what += fmt.Sprintf(", 99 of 100 of them in less than %s", span(s.p99))
	}
	return what
}

func (s expectDecision) do(p *play) error {
	left := slices.Clone(s.ids)
	var took []time.Duration
	var wrong error
	err := p.await(s.within, func() bool {
		for wrong == nil {
			said, found := p.claim(func(m *flip7v1.BotMessage) bool {
				return m.GetDecision() != nil && slices.Contains(left, m.GetDecision().GetRequestId())
			})
			if !found {
				break
			}
			d := said.message.GetDecision()
			a := p.asked[d.GetRequestId()]
			left = slices.DeleteFunc(left, func(id string) bool { return id == d.GetRequestId() })
			took = append(took, said.at.Sub(a.at))
			if wrong = s.judge(a, d); said.at.Sub(a.at) >= decisionTimeout+timeBank { // passed because there was no time left
				if late, is := wrong.(unexpected); is {
					late.hint = slowHint
					wrong = late
				}
			}
		}
		return wrong != nil || len(left) == 0
	})
	switch {
	case wrong != nil:
		return wrong
	case err != nil:
		what, is := err.(unexpected)
		if is && what.gist == nothingCame {
			what.hint = slowHint
		}
		if is && len(s.ids) > 1 {
			what.text += fmt.Sprintf(", and %d of the %d decisions by then; %s was missing", len(s.ids)-len(left), len(s.ids), left[0])
		}
		if is {
			return what
		}
		return err
	}
	if s.p99 == 0 {
		return nil
	}
	slices.Sort(took)
	p50, p99 := took[len(took)/2], took[len(took)*99/100]
	p.note = fmt.Sprintf("%d decisions, p50 %.1f ms, p99 %.1f ms", len(took), p50.Seconds()*1000, p99.Seconds()*1000)
	if p99 >= s.p99 {
		return came("%s", p.note)
	}
	return nil
}

// judge says what is wrong with a decision.
func (s expectDecision) judge(a *asked, d *flip7v1.Decision) error {
	var text string
	switch {
	case s.legal && !isLegal(a.request, d):
		text = fmt.Sprintf("%s for %s, legal is %s", words(d), d.GetRequestId(), legalWords(a.request))
	case s.pass && d.GetAnswer() != flip7v1.Answer_ANSWER_PASS:
		text = fmt.Sprintf("%s for %s", words(d), d.GetRequestId())
	case s.same && !same(a.decision, d):
		return came("%s for %s, before it was %s", words(d), d.GetRequestId(), words(a.decision))
	default:
		return nil
	}
	u := unexpected{text: text, gist: answerWord(d.GetAnswer())}
	if d.GetAnswer() == flip7v1.Answer_ANSWER_PASS {
		u.hint = passHint
	}
	return u
}

// expectPong is that the bot answers pings.
//
//	expect pong N
type expectPong struct {
	within  time.Duration
	numbers []uint32
}

func (s expectPong) wants() string {
	if len(s.numbers) == 1 {
		return fmt.Sprintf("pong %d within %s", s.numbers[0], span(s.within))
	}
	return fmt.Sprintf("pongs %d to %d within %s", s.numbers[0], s.numbers[len(s.numbers)-1], span(s.within))
}

func (s expectPong) do(p *play) error {
	left := slices.Clone(s.numbers)
	return p.await(s.within, func() bool {
		left = slices.DeleteFunc(left, func(number uint32) bool {
			_, found := p.claim(func(m *flip7v1.BotMessage) bool {
				pong, is := m.GetMessage().(*flip7v1.BotMessage_Pong)
				return is && pong.Pong.GetNumber() == number
			})
			return found
		})
		return len(left) == 0
	})
}

// expectExit is that the bot's process ends.
//
//	expect exit
type expectExit struct{ within time.Duration }

func (s expectExit) wants() string {
	return fmt.Sprintf("the bot ends within %s and does not come back", span(s.within))
}

func (s expectExit) do(p *play) error {
	p.awaits = "exit"
	return p.await(s.within, func() bool { return false })
}

// expectNothing is that the bot is quiet, and there, but where it is only to open no stream.
//
//	for D expect nothing
//	for D expect no stream
type expectNothing struct {
	d      time.Duration
	mayEnd bool
}

func (s expectNothing) wants() string {
	if s.mayEnd {
		return "no stream of the bot for " + span(s.d)
	}
	return "nothing for " + span(s.d)
}

func (s expectNothing) do(p *play) error {
	if s.mayEnd {
		p.awaits = "exit"
	}
	var said error
	_, err := p.until(s.d, true, func() bool { said = p.leftOver(); return said != nil })
	return cmp.Or(said, err)
}

// allow is that a decision may come and need not.
type allow struct{ ids []string }

func (s allow) do(p *play) error {
	for _, id := range s.ids {
		p.allowed[id] = true
		p.claim(func(m *flip7v1.BotMessage) bool { return m.GetDecision().GetRequestId() == id })
	}
	return nil
}

// drop loses the connection, away the arena too, back brings it back.
type (
	drop struct{}
	away struct{}
	back struct{}
)

func (drop) do(p *play) error {
	p.lose()
	p.arena.door.cut()
	return nil
}

func (away) do(p *play) error {
	p.lose()
	p.arena.door.Close()
	p.arena.door.cut()
	return nil
}

func (back) do(p *play) error { return p.arena.back(p.arena.addr) }

// end ends the stream by its status alone.
type end struct {
	reason     flip7v1.EndReason
	retryAfter time.Duration
}

func (s end) do(p *play) error {
	p.stream.hangUp(s.reason, "the script wants it", s.retryAfter)
	p.lose()
	return nil
}

// slow makes the bot's line slow.
type slow struct{ rate int64 }

func (s slow) do(p *play) error {
	if p.rate = s.rate; p.arena != nil {
		p.arena.rate.Store(s.rate)
	}
	return nil
}

// needs leaves out what is too much for a bot.
type needs struct{ games int }

func (s needs) do(p *play) error {
	if takes := int(p.capacity.GetMaxGames()); takes < s.games {
		return skip(fmt.Sprintf("needs %d games at once, the bot takes %d", s.games, takes))
	}
	return nil
}

// span writes a time as scripts do: 60s, not 1m0s.
func span(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%ds", d/time.Second)
	}
	return d.String()
}

// same reports whether two decisions say the same.
func same(a, b *flip7v1.Decision) bool {
	gives := a.GetAnswer() == flip7v1.Answer_ANSWER_GIVE
	return a.GetAnswer() == b.GetAnswer() && (!gives || a.GetSeat() == b.GetSeat())
}

// words is a decision in words: "hit", "give to seat 2".
func words(d *flip7v1.Decision) string {
	switch {
	case d.GetAnswer() == flip7v1.Answer_ANSWER_UNSPECIFIED:
		return "no answer"
	case d.GetAnswer() != flip7v1.Answer_ANSWER_GIVE:
		return answerWord(d.GetAnswer())
	case d.Seat == nil:
		return "give, without a seat"
	}
	return fmt.Sprintf("give to seat %d", d.GetSeat())
}

func answerWord(a flip7v1.Answer) string {
	return strings.ToLower(strings.TrimPrefix(a.String(), "ANSWER_"))
}

func legalWords(r *flip7v1.DecisionRequest) string {
	var legal []string
	for _, a := range r.GetLegal() {
		word := answerWord(a)
		if a == flip7v1.Answer_ANSWER_GIVE {
			word += fmt.Sprintf(" to one of the seats %d", r.GetLegalSeats())
		}
		legal = append(legal, word)
	}
	return strings.Join(legal, " or ")
}

// describe is what a bot said in words.
func describe(m *flip7v1.BotMessage) string {
	switch what := m.GetMessage().(type) {
	case *flip7v1.BotMessage_Hello:
		return "a hello"
	case *flip7v1.BotMessage_Decision:
		return fmt.Sprintf("a decision for %q: %s", what.Decision.GetRequestId(), words(what.Decision))
	case *flip7v1.BotMessage_Pong:
		return fmt.Sprintf("pong %d", what.Pong.GetNumber())
	}
	return "a message without a content"
}

// nameOf is the name of a reason without its prefix.
func nameOf(reason flip7v1.EndReason) string {
	return strings.TrimPrefix(reason.String(), "END_REASON_")
}
