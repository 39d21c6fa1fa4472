package fakeimage

import (
	"image"
	"math"

	"golang.org/x/image/vector"
)

// sky is the light behind everything, down to the foot of the picture: the colours of the palette, and a glow around
// the sun or moon, made of a wide halo and a tight one.
func (c *composer) sky() layer {
	p, strength := c.palette, 0.55
	if c.mood.hour == night {
		strength = 0.3
	}
	wide, tight := c.halo(0.55, 0.30), c.halo(0.15, 0.15)
	glow := p.sun.rgb()
	return layer{solid: math.Inf(-1), paint: func(row []rgb, y float64) {
		base := p.heaven(y / c.horizon).rgb()
		far, near := wide.weight(y, strength), tight.weight(y, 0.8*strength)
		for x := range row {
			row[x] = glow.over(base, min(1, far*wide.across[x]+near*tight.across[x]))
		}
	}}
}

// heaven runs from the zenith at 0 to the horizon at 1, without a visible seam at the colour
// between them.
func (p palette) heaven(t float64) lab {
	t = min(max(t, 0), 1)
	return p.zenith.mix(p.sky, t*(2-t)).mix(p.sky.mix(p.horizon, t), t)
}

// halo is a soft oval light with the shape of a bell. It is the product of one factor for the column and one for the
// row, so that there is no exponential to compute for each pixel.
type halo struct {
	across []float32 // the factor of each column
	y, sdY float64   // the middle, and the standard deviation downwards
}

// halo returns a light around the sun or moon with these standard deviations, in units.
func (c *composer) halo(sdX, sdY float64) halo {
	h := halo{make([]float32, c.width), c.sunY, sdY * c.unit}
	for x := range h.across {
		h.across[x] = bell((float64(x) + 0.5 - c.sunX) / (sdX * c.unit))
	}
	return h
}

// weight is the factor of the row at height y; most is what it is in the middle.
func (h halo) weight(y, most float64) float32 { return float32(most) * bell((y-h.y)/h.sdY) }

// bell is the Gaussian function; d is the distance in standard deviations.
func bell(d float64) float32 { return float32(math.Exp(-d * d / 2)) }

// disc is the sun, or the moon as a crescent.
func (c *composer) disc() layer {
	radius, colour := c.sunRadius, c.palette.disc.rgb()
	x0, y0, night := c.sunX, c.sunY, c.mood.hour == night
	return layer{solid: nowhere, glare: true, paint: func(row []rgb, y float64) {
		dy := y - y0
		if math.Abs(dy) > radius+1 {
			return
		}
		for x := max(0, int(x0-radius-1)); x < min(len(row), int(x0+radius+2)); x++ {
			dx := float64(x) + 0.5 - x0
			part := within(dx, dy, radius)
			if night { // a crescent: what a second disc covers is dark
				part *= 1 - within(dx-0.42*radius, dy+0.22*radius, 0.86*radius)
			}
			row[x] = colour.over(row[x], part)
		}
	}}
}

// within is about how much of a pixel whose middle is at dx, dy lies in a disc around the origin, from 0 to 1.
func within(dx, dy, radius float64) float32 {
	return float32(min(max(radius-math.Hypot(dx, dy)+0.5, 0), 1))
}

// star is a small disc. light is its opacity.
type star struct{ x, y, radius, light float64 }

// stars are denser towards the zenith. Their number depends on the shape of the picture, not on its size.
func (c *composer) stars() layer {
	stars := make([]star, int(170*c.w*c.horizon/(c.unit*c.unit)))
	for i := range stars {
		// The cube makes most stars small and a few large.
		size := c.rand.Float64()
		stars[i] = star{
			x: c.rand.Float64() * c.w, y: math.Pow(c.rand.Float64(), 1.4) * c.horizon,
			radius: c.unit * (0.0006 + 0.0013*size*size*size), light: 0.35 + 0.65*c.rand.Float64(),
		}
	}
	colour := c.palette.disc.rgb()
	return layer{solid: nowhere, paint: func(row []rgb, y float64) {
		for _, s := range stars {
			dy := y - s.y
			if math.Abs(dy) > s.radius+1 {
				continue
			}
			for x := max(0, int(s.x-s.radius-1)); x < min(len(row), int(s.x+s.radius+2)); x++ {
				part := within(float64(x)+0.5-s.x, dy, s.radius)
				row[x] = colour.over(row[x], part*float32(s.light))
			}
		}
	}}
}

// clouds are banks of bars with round ends, smaller towards the horizon. They fade towards their feet.
func (c *composer) clouds() {
	colour := c.palette.disc.mix(c.palette.sun, 0.5).rgb()
	for range 2 + c.rand.IntN(4) {
		near := c.rand.Float64()
		length := c.unit * (0.12 + 0.3*near) * c.between(0.7, 1.2)
		y := c.horizon * (0.82 - 0.7*near)
		mask := c.bank(length, 0.1*length)
		// A cloud may begin before the left edge and end beyond the right one, which then cut it.
		c.addLayers(cutout(mask, c.between(-0.3*length, c.w-0.7*length), y, colour, 0.55, 0.12))
	}
}

// bank is the mask of a cloud: a long bar, and shorter ones on top of it.
func (c *composer) bank(length, thick float64) *image.Alpha {
	const bars = 4
	width, height := int(math.Ceil(length)), int(math.Ceil((bars+1)*thick/2))
	z := vector.NewRasterizer(width, height)
	for i := range bars {
		// Each bar is shorter than the one below, and anywhere above it but for its ends.
		part := length * math.Pow(0.68, float64(i)) * c.between(0.85, 1)
		left := c.between(0.2, 0.8) * (length - part)
		bar(z, float32(left), float32(float64(bars-1-i)*thick/2), float32(part), float32(thick))
	}
	return render(z)
}

// bar adds to z a horizontal bar whose upper left corner, were it not round, would be at x, y.
func bar(z *vector.Rasterizer, x, y, length, thick float32) {
	r := thick / 2
	bulge := 1.33 * r // makes a cubic curve a half circle
	z.MoveTo(x+r, y)
	z.LineTo(x+length-r, y)
	z.CubeTo(x+length-r+bulge, y, x+length-r+bulge, y+thick, x+length-r, y+thick)
	z.LineTo(x+r, y+thick)
	z.CubeTo(x+r-bulge, y+thick, x+r-bulge, y, x+r, y)
	z.ClosePath()
}
