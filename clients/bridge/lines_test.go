package bridge_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/flip7-arena/flip7/clients/bridge"
	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/lines.txt anew")

// TestLines holds the lines of a conversation to testdata/lines.txt, and both to schema.json.
func TestLines(t *testing.T) {
	got := conversation(t)
	const golden = "testdata/lines.txt"
	if *rewrite {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the lines that passed are not those of %s; -rewrite writes it anew:\n%s", golden, got)
	}
	schema := readSchema(t)
	for line := range strings.Lines(got) {
		var message any
		if err := json.Unmarshal([]byte(line[len("bot> "):]), &message); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		if err := schema.check(schema, message); err != nil {
			t.Errorf("%v\nin %s", err, line)
		}
	}
	for name, def := range schema.Defs {
		for key := range def.Properties {
			if !def.seen[key] {
				t.Errorf("schema.json describes %s of %s, which is in none of the lines", key, name)
			}
		}
	}
}

func TestTheSchemaRefuses(t *testing.T) {
	schema := readSchema(t)
	for _, test := range []struct{ line, want string }{
		{`{"decision":"raise"}`, `"raise" does not match`},
		{`{"decision":"hit","id":7}`, "id: 7 is of type integer, want string"},
		{`{"ready":false}`, "ready: false, want true"},
		{`{"type":"hello","protocol":1}`, "process is missing"},
		{`{"type":"hello","protocol":0,"process":1,"of":1,"max_open":1}`, "protocol: 0 is out of bounds"},
		{`{"decision":"hit","mood":"good"}`, "mood is not described"},
	} {
		var message any
		if err := json.Unmarshal([]byte(test.line), &message); err != nil {
			t.Fatal(err)
		}
		if err := schema.check(schema, message); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v, want it refused with %q", test.line, err, test.want)
		}
	}
}

// conversation is what passes between a bridge and its command in a game that has something of everything.
func conversation(t *testing.T) string {
	lines := new(logged)
	a := play(t, bridge.Config{Command: command("noted"), Lines: lines})
	if h := a.hello(); h.GetKitName() != "bridge" || h.GetCapacity().GetMaxOpen() != 1 {
		t.Errorf("the bridge says %v, want kit bridge and one open request", h)
	}
	hit := turn("1/2/3/4/1/17")
	game := hit.GetGame()
	game.GameId = "1/2/3/4"
	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_GameStarted{GameStarted: &flip7v1.GameStarted{Game: game, Seat: 1}}})
	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Request{Request: hit}})
	a.expect("1/2/3/4/1/17: hit (15.6 % bust)")

	give := turn("1/2/3/4/1/18")
	give.Game, give.LastLatency, give.Resent = game, durationpb.New(3*time.Millisecond), true
	give.Kind, give.Legal, give.LegalSeats = flip7v1.RequestKind_REQUEST_KIND_FREEZE, []flip7v1.Answer{flip7v1.Answer_ANSWER_GIVE}, []uint32{0, 1}
	give.View.Seats[1].Modifiers = []flip7v1.Card{flip7v1.Card_CARD_PLUS_4, flip7v1.Card_CARD_X2}
	give.View.Seats[1].Points = 36
	give.View.Seats[2] = &flip7v1.Seat{
		Status: flip7v1.SeatStatus_SEAT_STATUS_FROZEN, Row: []flip7v1.Card{flip7v1.Card_CARD_NUMBER_3}, Actions: []flip7v1.Card{flip7v1.Card_CARD_FREEZE},
		SecondChance: true, Points: 3, Total: 71, BankSeconds: 9,
	}
	give.View.FlipThree = &flip7v1.FlipThree{Seat: 1, DrawsLeft: 0, SetAside: []flip7v1.Card{flip7v1.Card_CARD_FREEZE}}
	give.View.Waiting = []*flip7v1.AssignedCard{{Card: flip7v1.Card_CARD_FLIP_THREE, Seat: 0}}
	give.View.FirstPass = true
	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Request{Request: give}})
	a.expect("1/2/3/4/1/18: give 0 (15.6 % bust)")

	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Verdict{Verdict: &flip7v1.Verdict{
		RequestId: "1/2/3/4/1/18", Code: flip7v1.VerdictCode_VERDICT_CODE_LATE, Message: "too late: the default decision had been played",
		Answer: flip7v1.Answer_ANSWER_GIVE, Seat: new(uint32(1)), Cause: flip7v1.Cause_CAUSE_TIMED_OUT,
	}}})
	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_Verdict{Verdict: &flip7v1.Verdict{
		RequestId: "1/2/3/4/1/18", Code: flip7v1.VerdictCode_VERDICT_CODE_ILLEGAL, Message: "seat 2 is not active",
		Legal: []flip7v1.Answer{flip7v1.Answer_ANSWER_GIVE}, LegalSeats: []uint32{0, 1},
	}}})
	a.tell(&flip7v1.ArenaMessage{Message: &flip7v1.ArenaMessage_GameFinished{GameFinished: &flip7v1.GameFinished{
		GameId: game.GetGameId(), Attempt: 1, End: flip7v1.GameEnd_GAME_END_COMPLETE, Seat: 1,
		Places: []uint32{2, 1, 3}, Totals: []uint32{150, 201, 90}, Rounds: 8, Faults: 1,
	}}})
	close(a.leave)
	if c := a.next().GetCapacity(); c == nil || c.GetMaxGames() != 0 {
		t.Errorf("the bridge says capacity %v, want that it takes no more games", c)
	}
	if err := a.end(); err != nil {
		t.Errorf("the bridge ends with %v, want nil", err)
	}
	return regexp.MustCompile(`"time_left_ms":\d+`).ReplaceAllString(lines.String(), `"time_left_ms":10999`)
}

