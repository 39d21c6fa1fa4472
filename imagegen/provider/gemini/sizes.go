package gemini

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Sizes tell what a model makes of each ratio in tier 1K. In 2K the edges are twice as long, in 4K
// four times. A ratio whose size is off by more than 2 % is not offered, but explicit sizes may be
// made of it.
type Sizes map[imagegen.Ratio]imagegen.Size

// Gemini3 returns the sizes of the models of generation 3.
func Gemini3() Sizes {
	return Sizes{"1:1": {Width: 1024, Height: 1024}, "21:9": {Width: 1584, Height: 672},
		"3:2": {Width: 1264, Height: 848}, "2:3": {Width: 848, Height: 1264}, "4:3": {Width: 1200, Height: 896}, "3:4": {Width: 896, Height: 1200},
		"5:4": {Width: 1152, Height: 928}, "4:5": {Width: 928, Height: 1152}, "16:9": {Width: 1376, Height: 768}, "9:16": {Width: 768, Height: 1376}}
}

var scale = map[imagegen.Tier]int{imagegen.Tier1K: 1, imagegen.Tier2K: 2, imagegen.Tier4K: 4}

// choice is what is asked of the upstream.
type choice struct {
	ratio imagegen.Ratio
	tier  imagegen.Tier
	size  imagegen.Size // what it makes of them
}

// choices are all that can be asked for, the smallest first.
func (c Config) choices() []choice {
	var all []choice
	for _, t := range imagegen.Tiers() {
		if !slices.Contains(c.Tiers, t) {
			continue
		}
		for _, ratio := range imagegen.Ratios() {
			if z, ok := c.Sizes[ratio]; ok {
				all = append(all, choice{ratio, t, imagegen.Size{Width: scale[t] * z.Width, Height: scale[t] * z.Height}})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b choice) int { return a.size.Area() - b.size.Area() })
	return all
}

// choose finds what to ask for; ok is false if nothing serves.
func (c Config) choose(r imagegen.ProviderRequest) (_ choice, ok bool) {
	if r.Size.Auto() && r.Ratio == imagegen.RatioAuto {
		return choice{ratio: imagegen.RatioAuto, tier: r.Tier}, slices.Contains(c.Tiers, r.Tier)
	}
	for _, o := range c.choices() {
		if r.Fits(o.size) == nil && (o.ratio == r.Ratio || !r.Size.Auto()) {
			return o, true
		}
	}
	return choice{}, false
}

// ratios are RatioAuto and those that come out as they are called.
func (c Config) ratios() []imagegen.Ratio {
	return slices.DeleteFunc(imagegen.Ratios(), func(ratio imagegen.Ratio) bool {
		z, ok := c.Sizes[ratio]
		return ratio != imagegen.RatioAuto && (!ok || imagegen.ProviderRequest{Ratio: ratio, Tier: imagegen.Tier1K}.Fits(z) != nil)
	})
}

// Check refuses a ratio that the model has not, and a size that it makes nothing large enough for.
func (p *Provider) Check(r imagegen.ProviderRequest) error {
	_, err := p.config.request(r)
	return err
}

// request is what to ask for, or tells the user what to change.
func (c Config) request(r imagegen.ProviderRequest) (choice, error) {
	o, ok := c.choose(r)
	if ok {
		return o, nil
	}
	message := fmt.Sprintf("ratio %s in tier %s cannot be made by this model; it makes %v in %v", r.Ratio, r.Tier, c.ratios(), c.Tiers)
	if !r.Size.Auto() {
		message = fmt.Sprintf("size %v cannot be made by this model; the nearest is %v", r.Size, c.nearest(r.Size))
	}
	return o, &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: message}
}

// nearest is the size most like z, first in shape, then in area.
func (c Config) nearest(z imagegen.Size) imagegen.Size {
	ratio := imagegen.NearestRatio(z, c.ratios())
	alike := slices.DeleteFunc(c.choices(), func(o choice) bool { return o.ratio != ratio })
	distance := func(o choice) float64 { return math.Abs(math.Log(float64(o.size.Area()) / float64(z.Area()))) }
	return slices.MinFunc(alike, func(a, b choice) int { return cmp.Compare(distance(a), distance(b)) }).size
}
