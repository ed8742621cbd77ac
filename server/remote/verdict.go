package remote

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/flip7-arena/flip7/arena/game"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
	"github.com/flip7-arena/flip7/server/wire"
)

// verdict says what stands.
func (p *player) verdict(code flip7v1.VerdictCode, o outcome) *flip7v1.Verdict {
	v := &flip7v1.Verdict{RequestId: p.key + "/" + strconv.Itoa(o.number), Code: code, Message: standsText(code, o)}
	v.Answer, v.Seat = wire.Answer(o.decision)
	if o.cause.Fault() {
		v.Cause = wire.Cause(o.cause)
	}
	return v
}

func illegalText(d *flip7v1.Decision, asked game.Request) string {
	said := strings.ToLower(strings.TrimPrefix(d.GetAnswer().String(), "ANSWER_"))
	switch {
	case d.GetAnswer() == flip7v1.Answer_ANSWER_UNSPECIFIED:
		said = "no answer"
	case d.GetAnswer() == flip7v1.Answer_ANSWER_GIVE && d.Seat != nil:
		said = fmt.Sprintf("give to seat %d", d.GetSeat())
	}
	var legal []string
	for decision := range asked.Legal() {
		legal = append(legal, decision.String())
	}
	if asked.Kind == game.Turn {
		return fmt.Sprintf("%s does not answer a turn; legal are %s", said, strings.Join(legal, ", "))
	}
	return fmt.Sprintf("%s does not answer who gets a %v; legal are give to seat %s", said, asked.Kind, strings.Join(legal, ", "))
}

func standsText(code flip7v1.VerdictCode, o outcome) string {
	why := map[game.Cause]string{
		game.Chosen:       "the bot had decided",
		game.Passed:       "the bot asked for the default",
		game.Illegal:      "no legal decision came in time",
		game.Disconnected: "no stream of the bot was there when the time was up",
		game.TimedOut:     "no decision came in time",
	}[o.cause]
	stands := o.decision.String()
	if to, gives := o.decision.Target(); gives {
		stands = fmt.Sprintf("give to seat %d", to)
	}
	if code == flip7v1.VerdictCode_VERDICT_CODE_DEFAULTED {
		return fmt.Sprintf("%s: %s is played", why, stands)
	}
	return fmt.Sprintf("%s: %s stands", why, stands)
}
