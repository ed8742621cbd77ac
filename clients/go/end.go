package flip7

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// EndError says that the bot cannot go on and that trying again would not help.
type EndError struct {
	// Reason is the name of the arena's reason, such as "REPLACED" or "TOKEN_REVOKED"; empty if the arena gave none.
	Reason string
	// Message says what it is and what to do, on one line.
	Message string
}

func (e *EndError) Error() string { return e.Message }

// wrongUseError says that the bot was started wrongly.
type wrongUseError struct{ text string }

func (e *wrongUseError) Error() string { return e.text }

func wrongUse(format string, args ...any) error {
	return &wrongUseError{fmt.Sprintf(format, args...)}
}

// end is how a stream ended.
type end struct {
	reason     string        // the name of an EndReason without its prefix; empty: none told
	words      string        // what happened, on one line
	comeBack   bool          // whether to try again
	retryAfter time.Duration // not before; 0: the kit's own back-off
}

// reasonPrefix stands before the names of EndReason in the contract and is left out where they are told.
const reasonPrefix = "END_REASON_"

// errSilent ends a stream on which nothing was heard for three ping intervals.
var errSilent = errors.New("nothing was heard from the arena for three ping intervals")

// endOfGoodbye reads the arena's last message.
func endOfGoodbye(g *flip7v1.Goodbye) end {
	reason := strings.TrimPrefix(g.GetReason().String(), reasonPrefix)
	return end{
		reason:     reason,
		words:      inPlain(reason, g.GetMessage()),
		comeBack:   g.GetComeBack(),
		retryAfter: g.GetRetryAfter().AsDuration(),
	}
}

// endOfStatus reads how a stream ended without a Goodbye. The host is the arena's address as the author wrote it, met
// whether this arena ever welcomed the bot: some failures mend themselves only if it did.
func endOfStatus(err error, host string, met bool) end {
	if errors.Is(err, io.EOF) {
		return end{words: "the arena closed the stream", comeBack: true}
	}
	st, _ := status.FromError(err)
	told := oneLine(st.Message())
	e := end{words: told, comeBack: true}
	for _, detail := range st.Details() {
		switch d := detail.(type) {
		case *errdetails.ErrorInfo:
			e.reason = d.GetReason()
		case *errdetails.RetryInfo:
			e.retryAfter = d.GetRetryDelay().AsDuration()
		}
	}
	switch known := flip7v1.EndReason_value[reasonPrefix+e.reason] != 0; {
	case known:
		e.words, e.comeBack = inPlain(e.reason, told), !final(e.reason)
		return e
	case answersBrowsers(told):
		e.words, e.comeBack = notForBots(host, forBrowsers), met
		return e
	case st.Code() == codes.Unauthenticated, st.Code() == codes.PermissionDenied:
		e.words = "the arena does not take this token: check FLIP7_TOKEN (" + told + ")"
		e.comeBack = false
		return e
	case e.reason != "":
		e.words = inPlain(e.reason, told)
		return e
	}
	switch st.Code() {
	case codes.Unimplemented:
		e.words = "what answers at " + host + " is no Flip 7 arena (" + told + ")"
		e.comeBack = met
	case codes.Unavailable:
		e.words = unavailable(told, host)
	}
	return e
}

// answersBrowsers reports whether grpc says of an answer that it is HTTP and not gRPC. Proxies that stand before an arena
// say 429 or 5xx for a while.
func answersBrowsers(told string) bool {
	code, found := strings.CutPrefix(told, "unexpected HTTP status code received from server: ")
	return found && code < "5" && !strings.HasPrefix(code, "429")
}

// final reports whether a reason says not to come back (see EndReason in the contract).
func final(reason string) bool {
	switch flip7v1.EndReason(flip7v1.EndReason_value[reasonPrefix+reason]) {
	case flip7v1.EndReason_END_REASON_REPLACED, flip7v1.EndReason_END_REASON_TOKEN_REVOKED,
		flip7v1.EndReason_END_REASON_PROTOCOL_TOO_OLD, flip7v1.EndReason_END_REASON_BUILD_CHANGED,
		flip7v1.EndReason_END_REASON_BAD_HELLO:
		return true
	}
	return false
}

// inPlain says a reason in words, with what the arena says of it behind.
func inPlain(reason, message string) string {
	words := ""
	switch flip7v1.EndReason(flip7v1.EndReason_value[reasonPrefix+reason]) {
	case flip7v1.EndReason_END_REASON_REPLACED:
		words = "another stream of the same instance took over"
	case flip7v1.EndReason_END_REASON_TOKEN_REVOKED:
		words = "the token is no longer valid (FLIP7_TOKEN needs the new one, if there is one)"
	case flip7v1.EndReason_END_REASON_PROTOCOL_TOO_OLD:
		words = "the arena no longer speaks the protocol of this kit (" + kitVersion + "): update the kit"
	case flip7v1.EndReason_END_REASON_BUILD_CHANGED:
		words = "the running tournament knows this bot by another build: start that one, or wait for the end"
	case flip7v1.EndReason_END_REASON_BAD_HELLO:
		words = "the arena refuses the hello"
	case flip7v1.EndReason_END_REASON_NO_HELLO:
		words = "the arena heard no hello in time"
	case flip7v1.EndReason_END_REASON_SERVER_FULL:
		words = "the arena is full"
	case flip7v1.EndReason_END_REASON_TOO_MANY_INSTANCES:
		words = "the bot has as many instances as the arena allows"
	case flip7v1.EndReason_END_REASON_DRAINING:
		words = "the arena stops for now"
	case flip7v1.EndReason_END_REASON_TOO_SLOW:
		words = "the bot did not read in time"
	case flip7v1.EndReason_END_REASON_SILENT:
		words = "the arena heard nothing from the bot"
	case flip7v1.EndReason_END_REASON_FLOOD:
		words = "the bot sent more than its quota"
	case flip7v1.EndReason_END_REASON_GARBAGE:
		words = "the bot sent too much that means nothing"
	case flip7v1.EndReason_END_REASON_CLOSED:
		words = "the stream was closed"
	case flip7v1.EndReason_END_REASON_INTERNAL:
		words = "the arena failed"
	default:
		words = "the arena ended the stream (" + reason + ")"
	}
	if message != "" {
		words += ": " + message
	}
	return words
}

// unavailable says whether the way to the arena was lost or never was.
func unavailable(told, host string) string {
	if reason, found := strings.CutPrefix(told, "connection error: "); found {
		return "cannot reach " + host + ": " + dialReason(reason)
	}
	if reason, found := strings.CutPrefix(told, "name resolver error: "); found {
		if reason == "produced zero addresses" {
			reason = "no address was found for that name"
		}
		return "cannot reach " + host + ": " + reason
	}
	return "the connection to " + host + " was lost: " + told
}

// oneLine is a text with a blank for each run of white space.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// dialReason takes off what grpc puts around the reason why no connection came about.
func dialReason(message string) string {
	if _, after, found := strings.Cut(message, `desc = "`); found {
		message = strings.TrimSuffix(after, `"`)
	}
	message = strings.TrimPrefix(message, "transport: ")
	return strings.TrimPrefix(message, "Error while dialing: ")
}
