package upstream

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	// maxFailure is how much is read of an answer that is no success.
	maxFailure = 64 << 10
	// maxExcerpt is how many characters of it get into the log.
	maxExcerpt = 300
	// cutOff stands for the rest.
	cutOff = "…"
)

// Failure is an answer that is no success.
type Failure struct {
	Status int
	Header http.Header
	Body   []byte // the first 64 KiB, without the key should the upstream repeat it
}

// Error is what the status alone says. 429 is rate-limited; 401, 402 and 403, and 404, 405 and 410, for
// no request chooses the path, are an operator's matter; 400, 409, 413, 415 and 422 are invalid; all
// else is unknown, 5xx too: no upstream can promise for the proxies before it that nothing was made.
func (f Failure) Error() *imagegen.ProviderError {
	e := &imagegen.ProviderError{Err: &StatusError{f.Status, RetryAfter(f.Header), Excerpt(f.Body)}}
	switch f.Status {
	case http.StatusTooManyRequests:
		e.Class, e.RetryAfter = imagegen.ClassRateLimited, RetryAfter(f.Header)
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Class, e.Message = imagegen.ClassUnusable, "the upstream refused the API key"
	case http.StatusPaymentRequired:
		e.Class, e.Message = imagegen.ClassUnusable, "the upstream wants to be paid"
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		e.Class, e.Message = imagegen.ClassUnusable, "the upstream does not know the model or the address; was the model retired?"
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
		e.Class = imagegen.ClassInvalid
	}
	if f.Status/100 == 3 {
		e.Message = "the upstream redirects, which is not followed; correct the base URL"
	}
	return e
}

// Unsettled is the error of a question about work that the upstream took in: it may have been done,
// whatever became of the question.
func Unsettled(err error) error {
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok || e.Class != imagegen.ClassUnusable {
		return err
	}
	unsettled := *e
	unsettled.Class = imagegen.ClassUnknown
	return &unsettled
}

// StatusError is the cause in the errors of Failure: what the upstream answered, short enough for
// the log.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // 0 if the upstream did not say
	Excerpt    string
}

func (e *StatusError) Error() string {
	if e.Excerpt == "" {
		return fmt.Sprintf("the upstream answered %d and said nothing", e.Status)
	}
	return fmt.Sprintf("the upstream answered %d: %s", e.Status, e.Excerpt)
}

func (c *Client) failed(r *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(r.Body, maxFailure)) // what came will do
	f := Failure{Status: r.StatusCode, Header: r.Header, Body: []byte(c.redact(string(raw)))}
	e := f.Error()
	if c.options.Classify != nil {
		e = cmp.Or(c.options.Classify(f), e)
	}
	if r.StatusCode == http.StatusServiceUnavailable { // whether or not something was made
		e.Overloaded, e.RetryAfter = true, cmp.Or(e.RetryAfter, RetryAfter(f.Header))
	}
	return e
}

// broken is the error of a request that got no answer.
func (c *Client) broken(ctx context.Context, err error, sent *sending, connected bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // the URL may be a capability
	}
	if unread := sent.failure(); unread != nil {
		// The upstream has less than the length that was announced: it cannot have begun.
		return &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "a reference image could not be read", Err: unread}
	}
	if _, forbidden := errors.AsType[*addressError](err); forbidden {
		return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the upstream's address is not permitted", Err: err}
	}
	if !connected {
		return &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "the upstream could not be reached", Err: err}
	}
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the upstream was lost before it answered", Err: err}
}

// Broken is the error of an answer that could not be read to its end or understood: of
// ClassUnknown, or the context's cause.
func Broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the upstream's answer could not be read", Err: err}
}

// RetryAfter reads the header of that name, seconds or an HTTP date, or OpenAI's Retry-After-Ms, which is
// finer; 0 if there is none, it cannot be read, or it is past.
func RetryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseUint(strings.TrimSpace(h.Get("Retry-After-Ms")), 10, 31); err == nil {
		return time.Duration(ms) * time.Millisecond
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// Excerpt is one short line of what an upstream said, whatever that was.
func Excerpt(body []byte) string {
	visible := func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}
	words := strings.Join(strings.Fields(strings.Map(visible, strings.ToValidUTF8(string(body), " "))), " ")
	if runes := []rune(words); len(runes) > maxExcerpt {
		return string(runes[:maxExcerpt]) + cutOff
	}
	return words
}
