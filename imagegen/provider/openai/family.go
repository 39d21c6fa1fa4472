package openai

import (
	"fmt"
	"slices"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

// family is what those models of OpenAI's have in common whose names begin alike. A model that belongs to none may be
// a deployment on Azure or of another maker: nothing is known about it, and no option is refused.
//
// The sources: developers.openai.com/api/reference/resources/images/methods/generate (sizes, qualities) and
// docs.comfy.org/built-in-nodes/OpenAIGPTImageNodeV3 (pixels, complexity). That gpt-image-2 refuses input_fidelity:
// pydantic/pydantic-ai, issue 5413; gpt-image-1-mini all but low: lobehub/lobehub, pull request 9920. That gpt-image-2
// has no transparent background any more: docs.apiyi.com/live/2026-10/gpt-image-2-transparent-shutdown.md.
type family struct {
	name         string
	sizes        []imagegen.Size // all that it makes; nil: what GPTImage2 allows
	qualities    []string        // the names that it takes; nil: not known
	noFidelity   bool            // it does not take input_fidelity
	lowFidelity  bool            // it takes no other input_fidelity than low
	noAlpha      bool            // it does not make a transparent background
	noComplexity bool            // it does not take complexity
}

var (
	threeSizes = []imagegen.Size{{Width: 1024, Height: 1024}, {Width: 1536, Height: 1024}, {Width: 1024, Height: 1536}}
	upToHigh   = []string{"auto", "low", "medium", "high"}
	upToMax    = append(slices.Clone(upToHigh), "xhigh", "max")
)

// families are searched in their order, so a longer name comes before a shorter one that it begins with.
var families = []family{
	{name: "gpt-image-2.6", qualities: upToMax},
	{name: "gpt-image-2.5", qualities: upToMax, noComplexity: true},
	{name: "gpt-image-2", qualities: upToHigh, noFidelity: true, noAlpha: true, noComplexity: true},
	{name: "gpt-image-1-mini", sizes: threeSizes, qualities: upToHigh, lowFidelity: true, noComplexity: true},
	{name: "gpt-image-1.5", sizes: threeSizes, qualities: upToHigh, noComplexity: true},
	{name: "gpt-image-1", sizes: threeSizes, qualities: upToHigh, noComplexity: true},
	{name: "chatgpt-image", sizes: threeSizes, qualities: upToHigh, noComplexity: true},
}

// familyOf returns the family with the model's name, or with what precedes a hyphen in it: a variant or a date may
// follow. It returns the zero value if there is none.
func familyOf(model string) family {
	for _, f := range families {
		if model == f.name || strings.HasPrefix(model, f.name+"-") {
			return f
		}
	}
	return family{}
}

// declare adds the options that models of the family have: output_format, output_compression and background of the
// API reference, and the mask of its page .../images/methods/edit. For a model of no family it adds user alone.
func (f family) declare(can imagegen.Capabilities) imagegen.Capabilities {
	can.EndUser = true
	if f.name == "" {
		return can
	}
	can.Formats, can.Compression = imagegen.Formats(), true
	can.Transparent, can.Mask = !f.noAlpha, can.MaxReferences > 0
	return can
}

// validateConfig refuses options that the model does not take.
func (f family) validateConfig(c Config) error {
	switch {
	case c.InputFidelity != "" && f.noFidelity:
		return fmt.Errorf("the option InputFidelity is %q, but model %s takes none", c.InputFidelity, c.Model)
	case c.InputFidelity == "high" && f.lowFidelity:
		return fmt.Errorf("the option InputFidelity is high, but model %s takes low alone", c.Model)
	case c.Complexity != "" && f.noComplexity:
		return fmt.Errorf("the option Complexity is %q, but model %s takes none", c.Complexity, c.Model)
	}
	for _, q := range imagegen.Qualities() {
		if name, named := c.QualityNames[q]; named && f.qualities != nil && !slices.Contains(f.qualities, name) {
			return fmt.Errorf("the option QualityNames has %q for %s; model %s knows %s", name, q, c.Model,
				strings.Join(f.qualities, ", "))
		}
	}
	return nil
}
