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
	key    imagegen.ImageKey // of a reference image only the generation
	upload imagegen.ReferenceID
	size   int64
	hash   [sha256.Size]byte
}

func (f file) String() string {
	if f.upload != "" {
		return fmt.Sprintf("reference image %s of generation %s", f.upload, f.key.Generation)
	}
	return fmt.Sprintf("image %s of generation %s", f.key.Image, f.key.Generation)
}

// filesOf lists what the generations among some rows name. Thumbnails are made anew when they are asked for.
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

// atOnce is how many files are on their way at once: an object store answers each of many as fast as one.
const atOnce = 16

// files are where the files of one side are.
type files struct {
	Images imagegen.ImageStore
	Spool  imagegen.Spool
}

// copier copies files.
type copier struct {
	from, to files
	// missing is asked about an image that is not there; nil: it has to be.
	missing func(context.Context, file) error
}

// copy copies files, and returns the first error.
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

// reference copies a reference image. One that is missing may be kept by another Spool.
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

var errOther = errors.New("its bytes are not those that its record tells of; erase the generation, or restore a backup, and begin again")

// checked reads what has to be a file, and ends with an error if it is not.
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
