package server

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"

	flip7v1 "github.com/flip7-arena/flip7/proto/flip7/v1"
)

// byInvitation is a Config of an arena that takes owners who are invited.
func byInvitation(c *Config) {
	c.Registration, c.TokenRate, c.AddressRate = RegistrationInvite, 1000, 1000
}

// invite makes an invitation.
func (r *running) invite(ask *flip7v1.CreateInvitationRequest) (id, code string) {
	r.t.Helper()
	made, err := flip7v1.NewBotServiceClient(r.conn).CreateInvitation(r.admin, ask)
	if err != nil {
		r.t.Fatal(err)
	}
	return made.GetInvitation().GetId(), made.GetCode()
}

// enrol registers an owner, and says the reason if that is refused.
func (r *running) enrol(ctx context.Context, name, code string) (token, reason string) {
	r.t.Helper()
	made, err := flip7v1.NewBotServiceClient(r.conn).RegisterOwner(ctx, &flip7v1.RegisterOwnerRequest{Name: name, InvitationCode: code})
	if err == nil {
		return made.GetToken(), ""
	}
	reason = detailsOf(r.t, err).reason
	if code := status.Code(err); code != codes.PermissionDenied && reason != "NAME_TAKEN" {
		r.t.Errorf("%s is refused for %s by %v, want PERMISSION_DENIED", name, reason, code)
	}
	return "", reason
}

func TestWhoIsInvitedBecomesAnOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := start(t, byInvitation)
		client := flip7v1.NewBotServiceClient(r.conn)
		class, code := r.invite(&flip7v1.CreateInvitationRequest{Uses: 2, Remark: "class 7b"})
		one, single := r.invite(&flip7v1.CreateInvitationRequest{Lifetime: durationpb.New(time.Hour)})
		revoked, worthless := r.invite(&flip7v1.CreateInvitationRequest{Uses: 1000})
		for range 2 { // the second time is fine
			if _, err := client.RevokeInvitation(r.admin, &flip7v1.RevokeInvitationRequest{Id: revoked}); err != nil {
				t.Fatal(err)
			}
		}
		ann, reason := r.enrol(t.Context(), "ann", code)
		if reason != "" {
			t.Fatalf("who is invited is refused for %s", reason)
		}
		for _, test := range []struct {
			what, name, code, reason string
		}{
			{"no code", "bob", "", "INVITATION_MISSING"},
			{"a code that there is not", "bob", code + "A", "INVITATION_UNKNOWN"},
			{"the id for the code", "bob", class, "INVITATION_UNKNOWN"},
			{"a code that was revoked", "bob", worthless, "INVITATION_REVOKED"},
			{"a name that is taken", "Ann", code, "NAME_TAKEN"},
			{"a code as a person types it", "bob", " " + strings.ToLower(code), ""},
			{"a code that is used up", "carl", code, "INVITATION_USED_UP"},
			{"a code for one", "carl", single, ""},
			{"it again", "dora", single, "INVITATION_USED_UP"},
		} {
			if _, reason := r.enrol(t.Context(), test.name, test.code); reason != test.reason {
				t.Errorf("%s: refused for %q, want %q", test.what, reason, test.reason)
			}
		}
		if _, err := client.RegisterBot(as(t.Context(), ann), &flip7v1.RegisterBotRequest{Name: "anns bot"}); err != nil {
			t.Errorf("an owner by invitation registers a bot: %v", err)
		}

		listed, err := client.ListInvitations(r.admin, &flip7v1.ListInvitationsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		list := listed.GetInvitations()
		if len(list) != 3 || list[0].GetId() != revoked || list[1].GetId() != one || list[2].GetId() != class {
			t.Fatalf("listed are %v, want %s, %s, %s", list, revoked, one, class)
		}
		if list[0].GetRevokeTime() == nil || list[1].GetRevokeTime() != nil {
			t.Errorf("revoked is %v, and not %v", list[0], list[1])
		}
		if got, want := list[2].GetOwners(), []string{"ann", "bob"}; !slices.Equal(got, want) || list[2].GetRemark() != "class 7b" || list[2].GetUses() != 2 {
			t.Errorf("the invitation of a class is %v, want one for 2 that brought %v", list[2], want)
		}
		for i, want := range []time.Duration{7 * 24 * time.Hour, time.Hour} {
			if got := list[i].GetExpireTime().AsTime().Sub(list[i].GetCreateTime().AsTime()); got != want {
				t.Errorf("invitation %d holds for %v, want %v", i, got, want)
			}
		}
		if list[1].GetUses() != 1 {
			t.Errorf("an invitation that says nothing is for %d, want 1", list[1].GetUses())
		}
		r.hidden([]string{code, single, worthless})

		_, late := r.invite(&flip7v1.CreateInvitationRequest{Lifetime: durationpb.New(time.Hour)})
		time.Sleep(time.Hour)
		if _, reason := r.enrol(t.Context(), "emil", late); reason != "INVITATION_EXPIRED" {
			t.Errorf("after an hour an invitation for an hour is refused for %q, want INVITATION_EXPIRED", reason)
		}
	})
}

