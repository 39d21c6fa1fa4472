package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// maxErrorBody bounds what is read of an answer that is an error, which may come from any server.
const maxErrorBody = 1 << 20

// errorOf rebuilds the error that the service answered with, so that errors.Is works as it does in
// process. The code is taken from the body, since several codes share a status. An answer without a
// code comes from something else, such as a proxy: it is an ErrInternal.
func errorOf(answer *http.Response) error {
	var body wire.ErrorBody
	err := json.NewDecoder(io.LimitReader(answer.Body, maxErrorBody)).Decode(&body)
	if err != nil || body.Error.Code == "" {
		return &imagegen.Error{Code: imagegen.CodeInternal,
			Message: "the answer is not one of this service: is the base URL right?", Err: fmt.Errorf("%s %s: %s%s",
				answer.Request.Method, answer.Request.URL.Redacted(), answer.Status, redirection(answer))}
	}
	generation := wire.GenerationAt(answer.Header.Get("Location"))
	return &imagegen.Error{
		Code:       body.Error.Code,
		Message:    body.Error.Message,
		Generation: generation,
		RetryAfter: retryAfter(answer.Header),
		Replayed:   replayed(answer.Header),
	}
}

// redirection names the target of a redirect, which usually shows what is wrong with the base URL.
func redirection(answer *http.Response) string {
	if to := answer.Header.Get("Location"); to != "" {
		return ", to " + to
	}
	return ""
}

// retryAfter is the wait that a header asks for; 0 without one in seconds.
func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31) // more would not fit a Duration
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

func replayed(h http.Header) bool { return h.Get("Idempotent-Replayed") == "true" }

// unreachable is the error if no answer came: the request may have been carried out all the same.
func unreachable(err error) error {
	return &imagegen.Error{Code: imagegen.CodeInternal,
		Message: "no answer came from the service; where credits are at stake, ask again with the same idempotency key",
		Err:     err}
}
