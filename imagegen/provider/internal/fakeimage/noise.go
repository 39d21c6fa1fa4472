package fakeimage

import (
	"math"
	"math/rand/v2"
)

// noise is a smooth random curve through the values at the whole numbers, repeated after 256.
// It lies between -1 and 1.
type noise [256]float64

func newNoise(r *rand.Rand) *noise {
	var n noise
	for i := range n {
		n[i] = 2*r.Float64() - 1
	}
	return &n
}

// at returns the curve at x. It is level at the whole numbers, so that it has no corners there.
func (n *noise) at(x float64) float64 {
	floor := math.Floor(x)
	i, f := int(floor), x-floor
	a, b := n[i&255], n[(i+1)&255]
	return a + (b-a)*f*f*(3-2*f)
}

// rolling adds up octaves into hills, between about -1 and 1. Each octave is about twice as fine as the one before,
// flatter, and moved along the curve, so that the same values do not meet again.
func (n *noise) rolling(x float64, octaves int) float64 {
	sum, weight := 0.0, 0.6
	for i := range octaves {
		sum += weight * n.at(x+float64(37*i))
		x, weight = 2.03*x, 0.38*weight
	}
	return sum
}

// ridged is rolling with a crease wherever the curve crosses 0, which makes mountains of hills.
func (n *noise) ridged(x float64, octaves int) float64 {
	sum, weight := 0.0, 0.55
	for i := range octaves {
		sum += weight * (1 - 2*math.Abs(n.at(x+float64(53*i))))
		x, weight = 2.07*x, 0.48*weight
	}
	return sum
}
