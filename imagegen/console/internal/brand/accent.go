// Package brand turns an operator's colour and logo into what pages can show to everybody: a style sheet whose
// colours are readable in light and in dark, and a logo that can do nothing but be looked at. It checks and computes
// only; the console serves the results.
package brand

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// The least contrasts of the Web Content Accessibility Guidelines 2.2, level AA.
const (
	textContrast = 4.5 // success criterion 1.4.3
	edgeContrast = 3.0 // success criterion 1.4.11
)

// colour is red, green and blue in sRGB, each from 0 to 1.
type colour [3]float64

var black, white = colour{}, colour{1, 1, 1}

// ground is the backgrounds of the console in one colour scheme.
type ground struct {
	surface colour // of articles
	sunken  colour // the background with the least contrast to any accent
	away    colour // the colour towards which an accent is moved until its contrast is enough
}

// The backgrounds must be those of tokens.css: --surface and --sunken.
var (
	light = ground{hex(0xffffff), hex(0xf1f1f5), black}
	dark  = ground{hex(0x18181c), hex(0x212127), white}
)

// styleSheet returns a style sheet that makes a colour such as 0a7d5a the console's accent. In light and in dark each
// use of the colour is changed as little as its contrast requires. The selector outweighs that of tokens.css, wherever
// it stands.
func styleSheet(accent string) (string, error) {
	c, err := parseColour(accent)
	if err != nil {
		return "", err
	}
	l, d := light.shades(c), dark.shades(c)
	pair := func(name string, l, d colour) string { return fmt.Sprintf("  --%s: light-dark(%s, %s);\n", name, l, d) }
	return ":root:root {\n" + pair("accent", l.text, d.text) + pair("accent-solid", l.solid, d.solid) +
		pair("accent-strong", l.strong, d.strong) + pair("accent-soft", l.soft, d.soft) +
		pair("on-accent", l.on, d.on) + "}\n", nil
}

// shades are the variants of an accent that the style sheet needs.
type shades struct {
	text   colour // for links and selected items, on any background and on soft
	soft   colour // a tinted background
	solid  colour // for buttons and bars
	strong colour // for a button under the pointer
	on     colour // for text on the last two: black or white
}

// shades computes the variants of c on these backgrounds. strong moves away from the colour of the text on it, so its
// contrast is at least that of solid.
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

// parseColour reads a colour with or without the #, which begins a comment in YAML and in a shell.
func parseColour(s string) (colour, error) {
	digits := strings.TrimPrefix(s, "#")
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || len(digits) != len("rrggbb") {
		return colour{}, fmt.Errorf("the accent is a colour such as 0a7d5a, "+
			"two hexadecimal digits each for red, green and blue; got %.40q", s)
	}
	return hex(uint32(n)), nil
}

// hex returns the colour 0xrrggbb.
func hex(n uint32) colour {
	return colour{float64(n>>16) / 255, float64(n>>8&0xff) / 255, float64(n&0xff) / 255}
}

func (c colour) String() string {
	byteOf := func(v float64) int { return int(math.Round(v * 255)) }
	return fmt.Sprintf("#%02x%02x%02x", byteOf(c[0]), byteOf(c[1]), byteOf(c[2]))
}

// mix is c with a part of another colour, from 0 to 1.
func (c colour) mix(other colour, part float64) (m colour) {
	for i := range m {
		v := c[i]*(1-part) + other[i]*part
		m[i] = math.Round(v*255) / 255 // as the style sheet has it, so that contrasts are computed for what is seen
	}
	return m
}

// toward returns the first colour on the way from c to another that satisfies enough, in steps of 1 %. If none does,
// it is the other.
func (c colour) toward(other colour, enough func(colour) bool) colour {
	const steps = 100
	for i := range steps {
		if m := c.mix(other, float64(i)/steps); enough(m) {
			return m
		}
	}
	return other
}

// contrast is the contrast ratio of two colours as WCAG defines it, from 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance is the relative luminance of WCAG.
func (c colour) luminance() float64 {
	linear := func(v float64) float64 {
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c[0]) + 0.7152*linear(c[1]) + 0.0722*linear(c[2])
}
