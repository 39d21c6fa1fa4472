package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// filesOf lists the files that the generations among some rows name, of the kinds that the functions return.
func filesOf(rows []Row, kinds ...func(imagegen.Record) []rules.File) (all []rules.File, err error) {
	for _, row := range rows {
		if row.Bucket != Generations {
			continue
		}
		r, err := tables.DecodeRow(row.Value)
		if err != nil {
			return nil, fmt.Errorf("transfer: generation %q cannot be read: %w", row.Key, err)
		}
		for _, named := range kinds {
			all = append(all, named(r.Record)...)
		}
	}
	return all, nil
}

// atOnce is how many files are copied at once. An object store answers many requests at once as fast as one.
const atOnce = 16

// copier copies files from one side to the other. To copy a file again does no harm, so a move that goes on need not
// know which files of a page it has.
type copier struct {
	from, to End // of which it uses Images and Spool
	// missing is called about an image that is not there, and returns nil if that is in order; it must be safe for
	// concurrent use. nil: a missing image is an error.
	missing func(context.Context, rules.File) error
}

// copy copies files, several at once, and returns the first error, at which it begins no other file. Its goroutines
// have ended when it returns.
func (c copier) copy(ctx context.Context, all []rules.File) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan rules.File)
	var workers sync.WaitGroup
	for range min(atOnce, len(all)) {
		workers.Go(func() {
			for f := range next {
				if err := c.file(ctx, f); err != nil {
					cancel(fmt.Errorf("transfer: %s: %w", f, err))
				}
			}
		})
	}
	for _, f := range all {
		select {
		case next <- f:
		case <-ctx.Done():
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

func (c copier) file(ctx context.Context, f rules.File) error {
	if f.Upload != "" {
		return c.reference(ctx, f)
	}
	r, err := c.from.Images.OpenImage(ctx, f.Key)
	if errors.Is(err, imagegen.ErrNotFound) && c.missing != nil {
		return c.missing(ctx, f)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return c.to.Images.PutImage(ctx, f.Key, verify(f, r))
}

// reference copies a reference image and keeps it. One that is missing is passed over, since another Spool may have it;
// if none has, the attempt fails and is refunded.
func (c copier) reference(ctx context.Context, f rules.File) error {
	r, err := c.from.Spool.Open(ctx, f.Upload)
	if errors.Is(err, imagegen.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if err := c.to.Spool.Stage(ctx, f.Upload, verify(f, r)); err != nil {
		return err
	}
	return c.to.Spool.Keep(ctx, f.Upload)
}

var errOther = errors.New("its bytes do not match its record; erase the generation, or restore a backup, and begin again")

// checked reads a file, and ends with errOther, and not with io.EOF, unless it has read what the record says. So a
// store that stores what it yields keeps nothing of a file that is damaged.
type checked struct {
	rules.File
	from io.Reader
	sum  hash.Hash
	n    int64
}

func verify(f rules.File, r io.Reader) io.Reader { return &checked{f, r, sha256.New(), 0} }

// Read implements [io.Reader].
func (c *checked) Read(p []byte) (n int, err error) {
	n, err = c.from.Read(p)
	c.n += int64(n)
	c.sum.Write(p[:n])
	if err == io.EOF && (c.n != c.Size || [sha256.Size]byte(c.sum.Sum(nil)) != c.SHA256) {
		err = errOther
	}
	return n, err
}
