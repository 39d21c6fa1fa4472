package storagetest

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// A grant that is repeated returns the lot that stands.
func testGrantTwice(b *creditAdmin) {
	l := b.grant(imagegen.Grant{Credits: 10, Ref: "r", Expires: epoch.Add(time.Hour)})
	b.is.Equal(diff(l, b.grant(imagegen.Grant{Credits: 10, Ref: "r", Expires: epoch.Add(time.Hour)})), "")
	b.repeats("r", true)
	b.charge("c", 4)
	b.pass(2 * time.Hour)
	b.is.Equal(b.grant(imagegen.Grant{Credits: 10, Ref: "r", Expires: epoch.Add(time.Hour)}).ID, l.ID)
	_, err := b.Grant(b.t.Context(), imagegen.Grant{User: alice, Credits: 11, Ref: "r"})
	b.refused(err, imagegen.ErrGrantConflict)
	_, err = b.Grant(b.t.Context(), imagegen.Grant{User: bob, Credits: 10, Ref: "r"})
	b.refused(err, imagegen.ErrGrantConflict)
	b.has(alice, 0)
	b.has(bob, 0)
	b.repeats("", false)
	b.repeats("", false) // without a reference each is another
	b.has(alice, 20)
}

// repeats grants alice ten credits and checks whether the answer says that it is a repetition.
func (b *creditAdmin) repeats(ref string, want bool) {
	b.t.Helper()
	g, err := b.Grant(b.t.Context(), imagegen.Grant{User: alice, Credits: 10, Ref: ref})
	b.is.NoErr(err)
	b.is.Equal(g.Repeated, want)
}

func testRevokeTwice(b *creditAdmin) {
	granted := b.grant(imagegen.Grant{Credits: 10, Ref: "granted"})
	taken, err := b.Revoke(b.t.Context(), imagegen.Revocation{User: alice, Credits: 4, Ref: "r"})
	b.is.NoErr(err)
	first := taken.Entry
	b.is.Equal(first.Credits, imagegen.Credits(-4))
	b.charge("c", 6)
	repeated, err := b.Revoke(b.t.Context(), imagegen.Revocation{User: alice, Credits: 4, Ref: "r"})
	b.is.NoErr(err)
	b.is.Equal(diff(first, repeated.Entry), "")
	b.is.True(!taken.Repeated && repeated.Repeated)
	_, err = b.revoke(5, "", "r")
	b.refused(err, imagegen.ErrGrantConflict)
	_, err = b.Revoke(b.t.Context(), imagegen.Revocation{User: bob, Credits: 4, Ref: "r"})
	b.refused(err, imagegen.ErrGrantConflict)
	_, err = b.revoke(10, "", "granted") // one reference, one thing
	b.refused(err, imagegen.ErrGrantConflict)
	again, err := b.revoke(4, granted.ID, "r") // that is where they were taken from
	b.is.NoErr(err)
	b.is.Equal(diff(first, again), "")
	for _, other := range []string{b.grant(imagegen.Grant{Credits: 4}).ID, "unknown"} {
		_, err = b.revoke(4, other, "r")
		b.refused(err, imagegen.ErrGrantConflict)
	}
	_, err = b.Grant(b.t.Context(), imagegen.Grant{User: alice, Credits: 4, Ref: "r"})
	b.refused(err, imagegen.ErrGrantConflict)
	b.settle("c", 0)
	b.has(alice, 10)
}

func testReferenceRace(b *creditAdmin) {
	b.grant(imagegen.Grant{Credits: 10})
	for _, err := range together(racers, func(i int) error {
		if i%2 == 0 {
			_, err := b.revoke(4, "", "revoked")
			return err
		}
		_, err := b.Grant(b.t.Context(), imagegen.Grant{User: alice, Credits: 3, Ref: "granted"})
		return err
	}) {
		b.is.NoErr(err)
	}
	b.has(alice, 9)
}

