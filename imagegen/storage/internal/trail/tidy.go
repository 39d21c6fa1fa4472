package trail

import (
	"context"
	"time"

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

// trim removes rows from the oldest on, up to the first that is not older than before, and reports whether there
// may be more to remove. The hash of the last removed row stays, for Check to begin with. A row that cannot be
// read stops it, since it may be evidence.
func trim(tx kv.Tx, before time.Time) (more bool, err error) {
	var last end
	var keys [][]byte
	tx.Ascend(rows, nil, func(key, stored []byte) bool {
		r, hash, wrong := decode(stored)
		if err = wrong; err != nil || !r.Time.Before(before) || len(keys) == maxRemoved {
			return false
		}
		last = end{r.Seq, hash}
		keys = append(keys, append([]byte(nil), key...))
		return true
	})
	if err != nil || len(keys) == 0 {
		return false, err
	}
	for _, key := range keys {
		tx.Delete(rows, key)
	}
	last.write(tx, removed)
	return len(keys) == maxRemoved, nil
}
