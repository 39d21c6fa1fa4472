package imagegen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// Capabilities is what a provider can do, as data. The engine publishes it with the model and refuses the rest with 400
// before the charge.
type Capabilities struct {
	Sizes     []Size    // all that it makes, where they are few
	SizeRules SizeRules // which sizes it makes, if Sizes is nil
	AutoTiers []Tier    // where neither size nor ratio is asked for, those of which it chooses both itself: Choose returns auto

	Ratios []Ratio // nil: those of which it makes a size
	Tiers  []Tier  // nil: those of which it makes a size

	MinReferences int
	MaxReferences int // at most MaxReferences
	MaxImages     int // per request, whatever number of upstream calls that takes; 0: MaxImages
	MaxPrompt     int // code points; 0: MaxPromptRunes

	Verify Verification // what it takes to trust that its images are whole; "": VerifyDecode

	// Offers are what several providers behind this one can do: a request needs one that can do all of it. All
	// other fields are then taken together from theirs.
	Offers []Capabilities
}

// Validate returns an error that says what is wrong with the sizes.
func (c Capabilities) Validate() error {
	if c.Sizes == nil && c.SizeRules != (SizeRules{}) {
		if err := c.SizeRules.check(); err != nil {
			return err
		}
	}
	for _, z := range c.Sizes {
		if z.Auto() || !z.Valid() {
			return fmt.Errorf("the option Sizes holds %v; edges can be from %d to %d", z, MinEdge, MaxEdge)
		}
	}
	if len(c.WithDefaults().Tiers) == 0 {
		return errors.New("no configured size fits a ratio and a tier; correct Sizes or SizeRules")
	}
	return nil
}

// WithDefaults returns c with what its zero values stand for.
func (c Capabilities) WithDefaults() Capabilities {
	if c.Offers != nil {
		return c.together()
	}
	if c.Tiers == nil {
		c.Tiers = slices.DeleteFunc(Tiers(), func(t Tier) bool { return len(c.ratiosOf(t)) == 0 })
	}
	if c.Ratios == nil {
		c.Ratios = slices.DeleteFunc(Ratios(), func(r Ratio) bool {
			has := func(t Tier) bool { return slices.Contains(c.ratiosOf(t), r) }
			return r != RatioAuto && !slices.ContainsFunc(c.Tiers, has)
		})
	}
	c.MaxImages = cmp.Or(c.MaxImages, MaxImages)
	c.MaxPrompt = cmp.Or(c.MaxPrompt, MaxPromptRunes)
	c.Verify = cmp.Or(c.Verify, VerifyDecode)
	return c
}

// together is what at least one of the offers can do. Their images are verified as the least trusted one's are.
func (c Capabilities) together() Capabilities {
	all := Capabilities{Verify: VerifyStructure, MinReferences: MaxReferences}
	for _, o := range c.Offers {
		o = o.WithDefaults()
		all.Offers = append(all.Offers, o)
		if o.Verify != VerifyStructure {
			all.Verify = o.Verify
		}
		all.MinReferences, all.MaxReferences = min(all.MinReferences, o.MinReferences), max(all.MaxReferences, o.MaxReferences)
		all.MaxImages, all.MaxPrompt = max(all.MaxImages, o.MaxImages), max(all.MaxPrompt, o.MaxPrompt)
	}
	all.Ratios = slices.DeleteFunc(Ratios(), func(r Ratio) bool {
		return !slices.ContainsFunc(all.Offers, func(o Capabilities) bool { return slices.Contains(o.Ratios, r) })
	})
	all.Tiers = slices.DeleteFunc(Tiers(), func(t Tier) bool {
		return !slices.ContainsFunc(all.Offers, func(o Capabilities) bool { return slices.Contains(o.Tiers, t) })
	})
	return all
}
