package httpapi

import (
	"net/http"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/httpapi/internal/serving"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// generate answers a request for images. It tells the engine afterwards whether the whole answer was
// received: if not, an equal call may get it instead of making the images anew. A caller who was
// gone before the answer began has not received it, even if it could be written.
//
// Query and idempotency key are checked before the body is read: a request that cannot succeed
// need not send its files.
func (a *api) generate(x *exchange) error {
	if err := a.site.FindBase(&x.Exchange); err != nil {
		return err
	}
	if x.Request.URL.RawQuery != "" {
		return imagegen.Invalid("fields belong in the body, not in the query")
	}
	key, err := serving.IdempotencyKey(x.Request.Header)
	if err != nil {
		return err
	}
	q, err := a.readRequest(x)
	if err != nil {
		return err
	}
	q.IdempotencyKey = key
	q.Join.Retry = serving.Repeats(x.Request.Header)
	result, err := x.session.Generate(x.Ctx, q)
	if key == "" && serving.Costly(err) {
		// OpenAI's clients repeat a 500 of their own accord, and would be charged again.
		x.Header().Set("X-Should-Retry", "false")
	}
	if err != nil {
		return err
	}
	gone := x.Request.Context().Err() != nil
	defer func() { x.session.ReportDelivery(result.ID, !gone && x.Sent()) }() // also when the answer panics
	return x.result(result)
}

// result answers a Generate: 202 if the work is queued, else 200. A replay of a 202 is a 202 again,
// however far the work has come, since the engine returns the first answer.
func (x *exchange) result(r imagegen.Result) error {
	x.Generation = r.ID
	status, body := http.StatusOK, wire.NewResult(r, x.Base)
	if r.Status == imagegen.StatusQueued {
		status = http.StatusAccepted
	}
	x.Header().Set("Location", body.PollURL)
	if r.Replayed {
		x.Header().Set("Idempotent-Replayed", "true")
	}
	return x.JSON(status, body)
}
