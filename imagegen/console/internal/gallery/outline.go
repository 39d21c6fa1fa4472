package gallery

import (
	"math"

	"github.com/imagegend/imagegend/imagegen"
)

// Outline is a rectangle with the proportions of an image, in the middle of a square of canvas × canvas.
type Outline struct {
	X, Y, Width, Height float64
}

// The template draws in units of these.
const (
	canvas = 40.0 // the edge of the square
	ink    = 32.0 // the longer edge of the rectangle within
)

// OutlineOf returns the outline of a size or, if the size is auto, of a ratio. If the ratio is auto too, it is a
// square. Values are rounded to tenths, to keep pages short.
func OutlineOf(z imagegen.Size, r imagegen.Ratio) Outline {
	aspect := r.Aspect()
	if !z.Auto() {
		aspect = float64(z.Width) / float64(z.Height)
	}
	w, h := ink, ink
	switch {
	case aspect > 1:
		h = w / aspect
	case aspect > 0:
		w = h * aspect
	}
	tenth := func(v float64) float64 { return math.Round(v*10) / 10 }
	w, h = tenth(w), tenth(h)
	return Outline{tenth((canvas - w) / 2), tenth((canvas - h) / 2), w, h}
}
