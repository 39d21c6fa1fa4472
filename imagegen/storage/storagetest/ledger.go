package storagetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Ledger tests an [imagegen.Ledger]. open returns an empty one; fund gives a user credits in it,
// for good.
//
//	func TestLedger(t *testing.T) {
//		storagetest.Ledger(t, func(t *testing.T) imagegen.Ledger { return billing.Open(t.TempDir()) },
//			func(ctx context.Context, l imagegen.Ledger, u imagegen.UserID, c imagegen.Credits) error {
//				return l.(*billing.Ledger).TopUp(ctx, string(u), int64(c))
//			})
//	}
func Ledger(t *testing.T, open func(t *testing.T) imagegen.Ledger,
	fund func(ctx context.Context, l imagegen.Ledger, u imagegen.UserID, c imagegen.Credits) error) {
	run := func(name string, test func(l *ledger)) {
		t.Run(name, func(t *testing.T) {
			promises.Expect(t, "Ledger/"+name)
			l := &ledger{t: t, is: is.New(t), Ledger: open(t)}
			t.Cleanup(func() {
				audit(t, l.Ledger)
				if b, ok := l.Ledger.(imagegen.CreditAdmin); ok {
					usageIsJournals(t, b, alice, bob)
				}
			})
			l.fund = func(u imagegen.UserID, c imagegen.Credits) {
				t.Helper()
				l.is.NoErr(fund(t.Context(), l.Ledger, u, c))
			}
			test(l)
		})
	}
	run("ChargeAndSettle", testChargeAndSettle)
	run("Repetition", testRepetition)
	run("ForWhat", testForWhat)
	run("OpenCharges", testOpenCharges)
	run("OptionalMethods", func(l *ledger) { testOptionalMethods(l.t, l.Ledger) })
	run("Insufficient", testInsufficient)
	run("ChargeConflict", testChargeConflict)
	run("SettleConflict", testSettleConflict)
	run("Tombstone", testTombstone)
	run("UsersApart", testUsersApart)
	run("LargestAmount", testLargestAmount)
	run("BalanceIsTheCallers", testBalanceIsTheCallers)
	run("LedgerEndedContext", testLedgerEndedContext)
	run("ChargeRace", testChargeRace)
	run("SameChargeRace", testSameChargeRace)
	run("SettleRace", testSettleRace)
	run("VoidRace", testVoidRace)
}

// ledger is a Ledger under test.
type ledger struct {
	imagegen.Ledger
	t    *testing.T
	is   *is.I
	fund func(imagegen.UserID, imagegen.Credits)
}

func (l *ledger) has(u imagegen.UserID, want imagegen.Credits) {
	l.t.Helper()
	b, err := l.Balance(l.t.Context(), u)
	l.is.NoErr(err)
	if b.Credits != want {
		l.t.Fatalf("%s has %d credits, and should have %d", u, b.Credits, want)
	}
}

func (l *ledger) charge(id imagegen.ChargeID, u imagegen.UserID, c imagegen.Credits) error {
	return l.Charge(l.t.Context(), imagegen.Charge{ID: id, User: u, Credits: c})
}

func (l *ledger) settle(id imagegen.ChargeID, used imagegen.Credits) error {
	return l.Settle(l.t.Context(), id, used)
}

// refused checks that an error is the one wanted, and that it promises that nothing was changed.
func (l *ledger) refused(err, want error) {
	l.t.Helper()
	if !errors.Is(err, want) || !imagegen.Definite(err) {
		l.t.Fatalf("got %v, want %v", err, want)
	}
}

func testChargeAndSettle(l *ledger) {
	l.fund(alice, 10)
	left := imagegen.Credits(10)
	for used := range imagegen.Credits(4) { // nothing, some, some, all
		id := imagegen.ChargeID(fmt.Sprint("c", used))
		l.is.NoErr(l.charge(id, alice, 3))
		l.has(alice, left-3)
		l.is.NoErr(l.settle(id, used))
		left -= used
		l.has(alice, left)
	}
}

