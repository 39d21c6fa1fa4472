package provider

import "context"

// Prober is implemented by a provider that can ask its upstream whether it is ready. The engine
// never asks; imagegend provider check does.
type Prober interface {
	// Probe returns nil if the upstream answers, takes the key and has what is configured. Nothing
	// is generated, and it costs nothing.
	//
	// An error names the provider and tells the operator what is not as it should be. It wraps the
	// *imagegen.ProviderError if the upstream did not answer or refused, and the cause of ctx if
	// that ended first.
	Probe(ctx context.Context) error
}
