package fakeimage

import "math"

// pine stands on the ground with its tip at the top.
type pine struct{ x, top, foot, width float64 }

// half is half the width of a pine at height y: tiers of branches that grow towards the foot.
func (p pine) half(y float64) float64 {
	const tiers = 7
	t := (y - p.top) / (p.foot - p.top)
	_, drop := math.Modf(tiers * math.Sqrt(t))
	return p.width * t * (0.62 + 0.38*drop)
}

// pines stand in groves along a ridge. tall is the height of the tallest; bare is how much of the
// ridge is left without any, from -1 for none of it to 1 for all.
func (c *composer) pines(r ridge, tall, bare float64, colour, white lab) layer {
	var trees []pine
	groves := newNoise(c.rand)
	least, most := math.Inf(1), math.Inf(-1)
	for x := 0.0; x < c.w; x += 0.17 * tall * c.between(0.4, 1.6) {
		growth := groves.rolling(3*x/c.unit, 2)
		height := tall * c.between(0.5, 1) * (0.8 + 0.3*growth)
		if growth < bare {
			continue
		}
		foot := r.at(x) + 0.12*tall
		trees = append(trees, pine{x: x, top: foot - height, foot: foot, width: 0.20 * height})
		least, most = min(least, foot-height), max(most, foot)
	}
	wood, snow := colour.rgb(), white.rgb()
	return layer{solid: nowhere, paint: func(row []rgb, y float64) {
		if y < least || y > most {
			return
		}
		for _, p := range trees {
			if y <= p.top || y >= p.foot {
				continue
			}
			half := p.half(y)
			fill(row, p.x-half, p.x+half, wood, 1)
			if c.mood.snow {
				fill(row, p.x-half, p.x-0.25*half, snow, 0.55)
			}
		}
	}}
}
