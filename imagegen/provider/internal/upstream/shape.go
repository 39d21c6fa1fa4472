package upstream

import (
	"math"
	"slices"

	"github.com/imagegend/imagegend/imagegen"
)

// Fits reports whether an image of that size answers r: as it is, or after the engine has cropped
// and scaled it down. An adapter asks for the first size of its choice that fits.
func Fits(got imagegen.Size, r imagegen.ProviderRequest) bool {
	ofRatio := near(aspect(got), r.Ratio.Aspect())
	if r.Size.Auto() {
		return (ofRatio || r.Ratio == imagegen.RatioAuto) && rank(imagegen.TierOf(got.Area())) >= rank(r.Tier)
	}
	return got.Width >= r.Size.Width && got.Height >= r.Size.Height && (ofRatio || near(aspect(got), aspect(r.Size)))
}

func rank(t imagegen.Tier) int { return slices.Index(imagegen.Tiers(), t) }

func aspect(s imagegen.Size) float64 { return float64(s.Width) / float64(s.Height) }

// near allows what the engine does: 2 %.
func near(a, b float64) bool {
	return a > 0 && b > 0 && math.Abs(math.Log(a/b)) <= math.Log(1.02)
}
