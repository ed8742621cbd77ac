package store_test

import (
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"

	"github.com/flip7-arena/flip7/arena"
	"github.com/flip7-arena/flip7/server/store"
)

func code(n byte) [32]byte { return [32]byte{200, n} }

func TestInvitations(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{}), t.Context()
	want := []store.Invitation{
		{Uses: 2, Remark: "the school", Created: at(1), Expires: at(30)},
		{Uses: 1, Created: at(2), Expires: at(50)},
		{Uses: 1000, Created: at(3), Expires: at(50)},
	}
	for i := range want {
		id, err := s.AddInvitation(ctx, want[i], code(byte(i+1)))
		if err != nil || i > 0 && id <= want[i-1].ID {
			t.Fatalf("got id %d, %v; want one beyond that of the invitation before", id, err)
		}
		want[i].ID = id
	}
	// Each step is one try to become an owner, or what the admin does.
	for n, step := range []struct {
		what   string
		name   string
		code   byte
		minute int
		want   error
	}{
		{"with the first use", "ann", 1, 10, nil},
		{"with another code", "bob", 9, 10, store.ErrNoInvitation},
		{"by a name that looks like one that is taken", "ANN", 1, 11, store.ErrTaken},
		{"with the second use, which the name that was taken has not used up", "bob", 1, 12, nil},
		{"with a third use", "carl", 1, 13, store.ErrUsedUp},
		{"with the only use of another", "carl", 2, 49, nil},
		{"with it again", "dora", 2, 49, store.ErrUsedUp},
		{"at the last moment", "dora", 3, 49, nil},
		{"when it has expired", "emil", 3, 50, store.ErrExpired},
	} {
		err := s.AddInvitedOwner(ctx, step.name, token(byte(n)), code(step.code), at(step.minute))
		if !errors.Is(err, step.want) {
			t.Errorf("%s becomes an owner %s: got %v, want %v", step.name, step.what, err, step.want)
		}
	}
	if _, err := s.Owner(ctx, "emil"); !errors.Is(err, arena.ErrNotFound) {
		t.Errorf("an owner whom nobody let in: got %v, want %v", err, arena.ErrNotFound)
	}
	if owner, err := s.OwnerByToken(ctx, token(3)); err != nil || owner.Name != "bob" {
		t.Errorf("the token of bob is one of %+v, %v", owner, err)
	}
	want[0].Owners, want[1].Owners, want[2].Owners = []string{"ann", "bob"}, []string{"carl"}, []string{"dora"}

	for minute := 20; minute < 22; minute++ {
		if err := s.RevokeInvitation(ctx, want[2].ID, at(minute)); err != nil {
			t.Fatal(err)
		}
	}
	want[2].Revoked = at(20)
	wantNot(t, "an owner by an invitation that was revoked", s.AddInvitedOwner(ctx, "emil", token(90), code(3), at(21)), store.ErrRevoked)
	wantNot(t, "revoke one that there is not", s.RevokeInvitation(ctx, 99, at(21)), arena.ErrNotFound)
	wantNot(t, "Invitation", second(s.Invitation(ctx, 99)), arena.ErrNotFound)
	if err := s.RetireOwner(ctx, "ann", at(22)); err != nil {
		t.Fatal(err)
	}
	wantNot(t, "the use of an owner who has retired", s.AddInvitedOwner(ctx, "emil", token(90), code(1), at(23)), store.ErrUsedUp)

	for _, list := range []struct {
		before int64
		limit  int
		want   []store.Invitation
	}{
		{0, 10, []store.Invitation{want[2], want[1], want[0]}},
		{0, 2, []store.Invitation{want[2], want[1]}},
		{want[1].ID, 2, []store.Invitation{want[0]}},
		{want[0].ID, 2, nil},
	} {
		got, err := s.Invitations(ctx, list.before, list.limit)
		if err != nil || !reflect.DeepEqual(got, list.want) {
			t.Errorf("%d before %d: got %+v, %v; want %+v", list.limit, list.before, got, err, list.want)
		}
	}
	if got, err := s.Invitation(ctx, want[1].ID); err != nil || !reflect.DeepEqual(got, want[1]) {
		t.Errorf("got %+v, %v; want %+v", got, err, want[1])
	}
}

func TestTheLastUseOfAnInvitationIsForOne(t *testing.T) {
	s, ctx := open(t, t.TempDir(), store.Options{}), t.Context()
	if _, err := s.AddInvitation(ctx, store.Invitation{Uses: 3, Created: at(1), Expires: at(50)}, code(1)); err != nil {
		t.Fatal(err)
	}
	errs := make([]error, 20)
	var all sync.WaitGroup
	for n := range errs {
		all.Go(func() { errs[n] = s.AddInvitedOwner(ctx, fmt.Sprint("owner ", n), token(byte(n)), code(1), at(2)) })
	}
	all.Wait()
	made := 0
	for n, err := range errs {
		if err == nil {
			made++
		} else if !errors.Is(err, store.ErrUsedUp) {
			t.Errorf("owner %d: got %v, want %v", n, err, store.ErrUsedUp)
		}
	}
	list, err := s.Invitations(ctx, 0, 1)
	if err != nil || made != 3 || len(list[0].Owners) != 3 {
		t.Errorf("an invitation for 3 brought %d owners at once, and says %+v, %v", made, list, err)
	}
}
