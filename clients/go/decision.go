package flip7

import (
	"strconv"
	"strings"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// Decision is what a bot says to a request. Take one from the View: Hit, Stay, Give, Pass or one of Legal. The zero
// value is no decision and illegal. Decisions can be compared with ==.
type Decision struct {
	answer flip7v1.Answer
	seat   int
	note   string
}

// maxNote is how many bytes of a note the arena keeps (Limits.max_note_bytes of protocol 1).
const maxNote = 256

// Note is the decision with a note for the bot's own log in the arena, which its owner and the organiser can read. At most
// 256 bytes; the rest is cut off.
func (d Decision) Note(text string) Decision {
	if len(text) > maxNote {
		text = text[:maxNote]
	}
	d.note = strings.ToValidUTF8(text, "")
	return d
}

// Target is the seat that a Give names, and false for the others.
func (d Decision) Target() (seat int, gives bool) {
	return d.seat, d.answer == flip7v1.Answer_ANSWER_GIVE
}

// String is "hit", "stay", "pass", "give to seat 2" or "no decision".
func (d Decision) String() string {
	switch d.answer {
	case flip7v1.Answer_ANSWER_UNSPECIFIED:
		return "no decision"
	case flip7v1.Answer_ANSWER_GIVE:
		return "give to seat " + strconv.Itoa(d.seat)
	}
	return inWords(d.answer, "ANSWER_")
}

// decisionOf reads an answer and the seat beside it.
func decisionOf(answer flip7v1.Answer, seat uint32) Decision {
	d := Decision{answer: answer}
	if answer == flip7v1.Answer_ANSWER_GIVE {
		d.seat = int(seat)
	}
	return d
}

// legalOf lists the decisions that the arena says are legal; answers of unknown kind are left out.
func legalOf(answers []flip7v1.Answer, seats []uint32) []Decision {
	legal := make([]Decision, 0, len(answers)+len(seats))
	for _, answer := range answers {
		switch answer {
		case flip7v1.Answer_ANSWER_HIT, flip7v1.Answer_ANSWER_STAY:
			legal = append(legal, Decision{answer: answer})
		case flip7v1.Answer_ANSWER_GIVE:
			for _, seat := range seats {
				legal = append(legal, decisionOf(answer, seat))
			}
		}
	}
	return legal
}

// message is the decision as it travels.
func (d Decision) message(requestID string) *flip7v1.BotMessage {
	said := &flip7v1.Decision{RequestId: requestID, Answer: d.answer, Note: d.note}
	if seat, gives := d.Target(); gives {
		said.Seat = new(uint32(seat))
	}
	return &flip7v1.BotMessage{Message: &flip7v1.BotMessage_Decision{Decision: said}}
}

// listed writes decisions one after the other: "hit, stay".
func listed(decisions []Decision) string {
	words := make([]string, len(decisions))
	for i, d := range decisions {
		words[i] = d.String()
	}
	return strings.Join(words, ", ")
}
