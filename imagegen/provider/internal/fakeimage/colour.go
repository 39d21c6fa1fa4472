package fakeimage

import (
	"image/color"
	"math"
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

// lab is a colour as it is mixed: Oklab, in which the way between two colours stays clean.
type lab struct{ l, a, b float64 }

// hex reads 0xRRGGBB.
func hex(v uint32) lab {
	return linear(float64(v>>16&255)/255, float64(v>>8&255)/255, float64(v&255)/255)
}

func labOf(c color.Color) lab {
	r, g, b, _ := c.RGBA()
	return linear(float64(r)/0xffff, float64(g)/0xffff, float64(b)/0xffff)
}

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

func expand(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

func compress(v float64) float32 {
	if v <= 0.0031308 {
		v *= 12.92
	} else {
		v = 1.055*math.Pow(v, 1/2.4) - 0.055
	}
	return float32(255 * min(max(v, 0), 1))
}
