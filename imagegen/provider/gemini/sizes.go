package gemini

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Sizes are the sizes that a model makes for each ratio in tier 1K. In 2K the edges are twice as long, in 4K four
// times. A ratio is not offered if its size misses it by more than 2 %; the size still serves requests for an
// explicit size that the engine can crop from it.
type Sizes map[imagegen.Ratio]imagegen.Size

// Gemini3 returns the sizes of the models of generation 3 (ai.google.dev/gemini-api/docs/image-generation).
func Gemini3() Sizes {
	return Sizes{"1:1": {Width: 1024, Height: 1024}, "21:9": {Width: 1584, Height: 672},
		"3:2": {Width: 1264, Height: 848}, "2:3": {Width: 848, Height: 1264}, "4:3": {Width: 1200, Height: 896},
		"3:4": {Width: 896, Height: 1200}, "5:4": {Width: 1152, Height: 928}, "4:5": {Width: 928, Height: 1152},
		"16:9": {Width: 1376, Height: 768}, "9:16": {Width: 768, Height: 1376}}
}

// scale is how many times longer the edges are in each tier than in 1K.
var scale = map[imagegen.Tier]int{imagegen.Tier1K: 1, imagegen.Tier2K: 2, imagegen.Tier4K: 4}

// choice is what is asked of the upstream.
type choice struct {
	ratio imagegen.Ratio // RatioAuto: the upstream's own
	tier  imagegen.Tier
}

// choices maps each size that the upstream makes to what has to be asked for it.
func (c Config) choices() map[imagegen.Size]choice {
	all := map[imagegen.Size]choice{}
	for ratio, z := range c.Sizes {
		for _, t := range c.Tiers {
			all[imagegen.Size{Width: scale[t] * z.Width, Height: scale[t] * z.Height}] = choice{ratio, t}
		}
	}
	return all
}

func (c Config) capabilities() imagegen.Capabilities {
	byArea := func(a, b imagegen.Size) int { return cmp.Or(a.Area()-b.Area(), a.Width-b.Width) }
	return imagegen.Capabilities{Sizes: slices.SortedFunc(maps.Keys(c.choices()), byArea), Ratios: c.ratios(),
		Tiers: c.Tiers, AutoTiers: c.Tiers, MaxReferences: c.MaxReferences, MaxSeed: math.MaxInt32,
		Verify: imagegen.VerifyStructure}.WithDefaults()
}

// ratios are those to offer: RatioAuto, and each whose size has its shape.
func (c Config) ratios() []imagegen.Ratio {
	return slices.DeleteFunc(imagegen.Ratios(), func(ratio imagegen.Ratio) bool {
		z, ok := c.Sizes[ratio]
		return ratio != imagegen.RatioAuto &&
			(!ok || imagegen.ProviderRequest{Ratio: ratio, Tier: imagegen.Tier1K}.Fits(z) != nil)
	})
}

// choose returns what to ask the upstream for. The error is that of imagegen.Capabilities.Choose.
func (p *Provider) choose(r imagegen.ProviderRequest) (choice, error) {
	z, err := p.can.Choose(r)
	if z.Auto() {
		return choice{imagegen.RatioAuto, r.Tier}, err
	}
	return p.choices[z], nil
}
