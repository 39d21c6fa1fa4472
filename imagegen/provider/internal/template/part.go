package template

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// Part is configured fields that a provider sends beside its own. Unlike a Filler's, its input need not contain
// everything that a request asks for. It is safe for concurrent use.
type Part struct{ template *template }

// NewPart reads an input, which must not be changed any more. An error says what is wrong with the option Input. That
// includes placeholders for options that the provider itself decides on: Format, Background, Mask and WhiteMask.
func NewPart(input map[string]any) (*Part, error) {
	t, err := parse(input)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{Format, Background, Mask, WhiteMask} {
		if t.uses[name] {
			return nil, fmt.Errorf("the option Input has the placeholder %s, which means nothing here", name)
		}
	}
	return &Part{t}, nil
}

// Fill returns the fields for a request for images of that size. url returns what stands for a
// reference image, such as a data: URL.
func (p *Part) Fill(r imagegen.ProviderRequest, size imagegen.Size,
	url func(imagegen.ProviderReference) string) map[string]any {
	return p.template.substitute(p.template.values(r, size, url))
}
