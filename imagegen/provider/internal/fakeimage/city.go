package fakeimage

// house is one building of a skyline.
type house struct {
	left, right, top float64
	windows          []window // those with light; dark ones are not drawn
}

// window has its upper left corner at x, y.
type window struct{ x, y float64 }

// skyline is a row of houses that stand at the height base. tall is the height of the tallest; since the cube of a
// random number decides, most are low and a few are towers. lit is the share of windows with light.
func (c *composer) skyline(base, tall float64, colour lab, lit float64) layer {
	pane := 0.006 * c.unit
	var houses []house
	highest := base
	for x := -0.05 * c.unit; x < c.w; { // from beyond the edge: the picture may cut the first house, too
		height := c.rand.Float64()
		h := house{left: x, right: x + c.unit*c.between(0.035, 0.085), top: base - tall*(0.3+0.7*height*height*height)}
		for wx := h.left + pane; wx < h.right-1.5*pane; wx += 2 * pane {
			for wy := h.top + 1.6*pane; wy < base; wy += 2.6 * pane {
				if c.rand.Float64() < lit {
					h.windows = append(h.windows, window{wx, wy})
				}
			}
		}
		houses = append(houses, h)
		highest = min(highest, h.top)
		x = h.right + c.unit*c.between(-0.01, 0.014)
	}
	// Between the houses there are gaps, so that the layer is solid nowhere.
	wall, light := colour.rgb(), hex(0xffd98a).mix(colour, 0.15).rgb()
	return layer{solid: nowhere, paint: func(row []rgb, y float64) {
		if y < highest-1 {
			return
		}
		for _, h := range houses {
			if part := float32(min(max(y-h.top+0.5, 0), 1)); part > 0 {
				paintRow(row, h.left, h.right, wall, part)
			}
			for _, w := range h.windows {
				if y >= w.y && y < w.y+1.4*pane {
					paintRow(row, w.x, w.x+pane, light, 1)
				}
			}
		}
	}}
}
