package provider

import (
	"math"
	"strconv"
	"strings"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	step    = 16   // edges are multiples of it, as image models want them
	maxEdge = 3840 // and no longer than this
)

// SizeFor returns the usual size of a picture of that ratio and tier: the largest of exactly that
// ratio whose edges are multiples of 16 up to 3840, and whose area is at most that of 1024×1024 for
// 1K, of 2048×2048 for 2K, and of 3840×2160 for 4K. What is no ratio, RatioAuto among it, counts as
// 1:1, and what is no tier as 1K.
func SizeFor(r imagegen.Ratio, t imagegen.Tier) imagegen.Size {
	w, h := terms(r)
	k := int(math.Sqrt(float64(budget(t) / (step * step * w * h))))
	k = min(k, maxEdge/(step*max(w, h)))
	return imagegen.Size{Width: step * w * k, Height: step * h * k}
}

// budget is the most pixels of a tier.
func budget(t imagegen.Tier) int {
	switch t {
	case imagegen.Tier4K:
		return 3840 * 2160
	case imagegen.Tier2K:
		return 2048 * 2048
	}
	return 1024 * 1024
}

// terms are a ratio's numbers in lowest terms.
func terms(r imagegen.Ratio) (w, h int) {
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

// RatioFor returns the ratio to make for a request: the one asked for or, where the choice is the
// provider's, the one of those given that is nearest to the first reference, else to a square;
// RatioAuto if none of them has a shape.
func RatioFor(r imagegen.ProviderRequest, of []imagegen.Ratio) imagegen.Ratio {
	if r.Ratio != imagegen.RatioAuto {
		return r.Ratio
	}
	shape := imagegen.Size{Width: 1, Height: 1}
	if len(r.References) > 0 && r.References[0].Width > 0 && r.References[0].Height > 0 {
		shape = imagegen.Size{Width: r.References[0].Width, Height: r.References[0].Height}
	}
	return imagegen.NearestRatio(shape, of)
}

// sizeOf is the size to make for a request: the explicit one to the pixel, else that of its ratio.
func sizeOf(r imagegen.ProviderRequest) imagegen.Size {
	if !r.Size.Auto() {
		return r.Size
	}
	return SizeFor(RatioFor(r, imagegen.Ratios()), r.Tier)
}
