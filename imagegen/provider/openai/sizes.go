package openai

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
	"github.com/imagegend/imagegend/imagegen/provider/internal/upstream"
)

// SizeRules say which sizes a model takes.
type SizeRules struct {
	Step                 int     // both edges are multiples of it
	MaxEdge              int     // of either edge
	MinPixels, MaxPixels int     // of the area
	MaxAspect            float64 // the longer edge divided by the shorter
}

// GPTImage2 returns the rules of gpt-image-2: edges in multiples of 16 up to 3840, from 655,360 to
// 8,294,400 pixels, no more than 3:1.
func GPTImage2() SizeRules {
	return SizeRules{Step: 16, MaxEdge: 3840, MinPixels: 655_360, MaxPixels: 8_294_400, MaxAspect: 3}
}

func (s SizeRules) check() error {
	if s.Step < 1 || s.MaxEdge < s.Step || s.MinPixels < 0 || s.MaxPixels < max(1, s.MinPixels) || s.MaxAspect < 1 {
		return errors.New("the option SizeRules allows no size; all of Step, MaxEdge, MaxPixels and MaxAspect are required")
	}
	return nil
}

func (s SizeRules) allow(z imagegen.Size) bool {
	long, short := max(z.Width, z.Height), min(z.Width, z.Height)
	return short > 0 && z.Width%s.Step == 0 && z.Height%s.Step == 0 && long <= s.MaxEdge &&
		z.Area() >= s.MinPixels && z.Area() <= s.MaxPixels && float64(long) <= s.MaxAspect*float64(short)
}

// above is the smallest size in steps that covers z.
func (s SizeRules) above(z imagegen.Size) imagegen.Size {
	up := func(edge int) int { return (edge + s.Step - 1) / s.Step * s.Step }
	return imagegen.Size{Width: up(z.Width), Height: up(z.Height)}
}

// within is the largest size in steps of about z's shape that is no larger than z and the limits.
func (s SizeRules) within(z imagegen.Size) imagegen.Size {
	scale := min(1, float64(s.MaxEdge)/float64(max(z.Width, z.Height)), math.Sqrt(float64(s.MaxPixels)/float64(z.Area())))
	down := func(edge int) int { return int(float64(edge)*scale+1e-6) / s.Step * s.Step } // what the division lost is no pixel
	return imagegen.Size{Width: down(z.Width), Height: down(z.Height)}
}

// allows reports whether the model takes a size.
func (c Config) allows(z imagegen.Size) bool {
	if c.Sizes != nil {
		return slices.Contains(c.Sizes, z)
	}
	return c.SizeRules.allow(z)
}

// candidates are sizes that may do for a request of a ratio, the preferred ones first.
func (c Config) candidates(r imagegen.ProviderRequest) []imagegen.Size {
	if c.Sizes != nil {
		byArea := func(a, b imagegen.Size) int { return cmp.Compare(a.Area(), b.Area()) }
		return append([]imagegen.Size{r.Size}, slices.SortedStableFunc(slices.Values(c.Sizes), byArea)...)
	}
	least, sizes := r.Tier, []imagegen.Size(nil)
	if !r.Size.Auto() {
		least = imagegen.TierOf(r.Size.Area())
		sizes = []imagegen.Size{r.Size, c.SizeRules.above(r.Size)}
	}
	for _, t := range imagegen.Tiers()[max(0, slices.Index(imagegen.Tiers(), least)):] {
		sizes = append(sizes, c.SizeRules.within(provider.SizeFor(r.Ratio, t)))
	}
	return sizes
}

// sizeFor is the size to ask for; ok is false if there is none that the request can be met with.
func (c Config) sizeFor(r imagegen.ProviderRequest) (z imagegen.Size, ok bool) {
	if r.Size.Auto() && r.Ratio == imagegen.RatioAuto {
		if !c.NoAuto && c.Sizes == nil && r.Tier == imagegen.Tier1K {
			return imagegen.Size{}, true // the upstream's own choice lies in the lowest tier
		}
		r.Ratio = imagegen.NearestRatio(shapeOf(r), c.ratiosOf(r.Tier))
	}
	for _, z := range c.candidates(r) {
		if c.allows(z) && upstream.Fits(z, r) {
			return z, true
		}
	}
	return imagegen.Size{}, false
}

// shapeOf is the first reference's size; without one, a square's.
func shapeOf(r imagegen.ProviderRequest) imagegen.Size {
	if len(r.References) > 0 && r.References[0].Width > 0 && r.References[0].Height > 0 {
		return imagegen.Size{Width: r.References[0].Width, Height: r.References[0].Height}
	}
	return imagegen.Size{Width: 1, Height: 1}
}

// ratiosOf are the ratios that can be had in a tier.
func (c Config) ratiosOf(t imagegen.Tier) []imagegen.Ratio {
	return slices.DeleteFunc(imagegen.Ratios()[1:], func(ratio imagegen.Ratio) bool {
		_, ok := c.sizeFor(imagegen.ProviderRequest{Ratio: ratio, Tier: t})
		return !ok
	})
}

// nearest is the allowed size most like z that is not larger, if there is one; else the smallest.
func (c Config) nearest(r imagegen.ProviderRequest) imagegen.Size {
	if z := c.SizeRules.within(r.Size); c.allows(z) {
		return z
	}
	r.Size = imagegen.Size{}
	for _, t := range slices.Backward(imagegen.Tiers()) {
		r.Tier = t
		if z, ok := c.sizeFor(r); ok {
			return z
		}
	}
	return c.Sizes[0] // rules have a size for every ratio they list
}

// Check refuses a size, or a ratio in a tier, that the model cannot make.
func (p *Provider) Check(r imagegen.ProviderRequest) error {
	_, err := p.config.size(r)
	return err
}

// size is the size to ask for, or tells the user what to change.
func (c Config) size(r imagegen.ProviderRequest) (imagegen.Size, error) {
	z, ok := c.sizeFor(r)
	if ok {
		return z, nil
	}
	message := fmt.Sprintf("ratio %s cannot be had in tier %s; in this tier there are %v", r.Ratio, r.Tier, c.ratiosOf(r.Tier))
	if !r.Size.Auto() {
		message = fmt.Sprintf("size %v cannot be made by this model; the nearest is %v", r.Size, c.nearest(r))
	}
	return z, &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: message}
}

func (c Config) capabilities() imagegen.Capabilities {
	can := imagegen.Capabilities{Ratios: []imagegen.Ratio{imagegen.RatioAuto}, MaxReferences: c.MaxReferences, MaxPrompt: c.MaxPrompt}
	for _, t := range imagegen.Tiers() {
		ratios := c.ratiosOf(t)
		if len(ratios) > 0 {
			can.Tiers = append(can.Tiers, t)
		}
		for _, ratio := range ratios {
			if !slices.Contains(can.Ratios, ratio) {
				can.Ratios = append(can.Ratios, ratio)
			}
		}
	}
	return can
}
