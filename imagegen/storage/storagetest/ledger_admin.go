package storagetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// CreditAdmin tests an [imagegen.CreditAdmin], and thereby an [imagegen.Ledger]. open
// returns an empty one whose clock is now, which is safe for concurrent use.
func CreditAdmin(t *testing.T, open func(t *testing.T, now func() time.Time) imagegen.CreditAdmin) {
	t.Run("Ledger", func(t *testing.T) {
		Ledger(t, func(t *testing.T) imagegen.Ledger { return open(t, time.Now) },
			func(ctx context.Context, l imagegen.Ledger, u imagegen.UserID, c imagegen.Credits) error {
				_, err := l.(imagegen.CreditAdmin).Grant(ctx, imagegen.Grant{User: u, Credits: c})
				return err
			})
	})
	run := func(name string, test func(b *creditAdmin)) {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "CreditAdmin/"+name)
			b := &creditAdmin{t: t, is: is.New(t), time: epoch}
			b.CreditAdmin = open(t, b.now)
			t.Cleanup(func() {
				audit(t, b.CreditAdmin)
				usageIsJournals(t, b.CreditAdmin, alice, bob)
			})
			test(b)
		})
	}
	run("OrderOfConsumption", testOrderOfConsumption)
	run("LotSums", testLotSums)
	run("Expiry", testExpiry)
	run("NextExpiry", testNextExpiry)
	run("RefundLots", testRefundLots)
	run("GrantTwice", testGrantTwice)
	run("RevokeTwice", testRevokeTwice)
	run("ReferenceRace", testReferenceRace)
	run("Revoke", testRevoke)
	run("RefusedGrants", testRefusedGrants)
	run("FullAccount", testFullAccount)
	run("History", testHistory)
	run("NobodysBooks", testNobodysBooks)
	run("BooksEndedContext", testBooksEndedContext)
	run("Usage", testUsage)
	run("UnfitBills", testUnfitBills)
}

// creditAdmin is a CreditAdmin under test, with a clock that the test moves.
type creditAdmin struct {
	imagegen.CreditAdmin
	t  *testing.T
	is *is.I

	mu   sync.Mutex
	time time.Time
}

func (b *creditAdmin) now() time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.time
}

// pass lets time go on, and is seen to do so: no more than an hour passes unseen.
func (b *creditAdmin) pass(d time.Duration) {
	b.t.Helper()
	for d > 0 {
		b.mu.Lock()
		b.time = b.time.Add(min(d, time.Hour))
		b.mu.Unlock()
		d -= time.Hour
		for range 2 { // by each of two that take turns, see SharedCreditAdmin
			b.has("a passer-by", 0)
		}
	}
}

func (b *creditAdmin) has(u imagegen.UserID, want imagegen.Credits) {
	b.t.Helper()
	balance, err := b.Balance(b.t.Context(), u)
	b.is.NoErr(err)
	if balance.Credits != want {
		b.t.Fatalf("%s has %d credits, and should have %d", u, balance.Credits, want)
	}
}

// next checks when how many of alice's credits expire first.
func (b *creditAdmin) next(c imagegen.Credits, at time.Time) {
	b.t.Helper()
	balance, err := b.Balance(b.t.Context(), alice)
	b.is.NoErr(err)
	b.is.Equal(diff(&imagegen.Expiration{Credits: c, At: at}, balance.NextExpiration), "")
}

// grant adds a lot to alice's.
func (b *creditAdmin) grant(g imagegen.Grant) imagegen.Lot {
	b.t.Helper()
	g.User = alice
	l, err := b.Grant(b.t.Context(), g)
	b.is.NoErr(err)
	return l.Lot
}

// revoke takes from alice.
func (b *creditAdmin) revoke(c imagegen.Credits, lot, ref string) (imagegen.Entry, error) {
	r, err := b.Revoke(b.t.Context(), imagegen.Revocation{User: alice, Credits: c, Lot: lot, Ref: ref})
	return r.Entry, err
}

func (b *creditAdmin) charge(id imagegen.ChargeID, c imagegen.Credits) {
	b.t.Helper()
	b.is.NoErr(b.Charge(b.t.Context(), imagegen.Charge{ID: id, User: alice, Credits: c}))
}

func (b *creditAdmin) settle(id imagegen.ChargeID, used imagegen.Credits) {
	b.t.Helper()
	b.is.NoErr(b.Settle(b.t.Context(), id, used))
}

func (b *creditAdmin) lots() []imagegen.Lot {
	b.t.Helper()
	lots, err := b.Lots(b.t.Context(), alice)
	b.is.NoErr(err)
	b.hasHoldings(lots)
	return lots
}

// hasHoldings checks what alice has at hand against all of her lots.
func (b *creditAdmin) hasHoldings(lots []imagegen.Lot) {
	b.t.Helper()
	var all imagegen.Holdings
	for _, l := range lots {
		if all.Held += l.Held; l.Remaining > 0 {
			all.Lots = append(all.Lots, l)
		}
	}
	for _, n := range []int{0, 1, len(all.Lots), len(all.Lots) + 1} {
		want := all
		if want.More = n < len(all.Lots); want.More {
			want.Lots = all.Lots[:n]
		}
		got, err := b.Holdings(b.t.Context(), alice, n)
		b.is.NoErr(err)
		b.is.Equal(diff(want, got), "")
	}
}

func (b *creditAdmin) history(before uint64, limit int) []imagegen.Entry {
	b.t.Helper()
	entries, err := b.History(b.t.Context(), alice, before, limit)
	b.is.NoErr(err)
	return entries
}

// refused checks that an error is the one wanted, and that it promises that nothing was changed.
func (b *creditAdmin) refused(err, want error) {
	b.t.Helper()
	if !errors.Is(err, want) || !imagegen.Definite(err) {
		b.t.Fatalf("got %v, want %v", err, want)
	}
}
