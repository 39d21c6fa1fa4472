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

// maxForm is the largest size of a form without files, in bytes.
const maxForm = 64 << 10

// formTime is how long a form without files may take to arrive.
const formTime = 30 * time.Second

// form is what somebody has entered, and what is wrong with it. Handlers read values with methods that add faults,
// and then ask valid; a form with faults is shown again with status 422.
type form struct {
	values url.Values
	faults map[string]string // a sentence for each field with a fault; may be nil
	fault  string            // a sentence about the form as a whole; "": none
}

// form reads the form that was sent, without values of the address. It reads the body to its end, also one that is no
// form, so that a body that is too large or too slow is an error of every handler. ErrInvalidRequest: the form cannot
// be read.
func (p *page) form() (*form, error) {
	p.r.Body = http.MaxBytesReader(p.w, p.r.Body, maxForm)
	err := p.r.ParseForm()
	if err == nil {
		_, err = io.Copy(io.Discard, p.r.Body) // of a body that is no form
	}
	if err != nil {
		return nil, unreadable(err)
	}
	http.NewResponseController(p.w).SetReadDeadline(time.Time{}) // the form has arrived; see ServeHTTP
	return &form{values: p.r.PostForm}, nil
}

// unreadable turns an error of reading a form into one that tells people what to do.
func unreadable(err error) error {
	message := "the form is malformed or ended early; send it again"
	if _, large := errors.AsType[*http.MaxBytesError](err); large {
		message = "the form is too large; shorten what you entered"
	} else if errors.Is(err, os.ErrDeadlineExceeded) {
		message = "the form came too slowly; send it again"
	}
	return &imagegen.Error{Code: imagegen.CodeInvalidRequest, Message: message, Err: err}
}

// filled returns a form with values, given as alternating names and values, as if they had been entered.
func filled(pairs ...string) *form {
	f := &form{values: url.Values{}}
	for i := 0; i < len(pairs); i += 2 {
		f.values.Set(pairs[i], pairs[i+1])
	}
	return f
}

// Value is what was entered in a field, without surrounding space. A field that was not sent is empty.
func (f *form) Value(name string) string { return strings.TrimSpace(f.values.Get(name)) }

// secret is what was entered in a field, as it is: space may be part of a password. No page may show it again.
func (f *form) secret(name string) string { return f.values.Get(name) }

// addFault records what is wrong with a field and what to do, as a sentence. The first fault of a field stays.
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

// refuse turns an error that the user can correct into a fault of a field; "" means of the form as a whole. It
// returns any other error, and nil in place of one that it has turned into a fault: so check valid after it.
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

// valid reports whether the form has no faults so far.
func (f *form) valid() bool { return f.fault == "" && len(f.faults) == 0 }

// Fault is what is wrong with a field or, for "", with the form as a whole; "" if nothing is.
func (f *form) Fault(name string) string {
	if name == "" {
		return f.fault
	}
	return f.faults[name]
}
