package frame

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/format"
	"github.com/imagegend/imagegend/imagegen/console/internal/password"
)

// errorView is the data of error.html.
type errorView struct {
	Status    int
	Title     string
	Message   string
	Code      imagegen.Code
	Reference string // by which the log's line of this error is found; "": it is not logged
}

// errorViews says how the page of each code looks. Without a Message it is the error's own, which is written for
// users. A code that only HTTP knows is answered as an internal error.
var errorViews = map[imagegen.Code]errorView{
	imagegen.CodeNotFound: {Status: http.StatusNotFound, Title: "Not found",
		Message: "There is nothing at this address, or it is not yours to see."},
	imagegen.CodeMissingKey:           signedOutError,
	imagegen.CodeInvalidKey:           signedOutError,
	imagegen.CodeExpiredKey:           signedOutError,
	imagegen.CodeInvalidRequest:       {Status: http.StatusBadRequest, Title: "That cannot be done"},
	imagegen.CodeInsufficientCredits:  {Status: http.StatusPaymentRequired, Title: "Too few credits"},
	imagegen.CodeChargeRefused:        {Status: http.StatusForbidden, Title: "The account cannot be charged"},
	imagegen.CodeIdempotencyKeyInUse:  {Status: http.StatusConflict, Title: "Still running"},
	imagegen.CodeCancelled:            {Status: http.StatusConflict, Title: "Cancelled"},
	imagegen.CodeNotCancellable:       {Status: http.StatusConflict, Title: "Too late"},
	imagegen.CodeIdempotencyKeyReused: {Status: http.StatusUnprocessableEntity, Title: "Another request"},
	imagegen.CodeGenerationFailed:     {Status: http.StatusInternalServerError, Title: "The generation failed"},
	imagegen.CodeRateLimited:          {Status: http.StatusTooManyRequests, Title: "Too many refusals"},
	imagegen.CodeOverloaded:           {Status: http.StatusServiceUnavailable, Title: "Too much work at the moment"},
	imagegen.CodeInternal:             internalError,
}

// signedOutError is for somebody who was signed in until now: what such an error says is about API keys.
var signedOutError = errorView{Status: http.StatusForbidden, Title: "Signed out",
	Message: "Your sign-in has ended. Sign in again."}

// internalError hides what went wrong, which is only for the log.
var internalError = errorView{Status: http.StatusInternalServerError, Title: "Something went wrong",
	Message: "It is not your fault, and it was noted. Try again; if it happens again, tell the operator the reference.",
	Code:    imagegen.CodeInternal}

// viewOfError decides what an error's page shows. Only errors of the service itself, which are an *imagegen.Error,
// show their message.
func viewOfError(err error) errorView {
	switch {
	case errors.Is(err, errCrossOrigin):
		return errorView{Status: http.StatusForbidden, Title: "Refused", Code: "crossOrigin",
			Message: "This request was sent by another site. If you meant it, open the page here and do it again."}
	case errors.Is(err, password.ErrBusy):
		err = imagegen.ErrOverloaded
	}
	e, ok := errors.AsType[*imagegen.Error](err)
	if !ok {
		return internalError
	}
	t, ok := errorViews[e.Code]
	if !ok {
		return internalError
	}
	t.Code = e.Code
	if t.Message == "" {
		t.Message = format.Sentence(e.Message)
	}
	return t
}

// answerError answers with an error; all errors of handlers come here. A server error is logged under a reference that
// the page shows. Once the answer has begun, and when the browser has gone, answerError panics with
// http.ErrAbortHandler, which cuts the connection.
func (p *Page) answerError(err error) {
	if ctx := p.Context(); ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		panic(http.ErrAbortHandler) // the browser has gone
	}
	// The reference leads an operator from what a user reports to the line in the log.
	t := viewOfError(err)
	if t.Status >= http.StatusInternalServerError && !errors.Is(err, imagegen.ErrOverloaded) {
		t.Reference = rand.Text()[:8]
		p.logError(err, "reference", t.Reference)
	}
	if p.begun {
		panic(http.ErrAbortHandler)
	}
	if e, ok := errors.AsType[*imagegen.Error](err); ok && e.RetryAfter > 0 {
		p.SetRetryAfter(e.RetryAfter)
	}
	// If not even the error's page can be rendered, plain text has to do.
	if err := p.RenderStatus(t.Status, "error", t); err != nil {
		if !errors.Is(err, imagegen.ErrOverloaded) {
			p.logError(err)
		}
		http.Error(p.Writer, t.Title, t.Status)
	}
}

// SetRetryAfter sets the header that says when to ask again, rounded up to whole seconds: never too early.
func (p *Page) SetRetryAfter(d time.Duration) {
	p.Writer.Header().Set("Retry-After", strconv.Itoa(int((d+time.Second-1)/time.Second)))
}

// logError logs an error with the route instead of the path, since the path of a link contains its secret.
func (p *Page) logError(err error, args ...any) {
	p.Log.ErrorContext(p.Context(), "a page failed",
		append([]any{"route", p.Route.Pattern, "user", p.Person.ID, "error", err}, args...)...)
}
