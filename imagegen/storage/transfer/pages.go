package transfer

import (
	"context"
	"iter"

	"github.com/imagegend/imagegend/imagegen/storage/transfer/internal/pagesize"
)

// pages goes over the rows behind a place, some at a time, until there are no more or to the first error.
func pages(ctx context.Context, from Reader, at Place) iter.Seq2[[]Row, error] {
	return func(yield func([]Row, error) bool) {
		for {
			rows, err := from.Rows(ctx, at, pagesize.Rows)
			if err == nil && len(rows) == 0 || !yield(rows, err) || err != nil {
				return
			}
			at = rows[len(rows)-1].Place
		}
	}
}
