package upstream

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Continued reports whether ctx ended so that another attempt continues a job that was saved:
// upstream work is then not cancelled.
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
