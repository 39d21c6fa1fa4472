package frame

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
)

// maxForm is the largest size of a form without files, in bytes.
const maxForm = 64 << 10

// maxFields is how many fields a form without files can have. The largest form of the console has far fewer.
const maxFields = 100

// formTime is how long a form without files may take to arrive.
const formTime = 30 * time.Second

// Form reads the form that was sent, without values of the address. It reads the body to its end, also one that is not
// a form, so that a body that is too large or too slow is an error of every handler. ErrInvalidRequest: the form cannot
// be read.
func (p *Page) Form() (*form.Form, error) {
	body, err := io.ReadAll(http.MaxBytesReader(p.Writer, p.Request.Body, maxForm))
	if bytes.Count(body, []byte("&")) >= maxFields {
		return nil, imagegen.Invalid("the form has more than %d fields", maxFields)
	}
	p.Request.Body = io.NopCloser(bytes.NewReader(body)) // empty once the form was read
	if err == nil {
		err = p.Request.ParseForm()
	}
	if err != nil {
		return nil, FormError(err)
	}
	http.NewResponseController(p.Writer).SetReadDeadline(time.Time{}) // the form has arrived; see ServeHTTP
	return &form.Form{Values: p.Request.PostForm}, nil
}

// FormError turns an error of reading a form into one that says what to do.
func FormError(err error) error {
	message := "the form is malformed or ended early; send it again"
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		message = "the form is too large; shorten what you entered"
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		message = "the form came too slowly; send it again"
	}
	return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: message, Err: err}
}

// AndForm extends a function that finds what a path names for a handler, such as WithUser: the handlers get the form
// that was sent as well.
func AndForm[T any](with func(func(*Page, T) error) Handler) func(func(*Page, T, *form.Form) error) Handler {
	return func(h func(*Page, T, *form.Form) error) Handler {
		return with(func(p *Page, t T) error {
			return WithForm(func(p *Page, f *form.Form) error { return h(p, t, f) })(p)
		})
	}
}

// WithForm returns a handler that reads the form that was sent, for another.
func WithForm(h func(p *Page, f *form.Form) error) Handler {
	return func(p *Page) error {
		f, err := p.Form()
		if err != nil {
			return err
		}
		return h(p, f)
	}
}
