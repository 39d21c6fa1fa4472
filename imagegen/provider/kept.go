package provider

import (
	"context"
	"image"
	"image/color"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// composing is held while a reference and its mask are decoded in memory: two pictures of up to
// imagegen.MaxMaskPixels each. So the memory for them does not grow with the number of calls.
var composing sync.Mutex

// kept returns the part of a reference that a mask keeps, scaled to a size by nearest neighbour. It is opaque where
// the reference is kept, and transparent where the picture is to be drawn anew. The mask is as large as the
// reference. Errors are those of decode.
func kept(ctx context.Context, reference, mask imagegen.ProviderReference, size imagegen.Size) (*image.NRGBA, error) {
	composing.Lock()
	defer composing.Unlock()
	picture, err := decode(ctx, reference)
	if err != nil {
		return nil, err
	}
	stencil, err := decode(ctx, mask)
	if err != nil {
		return nil, err
	}
	out := image.NewNRGBA(image.Rect(0, 0, size.Width, size.Height))
	from := picture.Bounds()
	for y := range size.Height {
		for x := range size.Width {
			dx, dy := x*from.Dx()/size.Width, y*from.Dy()/size.Height
			if _, _, _, a := stencil.At(stencil.Bounds().Min.X+dx, stencil.Bounds().Min.Y+dy).RGBA(); a > 0 {
				c := color.NRGBAModel.Convert(picture.At(from.Min.X+dx, from.Min.Y+dy)).(color.NRGBA)
				out.SetNRGBA(x, y, color.NRGBA{R: c.R, G: c.G, B: c.B, A: 0xff})
			}
		}
	}
	return out, nil
}
