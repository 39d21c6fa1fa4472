package fakeimage

import (
	"image"
	"image/draw"
	"math"
	"strconv"
	"strings"

	"golang.org/x/image/vector"
)

// figures adds the figure of the mood, if there is one, before everything else.
func (c *composer) figures() {
	at := c.w * c.between(0.25, 0.75)
	switch c.mood.figure {
	case "fox":
		c.stand(fox, at, 0.26*c.unit)
	case "boat":
		shade, part := c.shade()
		c.addLayers(stamp(boat, at, c.horizon+0.12*c.unit, 0.16*c.unit, shade, part)...)
	case "birds":
		// A flock: each bird is somewhere around the same place.
		for range 3 + c.rand.IntN(4) {
			x, y := at+c.unit*c.between(-0.14, 0.14), c.h*c.between(0.15, 0.34)
			c.addLayers(stamp(bird, x, y, c.unit*c.between(0.025, 0.045), c.palette.near, 0.6)...)
		}
	}
}

// stand puts a figure and its shadow on the nearest land. If the nearest is water, it adds a shore first.
func (c *composer) stand(f figure, x, size float64) {
	if c.mood.kind == sea || c.mood.kind == city {
		c.slopes(1, 1, 1, 0.05)
	}
	y := min(c.front.at(x)+0.03*c.unit, 0.98*c.h)
	c.addLayers(paste(shadow, x, y, size, c.palette.near, 0.22))
	shade, part := c.shade()
	c.addLayers(stamp(f, x, y, size, shade, part)...)
}

// shade returns the colour that the light of the hour mixes into a figure's own colours, and how much of it.
func (c *composer) shade() (with lab, part float64) {
	if c.mood.hour == night {
		return c.palette.near, 0.3
	}
	return c.palette.sun, 0.12
}

// shadow is a flat ellipse around the foot of the fox, a path as in [shape].
const shadow = "M 14 99 C 14 94 104 94 104 99 C 104 104 14 104 14 99 Z"

var fox = figure{
	{"M 60 92 C 72 100 98 100 99 78 C 100 66 94 58 86 54 C 88 66 84 78 66 82 Z", 0xd9692b},        // tail
	{"M 99 78 C 100 66 94 58 86 54 C 87 60 87 66 85 70 C 90 71 95 74 99 78 Z", 0xfdf6ec},          // its tip
	{"M 32 44 C 28 60 29 82 31 100 L 66 100 C 76 96 78 80 70 66 C 63 55 56 48 52 38 Z", 0xe0752f}, // body
	{"M 31 46 C 27 60 28 72 34 82 C 42 74 46 60 43 46 Z", 0xfdf6ec},                               // chest
	{"M 31 78 L 30 100 L 40 100 L 41 80 Z", 0x5a2f22},                                             // forelegs
	{"M 56 100 C 56 90 64 86 70 90 C 76 95 72 100 68 100 Z", 0xc85f26},                            // paw
	{"M 30 22 L 30 2 L 42 14 L 54 3 L 54 22 C 58 32 54 44 44 47 C 34 50 22 45 10 40 C 16 33 24 30 30 22 Z", 0xe8803a},
	{"M 32 17 L 32 7 L 38 14 Z M 46 14 L 52 8 L 52 17 Z", 0x4a261d}, // ears
	{"M 10 40 C 18 39 28 38 36 46 C 26 48 18 44 10 40 Z", 0xfdf6ec}, // cheek
	{"M 9 40 C 8 37 13 36 14 39 C 14 42 10 42 9 40 Z", 0x2b1a18},    // nose
	{"M 30 31 C 31 28 35 29 35 32 C 34 33 31 33 30 31 Z", 0x2b1a18}, // eye
}

var boat = figure{
	{"M 48 8 L 48 80 L 14 80 C 30 60 42 36 48 8 Z", 0xfffaf0},                           // mainsail
	{"M 52 18 C 60 44 70 62 84 80 L 52 80 Z", 0xf3e3cf},                                 // foresail
	{"M 10 85 L 90 85 C 86 94 80 100 70 100 L 30 100 C 20 100 14 94 10 85 Z", 0x6b3a2e}, // hull
}

var bird = figure{
	{"M 0 88 C 14 78 34 78 50 94 C 66 78 86 78 100 88 C 84 84 66 86 50 100 C 34 86 16 84 0 88 Z", 0x2b2b3a},
}

// shape is one part of a figure. Its path is written as in SVG, with absolute M, L, C and Z only, a space around each
// command and number, and no negative number. The colour is 0xRRGGBB.
type shape struct {
	path   string
	colour uint32
}

// figure is drawn on a square of 100 by 100, with its foot at y = 100. Of its shapes, later ones cover earlier ones.
type figure []shape

// stamp paints a figure with the middle of its foot at x, y, on a square whose edge is size.
// Its colours are mixed with shade.
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
	verbs   []byte          // M, L, C and Z
	numbers []float32       // x and y in turn: a pair for each M and L, three for each C
	bounds  image.Rectangle // of all numbers, and so of the outline too: a cubic curve stays among its control points
}

// parse reads the path of a shape. It finds no mistakes: paths are constants of this package.
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

// mask returns how much of each pixel the outline covers. It is not larger than the bounds, so that a small figure
// takes little memory in a large picture.
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

// render returns what was drawn into z. The mask is new, so there is nothing to blend with, and draw.Src is faster.
func render(z *vector.Rasterizer) *image.Alpha {
	z.DrawOp = draw.Src
	mask := image.NewAlpha(z.Bounds())
	z.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	return mask
}

// cutout paints a colour through a mask whose upper left corner is at left, top, rounded down to whole pixels. The
// opacity runs from one at the top to another at the foot.
func cutout(mask *image.Alpha, left, top float64, colour rgb, from, to float32) layer {
	left, top = math.Floor(left), math.Floor(top)
	width, height := mask.Rect.Dx(), mask.Rect.Dy()
	return layer{solid: nowhere, paint: func(row []rgb, y float64) {
		line := int(math.Floor(y - top))
		if line < 0 || line >= height {
			return
		}
		opacity := (from + (to-from)*float32(line)/float32(height)) / 255
		for i, a := range mask.Pix[line*mask.Stride:][:width] {
			if x := int(left) + i; a > 0 && x >= 0 && x < len(row) {
				row[x] = colour.over(row[x], opacity*float32(a))
			}
		}
	}}
}
