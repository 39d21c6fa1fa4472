package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Continued reports whether ctx ended because another attempt continues, or will continue, the saved
// job. Upstream work must not be cancelled then.
func Continued(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, imagegen.ErrStopping) || errors.Is(cause, imagegen.ErrStale)
}

// Sleep returns the context's cause if it ends first.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
