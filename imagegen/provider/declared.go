package provider

import (
	"context"
	"errors"
	"iter"

	"github.com/imagegend/imagegend/imagegen"
)

// Declared describes a provider that another process has, for a process that never generates (engine.WorkNone): it
// needs neither the upstream's key nor its package. Each field is what the method of that name returns there, which
// providers say in a test or in their documents; all must be the same in all processes.
type Declared struct {
	Name         string
	Capabilities imagegen.Capabilities
	Check        func(imagegen.ProviderRequest) error // nil: every request that the Capabilities allow is possible
}

// Provider returns the provider. Its Generate fails with ClassUnavailable.
func (d Declared) Provider() imagegen.Provider { return declared{d} }

type declared struct{ is Declared }

var _ imagegen.Checker = declared{}

func (d declared) Name() string                        { return d.is.Name }
func (d declared) Capabilities() imagegen.Capabilities { return d.is.Capabilities }

func (d declared) Check(r imagegen.ProviderRequest) error {
	if d.is.Check == nil {
		return nil
	}
	return d.is.Check(r)
}

func (d declared) Generate(context.Context, imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		yield(imagegen.ProviderImage{}, &imagegen.ProviderError{Class: imagegen.ClassUnavailable,
			Err: errors.New("provider: it is only declared here; set Config.Work to WorkNone, or give the model its provider")})
	}
}
