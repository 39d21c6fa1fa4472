package cli

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// tries is how often a call is made in a row before it is given up.
	tries = 5
	// lasting is how long a call takes that something came of: longer than any pause, and than the
	// attempt to reach nobody. When it breaks off after all, the tries are counted anew.
	lasting = time.Minute
	// patience is how long a call is repeated that is being answered elsewhere: longer than the 800
	// seconds of a synchronous generation.
	patience = 15 * time.Minute
)

// persist makes a call that is safe to repeat until it is answered for good. A connection that
// broke, an overloaded service and a call that still runs under the same key are no answers.
func persist[T any](ctx context.Context, call func() (T, error)) (T, error) {
	began := time.Now()
	for failed := 0; ; {
		tried := time.Now()
		t, err := call()
		e, ok := errors.AsType[*imagegen.Error](err)
		switch {
		case !ok:
			return t, err
		case e.Code == imagegen.CodeIdempotencyKeyInUse && time.Since(began) < patience:
		case e.Code == imagegen.CodeOverloaded || e.Code == imagegen.CodeInternal:
			if time.Since(tried) > lasting {
				failed = 0
			}
			if failed++; failed == tries {
				return t, err
			}
		default:
			return t, err
		}
		select {
		case <-ctx.Done():
			return t, ctx.Err()
		case <-time.After(max(e.RetryAfter, time.Second<<failed/2)):
		}
	}
}
