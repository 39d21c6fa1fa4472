package trail

import (
	"context"
	"iter"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/account"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// maxSeen is the most rows that one page looks at; account.TrailStore promises this figure.
const maxSeen = 100_000

// Trail implements [account.TrailStore]. It writes the counts that are due first, so that the page has them.
func (t *Trail) Trail(ctx context.Context, q account.TrailQuery) (p account.TrailPage, err error) {
	if err := t.WriteDue(ctx); err != nil {
		return p, err
	}
	err = t.db.View(ctx, func(tx kv.Tx) error {
		p, err = Page(q, downwards(tx, q.Before))
		return err
	})
	return p, err
}

// downwards goes over the rows whose numbers are lower than before, newest first; 0: over all.
func downwards(tx kv.Tx, before uint64) iter.Seq2[account.TrailRow, error] {
	var from []byte
	if before > 0 {
		from = kv.Key(before)
	}
	return func(yield func(account.TrailRow, error) bool) {
		tx.Descend(Rows, from, func(_, stored []byte) bool {
			r, err := Decode(stored)
			return yield(r.TrailRow, err)
		})
	}
}

// Page picks the rows of a page from rows, which are those below q.Before, newest first. A row that cannot be read is
// an error. imagegen.ErrInvalidRequest: the limit is out of range.
func Page(q account.TrailQuery, rows iter.Seq2[account.TrailRow, error]) (p account.TrailPage, err error) {
	if q.Limit < 1 || q.Limit > account.MaxTrailPage {
		return p, imagegen.Invalid("a page of the trail has from 1 to %d rows; got %d", account.MaxTrailPage, q.Limit)
	}
	seen := 0
	last := uint64(0) // the number of the last row that was looked at
	for r, err := range rows {
		switch {
		case err != nil:
			return p, err
		case len(p.Rows) == q.Limit || seen == maxSeen:
			p.Next = last
			return p, nil
		case q.Matches(r):
			p.Rows = append(p.Rows, r)
		}
		seen, last = seen+1, r.Seq
	}
	return p, nil
}