func testRevoke(b *creditAdmin) {
	first := b.grant(imagegen.Grant{Credits: 10, Expires: epoch.Add(time.Hour)})
	second := b.grant(imagegen.Grant{Credits: 10})
	others, err := b.Grant(b.t.Context(), imagegen.Grant{User: bob, Credits: 10})
	b.is.NoErr(err)
	b.charge("c", 4)
	for _, r := range []struct {
		credits imagegen.Credits
		lot     string
	}{{17, ""}, {7, first.ID}, {11, second.ID}, {1, "unknown"}, {1, others.ID}} {
		_, err := b.revoke(r.credits, r.lot, "")
		b.refused(err, imagegen.ErrInsufficientCredits)
	}
	_, err = b.revoke(3, second.ID, "")
	b.is.NoErr(err)
	e, err := b.revoke(7, "", "")
	b.is.NoErr(err)
	b.is.Equal(e.Kind, imagegen.EntryRevoke)
	b.is.Equal(e.Balance, imagegen.Credits(6))
	b.is.Equal(b.lots()[1].Remaining, imagegen.Credits(6)) // the other is consumed first
	_, err = b.Revoke(b.t.Context(), imagegen.Revocation{User: carol, Credits: 1})
	b.refused(err, imagegen.ErrInsufficientCredits)
	b.settle("c", 0)
	b.pass(time.Hour)
	_, err = b.revoke(1, first.ID, "")
	b.refused(err, imagegen.ErrInsufficientCredits) // it has expired
	b.has(alice, 6)
	b.has(bob, 10)
}

func testRefusedGrants(b *creditAdmin) {
	for _, g := range []imagegen.Grant{
		{User: alice}, {User: alice, Credits: -1}, {User: alice, Credits: imagegen.MaxCredits + 1},
		{Credits: 1}, {User: "a\x00b", Credits: 1},
		{User: alice, Credits: 1, Ref: "a\x00b"}, {User: alice, Credits: 1, Ref: "\xff"},
		{User: alice, Credits: 1, Priority: -1}, {User: alice, Credits: 1, Priority: 101},
		{User: alice, Credits: 1, Expires: epoch}, {User: alice, Credits: 1, Expires: epoch.Add(-time.Hour)},
	} {
		_, err := b.Grant(b.t.Context(), g)
		b.refused(err, imagegen.ErrInvalidRequest)
	}
	for _, r := range []imagegen.Revocation{{User: alice}, {User: alice, Credits: -1}, {Credits: 1},
		{User: alice, Credits: 1, Ref: "\xff"}} {
		_, err := b.Revoke(b.t.Context(), r)
		b.refused(err, imagegen.ErrInvalidRequest)
	}
	b.has(alice, 0)
	b.is.Equal(len(b.history(0, 10)), 0)
}

func testFullAccount(b *creditAdmin) {
	more := func() error {
		_, err := b.Grant(b.t.Context(), imagegen.Grant{User: alice, Credits: 1})
		return err
	}
	b.grant(imagegen.Grant{Credits: imagegen.MaxCredits, Expires: epoch.Add(time.Hour)})
	b.refused(more(), imagegen.ErrInvalidRequest)
	b.charge("c", 10)
	b.refused(more(), imagegen.ErrInvalidRequest) // what is held may come back
	b.settle("c", 1)
	b.is.NoErr(more())
	b.refused(more(), imagegen.ErrInvalidRequest)
	b.pass(time.Hour)
	b.is.NoErr(more()) // what has expired leaves room
	b.has(alice, 2)
}

// A call whose context has ended does all or nothing, and does not lie about it.
func testBooksEndedContext(b *creditAdmin) {
	ctx, cancel := context.WithCancel(b.t.Context())
	cancel()
	_, err := b.CreditAdmin.Grant(ctx, imagegen.Grant{User: alice, Credits: 10, Ref: "g"})
	b.checkChanged(err, 0, 10)
	b.grant(imagegen.Grant{Credits: 10, Ref: "g"})
	_, err = b.CreditAdmin.Revoke(ctx, imagegen.Revocation{User: alice, Credits: 4, Ref: "r"})
	b.checkChanged(err, 10, 6)
	_, err = b.revoke(4, "", "r")
	b.is.NoErr(err)
	b.has(alice, 6)
}

// checkChanged checks that a call changed alice's balance as its error says.
func (b *creditAdmin) checkChanged(err error, before, after imagegen.Credits) {
	b.t.Helper()
	balance, balanceErr := b.Balance(b.t.Context(), alice)
	b.is.NoErr(balanceErr)
	checkBalance(b.is, balance.Credits, err, before, after)
}
