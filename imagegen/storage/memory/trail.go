package memory

import (
	"context"
	"iter"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/ledger"
	"github.com/imagegend/imagegend/imagegen/storage/internal/trail"
)

// trails implements account.TrailStore, in the transactions of a ledger. Its rows have no hashes: nobody can change
// them behind its back.
type trails struct {
	*trail.Failures
	rows *ledger.Memory // its transactions guard the fields below
	now  func() time.Time

	kept       []account.TrailRow // oldest first
	removed    uint64             // how many older rows were removed, so that numbers go on
	correction account.TrailRow   // the last one of the clock
}

// newTrails makes the ledger's rows and the trail together, since each act writes both.
func newTrails(now func() time.Time) *trails {
	t := &trails{now: now}
	t.rows = ledger.NewMemory(t.appendRow)
	t.Failures = trail.NewFailures(now, t.appendRows)
	return t
}

// appendRow puts a row at the end, within a transaction. It never fails, so an act that has its row added last cannot
// be rolled back after that.
func (t *trails) appendRow(r account.TrailRow) error {
	r = trail.Kept(r)
	r.Seq = t.removed + uint64(len(t.kept)) + 1
	t.kept = append(t.kept, r)
	if trail.Corrects(r) {
		t.correction = r
	}
	return nil
}

// appendRows puts rows at the end, in a transaction of their own.
func (t *trails) appendRows(ctx context.Context, rows []account.TrailRow) error {
	return t.rows.Update(ctx, func(ledger.Tx) error {
		for _, r := range rows {
			_ = t.appendRow(r) // it never fails
		}
		return nil
	})
}

// Note implements [account.TrailStore].
func (t *trails) Note(ctx context.Context, r account.TrailRow) error {
	r.Time, r.Actor = t.now(), account.ActorOf(ctx)
	return t.appendRows(ctx, []account.TrailRow{r})
}

// Trail implements [account.TrailStore].
func (t *trails) Trail(ctx context.Context, q account.TrailQuery) (p account.TrailPage, err error) {
	if err := t.WriteDue(ctx); err != nil {
		return p, err
	}
	err = t.rows.View(ctx, func(ledger.Tx) error {
		p, err = trail.Page(q, t.downwards(q.Before))
		return err
	})
	return p, err
}

// downwards goes over the rows whose numbers are lower than before, newest first; 0: over all.
func (t *trails) downwards(before uint64) iter.Seq2[account.TrailRow, error] {
	return func(yield func(account.TrailRow, error) bool) {
		for i := len(t.kept) - 1; i >= 0; i-- {
			if r := t.kept[i]; (before == 0 || r.Seq < before) && !yield(r, nil) {
				return
			}
		}
	}
}

// TidyTrail implements [account.TrailStore]. It stops at the first row that is not older, as the contract's order
// wants.
func (t *trails) TidyTrail(ctx context.Context, before time.Time) error {
	if err := t.WriteDue(ctx); err != nil {
		return err
	}
	return t.rows.Update(ctx, func(ledger.Tx) error {
		for len(t.kept) > 0 && trail.Written(t.kept[0], t.correction).Before(before) {
			t.kept = t.kept[1:]
			t.removed++
		}
		return nil
	})
}
