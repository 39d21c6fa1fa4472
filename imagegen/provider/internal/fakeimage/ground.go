package fakeimage

// ground lays out the land, the farthest first.
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

// depth is how the land looks at a distance: t is 0 at the horizon, 1 at the feet.
func (c *composer) depth(t float64) (base float64, crest, foot lab) {
	base = c.horizon + (c.h-c.horizon)*0.86*t
	crest = c.palette.far.mix(c.palette.near, t)
	return base, crest, crest.mix(c.palette.horizon, 0.5*(1-t))
}

// white is the colour of snow in this light.
func (c *composer) white() lab {
	return c.palette.horizon.mix(c.palette.sky, 0.2).mix(hex(0xffffff), 0.55)
}

func (c *composer) peaks(n int, tall float64) {
	for i := range n {
		t := 0.55 * float64(i) / float64(n)
		base, crest, foot := c.depth(t)
		curve, rise := newNoise(c.rand), tall*(1-t)
		r := c.ridge(base, func(x float64) float64 { return rise * (0.35 + curve.ridged(1.5*x+7, 6)) })
		c.add(land(r, crest, foot, 0.34*c.h))
		if c.mood.snow || i == 0 {
			c.add(c.snowcap(r, c.white()))
		}
	}
}

// slopes are rolling hills, with pines where there is a forest.
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
			c.add(c.pines(r, c.unit*(0.05+0.1*t), -0.5, trees, c.white()))
		case c.mood.kind == forest, c.mood.kind == mountains:
			c.add(c.pines(r, c.unit*(0.04+0.07*t), 0.2*t-0.15, trees.mix(c.palette.near, 0.2), c.white()))
		}
		c.add(land(r, crest, foot, 0.3*c.h))
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
		r := c.ridge(base, func(x float64) float64 { return tall * (swell.ridged(x+7, 1) + 0.5*swell.rolling(1.3*x, 1)) })
		crest := sand.mix(c.palette.horizon, 0.5*(1-t)).mix(shade, 0.25*t)
		c.add(land(r, crest, crest.mix(shade, 0.35+0.25*t), 0.2*c.h))
		c.front = r
	}
}

func (c *composer) coast() {
	for i := range 3 {
		t := 0.15 * float64(i)
		_, crest, foot := c.depth(2 * t)
		curve, tall := newNoise(c.rand), c.between(0.06, 0.13)-0.02*float64(i)
		shift := c.between(-0.5, 0.3)
		r := c.ridge(c.horizon, func(x float64) float64 { return tall * (curve.ridged(1.2*x+7, 5) + shift) })
		c.add(land(r, crest, foot, 0.2*c.h))
	}
	c.add(c.water(c.horizon))
}

func (c *composer) town() {
	lit := map[hour]float64{night: 0.4, dusk: 0.3, dawn: 0.12}[c.mood.hour]
	quay := c.horizon + 0.4*(c.h-c.horizon)
	for i := range 3 {
		t := float64(i) / 2
		_, crest, _ := c.depth(0.1 + 0.6*t)
		c.add(c.skyline(quay, c.unit*(0.42-0.1*t), crest, lit*(0.2+0.8*t)))
	}
	c.add(c.water(quay))
}
