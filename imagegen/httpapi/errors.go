package httpapi

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
)

// The codes that only HTTP knows.
const (
	codeMethodNotAllowed    imagegen.Code = "methodNotAllowed"
	codePreconditionFailed  imagegen.Code = "preconditionFailed"
	codeRangeNotSatisfiable imagegen.Code = "rangeNotSatisfiable"
)

var statuses = map[imagegen.Code]int{
	imagegen.CodeInvalidRequest:       http.StatusBadRequest,
	imagegen.CodeMissingKey:           http.StatusUnauthorized,
	imagegen.CodeInvalidKey:           http.StatusUnauthorized,
	imagegen.CodeExpiredKey:           http.StatusUnauthorized,
	imagegen.CodeInsufficientCredits:  http.StatusPaymentRequired,
	imagegen.CodeChargeRefused:        http.StatusForbidden,
	imagegen.CodeNotFound:             http.StatusNotFound,
	codeMethodNotAllowed:              http.StatusMethodNotAllowed,
	imagegen.CodeIdempotencyKeyInUse:  http.StatusConflict,
	codePreconditionFailed:            http.StatusPreconditionFailed,
	codeRangeNotSatisfiable:           http.StatusRequestedRangeNotSatisfiable,
	imagegen.CodeIdempotencyKeyReused: http.StatusUnprocessableEntity,
	imagegen.CodeRateLimited:          http.StatusTooManyRequests,
	imagegen.CodeGenerationFailed:     http.StatusInternalServerError,
	imagegen.CodeInternal:             http.StatusInternalServerError,
	imagegen.CodeOverloaded:           http.StatusServiceUnavailable,
}

var errPreconditionFailed = &imagegen.Error{Code: codePreconditionFailed,
	Message: "what is here is not what If-Match or If-Unmodified-Since asks for; leave the header out to read it"}

// fail answers with an error. It is the only place that does.
func (x *exchange) fail(err error) {
	x.err = err
	e := coded(err)
	status, ok := statuses[e.Code]
	if !ok {
		status = http.StatusInternalServerError
	}
	if e == abandoned && x.ctx.Err() != nil {
		status = statusGone
	}
	h := x.Header()
	switch e.Code {
	case imagegen.CodeOverloaded, imagegen.CodeRateLimited, imagegen.CodeIdempotencyKeyInUse:
		h.Set("Retry-After", seconds(e.RetryAfter))
	}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.Generation != "" && (e.Code == imagegen.CodeGenerationFailed || e.Code == imagegen.CodeIdempotencyKeyInUse) {
		h.Set("Location", x.base+wire.GenerationPath(e.Generation))
	}
	if e.Replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	x.json(status, wire.ErrorBody{Error: wire.Failure{Message: e.Message, Code: e.Code}}) // two strings always encode
}

// statusGone stands in the log where the caller has hung up: nobody reads the answer, and nothing has
// failed. It is the number that proxies write there.
const statusGone = 499

// coded returns what may be shown of an error.
func coded(err error) *imagegen.Error {
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return abandoned
	}
	return imagegen.ErrInternal
}

// abandoned answers a call whose context ended: the caller has gone, or the server is closing.
var abandoned = &imagegen.Error{Code: imagegen.CodeInternal, Message: "the call was cut off before its end; ask again with the same Idempotency-Key"}

// seconds is a Retry-After: whole seconds, never too early.
func seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
