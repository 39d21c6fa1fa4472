package browsertest_test

import (
	"context"
	"io"
	"iter"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Prompts for which the painter does something else.
const (
	slow   = "A glacier, in real time" // is painted when the painter is let go
	herons = "Three herons at a weir"  // one of them flies away: two images come
	mirror = "A mirror in a mirror"    // fails
)

// painter is the fake provider with special behaviour for these prompts.
type painter struct {
	*provider.Fake
	let   chan struct{} // closed: what is slow goes on
	masks chan []byte   // the file of each mask, as it came
}

func newPainter() *painter {
	return &painter{&provider.Fake{Script: mishap}, make(chan struct{}), make(chan []byte, 4)}
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
		if err := p.note(ctx, r.Mask); err != nil {
			yield(imagegen.ProviderImage{}, err)
			return
		}
		p.Fake.Generate(ctx, r)(yield)
	}
}

// note keeps a mask for the test that drew it.
func (p *painter) note(ctx context.Context, mask *imagegen.ProviderReference) error {
	if mask == nil {
		return nil
	}
	f, err := mask.Open(ctx)
	if err != nil {
		return err
	}
	defer f.Close()
	b, err := io.ReadAll(f)
	if err == nil {
		p.masks <- b
	}
	return err
}
