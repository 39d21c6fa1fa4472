package console

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// maxForm is the most bytes of a form without files.
const maxForm = 64 << 10

// formTime is how long a form without files may take to arrive.
const formTime = 30 * time.Second

// form is what a browser's user entered, and what is wrong with it.
type form struct {
	values url.Values
	faults map[string]string // by field
	fault  string            // of the form as a whole
}

// form reads the form that was sent.
func (p *page) form() (*form, error) {
	p.r.Body = http.MaxBytesReader(p.w, p.r.Body, maxForm)
	err := p.r.ParseForm()
	if err == nil {
		_, err = io.Copy(io.Discard, p.r.Body) // of a body that is no form
	}
	if err != nil {
		return nil, unreadable(err)
	}
	http.NewResponseController(p.w).SetReadDeadline(time.Time{}) // it is there; see ServeHTTP
	return &form{values: p.r.PostForm}, nil
}

// unreadable says what was wrong with a form that could not be read, and what to do: how the network
// puts it helps nobody who looks at a page.
func unreadable(err error) error {
	message := "the form is malformed or ended early; send it again"
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		message = "the form is too large; shorten what you entered"
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		message = "the form came too slowly; send it again"
	}
	return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: message, Err: err}
}

// filled returns a form that shows names and values in turn, as if they had been entered.
func filled(pairs ...string) *form {
	f := &form{values: url.Values{}}
	for i := 0; i < len(pairs); i += 2 {
		f.values.Set(pairs[i], pairs[i+1])
	}
	return f
}

// Value is what was entered, without space around it.
func (f *form) Value(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// secret is what was entered, with the space around it; no page shows it again.
func (f *form) secret(name string) string { return f.values.Get(name) }

// addFault says what is wrong with a field and what to do, as a sentence.
func (f *form) addFault(name, format string, args ...any) {
	if f.faults == nil {
		f.faults = map[string]string{}
	}
	if f.faults[name] == "" {
		f.faults[name] = fmt.Sprintf(format, args...)
	}
}

// addFormFault says what is wrong with the form as a whole.
func (f *form) addFormFault(format string, args ...any) { f.fault = fmt.Sprintf(format, args...) }

// refuse puts an error that the user can mend beside a field; name "" means above the form. Any
// other error is returned.
func (f *form) refuse(name string, err error) error {
	e, ok := errors.AsType[*imagegen.Error](err)
	mendable := []imagegen.Code{imagegen.CodeInvalidRequest, imagegen.CodeInsufficientCredits, imagegen.CodeChargeRefused}
	if !ok || !slices.Contains(mendable, e.Code) {
		return err
	}
	if name == "" {
		f.addFormFault("%s", sentence(e.Message))
	} else {
		f.addFault(name, "%s", sentence(e.Message))
	}
	return nil
}

// valid reports whether nothing is wrong.
func (f *form) valid() bool { return f.fault == "" && len(f.faults) == 0 }

// Fault is what is wrong with a field; with "", with the form as a whole.
func (f *form) Fault(name string) string {
	if name == "" {
		return f.fault
	}
	return f.faults[name]
}
