package imagegen

import (
	"errors"
	"math"
	"slices"
)

// SizeRules say which sizes a model makes. The zero value: any.
type SizeRules struct {
	Step                 int     // both edges are multiples of it
	MinEdge, MaxEdge     int     // of either edge
	MinPixels, MaxPixels int     // of the area
	MaxAspect            float64 // the longer edge divided by the shorter
}

func (s SizeRules) check() error {
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

// candidates are sizes that may do for a request of a ratio, the preferred ones first.
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

// above is the smallest size in steps that covers z.
func (s SizeRules) above(z Size) Size {
	up := func(edge int) int { return (edge + s.Step - 1) / s.Step * s.Step }
	return Size{up(z.Width), up(z.Height)}
}

// within is the largest size in steps of about z's shape that is no larger than z and the limits.
func (s SizeRules) within(z Size) Size {
	scale := min(1, float64(s.MaxEdge)/float64(max(z.Width, z.Height)), math.Sqrt(float64(s.MaxPixels)/float64(z.Area())))
	down := func(edge int) int { return int(float64(edge)*scale+1e-6) / s.Step * s.Step } // what the division lost is no pixel
	return Size{down(z.Width), down(z.Height)}
}
