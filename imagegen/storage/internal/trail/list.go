package trail

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/kv"
)

// mostSeen is how many rows are looked at for one page.
const mostSeen = 100_000

// Trail implements [imagegen.TrailStore].
func (t *Trail) Trail(ctx context.Context, q imagegen.TrailQuery) (p imagegen.TrailPage, err error) {
	if q.Limit < 1 || q.Limit > imagegen.MaxTrailPage {
		return p, imagegen.Invalid("a page of the trail has from 1 to %d rows; got %d", imagegen.MaxTrailPage, q.Limit)
	}
	if err := t.writeCounts(ctx); err != nil {
		return p, err
	}
	err = t.db.View(ctx, func(tx kv.Tx) error {
		p, err = page(tx, q)
		return err
	})
	return p, err
}

func page(tx kv.Tx, q imagegen.TrailQuery) (p imagegen.TrailPage, err error) {
	var before []byte
	if q.Before > 0 {
		before = kv.Key(q.Before)
	}
	seen := 0
	last := uint64(0) // that was looked at
	tx.Descend(rows, before, func(_, stored []byte) bool {
		if len(p.Rows) == q.Limit || seen == mostSeen {
			p.Next = last
			return false
		}
		var r imagegen.TrailRow
		if r, _, err = decode(stored); err != nil {
			return false
		}
		if q.Matches(r) {
			p.Rows = append(p.Rows, r)
		}
		seen, last = seen+1, r.Seq
		return true
	})
	return p, err
}
