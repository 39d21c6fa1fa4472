package router

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/failsafe-go/failsafe-go/circuitbreaker"

	"github.com/imagegend/imagegend/imagegen"
)

// Config describes a router. Only Members are required.
type Config struct {
	// Name is shown to callers. "": "router".
	Name string

	// Members are the providers, at least one.
	Members []Member

	// Retries is how many more rounds over the members a call makes when all of them have failed. 0: none.
	Retries int

	// Backoff is the pause before the first retry. It doubles with each further one, up to 30
	// seconds, and is never shorter than the shortest RetryAfter of the members' errors; if
	// that is more than 30 seconds, the call ends. 0: 1 s.
	Backoff time.Duration

	// FailureThreshold is how many consecutive failures open a member's circuit breaker. Failures are errors of
	// imagegen.ClassUnavailable and ClassUnknown, and calls that exceed their deadline. A single error of
	// ClassBlocked opens it too. 0: 5.
	FailureThreshold int

	// OpenFor is how long a breaker stays open before one request may try the member again. 0: 30 s.
	OpenFor time.Duration

	// Log gets a record when a member fails, becomes unavailable or recovers. nil: nothing is logged.
	Log *slog.Logger
}

// Member is one of a router's providers.
type Member struct {
	// Name tells the members apart, in the log and in saved jobs: a member that is renamed cannot
	// resume its jobs. "": the provider's name.
	Name string

	// Provider is required.
	Provider imagegen.Provider

	// Upstream identifies what Provider calls: type, address and account, as Model.Upstreams of package engine does
	// for all members. A member does not resume jobs that were saved with another Upstream.
	Upstream string

	// Weight is the member's share of the requests, in proportion to the other weights. 0:
	// the member is a reserve, asked when those with a weight cannot take the request.
	Weight int

	// MaxConcurrent is how many requests the member works on at once. 0: what Provider says if it is an
	// imagegen.ConcurrencyLimiter, else any number.
	MaxConcurrent int
}

// New returns an error that says what is wrong with c. It asks the members only for their
// names and capabilities.
func New(c Config) (*Provider, error) {
	c.Name = cmp.Or(c.Name, "router")
	c.Backoff = cmp.Or(c.Backoff, time.Second)
	c.FailureThreshold = cmp.Or(c.FailureThreshold, 5)
	c.OpenFor = cmp.Or(c.OpenFor, 30*time.Second)
	c.Log = cmp.Or(c.Log, slog.New(slog.DiscardHandler))
	if err := c.validate(); err != nil {
		return nil, fmt.Errorf("router: %w", err)
	}
	c.Log = c.Log.With("router", c.Name)
	p := &Provider{name: c.Name, log: c.Log, retry: c.retryPolicy(), freed: &broadcast{}}
	for _, m := range c.Members {
		if m.Provider == nil {
			return nil, fmt.Errorf("router: member %q has no Provider", m.Name)
		}
		m.Name = cmp.Or(m.Name, m.Provider.Name())
		if err := m.validateMember(); err != nil {
			return nil, fmt.Errorf("router: member %q: %w", m.Name, err)
		}
		if p.member(m.Name) != nil {
			return nil, fmt.Errorf("router: two members are named %q; give each a Name of its own", m.Name)
		}
		p.members = append(p.members, newMember(m, c, p.freed))
	}
	var all imagegen.Capabilities
	for _, m := range p.members {
		all.Offers = append(all.Offers, m.can)
	}
	p.capabilities = all.WithDefaults()
	return p, nil
}

func (c Config) validate() error {
	switch {
	case len(c.Members) == 0:
		return errors.New("the option Members is empty; a router needs at least one")
	case c.Retries < 0 || c.FailureThreshold < 0:
		return errors.New("the options Retries and FailureThreshold cannot be negative")
	case c.Backoff < 0 || c.OpenFor < 0:
		return errors.New("the options Backoff and OpenFor cannot be negative")
	}
	return nil
}

func (m Member) validateMember() error {
	switch {
	case m.Weight < 0:
		return fmt.Errorf("the option Weight is %d; it cannot be negative", m.Weight)
	case m.MaxConcurrent < 0:
		return fmt.Errorf("the option MaxConcurrent is %d; it cannot be negative", m.MaxConcurrent)
	}
	return nil
}

// breaker returns the circuit breaker of a member, which logs its changes. One success is enough to close it again.
func (c Config) breaker(m *member) circuitbreaker.CircuitBreaker[any] {
	return circuitbreaker.NewBuilder[any]().
		HandleIf(func(_ any, err error) bool { return faulty(err) }).
		WithFailureThreshold(uint(c.FailureThreshold)).
		WithSuccessThreshold(1).
		WithDelay(c.OpenFor).
		OnOpen(func(circuitbreaker.StateChangedEvent) {
			if cause := m.lastError(); classOf(cause) == imagegen.ClassBlocked {
				m.log.Error("an upstream cannot be used until an operator acts", "error", cause)
			} else {
				m.log.Warn("an upstream fails again and again, and is left alone for a while", "for",
					c.OpenFor.String(), "error", cause)
			}
		}).
		OnClose(func(circuitbreaker.StateChangedEvent) {
			m.log.Info("an upstream works again")
		}).
		Build()
}
