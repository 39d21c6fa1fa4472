package router

import (
	"errors"
	"slices"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/retrypolicy"

	"github.com/imagegend/imagegend/imagegen"
)

// longestPause bounds the pause before a retry.
const longestPause = 30 * time.Second

// setback says why no member has taken a request on, so that all can be asked again.
type setback struct{ reasons []error }

func (s *setback) Error() string { return errors.Join(s.reasons...).Error() }

// wait is the shortest time after which a member may be asked again; 0 if one has not said.
func (s *setback) wait() time.Duration {
	if len(s.reasons) == 0 {
		return 0
	}
	return slices.Min(s.waits())
}

// recovery is the shortest time that a member has said; 0 if none has.
func (s *setback) recovery() time.Duration {
	said := slices.DeleteFunc(s.waits(), func(d time.Duration) bool { return d <= 0 })
	if len(said) == 0 {
		return 0
	}
	return slices.Min(said)
}

func (s *setback) waits() []time.Duration {
	all := make([]time.Duration, len(s.reasons))
	for i, err := range s.reasons {
		if p, ok := errors.AsType[*imagegen.ProviderError](err); ok {
			all[i] = p.RetryAfter
		}
	}
	return all
}

// providerError is what the caller is told: of ClassRateLimited if nothing else stands in the way.
func (s *setback) providerError() *imagegen.ProviderError {
	e := &imagegen.ProviderError{Class: imagegen.ClassRateLimited, Message: "no upstream could take the request",
		RetryAfter: s.wait(), Err: errors.Join(s.reasons...)}
	for _, err := range s.reasons {
		if classOf(err) != imagegen.ClassRateLimited {
			e.Class = imagegen.ClassUnavailable
		}
	}
	return e
}

// retryPolicy asks all members again after a setback.
func (c Config) retryPolicy() retrypolicy.RetryPolicy[any] {
	return retrypolicy.NewBuilder[any]().
		HandleIf(func(_ any, err error) bool {
			all, ok := errors.AsType[*setback](err)
			return ok && all.wait() <= longestPause
		}).
		WithMaxRetries(c.Retries).
		WithDelayFunc(func(e failsafe.ExecutionAttempt[any]) time.Duration {
			pause := min(c.Backoff, longestPause)
			for range e.Retries() {
				pause = min(2*pause, longestPause)
			}
			if all, ok := errors.AsType[*setback](e.LastError()); ok {
				pause = max(pause, all.wait())
			}
			return pause
		}).
		ReturnLastFailure().
		Build()
}

// classOf is that of the provider's error; ClassUnknown for any other.
func classOf(err error) imagegen.Class {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok {
		return p.Class
	}
	return imagegen.ClassUnknown
}

// faulty reports whether an error speaks against the member. Being rate-limited does not: it works.
func faulty(err error) bool {
	c := classOf(err)
	return err != nil && (c == imagegen.ClassUnavailable || c == imagegen.ClassUnknown)
}
