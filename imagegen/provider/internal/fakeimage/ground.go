package fakeimage

import (
	"math"
)

// ground adds land and water, the farthest first.
func (c *composer) ground() {
	switch c.mood.kind {
	case mountains:
		c.peaks(3, 0.24)
		c.slopes(0.55, 1, 2, 0.05)
	case hills:
		c.slopes(0, 1, 5, 0.09)
	case forest:
		c.peaks(1, 0.16)
		c.slopes(0.3, 1, 3, 0.06)
	case desert:
		c.dunes()
	case sea:
		c.coast()
	case city:
		c.town()
	}
}

// depth returns how the land looks at a distance, from t = 0 at the horizon to 1 at the
// viewer's feet: the height in the picture around which it lies, and its colours at the crest
// and at the foot. In the distance, haze takes them towards the sky's.
func (c *composer) depth(t float64) (base float64, crest, foot lab) {
	base = c.horizon + (c.h-c.horizon)*0.86*t
	crest = c.palette.far.mix(c.palette.near, t)
	return base, crest, crest.mix(c.palette.horizon, 0.5*(1-t))
}

// white is the colour of snow in this light.
func (c *composer) white() lab {
	return c.palette.horizon.mix(c.palette.sky, 0.2).mix(hex(0xffffff), 0.55)
}

// peaks are n mountain ranges. tall, in units, is the height of the farthest; each nearer one is lower, so that it
// does not hide those behind it. The farthest always has snow.
func (c *composer) peaks(n int, tall float64) {
	for i := range n {
		t := 0.55 * float64(i) / float64(n)
		base, crest, foot := c.depth(t)
		curve, rise := newNoise(c.rand), tall*(1-t)
		r := c.ridge(base, func(x float64) float64 { return rise * (0.35 + curve.ridged(1.5*x+7, 6)) })
		c.addLayers(land(r, crest, foot, 0.34*c.h))
		if c.mood.snow || i == 0 {
			c.addLayers(c.snowcap(r, c.white()))
		}
	}
}

// slopes are n ranges of rolling hills, at distances from one to another as in depth, with pines in a forest and
// before mountains. tall is their height in units. The last is the front.
func (c *composer) slopes(from, to float64, n int, tall float64) {
	for i := range n {
		t := from + (to-from)*float64(i)/float64(max(1, n-1))
		base, crest, foot := c.depth(t)
		curve := newNoise(c.rand)
		r := c.ridge(base, func(x float64) float64 { return tall * curve.rolling(1.9*x+7, 4) })
		trees := crest
		if c.mood.snow {
			crest, foot = c.white().mix(c.palette.sky, 0.25*(1-t)), c.palette.sky.mix(c.white(), 0.25)
		}
		switch {
		case c.mood.kind == forest && !c.mood.snow:
			c.addLayers(c.pines(r, c.unit*(0.05+0.1*t), -0.5, trees, c.white()))
		case c.mood.kind == forest, c.mood.kind == mountains:
			c.addLayers(c.pines(r, c.unit*(0.04+0.07*t), 0.2*t-0.15, trees.mix(c.palette.near, 0.2), c.white()))
		}
		c.addLayers(land(r, crest, foot, 0.3*c.h))
		c.front = r
	}
}

// dunes are lit on their crests, which stand out against the shade at the feet of those behind.
func (c *composer) dunes() {
	sand, shade := hex(0xeaa65a).mix(c.palette.sun, 0.3), hex(0x9a5a38).mix(c.palette.near, 0.45)
	for i := range 5 {
		t := float64(i) / 4
		base, _, _ := c.depth(t)
		swell, tall := newNoise(c.rand), 0.06+0.05*t
		r := c.ridge(base, func(x float64) float64 {
			return tall * (swell.ridged(x+7, 1) + 0.5*swell.rolling(1.3*x, 1))
		})
		crest := sand.mix(c.palette.horizon, 0.5*(1-t)).mix(shade, 0.25*t)
		c.addLayers(land(r, crest, crest.mix(shade, 0.35+0.25*t), 0.2*c.h))
		c.front = r
	}
}

// coast is three headlands at the horizon, and the sea before them. A random shift raises or lowers each; the sea
// covers what then lies below the horizon, and leaves gaps.
func (c *composer) coast() {
	for i := range 3 {
		t := 0.15 * float64(i)
		_, crest, foot := c.depth(2 * t)
		curve, tall := newNoise(c.rand), c.between(0.06, 0.13)-0.02*float64(i)
		shift := c.between(-0.5, 0.3)
		r := c.ridge(c.horizon, func(x float64) float64 { return tall * (curve.ridged(1.2*x+7, 5) + shift) })
		c.addLayers(land(r, crest, foot, 0.2*c.h))
	}
	c.addLayers(c.water(c.horizon))
}

