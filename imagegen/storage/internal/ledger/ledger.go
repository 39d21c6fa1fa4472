// Package ledger has the rules of credits that are kept in lots, with a journal for each user from which
// everything else follows.
//
// An operation goes through these steps, all in one transaction of a store:
//
//   - It reads the user's account and decides which journal entries are needed (charge.go, grant.go, revoke.go,
//     lot.go). A refusal ends it here, before anything is written.
//   - chain gives each entry its number, its time and its hash.
//   - apply and book compute the rows that an entry leads to, and check every sum (apply.go, usage.go). They
//     are functions of the entry and of the account's rows alone.
//   - Tx.Write writes the entry and these rows. Nothing else changes rows.
//
// So replaying a journal gives the same rows. Check does that for an audit, and Replay for a move. Where the rows
// are kept is the business of a Store: package ledgerkv keeps them in a key-value database, package postgres in its
// tables, and Memory in maps.
package ledger

import (
	"cmp"
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Ledger implements imagegen.CreditAdmin over a store. It is safe for concurrent use, and keeps nothing in memory but
// the clock.
type Ledger struct {
	store Store
	clock *clock.Clock
	gap   time.Duration // how long nobody had the store open before New

	// Granted says in a transaction why a user is granted nothing; nil: everybody can be granted something. A store
	// that knows the users sets it, before the first grant.
	Granted func(Tx, imagegen.UserID) error
	// Wrote is called in a transaction for each entry that was written; nil: nobody wants to know. A store sets it
	// before the first write.
	Wrote func(Tx, clock.Reading, *Change)
}

var _ imagegen.CreditAdmin = (*Ledger)(nil)

// New returns the ledger in a store. wall is the wall clock, which the ledger judges.
func New(store Store, wall func() time.Time) (*Ledger, error) {
	l := &Ledger{store: store, clock: clock.New(wall)}
	err := store.View(context.Background(), func(tx Tx) error {
		l.gap = l.clock.Resume(tx.Clock())
		return nil
	})
	return l, err
}

// Read reads the clock, once for each operation, outside its transaction.
func (l *Ledger) Read() clock.Reading { return l.clock.Read() }

// At opens the books in a transaction, at a time that Read has returned. It lets a store combine the ledger's
// operations with its own in one commit.
func (l *Ledger) At(tx Tx, at clock.Reading) Books { return Books{tx, at, l.clock, l.Granted, l.Wrote} }

// Books are the books in one transaction, and last no longer than that. All their operations see the same time.
type Books struct {
	tx    Tx
	at    clock.Reading
	clock *clock.Clock

	granted func(Tx, imagegen.UserID) error // those of the Ledger
	noted   func(Tx, clock.Reading, *Change)
}

// update reads the clock once, before the transaction: an operation that runs again sees
// the same time, unless the clock was corrected.
func (l *Ledger) update(ctx context.Context, f func(Books) error) error {
	at := l.Read()
	return l.store.Update(ctx, func(tx Tx) error { return f(l.At(tx, l.current(tx, at))) })
}

// current is at, or the corrected time if somebody has corrected the clock since at was read: what is written off by a
// time that is known to be wrong never comes back. The clock in memory follows once the transaction is durable, since
// the correction may be of the same commit.
func (l *Ledger) current(tx Tx, at clock.Reading) clock.Reading {
	mark := tx.Clock()
	if mark.Epoch <= at.Epoch {
		return at
	}
	tx.OnCommit(func() { l.Corrected(mark.Epoch) })
	return clock.Reading{Now: at.Wall, Wall: at.Wall, Steady: at.Steady, Epoch: mark.Epoch, Since: mark.Since}
}

// Charge implements imagegen.Ledger. It knows no limits of API keys, which only a store that has the keys in the same
// transaction can enforce, see Books.Charge.
func (l *Ledger) Charge(ctx context.Context, c imagegen.Charge) error {
	return l.update(ctx, func(b Books) error { return b.Charge(c, Asker{}) })
}

// Settle implements imagegen.Ledger.
func (l *Ledger) Settle(ctx context.Context, id imagegen.ChargeID, used imagegen.Credits) error {
	return l.update(ctx, func(b Books) error { return b.Settle(id, used) })
}

// Grant implements imagegen.CreditAdmin. A repetition leaves no row in the audit trail; a refusal does.
func (l *Ledger) Grant(ctx context.Context, g imagegen.Grant) (granted imagegen.Granted, err error) {
	terms := trail.Fields("credits", g.Credits, "ref", g.Ref, "promo", g.Promo, "priority",
		cmp.Or(g.Priority, imagegen.DefaultPriority), "expires_at", g.Expires)
	err = l.act(ctx, account.ActCreditGrant, g.User, g.Ref, func(b Books) (trail.Change, error) {
		before := b.Balance(g.User)
		if granted, err = b.grant(g, account.ActorOf(ctx)); granted.Repeated {
			return trail.Change{}, err
		}
		return b.changed(g.User, before, terms), err
	})
	return granted, err
}

// Revoke implements imagegen.CreditAdmin. Its row in the audit trail has the credits as a negative number.
func (l *Ledger) Revoke(ctx context.Context, r imagegen.Revocation) (revoked imagegen.Revoked, err error) {
	terms := trail.Fields("credits", -r.Credits, "ref", r.Ref, "lot", r.Lot)
	err = l.act(ctx, account.ActCreditRevoke, r.User, r.Ref, func(b Books) (trail.Change, error) {
		before := b.Balance(r.User)
		if revoked, err = b.revoke(r, account.ActorOf(ctx)); revoked.Repeated {
			return trail.Change{}, err
		}
		return b.changed(r.User, before, terms), err
	})
	return revoked, err
}

// changed describes for the audit trail a user's balance before and now, with the terms of the act.
func (b Books) changed(u imagegen.UserID, before imagegen.Balance, terms string) trail.Change {
	return trail.Change{Target: string(u), User: u, Before: trail.Fields("balance", before.Credits),
		After: trail.Fields("balance", b.Balance(u).Credits) + " " + terms}
}

// act is update for what an operator does with a user's account, with its row in the audit trail.
func (l *Ledger) act(ctx context.Context, act account.Act, u imagegen.UserID, ref string,
	f func(Books) (trail.Change, error)) error {
	at, update := l.Read(), l.store.Update
	if s, foresees := l.store.(Foreseeing); foresees {
		update = func(ctx context.Context, f func(Tx) error) error { return s.UpdateAccount(ctx, u, ref, f) }
	}
	return trail.Act(ctx, at.Now, act, update, Tx.Note, func(tx Tx) (trail.Change, error) {
		return f(l.At(tx, l.current(tx, at)))
	})
}

// checkAmount returns imagegen.ErrInvalidRequest for an amount that nobody can grant, charge or revoke.
func checkAmount(c imagegen.Credits) error {
	if c.Valid() {
		return nil
	}
	return imagegen.Invalid("an amount of credits is from 1 to %d; got %d", imagegen.MaxCredits, c)
}

func checkCharge(id imagegen.ChargeID) error {
	if validID(string(id)) {
		return nil
	}
	return imagegen.Invalid("a charge's identifier is 1 to 255 bytes of UTF-8 without NUL; got %q", id)
}

// checkBill checks what a charge is booked under: these words become keys of rows of usage.
func checkBill(c imagegen.Charge) error {
	if c.N < 0 || c.Model != "" && !validID(c.Model) || c.Key != "" && !validID(string(c.Key)) ||
		strings.HasPrefix(string(c.Key), memberMark) {
		return imagegen.Invalid("a charge names a model and a key of at most 255 bytes of UTF-8 without NUL, and no number of images below 0; got %q, %q and %d", c.Model, c.Key, c.N)
	}
	if c.Member == "" {
		return nil
	}
	return c.Member.Check()
}

func checkRef(ref string) error {
	if ref == "" || validID(ref) {
		return nil
	}
	return imagegen.Invalid("a reference is at most 255 bytes of UTF-8 without NUL; got %q", ref)
}

// validID reports whether an identifier can be part of a row's key, where NUL ends it.
func validID(s string) bool {
	return s != "" && len(s) <= 255 && !strings.Contains(s, "\x00") && utf8.ValidString(s)
}
