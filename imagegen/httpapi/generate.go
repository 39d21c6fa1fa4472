package httpapi

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// generate answers a request for images.
func (a *api) generate(x *exchange) error {
	if err := a.findBase(x); err != nil {
		return err
	}
	if x.request.URL.RawQuery != "" {
		return imagegen.Invalid("fields belong in the body, not in the query")
	}
	key, err := idempotencyKey(x.request.Header)
	if err != nil {
		return err
	}
	q, err := a.readRequest(x)
	if err != nil {
		return err
	}
	q.IdempotencyKey = key
	q.Joining.Retry = repeats(x.request.Header)
	result, err := x.session.Generate(x.ctx, q)
	if key == "" && costly(err) {
		// OpenAI's clients repeat a 500 of their own accord, and would be charged again.
		x.Header().Set("X-Should-Retry", "false")
	}
	if err != nil {
		return err
	}
	gone := x.request.Context().Err() != nil
	defer func() { x.session.Answered(result.ID, !gone && x.sent()) }() // also when the answer panics
	return x.result(result)
}

// repeats reports whether the client says that it makes the request once more, as OpenAI's clients do.
func repeats(h http.Header) bool {
	n, err := strconv.Atoi(h.Get("X-Stainless-Retry-Count"))
	return err == nil && n > 0
}

func (x *exchange) result(r imagegen.Result) error {
	x.generation = r.ID
	status, body := http.StatusOK, wire.NewResult(r, x.base)
	if r.Status == imagegen.StatusQueued {
		status = http.StatusAccepted
	}
	x.set("Location", body.PollURL)
	if r.Replayed {
		x.Header().Set("Idempotent-Replayed", "true")
	}
	return x.json(status, body)
}

// costly reports whether credits were taken, or may have been, by a call that ended with err.
func costly(err error) bool {
	e, ok := errors.AsType[*imagegen.Error](err)
	return !ok || e.Code == imagegen.CodeGenerationFailed || e.Code == imagegen.CodeInternal && e.Generation != ""
}

// idempotencyKey returns the key that a header carries; "" if there is none.
func idempotencyKey(h http.Header) (string, error) {
	sent := h.Values("Idempotency-Key")
	switch {
	case len(sent) == 0:
		return "", nil
	case len(sent) > 1:
		return "", imagegen.Invalid("Idempotency-Key was sent twice")
	case !imagegen.ValidIdempotencyKey(sent[0]):
		return "", imagegen.Invalid("Idempotency-Key must be 1 to 255 visible ASCII characters")
	}
	return sent[0], nil
}
