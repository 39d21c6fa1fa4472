package httpapi_test

import (
	"context"
	"errors"
	"iter"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// heldProvider fails once it is released.
type heldProvider struct {
	called  chan struct{} // gets the first call
	release chan struct{}
}

func hold() *heldProvider {
	return &heldProvider{make(chan struct{}, 1), make(chan struct{})}
}

func (p *heldProvider) Name() string { return "held" }
func (p *heldProvider) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{MaxReferences: 1}
}
func (p *heldProvider) Generate(ctx context.Context, _ imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage,
	error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		select {
		case p.called <- struct{}{}:
		default:
		}
		select {
		case <-p.release:
			yield(imagegen.ProviderImage{}, errors.New("secret trouble upstream"))
		case <-ctx.Done():
			yield(imagegen.ProviderImage{}, ctx.Err())
		}
	}
}

func withProvider(p imagegen.Provider) func(*engine.Config) {
	return func(c *engine.Config) { c.Models[0].Provider = p }
}
