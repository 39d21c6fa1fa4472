package imagegen

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Choose returns the size that a provider should make for a request. It satisfies r directly, or
// after the engine has cropped and scaled the image down. It is auto if the provider chooses the
// size itself (AutoTiers). If the request leaves the ratio open, Choose takes the possible ratio
// nearest to that of the first reference, or to a square if there is none. The error is a
// *ProviderError of ClassInvalid; for an explicit size it suggests no other one, which the engine
// does. If c has Offers, call Choose on the offer that can do r.
func (c Capabilities) Choose(r ProviderRequest) (Size, error) {
	if z, ok := c.choose(r); ok {
		return z, nil
	}
	if !r.Size.Auto() {
		return Size{}, invalidRequest("size %v cannot be made by this model", r.Size)
	}
	return Size{}, invalidRequest("ratio %s cannot be had in tier %s; in this tier there are %v", r.Ratio, r.Tier,
		c.ratiosOf(r.Tier))
}

// MakesExactSize reports whether the provider makes the size that r asks for, so that nothing is
// cropped or scaled. It is true if r asks for no size.
func (c Capabilities) MakesExactSize(r ProviderRequest) bool {
	if c.Offers != nil {
		return slices.ContainsFunc(c.Offers, func(o Capabilities) bool { return o.MakesExactSize(r) })
	}
	z, err := c.Choose(r)
	return r.Size.Auto() || err == nil && z == r.Size && c.Check(r) == nil
}

func invalidRequest(format string, args ...any) error {
	return &ProviderError{Class: ClassInvalid, Message: fmt.Sprintf(format, args...)}
}

// invalidField is invalidRequest and also names the field at fault.
func invalidField(field, format string, args ...any) error {
	return &ProviderError{Class: ClassInvalid, Field: field, Message: fmt.Sprintf(format, args...)}
}

func (c Capabilities) choose(r ProviderRequest) (z Size, ok bool) {
	if r.Size.Auto() && r.Ratio == RatioAuto {
		return c.chooseShape(r)
	}
	for _, z := range c.candidates(r) {
		if c.makes(z) && r.Fits(z) == nil {
			return z, true
		}
	}
	return Size{}, false
}

// anySize reports whether every size can be made, to the pixel.
func (c Capabilities) anySize() bool { return c.Sizes == nil && c.SizeRules == (SizeRules{}) }

func (c Capabilities) makes(z Size) bool {
	if c.Sizes != nil {
		return slices.Contains(c.Sizes, z)
	}
	return c.anySize() || c.SizeRules.allow(z)
}

func (c Capabilities) candidates(r ProviderRequest) []Size {
	switch {
	case c.Sizes != nil:
		byArea := func(a, b Size) int { return cmp.Compare(a.Area(), b.Area()) }
		return append([]Size{r.Size}, slices.SortedStableFunc(slices.Values(c.Sizes), byArea)...)
	case !c.anySize():
		return c.SizeRules.candidates(r)
	case r.Size.Auto():
		return []Size{SizeFor(r.Ratio, r.Tier)}
	}
	return []Size{r.Size}
}

// ratiosOf returns the ratios that are possible in a tier, without RatioAuto.
func (c Capabilities) ratiosOf(t Tier) []Ratio {
	return slices.DeleteFunc(Ratios()[1:], func(ratio Ratio) bool {
		if c.Ratios != nil && !slices.Contains(c.Ratios, ratio) {
			return true
		}
		if c.anySize() {
			return false
		}
		_, ok := c.choose(ProviderRequest{Ratio: ratio, Tier: t})
		return !ok
	})
}

// chooseShape chooses a size for a request that leaves both size and ratio open: it takes the
// possible ratio nearest to that of the first reference, or to a square if there is none.
func (c Capabilities) chooseShape(r ProviderRequest) (z Size, ok bool) {
	if slices.Contains(c.AutoTiers, r.Tier) {
		return Size{}, true
	}
	like := 1.0
	if len(r.References) > 0 && r.References[0].Width > 0 && r.References[0].Height > 0 {
		like = Size{r.References[0].Width, r.References[0].Height}.Aspect()
	}
	nearer := func(a, b Ratio) int {
		return cmp.Compare(ShapeDistance(like, a.Aspect()), ShapeDistance(like, b.Aspect()))
	}
	for _, r.Ratio = range slices.SortedStableFunc(slices.Values(Ratios()[1:]), nearer) {
		if c.Ratios != nil && !slices.Contains(c.Ratios, r.Ratio) {
			continue
		}
		if z, ok = c.choose(r); ok {
			break
		}
	}
	return z, ok
}

