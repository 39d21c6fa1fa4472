package fakeimage

import "math"

// ridge is the outline of land against what is behind it.
type ridge struct {
	top         []float32 // the height of the land in each column
	soft        []float32 // how fast coverage grows below it: less where the land is steep
	least, most float64
}

// ridge draws f, which takes and returns lengths in units.
func (c *composer) ridge(base float64, f func(x float64) float64) ridge {
	r := ridge{make([]float32, c.width), make([]float32, c.width), math.Inf(1), math.Inf(-1)}
	for x := range r.top {
		y := base - c.unit*f((float64(x)+0.5)/c.unit)
		r.top[x] = float32(y)
		r.least, r.most = min(r.least, y), max(r.most, y)
	}
	for x := range r.top {
		slope := float64(r.top[min(x+1, c.width-1)] - r.top[max(x-1, 0)])
		if x > 0 && x < c.width-1 {
			slope /= 2
		}
		r.soft[x] = float32(1 / math.Hypot(1, slope))
	}
	return r
}

func (r ridge) at(x float64) float64 {
	return float64(r.top[min(max(int(x), 0), len(r.top)-1)])
}

// land fills what lies below a ridge: crest at its highest, foot at a depth below that.
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

// snowcap whitens what of a ridge rises above an altitude, with a frayed lower edge.
func (c *composer) snowcap(r ridge, white lab) layer {
	n := newNoise(c.rand)
	line := r.least + 0.42*(r.most-r.least)
	edge := make([]float32, c.width)
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
