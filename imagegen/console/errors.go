package console

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
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
// users. A code that is missing here is answered as an internal error.
var errorViews = map[imagegen.Code]errorView{
	imagegen.CodeNotFound:             {Status: http.StatusNotFound, Title: "Not found", Message: "There is nothing at this address, or it is not yours to see."},
	imagegen.CodeInvalidRequest:       {Status: http.StatusBadRequest, Title: "That cannot be done"},
	imagegen.CodeInsufficientCredits:  {Status: http.StatusPaymentRequired, Title: "Too few credits"},
	imagegen.CodeChargeRefused:        {Status: http.StatusForbidden, Title: "The account cannot be charged"},
	imagegen.CodeIdempotencyKeyInUse:  {Status: http.StatusConflict, Title: "Still running"},
	imagegen.CodeNotCancellable:       {Status: http.StatusConflict, Title: "Too late"},
	imagegen.CodeIdempotencyKeyReused: {Status: http.StatusUnprocessableEntity, Title: "Another request"},
	imagegen.CodeGenerationFailed:     {Status: http.StatusInternalServerError, Title: "The generation failed"},
	imagegen.CodeRateLimited:          {Status: http.StatusTooManyRequests, Title: "Too many refusals"},
	imagegen.CodeOverloaded:           {Status: http.StatusServiceUnavailable, Title: "Too much work at the moment"},
}

// internalError hides what went wrong, which is only for the log.
var internalError = errorView{Status: http.StatusInternalServerError, Title: "Something went wrong",
	Message: "It is not your fault, and it was noted. Try again; if it happens again, tell the operator the reference.",
	Code:    imagegen.CodeInternal}

// errorViewOf decides what an error's page shows. Only errors of the service itself, which are an *imagegen.Error,
// show their message.
func errorViewOf(err error) errorView {
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
		t.Message = sentence(e.Message)
	}
	return t
}

// fail answers with an error; all errors of handlers come here. A server error is logged under a reference that the
// page shows. Once the answer has begun, and when the browser has gone, fail panics with http.ErrAbortHandler, which
// cuts the connection.
func (p *page) fail(err error) {
	if ctx := p.context(); ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		panic(http.ErrAbortHandler) // the browser has gone: nobody is there to be answered
	}
	// The reference leads an operator from what a user reports to the line in the log.
	t := errorViewOf(err)
	if t.Status >= http.StatusInternalServerError {
		t.Reference = rand.Text()[:8]
		p.log(err, "reference", t.Reference)
	}
	if p.begun {
		panic(http.ErrAbortHandler)
	}
	if e, ok := errors.AsType[*imagegen.Error](err); ok && e.RetryAfter > 0 {
		p.retryAfter(e.RetryAfter)
	}
	// If not even the error's page can be rendered, plain text has to do.
	if err := p.renderStatus(t.Status, "error", t); err != nil {
		p.log(err)
		http.Error(p.w, t.Title, t.Status)
	}
}

// retryAfter sets the header that says when to ask again, rounded up to whole seconds: never too early.
func (p *page) retryAfter(d time.Duration) {
	p.w.Header().Set("Retry-After", strconv.Itoa(int((d+time.Second-1)/time.Second)))
}

// log logs an error with the route instead of the path, since the path of a link contains its secret.
func (p *page) log(err error, args ...any) {
	p.c.cfg.Log.ErrorContext(p.context(), "a page failed", append([]any{"route", p.route.pattern, "user", p.person.ID, "error", err}, args...)...)
}

// sentence turns an error's message, which begins in lower case and has no full stop, into a sentence.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:] + "."
}
