package tables

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/clock"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// What a transaction does to generations, in the databases that keep them: this package's, and PostgreSQL's tables. All
// refusals come before the first write, so they disturb no neighbour in the same commit. With an error a row may be
// returned: the one that stands in the way.

// Changes is a transaction in which generations change, at one time.
type Changes interface {
	rules.Accounts
	// Load reads a row. imagegen.ErrNotFound.
	Load(imagegen.GenerationID) (Row, error)
	// Replace writes to in the place of from, which is as it was read; either may be zero. It returns what it wrote. An
	// attempt that runs has a lease from now on; Keep: it keeps the one that it has.
	Replace(from, to Row, lease time.Duration) (Row, error)
	Books() ledger.Books
	At() clock.Reading
	Note(account.TrailRow) error
}

// Keep stands for the lease that an attempt has already.
const Keep = time.Duration(math.MinInt64)

// Create is that of imagegen.Store. A record that is there is returned, whatever became of it since.
func Create(tx Changes, r imagegen.Record, lease time.Duration) (Row, error) {
	stands, err := tx.Load(r.ID)
	if !errors.Is(err, imagegen.ErrNotFound) {
		return stands, err
	}
	if err := rules.Asked(tx, r, tx.At()); err != nil {
		return Row{}, err
	}
	if err := rules.Unlimited(tx, r); err != nil {
		return Row{}, err
	}
	return tx.Replace(Row{}, Row{Record: r}, lease)
}

// CreateCharged is that of imagegen.TxStore. An intent that was not charged yet is charged and accepted;
// imagegen.ErrStale: recovery has taken it over. A record that is further is returned as it is.
func CreateCharged(tx Changes, r imagegen.Record, lease time.Duration) (Row, error) {
	stands, err := tx.Load(r.ID)
	to := stands
	switch {
	case errors.Is(err, imagegen.ErrNotFound):
		to = Row{Record: r, Joint: true}
		err = rules.Asked(tx, r, tx.At())
	case stands.State != imagegen.StateCharging:
		return stands, err
	}
	if err != nil {
		return Row{}, err
	}
	if to.Record, _, err = to.Apply(r.Attempt, imagegen.AcceptChange{}); err != nil {
		return stands, err
	}
	if err := rules.Charge(tx, tx.Books(), to.Record); err != nil {
		return Row{}, err
	}
	return tx.Replace(stands, to, lease)
}

// Update is that of imagegen.Store. An operator's change, such as an erasure, comes with a row in the audit trail,
// which tells of what was there.
func Update(ctx context.Context, tx Changes, f imagegen.Fence, c imagegen.Change) (Row, error) {
	from, to, changed, err := applyChange(tx, f, c)
	if err != nil || !changed {
		return from, err
	}
	if done, act := rules.Act(c, from.Record, to.Record); act {
		done.Time, done.Actor = tx.At().Now, account.ActorOf(ctx)
		if err := tx.Note(done); err != nil {
			return from, err
		}
	}
	return tx.Replace(from, to, Keep)
}

// FinishSettled is that of imagegen.TxStore. A record that has ended before is returned as it is: a repetition settles
// nothing again.
func FinishSettled(tx Changes, f imagegen.Fence, o imagegen.OutcomeChange) (Row, error) {
	from, to, _, err := applyChange(tx, f, o)
	if err != nil || to.Terminal() {
		return from, err
	}
	if to.Record, err = rules.Settle(tx, tx.Books(), to.Record, o.AccountType); err != nil {
		return from, err
	}
	return tx.Replace(from, to, Keep)
}

// BeginAttempts applies a change that begins an attempt to each of some records, leases them, and returns them. It
// leaves out those that somebody else has changed meanwhile, and those that are unfit, with which it calls aside.
func BeginAttempts(tx Changes, fences []imagegen.Fence, c imagegen.Change, lease time.Duration,
	aside func(imagegen.GenerationID, error)) (begun []imagegen.Record, err error) {
	for _, f := range fences {
		from, to, changed, err := applyChange(tx, f, c)
		if errors.Is(err, imagegen.ErrStale) || errors.Is(err, imagegen.ErrTransition) || err == nil && !changed {
			continue
		}
		if err == nil {
			to, err = tx.Replace(from, to, lease)
		}
		if unfit(err) {
			aside(f.ID, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		begun = append(begun, to.Record)
	}
	return begun, nil
}

// applyChange reads a row and applies a change to it, without writing. changed is false where the change had taken
// effect before. imagegen.ErrStale: there is no row, or another attempt owns it. The other errors are those of
// Record.Apply.
func applyChange(tx Changes, f imagegen.Fence, c imagegen.Change) (from, to Row, changed bool, err error) {
	from, err = tx.Load(f.ID)
	if errors.Is(err, imagegen.ErrNotFound) {
		return Row{}, Row{}, false, imagegen.ErrStale
	}
	if err != nil {
		return Row{}, Row{}, false, err
	}
	to = from
	to.Record, changed, err = from.Apply(f.Attempt, c)
	return from, to, changed, err
}
