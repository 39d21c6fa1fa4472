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

// file is an image that a record names, or a reference image that an attempt to come needs.
type file struct {
	key    imagegen.ImageKey    // of a reference image only the generation
	upload imagegen.ReferenceID // "": it is an image
	size   int64                // in bytes
	hash   [sha256.Size]byte
}

// String names the file for an operator.
func (f file) String() string {
	if f.upload != "" {
		return fmt.Sprintf("reference image %s of generation %s", f.upload, f.key.Generation)
	}
	return fmt.Sprintf("image %s of generation %s", f.key.Image, f.key.Generation)
}

// filesOf lists the files that the generations among some rows name: the images, unless they are being erased, and the
// reference images, if an attempt is to come. Thumbnails are not among them; they are made anew when they are looked at.
func filesOf(rows []Row) (all []file, err error) {
	for _, row := range rows {
		if row.Bucket != Generations {
			continue
		}
		r, err := tables.DecodeRow(row.Value)
		if err != nil {
			return nil, fmt.Errorf("transfer: generation %q cannot be read: %w", row.Key, err)
		}
		if r.State != imagegen.StateErasing {
			for _, i := range r.Images {
				all = append(all, file{key: r.ImageKey(i), size: i.Size, hash: i.SHA256})
			}
		}
		if rules.Waits(r.Record) {
			for _, f := range r.References {
				all = append(all, file{key: imagegen.ImageKey{Generation: r.ID}, upload: f.ID, size: f.Size, hash: f.SHA256})
			}
		}
	}
	return all, nil
}

// atOnce is how many files are copied at once. An object store answers many requests at once as fast as one.
const atOnce = 16

// files is where the files of one side are.
type files struct {
	Images imagegen.ImageStore
	Spool  imagegen.Spool
}

// copier copies files from one side to the other. To copy a file again does no harm, so a move that goes on need not
// know which files of a page it has.
type copier struct {
	from, to files
	// missing is called about an image that is not there, and returns nil if that is in order; it must be safe for
	// concurrent use. nil: a missing image is an error.
	missing func(context.Context, file) error
}

// copy copies files, several at once, and returns the first error, at which it begins no other file. Its goroutines have
// ended when it returns.
func (c copier) copy(ctx context.Context, all []file) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan file)
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

func (c copier) file(ctx context.Context, f file) error {
	if f.upload != "" {
		return c.reference(ctx, f)
	}
	r, err := c.from.Images.OpenImage(ctx, f.key)
	if errors.Is(err, imagegen.ErrNotFound) && c.missing != nil {
		return c.missing(ctx, f)
	}
	if err != nil {
		return err
	}
	defer r.Close()
	return c.to.Images.PutImage(ctx, f.key, f.checked(r))
}

// reference copies a reference image and keeps it. One that is missing is passed over, since another Spool may have it;
// if none has, the attempt fails and is refunded.
func (c copier) reference(ctx context.Context, f file) error {
	r, err := c.from.Spool.Open(ctx, f.upload)
	if errors.Is(err, imagegen.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if err := c.to.Spool.Stage(ctx, f.upload, f.checked(r)); err != nil {
		return err
	}
	return c.to.Spool.Keep(ctx, f.upload)
}

var errOther = errors.New("its bytes do not match its record; erase the generation, or restore a backup, and begin again")

// checked returns a reader of r that ends with errOther, and not with io.EOF, unless it has read what the record tells
// of. So whoever stores what it yields leaves nothing behind of a file that is damaged.
func (f file) checked(r io.Reader) io.Reader { return &checked{f, r, sha256.New(), 0} }

type checked struct {
	file
	from io.Reader
	sum  hash.Hash
	n    int64
}

// Read implements [io.Reader].
func (c *checked) Read(p []byte) (n int, err error) {
	n, err = c.from.Read(p)
	c.n += int64(n)
	c.sum.Write(p[:n])
	if err == io.EOF && (c.n != c.size || [sha256.Size]byte(c.sum.Sum(nil)) != c.hash) {
		err = errOther
	}
	return n, err
}
