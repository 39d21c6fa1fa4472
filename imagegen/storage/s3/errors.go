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

// understood brings an error of a request into the words of the Store contract: imagegen.ErrNotFound,
// imagegen.ErrNotApplied where the request was refused or never left, any other where its outcome is unknown.
func understood(what string, err error) error {
	if err == nil {
		return nil
	}
	response, answered := errors.AsType[*awshttp.ResponseError](err)
	switch {
	case answered && response.HTTPStatusCode() == http.StatusNotFound && !isNoBucket(err):
		return fmt.Errorf("%w: %s: %w", imagegen.ErrNotFound, what, err)
	case answered && response.HTTPStatusCode() < http.StatusInternalServerError, neverLeft(err):
		return fmt.Errorf("%w: %s: %w", imagegen.ErrNotApplied, what, err)
	}
	return fmt.Errorf("s3: %s: %w", what, err)
}

// isNoBucket tells a bucket that does not exist from an object that does not.
func isNoBucket(err error) bool {
	e, ok := errors.AsType[interface {
		error
		ErrorCode() string
	}](err)
	return ok && e.ErrorCode() == "NoSuchBucket"
}

func neverLeft(err error) bool {
	e, ok := errors.AsType[*net.OpError](err)
	return ok && e.Op == "dial" && !errors.Is(err, context.Canceled)
}
