package admin

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// worded is an error in words for an operator. It wraps the error that it explains, for errors.Is.
type worded struct {
	text string
	err  error
}

func (e *worded) Error() string { return e.text }
func (e *worded) Unwrap() error { return e.err }

// words puts an error into words for an operator; nil stays nil. Codes are left out, since they are for programs. If
// the error has a cause, the cause takes the place of the message: operators, unlike callers, may see it.
func words(err error) error {
	e, ok := errors.AsType[*imagegen.Error](err)
	switch {
	case !ok:
		return err
	case e.Err != nil:
		return &worded{e.Err.Error(), err}
	}
	return &worded{e.Message, err}
}
