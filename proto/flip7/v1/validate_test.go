package flip7v1_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"buf.build/go/protovalidate"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// management are the services whose requests carry their own bounds; Play is
// checked by hand and answers with verdicts.
var management = []protoreflect.FileDescriptor{
	flip7v1.File_flip7_v1_bot_service_proto,
	flip7v1.File_flip7_v1_tournament_service_proto,
	flip7v1.File_flip7_v1_rating_service_proto,
	flip7v1.File_flip7_v1_watch_service_proto,
}

func TestRequestBounds(t *testing.T) {
	validator, err := protovalidate.New()
	if err != nil {
		t.Fatal(err)
	}
	settings := func(s *flip7v1.TournamentSettings) proto.Message {
		return &flip7v1.CreateTournamentRequest{Name: "friday", Settings: s}
	}
	for _, test := range []struct {
		name    string
		request proto.Message
		field   string // that is refused; "" for none
	}{
		{"a tournament with all defaults", settings(nil), ""},
		{"a tournament without a bank", settings(&flip7v1.TournamentSettings{TimeBank: &durationpb.Duration{}}), ""},
		{"3 seats", settings(&flip7v1.TournamentSettings{Seats: 3}), ""},
		{"18 seats", settings(&flip7v1.TournamentSettings{Seats: 18}), ""},
		{"2 seats", settings(&flip7v1.TournamentSettings{Seats: 2}), "settings.seats"},
		{"19 seats", settings(&flip7v1.TournamentSettings{Seats: 19}), "settings.seats"},
		{"a final table of one", settings(&flip7v1.TournamentSettings{FinalTable: 1}), "settings.final_table"},
		{"no time at all", settings(&flip7v1.TournamentSettings{DecisionTimeout: &durationpb.Duration{}}), "settings.decision_timeout"},
		{"a negative bank", settings(&flip7v1.TournamentSettings{TimeBank: durationpb.New(-time.Second)}), "settings.time_bank"},
		{"a schedule from elsewhere", settings(&flip7v1.TournamentSettings{Schedule: 9}), "settings.schedule"},
		{"a tournament without a name", &flip7v1.CreateTournamentRequest{}, "name"},
		{"a bot's name in 32 characters of two bytes", &flip7v1.RegisterBotRequest{Name: strings.Repeat("ø", 32)}, ""},
		{"a bot's name in 33 characters", &flip7v1.RegisterBotRequest{Name: strings.Repeat("o", 33)}, "name"},
		{"a page of 1001", &flip7v1.ListBotsRequest{PageSize: 1001}, "page_size"},
		{"table 0", &flip7v1.VoidTableRequest{TournamentId: "t1", PairingRound: 1, Why: "fire"}, "table"},
		{"a kick without a reason", &flip7v1.KickBotRequest{TournamentId: "t1", Bot: "crow"}, "why"},
		{"nothing taken out", &flip7v1.ExcludeResultRequest{Why: "fire"}, "result"},
		{"a tournament without an id among several", &flip7v1.ListRatingsRequest{TournamentIds: []string{"t1", ""}}, "tournament_ids[1]"},
		{"an invitation for ever", &flip7v1.CreateInvitationRequest{Lifetime: durationpb.New(400 * 24 * time.Hour)}, "lifetime"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if err := validator.Validate(test.request); err != nil {
				invalid, ok := errors.AsType[*protovalidate.ValidationError](err)
				if !ok {
					t.Fatal(err)
				}
				got = protovalidate.FieldPathString(invalid.Violations[0].Proto.GetField())
			}
			if got != test.field {
				t.Errorf("refused field %q, want %q", got, test.field)
			}
		})
	}
}

// TestStringsAreBounded: every string, list and page that a management request
// may hold says how long it may be.
func TestStringsAreBounded(t *testing.T) {
	for _, file := range management {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				m := methods.Get(j)
				bounded(t, m.Input())
				if strings.HasPrefix(string(m.Name()), "List") {
					for _, name := range []protoreflect.Name{"page_size", "page_token"} {
						if m.Input().Fields().ByName(name) == nil {
							t.Errorf("%s has no %s", m.Input().Name(), name)
						}
					}
					if m.Output().Fields().ByName("next_page_token") == nil {
						t.Errorf("%s has no next_page_token", m.Output().Name())
					}
				}
			}
		}
	}
}

func bounded(t *testing.T, m protoreflect.MessageDescriptor) {
	for i := range m.Fields().Len() {
		f := m.Fields().Get(i)
		rules, err := protovalidate.ResolveFieldRules(f)
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case f.IsList():
			if !rules.GetRepeated().HasMaxItems() {
				t.Errorf("%s: no bound on its items", f.FullName())
			}
		case f.Kind() == protoreflect.StringKind:
			if !rules.GetString().HasMaxLen() {
				t.Errorf("%s: no bound on its length", f.FullName())
			}
		case f.Message() != nil && f.Message().ParentFile().Package() == m.ParentFile().Package() &&
			f.Message().ParentFile() != flip7v1.File_flip7_v1_game_proto: // its rules are checked where they are converted
			bounded(t, f.Message())
		}
	}
}
