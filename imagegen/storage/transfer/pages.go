package transfer

import (
	"context"
	"iter"

	"github.com/imagegend/imagegend/imagegen/storage/transfer/internal/pagesize"
)

// page is some rows in order, with the files that they name, which the target has by now. With an error it is the last
// page, and nothing else in it counts. Without one it has at least one row.
type page struct {
	rows  []Row
	files []file
	err   error
}

// pages goes over the rows behind a place until there are no more, or to the first error, which comes as a page of its
// own; so does the end of ctx. Before a page is yielded, copied has copied its files; it may also change the rows.
//
// While a page is worked on, a goroutine reads the next one and copies its files. The iteration, also one that is broken
// off, ends only after that goroutine has, so that nobody reads from a database that is then closed.
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

// read sends pages to to until there are no more, or one with an error was sent, or ctx ends.
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
