// Package brand makes of an operator's colour and logo what a page can show to everybody.
package brand

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The least contrasts of the Web Content Accessibility Guidelines 2.2, level AA.
const (
	textContrast = 4.5 // 1.4.3
	edgeContrast = 3.0 // 1.4.11
)

// colour is red, green and blue, each from 0 to 1.
type colour [3]float64

var black, white = colour{}, colour{1, 1, 1}

// ground is what the console's colours stand on, as its style sheet has it.
type ground struct {
	surface colour // of articles
	sunken  colour // the hardest of all to be told from
	away    colour // where a colour goes that is too much like the ground
}

var (
	light = ground{hex(0xffffff), hex(0xf1f1f5), black}
	dark  = ground{hex(0x18181c), hex(0x212127), white}
)

// Style is a style sheet by which the console's accent is a colour such as 0a7d5a, as near to it as can be read in
// light and in dark.
func Style(accent string) (string, error) {
	c, err := parse(accent)
	if err != nil {
		return "", err
	}
	l, d := light.shades(c), dark.shades(c)
	pair := func(name string, l, d colour) string { return fmt.Sprintf("  --%s: light-dark(%s, %s);\n", name, l, d) }
	return ":root:root {\n" + pair("accent", l.text, d.text) + pair("accent-solid", l.solid, d.solid) +
		pair("accent-strong", l.strong, d.strong) + pair("accent-soft", l.soft, d.soft) + pair("on-accent", l.on, d.on) + "}\n", nil
}

// shades are what the console needs of a colour.
type shades struct {
	text   colour // of links, and of what is chosen, on soft too
	soft   colour
	solid  colour // of buttons and bars
	strong colour // of a button that is pointed at
	on     colour // of text on the last two
}

func (g ground) shades(c colour) (s shades) {
	s.soft = g.surface.mix(c, 0.12)
	s.text = c.toward(g.away, func(c colour) bool {
		return contrast(c, g.sunken) >= textContrast && contrast(c, s.soft) >= textContrast
	})
	s.solid = c.toward(g.away, func(c colour) bool { return contrast(c, g.sunken) >= edgeContrast })
	further := black
	if s.on = white; contrast(s.solid, white) < textContrast {
		s.on, further = black, white
	}
	s.strong = s.solid.mix(further, 0.15)
	return s
}

// parse reads a colour, also without the #, which begins a comment in YAML and in a shell.
func parse(s string) (colour, error) {
	digits := strings.TrimPrefix(s, "#")
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != len("rrggbb") {
		return colour{}, fmt.Errorf("the accent is a colour such as 0a7d5a, two hexadecimal digits each for red, green and blue; got %.40q", s)
	}
	return hex(uint32(n)), nil
}

func hex(n uint32) colour {
	return colour{float64(n>>16) / 255, float64(n>>8&0xff) / 255, float64(n&0xff) / 255}
}

func (c colour) String() string {
	byteOf := func(v float64) int { return int(math.Round(v * 255)) }
	return fmt.Sprintf("#%02x%02x%02x", byteOf(c[0]), byteOf(c[1]), byteOf(c[2]))
}

// mix is c with a part of another colour.
func (c colour) mix(other colour, part float64) (m colour) {
	for i := range m {
		v := c[i]*(1-part) + other[i]*part
		m[i] = math.Round(v*255) / 255 // as the style sheet writes it
	}
	return m
}

// toward is the first colour on the way to another that is enough; the other, if none before is.
func (c colour) toward(other colour, enough func(colour) bool) colour {
	const steps = 100
	for i := range steps {
		if m := c.mix(other, float64(i)/steps); enough(m) {
			return m
		}
	}
	return other
}

// contrast of two colours, from 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func (c colour) luminance() float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}
