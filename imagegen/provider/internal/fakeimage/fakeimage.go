// Package fakeimage draws landscapes: a sky and a light, ridge behind ridge in the haze, and what
// the words of a prompt add to it.
//
// A composer first arranges the picture as a scene of layers, using all the random numbers; then the
// scene is painted row by row as the encoder (PNG or WebP) is read. So the same Picture always gives
// the same bytes, and the pixels of the whole picture are never in memory.
package fakeimage

import (
	"crypto/sha256"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Picture says what to draw. The same picture is drawn the same, in every size as nearly as its
// shape allows.
type Picture struct {
	Prompt        string
	Variant       int          // tells apart several pictures of one prompt
	Width, Height int          // at least 1
	Tint          color.Color  // what the hues lean towards; nil: nothing
	Seed          *int64       // of the first variant; each has the next. nil: the prompt alone decides
	Oval          bool         // the picture is an oval, with nothing around it
	Kept          *image.NRGBA // as large as the picture: what is opaque here stands in its place; nil: nothing
}

// PNG returns the picture's bytes. They are drawn as they are read.
func (p Picture) PNG() io.Reader { return newEncoder(p.Width, p.Height, p.depth(), p.rows()) }

// WebP is PNG in the other format, without loss. It is not compressed, so that it too is drawn as it is read.
func (p Picture) WebP() io.Reader { return newWebP(p.Width, p.Height, p.depth(), p.rows()) }

// depth is how many bytes a pixel takes: the fourth is its opacity.
func (p Picture) depth() int {
	if p.Oval {
		return 4
	}
	return 3
}

// rows returns a function that fills one row of the picture after the other.
func (p Picture) rows() func(row []byte) {
	draw, y := p.compose().rows(p.Width, p.depth()), 0
	return func(row []byte) {
		draw(row)
		if p.Oval {
			p.cutOut(row, y)
		}
		if p.Kept != nil {
			p.keep(row, y)
		}
		y++
	}
}

// composer arranges one picture. Lengths are pixels; unit is the edge of a square of the same area.
type composer struct {
	rand       *rand.Rand
	mood       mood
	palette    palette
	width      int
	w, h, unit float64
	horizon    float64
	sunX, sunY float64
	sunRadius  float64
	front      ridge // of the nearest land
	scene      scene
}

func (p Picture) compose() scene {
	seed := sha256.Sum256(fmt.Appendf(nil, "%s %s", p.chance(), strings.Join(strings.Fields(p.Prompt), " ")))
	c := &composer{
		rand: rand.New(rand.NewChaCha8(seed)), mood: read(p.Prompt),
		width: p.Width, w: float64(p.Width), h: float64(p.Height), unit: math.Sqrt(float64(p.Width) * float64(p.Height)),
	}
	c.mood.decide(c.rand)
	c.palette = pick(c.mood.hour, c.rand)
	if p.Tint != nil {
		tint := labOf(p.Tint)
		c.palette = c.palette.each(func(c lab) lab { return c.lean(tint) })
	}
	c.heavens()
	c.ground()
	c.figures()
	return c.scene
}

// chance tells apart the pictures of one prompt.
func (p Picture) chance() string {
	if p.Seed != nil {
		return fmt.Sprintf("seed %d", *p.Seed+int64(p.Variant))
	}
	return strconv.Itoa(p.Variant)
}

// between is a random number.
func (c *composer) between(least, most float64) float64 { return least + (most-least)*c.rand.Float64() }

func (c *composer) add(layers ...layer) { c.scene = append(c.scene, layers...) }

func (c *composer) heavens() {
	c.horizon = c.h * c.between(0.54, 0.64)
	c.sunX = c.w * c.between(0.22, 0.78)
	c.sunRadius = c.unit * c.between(0.035, 0.065)
	c.sunY = c.horizon - c.unit*c.between(0.06, 0.2)
	if c.mood.hour == night || c.mood.hour == day {
		c.sunY = c.h * c.between(0.13, 0.28)
	}
	c.add(c.sky())
	if c.mood.hour == night {
		c.add(c.stars())
	}
	c.add(c.disc())
	if c.mood.hour != night {
		c.clouds()
	}
}

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
