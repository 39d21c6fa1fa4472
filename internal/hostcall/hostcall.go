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
	limited, cancel := context.WithTimeout(ctx, Limit)
	defer cancel()
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
			<-hanging
			done <- r
		}()
		r.value, r.err = f(limited)
	}()
	select {
	case r := <-done:
		if _, coded := errors.AsType[*imagegen.Error](r.err); r.err != nil && !coded {
			r.err = imagegen.Internal(fmt.Errorf("%s: %w", name, r.err))
		}
		return r.value, r.err
	case <-limited.Done():
		if ctx.Err() != nil {
			return value, context.Cause(ctx)
		}
		return value, imagegen.Overloaded(time.Second, fmt.Errorf("%s took longer than %v", name, Limit))
	}
}
