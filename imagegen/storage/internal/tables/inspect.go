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

// Unsettled implements [imagegen.Inspector]. Every unsettled generation is in the index of open ones.
func (t *Tables) Unsettled(ctx context.Context, after imagegen.GenerationID, n int) ([]imagegen.Record, int, error) {
	return t.oldest(ctx, open, after, n, func(r row) bool { return r.Unsettled() })
}

// oldest returns the first n wanted records of an index whose identifiers are higher than after, and counts all
// wanted ones. Identifiers rise with time, so the first are the oldest. A record that cannot be read is an error:
// the count would be wrong.
func (t *Tables) oldest(ctx context.Context, in *table.Index[row], after imagegen.GenerationID, n int,
	wanted func(row) bool) (found []imagegen.Record, total int, err error) {
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
