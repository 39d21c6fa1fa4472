package postgres

import (
	"context"
	"errors"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/storage/internal/rules"
)

// imagesAtOnce is how many images an audit reads at once. An object store answers many requests at once as fast as one.
const imagesAtOnce = 16

// checkImages reads the images that records name, several at once, and returns how many there are. It reports those
// that are missing or not what their records say, one call of report at a time.
//
// Its workers end when the images are through, or at the first error that is not an image's own, such as the end of
// ctx: that ends the walk over the records too, and is returned. None is left when it returns.
func (db *DB) checkImages(ctx context.Context, report func(imagegen.Violation)) (n int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var reporting sync.Mutex
	images := make(chan rules.File)
	var workers sync.WaitGroup
	for range imagesAtOnce {
		workers.Go(func() {
			for i := range images {
				wrong, err := db.checkImage(ctx, i)
				if err != nil {
					cancel(err)
				}
				if wrong != "" {
					reporting.Lock()
					report(imagegen.Violation{Rule: "image bytes", Subject: string(i.Key.Image), Detail: wrong})
					reporting.Unlock()
				}
			}
		})
	}
	err = db.eachImage(ctx, func(i rules.File) error {
		n++
		select {
		case images <- i:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	close(images)
	workers.Wait()
	return n, errors.Join(err, context.Cause(ctx))
}

// eachImage calls f for the images of all records, page by page. Each page is a transaction of its own, which is over
// before f is called, so that none stays open while images are read. Records that are being erased, whose images may be
// gone, are passed over.
func (db *DB) eachImage(ctx context.Context, f func(rules.File) error) error {
	for after := imagegen.GenerationID(""); ; {
		page, err := db.records(ctx, fromGenerations+` where id > $1 order by id limit $2`, after, pageOf)
		if err != nil {
			return err
		}
		for _, r := range page {
			after = r.ID
			for _, i := range rules.Images(r) {
				if err := f(i); err != nil {
					return err
				}
			}
		}
		if len(page) < pageOf {
			return nil
		}
	}
}

// checkImage reads an image, and says what is wrong with it; "": nothing. If its generation was erased since it was
// listed, nothing is wrong, so the record is read again before anything is reported. err is why it could not be
// checked.
func (db *DB) checkImage(ctx context.Context, i rules.File) (wrong string, err error) {
	wrong, err = compare(ctx, db.images, i)
	if err != nil || wrong == "" {
		return "", err
	}
	r, err := db.Generation(ctx, i.Key.Generation)
	if errors.Is(err, imagegen.ErrNotFound) || err == nil && (r.State == imagegen.StateErasing || len(r.Images) == 0) {
		return "", nil
	}
	return wrong, err
}

// compare reads an image to its end, and returns what is wrong with it; "": nothing. That it cannot be opened, except
// that it is missing, is an error; that it cannot be read to its end is wrong with the image, unless ctx has ended.
func compare(ctx context.Context, in imagegen.ImageStore, i rules.File) (wrong string, err error) {
	f, err := in.OpenImage(ctx, i.Key)
	if errors.Is(err, imagegen.ErrNotFound) {
		return "there is none", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	if differs := i.Compare(f); differs != nil {
		return "it " + differs.Error(), ctx.Err()
	}
	return "", nil
}
