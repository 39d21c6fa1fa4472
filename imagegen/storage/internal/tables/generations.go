package tables

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/feed"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// Create implements [imagegen.Store]. imagegen.ErrInvalidRequest: the record names no
// user or no generation. An imagegen.Violation: it is not sound.
func (t *Tables) Create(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return t.writeRow(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		stands, err := load(tx, r.ID)
		if !errors.Is(err, imagegen.ErrNotFound) { // a repetition, whatever became of the record since
			return stands, err
		}
		if err := rules.Asked(accounts{tx}, r, at); err != nil {
			return row{}, err
		}
		if err := rules.Unlimited(accounts{tx}, r); err != nil {
			return row{}, err
		}
		return t.replace(tx, row{}, row{Record: r}, at, at.Steady.Add(lease))
	})
}

// Update implements [imagegen.Store]. An operator's change, such as an erasure, gets its row in the audit trail in
// the same transaction.
func (t *Tables) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	actor := account.ActorOf(ctx)
	return t.writeRow(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		from, to, changed, err := applyChange(tx, f, c)
		if err != nil || !changed {
			return from, err
		}
		if done, act := rules.Act(c, from.Record, to.Record); act {
			done.Time, done.Actor = at.Now, actor
			if err := trail.Append(tx, done); err != nil {
				return from, err
			}
		}
		return t.replace(tx, from, to, at, time.Time{})
	})
}

// Generation implements [imagegen.Store].
func (t *Tables) Generation(ctx context.Context, id imagegen.GenerationID) (imagegen.Record, error) {
	r, err := view(ctx, t.db, func(tx kv.Tx) (row, error) { return load(tx, id) })
	return r.Record, err
}

// GenerationByIdempotencyKey implements [imagegen.Store].
func (t *Tables) GenerationByIdempotencyKey(ctx context.Context, u imagegen.UserID,
	key string) (imagegen.Record, error) {
	return view(ctx, t.db, func(tx kv.Tx) (imagegen.Record, error) { return accounts{tx}.Reserved(u, key) })
}

// applyChange reads a row and applies a change to it, without writing. changed is false where the change had taken
// effect before. imagegen.ErrStale: there is no row, or another attempt owns it.
func applyChange(tx kv.Tx, f imagegen.Fence, c imagegen.Change) (from, to row, changed bool, err error) {
	from, err = load(tx, f.ID)
	if errors.Is(err, imagegen.ErrNotFound) {
		return row{}, row{}, false, imagegen.ErrStale
	}
	if err != nil {
		return row{}, row{}, false, err
	}
	to = from
	to.Record, changed, err = from.Apply(f.Attempt, c)
	return from, to, changed, err
}

// replace writes a row in place of another; either may be zero. until is as in work.moved. It fills in
// what the store itself keeps of a row, and returns a copy for the caller. All writes of generations go
// through it, so that work follows each of them.
//
// An imagegen.Violation: the row does not fit the charge that was made in the same commit. A kv.Damage: that charge
// cannot be read. A charge that was made separately may follow rules of its own, so only an audit looks at that.
func (t *Tables) replace(tx kv.Tx, from, to row, at clock.Reading, until time.Time) (row, error) {
	// The time is stored by the judged clock, since a delay has to outlast the process.
	to.Due = time.Time{}
	if to.State == imagegen.StateQueued && to.Delay > 0 {
		to.Due = at.Now.Add(to.Delay)
	}
	// A new record takes its place behind the last one that came with the same idempotency key.
	if from.State == imagegen.StateGone && to.IdempotencyKey != "" {
		former, err := holder(tx, to.User, to.IdempotencyKey)
		if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
			return row{}, err
		}
		to.Nth = former.Nth + 1
	}
	if to.Joint {
		if err := rules.Charged(ledgerkv.Rows(tx), to.Record, true); err != nil {
			return row{}, err
		}
	}
	put(tx, &from, &to)
	if e, some := feed.OfRecord(from.Record, to.Record, at.Now); some && t.feeds.Load() {
		happened(tx, e)
	}
	to.Record = rules.Clone(to.Record) // the caller's r and its slices stay the caller's
	tx.OnCommit(func() { t.work.moved(from, to, at.Steady, until) })
	return to, nil
}

// accounts implements rules.Accounts in a transaction. It reads users and keys from the database and not from
// the caches, so that a revocation and a charge have an order.
type accounts struct{ tx kv.Tx }

func (a accounts) User(id imagegen.UserID) (imagegen.User, error) { return loadUser(a.tx, id) }

func (a accounts) Key(id imagegen.KeyID) (imagegen.Key, error) {
	return keyByID.Find(a.tx, kv.Key(string(id)))
}

func (a accounts) Reserved(u imagegen.UserID, key string) (imagegen.Record, error) {
	r, err := holder(a.tx, u, key)
	return r.Record, err
}

// Joins implements [imagegen.TxStore]. A database that offers these books as its own ledger has to answer for
// itself. No wrapper around the ledger joins, since it may have rules of its own.
func (t *Tables) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(t.books) }

// CreateCharged implements [imagegen.TxStore]. If the record exists as an intent, that is charged and accepted;
// imagegen.ErrStale: recovery has taken it over. A record that is further is returned as it is. All refusals
// come before the first write, so they disturb no neighbour in the same commit.
func (t *Tables) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return t.writeRow(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		stands, err := load(tx, r.ID)
		to := stands
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			to = row{Record: r, Joint: true}
			err = rules.Asked(accounts{tx}, r, at)
		case stands.State != imagegen.StateCharging:
			return stands, err
		}
		if err != nil {
			return row{}, err
		}
		if to.Record, _, err = to.Apply(r.Attempt, imagegen.AcceptChange{}); err != nil {
			return stands, err
		}
		if err := rules.Charge(accounts{tx}, t.books.At(ledgerkv.Rows(tx), at), to.Record); err != nil {
			return row{}, err
		}
		return t.replace(tx, stands, to, at, at.Steady.Add(lease))
	})
}

// FinishSettled implements [imagegen.TxStore]. A record that has ended is returned as it is.
func (t *Tables) FinishSettled(ctx context.Context, f imagegen.Fence,
	o imagegen.OutcomeChange) (imagegen.Record, error) {
	return t.writeRow(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		from, to, _, err := applyChange(tx, f, o)
		if err != nil || to.Terminal() {
			return from, err
		}
		if to.Record, err = rules.Settle(accounts{tx}, t.books.At(ledgerkv.Rows(tx), at), to.Record,
			o.AccountType); err != nil {
			return from, err
		}
		return t.replace(tx, from, to, at, time.Time{})
	})
}
