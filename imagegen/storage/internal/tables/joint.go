package tables

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// Joins implements [imagegen.JointStore]. A database that is a ledger by these books says so of
// itself as well; nothing is unwrapped, for a wrapper may have rules of its own.
func (t *Tables) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(t.books) }

// CreateCharged implements [imagegen.JointStore]. An intent that stands is charged and accepted;
// imagegen.ErrStale if recovery owns it.
func (t *Tables) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := checkNew(r); err != nil {
		return imagegen.Record{}, err
	}
	at := t.books.Now()
	return t.write(ctx, func(tx kv.Tx, now time.Time) (row, error) {
		from, to := row{}, row{Record: r, joint: true}
		stands, err := load(tx, r.ID)
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			err = checkReserved(tx, r)
		case err == nil && stands.State == imagegen.StateCharging:
			from, to = stands, stands
		default:
			return stands, err
		}
		if err != nil {
			return row{}, err
		}
		if to.Record, _, err = to.Apply(r.Attempt, imagegen.Accept{}); err != nil {
			return to, err
		}
		if err := t.books.At(tx, at).Charge(r.Charge()); err != nil {
			return row{}, err
		}
		return t.replace(tx, from, to, now, now.Add(lease))
	})
}

// FinishSettled implements [imagegen.JointStore]. imagegen.ErrNotFound: the charge was not made here.
func (t *Tables) FinishSettled(ctx context.Context, f imagegen.Fence, o imagegen.Outcome) (imagegen.Record, error) {
	at := t.books.Now()
	return t.write(ctx, func(tx kv.Tx, now time.Time) (row, error) {
		from, to, _, err := apply(tx, f, o)
		if err != nil || to.Terminal() {
			return from, err
		}
		books := t.books.At(tx, at)
		if err := books.Settle(to.Charge().ID, to.Used()); err != nil {
			return from, err
		}
		var balance *imagegen.Balance
		if to.WantsBalance() {
			b := books.Balance(to.User)
			b.AccountType = o.AccountType
			balance = &b
		}
		if to.Record, _, err = to.Apply(f.Attempt, imagegen.Close{Balance: balance}); err != nil {
			return row{}, err
		}
		return t.replace(tx, from, to, now, time.Time{})
	})
}
