package upstream

import (
	"fmt"
	"math"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/provider"
)

const (
	maxCanvasEdge   = 3840
	maxCanvasPixels = 3840 * 2160
)

// Canvas says what sizes a model of one's own draws: any, in steps.
type Canvas struct {
	Step int // both edges are multiples of it

	// BestEdge is the edge of the square that the model was trained for. A size of less than half
	// that area comes out badly: a larger one is drawn instead, and scaled down.
	BestEdge int
}

// Size is the size to draw: the explicit one or a little more, else that of provider.SizeFor. One
// beyond 3840 pixels an edge or 8,294,400 in all is refused, with a *imagegen.ProviderError that
// names the nearest one.
func (c Canvas) Size(r imagegen.ProviderRequest) (imagegen.Size, error) {
	if r.Size.Auto() {
		return provider.SizeFor(provider.RatioFor(r, imagegen.Ratios()), r.Tier), nil
	}
	candidates := []imagegen.Size{c.inSteps(r.Size, 1, math.Ceil), c.Like(r.Size)}
	if 2*r.Size.Area() < c.best() {
		candidates = candidates[1:]
	}
	for _, z := range candidates {
		if max(z.Width, z.Height) <= maxCanvasEdge && z.Area() <= maxCanvasPixels && r.Fits(z) == nil {
			return z, nil
		}
	}
	scale := min(1, maxCanvasEdge/float64(max(r.Size.Width, r.Size.Height)), math.Sqrt(maxCanvasPixels/float64(r.Size.Area())))
	return imagegen.Size{}, &imagegen.ProviderError{Class: imagegen.ClassInvalid,
		Message: fmt.Sprintf("size %v is too large for this model; the nearest is %v", r.Size, c.inSteps(r.Size, scale, math.Floor))}
}

// Like is the size of z's shape that the model draws best.
func (c Canvas) Like(z imagegen.Size) imagegen.Size {
	return c.inSteps(z, math.Sqrt(float64(c.best())/float64(z.Area())), math.Round)
}

// Exceeds reports whether z is larger than what the model was trained for.
func (c Canvas) Exceeds(z imagegen.Size) bool { return z.Area() > c.best() }

func (c Canvas) best() int { return c.BestEdge * c.BestEdge }

func (c Canvas) inSteps(z imagegen.Size, scale float64, round func(float64) float64) imagegen.Size {
	edge := func(n int) int {
		steps := math.Round(float64(n)*scale/float64(c.Step)*1e6) / 1e6 // what the division lost is no step
		return int(round(steps)) * c.Step
	}
	return imagegen.Size{Width: edge(z.Width), Height: edge(z.Height)}
}