func testRepetition(l *ledger) {
	l.fund(alice, 10)
	for range 3 {
		l.is.NoErr(l.charge("c", alice, 6))
		l.has(alice, 4)
	}
	for range 3 {
		l.is.NoErr(l.settle("c", 2))
		l.has(alice, 8)
	}
	l.refused(l.charge("c", alice, 6), imagegen.ErrChargeClosed)
	l.has(alice, 8)
}

// A repeated charge counts as the same whatever it is booked under.
func testForWhat(l *ledger) {
	l.fund(alice, 10)
	c := imagegen.Charge{ID: "c", User: alice, Credits: 6, Model: "m", Tier: imagegen.Tier2K, N: 3}
	l.is.NoErr(l.Charge(l.t.Context(), c))
	c.Model, c.Tier, c.N = "another", imagegen.Tier1K, 1
	l.is.NoErr(l.Charge(l.t.Context(), c))
	l.is.NoErr(l.charge("c", alice, 6))
	l.has(alice, 4)
}

// A ledger that lists its open charges lists each once, however long its pages are, and no other.
func testOpenCharges(l *ledger) {
	lister, ok := l.Ledger.(imagegen.ChargeLister)
	if !ok {
		return // it need not
	}
	l.fund(alice, 100)
	var want []imagegen.ChargeID
	for n := range 10 {
		id := imagegen.ChargeID(fmt.Sprint("c", n))
		l.is.NoErr(l.charge(id, alice, 2))
		if n%3 == 0 {
			l.is.NoErr(l.settle(id, 1))
			continue
		}
		want = append(want, id)
	}
	l.is.NoErr(l.settle("never made", 0))
	for _, page := range []int{1, 4, 100} {
		var got []imagegen.ChargeID
		for after, more := imagegen.ChargeID(""), true; more; {
			open, err := lister.OpenCharges(l.t.Context(), after, page)
			l.is.NoErr(err)
			for _, c := range open {
				l.is.True(c.Same(imagegen.Charge{ID: c.ID, User: alice, Credits: 2}))
				got, after = append(got, c.ID), c.ID
			}
			more = len(open) == page
		}
		l.is.Equal(got, want)
	}
}

func testInsufficient(l *ledger) {
	l.fund(alice, 5)
	l.refused(l.charge("c", alice, 6), imagegen.ErrInsufficientCredits)
	l.refused(l.charge("d", bob, 1), imagegen.ErrInsufficientCredits)
	l.has(alice, 5)
	l.has(bob, 0)
	l.is.NoErr(l.charge("e", alice, 3))
	l.refused(l.charge("f", alice, 3), imagegen.ErrInsufficientCredits) // what is held cannot be charged again
	l.is.NoErr(l.settle("e", 0))
	l.is.NoErr(l.charge("f", alice, 5)) // a refused charge leaves nothing in the way
	l.has(alice, 0)
}

func testChargeConflict(l *ledger) {
	l.fund(alice, 10)
	l.fund(bob, 10)
	l.is.NoErr(l.charge("c", alice, 6))
	l.refused(l.charge("c", alice, 5), imagegen.ErrChargeConflict)
	l.refused(l.charge("c", alice, 20), imagegen.ErrChargeConflict)
	l.refused(l.charge("c", bob, 6), imagegen.ErrChargeConflict)
	l.has(alice, 4)
	l.has(bob, 10)
	l.is.NoErr(l.settle("c", 6)) // the charge that stands
	l.has(alice, 4)
}

func testSettleConflict(l *ledger) {
	l.fund(alice, 10)
	l.is.NoErr(l.charge("c", alice, 6))
	l.refused(l.settle("c", 7), imagegen.ErrChargeConflict)
	l.refused(l.settle("c", -1), imagegen.ErrChargeConflict)
	l.has(alice, 4)
	l.is.NoErr(l.settle("c", 3))
	for _, used := range []imagegen.Credits{0, 2, 6, 7} { // it was settled to another amount
		l.refused(l.settle("c", used), imagegen.ErrChargeConflict)
	}
	l.has(alice, 7)
}

