package ledger

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Balance is what a user can spend at this time. An invalid user has nothing.
func (b Books) Balance(u imagegen.UserID) (balance imagegen.Balance) {
	if u.Valid() {
		balance = b.accountOf(u).balance()
	}
	return balance
}

// Owns reports whether a user has credits, or some are held for open charges.
func (b Books) Owns(u imagegen.UserID) bool {
	a := b.accountOf(u)
	return a.balance().Credits+a.Held > 0
}

// Balance implements imagegen.Ledger.
func (l *Ledger) Balance(ctx context.Context, u imagegen.UserID) (balance imagegen.Balance, err error) {
	err = l.view(ctx, u, func(a *openAccount) error { balance = a.balance(); return nil })
	return balance, err
}

// Lots implements imagegen.CreditAdmin. It reads all lots that the user ever had; Holdings does not.
func (l *Ledger) Lots(ctx context.Context, u imagegen.UserID) (lots []imagegen.Lot, err error) {
	err = l.view(ctx, u, func(a *openAccount) error {
		found := slices.Collect(a.tx.Lots(u))
		slices.SortFunc(found, Lot.Compare)
		lots = nil
		for _, l := range found {
			if lot := l.public(a.at.Now); lot.Remaining > 0 || lot.Held > 0 {
				lots = append(lots, lot)
			}
		}
		return nil
	})
	return lots, err
}

// Holdings implements imagegen.CreditAdmin. It passes over lots that have expired since Expire last ran.
func (l *Ledger) Holdings(ctx context.Context, u imagegen.UserID, n int) (h imagegen.Holdings, err error) {
	err = l.view(ctx, u, func(a *openAccount) error {
		h = imagegen.Holdings{Held: a.Held}
		for l := range a.tx.Spendable(u) {
			if l.expired(a.at.Now) {
				continue
			}
			if h.More = len(h.Lots) == n; h.More {
				break
			}
			h.Lots = append(h.Lots, l.public(a.at.Now))
		}
		return nil
	})
	return h, err
}

// History implements imagegen.CreditAdmin. Numbers have no gaps, so each entry is found by its own.
func (l *Ledger) History(ctx context.Context, u imagegen.UserID, before uint64,
	limit int) (entries []imagegen.Entry, err error) {
	err = l.view(ctx, u, func(a *openAccount) error {
		entries = nil
		for seq := min(a.Seq, cmp.Or(before, a.Seq+1)-1); seq > 0 && len(entries) < limit; seq-- {
			e, known := a.tx.Entry(Place{u, seq})
			if !known {
				return fmt.Errorf("ledger: %s is missing; run an audit", Place{u, seq}.subject())
			}
			entries = append(entries, e.Entry)
		}
		return nil
	})
	return entries, err
}

// view runs f over a user's account, in a snapshot. For an invalid user it does nothing, since the key of such an
// account could be the beginning of another's.
func (l *Ledger) view(ctx context.Context, u imagegen.UserID, f func(*openAccount) error) error {
	if !u.Valid() {
		return nil
	}
	at := l.Read()
	return l.store.View(ctx, func(tx Tx) error { return f(l.At(tx, at).accountOf(u)) })
}
