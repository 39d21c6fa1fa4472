package serving

import (
	"context"
	"errors"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/wire"
	"github.com/imagegend/imagegend/internal/httpguard"
)

// The codes that only HTTP knows.
const (
	CodeMethodNotAllowed    imagegen.Code = "methodNotAllowed"
	CodePreconditionFailed  imagegen.Code = "preconditionFailed"
	CodeRangeNotSatisfiable imagegen.Code = "rangeNotSatisfiable"
)

// statuses is the one table of statuses. A code that is missing here is answered with 500.
var statuses = map[imagegen.Code]int{
	imagegen.CodeInvalidRequest:       http.StatusBadRequest,
	imagegen.CodeMissingKey:           http.StatusUnauthorized,
	imagegen.CodeInvalidKey:           http.StatusUnauthorized,
	imagegen.CodeExpiredKey:           http.StatusUnauthorized,
	imagegen.CodeInsufficientCredits:  http.StatusPaymentRequired,
	imagegen.CodeChargeRefused:        http.StatusForbidden,
	imagegen.CodeNotFound:             http.StatusNotFound,
	CodeMethodNotAllowed:              http.StatusMethodNotAllowed,
	imagegen.CodeIdempotencyKeyInUse:  http.StatusConflict,
	imagegen.CodeNotCancellable:       http.StatusConflict,
	CodePreconditionFailed:            http.StatusPreconditionFailed,
	CodeRangeNotSatisfiable:           http.StatusRequestedRangeNotSatisfiable,
	httpguard.CodeUnsupportedEncoding: http.StatusUnsupportedMediaType,
	imagegen.CodeIdempotencyKeyReused: http.StatusUnprocessableEntity,
	imagegen.CodeRateLimited:          http.StatusTooManyRequests,
	imagegen.CodeGenerationFailed:     http.StatusInternalServerError,
	imagegen.CodeInternal:             http.StatusInternalServerError,
	imagegen.CodeOverloaded:           http.StatusServiceUnavailable,
}

// Fail answers with an error, and keeps it for the log. render makes the body, and may choose another
// status. What goes into the header is the same for all interfaces: Retry-After, WWW-Authenticate,
// Location and Idempotent-Replayed.
func (x *Exchange) Fail(err error, render func(e *imagegen.Error, status int) (int, any)) {
	x.Err = err
	e := Coded(err)
	status := StatusOf(e)
	if e == abandoned && x.Ctx.Err() != nil {
		status = statusGone
	}
	h := x.Header()
	switch e.Code {
	case imagegen.CodeOverloaded, imagegen.CodeRateLimited, imagegen.CodeIdempotencyKeyInUse:
		h.Set("Retry-After", Seconds(e.RetryAfter))
	}
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.Generation != "" && (e.Code == imagegen.CodeGenerationFailed || e.Code == imagegen.CodeIdempotencyKeyInUse) {
		h.Set("Location", x.Base+wire.GenerationPath(e.Generation))
	}
	if e.Replayed {
		h.Set("Idempotent-Replayed", "true")
	}
	status, body := render(e, status)
	x.JSON(status, body)
}

// StatusOf is the status of an answer that is an error.
func StatusOf(e *imagegen.Error) int {
	if status, ok := statuses[e.Code]; ok {
		return status
	}
	return http.StatusInternalServerError
}

// statusGone is logged if the caller has hung up: nobody reads the answer, and nothing has failed. It
// is the number that nginx uses for that.
const statusGone = 499

// Coded returns what may be shown of an error. Any error without a code is shown as ErrInternal, so
// that nothing internal leaks.
func Coded(err error) *imagegen.Error {
	if e, ok := errors.AsType[*imagegen.Error](err); ok {
		return e
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return abandoned
	}
	return imagegen.ErrInternal
}

// abandoned is the answer to a call whose context ended: the caller has gone, or the server is closing.
var abandoned = &imagegen.Error{Code: imagegen.CodeInternal,
	Message: "the call was cut off before its end; ask again with the same Idempotency-Key"}

// Seconds is a Retry-After: whole seconds, rounded up and at least 1.
func Seconds(d time.Duration) string {
	return strconv.Itoa(max(1, int(math.Ceil(d.Seconds()))))
}
