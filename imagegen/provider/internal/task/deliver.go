package task

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// errUnwanted says that yield wants no more. It never leaves this package.
var errUnwanted = errors.New("no more images are wanted")

// deliver yields the images of a task and closes each when yield returns. An image that cannot
// be fetched does not cost the others. The error is the last such one, else p.Err; errUnwanted
// if yield wants no more, or the context's cause.
func (q *Runner) deliver(ctx context.Context, p Progress, yield func(imagegen.ProviderImage, error) bool) error {
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
		wanted := yield(imagegen.ProviderImage{Body: image}, nil)
		image.Close()
		if !wanted {
			return errUnwanted
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
