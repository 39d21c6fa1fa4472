package cli

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// tries is how many failures in a row end the repetitions.
	tries = 5
	// lasting tells a call that reached the service from one that reached nobody: no attempt to connect takes that
	// long. If a call that lasted longer breaks off, the count of failures begins anew.
	lasting = time.Minute
	// patience is how long a call is repeated while another with the same idempotency key is being answered: longer
	// than the 800 seconds that a synchronous generation can take.
	patience = 15 * time.Minute
)

// persist repeats a call until it is answered for good; the call must be safe to repeat. A broken connection, an
// overloaded service and a call that still runs under the same key do not count as such. Between calls it waits for as
// long as the service asks, and at least half a second, which doubles with each failure. If ctx ends while it waits,
// its error is that of ctx. A call that keeps failing returns its last error.
func persist[T any](ctx context.Context, call func() (T, error)) (T, error) {
	began := time.Now()
	for failed := 0; ; {
		tried := time.Now()
		t, err := call()
		e, ok := errors.AsType[*imagegen.Error](err)
		switch {
		// Success, or an error that came from no service, such as that of a context.
		case !ok:
			return t, err
		// The first call is still being answered. That is not a failure, so it is not counted.
		case e.Code == imagegen.CodeIdempotencyKeyInUse && time.Since(began) < patience:
		case e.Code == imagegen.CodeOverloaded || e.Code == imagegen.CodeInternal:
			// The service was there for long, so it is worth more patience than one that never answered.
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
