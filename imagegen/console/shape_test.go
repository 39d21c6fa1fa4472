package console_test

import (
	"math"
	"strings"
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

// Five shapes are seen at first; the others open of themselves where one of them is chosen.
func TestFewShapesFirst(t *testing.T) {
	s := open(t)
	v := s.signedIn("alice")
	before, after, cut := strings.Cut(v.get("playground").body, `<details class="further"><summary>More shapes</summary>`)
	s.is.True(cut)
	s.is.Equal(strings.Count(before, `name="ratio"`), 5)
	s.is.Equal(strings.Count(after, `name="ratio"`), len(imagegen.Ratios())+1-5) // with an exact size
	for shape, open := range map[string]bool{"16:9": false, "3:2": true, "own": true} {
		a := v.post("playground", "show", "cost", "ratio", shape, "width", "64", "height", "64")
		s.is.Equal(a.has(`<details class="further" open>`), open)
	}
}
