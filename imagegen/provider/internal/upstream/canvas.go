package upstream

import (
	"math"

	"github.com/imagegend/imagegend/imagegen"
)

// Canvas says what sizes a model of one's own draws: any, in steps.
type Canvas struct {
	Step int // both edges are multiples of it

	// BestEdge is the edge of the square that the model was trained for. A size of less than half
	// that area comes out badly: a larger one is drawn instead, and scaled down.
	BestEdge int
}

// Capabilities are all sizes up to 3840 pixels an edge and 8,294,400 in all.
func (c Canvas) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{SizeRules: imagegen.SizeRules{Step: c.Step, MaxEdge: 3840, MaxPixels: 3840 * 2160, MaxAspect: 4}}
}

// Size is the size to draw: the explicit one or a little more, else the usual one.
func (c Canvas) Size(r imagegen.ProviderRequest) (imagegen.Size, error) {
	if !r.Size.Auto() && 2*r.Size.Area() < c.best() && r.Fits(c.Like(r.Size)) == nil {
		return c.Like(r.Size), nil
	}
	return c.Capabilities().Choose(r)
}

// Like is the size of z's shape that the model draws best.
func (c Canvas) Like(z imagegen.Size) imagegen.Size {
	scale := math.Sqrt(float64(c.best()) / float64(z.Area()))
	edge := func(n int) int { return int(math.Round(float64(n)*scale/float64(c.Step))) * c.Step }
	return imagegen.Size{Width: edge(z.Width), Height: edge(z.Height)}
}

// Exceeds reports whether z is larger than what the model was trained for.
func (c Canvas) Exceeds(z imagegen.Size) bool { return z.Area() > c.best() }

func (c Canvas) best() int { return c.BestEdge * c.BestEdge }
