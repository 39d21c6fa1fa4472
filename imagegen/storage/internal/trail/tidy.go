package trail

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// maxRemoved is the most rows that one transaction removes, so that it stays short.
const maxRemoved = 1000

// TidyTrail implements [account.TrailStore].
func (t *Trail) TidyTrail(ctx context.Context, before time.Time) error {
	if err := t.WriteDue(ctx); err != nil || before.IsZero() {
		return err
	}
	for more := true; more; {
		err := t.db.Update(ctx, func(tx kv.Tx) (err error) {
			more, err = trim(tx, before)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Corrects reports whether a row is that of a correction of the clock.
func Corrects(r account.TrailRow) bool {
	return r.Act == account.ActClockConfirm && r.Outcome == account.TrailDone
}

// Written is when a row was written. correction is the row of the last correction of the clock: no row before it was
// written later, whatever a clock said that ran fast.
func Written(r, correction account.TrailRow) time.Time {
	if r.Seq < correction.Seq && r.Time.After(correction.Time) {
		return correction.Time
	}
	return r.Time
}

// lastCorrection reads the row of the last correction of the clock; the zero row if there is none any more.
func lastCorrection(tx kv.Tx) (r Stored, err error) {
	at, err := readEnd(tx, corrected)
	if stored := tx.Get(Rows, kv.Key(at.Seq)); err == nil && stored != nil {
		r, err = Decode(stored)
	}
	return r, err
}

// trim removes rows from the oldest on, up to the first that is not older than before, and reports whether there
// may be more to remove. The hash of the last removed row stays, for Check to begin with. A row that cannot be
// read stops it, since it may be evidence.
func trim(tx kv.Tx, before time.Time) (more bool, err error) {
	correction, err := lastCorrection(tx)
	if err != nil {
		return false, err
	}
	var last End
	var keys [][]byte
	tx.Ascend(Rows, nil, func(key, stored []byte) bool {
		r, wrong := Decode(stored)
		if err = wrong; err != nil || len(keys) == maxRemoved ||
			!Written(r.TrailRow, correction.TrailRow).Before(before) {
			return false
		}
		last = End{r.Seq, r.Hash}
		keys = append(keys, append([]byte(nil), key...))
		return true
	})
	if err != nil || len(keys) == 0 {
		return false, err
	}
	for _, key := range keys {
		tx.Delete(Rows, key)
	}
	last.store(tx, removed)
	return len(keys) == maxRemoved, nil
}
