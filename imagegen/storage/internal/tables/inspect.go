package tables

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
	"github.com/imagegend/imagegend/imagegen/storage/internal/table"
)

// Disputed implements [imagegen.Inspector].
func (t *Tables) Disputed(ctx context.Context, after imagegen.GenerationID, n int) ([]imagegen.Record, int, error) {
	return t.oldest(ctx, disputed, after, n, func(r row) bool { return r.Dispute != "" })
}

// Unsettled implements [imagegen.Inspector].
func (t *Tables) Unsettled(ctx context.Context, after imagegen.GenerationID, n int) ([]imagegen.Record, int, error) {
	return t.oldest(ctx, open, after, n, func(r row) bool { return r.Unsettled() })
}

// oldest finds the first n of an index behind after that are wanted, and counts them all. Identifiers
// rise with time.
func (t *Tables) oldest(ctx context.Context, in *table.Index[row], after imagegen.GenerationID, n int, wanted func(row) bool) (found []imagegen.Record, total int, err error) {
	err = t.db.View(ctx, func(tx kv.Tx) error {
		found, total = nil, 0
		for id := range in.Keys(tx, nil) {
			r, err := in.Get(tx, id)
			if err != nil {
				return err
			}
			if !wanted(r) {
				continue
			}
			if total++; r.ID > after && len(found) < n {
				found = append(found, r.Record)
			}
		}
		return nil
	})
	return found, total, err
}
