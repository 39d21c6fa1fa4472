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

// maxErrorBody bounds what is read of an answer that is an error.
const maxErrorBody = 1 << 20

// errorOf rebuilds the error that an answer tells. Its code stands in the body: several share a status.
func errorOf(answer *http.Response) error {
	var body wire.ErrorBody
	err := json.NewDecoder(io.LimitReader(answer.Body, maxErrorBody)).Decode(&body)
	if err != nil || body.Error.Code == "" {
		return &imagegen.Error{Code: imagegen.CodeInternal, Message: "the answer is not one of this service: is the base URL right?",
			Err: fmt.Errorf("%s %s: %s%s", answer.Request.Method, answer.Request.URL.Redacted(), answer.Status, redirection(answer))}
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

func redirection(answer *http.Response) string {
	if to := answer.Header.Get("Location"); to != "" {
		return ", to " + to
	}
	return ""
}

func retryAfter(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get("Retry-After"), 10, 31) // more would not fit a Duration
	if err != nil {
		return 0
	}
	return time.Duration(n) * time.Second
}

func replayed(h http.Header) bool { return h.Get("Idempotent-Replayed") == "true" }

// unreachable says that no whole answer came.
func unreachable(err error) error {
	return &imagegen.Error{Code: imagegen.CodeInternal,
		Message: "no answer came from the service; where credits are at stake, ask again with the same idempotency key", Err: err}
}
