package transfer

import (
	"context"
	"iter"

	"github.com/imagegend/imagegend/imagegen/storage/transfer/internal/pagesize"
)

// page is some rows, with the files that they name, which the target has.
type page struct {
	rows  []Row
	files []file
	err   error
}

// pages goes over the rows behind a place, until there are no more, or to an error; copied has copied their files, and may
// change them. While a page is worked on the next one is read. Nobody reads any more once it has ended.
func pages(ctx context.Context, from Reader, at Place, copied func(context.Context, []Row) ([]file, error)) iter.Seq[page] {
	return func(yield func(page) bool) {
		ctx, cancel := context.WithCancel(ctx)
		all := make(chan page)
		go func() {
			defer close(all)
			read(ctx, from, at, copied, all)
		}()
		defer func() {
			cancel()
			for range all {
			}
		}()
		for p := range all {
			if !yield(p) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(page{err: err})
		}
	}
}

// read sends pages until there are no more, an error, or the end of the context.
func read(ctx context.Context, from Reader, at Place, copied func(context.Context, []Row) ([]file, error), to chan<- page) {
	for {
		rows, err := from.Rows(ctx, at, pagesize.Rows)
		if err == nil && len(rows) == 0 {
			return
		}
		p := page{rows: rows, err: err}
		if err == nil {
			at = rows[len(rows)-1].Place
			p.files, p.err = copied(ctx, rows)
		}
		select {
		case to <- p:
		case <-ctx.Done():
			return
		}
		if p.err != nil {
			return
		}
	}
}
