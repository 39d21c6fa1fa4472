package router

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"github.com/imagegend/imagegend/imagegen"
)

// maxPause bounds how long a member's RetryAfter keeps requests away from it.
const maxPause = time.Minute

// member is a provider and what is known about its health. It is safe for concurrent use.
type member struct {
	name     string
	upstream string
	weight   int
	atOnce   int // 0: any number
	provider imagegen.Provider
	can      imagegen.Capabilities
	breaker  circuitbreaker.CircuitBreaker[any]
	places   bulkhead.Bulkhead[any] // nil: no limit
	freed    *broadcast
	log      *slog.Logger

	// acquiring is held while a place and the breaker's permit are taken together. Without it, a request could find
	// all places taken, and wait, although one is given back at once because the breaker refuses.
	acquiring sync.Mutex

	mu          sync.Mutex // guards the fields below
	pausedUntil time.Time  // rate-limited or overloaded until then
	failure     error      // its last failure
}

func newMember(m Member, c Config, freed *broadcast) *member {
	n := &member{name: m.Name, upstream: m.Upstream, weight: m.Weight, atOnce: m.MaxConcurrent, provider: m.Provider,
		can: m.Provider.Capabilities().WithDefaults(), freed: freed, log: c.Log.With("member", m.Name)}
	if p, ok := m.Provider.(imagegen.ConcurrencyLimiter); ok && n.atOnce == 0 {
		n.atOnce = p.MaxConcurrent()
	}
	n.breaker = c.breaker(n)
	if n.atOnce > 0 {
		n.places = bulkhead.New[any](uint(n.atOnce))
	}
	return n
}

// permit is the right to ask a member. Call end exactly once, whatever happens.
type permit struct {
	*member
	trial   bool // its request is to find out whether the member works again
	resumed bool // its request continues a job, which says nothing about new work
}

// errFull never leaves this package: Provider.acquire waits then.
var errFull = errors.New("all places are taken")

// acquire returns errFull if no place is free, or an error that wraps a *imagegen.ProviderError
// if the member is not available. It never waits.
func (m *member) acquire() (permit, error) {
	if ill := m.unavailable(); ill != nil {
		return permit{}, m.skipped(ill)
	}
	m.acquiring.Lock()
	defer m.acquiring.Unlock()
	if m.places != nil && !m.places.TryAcquirePermit() {
		return permit{}, errFull
	}
	if !m.breaker.TryAcquirePermit() {
		m.release() // without a wake-up: no place was freed, and waiting requests would try again without a pause
		return permit{}, m.skipped(&imagegen.ProviderError{Class: imagegen.ClassUnavailable,
			Message: "another request is finding out whether it works again"})
	}
	return permit{member: m, trial: m.breaker.IsHalfOpen()}, nil
}

// reacquire waits for a place. It ignores the member's health, since no other member can
// continue its job. The only error is the context's cause.
func (m *member) reacquire(ctx context.Context) (permit, error) {
	if m.places != nil && m.places.AcquirePermit(ctx) != nil {
		return permit{}, context.Cause(ctx)
	}
	return permit{member: m, resumed: true}, nil
}

// conclude gives the permit back, and records how the request ended. It does not count if it was cancelled, or if a job
// could not be saved (unsaved), which is not the member's fault.
func (v permit) conclude(ctx context.Context, err error, unsaved bool) {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok && overloaded(p) {
		v.pause(p.RetryAfter)
	}
	unproven := unsaved || errors.Is(ctx.Err(), context.Canceled)
	switch {
	case v.resumed:
	case !unproven:
		v.record(err)
	case v.trial: // the breaker must open again, or it would never let in another trial
		v.breaker.RecordFailure()
	}
	v.release()
	v.freed.wake()
}

// record tells the breaker how a request ended. An error that only an operator can mend
// opens it at once.
func (m *member) record(err error) {
	if faulty(err) {
		m.mu.Lock()
		m.failure = err
		m.mu.Unlock()
	}
	m.breaker.RecordError(err)
	if classOf(err) == imagegen.ClassBlocked {
		m.breaker.Open()
	}
}

// lastError returns the member's last failure; nil if it has not failed.
func (m *member) lastError() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.failure
}

func (m *member) release() {
	if m.places != nil {
		m.places.ReleasePermit()
	}
}

// unavailable returns why the member is skipped, and for how long; nil if it is not.
func (m *member) unavailable() *imagegen.ProviderError {
	if wait := max(m.breaker.RemainingDelay(), 0); wait > 0 {
		e := &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "it is left alone for a while after " +
			errorText(m.lastError()), RetryAfter: wait}
		if classOf(m.lastError()) == imagegen.ClassBlocked {
			e.Class = imagegen.ClassBlocked
		}
		return e
	}
	if wait := m.pauseLeft(); wait > 0 {
		return &imagegen.ProviderError{Class: imagegen.ClassRateLimited,
			Message: "it was rate-limited or overloaded and has not recovered", RetryAfter: wait}
	}
	return nil
}

// skipped names the member in an error.
func (m *member) skipped(why *imagegen.ProviderError) error {
	return fmt.Errorf("router: member %q: %w", m.name, why)
}

// pause keeps requests away from the member for a while. It never shortens a pause: of several requests under way, only
// some get an answer that says how long to wait.
func (m *member) pause(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if until := time.Now().Add(min(d, maxPause)); until.After(m.pausedUntil) {
		m.pausedUntil = until
	}
}

func (m *member) pauseLeft() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Until(m.pausedUntil)
}
