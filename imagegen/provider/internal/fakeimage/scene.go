package fakeimage

import "math"

// layer is one sheet of a scene.
type layer struct {
	// paint adds the layer's part of the row whose middle is at height y, over what is there.
	paint func(row []rgb, y float64)
	// solid is the height from which on down the layer hides all that is behind it.
	solid float64
	// glare is true for what water does not mirror as it is, but breaks up into glitter.
	glare bool
}

// nowhere is solid for a layer that never hides all that is behind it.
var nowhere = math.Inf(1)

// scene is layers, the farthest first.
type scene []layer

// paint leaves out what is hidden.
func (s scene) paint(row []rgb, y float64) {
	first := 0
	for i, l := range s {
		if y >= l.solid {
			first = i
		}
	}
	for _, l := range s[first:] {
		l.paint(row, y)
	}
}

// rows returns a function that fills one row of the picture after the other with the colours of its pixels, which take
// depth bytes each.
func (s scene) rows(width, depth int) func(row []byte) {
	line := make([]rgb, width)
	y := 0.5
	return func(row []byte) {
		s.paint(line, y)
		y++
		for x, c := range line {
			p := row[depth*x:][:3]
			p[0], p[1], p[2] = byte(c.r+0.5), byte(c.g+0.5), byte(c.b+0.5)
		}
	}
}

// fill paints a stretch of a row whose ends lie between pixels.
func fill(row []rgb, from, to float64, c rgb, opacity float32) {
	first, last := max(0, int(math.Floor(from))), min(len(row)-1, int(math.Floor(to)))
	for x := first; x <= last; x++ {
		part := min(to, float64(x+1)) - max(from, float64(x))
		if part > 0 {
			row[x] = c.over(row[x], opacity*float32(part))
		}
	}
}
