package task

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

const (
	// maxFailedPolls is how many polls in a row may fail; one more ends the task.
	maxFailedPolls = 12
	// slowest is the longest pause between two polls, as a multiple of Runner.Interval.
	slowest = 10
	// maxWait is the longest pause that an upstream can ask for.
	maxWait = 30 * time.Second
)

// await polls until the task has ended, less and less often. An error means that the end could not be learned: it is
// the context's cause, or that of lost.
func (q *Runner) await(ctx context.Context, h Handle) (Progress, error) {
	pause, hint, failed := q.Interval, time.Duration(0), 0
	for {
		if err := upstream.Sleep(ctx, max(pause, min(hint, maxWait))); err != nil {
			return Progress{}, err
		}
		p, err := q.Queue.Poll(ctx, h)
		switch {
		case ctx.Err() != nil:
			return Progress{}, context.Cause(ctx)
		case err == nil && p.Done:
			return p, nil
		case err == nil:
			failed, hint = 0, p.Wait
		default:
			var again bool
			if hint, again = mayPass(err); !again || failed == maxFailedPolls {
				return Progress{}, lost(err)
			}
			failed++
		}
		pause = min(pause*3/2, slowest*q.Interval)
	}
}

// mayPass reports whether a failed poll is to be repeated, and after what time at least. It is if there was no
// answer, or one with the status 429 or 5xx; any other status will not change.
func mayPass(err error) (after time.Duration, again bool) {
	e, answered := errors.AsType[*upstream.StatusError](err)
	if !answered {
		return 0, true
	}
	return e.RetryAfter, e.Status == http.StatusTooManyRequests || e.Status >= http.StatusInternalServerError
}

// lost returns the error for a task whose end cannot be learned. It is of ClassUnknown, since the images may have been
// made and paid for.
func lost(err error) error {
	message := "a task that the upstream took in is out of reach"
	if e, ok := errors.AsType[*upstream.StatusError](err); ok && (e.Status == http.StatusNotFound ||
		e.Status == http.StatusGone) {
		message = "the upstream no longer knows a task that it took in"
	}
	return &imagegen.ProviderError{Class: imagegen.ClassUnknown, Message: message, Err: err}
}
