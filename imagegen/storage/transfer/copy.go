package transfer

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
	"github.com/imagegend/imagegend/imagegen/storage/internal/tables"
)

// Moment is a storage as it was at one moment, while it remains in use. Only its rows are of that moment. Images and
// Spool are the current ones, in which some files may no longer exist.
type Moment struct {
	Name string // of the storage, for people
	Snapshot
	Images imagegen.ImageStore
	Spool  imagegen.Spool
	// Now returns the current record of a generation. imagegen.ErrNotFound.
	Now func(context.Context, imagegen.GenerationID) (imagegen.Record, error)
}

// Snapshot contains the rows of one moment. Copy uses it from one goroutine at a time.
type Snapshot interface {
	Reader
	// Waiting returns the rows of all generations that may have another attempt. It may return others too.
	Waiting(context.Context) ([]Row, error)
}

// Copy copies the data of one moment into an empty storage. It only reads from the source, and blocks nobody there.
// ErrNotEmpty, ErrMoved: the target is not empty, or takes part in a move; nothing was written. After any other error
// the copy cannot be continued: the target cannot be used and must be emptied.
//
// If an image no longer exists, its generation was normally erased after the moment. Copy then puts the generation into
// imagegen.StateErasing, so that the erasure is finished when the copy is opened; its credits and charges are those of
// the moment. If a reference image no longer exists, its work may have ended; in the copy that work fails and is
// refunded.
func Copy(ctx context.Context, from Moment, to End) error {
	target := side{End: to}
	if err := target.readMark(ctx); err != nil {
		return err
	}
	if target.mark.State != Ordinary {
		return target.mark.Refusal(to.Name)
	}
	if err := target.empty(ctx); err != nil {
		return err
	}
	mark := Mark{State: Arriving, Move: rand.Text(), Other: from.Name,
		Since: time.Now().UTC().Truncate(time.Microsecond)}
	if err := target.setMark(ctx, mark); err != nil {
		return err
	}
	c := &copyOfMoment{Moment: from, copier: copier{from: End{Images: from.Images, Spool: from.Spool}, to: to}}
	c.missing = c.erasedSince
	if err := c.references(ctx); err != nil {
		return err
	}
	for rows, err := range pages(ctx, from, Place{}) {
		if err == nil {
			err = c.images(ctx, rows)
		}
		if err != nil {
			return err
		}
		mark.At = rows[len(rows)-1].Place
		if err := to.Take(ctx, rows, target.mark, mark); err != nil {
			return err
		}
		target.mark = mark
	}
	return target.setMark(ctx, Mark{})
}

// copyOfMoment is a copy under way.
type copyOfMoment struct {
	Moment
	copier

	mu     sync.Mutex                     // guards erased while files are copied
	erased map[imagegen.GenerationID]bool // the generations of the page at hand that were erased since the moment
}

// references copies the reference images of work that waits. They come before everything else, since they are removed
// as soon as the work is done.
func (c *copyOfMoment) references(ctx context.Context) error {
	rows, err := c.Waiting(ctx)
	if err != nil {
		return err
	}
	references, err := filesOf(rows, rules.References)
	if err != nil {
		return err
	}
	return c.copy(ctx, references)
}

// images copies the images of a page, and then changes those rows whose images are gone, see erase.
func (c *copyOfMoment) images(ctx context.Context, rows []Row) error {
	images, err := filesOf(rows, rules.Images)
	if err != nil {
		return err
	}
	c.erased = make(map[imagegen.GenerationID]bool)
	if err := c.copy(ctx, images); err != nil {
		return err
	}
	return c.erase(rows)
}

// erasedSince is called when an image is missing, and notes that its generation was erased after the moment.
// imagegen.ErrNotFound: it was not, so the source has lost the image.
func (c *copyOfMoment) erasedSince(ctx context.Context, f rules.File) error {
	r, err := c.Now(ctx, f.Key.Generation)
	if err != nil && !errors.Is(err, imagegen.ErrNotFound) {
		return err
	}
	if err == nil && r.State != imagegen.StateErasing && len(r.Images) > 0 {
		return fmt.Errorf("its file is missing; imagegend audit names all such files: put them back, or erase their generations, and begin again: %w", imagegen.ErrNotFound)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.erased[f.Key.Generation] = true
	return nil
}

// erase changes the rows of generations that were erased since to ones that are being erased. An erasure needs a
// generation that has ended; a row that has images and had not ended by the moment is an error, and the copy has to
// begin again.
func (c *copyOfMoment) erase(rows []Row) error {
	for n, row := range rows {
		if row.Bucket != Generations || !c.erased[imagegen.GenerationID(row.Key)] {
			continue
		}
		r, err := tables.DecodeRow(row.Value)
		if err == nil {
			r.Record, _, err = r.Apply(r.Attempt, imagegen.EraseChange{})
		}
		if err != nil {
			return fmt.Errorf("transfer: generation %s was erased meanwhile; begin again: %w", row.Key, err)
		}
		rows[n].Value = tables.EncodeRow(&r)
	}
	return nil
}
