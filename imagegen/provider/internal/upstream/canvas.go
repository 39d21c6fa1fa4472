package upstream

import (
	"math"

	"github.com/imagegend/imagegend/imagegen"
)

// Canvas says which sizes a diffusion model that the operator runs can draw: any size in steps, within wide limits.
type Canvas struct {
	Step int // both edges are multiples of it

	// BestEdge is the edge of the square that the model was trained for, in pixels. An image of less than half that
	// area comes out badly, so a larger one is drawn and the engine scales it down.
	BestEdge int
}

// Capabilities allows all sizes in steps with edges of up to 3840 pixels, up to 8,294,400
// pixels in all (3840×2160), and a shape of up to 4:1.
func (c Canvas) Capabilities() imagegen.Capabilities {
	return imagegen.Capabilities{SizeRules: imagegen.SizeRules{Step: c.Step, MaxEdge: 3840, MaxPixels: 3840 * 2160,
		MaxAspect: 4}}
}

// Size returns the size to draw: for an explicit size that size or a slightly larger one, otherwise the usual size of
// the ratio and tier. An explicit size with less than half of BestEdge's area is drawn with about that area if the
// engine can scale it down. Errors are those of imagegen.Capabilities.Choose.
func (c Canvas) Size(r imagegen.ProviderRequest) (imagegen.Size, error) {
	if !r.Size.Auto() && 2*r.Size.Area() < c.best() && r.Fits(c.Like(r.Size)) == nil {
		return c.Like(r.Size), nil
	}
	return c.Capabilities().Choose(r)
}

// Like returns a size with the shape of z and about the area that the model draws best.
func (c Canvas) Like(z imagegen.Size) imagegen.Size {
	scale := math.Sqrt(float64(c.best()) / float64(z.Area()))
	edge := func(n int) int { return int(math.Round(float64(n)*scale/float64(c.Step))) * c.Step }
	return imagegen.Size{Width: edge(z.Width), Height: edge(z.Height)}
}

// Exceeds reports whether z is larger than what the model was trained for.
func (c Canvas) Exceeds(z imagegen.Size) bool { return z.Area() > c.best() }

func (c Canvas) best() int { return c.BestEdge * c.BestEdge }
