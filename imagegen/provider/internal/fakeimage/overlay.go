package fakeimage

import "math"

// cutOut makes row y transparent outside the oval that touches the edges of the picture. A pixel takes four bytes.
func (p Picture) cutOut(row []byte, y int) {
	const soft = 1.5 // pixels of its rim
	a, b := float64(p.Width)/2, float64(p.Height)/2
	for x := range p.Width {
		dx, dy := (float64(x)+0.5-a)/a, (float64(y)+0.5-b)/b
		// The distance from the rim, inwards, as a share of its width.
		inside := (1 - math.Hypot(dx, dy)) * min(a, b) / soft
		row[4*x+3] = byte(255*max(0, min(1, inside)) + 0.5)
	}
}

// keep replaces the pixels of row y that Kept has, with their opacity where the row has one.
func (p Picture) keep(row []byte, y int) {
	depth := p.depth()
	kept := p.Kept.Pix[y*p.Kept.Stride:]
	for x := range p.Width {
		if k := kept[4*x:][:4]; k[3] > 0 {
			copy(row[depth*x:][:depth], k)
		}
	}
}
