package adminserver

import (
	"errors"
	"fmt"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/client/admin"
)

// worded is an error in words for an operator. It wraps the error that it explains, for errors.Is; nil: a rule of this
// package said no.
type worded struct {
	text string
	err  error
}

// refusal is the error of a rule that said no. It is final, so its status asks a program not to repeat the call.
func refusal(format string, args ...any) error { return &worded{fmt.Sprintf(format, args...), nil} }

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

// missing is words, but of an ErrNotFound it says what is missing, and where to look.
func missing(err error, format string, args ...any) error {
	if errors.Is(err, imagegen.ErrNotFound) {
		return &worded{fmt.Sprintf(format, args...), err}
	}
	return words(err)
}

// listed returns the list itself, but never nil, as lists.Each does.
func listed[T any](all []T) []T { return append([]T{}, all...) }

// orNull is nil for "", which is null in JSON.
func orNull[S ~string](s S) *S {
	if s == "" {
		return nil
	}
	return &s
}

// at is a time as calls have it.
func at(t time.Time) admin.Time { return admin.Time{Time: t} }

// checkLimit refuses a list of less than one element, which would look like one that is empty.
func checkLimit(n int) error {
	if n < 1 {
		return words(imagegen.Invalid("limit is at least 1; got %d", n))
	}
	return nil
}
