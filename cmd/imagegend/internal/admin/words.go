package admin

import (
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// worded is an error in words for an operator; what it wraps is for errors.Is.
type worded struct {
	text string
	err  error
}

func (e *worded) Error() string { return e.text }
func (e *worded) Unwrap() error { return e.err }

// words leaves out codes, which are for programs, and tells the cause where there is one: an
// operator may see it.
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
