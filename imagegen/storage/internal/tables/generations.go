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
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
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
	return t.writeRow(ctx, func(c changes) (row, error) { return Create(c, r, lease) })
}

// Update implements [imagegen.Store].
func (t *Tables) Update(ctx context.Context, f imagegen.Fence, c imagegen.Change) (imagegen.Record, error) {
	return t.writeRow(ctx, func(tx changes) (row, error) { return Update(ctx, tx, f, c) })
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

// changes implements Changes in a transaction.
type changes struct {
	accounts
	t  *Tables
	at clock.Reading
}

func (c changes) Load(id imagegen.GenerationID) (Row, error) { return load(c.tx, id) }

func (c changes) Replace(from, to Row, lease time.Duration) (Row, error) {
	var until time.Time
	if lease != Keep {
		until = c.at.Steady.Add(lease)
	}
	return c.t.replace(c.tx, from, to, c.at, until)
}

func (c changes) Books() ledger.Books { return c.t.books.At(ledgerkv.Rows(c.tx), c.at) }

func (c changes) At() clock.Reading { return c.at }

func (c changes) Note(r account.TrailRow) error { return trail.Append(c.tx, r) }

// Joins implements [imagegen.TxStore]. A database that offers these books as its own ledger has to answer for
// itself. No wrapper around the ledger joins, since it may have rules of its own.
func (t *Tables) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(t.books) }

// CreateCharged implements [imagegen.TxStore].
func (t *Tables) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return t.writeRow(ctx, func(c changes) (row, error) { return CreateCharged(c, r, lease) })
}

// FinishSettled implements [imagegen.TxStore].
func (t *Tables) FinishSettled(ctx context.Context, f imagegen.Fence,
	o imagegen.OutcomeChange) (imagegen.Record, error) {
	return t.writeRow(ctx, func(c changes) (row, error) { return FinishSettled(c, f, o) })
}
