package sizing

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Sizes are those that a model takes: the listed ones, or without a list all that the rules allow.
type Sizes struct {
	List  []imagegen.Size
	Rules Rules
}

// Check reports what is wrong with the configured sizes.
func (s Sizes) Check() error {
	if s.List == nil {
		if err := s.Rules.check(); err != nil {
			return err
		}
	}
	for _, z := range s.List {
		if z.Auto() || !z.Valid() {
			return fmt.Errorf("the option Sizes holds %v; edges can be from %d to %d", z, imagegen.MinEdge, imagegen.MaxEdge)
		}
	}
	if _, tiers := s.Offer(); len(tiers) == 0 {
		return errors.New("no configured size fits a ratio and a tier; correct Sizes or SizeRules")
	}
	return nil
}

// Offer lists the ratios and tiers that can be had, RatioAuto first.
func (s Sizes) Offer() (ratios []imagegen.Ratio, tiers []imagegen.Tier) {
	ratios = []imagegen.Ratio{imagegen.RatioAuto}
	for _, t := range imagegen.Tiers() {
		had := s.ratiosOf(t)
		if len(had) > 0 {
			tiers = append(tiers, t)
		}
		for _, ratio := range had {
			if !slices.Contains(ratios, ratio) {
				ratios = append(ratios, ratio)
			}
		}
	}
	return ratios, tiers
}

// Choose returns the size to ask for: one that answers r as it is, or after the engine has cropped
// and scaled it down. Where the ratio is the provider's choice, it is the one nearest to the first
// reference, else to a square. The error tells the user what to change.
func (s Sizes) Choose(r imagegen.ProviderRequest) (imagegen.Size, error) {
	if z, ok := s.choose(r); ok {
		return z, nil
	}
	message := fmt.Sprintf("ratio %s cannot be had in tier %s; in this tier there are %v", r.Ratio, r.Tier, s.ratiosOf(r.Tier))
	if !r.Size.Auto() {
		message = fmt.Sprintf("size %v cannot be made by this model; the nearest is %v", r.Size, s.nearest(r))
	}
	return imagegen.Size{}, &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: message}
}

func (s Sizes) choose(r imagegen.ProviderRequest) (z imagegen.Size, ok bool) {
	if r.Size.Auto() && r.Ratio == imagegen.RatioAuto {
		r.Ratio = provider.RatioFor(r, s.ratiosOf(r.Tier))
	}
	for _, z := range s.candidates(r) {
		if s.allow(z) && r.Fits(z) == nil {
			return z, true
		}
	}
	return imagegen.Size{}, false
}

func (s Sizes) allow(z imagegen.Size) bool {
	if s.List != nil {
		return slices.Contains(s.List, z)
	}
	return s.Rules.allow(z)
}

// candidates are sizes that may do for a request of a ratio, the preferred ones first.
func (s Sizes) candidates(r imagegen.ProviderRequest) []imagegen.Size {
	if s.List != nil {
		byArea := func(a, b imagegen.Size) int { return cmp.Compare(a.Area(), b.Area()) }
		return append([]imagegen.Size{r.Size}, slices.SortedStableFunc(slices.Values(s.List), byArea)...)
	}
	least, sizes := r.Tier, []imagegen.Size(nil)
	if !r.Size.Auto() {
		least = imagegen.TierOf(r.Size.Area())
		sizes = []imagegen.Size{r.Size, s.Rules.above(r.Size)}
	}
	for _, t := range imagegen.Tiers()[max(0, slices.Index(imagegen.Tiers(), least)):] {
		sizes = append(sizes, s.Rules.within(provider.SizeFor(r.Ratio, t)))
	}
	return sizes
}

// ratiosOf are the ratios that can be had in a tier.
func (s Sizes) ratiosOf(t imagegen.Tier) []imagegen.Ratio {
	return slices.DeleteFunc(imagegen.Ratios()[1:], func(ratio imagegen.Ratio) bool {
		_, ok := s.choose(imagegen.ProviderRequest{Ratio: ratio, Tier: t})
		return !ok
	})
}

// nearest is the allowed size most like r's, if there is one of its shape; else the largest of the
// nearest ratio.
func (s Sizes) nearest(r imagegen.ProviderRequest) imagegen.Size {
	if s.List == nil {
		for _, z := range []imagegen.Size{s.Rules.around(r.Size), s.Rules.within(r.Size)} {
			if s.allow(z) {
				return z
			}
		}
	}
	ratios, tiers := s.Offer()
	r.Ratio, r.Size = imagegen.NearestRatio(r.Size, ratios), imagegen.Size{}
	var z imagegen.Size
	for _, r.Tier = range tiers {
		if had, ok := s.choose(r); ok {
			z = had
		}
	}
	return z
}
