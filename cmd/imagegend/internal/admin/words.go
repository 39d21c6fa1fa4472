package admin

import (
	"errors"
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// worded is an error in words for an operator. It wraps the error that it explains, for errors.Is; nil: a rule of this
// package said no.
type worded struct {
	text string
	err  error
}

// refusal is the error of a rule that said no. It is final, so a program is told not to repeat the call.
func refusal(format string, args ...any) error { return &worded{fmt.Sprintf(format, args...), nil} }

// ruled reports whether a rule of this package said no.
func ruled(err error) bool {
	e, ok := errors.AsType[*worded](err)
	return ok && e.err == nil
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
