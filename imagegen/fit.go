package imagegen

import (
	"fmt"
	"math"
)

// shapeTolerance is how far an image's shape may be off the one asked for.
const shapeTolerance = 0.02

// Fits returns why an image of that size is not what r asks for, neither as it is nor after the
// engine has cropped and scaled it down; nil if it is. The shape may be off by 2 %.
func (r ProviderRequest) Fits(got Size) error {
	if r.Size.Auto() {
		return r.fitsTier(got)
	}
	if got.Width < r.Size.Width || got.Height < r.Size.Height {
		return &misfit{"it is %v and cannot be scaled up to %v", []any{got, r.Size}}
	}
	if !near(got.aspect(), r.Size.aspect()) && !near(got.aspect(), r.Ratio.Aspect()) {
		return &misfit{"it is %v, which has not the shape of %v", []any{got, r.Size}}
	}
	return nil
}

func (r ProviderRequest) fitsTier(got Size) error {
	if r.Ratio != RatioAuto && !near(got.aspect(), r.Ratio.Aspect()) {
		return &misfit{"it is %v, which has not the ratio %s", []any{got, r.Ratio}}
	}
	if tier := TierOf(got.Area()); rank(tier) < rank(r.Tier) {
		return &misfit{"it is %v, of tier %s instead of %s", []any{got, tier, r.Tier}}
	}
	return nil
}

// fits holds an image of w × h pixels against what was asked for.
func (r Record) fits(w, h int) error { return r.providerRequest().Fits(Size{w, h}) }

// misfit is put into words only where they are read: a provider that looks for a size tries many.
type misfit struct {
	format string
	args   []any
}

func (m *misfit) Error() string { return fmt.Sprintf(m.format, m.args...) }

// near reports whether two aspects differ by at most shapeTolerance. An aspect of 0 is near nothing.
func near(a, b float64) bool {
	return a > 0 && b > 0 && shapeDistance(a, b) <= math.Log(1+shapeTolerance)
}
