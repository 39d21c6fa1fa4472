package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// Ledger runs the contract of imagegen.Ledger. open returns an empty ledger; fund gives a user
// credits in it.
func Ledger(t *testing.T, open func(t *testing.T) imagegen.Ledger,
	fund func(ctx context.Context, l imagegen.Ledger, u imagegen.UserID, c imagegen.Credits) error) {
	for name, test := range map[string]func(*ledgerTest){
		"a charge takes, a settlement gives back": (*ledgerTest).takesAndGivesBack,
		"repetition changes nothing":              (*ledgerTest).repetition,
		"refusals change nothing":                 (*ledgerTest).refusals,
		"conflicts":                               (*ledgerTest).conflicts,
		"a late charge finds the mark":            (*ledgerTest).tombstone,
		"users are apart":                         (*ledgerTest).usersApart,
		"the largest amount":                      (*ledgerTest).largest,
		"a context that has ended":                (*ledgerTest).endedContext,
		"racing for a third":                      (*ledgerTest).race,
		"one charge by many":                      (*ledgerTest).oneChargeByMany,
	} {
		t.Run(name, func(t *testing.T) {
			l := &ledgerTest{T: t, is: is.New(t), Ledger: open(t)}
			l.fund = func(u imagegen.UserID, c imagegen.Credits) { t.Helper(); l.is.NoErr(fund(t.Context(), l.Ledger, u, c)) }
			test(l)
			audit(t, l.Ledger)
		})
	}
}

type ledgerTest struct {
	*testing.T
	imagegen.Ledger
	is   *is.I
	fund func(imagegen.UserID, imagegen.Credits)
}

func (l *ledgerTest) has(u imagegen.UserID, want imagegen.Credits) {
	l.Helper()
	b, err := l.Balance(l.Context(), u)
	l.is.NoErr(err)
	l.is.Equal(b.Credits, want)
}

func (l *ledgerTest) charge(id string, u imagegen.UserID, c imagegen.Credits) error {
	return l.Charge(l.Context(), imagegen.Charge{ID: imagegen.ChargeID(id), User: u, Credits: c})
}

func (l *ledgerTest) settle(id string, used imagegen.Credits) error {
	return l.Settle(l.Context(), imagegen.ChargeID(id), used)
}

func (l *ledgerTest) takesAndGivesBack() {
	l.fund("alice", 10)
	for used := range imagegen.Credits(4) { // nothing, some, some, all
		before, err := l.Balance(l.Context(), "alice")
		l.is.NoErr(err)
		id := fmt.Sprint("c", used)
		l.is.NoErr(l.charge(id, "alice", 3))
		l.has("alice", before.Credits-3)
		l.is.NoErr(l.settle(id, used))
		l.has("alice", before.Credits-used)
	}
	l.has("alice", 4)
}

func (l *ledgerTest) repetition() {
	l.fund("alice", 10)
	for range 3 {
		l.is.NoErr(l.charge("c", "alice", 6))
		l.has("alice", 4)
	}
	for range 3 {
		l.is.NoErr(l.settle("c", 2))
		l.has("alice", 8)
	}
	l.is.True(errors.Is(l.charge("c", "alice", 6), imagegen.ErrChargeClosed)) // it has ended
	l.has("alice", 8)
}

func (l *ledgerTest) refusals() {
	l.fund("alice", 5)
	l.is.True(errors.Is(l.charge("c", "alice", 6), imagegen.ErrInsufficientCredits))
	l.is.True(errors.Is(l.charge("d", "nobody", 1), imagegen.ErrInsufficientCredits))
	l.has("alice", 5)
	l.has("nobody", 0)
	l.is.NoErr(l.charge("c", "alice", 5)) // a refused charge leaves nothing in the way
	l.has("alice", 0)
}

func (l *ledgerTest) conflicts() {
	l.fund("alice", 10)
	l.fund("bob", 10)
	l.is.NoErr(l.charge("c", "alice", 6))
	l.is.True(errors.Is(l.charge("c", "alice", 5), imagegen.ErrChargeConflict))
	l.is.True(errors.Is(l.charge("c", "bob", 6), imagegen.ErrChargeConflict))
	l.is.True(errors.Is(l.settle("c", 7), imagegen.ErrChargeConflict))
	l.is.True(errors.Is(l.settle("c", -1), imagegen.ErrChargeConflict))
	l.is.NoErr(l.settle("c", 6))
	for _, used := range []imagegen.Credits{0, 5, 7} {
		l.is.True(errors.Is(l.settle("c", used), imagegen.ErrChargeConflict)) // settled to another amount
	}
	l.has("alice", 4)
	l.has("bob", 10)
}

func (l *ledgerTest) tombstone() {
	l.fund("alice", 10)
	l.is.True(errors.Is(l.settle("late", 3), imagegen.ErrNotFound))
	l.is.NoErr(l.settle("late", 0))
	l.is.NoErr(l.settle("late", 0))
	l.is.True(errors.Is(l.charge("late", "alice", 3), imagegen.ErrChargeClosed))
	l.has("alice", 10)
}

func (l *ledgerTest) usersApart() {
	l.fund("a", 1)
	l.fund("ab", 2)
	l.fund("a b", 4)
	l.is.NoErr(l.charge("c", "a", 1))
	l.has("a", 0)
	l.has("ab", 2)
	l.has("a b", 4)
}

