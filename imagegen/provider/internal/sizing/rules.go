// Package sizing finds the size to ask an upstream for.
package sizing

import (
	"errors"
	"math"

	"github.com/imagegend/imagegend/imagegen"
)

// Rules say which sizes a model takes.
type Rules struct {
	Step                 int     // both edges are multiples of it
	MinEdge, MaxEdge     int     // of either edge
	MinPixels, MaxPixels int     // of the area
	MaxAspect            float64 // the longer edge divided by the shorter
}

func (s Rules) check() error {
	if s.Step < 1 || s.MinEdge < 0 || s.MaxEdge < max(s.Step, s.MinEdge) || s.MinPixels < 0 ||
		s.MaxPixels < max(1, s.MinPixels) || s.MaxAspect < 1 {
		return errors.New("the option SizeRules allows no size; Step, MaxEdge, MaxPixels and MaxAspect are required")
	}
	return nil
}

func (s Rules) allow(z imagegen.Size) bool {
	long, short := max(z.Width, z.Height), min(z.Width, z.Height)
	return short > 0 && z.Width%s.Step == 0 && z.Height%s.Step == 0 && short >= s.MinEdge && long <= s.MaxEdge &&
		z.Area() >= s.MinPixels && z.Area() <= s.MaxPixels && float64(long) <= s.MaxAspect*float64(short)
}

// above is the smallest size in steps that covers z.
func (s Rules) above(z imagegen.Size) imagegen.Size {
	up := func(edge int) int { return (edge + s.Step - 1) / s.Step * s.Step }
	return imagegen.Size{Width: up(z.Width), Height: up(z.Height)}
}

// around is the size in steps nearest to z, scaled down to the limits.
func (s Rules) around(z imagegen.Size) imagegen.Size {
	scale := s.scale(z)
	nearest := func(edge int) int { return int(math.Round(float64(edge)*scale/float64(s.Step))) * s.Step }
	return imagegen.Size{Width: nearest(z.Width), Height: nearest(z.Height)}
}

// within is the largest size in steps of about z's shape that is no larger than z and the limits.
func (s Rules) within(z imagegen.Size) imagegen.Size {
	scale := s.scale(z)
	down := func(edge int) int { return int(float64(edge)*scale+1e-6) / s.Step * s.Step } // what the division lost is no pixel
	return imagegen.Size{Width: down(z.Width), Height: down(z.Height)}
}

// scale is what both edges of z are multiplied by to come within the limits.
func (s Rules) scale(z imagegen.Size) float64 {
	return min(1, float64(s.MaxEdge)/float64(max(z.Width, z.Height)), math.Sqrt(float64(s.MaxPixels)/float64(z.Area())))
}
