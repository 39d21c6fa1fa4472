package template

import (
	"fmt"

	"github.com/imagegend/imagegend/imagegen"
)

// Part is a piece of an input, beside what a provider sends of its own: it need not say everything that is
// asked for. It is safe for concurrent use.
type Part struct{ template *template }

// NewPart returns an error that says what is wrong with the option Input.
func NewPart(input map[string]any) (*Part, error) {
	t := &template{input: input, uses: map[string]bool{}}
	if err := t.scan(input, false); err != nil {
		return nil, err
	}
	for _, name := range []string{Format, Background, Mask, WhiteMask} {
		if t.uses[name] {
			return nil, fmt.Errorf("the option Input has the placeholder %s, which means nothing here", name)
		}
	}
	return &Part{t}, nil
}

// Fill returns the part for a request of which an image of that size is made; url makes a reference one of
// its values.
func (p *Part) Fill(r imagegen.ProviderRequest, size imagegen.Size, url func(imagegen.ProviderReference) string) map[string]any {
	return p.template.fill(p.template.values(r, size, url))
}
