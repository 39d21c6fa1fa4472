package tables

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger/ledgerkv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// Joins implements [imagegen.JointStore]. A database that is itself a ledger by these books has to
// add itself. Nothing is unwrapped: a wrapper around the ledger may have rules of its own.
func (t *Tables) Joins(l imagegen.Ledger) bool { return l == imagegen.Ledger(t.books) }

// CreateCharged implements [imagegen.JointStore]. An intent that stands is charged and accepted;
// imagegen.ErrStale: recovery has taken it over.
func (t *Tables) CreateCharged(ctx context.Context, r imagegen.Record, lease time.Duration) (imagegen.Record, error) {
	if err := rules.New(r); err != nil {
		return imagegen.Record{}, err
	}
	return t.write(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		stands, err := load(tx, r.ID)
		to := stands
		switch {
		case errors.Is(err, imagegen.ErrNotFound):
			to = row{Record: r, Joint: true}
			err = rules.Asked(accounts{tx}, r)
		case stands.State != imagegen.StateCharging:
			return stands, err
		}
		if err != nil {
			return row{}, err
		}
		if to.Record, _, err = to.Apply(r.Attempt, imagegen.Accept{}); err != nil {
			return stands, err
		}
		if err := rules.Charge(accounts{tx}, t.books.At(ledgerkv.Rows(tx), at), to.Record); err != nil {
			return row{}, err
		}
		return t.replace(tx, stands, to, at, at.Steady.Add(lease))
	})
}

// FinishSettled implements [imagegen.JointStore].
func (t *Tables) FinishSettled(ctx context.Context, f imagegen.Fence, o imagegen.Outcome) (imagegen.Record, error) {
	return t.write(ctx, func(tx kv.Tx, at clock.Reading) (row, error) {
		from, to, _, err := apply(tx, f, o)
		if err != nil || to.Terminal() {
			return from, err
		}
		if to.Record, err = rules.Settle(t.books.At(ledgerkv.Rows(tx), at), to.Record, o.AccountType); err != nil {
			return from, err
		}
		return t.replace(tx, from, to, at, time.Time{})
	})
}
