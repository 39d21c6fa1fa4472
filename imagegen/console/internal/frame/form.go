package frame

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/form"
	"github.com/imagegend/imagegend/imagegen/internal/formdata"
)

// maxForm is the largest size of a form without files, in bytes.
const maxForm = 64 << 10

// maxField is the length of the longest text in a form with files, in bytes, except the prompt. The longest is the name
// of a file.
const maxField = 1 << 10

// maxFields is how many fields a form without files can have. The largest form of the console has far fewer.
const maxFields = 100

// formTime is how long a form without files may take to arrive.
const formTime = 30 * time.Second

// Form reads the form that was sent, without values of the address. It reads the body to its end, also one that is not
// a form, so that a body that is too large or too slow is an error of every handler. ErrInvalidRequest: the form cannot
// be read. It looks at the sign-in again once the form has come, see Still.
func (p *Page) Form() (*form.Form, error) {
	if p.Request.PostForm != nil {
		return &form.Form{Values: p.Request.PostForm}, nil // it was read before
	}
	body, err := io.ReadAll(held{http.MaxBytesReader(p.Writer, p.Request.Body, maxForm), p})
	if bytes.Count(body, []byte("&")) >= maxFields {
		return nil, imagegen.Invalid("the form has more than %d fields", maxFields)
	}
	p.Request.Body = io.NopCloser(bytes.NewReader(body))
	if err == nil {
		err = p.Request.ParseForm()
	}
	if err != nil {
		return nil, FormError(err)
	}
	http.NewResponseController(p.Writer).SetReadDeadline(time.Time{}) // the form has arrived; see ServeHTTP
	if err := p.Still(); err != nil {
		return nil, err
	}
	return &form.Form{Values: p.Request.PostForm}, nil
}

// ReadParts reads a form that may have files, see formdata.Read, and looks at the sign-in again, see Still: also every
// minute, since files may come for longer than a sign-in lasts without use. take gets its parts, and reads texts by
// Text.
func (p *Page) ReadParts(body io.Reader, boundary string, take func(formdata.Part) error) error {
	p.Request.PostForm = url.Values{}
	if err := p.hold(formdata.ReadSize); err != nil {
		return err
	}
	if err := formdata.Read(&attended{body, p, time.Now()}, boundary, take); err != nil {
		return err
	}
	return imagegen.ToUserError(p.Still())
}

// attended is a body whose coming counts as use of the sign-in.
type attended struct {
	io.Reader
	page   *Page
	looked time.Time
}

// Read implements io.Reader.
func (a *attended) Read(b []byte) (int, error) {
	if time.Since(a.looked) >= seenEvery {
		a.looked = time.Now()
		if err := a.page.Still(); err != nil {
			return 0, imagegen.ToUserError(err)
		}
	}
	return a.Reader.Read(b)
}

// Text reads a text of such a form, and adds it to the values of the form. ErrInvalidRequest: it is too long, or not
// UTF-8.
func (p *Page) Text(part formdata.Part) (string, error) {
	most := maxField
	if part.Name == "prompt" {
		most = utf8.UTFMax * imagegen.MaxPromptRunes
	}
	b, err := io.ReadAll(held{io.LimitReader(part, int64(most)+1), p}) // one byte more tells that it is too long
	switch {
	case err != nil:
		return "", err
	case len(b) > most:
		return "", FormError(&http.MaxBytesError{Limit: int64(most)})
	case !utf8.Valid(b):
		return "", imagegen.Invalid("%s is not valid UTF-8", strconv.Quote(part.Name))
	}
	p.Request.PostForm.Add(part.Name, string(b))
	return string(b), nil
}

// FormError turns an error of reading a form into one that says what to do. An *imagegen.Error is returned as it is.
func FormError(err error) error {
	if _, coded := errors.AsType[*imagegen.Error](err); coded {
		return err
	}
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
