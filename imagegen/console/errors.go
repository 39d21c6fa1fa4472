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

// errorView is an error as it is shown.
type errorView struct {
	Status    int
	Title     string
	Message   string
	Code      imagegen.Code
	Reference string // under which the log tells more
}

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

var internalError = errorView{Status: http.StatusInternalServerError, Title: "Something went wrong",
	Message: "It is not your fault, and it was noted. Try again; if it happens again, tell the operator the reference.",
	Code:    imagegen.CodeInternal}

// errorViewOf turns an error into what is shown of it.
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

// fail answers with an error. It is the only place that does.
func (p *page) fail(err error) {
	if ctx := p.context(); ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		panic(http.ErrAbortHandler) // the browser has gone, or will not get the whole
	}
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
	if err := p.renderStatus(t.Status, "error", t); err != nil {
		p.log(err)
		http.Error(p.w, t.Title, t.Status)
	}
}

// retryAfter says when to ask again: whole seconds, never too early.
func (p *page) retryAfter(d time.Duration) {
	p.w.Header().Set("Retry-After", strconv.Itoa(int((d+time.Second-1)/time.Second)))
}

// log notes an error, with the route instead of the path: an invitation's path is a secret.
func (p *page) log(err error, args ...any) {
	p.c.cfg.Log.ErrorContext(p.context(), "a page failed", append([]any{"route", p.route.pattern, "user", p.person.ID, "error", err}, args...)...)
}

// sentence makes a sentence of an error's message.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:] + "."
}
