package tables

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// A generation that cannot be read is put aside: its record and its charge stay as they are, but it leaves
// the queue and the leases, so that it stops nobody else. An audit finds it.

// Claim implements [imagegen.Store]. It takes tickets out of the queue before its transaction, so that of two
// calls at once neither can take the same record, and puts them back if the transaction fails.
func (t *Tables) Claim(ctx context.Context, d imagegen.ClaimRequest) ([]imagegen.Record, time.Duration, error) {
	at := t.books.Read()
	taken, next := t.work.claim(d, at)
	claimed, err := t.claim(ctx, taken, at, d.Lease)
	if err != nil {
		return nil, 0, err
	}
	return claimed, next, nil
}

// ClaimAged implements [imagegen.Store], as Claim does.
func (t *Tables) ClaimAged(ctx context.Context, age time.Duration, n int,
	lease time.Duration) ([]imagegen.Record, error) {
	at := t.books.Read()
	return t.claim(ctx, t.work.takeAged(n, age, at), at, lease)
}

// claim begins an attempt at each record whose ticket was taken out of the queue.
func (t *Tables) claim(ctx context.Context, taken []ticket, at clock.Reading,
	lease time.Duration) ([]imagegen.Record, error) {
	if len(taken) == 0 {
		return nil, kv.NotBegun(ctx)
	}
	fences := make([]imagegen.Fence, len(taken))
	for i, t := range taken {
		fences[i] = t.Fence
	}
	claimed, err := t.beginAttempts(ctx, fences, imagegen.ClaimChange{}, at, lease)
	if err != nil { // also if the outcome is unknown: then nothing more is written, and nobody claims them
		t.work.putBack(taken)
		return nil, err
	}
	return claimed, nil
}

// Recover implements [imagegen.Store]. Two calls at once may find the same abandoned records; the fence lets
// only one of them have each.
func (t *Tables) Recover(ctx context.Context, n int, lease time.Duration) ([]imagegen.Record, error) {
	at := t.books.Read()
	abandoned := t.work.abandoned(n, at.Steady)
	if len(abandoned) == 0 {
		return nil, kv.NotBegun(ctx)
	}
	return t.beginAttempts(ctx, abandoned, imagegen.RecoverChange{}, at, lease)
}

// beginAttempts is BeginAttempts in a transaction.
func (t *Tables) beginAttempts(ctx context.Context, fences []imagegen.Fence, c imagegen.Change, at clock.Reading,
	lease time.Duration) (begun []imagegen.Record, err error) {
	err = t.db.Update(ctx, func(tx kv.Tx) (err error) {
		begun, err = BeginAttempts(changes{accounts{tx}, t, at}, fences, c, lease,
			func(id imagegen.GenerationID, why error) { t.postpone(tx, id, why) })
		return err
	})
	if err != nil {
		return nil, err
	}
	return begun, nil
}

// unfit reports whether an error of a write says that a row cannot be read, or that its charge cannot be read or is
// another's. Such a row is put aside, since it would hold up all others at every claim.
func unfit(err error) bool {
	_, damaged := errors.AsType[kv.Damage](err)
	_, broken := errors.AsType[imagegen.Violation](err)
	return damaged || broken
}

// postpone puts an unfit row aside. The row has left the queue already; its lease ends once the
// transaction is durable.
func (t *Tables) postpone(tx kv.Tx, id imagegen.GenerationID, why error) {
	tx.OnCommit(func() {
		t.work.forget(id)
		t.tell(why)
	})
}

func (t *Tables) tell(why error) {
	if t.OnDamage != nil {
		t.OnDamage(fmt.Errorf("a generation that cannot be read, or whose charge does not fit it, was put aside; its charge stays as it is: %w", why))
	}
}

// Extend implements [imagegen.Store]. Leases are in memory, so it writes nothing.
func (t *Tables) Extend(ctx context.Context, lease time.Duration, fences ...imagegen.Fence) ([]imagegen.Fence, error) {
	if err := kv.NotBegun(ctx); err != nil {
		return nil, err
	}
	return t.work.extend(t.books.Read().Steady.Add(lease), fences), nil
}

// Queued implements [imagegen.Store]. Records that are being claimed are not counted.
func (t *Tables) Queued(_ context.Context, u imagegen.UserID) (imagegen.QueueLength, error) {
	return t.work.length(u), nil
}

// Wake implements [imagegen.Store].
func (t *Tables) Wake() <-chan struct{} { return t.work.woken() }
