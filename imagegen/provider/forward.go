package provider

import (
	"context"

	"github.com/imagegend/imagegend/imagegen"
)

// Forward has every optional method of a Provider, and hands each to another one: a wrapper that embeds it beside its
// imagegen.Provider loses none. Where the other one has no such method, it does nothing and returns zero.
type Forward struct {
	To imagegen.Provider
}

var (
	_ imagegen.Checker            = Forward{}
	_ imagegen.ConcurrencyLimiter = Forward{}
	_ imagegen.HealthReporter     = Forward{}
	_ Prober                      = Forward{}
)

// Check is that of an imagegen.Checker.
func (f Forward) Check(r imagegen.ProviderRequest) error {
	if to, ok := f.To.(imagegen.Checker); ok {
		return to.Check(r)
	}
	return nil
}

// MaxConcurrent is that of an imagegen.ConcurrencyLimiter.
func (f Forward) MaxConcurrent() int {
	if to, ok := f.To.(imagegen.ConcurrencyLimiter); ok {
		return to.MaxConcurrent()
	}
	return 0
}

// Health is that of an imagegen.HealthReporter.
func (f Forward) Health() []imagegen.MemberHealth {
	if to, ok := f.To.(imagegen.HealthReporter); ok {
		return to.Health()
	}
	return nil
}

// Probe is that of a Prober.
func (f Forward) Probe(ctx context.Context) error {
	if to, ok := f.To.(Prober); ok {
		return to.Probe(ctx)
	}
	return nil
}
