package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Continued reports whether ctx ended because another attempt continues the saved job, or will continue it: with
// imagegen.ErrStale or imagegen.ErrStopping as its cause. Upstream work must not be cancelled then.
func Continued(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, imagegen.ErrStopping) || errors.Is(cause, imagegen.ErrStale)
}

// Sleep waits for a time and returns nil. If ctx ends first, it returns the context's cause at once.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
