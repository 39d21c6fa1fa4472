package storagetest

import (
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// lotRefs names lots by their grants.
func lotRefs(lots []imagegen.Lot) (refs []string) {
	for _, l := range lots {
		refs = append(refs, l.Ref)
	}
	return refs
}

func testOrderOfConsumption(b *creditAdmin) {
	soon, late := epoch.Add(10*time.Hour), epoch.Add(20*time.Hour)
	for _, g := range []imagegen.Grant{
		{Ref: "6", Priority: 50, Expires: late},
		{Ref: "8", Priority: 50},
		{Ref: "2", Priority: 49, Promo: true},
		{Ref: "5", Priority: 50, Expires: late, Promo: true},
		{Ref: "9", Priority: 50},
		{Ref: "4", Expires: soon}, // DefaultPriority
		{Ref: "3", Priority: 49},
		{Ref: "10", Priority: 100, Expires: soon, Promo: true},
		{Ref: "7", Priority: 50, Promo: true},
		{Ref: "1", Priority: 1},
	} {
		g.Credits = 2
		b.grant(g)
		b.pass(time.Second)
	}
	order := []string{"1", "2", "3", "4", "5", "6", "7", "8", "9", "10"}
	b.is.Equal(diff(order, lotRefs(b.lots())), "")
	b.charge("c", 9)
	for i, l := range b.lots() {
		b.is.Equal(l.Held, max(0, min(2, imagegen.Credits(9-2*i))))
	}
	b.settle("c", 5) // what was taken last comes back
	b.is.Equal(diff(order[2:], lotRefs(b.lots())), "")
	b.is.Equal(b.lots()[0].Remaining, imagegen.Credits(1))
	b.has(alice, 15)
}

// The credits of a lot are all accounted for, whatever happens to it.
func testLotSums(b *creditAdmin) {
	l := b.grant(imagegen.Grant{Credits: 100, Ref: "r", Promo: true, Priority: 7, Expires: epoch.Add(10 * time.Hour)})
	b.is.Equal(diff(imagegen.Lot{ID: l.ID, User: alice, Granted: 100, Remaining: 100, Promo: true, Priority: 7,
		Effective: epoch, Expires: epoch.Add(10 * time.Hour), Ref: "r"}, l), "")
	b.is.True(l.ID != "")
	b.charge("a", 10)
	b.charge("b", 20)
	b.settle("a", 4)
	_, err := b.revoke(5, "", "")
	b.is.NoErr(err)
	l.Remaining, l.Held, l.Spent, l.Revoked = 71, 20, 4, 5
	b.is.Equal(diff([]imagegen.Lot{l}, b.lots()), "")
	b.pass(10 * time.Hour)
	l.Remaining, l.Expired = 0, 71
	b.is.Equal(diff([]imagegen.Lot{l}, b.lots()), "") // an open charge holds some
	b.settle("b", 20)
	b.is.Equal(len(b.lots()), 0)
	b.has(alice, 0)
}

func testExpiry(b *creditAdmin) {
	soon, late := epoch.Add(10*time.Hour), epoch.Add(30*time.Hour)
	b.grant(imagegen.Grant{Credits: 7})
	balance, err := b.Balance(b.t.Context(), alice)
	b.is.NoErr(err)
	b.is.True(balance.NextExpiration == nil)
	b.grant(imagegen.Grant{Credits: 10, Expires: late})
	b.next(10, late)
	b.grant(imagegen.Grant{Credits: 5, Expires: soon})
	b.grant(imagegen.Grant{Credits: 6, Expires: soon, Promo: true})
	b.next(11, soon)
	b.charge("c", 8) // of those that expire first
	b.next(3, soon)
	b.pass(10*time.Hour - time.Millisecond)
	b.has(alice, 20)
	b.pass(time.Millisecond)
	b.has(alice, 17)
	b.next(10, late)
	b.refused(b.Charge(b.t.Context(), imagegen.Charge{ID: "d", User: alice, Credits: 18}),
		imagegen.ErrInsufficientCredits)
	b.settle("c", 8)
	b.charge("e", 17)
	b.pass(20 * time.Hour)
	b.settle("e", 10) // all of what has expired since is spent
	b.has(alice, 7)
}

func testNextExpiry(b *creditAdmin) {
	soon, late := epoch.Add(10*time.Hour), epoch.Add(30*time.Hour)
	b.grant(imagegen.Grant{Credits: 5, Expires: soon})
	b.grant(imagegen.Grant{Credits: 10, Expires: late})
	b.grant(imagegen.Grant{Credits: 6, Expires: late, Promo: true})
	b.grant(imagegen.Grant{Credits: 4, Expires: late.Add(time.Hour)})
	b.next(5, soon)
	b.charge("c", 5)
	b.next(16, late)
}

// Credits that come back after their lot has expired live a day at least.
func testRefundLots(b *creditAdmin) {
	b.grant(imagegen.Grant{Credits: 10, Priority: 3, Promo: true, Expires: epoch.Add(time.Hour)})
	b.charge("c", 6)
	b.pass(2 * time.Hour)
	b.has(alice, 0)
	b.settle("c", 1)
	b.has(alice, 5)
	b.next(5, epoch.Add(25*time.Hour)) // a day after they expired
	lots := b.lots()
	b.is.Equal(len(lots), 1)
	b.is.Equal(diff(imagegen.Lot{ID: lots[0].ID, User: alice, Granted: 5, Remaining: 5, Promo: true, Priority: 3,
		Effective: epoch.Add(2 * time.Hour), Expires: epoch.Add(25 * time.Hour)}, lots[0]), "")
	b.charge("d", 5)
	b.pass(23*time.Hour - time.Minute)
	b.settle("d", 2)
	b.has(alice, 3)
	b.charge("e", 3)
	b.pass(time.Minute)
	b.settle("e", 0) // expired again, and for good
	b.has(alice, 0)
}
