package imagegen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Capabilities is what a provider can do, as data. The engine publishes it with the model, and
// refuses any other request with ErrInvalidRequest before the charge.
type Capabilities struct {
	Sizes     []Size    // every size that it makes; nil: SizeRules decides
	SizeRules SizeRules // which sizes it makes, if Sizes is nil
	AutoTiers []Tier    // where it chooses the size if a request names neither size nor ratio: Choose then returns auto

	Ratios []Ratio // nil: every ratio for which it makes a size
	Tiers  []Tier  // nil: every tier for which it makes a size

	MinReferences int
	MaxReferences int // at most the constant MaxReferences; 0: it takes none
	MaxImages     int // per request, even if that takes several upstream calls; 0: the constant MaxImages
	MaxPrompt     int // code points; 0: MaxPromptRunes

	Formats     []Format // those that the provider can be asked to make; the engine can also write PNG and JPEG itself
	Compression bool     // it honours Options.Compression; else the engine does so for JPEG, and refuses it for WebP
	Transparent bool     // it makes images with BackgroundTransparent
	Mask        bool     // it takes a mask that limits an edit
	MaxSeed     int64    // the highest seed; 0: it takes none

	Orientation bool // it turns references upright as their EXIF data say; else the engine sends upright copies

	EndUser bool // it passes on ProviderRequest.EndUser

	Metadata Metadata     // what becomes of the metadata of its images; "": MetadataKeep
	Verify   Verification // how its images are checked for completeness; "": VerifyDecode

	// Offers are the Capabilities of several providers behind this one. A request is possible
	// if one of them can do all of it. If Offers is set, WithDefaults computes the other
	// fields from it.
	Offers []Capabilities
}

// Validate returns an error that says what is wrong with the sizes or limits; nil if nothing is.
func (c Capabilities) Validate() error {
	switch {
	case c.MaxReferences < 0 || c.MaxReferences > MaxReferences:
		return fmt.Errorf("the option MaxReferences is %d; it can be up to %d", c.MaxReferences, MaxReferences)
	case c.MinReferences < 0 || c.MinReferences > c.MaxReferences:
		return fmt.Errorf("the option MinReferences is %d; it can be up to MaxReferences, which is %d", c.MinReferences,
			c.MaxReferences)
	case c.MaxImages < 0:
		return fmt.Errorf("the option MaxImages is %d; it cannot be negative", c.MaxImages)
	case c.MaxPrompt < 0 || c.MaxPrompt > MaxPromptRunes:
		return fmt.Errorf("the option MaxPrompt is %d; it can be up to %d", c.MaxPrompt, MaxPromptRunes)
	case c.MaxSeed < 0:
		return fmt.Errorf("the option MaxSeed is %d; it cannot be negative", c.MaxSeed)
	case c.Mask && c.MaxReferences == 0:
		return errors.New("the option Mask needs MaxReferences: a mask belongs to a reference image")
	}
	if c.Sizes == nil && c.SizeRules != (SizeRules{}) {
		if err := c.SizeRules.validateRules(); err != nil {
			return err
		}
	}
	for _, z := range c.Sizes {
		if z.Auto() || !z.Valid() {
			return fmt.Errorf("the option Sizes holds %v; edges can be from %d to %d", z, MinEdge, MaxEdge)
		}
	}
	for _, o := range c.Offers {
		if err := o.Validate(); err != nil {
			return err
		}
	}
	if len(c.WithDefaults().Tiers) == 0 {
		return errors.New("no configured size fits a ratio and a tier; correct Sizes or SizeRules")
	}
	return nil
}

// WithDefaults returns c with zero fields replaced by the defaults that their comments name.
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
	c.Verify, c.Metadata = cmp.Or(c.Verify, VerifyDecode), cmp.Or(c.Metadata, MetadataKeep)
	return c
}

// together combines the offers: it can do what at least one of them can, and treats
// images as the least trusted one requires.
func (c Capabilities) together() Capabilities {
	all := Capabilities{Verify: VerifyStructure, Metadata: MetadataKeep, MinReferences: MaxReferences,
		Compression: true, Orientation: true}
	for _, o := range c.Offers {
		o = o.WithDefaults()
		all.Offers = append(all.Offers, o)
		if o.Verify != VerifyStructure {
			all.Verify = o.Verify
		}
		if o.Metadata != MetadataKeep {
			all.Metadata = o.Metadata
		}
		all.MinReferences, all.MaxReferences = min(all.MinReferences, o.MinReferences),
			max(all.MaxReferences, o.MaxReferences)
		all.MaxImages, all.MaxPrompt = max(all.MaxImages, o.MaxImages), max(all.MaxPrompt, o.MaxPrompt)
		all.Compression = all.Compression && o.Compression // the engine cannot tell which of them made an image
		all.Orientation = all.Orientation && o.Orientation // nor which of them will get a reference
		all.EndUser = all.EndUser || o.EndUser
		all.Transparent, all.Mask, all.MaxSeed = all.Transparent || o.Transparent, all.Mask || o.Mask,
			max(all.MaxSeed, o.MaxSeed)
	}
	for _, f := range Formats() {
		if slices.ContainsFunc(all.Offers, func(o Capabilities) bool { return slices.Contains(o.Formats, f) }) {
			all.Formats = append(all.Formats, f)
		}
	}
	all.Ratios = slices.DeleteFunc(Ratios(), func(r Ratio) bool {
		return !slices.ContainsFunc(all.Offers, func(o Capabilities) bool { return slices.Contains(o.Ratios, r) })
	})
	all.Tiers = slices.DeleteFunc(Tiers(), func(t Tier) bool {
		return !slices.ContainsFunc(all.Offers, func(o Capabilities) bool { return slices.Contains(o.Tiers, t) })
	})
	return all
}

