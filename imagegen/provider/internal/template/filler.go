package template

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

// Model says what a hosted model takes. Errors refer to its fields, which are options of the
// provider, by their names.
type Model struct {
	Input      map[string]any            // the body with placeholders; must not be changed any more
	Can        imagegen.Capabilities     // Sizes or SizeRules are required; New declares the options itself
	TierNames  map[imagegen.Tier]string  // what {{tier}} stands for; a tier that is not named stands for itself
	RatioNames map[imagegen.Ratio]string // likewise {{ratio}}
	MaxPerCall int                       // images of one call, from 1 to imagegen.MaxImages

	FormatNames map[imagegen.Format]string // the formats that the model makes, and what {{format}} stands for in each
}

// ModelOf returns the model that a configuration describes.
func ModelOf(t provider.Template) Model {
	return Model{Input: t.Input, TierNames: t.TierNames, FormatNames: t.FormatNames, MaxPerCall: cmp.Or(t.MaxPerCall,
		1),
		Can: imagegen.Capabilities{Sizes: t.Sizes, SizeRules: t.SizeRules, MaxReferences: t.MaxReferences,
			MaxPrompt: t.MaxPrompt}}
}

// Filler fills a model's input. Its Can declares the options that Input has a place for. It is
// safe for concurrent use.
type Filler struct {
	Model
	template *template
}

// New checks a model. An error says which option is wrong: Input has an unknown or misplaced placeholder, or none for
// something that requests can ask for by Can, MaxPerCall and FormatNames, or a place for something that they cannot.
func New(m Model) (*Filler, error) {
	switch {
	case m.MaxPerCall < 1 || m.MaxPerCall > imagegen.MaxImages:
		return nil, fmt.Errorf("the option MaxPerCall is %d; it can be from 1 to %d", m.MaxPerCall, imagegen.MaxImages)
	case m.Can.Sizes == nil && m.Can.SizeRules == (imagegen.SizeRules{}):
		return nil, errors.New("the option SizeRules allows no size; Step, MaxEdge, MaxPixels and MaxAspect are required")
	}
	if err := m.Can.Validate(); err != nil {
		return nil, err
	}
	t, err := parse(m.Input)
	if err != nil {
		return nil, err
	}
	f := &Filler{m, t}
	if err := cmp.Or(t.checkCounts(m.Can.MaxReferences, m.MaxPerCall), f.checkSizes(), f.checkOptions()); err != nil {
		return nil, err
	}
	f.declare()
	return f, nil
}

// NewPart returns a Filler of fields that a provider sends beside its own: its input need not contain everything that a
// request asks for. An error says what is wrong with the option Input. That includes placeholders for options that the
// provider itself decides on: Format, Background, Mask and WhiteMask.
func NewPart(input map[string]any) (*Filler, error) {
	t, err := parse(input)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{Format, Background, Mask, WhiteMask} {
		if t.uses[name] {
			return nil, fmt.Errorf("the option Input has the placeholder %s, which means nothing here", name)
		}
	}
	return &Filler{template: t}, nil
}

// checkOptions makes sure that Input has a place for the formats in FormatNames, and only one for a mask.
func (f *Filler) checkOptions() error {
	uses := f.template.uses
	switch {
	case uses[Format] != (len(f.FormatNames) > 0):
		return fmt.Errorf("the option FormatNames says what %s in Input can be; one needs the other", Format)
	case uses[Mask] && uses[WhiteMask]:
		return fmt.Errorf("the option Input has both %s and %s; it needs one", Mask, WhiteMask)
	case (uses[Mask] || uses[WhiteMask]) && f.Can.MaxReferences == 0:
		return errors.New("the option Input has a place for a mask, but MaxReferences is 0")
	}
	for format := range f.FormatNames {
		if !slices.Contains(imagegen.Formats(), format) {
			return fmt.Errorf("the option FormatNames has %q; there are %v", format, imagegen.Formats())
		}
	}
	return nil
}

