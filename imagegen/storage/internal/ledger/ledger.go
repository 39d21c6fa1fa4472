// Package ledger keeps credits in lots, with a journal that everything else follows from.
//
// An operation decides, by reading, which journal entries it needs; apply makes the state out of
// them, and nothing else writes it. So replaying the journal into an empty database gives the same
// bytes, which is what Check does.
package ledger

import (
	"cmp"
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Ledger implements imagegen.CreditAdmin over a key-value database. It is safe for concurrent use.
type Ledger struct {
	db    kv.DB
	clock *clock.Clock
	gap   time.Duration // that nobody had it open
}

var _ imagegen.CreditAdmin = (*Ledger)(nil)

// New returns the ledger in db. wall is the wall clock, which the ledger judges.
func New(db kv.DB, wall func() time.Time) (*Ledger, error) {
	l := &Ledger{db: db, clock: clock.New(wall)}
	err := db.View(context.Background(), func(tx kv.Tx) error {
		mark, err := readMark(tx)
		h := readHead(tx)
		l.gap = l.clock.Resume(mark, h.time, h.epoch)
		return err
	})
	return l, err
}

// Read reads the clock, once for each operation, outside its transaction.
func (l *Ledger) Read() clock.Reading { return l.clock.Read() }

// At opens the books in a transaction, at a time that Read has told.
func (l *Ledger) At(tx kv.Tx, at clock.Reading) Books {
	return Books{tx: tx, now: at.Now, at: at, clock: l.clock}
}

// Books are the books in one transaction.
type Books struct {
	tx    kv.Tx
	now   time.Time // by which lots lapse
	at    clock.Reading
	clock *clock.Clock
}

func (l *Ledger) update(ctx context.Context, f func(Books) error) error {
	at := l.Read()
	return l.db.Update(ctx, func(tx kv.Tx) error { return f(l.At(tx, at)) })
}

func (l *Ledger) view(ctx context.Context, f func(Books) error) error {
	at := l.Read()
	return l.db.View(ctx, func(tx kv.Tx) error { return f(l.At(tx, at)) })
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

// Grant implements imagegen.CreditAdmin.
func (l *Ledger) Grant(ctx context.Context, g imagegen.Grant) (granted imagegen.Granted, err error) {
	terms := trail.Fields("credits", g.Credits, "ref", g.Ref, "promo", g.Promo, "priority", cmp.Or(g.Priority, imagegen.DefaultPriority), "expires_at", g.Expires)
	err = l.act(ctx, imagegen.ActCreditGrant, func(b Books) (trail.Change, error) {
		before := b.Balance(g.User)
		if granted, err = b.grant(g, imagegen.ActorOf(ctx)); granted.Repeated {
			return trail.Change{}, err
		}
		return b.changed(g.User, before, terms), err
	})
	return granted, err
}

// Revoke implements imagegen.CreditAdmin.
func (l *Ledger) Revoke(ctx context.Context, r imagegen.Revocation) (revoked imagegen.Revoked, err error) {
	terms := trail.Fields("credits", -r.Credits, "ref", r.Ref, "lot", r.Lot)
	err = l.act(ctx, imagegen.ActCreditRevoke, func(b Books) (trail.Change, error) {
		before := b.Balance(r.User)
		if revoked, err = b.revoke(r, imagegen.ActorOf(ctx)); revoked.Repeated {
			return trail.Change{}, err
		}
		return b.changed(r.User, before, terms), err
	})
	return revoked, err
}

// changed tells of a user's balance before and now.
func (b Books) changed(u imagegen.UserID, before imagegen.Balance, terms string) trail.Change {
	return trail.Change{Target: string(u), User: u, Before: trail.Fields("balance", before.Credits),
		After: trail.Fields("balance", b.Balance(u).Credits) + " " + terms}
}

// act is update for what an operator does, with its row in the audit trail.
func (l *Ledger) act(ctx context.Context, act imagegen.Act, f func(Books) (trail.Change, error)) error {
	at := l.Read()
	return trail.Act(ctx, l.db, at.Wall, act, func(tx kv.Tx) (trail.Change, error) { return f(l.At(tx, at)) })
}
