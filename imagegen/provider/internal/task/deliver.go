package task

import (
	"context"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// deliver yields the images of a task and closes each when yield returns. An image that cannot
// be fetched does not cost the others. The error is the last such one, else p.Err; nil if no more
// are wanted, or the context's cause.
func (q *Runner) deliver(ctx context.Context, p Progress, yield upstream.Yield) error {
	failed := p.Err
	for _, address := range p.Images {
		image, err := q.fetch(ctx, address)
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			failed = err
			continue
		}
		wanted := yield(image)
		image.Close()
		if !wanted {
			return nil
		}
	}
	return failed
}

const (
	fetchTries = 3
	fetchPause = 500 * time.Millisecond // before the second try; before the third it is twice as long
)

// fetch opens an image. It tries three times, since the image is already paid for.
func (q *Runner) fetch(ctx context.Context, address string) (image io.ReadCloser, err error) {
	for try := range fetchTries {
		if err := upstream.Sleep(ctx, time.Duration(try)*fetchPause); err != nil {
			return nil, err
		}
		if image, err = q.Queue.Fetch(ctx, address); err == nil {
			return image, nil
		}
	}
	return nil, err
}