// rule is as much of JSON Schema as schema.json needs; other keywords are refused. It is stricter in one thing: keys that
// are not described are refused too.
type rule struct {
	Schema      string `json:"$schema"`
	Title       string
	Description string

	Ref        string           `json:"$ref"`
	Defs       map[string]*rule `json:"$defs"`
	OneOf      []*rule
	Const      any
	Enum       []any
	Type       string
	Pattern    string
	Minimum    *float64
	Maximum    *float64
	Items      *rule
	Required   []string
	Properties map[string]*rule
	Others     *rule `json:"additionalProperties"`

	seen map[string]bool // properties that a value that was right had
}

func readSchema(t *testing.T) *rule {
	text, err := os.ReadFile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	schema := new(rule)
	if err := decoder.Decode(schema); err != nil {
		t.Fatal("schema.json: ", err)
	}
	return schema
}

// check says what is wrong with a value.
func (schema *rule) check(r *rule, value any) error {
	switch {
	case r.Ref != "":
		return schema.check(schema.Defs[strings.TrimPrefix(r.Ref, "#/$defs/")], value)
	case r.OneOf != nil:
		var wrong []error
		for _, choice := range r.OneOf {
			err := schema.check(choice, value)
			if err == nil {
				return nil
			}
			wrong = append(wrong, err)
		}
		return errors.Join(wrong...)
	case r.Const != nil && value != r.Const:
		return fmt.Errorf("%v, want %v", value, r.Const)
	case r.Enum != nil && !slices.Contains(r.Enum, value):
		return fmt.Errorf("%v, want one of %v", value, r.Enum)
	case r.Type == "":
		return nil
	}
	if is := typeOf(value); is != r.Type && (is != "integer" || r.Type != "number") {
		return fmt.Errorf("%v is of type %s, want %s", value, is, r.Type)
	}
	switch v := value.(type) {
	case string:
		if !regexp.MustCompile(r.Pattern).MatchString(v) {
			return fmt.Errorf("%q does not match %s", v, r.Pattern)
		}
	case float64:
		if r.Minimum != nil && v < *r.Minimum || r.Maximum != nil && v > *r.Maximum {
			return fmt.Errorf("%v is out of bounds", v)
		}
	case []any:
		for _, item := range v {
			if err := schema.check(r.Items, item); err != nil {
				return err
			}
		}
	case map[string]any:
		return schema.checkObject(r, v)
	}
	return nil
}

func typeOf(value any) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if v == math.Trunc(v) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func (schema *rule) checkObject(r *rule, object map[string]any) error {
	for _, key := range r.Required {
		if _, has := object[key]; !has {
			return fmt.Errorf("%s is missing", key)
		}
	}
	for key, value := range object {
		property := cmp.Or(r.Properties[key], r.Others)
		if property == nil {
			return fmt.Errorf("%s is not described", key)
		}
		if err := schema.check(property, value); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	for key := range object {
		r.seen[key] = true
	}
	return nil
}
