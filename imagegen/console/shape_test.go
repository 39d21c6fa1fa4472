package console_test

import (
	"math"
	"testing"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console"
	"github.com/matryer/is"
)

// Every ratio is drawn in its proportion, in the middle of a square of 40.
func TestShapes(t *testing.T) {
	is := is.New(t)
	for _, r := range imagegen.Ratios() {
		s := console.ShapeOf(imagegen.Size{}, r)
		is.Equal(max(s.Width, s.Height), 32.0)
		is.True(math.Abs(2*s.X+s.Width-40) < 0.2 && math.Abs(2*s.Y+s.Height-40) < 0.2)
		if r != imagegen.RatioAuto {
			is.True(math.Abs(s.Width/s.Height/r.Aspect()-1) < 0.01)
		}
	}
	is.Equal(console.ShapeOf(imagegen.Size{}, imagegen.RatioAuto), console.Shape{X: 4, Y: 4, Width: 32, Height: 32})
	is.Equal(console.ShapeOf(imagegen.Size{Width: 64, Height: 32}, "1:1"), console.Shape{X: 4, Y: 12, Width: 32, Height: 16})
	is.Equal(console.ShapeOf(imagegen.Size{Width: 32, Height: 64}, imagegen.RatioAuto), console.Shape{X: 12, Y: 4, Width: 16, Height: 32})
	is.Equal(console.ShapeOf(imagegen.Size{}, "no ratio"), console.Shape{X: 4, Y: 4, Width: 32, Height: 32})
	is.True(console.ShapeOf(imagegen.Size{Width: 8192, Height: 16}, "auto").Height >= 0)
}
