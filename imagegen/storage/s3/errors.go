package s3

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"

	"github.com/imagegend/imagegend/imagegen"
)

// understood puts an error of a request into the terms of the Store contract; nil stays nil. imagegen.ErrNotFound:
// there is no such object. imagegen.ErrNotApplied: the object store refused the request, or it was never reached. After
// any other error the outcome is unknown: the object store failed (5xx), or the connection was lost before the answer
// (the library calls that an answer with status 0) or in the midst of it, while the request may have been carried out.
// what says, for people, what was tried.
func understood(what string, err error) error {
	if err == nil {
		return nil
	}
	// The library's words around it repeat it.
	if missing, ok := errors.AsType[*noCredentials](err); ok {
		return fmt.Errorf("%w: %s: %w", imagegen.ErrNotApplied, what, missing)
	}
	response, answered := errors.AsType[*awshttp.ResponseError](err)
	answered = answered && response.HTTPStatusCode() != 0 // the library also wraps a request without an answer so
	switch {
	case answered && response.HTTPStatusCode() == http.StatusNotFound && !isNoBucket(err):
		return fmt.Errorf("%w: %s: %w", imagegen.ErrNotFound, what, err)
	case answered && response.HTTPStatusCode()/100 == 4, neverLeft(err):
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

// isNoBucket tells a bucket that does not exist from an object that does not, which have the same status: a name that
// is mistyped in the configuration must not look as if all images were gone.
func isNoBucket(err error) bool {
	e, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err)
	return ok && e.ErrorCode() == "NoSuchBucket"
}

// neverLeft reports whether no connection could be made, so that no request was sent. A connection that the caller has
// cancelled counts as any other request that was cancelled: its outcome is unknown.
func neverLeft(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial" && !errors.Is(err, context.Canceled)
}
