package postgres

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/imagegend/imagegend/imagegen"
)

// imagesAtOnce is how many images an audit reads at once: an object store answers each of many as fast as one.
const imagesAtOnce = 16

// checkImages reads the images that records name, and returns how many there are.
func (db *DB) checkImages(ctx context.Context, report func(imagegen.Violation)) (n int, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var reporting sync.Mutex
	images := make(chan listed)
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
					report(imagegen.Violation{Rule: "image bytes", Subject: string(i.Image), Detail: wrong})
					reporting.Unlock()
				}
			}
		})
	}
	err = db.eachImage(ctx, func(i listed) error {
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

// listed is an image that a record names.
type listed struct {
	imagegen.ImageKey
	size int64
	hash [32]byte
}

// eachImage calls f for the images of all records, a page of them at a time. Those that cannot be read the audit has reported.
func (db *DB) eachImage(ctx context.Context, f func(listed) error) error {
	for after := []byte{}; ; {
		n := 0
		var page []listed
		err := db.view(ctx, func(s *session) error {
			s.query(func(rows pgx.Rows) error {
				var id, form []byte
				return each(rows, func() error {
					n++
					after = append([]byte(nil), id...)
					if r, err := decodeRow(imagegen.GenerationID(id), form); err == nil && r.State != imagegen.StateErasing {
						for _, i := range r.Images {
							page = append(page, listed{r.ImageKey(i), i.Size, i.SHA256})
						}
					}
					return nil
				}, &id, &form)
			}, `select id, form from imagegend.generations where id > $1 order by id limit $2`, after, pageOf)
			return nil
		})
		if err != nil {
			return err
		}
		for _, i := range page {
			if err := f(i); err != nil {
				return err
			}
		}
		if n < pageOf {
			return nil
		}
	}
}

// checkImage reads an image, and says what is wrong with it. One that its record has let go since is none that is missing.
func (db *DB) checkImage(ctx context.Context, i listed) (wrong string, err error) {
	wrong, err = compare(ctx, db.images, i)
	if err != nil || wrong == "" {
		return "", err
	}
	r, err := db.Generation(ctx, i.Generation)
	if errors.Is(err, imagegen.ErrNotFound) || err == nil && (r.State == imagegen.StateErasing || len(r.Images) == 0) {
		return "", nil
	}
	return wrong, err
}

// compare returns what is wrong with an image; "": nothing.
func compare(ctx context.Context, in imagegen.ImageStore, i listed) (wrong string, err error) {
	f, err := in.OpenImage(ctx, i.ImageKey)
	if errors.Is(err, imagegen.ErrNotFound) {
		return "there is none", nil
	}
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	switch {
	case err != nil:
		return fmt.Sprintf("it cannot be read: %v", err), ctx.Err()
	case n != i.size:
		return fmt.Sprintf("it has %d bytes; its record says %d", n, i.size), nil
	case [32]byte(hash.Sum(nil)) != i.hash:
		return "it has another SHA-256 than its record says", nil
	}
	return "", nil
}
