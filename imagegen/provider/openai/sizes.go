package openai

import (
	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider/internal/sizing"
)

// SizeRules say which sizes a model takes.
type SizeRules struct {
	Step                 int     // both edges are multiples of it
	MinEdge, MaxEdge     int     // of either edge
	MinPixels, MaxPixels int     // of the area
	MaxAspect            float64 // the longer edge divided by the shorter
}

// GPTImage2 returns the rules of gpt-image-2, 2.5 and 2.6: edges in multiples of 16 up to 3840, from 655,360 to
// 8,294,400 pixels, no more than 3:1.
func GPTImage2() SizeRules {
	return SizeRules{Step: 16, MaxEdge: 3840, MinPixels: 655_360, MaxPixels: 8_294_400, MaxAspect: 3}
}

func (c Config) sizes() sizing.Sizes {
	return sizing.Sizes{List: c.Sizes, Rules: sizing.Rules(c.SizeRules)}
}

func (c Config) capabilities() imagegen.Capabilities {
	ratios, tiers := c.sizes().Offer()
	return imagegen.Capabilities{Ratios: ratios, Tiers: tiers, MaxReferences: c.MaxReferences, MaxPrompt: c.MaxPrompt, Verify: imagegen.VerifyStructure}
}

// Check refuses a size, or a ratio in a tier, that the model cannot make.
func (p *Provider) Check(r imagegen.ProviderRequest) error {
	_, err := p.config.size(r)
	return err
}

// size is the size to ask for, or tells the user what to change.
func (c Config) size(r imagegen.ProviderRequest) (imagegen.Size, error) {
	free := r.Size.Auto() && r.Ratio == imagegen.RatioAuto && r.Tier == imagegen.Tier1K
	if free && !c.NoAuto && c.Sizes == nil {
		return imagegen.Size{}, nil // the upstream's own choice lies in the lowest tier
	}
	return c.sizes().Choose(r)
}