// town is three rows of houses, the farthest the tallest, and the water before their quay. By day no window is lit.
func (c *composer) town() {
	lit := map[hour]float64{night: 0.4, dusk: 0.3, dawn: 0.12}[c.mood.hour]
	quay := c.horizon + 0.4*(c.h-c.horizon)
	for i := range 3 {
		t := float64(i) / 2
		_, crest, _ := c.depth(0.1 + 0.6*t)
		c.addLayers(c.skyline(quay, c.unit*(0.42-0.1*t), crest, lit*(0.2+0.8*t)))
	}
	c.addLayers(c.water(quay))
}

// ridge is the outline of land against what is behind it.
type ridge struct {
	top         []float32 // the height at which the land begins, for each column
	soft        []float32 // how fast coverage grows below it: less where the land is steep
	least, most float64   // of top
}

// ridge evaluates f for each column. f takes an x and returns how far the land rises above base, both in units.
func (c *composer) ridge(base float64, f func(x float64) float64) ridge {
	r := ridge{make([]float32, c.width), make([]float32, c.width), math.Inf(1), math.Inf(-1)}
	for x := range r.top {
		y := base - c.unit*f((float64(x)+0.5)/c.unit)
		r.top[x] = float32(y)
		r.least, r.most = min(r.least, y), max(r.most, y)
	}
	// The edge has to look equally sharp at every slope. The distance from it is measured downwards, and the cosine
	// of the slope makes of that the distance at right angles.
	for x := range r.top {
		slope := float64(r.top[min(x+1, c.width-1)] - r.top[max(x-1, 0)])
		if x > 0 && x < c.width-1 {
			slope /= 2
		}
		r.soft[x] = float32(1 / math.Hypot(1, slope))
	}
	return r
}

// at returns the height at which the land begins at x, or at the nearest edge of the picture. r must not be empty.
func (r ridge) at(x float64) float64 {
	return float64(r.top[min(max(int(x), 0), len(r.top)-1)])
}

// land fills what lies below a ridge. Its colour runs from crest, at the ridge's highest point,
// to foot, depth pixels below.
func land(r ridge, crest, foot lab, depth float64) layer {
	return layer{solid: r.most + 1, paint: func(row []rgb, y float64) {
		if y < r.least-1 {
			return
		}
		colour := crest.mix(foot, (y-r.least)/depth).rgb()
		if y > r.most+1 {
			for x := range row {
				row[x] = colour
			}
			return
		}
		cover(row, r, y, colour)
	}}
}

// cover paints what lies below a ridge in the row at height y, with an edge that is one pixel wide.
func cover(row []rgb, r ridge, y float64, colour rgb) {
	for x := range row {
		part := (float32(y)-r.top[x])*r.soft[x] + 0.5
		if part >= 1 {
			row[x] = colour
		} else if part > 0 {
			row[x] = colour.over(row[x], part)
		}
	}
}

// snowcap whitens the parts of a ridge that rise above a snow line, down to a frayed lower edge.
func (c *composer) snowcap(r ridge, white lab) layer {
	n := newNoise(c.rand)
	line := r.least + 0.42*(r.most-r.least)
	edge := make([]float32, c.width)
	// The higher the ridge rises above the line, the farther down the snow reaches. Towards the line the fraying
	// fades, so that the cap ends in points.
	for x := range edge {
		fray := n.ridged(float64(x)/c.unit*34, 3)
		rise := max(0, line-float64(r.top[x]))
		edge[x] = r.top[x] + float32(rise*0.62+0.020*c.unit*fray*min(1, rise/(0.03*c.unit)))
	}
	colour := white.rgb()
	return layer{solid: nowhere, paint: func(row []rgb, y float64) {
		if y < r.least-1 || y > line+1 {
			return
		}
		for x := range row {
			part := min((float32(y)-r.top[x])*r.soft[x]+0.5, (edge[x]-float32(y))*0.7+0.5)
			if part > 0 {
				row[x] = colour.over(row[x], min(1, part))
			}
		}
	}}
}

// pine stands at x, with its tip at the height top and its lowest branches at foot. No branch is longer than width.
type pine struct{ x, top, foot, width float64 }

// half is half the width of a pine at height y, which lies between top and foot. Within each tier of branches it
// grows downwards, and so do the tiers.
func (p pine) half(y float64) float64 {
	const tiers = 7
	t := (y - p.top) / (p.foot - p.top)
	_, drop := math.Modf(tiers * math.Sqrt(t))
	return p.width * t * (0.62 + 0.38*drop)
}

// pines stand in groves along a ridge. tall is about the height of the tallest, in pixels; bare says how much of the
// ridge is left without any, from -1 for none of it to 1 for all.
func (c *composer) pines(r ridge, tall, bare float64, colour, white lab) layer {
	var trees []pine
	groves := newNoise(c.rand)
	least, most := math.Inf(1), math.Inf(-1)
	for x := 0.0; x < c.w; x += 0.17 * tall * c.between(0.4, 1.6) {
		// Where growth is high there is a grove of tall trees, where it is low a clearing.
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
			paintRow(row, p.x-half, p.x+half, wood, 1)
			if c.mood.snow {
				paintRow(row, p.x-half, p.x-0.25*half, snow, 0.55)
			}
		}
	}}
}