// declare sets the options of Can: those that Input has a place for, and no others.
func (f *Filler) declare() {
	uses := f.template.uses
	f.Can.Formats = nil
	for _, format := range imagegen.Formats() {
		if f.FormatNames[format] != "" {
			f.Can.Formats = append(f.Can.Formats, format)
		}
	}
	f.Can.Transparent, f.Can.Mask, f.Can.MaxSeed = uses[Background], uses[Mask] || uses[WhiteMask], 0
	f.Can.EndUser = uses[EndUser]
	if uses[Seed] {
		f.Can.MaxSeed = math.MaxInt32 // models say integer; what every implementation of that holds
	}
}

// WhiteMask reports whether Input has the placeholder WhiteMask. The caller then passes Fill a mask that
// upstream.WhiteMask has converted: Fill itself reads no image.
func (f *Filler) WhiteMask() bool { return f.template.uses[WhiteMask] }

// checkSizes makes sure that the input tells the model which size is wanted: to the pixel, or by ratio and tier if
// those tell apart all sizes that the model makes.
func (f *Filler) checkSizes() error {
	switch {
	case f.template.usesPixels():
		return nil
	case f.Can.Sizes == nil:
		return fmt.Errorf("the option Input has neither %s with %s nor %s; list in Sizes what the model makes", Width,
			Height, Size)
	}
	said := map[[2]string]imagegen.Size{}
	for _, z := range f.Can.Sizes {
		var key [2]string
		if f.template.uses[Ratio] {
			key[0] = f.ratioOf(z)
		}
		if f.template.uses[Tier] {
			key[1] = f.tierOf(z)
		}
		if other, ok := said[key]; ok {
			return fmt.Errorf("the option Sizes has %v and %v, but Input does not tell them apart", other, z)
		}
		said[key] = z
	}
	return nil
}

// ratioOf is what the model calls the ratio nearest to a size.
func (f *Filler) ratioOf(z imagegen.Size) string {
	ratio := imagegen.NearestRatio(z, imagegen.Ratios())
	return cmp.Or(f.RatioNames[ratio], string(ratio))
}

// tierOf is what the model calls the tier of a size.
func (f *Filler) tierOf(z imagegen.Size) string {
	tier := imagegen.TierOf(z.Area())
	return cmp.Or(f.TierNames[tier], string(tier))
}

// Fill returns the input for a request for images of that size, which Can.Choose has chosen. url returns what stands
// for a reference image or a mask, such as a data: URL; it can be called several times for the same one. Without
// references there is no mask.
func (f *Filler) Fill(r imagegen.ProviderRequest, size imagegen.Size,
	url func(imagegen.ProviderReference) string) map[string]any {
	v := values{
		Prompt: r.Prompt, N: r.N, Quality: string(r.Quality),
		Width: size.Width, Height: size.Height, Size: size.String(), Ratio: f.ratioOf(size), Tier: f.tierOf(size),
	}
	if name := f.FormatNames[r.Options.Format]; name != "" {
		v[Format] = name
	}
	if r.Options.Seed != nil {
		v[Seed] = *r.Options.Seed
	}
	if r.EndUser != "" {
		v[EndUser] = r.EndUser
	}
	if r.Options.Background != "" {
		v[Background] = string(r.Options.Background)
	}
	if len(r.References) == 0 {
		return f.template.substitute(v)
	}
	for _, mask := range []string{Mask, WhiteMask} {
		if r.Mask != nil && f.template.uses[mask] {
			v[mask] = url(*r.Mask)
		}
	}
	for _, list := range []string{References, Each} {
		if !f.template.uses[list] {
			continue
		}
		urls := make([]string, len(r.References))
		for i, reference := range r.References {
			urls[i] = url(reference)
		}
		v[list] = urls
	}
	if f.template.uses[Reference] {
		v[Reference] = url(r.References[0])
	}
	return f.template.substitute(v)
}
