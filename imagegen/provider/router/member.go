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

// longestRest bounds how long a member's RetryAfter keeps requests away from it.
const longestRest = time.Minute

// member is a provider with what is known of its health.
type member struct {
	name     string
	upstream string
	weight   int
	atOnce   int // 0: any number
	provider imagegen.Provider
	can      imagegen.Capabilities
	breaker  circuitbreaker.CircuitBreaker[any]
	places   bulkhead.Bulkhead[any] // nil: no limit
	freed    *gate
	log      *slog.Logger

	entering sync.Mutex // nobody sees the place of one who may not enter

	mu    sync.Mutex
	rests time.Time // rate-limited until then
	why   error     // what it failed with last
}

func newMember(m Member, c Config, freed *gate) *member {
	n := &member{name: m.Name, upstream: m.Upstream, weight: m.Weight, atOnce: m.MaxConcurrent, provider: m.Provider, can: m.Provider.Capabilities().WithDefaults(), freed: freed,
		log: c.Log.With("member", m.Name)}
	n.breaker = c.breaker(n)
	if m.MaxConcurrent > 0 {
		n.places = bulkhead.New[any](uint(m.MaxConcurrent))
	}
	return n
}

// visit is a request at a member. It ends with leave.
type visit struct {
	*member
	trial   bool // the one that finds out whether the member works again
	resumed bool // a job that was begun before: it says nothing about new work
}

var errFull = errors.New("all places are taken")

// enter returns errFull, or a *imagegen.ProviderError if the member is ill.
func (m *member) enter() (visit, error) {
	if ill := m.illness(); ill != nil {
		return visit{}, m.passedOver(ill)
	}
	m.entering.Lock()
	defer m.entering.Unlock()
	if m.places != nil && !m.places.TryAcquirePermit() {
		return visit{}, errFull
	}
	if !m.breaker.TryAcquirePermit() {
		m.release() // no place was freed: the gate stays shut, or who waits would ask again without pause
		return visit{}, m.passedOver(&imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "another request is finding out whether it works again"})
	}
	return visit{member: m, trial: m.breaker.IsHalfOpen()}, nil
}

// reenter waits for a place. Nobody else can go on with the member's job, so that its health does
// not matter.
func (m *member) reenter(ctx context.Context) (visit, error) {
	if m.places != nil && m.places.AcquirePermit(ctx) != nil {
		return visit{}, context.Cause(ctx)
	}
	return visit{member: m, resumed: true}, nil
}

// leave ends the visit and draws from its end what it says about the member's health.
func (v visit) leave(ctx context.Context, err error, unsaved bool) {
	if p, ok := errors.AsType[*imagegen.ProviderError](err); ok && p.Class == imagegen.ClassRateLimited {
		v.rest(p.RetryAfter)
	}
	unproven := unsaved || errors.Is(ctx.Err(), context.Canceled)
	switch {
	case v.resumed:
	case !unproven:
		v.judge(err)
	case v.trial: // still unproven: the breaker opens again, or no other trial would ever be let in
		v.breaker.RecordFailure()
	}
	v.vacate()
}

// judge tells the breaker how a visit ended. What waits for an operator will not pass: it opens at once.
func (m *member) judge(err error) {
	if faulty(err) {
		m.mu.Lock()
		m.why = err
		m.mu.Unlock()
	}
	m.breaker.RecordError(err)
	if classOf(err) == imagegen.ClassUnusable {
		m.breaker.Open()
	}
}

// cause is what it failed with last.
func (m *member) cause() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.why
}

func (m *member) vacate() {
	m.release()
	m.freed.open()
}

func (m *member) release() {
	if m.places != nil {
		m.places.ReleasePermit()
	}
}

// illness is why the member is left alone, and for how long; nil if it is not.
func (m *member) illness() *imagegen.ProviderError {
	if wait := max(m.breaker.RemainingDelay(), 0); wait > 0 {
		e := &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "it is left alone for a while after " + words(m.cause()), RetryAfter: wait}
		if classOf(m.cause()) == imagegen.ClassUnusable {
			e.Class = imagegen.ClassUnusable
		}
		return e
	}
	if wait := m.resting(); wait > 0 {
		return &imagegen.ProviderError{Class: imagegen.ClassRateLimited, Message: "it was rate-limited and has not recovered", RetryAfter: wait}
	}
	return nil
}

func (m *member) passedOver(why *imagegen.ProviderError) error {
	return fmt.Errorf("router: member %q: %w", m.name, why)
}

func (m *member) rest(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rests = time.Now().Add(min(d, longestRest))
}

func (m *member) resting() time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	return time.Until(m.rests)
}