func (l *ledgerTest) largest() {
	l.fund("alice", imagegen.MaxCredits)
	l.is.NoErr(l.charge("c", "alice", imagegen.MaxCredits))
	l.has("alice", 0)
	l.is.NoErr(l.settle("c", 1))
	l.has("alice", imagegen.MaxCredits-1)
}

func (l *ledgerTest) endedContext() {
	l.fund("alice", 10)
	ctx, cancel := context.WithCancel(l.Context())
	cancel()
	err := l.Ledger.Charge(ctx, imagegen.Charge{ID: "c", User: "alice", Credits: 3})
	b, balanceErr := l.Balance(l.Context(), "alice")
	l.is.NoErr(balanceErr)
	l.is.True(b.Credits == 10 || b.Credits == 7)
	if err == nil {
		l.is.Equal(b.Credits, imagegen.Credits(7)) // it said so
	} else if imagegen.Definite(err) {
		l.is.Equal(b.Credits, imagegen.Credits(10)) // it said so
	}
	l.is.NoErr(l.settle("c", 0)) // in any case: what is in doubt is closed
	l.has("alice", 10)
}

// race lets 64 callers charge for three times what there is.
func (l *ledgerTest) race() {
	const callers, each, price = 64, 6, 5
	l.fund("alice", callers*each*price/3)
	var taken, spent atomic.Int64
	errs := make(chan error, callers*each)
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := range each {
				id, used := fmt.Sprint(c, "-", i), imagegen.Credits(i%(price+1))
				switch err := l.charge(id, "alice", price); {
				case err == nil:
					taken.Add(1)
					spent.Add(int64(used))
					errs <- l.settle(id, used)
				case errors.Is(err, imagegen.ErrInsufficientCredits):
					errs <- l.settle(id, 0)
				default:
					errs <- err
				}
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		l.is.NoErr(err)
	}
	l.is.True(taken.Load() >= callers*each/3)
	l.has("alice", callers*each*price/3-imagegen.Credits(spent.Load()))
}

func (l *ledgerTest) oneChargeByMany() {
	l.fund("alice", 100)
	errs := make(chan error, 64)
	for range 32 {
		go func() { errs <- l.charge("c", "alice", 7) }()
	}
	for range 32 {
		l.is.NoErr(<-errs)
	}
	l.has("alice", 93)
	for range 32 {
		go func() { errs <- l.settle("c", 3) }()
	}
	for range 32 {
		l.is.NoErr(<-errs)
	}
	l.has("alice", 97)
}

// Bookkeeper runs the contract of imagegen.Bookkeeper beyond that of Ledger. open returns an
// empty one.
func Bookkeeper(t *testing.T, open func(t *testing.T) imagegen.Bookkeeper) {
	t.Run("ledger", func(t *testing.T) {
		Ledger(t, func(t *testing.T) imagegen.Ledger { return open(t) }, func(ctx context.Context, l imagegen.Ledger, u imagegen.UserID, c imagegen.Credits) error {
			_, err := l.(imagegen.Bookkeeper).Grant(ctx, imagegen.Grant{User: u, Credits: c})
			return err
		})
	})
	t.Run("references make repetition safe", func(t *testing.T) {
		is, b := is.New(t), open(t)
		for range 3 {
			_, err := b.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 10, Ref: "r"})
			is.NoErr(err)
			_, err = b.Revoke(t.Context(), imagegen.Revocation{User: "alice", Credits: 4, Ref: "s"})
			is.NoErr(err)
		}
		_, err := b.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 11, Ref: "r"})
		is.True(errors.Is(err, imagegen.ErrGrantConflict))
		_, err = b.Revoke(t.Context(), imagegen.Revocation{User: "bob", Credits: 4, Ref: "s"})
		is.True(errors.Is(err, imagegen.ErrGrantConflict))
		balance, err := b.Balance(t.Context(), "alice")
		is.NoErr(err)
		is.Equal(balance.Credits, imagegen.Credits(6))
		audit(t, b)
	})
	t.Run("lots and history tell the same", func(t *testing.T) {
		is, b := is.New(t), open(t)
		for _, priority := range []int{60, 40, 50} {
			_, err := b.Grant(t.Context(), imagegen.Grant{User: "alice", Credits: 10, Priority: priority})
			is.NoErr(err)
		}
		is.NoErr(b.Charge(t.Context(), imagegen.Charge{ID: "c", User: "alice", Credits: 15}))
		lots, err := b.Lots(t.Context(), "alice")
		is.NoErr(err)
		got := map[int][2]imagegen.Credits{}
		for _, l := range lots {
			got[l.Priority] = [2]imagegen.Credits{l.Remaining, l.Held}
		}
		is.Equal(cmp.Diff(map[int][2]imagegen.Credits{40: {0, 10}, 50: {5, 5}, 60: {10, 0}}, got), "")
		is.NoErr(b.Settle(t.Context(), "c", 12))
		history, err := b.History(t.Context(), "alice", 0, 100)
		is.NoErr(err)
		var sum imagegen.Credits
		for i, e := range history {
			sum += e.Credits
			is.True(i == 0 || e.Seq < history[i-1].Seq) // newest first
		}
		is.Equal(sum, imagegen.Credits(18))
		is.Equal(history[0].Balance, imagegen.Credits(18))
		audit(t, b)
	})
}