// CheckRequest returns nil if p can do r according to its Capabilities and, if it is a [Checker],
// its Check; else a *ProviderError of ClassInvalid that says what to change. It is a pure
// function of the fields of r up to Options, of len(r.References), and of whether r has a mask.
func CheckRequest(p Provider, r ProviderRequest) error {
	if err := p.Capabilities().Check(r); err != nil {
		return err
	}
	if c, ok := p.(Checker); ok {
		return c.Check(r)
	}
	return nil
}

// Check returns nil if c allows r, else a *ProviderError of ClassInvalid that says what
// to change. It looks at the same fields as the function [CheckRequest]. If an explicit size is
// refused, the error does not suggest another one.
func (c Capabilities) Check(r ProviderRequest) error {
	switch {
	case c.Offers == nil:
		return c.WithDefaults().refusesAlone(r)
	case c.able(r):
		return nil
	}
	var refusals []*ProviderError
	for _, o := range c.Offers {
		e, ok := errors.AsType[*ProviderError](o.Check(r))
		if ok && !slices.ContainsFunc(refusals, func(f *ProviderError) bool { return f.Message == e.Message }) {
			refusals = append(refusals, e)
		}
	}
	if len(refusals) == 1 {
		return refusals[0]
	}
	return invalidRequest("this model cannot do this all at once; %s", strings.Join(c.WithDefaults().suggest(r),
		", or "))
}

func (c Capabilities) refusesAlone(r ProviderRequest) error {
	references := len(r.References)
	switch {
	case references < c.MinReferences || references > c.MaxReferences:
		return invalidRequest("%d reference images were sent; it takes from %d to %d", references, c.MinReferences,
			c.MaxReferences)
	case r.N > c.MaxImages:
		return invalidRequest("n is %d; it makes up to %d", r.N, c.MaxImages)
	case utf8.RuneCountInString(r.Prompt) > c.MaxPrompt:
		return invalidRequest("the prompt is longer than %d characters", c.MaxPrompt)
	case !slices.Contains(c.Tiers, r.Tier):
		return invalidRequest("tier %s cannot be had, only %v", r.Tier, c.Tiers)
	case r.Ratio != RatioAuto && !slices.Contains(c.Ratios, r.Ratio):
		return invalidRequest("ratio %s cannot be had, only %v", r.Ratio, c.Ratios)
	}
	if err := c.refusesOptions(r); err != nil {
		return err
	}
	z, err := c.Choose(r)
	if err == nil && r.Options.Format != "" && !r.Options.Format.engine() && !r.Size.Auto() && z != r.Size {
		return invalidField("output_format",
			"output_format %s is not possible in size %v, which is cut from a larger image", r.Options.Format, r.Size)
	}
	return err
}

func (c Capabilities) able(r ProviderRequest) bool {
	return slices.ContainsFunc(c.Offers, func(o Capabilities) bool { return o.Check(r) == nil })
}

// suggest lists single changes that make r possible. It proposes no other size: the engine
// searches for one, since its policy and its prices count too.
func (c Capabilities) suggest(r ProviderRequest) (changes []string) {
	other := r
	for _, other.Tier = range c.Tiers {
		if r.Size.Auto() && c.able(other) {
			changes = append(changes, fmt.Sprintf("it is possible in tier %s", other.Tier))
		}
	}
	other = r
	for n := c.MaxReferences; n >= c.MinReferences; n-- {
		if other.References = make([]ProviderReference, n); c.able(other) {
			changes = append(changes, fmt.Sprintf("change the number of reference images to %d", n))
			break
		}
	}
	other = r
	for other.N = r.N - 1; other.N > 0; other.N-- {
		if c.able(other) {
			changes = append(changes, fmt.Sprintf("lower n to %d", other.N))
			break
		}
	}
	changes = append(changes, c.suggestWithout(r)...)
	if len(changes) == 0 {
		changes = []string{"ask for less: a smaller size, fewer images or reference images, a shorter prompt"}
	}
	return changes
}

// suggestWithout lists each option whose removal alone makes r possible.
func (c Capabilities) suggestWithout(r ProviderRequest) (changes []string) {
	for _, o := range []struct {
		name  string
		leave func(*ProviderRequest)
	}{
		{"output_format", func(r *ProviderRequest) { r.Options.Format, r.Options.Compression = "", nil }},
		{"background", func(r *ProviderRequest) { r.Options.Background = "" }},
		{"seed", func(r *ProviderRequest) { r.Options.Seed = nil }},
		{"mask", func(r *ProviderRequest) { r.Mask = nil }},
	} {
		other := r
		if o.leave(&other); c.able(other) {
			changes = append(changes, "leave out "+o.name)
		}
	}
	return changes
}