// A charge that comes after it was voided is refused.
func testTombstone(l *ledger) {
	l.fund(alice, 10)
	l.refused(l.settle("late", 3), imagegen.ErrNotFound)
	l.is.NoErr(l.settle("late", 0))
	l.is.NoErr(l.settle("late", 0))
	l.refused(l.settle("late", 3), imagegen.ErrChargeConflict)
	l.refused(l.charge("late", alice, 3), imagegen.ErrChargeClosed)

	l.refused(l.charge("refused", alice, 11), imagegen.ErrInsufficientCredits)
	l.is.NoErr(l.settle("refused", 0))
	l.refused(l.charge("refused", alice, 5), imagegen.ErrChargeClosed)
	l.has(alice, 10)
}

func testUsersApart(l *ledger) {
	users := []imagegen.UserID{"a", "ab", "A", "a b", "ä", "b"}
	for i, u := range users {
		l.fund(u, imagegen.Credits(1+i))
	}
	for i, u := range users {
		l.is.NoErr(l.charge(imagegen.ChargeID(fmt.Sprint("c", i)), u, 1))
		for j, other := range users {
			left := imagegen.Credits(1 + j)
			if j <= i {
				left--
			}
			l.has(other, left)
		}
	}
	l.has("nobody", 0)
}

func testLargestAmount(l *ledger) {
	l.fund(alice, imagegen.MaxCredits)
	l.refused(l.charge("c", bob, imagegen.MaxCredits), imagegen.ErrInsufficientCredits)
	l.is.NoErr(l.charge("d", alice, imagegen.MaxCredits))
	l.has(alice, 0)
	l.is.NoErr(l.settle("d", 1))
	l.has(alice, imagegen.MaxCredits-1)
}

// A caller's change of a returned balance changes nothing in the ledger.
func testBalanceIsTheCallers(l *ledger) {
	l.fund(alice, 10)
	b, err := l.Balance(l.t.Context(), alice)
	l.is.NoErr(err)
	l.is.Equal(b.AccountType, "") // the engine knows it
	if b.NextExpiration != nil {
		b.NextExpiration.Credits = 99
	}
	again, err := l.Balance(l.t.Context(), alice)
	l.is.NoErr(err)
	l.is.Equal(again.Credits, imagegen.Credits(10))
	l.is.True(again.NextExpiration == nil || again.NextExpiration.Credits != 99)
}

// A call whose context has ended does all or nothing, and does not lie about it.
func testLedgerEndedContext(l *ledger) {
	l.fund(alice, 10)
	ctx, cancel := context.WithCancel(l.t.Context())
	cancel()
	l.checkChanged(l.Charge(ctx, imagegen.Charge{ID: "c", User: alice, Credits: 3}), 10, 7)
	l.is.NoErr(l.settle("c", 0)) // in any case: what is in doubt is voided
	l.has(alice, 10)

	l.is.NoErr(l.charge("d", alice, 3))
	l.checkChanged(l.Settle(ctx, "d", 1), 7, 9)
	l.is.NoErr(l.settle("d", 1))
	l.has(alice, 9)
}

// checkChanged checks that a call changed alice's balance as its error says.
func (l *ledger) checkChanged(err error, before, after imagegen.Credits) {
	l.t.Helper()
	b, balanceErr := l.Balance(l.t.Context(), alice)
	l.is.NoErr(balanceErr)
	checkBalance(l.is, b.Credits, err, before, after)
}

func checkBalance(is *is.I, got imagegen.Credits, err error, before, after imagegen.Credits) {
	switch {
	case err == nil:
		is.Equal(got, after)
	case imagegen.Definite(err):
		is.Equal(got, before)
	default:
		is.True(got == before || got == after)
	}
}
