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
	// lasting is how long a call takes at least that reached the service: longer than any pause, and than an attempt
	// to connect to nobody. If such a call breaks off, the count of tries begins anew.
	lasting = time.Minute
	// patience is how long a call is repeated while another with the same key is being answered: longer than the 800
	// seconds that a synchronous generation can take.
	patience = 15 * time.Minute
)

// persist repeats a call until it is answered for good; the call must be safe to repeat. A broken connection, an
// overloaded service and a call that still runs under the same key are no such answers. Between tries it waits for as
// long as the service asks, and at least half a second, which doubles with each failure. If ctx ends while it waits,
// its error is that of ctx.
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
