package imagegen

import (
	"fmt"
	"math"
)

// shapeTolerance is how far an image's shape may be off the one asked for.
const shapeTolerance = 0.02

// fits returns why an image of w × h pixels is not what was asked for, as it is or after cropping
// and scaling down; nil if it is.
func (r Record) fits(w, h int) error {
	got := Size{w, h}
	if r.Size.Auto() {
		return r.fitsTier(got)
	}
	if w < r.Size.Width || h < r.Size.Height {
		return fmt.Errorf("it is %v and cannot be scaled up to %v", got, r.Size)
	}
	if !near(got.aspect(), r.Size.aspect()) && !near(got.aspect(), r.Ratio.Aspect()) {
		return fmt.Errorf("it is %v, which has not the shape of %v", got, r.Size)
	}
	return nil
}

func (r Record) fitsTier(got Size) error {
	if r.Ratio != RatioAuto && !near(got.aspect(), r.Ratio.Aspect()) {
		return fmt.Errorf("it is %v, which has not the ratio %s", got, r.Ratio)
	}
	if tier := TierOf(got.Area()); rank(tier) < rank(r.Tier) {
		return fmt.Errorf("it is %v, of tier %s instead of %s", got, tier, r.Tier)
	}
	return nil
}

// near reports whether two aspects differ by at most shapeTolerance. An aspect of 0 is near nothing.
func near(a, b float64) bool {
	return a > 0 && b > 0 && shapeDistance(a, b) <= math.Log(1+shapeTolerance)
}
