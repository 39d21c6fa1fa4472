// Package ledger keeps credits in lots, with a journal that everything else follows from.
//
// An operation decides, by reading, which journal entries it needs; apply makes the state out of
// them, and nothing else writes it. So replaying the journal into an empty database gives the same
// bytes, which is what Check does.
package ledger

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Ledger implements imagegen.Bookkeeper over a key-value database. It is safe for concurrent use.
type Ledger struct {
	db    kv.DB
	clock *clock
}

var _ imagegen.Bookkeeper = (*Ledger)(nil)

// New returns the ledger in db. now tells the time.
func New(db kv.DB, now func() time.Time) (*Ledger, error) {
	l := &Ledger{db: db, clock: &clock{wall: now}}
	err := db.View(context.Background(), func(tx kv.Tx) error {
		l.clock.trust(readHead(tx).time)
		l.clock.trust(readSeen(tx))
		return nil
	})
	return l, err
}

// Now is the ledger's time, to be read once for each operation, outside its transaction.
func (l *Ledger) Now() time.Time { return l.clock.now() }

// At opens the books in a transaction, at a time that Now has told.
func (l *Ledger) At(tx kv.Tx, now time.Time) Books {
	if head := readHead(tx).time; now.Before(head) {
		now = head // the ledger's time never runs backwards
	}
	return Books{tx: tx, now: now}
}

// Books are the books in one transaction.
type Books struct {
	tx  kv.Tx
	now time.Time
}

func (l *Ledger) update(ctx context.Context, f func(Books) error) error {
	now := l.Now()
	return l.db.Update(ctx, func(tx kv.Tx) error { return f(l.At(tx, now)) })
}

func (l *Ledger) view(ctx context.Context, f func(Books) error) error {
	now := l.Now()
	return l.db.View(ctx, func(tx kv.Tx) error { return f(l.At(tx, now)) })
}

// Charge implements imagegen.Ledger.
func (l *Ledger) Charge(ctx context.Context, c imagegen.Charge) error {
	return l.update(ctx, func(b Books) error { return b.Charge(c) })
}

// Settle implements imagegen.Ledger.
func (l *Ledger) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return l.update(ctx, func(b Books) error { return b.Settle(id, used) })
}

// Balance implements imagegen.Ledger.
func (l *Ledger) Balance(ctx context.Context, u imagegen.UserID) (balance imagegen.Balance, err error) {
	err = l.view(ctx, func(b Books) error {
		balance = b.Balance(u)
		return nil
	})
	return balance, err
}

// Grant implements imagegen.Bookkeeper.
func (l *Ledger) Grant(ctx context.Context, g imagegen.Grant) (lot imagegen.Lot, err error) {
	err = l.update(ctx, func(b Books) error {
		lot, err = b.grant(g)
		return err
	})
	return lot, err
}

// Revoke implements imagegen.Bookkeeper.
func (l *Ledger) Revoke(ctx context.Context, r imagegen.Revocation) (entry imagegen.Entry, err error) {
	err = l.update(ctx, func(b Books) error {
		entry, err = b.revoke(r)
		return err
	})
	return entry, err
}
