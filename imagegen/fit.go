package imagegen

import (
	"fmt"
	"math"
)

// shapeTolerance is how far an image's shape may be off the one asked for, as a fraction.
const shapeTolerance = 0.02

// Fits returns nil if an image of that size is what r asks for, possibly after the engine has
// cropped and scaled it down; else why not. The shape may differ by 2 %. The image may have up to
// four times the pixels of the size that was asked for, or of the largest size of the tier if that
// is more; a larger image would take too much memory. For an explicit size of tier 4K, this limit
// uses the largest size of 2K instead.
func (r ProviderRequest) Fits(got Size) error {
	if most := r.maxPixels(); int64(got.Width)*int64(got.Height) > int64(most) {
		return &sizeMismatch{"it is %v, and %d pixels are the most for what was asked", []any{got, most}}
	}
	if r.Size.Auto() {
		return r.fitsTier(got)
	}
	if got.Width < r.Size.Width || got.Height < r.Size.Height {
		return &sizeMismatch{"it is %v and cannot be scaled up to %v", []any{got, r.Size}}
	}
	if !near(got.Aspect(), r.Size.Aspect()) && !near(got.Aspect(), r.Ratio.Aspect()) {
		return &sizeMismatch{"it is %v, which has not the shape of %v", []any{got, r.Size}}
	}
	return nil
}

func (r ProviderRequest) fitsTier(got Size) error {
	if r.Ratio != RatioAuto && !near(got.Aspect(), r.Ratio.Aspect()) {
		return &sizeMismatch{"it is %v, which has not the ratio %s", []any{got, r.Ratio}}
	}
	if tier := TierOf(got.Area()); r.Tier.Above(tier) {
		return &sizeMismatch{"it is %v, of tier %s instead of %s", []any{got, tier, r.Tier}}
	}
	return nil
}

// surplus is how many times the requested number of pixels a provider may deliver: one with
// few sizes makes the next larger one.
const surplus = 4

func (r ProviderRequest) maxPixels() int {
	_, most := r.Tier.Pixels()
	if r.Tier == Tier4K && !r.Size.Auto() { // 4K has no upper bound of its own
		most = maxOf2K
	}
	return min(MaxEdge*MaxEdge, surplus*max(most, r.Size.Area()))
}

// sizeMismatch formats its message only when somebody reads it: the search for a size tries
// many and drops their errors.
type sizeMismatch struct {
	format string
	args   []any
}

func (m *sizeMismatch) Error() string { return fmt.Sprintf(m.format, m.args...) }

// near reports whether two aspects differ by at most shapeTolerance. An aspect of 0 is near nothing.
func near(a, b float64) bool {
	return a > 0 && b > 0 && ShapeDistance(a, b) <= math.Log(1+shapeTolerance)
}
