package provider

import (
	"context"
	"errors"
)

// ErrUnconfirmed is the error of a probe whose upstream answers, but leaves it open whether it has the configured
// model or, if there is nothing else to ask, whether it accepts the key.
var ErrUnconfirmed = errors.New("it answers, but does not tell whether it has the model")

// Prober is an optional part of a provider: it can ask its upstream whether it is ready.
// The engine never calls it; the command imagegend provider check does.
type Prober interface {
	// Probe returns nil if the upstream answers, accepts the key and has what is
	// configured. It generates nothing and costs nothing.
	//
	// An error names the provider and tells the operator what is wrong. It wraps the
	// *imagegen.ProviderError if the upstream did not answer or refused, and the cause of
	// ctx if that ended first. ErrUnconfirmed means doubt, not a fault.
	Probe(ctx context.Context) error
}
