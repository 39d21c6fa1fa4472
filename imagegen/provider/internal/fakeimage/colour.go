package fakeimage

import (
	"image/color"
	"math"
	"math/rand/v2"
)

// rgb is a colour as it is painted: sRGB, each part from 0 to 255.
type rgb struct{ r, g, b float32 }

// over returns c painted over below; coverage lies between 0 and 1.
func (c rgb) over(below rgb, coverage float32) rgb {
	return rgb{
		below.r + (c.r-below.r)*coverage,
		below.g + (c.g-below.g)*coverage,
		below.b + (c.b-below.b)*coverage,
	}
}

// lab is a colour as it is mixed: in Oklab (bottosson.github.io/posts/oklab), where what lies
// between two colours looks like a mixture of them, which it does not in sRGB. l is the
// lightness from 0 to 1; a and b together are hue and saturation.
type lab struct{ l, a, b float64 }

// hex reads 0xRRGGBB.
func hex(v uint32) lab {
	return linear(float64(v>>16&255)/255, float64(v>>8&255)/255, float64(v&255)/255)
}

// labOf converts an opaque colour.
func labOf(c color.Color) lab {
	r, g, b, _ := c.RGBA()
	return linear(float64(r)/0xffff, float64(g)/0xffff, float64(b)/0xffff)
}

// linear converts from sRGB, whose parts are from 0 to 1. The matrices here and in lab.rgb are
// those of Oklab's definition.
func linear(r, g, b float64) lab {
	r, g, b = expand(r), expand(g), expand(b)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{
		0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s,
	}
}

// rgb converts to sRGB. A part that sRGB cannot show becomes the nearest that it can.
func (c lab) rgb() rgb {
	l := cube(c.l + 0.3963377774*c.a + 0.2158037573*c.b)
	m := cube(c.l - 0.1055613458*c.a - 0.0638541728*c.b)
	s := cube(c.l - 0.0894841775*c.a - 1.2914855480*c.b)
	return rgb{
		compress(4.0767416621*l - 3.3077115913*m + 0.2309699292*s),
		compress(-1.2684380046*l + 2.6097574011*m - 0.3413193965*s),
		compress(-0.0041960863*l - 0.7034186147*m + 1.7076147010*s),
	}
}

// mix returns the colour at part of the way from c to another. A part below 0 counts as 0, one above 1 as 1.
func (c lab) mix(with lab, part float64) lab {
	part = min(max(part, 0), 1)
	return lab{c.l + (with.l-c.l)*part, c.a + (with.a-c.a)*part, c.b + (with.b-c.b)*part}
}

// turn changes the hue by an angle in radians.
func (c lab) turn(angle float64) lab {
	sin, cos := math.Sincos(angle)
	return lab{c.l, c.a*cos - c.b*sin, c.a*sin + c.b*cos}
}

// lean draws the hue towards another colour's and leaves most of the light as it is.
func (c lab) lean(to lab) lab {
	const hue, light = 0.6, 0.1
	return lab{c.l + (to.l-c.l)*light, c.a + (to.a-c.a)*hue, c.b + (to.b-c.b)*hue}
}

func cube(v float64) float64 { return v * v * v }

// expand makes a part of an sRGB colour proportional to the light (IEC 61966-2-1). Both are from 0 to 1.
func expand(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// compress is the inverse of expand, but limits its result and scales it to 255.
func compress(v float64) float32 {
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return float32(255 * min(max(v, 0), 1))
}

// palette is the colours of one light.
type palette struct {
	zenith, sky, horizon lab // of the sky: at the top, half way down, and at its foot
	sun                  lab // of the glow around the sun or moon
	disc                 lab // of the sun or moon itself, and of stars
	far, near            lab // of land; what lies between is mixed
}

// colours makes a palette of colours that are written 0xRRGGBB.
func colours(zenith, sky, horizon, sun, disc, far, near uint32) palette {
	return palette{hex(zenith), hex(sky), hex(horizon), hex(sun), hex(disc), hex(far), hex(near)}
}

// each applies f to every colour.
func (p palette) each(f func(lab) lab) palette {
	return palette{f(p.zenith), f(p.sky), f(p.horizon), f(p.sun), f(p.disc), f(p.far), f(p.near)}
}

// hour is the time of the day.
type hour int

const (
	anyHour hour = iota // not decided yet
	dawn
	day
	dusk
	night
)

// palettes are those among which pick chooses. Of each, the colours are in the order: zenith, sky, horizon, sun,
// disc, far, near.
var palettes = map[hour][]palette{
	dawn: {
		colours(0x6d93c4, 0xcfbfdd, 0xffdcc0, 0xffe6c4, 0xfffaf0, 0xb7a5cb, 0x3a4668),
		colours(0x5b5fa3, 0xdf9dbb, 0xffd0ab, 0xffe3b8, 0xfff6e2, 0xbd87ad, 0x332a5c),
		colours(0x7fb0b8, 0xd9dcc6, 0xffe3b5, 0xfff0c9, 0xfffbee, 0xa9b8ad, 0x2c4a50),
	},
	day: {
		colours(0x2f80c4, 0x86c3e8, 0xe9f3ec, 0xfffbe6, 0xfffdf2, 0x9cc4d6, 0x1f5b4d),
		colours(0x2f9fae, 0x9edbd3, 0xfbf4d6, 0xfffbe6, 0xffffff, 0x8fc4ba, 0x1b4c52),
		colours(0x4f9fe0, 0xaed6f1, 0xfdf3d9, 0xfff9e0, 0xffffff, 0xa6cdb0, 0x2c6640),
	},
	dusk: {
		colours(0x23306b, 0x97539f, 0xff9d67, 0xffc483, 0xfff0cf, 0xa2557f, 0x1d1538),
		colours(0x35215a, 0xc84b6e, 0xffb763, 0xffd68f, 0xfff4d6, 0xb3536c, 0x260f2f),
		colours(0x5d7c9c, 0xe9b97c, 0xffe0a0, 0xfff0c0, 0xfffbec, 0xc69a6d, 0x3a2a31),
	},
	night: {
		colours(0x070c26, 0x17295f, 0x4a6ca6, 0x9db8e0, 0xf7f2dc, 0x35548c, 0x070c20),
		colours(0x04151f, 0x0d3d4d, 0x4b9c96, 0xa7dfd0, 0xf4f6e2, 0x276a72, 0x041117),
		colours(0x0f0828, 0x32206a, 0x8858a8, 0xd3a3d8, 0xfaeef2, 0x523a8a, 0x0b0719),
	},
}

// pick chooses a palette for an hour and turns its hues a little, by up to 10 degrees either way.
func pick(h hour, r *rand.Rand) palette {
	choice := palettes[h]
	p := choice[r.IntN(len(choice))]
	angle := 0.36 * (r.Float64() - 0.5)
	return p.each(func(c lab) lab { return c.turn(angle) })
}
