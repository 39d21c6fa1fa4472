package fakeimage

import (
	"math"
	"slices"
)

// water lies below a level and mirrors the layers that the scene has so far, but for glare.
// Towards the viewer it shows more of its own colour.
func (c *composer) water(level float64) layer {
	behind := slices.DeleteFunc(slices.Clone(c.scene), func(l layer) bool { return l.glare })
	body := c.palette.zenith.mix(c.palette.sky, 0.35).rgb()
	light := c.palette.sun.mix(c.palette.disc, 0.6).rgb()
	glitter := c.glitter(level)
	mirror := make([]rgb, c.width)
	sway := make([]float64, c.width)
	n := newNoise(c.rand)
	for x := range sway {
		sway[x] = n.rolling(float64(x)/c.unit*5, 3)
	}
	return layer{solid: level, paint: func(row []rgb, y float64) {
		if y < level {
			return
		}
		depth := (y - level) / c.unit // of the row below the far edge of the water
		// Waves displace what is mirrored: swell takes it from another row, shift from another column. The nearer the
		// waves, the farther they displace and the wider they are.
		swell := math.Sin(22 * math.Log(0.02+depth) / (1 + depth))
		behind.paint(mirror, level-(y-level)*0.85-swell*0.05*depth*c.unit)
		shift := 0.05 * depth * c.unit * math.Sin(140*math.Sqrt(depth+0.003))
		deep := float32(min(0.34+0.9*depth, 0.75))
		for x := range row {
			from := min(max(x+int(shift*sway[x]), 0), len(row)-1)
			row[x] = body.over(mirror[from], deep)
		}
		glitter(row, y, light)
	}}
}

// glitter returns a function that paints the path of light under the sun: dashes that widen
// towards the viewer, on water that begins at a level.
func (c *composer) glitter(level float64) func(row []rgb, y float64, light rgb) {
	type dash struct{ x, y, length, thick float64 }
	var dashes []dash
	for range 90 {
		depth := math.Pow(c.rand.Float64(), 1.6)
		spread := (0.02 + 0.16*depth) * c.unit
		dashes = append(dashes, dash{
			x: c.sunX + spread*c.rand.NormFloat64()*0.6, y: level + depth*(c.h-level),
			length: c.unit * (0.006 + 0.045*depth) * c.between(0.4, 1.3), thick: c.unit * (0.0008 + 0.0026*depth),
		})
	}
	return func(row []rgb, y float64, light rgb) {
		for _, d := range dashes {
			if part := within(0, y-d.y, d.thick); part > 0 {
				paintRow(row, d.x-d.length, d.x+d.length, light, 0.6*part)
			}
		}
	}
}
