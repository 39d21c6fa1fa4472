package fakeimage

import "math/rand/v2"

// palette is the colours of one light.
type palette struct {
	zenith, sky, horizon lab
	sun                  lab // of the glow
	disc                 lab
	far, near            lab // land; what lies between is mixed
}

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
	anyHour hour = iota
	dawn
	day
	dusk
	night
)

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

// pick chooses a palette and turns its hues a little.
func pick(h hour, r *rand.Rand) palette {
	choice := palettes[h]
	p := choice[r.IntN(len(choice))]
	angle := 0.36 * (r.Float64() - 0.5)
	return p.each(func(c lab) lab { return c.turn(angle) })
}
