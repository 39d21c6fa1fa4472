package browsertest_test

import (
	"context"
	"iter"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Prompts that do not become what was asked for.
const (
	slow   = "A glacier, in real time" // is painted when the painter is let go
	herons = "Three herons at a weir"  // one of whom flies away: two images come
	mirror = "A mirror in a mirror"    // fails
)

// painter is the fake provider, which such prompts lead astray.
type painter struct {
	*provider.Fake
	let chan struct{} // closed: what is slow goes on
}

func newPainter() *painter {
	return &painter{&provider.Fake{Script: mishap}, make(chan struct{})}
}

func mishap(r imagegen.ProviderRequest) provider.Faults {
	switch r.Prompt {
	case herons:
		return provider.Faults{Images: 2}
	case mirror:
		return provider.Faults{Fail: true}
	}
	return provider.Faults{}
}

func (p *painter) Generate(ctx context.Context, r imagegen.ProviderRequest) iter.Seq2[imagegen.ProviderImage, error] {
	return func(yield func(imagegen.ProviderImage, error) bool) {
		if r.Prompt == slow {
			select {
			case <-p.let:
			case <-ctx.Done():
			}
		}
		p.Fake.Generate(ctx, r)(yield)
	}
}
