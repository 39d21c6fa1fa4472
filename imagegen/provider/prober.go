package provider

import (
	"context"
	"errors"
)

// ErrUnconfirmed is the error of a probe whose upstream answers and takes the key, but does not tell
// whether it has what is configured.
var ErrUnconfirmed = errors.New("it answers, but does not tell whether it has the model")

// Prober is implemented by a provider that can ask its upstream whether it is ready. The engine
// never asks; imagegend provider check does.
type Prober interface {
	// Probe returns nil if the upstream answers, takes the key and has what is configured. Nothing
	// is generated, and it costs nothing.
	//
	// An error names the provider and tells the operator what is not as it should be. It wraps the
	// *imagegen.ProviderError if the upstream did not answer or refused, and the cause of ctx if
	// that ended first. One that is ErrUnconfirmed is no fault, only a doubt.
	Probe(ctx context.Context) error
}
