package fakeimage

import (
	"image"
	"image/draw"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/vector"
)

// shape is one part of a figure. Its path is written as in SVG, with absolute M, L, C and Z only;
// y points down.
type shape struct {
	path   string
	colour uint32
}

// figure is drawn on a square of 100 by 100, with its foot at y = 100.
type figure []shape

// stamp paints a figure with the middle of its foot at x, y. Its colours are mixed with shade.
func stamp(f figure, x, y, size float64, shade lab, part float64) []layer {
	layers := make([]layer, len(f))
	for i, s := range f {
		layers[i] = paste(s.path, x, y, size, hex(s.colour).mix(shade, part), 1)
	}
	return layers
}

// paste paints one shape of a figure that stands at x, y.
func paste(path string, x, y, size float64, colour lab, opacity float32) layer {
	o := parse(path, size/100)
	left, top := x-size/2+float64(o.bounds.Min.X), y-size+float64(o.bounds.Min.Y)
	return cutout(o.mask(), left, top, colour.rgb(), opacity, opacity)
}

// outline is a path that has been read and scaled.
type outline struct {
	verbs   []byte
	numbers []float32 // x and y in turn
	bounds  image.Rectangle
}

func parse(path string, scale float64) outline {
	var o outline
	left, top, right, bottom := math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)
	for field := range strings.FieldsSeq(path) {
		v, err := strconv.ParseFloat(field, 64)
		if err != nil {
			o.verbs = append(o.verbs, field[0])
			continue
		}
		v *= scale
		if len(o.numbers)%2 == 0 {
			left, right = min(left, v), max(right, v)
		} else {
			top, bottom = min(top, v), max(bottom, v)
		}
		o.numbers = append(o.numbers, float32(v))
	}
	o.bounds = image.Rect(int(left), int(top), int(right)+1, int(bottom)+1)
	return o
}

// mask is as large as the bounds, so that a large picture does not pay for what is left empty.
func (o outline) mask() *image.Alpha {
	z := vector.NewRasterizer(o.bounds.Dx(), o.bounds.Dy())
	dx, dy := float32(o.bounds.Min.X), float32(o.bounds.Min.Y)
	n := o.numbers
	for _, verb := range o.verbs {
		switch verb {
		case 'M':
			z.MoveTo(n[0]-dx, n[1]-dy)
			n = n[2:]
		case 'L':
			z.LineTo(n[0]-dx, n[1]-dy)
			n = n[2:]
		case 'C':
			z.CubeTo(n[0]-dx, n[1]-dy, n[2]-dx, n[3]-dy, n[4]-dx, n[5]-dy)
			n = n[6:]
		case 'Z':
			z.ClosePath()
		}
	}
	return render(z)
}

func render(z *vector.Rasterizer) *image.Alpha {
	z.DrawOp = draw.Src
	mask := image.NewAlpha(z.Bounds())
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	return mask
}