const (
	usualStep = 16   // edges are multiples of it, as image models want them
	usualEdge = 3840 // and no longer than this
)

// SizeFor returns the usual size of an image of that ratio and tier: the largest of
// exactly that ratio whose edges are multiples of 16 up to 3840, and whose area is at
// most that of 1024×1024 for 1K, 2048×2048 for 2K, and 3840×2160 for 4K. RatioAuto and an
// unknown ratio count as 1:1, an unknown tier as 1K.
func SizeFor(r Ratio, t Tier) Size {
	w, h := r.terms()
	most, ok := map[Tier]int{Tier2K: 2048 * 2048, Tier4K: 3840 * 2160}[t]
	if !ok {
		most = 1024 * 1024
	}
	k := int(math.Sqrt(float64(most / (usualStep * usualStep * w * h))))
	k = min(k, usualEdge/(usualStep*max(w, h)))
	return Size{usualStep * w * k, usualStep * h * k}
}

// terms returns the two numbers of a ratio in lowest terms; 1 and 1 for anything else.
func (r Ratio) terms() (w, h int) {
	if r.Aspect() == 0 {
		return 1, 1
	}
	before, after, _ := strings.Cut(string(r), ":")
	w, _ = strconv.Atoi(before)
	h, _ = strconv.Atoi(after)
	a, b := w, h
	for b != 0 {
		a, b = b, a%b
	}
	return w / a, h / a
}

// SizeRules say which sizes a provider makes. The zero value allows every size. Otherwise Step,
// MaxEdge, MaxPixels and MaxAspect are required.
type SizeRules struct {
	Step                 int     // both edges are multiples of it
	MinEdge, MaxEdge     int     // bounds of both edges, in pixels
	MinPixels, MaxPixels int     // bounds of the area
	MaxAspect            float64 // the maximum of the longer edge divided by the shorter
}

func (s SizeRules) validateRules() error {
	if s.Step < 1 || s.MinEdge < 0 || s.MaxEdge < max(s.Step, s.MinEdge) || s.MinPixels < 0 ||
		s.MaxPixels < max(1, s.MinPixels) || s.MaxAspect < 1 {
		return errors.New("the option SizeRules allows no size; Step, MaxEdge, MaxPixels and MaxAspect are required")
	}
	return nil
}

func (s SizeRules) allow(z Size) bool {
	long, short := max(z.Width, z.Height), min(z.Width, z.Height)
	return short > 0 && z.Width%s.Step == 0 && z.Height%s.Step == 0 && short >= s.MinEdge && long <= s.MaxEdge &&
		z.Area() >= s.MinPixels && z.Area() <= s.MaxPixels && float64(long) <= s.MaxAspect*float64(short)
}

// candidates returns sizes that may satisfy a request, preferred ones first. The caller has
// to check each: none need be allowed by s or fit r.
func (s SizeRules) candidates(r ProviderRequest) (sizes []Size) {
	least := r.Tier
	if !r.Size.Auto() {
		least, sizes = TierOf(r.Size.Area()), []Size{r.Size, s.above(r.Size)}
	}
	for _, t := range Tiers()[max(0, slices.Index(Tiers(), least)):] {
		sizes = append(sizes, s.within(SizeFor(r.Ratio, t)))
	}
	return sizes
}

// above returns the smallest size in steps that covers z.
func (s SizeRules) above(z Size) Size {
	up := func(edge int) int { return (edge + s.Step - 1) / s.Step * s.Step }
	return Size{up(z.Width), up(z.Height)}
}

// within returns the largest size in steps, of about z's shape, that exceeds neither z nor
// MaxEdge and MaxPixels.
func (s SizeRules) within(z Size) Size {
	scale := min(1, float64(s.MaxEdge)/float64(max(z.Width, z.Height)),
		math.Sqrt(float64(s.MaxPixels)/float64(z.Area())))
	// 1e-6: rounding in the division must not cost a pixel
	down := func(edge int) int { return int(float64(edge)*scale+1e-6) / s.Step * s.Step }
	return Size{down(z.Width), down(z.Height)}
}
