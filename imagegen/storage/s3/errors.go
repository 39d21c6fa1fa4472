package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
)

// understood puts an error of a request into the terms of the Store contract; nil stays nil. imagegen.ErrNotFound:
// there is no such object. imagegen.ErrNotApplied: the object store refused the request, or it was never reached. After
// any other error the outcome is unknown: the object store failed (5xx), or the connection was lost before the answer
// or in the midst of it, while the request may have been carried out.
// what says, for people, what was tried.
func understood(what string, err error) error {
	if err == nil {
		return nil
	}
	if missing, ok := errors.AsType[*noCredentials](err); ok {
		return fmt.Errorf("%w: %s: %w", imagegen.ErrNotApplied, what, missing)
	}
	refused, answered := errors.AsType[*refusal](err)
	switch {
	// A bucket whose name is mistyped in the configuration must not look as if all images were gone.
	case answered && refused.status == http.StatusNotFound && refused.Code != "NoSuchBucket":
		return fmt.Errorf("%w: %s: %w", imagegen.ErrNotFound, what, err)
	case answered && refused.status/100 == 4, neverLeft(err):
		return fmt.Errorf("%w: %s: %w", imagegen.ErrNotApplied, what, err)
	}
	return fmt.Errorf("s3: %s: %w", what, err)
}

// unread is understood for a request that only reads: whatever failed, nothing was written, and the same request may
// succeed later. A time limit of the request is not the caller's, whose context is ctx, so it is not wrapped.
func unread(ctx context.Context, what string, err error) error {
	err = understood(what, err)
	if err == nil || imagegen.Definite(err) || ctx.Err() != nil {
		return err
	}
	return fmt.Errorf("%w: %v", imagegen.ErrNotApplied, err)
}

// neverLeft reports whether no connection could be made, so that no request was sent. A connection that the caller has
// cancelled counts as any other request that was cancelled: its outcome is unknown.
func neverLeft(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial" && !errors.Is(err, context.Canceled)
}
