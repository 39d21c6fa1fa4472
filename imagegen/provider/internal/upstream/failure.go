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
	"github.com/imagegend/imagegend/imagegen/internal/guard"
)

const (
	// maxFailure is how many bytes of an answer other than 2xx are read.
	maxFailure = 64 << 10
	// maxExcerpt is how many characters of an answer Excerpt keeps, for the log.
	maxExcerpt = 300
	// cutOff is what Excerpt puts in the place of the rest.
	cutOff = "…"
)

// Failure is an answer with a status other than 2xx.
type Failure struct {
	Status int
	Header http.Header
	Body   []byte // the first 64 KiB, with the key redacted in case the upstream repeats it
}

// Error returns what the status alone says, for adapters that do not know better. 429 is of
// ClassRateLimited. 401, 402 and 403 are of ClassBlocked, since they need an operator, and so
// do 404, 405 and 410: the path is configured, and no request chooses it. 400, 409, 413, 415 and
// 422 are of ClassInvalid. Everything else is of ClassUnknown, including 5xx: a proxy in front
// of the upstream may have answered after work was done. The error wraps a [*StatusError].
func (f Failure) Error() *imagegen.ProviderError {
	e := &imagegen.ProviderError{Err: &StatusError{f.Status, RetryAfter(f.Header), Excerpt(f.Body), f}}
	switch f.Status {
	case http.StatusTooManyRequests:
		e.Class, e.RetryAfter = imagegen.ClassRateLimited, RetryAfter(f.Header)
	case http.StatusUnauthorized, http.StatusForbidden:
		e.Class, e.Message = imagegen.ClassBlocked, "the upstream refused the API key"
	case http.StatusPaymentRequired:
		e.Class, e.Message = imagegen.ClassBlocked, "the upstream asks for payment"
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		e.Class, e.Message = imagegen.ClassBlocked,
			"the upstream does not know the model or the address; was the model retired?"
	case http.StatusBadRequest, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType,
		http.StatusUnprocessableEntity:
		e.Class = imagegen.ClassInvalid
	}
	if f.Status/100 == 3 {
		e.Message = "the upstream redirects, and redirects are not followed; correct the base URL"
	}
	return e
}

// Unsettled corrects the error of a request about work that the upstream has accepted before. The work may have been
// done although this request failed. So ClassBlocked, which promises that nothing was made, becomes ClassUnknown;
// any other error is returned as it is.
func Unsettled(err error) error {
	e, ok := errors.AsType[*imagegen.ProviderError](err)
	if !ok || e.Class != imagegen.ClassBlocked {
		return err
	}
	unsettled := *e
	unsettled.Class = imagegen.ClassUnknown
	return &unsettled
}

// StatusError is the cause of the errors that Failure.Error returns: what the upstream answered, short
// enough for the log. Callers look for it to learn that an answer came, and which.
type StatusError struct {
	Status     int
	RetryAfter time.Duration // 0 if the upstream did not say
	Excerpt    string
	answer     Failure
}

// Answer is all that the upstream answered, for its adapter; it is not for the log.
func (e *StatusError) Answer() Failure { return e.answer }

func (e *StatusError) Error() string {
	if e.Excerpt == "" {
		return fmt.Sprintf("the upstream answered %d and said nothing", e.Status)
	}
	return fmt.Sprintf("the upstream answered %d: %s", e.Status, e.Excerpt)
}

// failed returns the error of an answer other than 2xx. It redacts the key before anybody sees the body, and asks the
// adapter's Classify before the status alone decides.
func (c *Client) failed(r *http.Response) error {
	raw, _ := io.ReadAll(io.LimitReader(r.Body, maxFailure)) // if it breaks off, what came is enough
	f := Failure{Status: r.StatusCode, Header: r.Header, Body: []byte(c.redact(string(raw)))}
	e := f.Error()
	if c.options.Classify != nil {
		e = cmp.Or(c.options.Classify(f), e)
	}
	if r.StatusCode == http.StatusServiceUnavailable { // whether or not something was made, it is overloaded
		e.Overloaded, e.RetryAfter = true, cmp.Or(e.RetryAfter, RetryAfter(f.Header))
	}
	return e
}

// broken returns the error of a request that got no answer. The order matters: the context's end explains every other
// failure, and a forbidden address must not count as unreachable, which would be tried again.
func (c *Client) broken(ctx context.Context, err error, sent *sending, connected bool) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which may itself grant access
	}
	if unread := sent.failure(); unread != nil {
		// The upstream has received less than the announced length, so it cannot have begun.
		return &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "a reference image could not be read",
			Err: unread}
	}
	if _, forbidden := errors.AsType[*guard.AddressError](err); forbidden {
		return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the upstream's address is not permitted",
			Err: err}
	}
	if !connected {
		return &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "the upstream could not be reached",
			Err: err}
	}
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the upstream was lost before it answered",
		Err: err}
}

// Broken returns the error for an answer that could not be read to its end, or was not
// understood: the context's cause if ctx has ended, otherwise an error of ClassUnknown that
// wraps err, since the upstream may have done the work.
func Broken(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the upstream's answer could not be read",
		Err: err}
}

// maxQuoted is how many bytes of an answer are kept for messages: enough for an Excerpt.
const maxQuoted = 4 * maxExcerpt

// quoting adds to an error what an answer began with, if body is that of an answer and has been read.
func quoting(body io.Reader, err error) error {
	a, ok := body.(*answer)
	if !ok || err == nil || len(a.begun) == 0 {
		return err
	}
	return fmt.Errorf("%w; the upstream answered: %s", err, Excerpt(a.begun))
}

// Imageless returns the error for an answer 2xx that has no image, with an excerpt of it. It is of ClassUnknown, since
// the upstream may have done the work. why says what is missing; body is the answer's, which has been read.
func Imageless(body io.Reader, why string) *imagegen.ProviderError {
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: "the upstream answered without an image",
		Err: quoting(body, errors.New(why))}
}

// Because returns an error without a cause with an excerpt of the answer for its cause.
func Because(body io.Reader, e imagegen.ProviderError) *imagegen.ProviderError {
	e.Err = quoting(body, errors.New("it gives no reason"))
	return &e
}

// RetryAfter returns the time to wait from the header Retry-After, in seconds or as an HTTP date (RFC 9110, section
// 10.2.3). OpenAI's Retry-After-Ms, in milliseconds, takes precedence because it is finer. RetryAfter returns 0 if
// there is no such header, if it cannot be read, or if the time is past.
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

// Excerpt returns up to 300 characters of what an upstream said, as one line of printable characters, whatever bytes
// it sent: excerpts go into logs. An ellipsis takes the place of the rest.
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
