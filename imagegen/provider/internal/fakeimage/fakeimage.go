// Package fakeimage draws landscapes: a sky and a light, ridge behind ridge in the haze, and what
// the words of a prompt add to it.
//
// A composer first arranges the picture as a scene of layers, using all the random numbers; then the
// scene is painted row by row as the encoder (PNG or WebP) is read. So the same Picture always gives
// the same bytes, and the pixels of the whole picture are never in memory.
//
// Lengths and positions are in pixels, x to the right and y downwards. What has to look alike
// in every size is a share of the width, of the height or of composer.unit. Those shares, and
// most other numbers here, are a matter of taste.
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

// Picture says what to draw. Equal pictures have equal bytes. In another size a picture keeps its composition, as
// nearly as the shape allows. Its methods only read it.
type Picture struct {
	Prompt        string      // white space around and between words does not count
	Variant       int         // tells apart several pictures of one prompt
	Width, Height int         // from 1 to 16384, which is all that WebP allows
	Tint          color.Color // what the hues lean towards; nil: nothing
	Seed          *int64      // of variant 0; each further variant has the next. nil: prompt and variant alone decide
	Oval          bool        // the picture is an oval, and transparent around it
	// as large as the picture: its pixels replace drawn ones, unless fully transparent; nil: none
	Kept *image.NRGBA
}

// PNG returns a reader of the picture as PNG, 8 bits for each channel. It draws rows as they are read, fails with
// nothing but io.EOF, and is not safe for concurrent use.
func (p Picture) PNG() io.Reader { return newEncoder(p.Width, p.Height, p.depth(), p.rows()) }

// WebP is PNG, but in the format WebP, without loss. It does not compress: the file begins with its length, which
// would then be known only when everything is drawn.
func (p Picture) WebP() io.Reader { return newWebP(p.Width, p.Height, p.depth(), p.rows()) }

// depth is how many bytes a pixel takes: red, green and blue, and in an oval its opacity.
func (p Picture) depth() int {
	if p.Oval {
		return 4
	}
	return 3
}

// rows returns a function that fills one row of the picture after the other, from the top. It must not be called for
// more rows than the picture has.
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

// composer arranges one picture. Its methods append layers to the scene, the farthest first, and draw random numbers:
// to call them in another order makes other pictures.
type composer struct {
	rand       *rand.Rand
	mood       mood
	palette    palette
	width      int     // of the picture
	w, h, unit float64 // its width, its height, and the edge of a square of the same area
	horizon    float64 // the height at which the sky ends
	sunX, sunY float64 // the middle of the sun, or of the moon
	sunRadius  float64
	front      ridge // of the nearest land; empty as long as there is none before the water
	scene      scene
}

// compose arranges the whole scene. The seed of its random numbers depends on the prompt, the variant and Seed only,
// so that a picture keeps its composition in another size.
func (p Picture) compose() scene {
	seed := sha256.Sum256(fmt.Appendf(nil, "%s %s", p.chance(), strings.Join(strings.Fields(p.Prompt), " ")))
	c := &composer{
		rand: rand.New(rand.NewChaCha8(seed)), mood: moodOf(p.Prompt),
		width: p.Width, w: float64(p.Width), h: float64(p.Height),
		unit: math.Sqrt(float64(p.Width) * float64(p.Height)),
	}
	// Palette and mood come first, since every layer takes its colours from them when it is made.
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

// chance is what tells apart the pictures of one prompt: the seed of the random numbers is made of both.
func (p Picture) chance() string {
	if p.Seed != nil {
		return fmt.Sprintf("seed %d", *p.Seed+int64(p.Variant))
	}
	return strconv.Itoa(p.Variant)
}

// between returns a random number from least to most.
func (c *composer) between(least, most float64) float64 { return least + (most-least)*c.rand.Float64() }

func (c *composer) addLayers(layers ...layer) { c.scene = append(c.scene, layers...) }

// heavens adds the sky, stars, the sun or moon, and clouds. By day and at night the sun or moon stands high, at dawn
// and dusk just above the horizon, where land that is added later may hide it.
func (c *composer) heavens() {
	c.horizon = c.h * c.between(0.54, 0.64)
	c.sunX = c.w * c.between(0.22, 0.78)
	c.sunRadius = c.unit * c.between(0.035, 0.065)
	c.sunY = c.horizon - c.unit*c.between(0.06, 0.2)
	if c.mood.hour == night || c.mood.hour == day {
		c.sunY = c.h * c.between(0.13, 0.28)
	}
	c.addLayers(c.sky())
	if c.mood.hour == night {
		c.addLayers(c.stars())
	}
	c.addLayers(c.disc())
	if c.mood.hour != night {
		c.clouds()
	}
}

// layer is one sheet of a scene.
type layer struct {
	// paint adds the layer's part of the row whose middle is at height y, over what is there. y can be outside the
	// picture, since water mirrors what is there. Calls never overlap: a layer may keep buffers.
	paint func(row []rgb, y float64)
	// solid is the height below which the layer hides all that is behind it; minus infinity: everywhere.
	solid float64
	// glare says that water does not mirror the layer, but shows glitter in its place.
	glare bool
}

// nowhere is the solid of a layer that never hides all that is behind it.
var nowhere = math.Inf(1)

// scene is layers, the farthest first, which is solid everywhere: no row keeps anything of the one before.
type scene []layer

// paint paints the row at height y. It begins with the nearest layer that is solid there: the
// others behind it are hidden.
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

// rows returns a function that fills one row of the picture after the other with the colours of its pixels, which
// take depth bytes each; it leaves a fourth byte as it is.
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

// paintRow paints a stretch of a row. Its ends may lie outside the row, and within pixels, which it then covers in
// part.
func paintRow(row []rgb, from, to float64, c rgb, opacity float32) {
	first, last := max(0, int(math.Floor(from))), min(len(row)-1, int(math.Floor(to)))
	for x := first; x <= last; x++ {
		part := min(to, float64(x+1)) - max(from, float64(x))
		if part > 0 {
			row[x] = c.over(row[x], opacity*float32(part))
		}
	}
}