func TestAnInvitationCountsWhereverItIsSent(t *testing.T) {
	for registration, want := range map[Registration]string{
		RegistrationClosed: "REGISTRATION_CLOSED",
		RegistrationInvite: "",
		RegistrationOpen:   "",
	} {
		r := start(t, func(c *Config) { c.Registration = registration })
		_, code := r.invite(&flip7v1.CreateInvitationRequest{Uses: 2})
		if _, reason := r.enrol(t.Context(), "ann", code); reason != want {
			t.Errorf("registration %v: an owner with a code is refused for %q, want %q", registration, reason, want)
		}
		if _, reason := r.enrol(r.admin, "bob", code); reason != "" {
			t.Errorf("registration %v: the admin with a code is refused for %q", registration, reason)
		}
		if _, reason := r.enrol(r.admin, "carl", "made up"); reason != "INVITATION_UNKNOWN" {
			t.Errorf("registration %v: the admin with a wrong code is refused for %q, want INVITATION_UNKNOWN", registration, reason)
		}
	}
}

func TestAClassBehindOneAddressComesInAtOnce(t *testing.T) {
	r := start(t, byInvitation)
	const uses = 60 // more than may register from one address where anybody may
	_, code := r.invite(&flip7v1.CreateInvitationRequest{Uses: uses})
	reasons := make([]string, uses+5)
	var class sync.WaitGroup
	for n := range reasons {
		class.Go(func() { _, reasons[n] = r.enrol(t.Context(), fmt.Sprint("pupil ", n), code) })
	}
	class.Wait()
	if late := slices.DeleteFunc(reasons, func(reason string) bool { return reason == "" }); len(late) != 5 || slices.Compact(late)[0] != "INVITATION_USED_UP" {
		t.Errorf("of %d, %d came too late, for %q; want 5 for INVITATION_USED_UP", uses+5, len(late), late)
	}
}

func TestInvitationsAreBounded(t *testing.T) {
	r := start(t, byInvitation)
	client := flip7v1.NewBotServiceClient(r.conn)
	for field, ask := range map[string]*flip7v1.CreateInvitationRequest{
		"uses":     {Uses: 1001},
		"lifetime": {Lifetime: durationpb.New(time.Second)},
		"remark":   {Remark: "\x1b[31m"},
	} {
		_, err := client.CreateInvitation(r.admin, ask)
		if d := detailsOf(t, err); status.Code(err) != codes.InvalidArgument || !slices.Equal(d.fields, []string{field}) {
			t.Errorf("%v: %v %+v, want INVALID_ARGUMENT for %s", ask, err, d, field)
		}
	}
	for _, id := range []string{"99", "x", "-1"} {
		if _, err := client.RevokeInvitation(r.admin, &flip7v1.RevokeInvitationRequest{Id: id}); status.Code(err) != codes.NotFound {
			t.Errorf("revoke invitation %q: %v, want NOT_FOUND", id, err)
		}
	}
	var want, got []string
	for range 5 {
		id, _ := r.invite(&flip7v1.CreateInvitationRequest{})
		want = append([]string{id}, want...)
	}
	for token := ""; ; {
		page, err := client.ListInvitations(r.admin, &flip7v1.ListInvitationsRequest{PageSize: 2, PageToken: token})
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range page.GetInvitations() {
			got = append(got, i.GetId())
		}
		if token = page.GetNextPageToken(); token == "" {
			break
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("page by page there are %v, want %v", got, want)
	}
}
