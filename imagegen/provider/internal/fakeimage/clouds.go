package fakeimage

import (
	"image"
	"math"

	"golang.org/x/image/vector"
)

// clouds are banks of bars with round ends, smaller towards the horizon.
func (c *composer) clouds() {
	colour := c.palette.disc.mix(c.palette.sun, 0.5).rgb()
	for range 2 + c.rand.IntN(4) {
		near := c.rand.Float64()
		length := c.unit * (0.12 + 0.3*near) * c.between(0.7, 1.2)
		y := c.horizon * (0.82 - 0.7*near)
		mask := c.bank(length, 0.1*length)
		c.add(cutout(mask, c.between(-0.3*length, c.w-0.7*length), y, colour, 0.55, 0.12))
	}
}

// bank is the mask of a cloud: a long bar, and shorter ones on top of it.
func (c *composer) bank(length, thick float64) *image.Alpha {
	const bars = 4
	width, height := int(math.Ceil(length)), int(math.Ceil((bars+1)*thick/2))
	z := vector.NewRasterizer(width, height)
	for i := range bars {
		part := length * math.Pow(0.68, float64(i)) * c.between(0.85, 1)
		left := c.between(0.2, 0.8) * (length - part)
		bar(z, float32(left), float32(float64(bars-1-i)*thick/2), float32(part), float32(thick))
	}
	return render(z)
}

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
