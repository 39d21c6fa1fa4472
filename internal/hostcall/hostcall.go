// Package hostcall calls functions of the program that embeds the service. It holds out where one panics or hangs.
package hostcall

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Limit is how long a call may take.
const Limit = 2 * time.Second

// hanging bounds the calls that have not returned: without it, each request would leave a goroutine behind.
var hanging = make(chan struct{}, 512)

// Do returns what f returns; name is what messages to the operator call f. ErrOverloaded: f took longer than Limit, or
// too many calls have not returned. Any error of f that is not an *imagegen.Error, and a panic, is ErrInternal, with
// the cause for the log. If ctx ends, Do returns its cause.
func Do[T any](ctx context.Context, name string, f func(context.Context) (T, error)) (value T, err error) {
	select {
	case hanging <- struct{}{}:
	default:
		return value, imagegen.Overloaded(time.Second, fmt.Errorf("%s: too many calls have not returned", name))
	}
	limited, cancel := context.WithTimeoutCause(ctx, Limit, errLate)
	defer cancel()
	value, err = Await(limited, func() { <-hanging }, f)
	_, coded := errors.AsType[*imagegen.Error](err)
	switch {
	case err == nil, coded, ctx.Err() != nil && errors.Is(err, context.Cause(ctx)):
		return value, err
	case errors.Is(err, errLate):
		return value, imagegen.Overloaded(time.Second, fmt.Errorf("%s took longer than %v", name, Limit))
	}
	return value, imagegen.Internal(fmt.Errorf("%s: %w", name, err))
}

// errLate is the cause with which a call ends that has taken Limit.
var errLate = errors.New("it took too long")

// Await returns what f returns or, if ctx ends first, the cause of that. A panic of f, and the end of its goroutine, is
// an error. returned is called once f has returned, however late that is.
func Await[T any](ctx context.Context, returned func(), f func(context.Context) (T, error)) (value T, err error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r := result{err: errors.New("it ended its goroutine")}
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("it panicked: %v\n%s", p, debug.Stack())
			}
			returned()
			done <- r
		}()
		r.value, r.err = f(ctx)
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		return value, context.Cause(ctx)
	}
}
