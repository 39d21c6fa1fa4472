package ledger_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
)

func TestGrantTwice(t *testing.T) {
	f := open(t)
	first := f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "invoice 7", Expires: time.Now().Add(time.Hour)})
	f.charge("c", "alice", 4)
	again := f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "invoice 7", Priority: 999,
		Expires: time.Now().Add(-time.Hour)})
	first.Remaining, first.Held = 6, 4 // the lot as it stands
	f.is.Equal(cmp.Diff(first, again), "")
	f.is.Equal(f.credits("alice"), imagegen.Credits(6))
	f.is.Equal(len(f.lots("alice")), 1)
}

// A reference names one grant or one revocation.
func TestReferenceConflicts(t *testing.T) {
	f := open(t)
	f.grant(imagegen.Grant{User: "alice", Credits: 10, Ref: "a grant"})
	f.grant(imagegen.Grant{User: "bob", Credits: 10})
	_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 3, Ref: "a revocation"})
	f.is.NoErr(err)
	later := f.grant(imagegen.Grant{User: "alice", Credits: 2})
	_, err = f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 8, Ref: "of two lots"})
	f.is.NoErr(err)
	for name, try := range map[string]func() error{
		"another amount": func() error {
			_, err := f.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 11, Ref: "a grant"})
			return err
		},
		"another user": func() error {
			_, err := f.Grant(t.Context(), imagegen.Grant{User: "bob", Credits: 10, Ref: "a grant"})
			return err
		},
		"a revocation's": func() error {
			_, err := f.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 3, Ref: "a revocation"})
			return err
		},
		"another amount to revoke": func() error {
			_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 4, Ref: "a revocation"})
			return err
		},
		"another user to revoke": func() error {
			_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "bob", Credits: 3, Ref: "a revocation"})
			return err
		},
		"another lot to revoke from": func() error {
			_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 3, Lot: later.ID,
				Ref: "a revocation"})
			return err
		},
		"one lot of several": func() error {
			_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 8, Lot: later.ID,
				Ref: "of two lots"})
			return err
		},
		"a grant's": func() error {
			_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 10, Ref: "a grant"})
			return err
		},
	} {
		if err := try(); !errors.Is(err, imagegen.ErrGrantConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.is.Equal(f.credits("alice"), imagegen.Credits(1))
	f.is.Equal(f.credits("bob"), imagegen.Credits(10))
	f.sound()
}

func TestRevoke(t *testing.T) {
	f := open(t)
	first := f.grant(imagegen.Grant{User: "alice", Credits: 10})
	second := f.grant(imagegen.Grant{User: "alice", Credits: 10})
	expired := f.grant(imagegen.Grant{User: "bob", Credits: 10})
	f.charge("c", "alice", 4)
	revoke := func(c imagegen.Credits, lot string) error {
		_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: c, Lot: lot})
		return err
	}
	for _, lot := range []string{ledger.LotID("alice", 99), "lot_1", "lot_0" + first.ID[4:], "lot", "\x00", first.ID +
		"x", expired.ID} { // not alice's
		f.is.True(errors.Is(revoke(1, lot), imagegen.ErrInsufficientCredits))
	}
	f.is.True(errors.Is(revoke(17, ""), imagegen.ErrInsufficientCredits)) // what is held does not count
	f.is.True(errors.Is(revoke(7, first.ID), imagegen.ErrInsufficientCredits))
	f.is.NoErr(revoke(9, second.ID))
	f.is.NoErr(revoke(7, ""))
	f.is.Equal(f.credits("alice"), imagegen.Credits(0))
	f.settle("c", 0)
	f.is.NoErr(revoke(4, first.ID))
	f.is.Equal(len(f.lots("alice")), 0)
	f.sound()
}

func TestRevokeFromExpiredLot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		l := f.grant(imagegen.Grant{User: "alice", Credits: 10, Expires: time.Now().Add(time.Hour)})
		time.Sleep(time.Hour)
		_, err := f.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 1, Lot: l.ID})
		f.is.True(errors.Is(err, imagegen.ErrInsufficientCredits))
	})
}

func TestInvalidAmounts(t *testing.T) {
	f := open(t)
	for _, g := range []imagegen.Grant{
		{User: "alice", Credits: 0}, {User: "alice", Credits: -1}, {User: "alice", Credits: imagegen.MaxCredits + 1},
		{User: "", Credits: 1}, {User: "a\x00b", Credits: 1}, {User: "alice", Credits: 1, Ref: "a\x00b"},
		{User: "alice", Credits: 1, Priority: 101}, {User: "alice", Credits: 1, Priority: -1},
		{User: "alice", Credits: 1, Expires: time.Now().Add(-time.Second)},
		// not to be kept in nanoseconds
		{User: "alice", Credits: 1, Expires: time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)},
		{User: "alice", Credits: 1, Expires: time.Date(2600, 1, 1, 0, 0, 0, 0, time.UTC)},
	} {
		_, err := f.Grant(t.Context(), g)
		f.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	}
	for _, r := range []imagegen.Revocation{{User: "alice"}, {User: "alice", Credits: -1}, {Credits: 1},
		{User: "alice", Credits: 1, Ref: "\x00"}} {
		_, err := f.Revoke(t.Context(), r)
		f.is.True(errors.Is(err, imagegen.ErrInvalidRequest))
	}
	for _, c := range []imagegen.Charge{{ID: "c", User: "alice"}, {ID: "c", Credits: 1}, {User: "alice", Credits: 1},
		{ID: "\x00", User: "alice", Credits: 1}} {
		f.is.True(errors.Is(f.Charge(t.Context(), c), imagegen.ErrInvalidRequest))
	}
	f.is.True(errors.Is(f.Settle(t.Context(), "", 0), imagegen.ErrInvalidRequest))
	f.is.Equal(f.size("ledger.journal"), 0)
}

func TestFullAccount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		more := func() error {
			_, err := f.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 1})
			return err
		}
		f.grant(imagegen.Grant{User: "alice", Credits: imagegen.MaxCredits, Expires: time.Now().Add(time.Hour)})
		f.is.True(errors.Is(more(), imagegen.ErrInvalidRequest))
		f.charge("c", "alice", 10)
		f.is.True(errors.Is(more(), imagegen.ErrInvalidRequest)) // what is held may come back
		time.Sleep(time.Hour)
		f.is.NoErr(more()) // what has expired leaves room
		f.settle("c", 0)
		f.is.Equal(f.credits("alice"), imagegen.Credits(11))
		f.sound()
	})
}
