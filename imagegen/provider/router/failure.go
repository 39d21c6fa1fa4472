package router

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/imagegend/imagegend/imagegen"
)

// longestPause bounds the pause before a retry.
const longestPause = 30 * time.Second

// allFailed is the error of a round in which no member made the images. Each reason is of a
// class after which the member can be asked again.
type allFailed struct{ reasons []error }

func (s *allFailed) Error() string { return errors.Join(s.reasons...).Error() }

// wait returns the shortest time after which a member may be asked again; 0 if one of them names no time. ok is false
// if all of them need an operator.
func (s *allFailed) wait() (shortest time.Duration, ok bool) {
	waits := waits(slices.DeleteFunc(slices.Clone(s.reasons), func(err error) bool {
		return classOf(err) == imagegen.ClassBlocked
	}))
	if len(waits) == 0 {
		return 0, false
	}
	return slices.Min(waits), true
}

// soonest returns the shortest time that a reason names; 0 if none does.
func (s *allFailed) soonest() time.Duration {
	said := slices.DeleteFunc(waits(s.reasons), func(d time.Duration) bool { return d <= 0 })
	if len(said) == 0 {
		return 0
	}
	return slices.Min(said)
}

// waits returns the time that each reason names; 0 for one that names none.
func waits(reasons []error) []time.Duration {
	all := make([]time.Duration, len(reasons))
	for i, err := range reasons {
		if p, ok := errors.AsType[*imagegen.ProviderError](err); ok {
			all[i] = p.RetryAfter
		}
	}
	return all
}

// providerError is the error that the call ends with: of ClassRateLimited or ClassBlocked if
// all reasons are, else of ClassUnavailable. It says that the upstream was overloaded if all of them were.
func (s *allFailed) providerError() *imagegen.ProviderError {
	e := &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "no upstream could take the request",
		Err: errors.Join(s.reasons...)}
	e.RetryAfter, _ = s.wait()
	for _, c := range []imagegen.Class{imagegen.ClassRateLimited, imagegen.ClassBlocked} {
		if !slices.ContainsFunc(s.reasons, func(err error) bool { return classOf(err) != c }) {
			e.Class = c
		}
	}
	e.Overloaded = !slices.ContainsFunc(s.reasons, func(err error) bool { return !overloaded(err) })
	return e
}

// retryPolicy makes another round after all members have failed, unless all need an operator or none of them may be
// asked again within longestPause.
func (c Config) retryPolicy() retrypolicy.RetryPolicy[any] {
	return retrypolicy.NewBuilder[any]().
		HandleIf(func(_ any, err error) bool {
			all, ok := errors.AsType[*allFailed](err)
			if !ok {
				return false
			}
			wait, ok := all.wait()
			return ok && wait <= longestPause
		}).
		WithMaxRetries(c.Retries).
		WithDelayFunc(func(e failsafe.ExecutionAttempt[any]) time.Duration {
			pause := min(c.Backoff, longestPause)
			for range e.Retries() {
				pause = min(2*pause, longestPause)
			}
			if all, ok := errors.AsType[*allFailed](e.LastError()); ok {
				wait, _ := all.wait()
				pause = max(pause, wait)
			}
			return pause
		}).
		ReturnLastFailure().
		Build()
}

// classOf is the class of a provider's error; ClassUnknown for any other error.
func classOf(err error) imagegen.Class {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok {
		return p.Class
	}
	return imagegen.ClassUnknown
}

// overloaded reports whether an upstream had too much to do.
func overloaded(err error) bool {
	p, ok := errors.AsType[*imagegen.ProviderError](err)
	return ok && (p.Overloaded || p.Class == imagegen.ClassRateLimited)
}

// faulty reports whether an error counts against the member. A rate limit does not: the
// member works.
func faulty(err error) bool {
	c := classOf(err)
	return err != nil && (c == imagegen.ClassUnavailable || c == imagegen.ClassUnknown || c == imagegen.ClassBlocked)
}

// errorText is an error of a member as an operator reads it.
func errorText(err error) string { return strings.TrimPrefix(err.Error(), "provider: ") }
