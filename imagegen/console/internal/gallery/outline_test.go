package gallery_test

import (
	"math"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/console/internal/gallery"
)

// Every ratio is drawn in its proportion, in the middle of a square of 40.
func TestOutlines(t *testing.T) {
	is := is.New(t)
	for _, r := range imagegen.Ratios() {
		s := gallery.OutlineOf(imagegen.Size{}, r)
		is.Equal(max(s.Width, s.Height), 32.0)
		is.True(math.Abs(2*s.X+s.Width-40) < 0.2 && math.Abs(2*s.Y+s.Height-40) < 0.2)
		if r != imagegen.RatioAuto {
			is.True(math.Abs(s.Width/s.Height/r.Aspect()-1) < 0.01)
		}
	}
	is.Equal(gallery.OutlineOf(imagegen.Size{}, imagegen.RatioAuto), gallery.Outline{X: 4, Y: 4, Width: 32, Height: 32})
	is.Equal(gallery.OutlineOf(imagegen.Size{Width: 64, Height: 32}, "1:1"), gallery.Outline{X: 4, Y: 12, Width: 32,
		Height: 16})
	is.Equal(gallery.OutlineOf(imagegen.Size{Width: 32, Height: 64}, imagegen.RatioAuto), gallery.Outline{X: 12, Y: 4,
		Width: 16, Height: 32})
	is.Equal(gallery.OutlineOf(imagegen.Size{}, "no ratio"), gallery.Outline{X: 4, Y: 4, Width: 32, Height: 32})
	is.True(gallery.OutlineOf(imagegen.Size{Width: 8192, Height: 16}, "auto").Height >= 0)
}
