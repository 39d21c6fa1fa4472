package provider

import (
	"context"
	"image"
	"image/color"
	_ "image/jpeg" // the formats of references
	_ "image/png"

	_ "golang.org/x/image/webp"

	"github.com/imagegend/imagegend/imagegen"
)

// maxTintPixels is the most pixels of a reference image that is decoded for its colour. It
// bounds the memory that a tint may take.
const maxTintPixels = 4_000_000

// tintOf returns the average colour of the first reference; nil if there is none, or it is too large to
// be decoded for its colour.
func tintOf(ctx context.Context, references []imagegen.ProviderReference) (color.Color, error) {
	if len(references) == 0 || references[0].Width*references[0].Height > maxTintPixels {
		return nil, nil
	}
	picture, err := decode(ctx, references[0])
	if err != nil {
		return nil, err
	}
	return average(picture), nil
}

// decode reads and decodes a reference. An error is an *imagegen.ProviderError.
func decode(ctx context.Context, r imagegen.ProviderReference) (image.Image, error) {
	f, err := r.Open(ctx)
	if err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnavailable,
			Message: "a reference image cannot be opened", Err: err}
	}
	defer f.Close()
	picture, _, err := image.Decode(f)
	if err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassInvalid,
			Message: "a reference image cannot be decoded", Err: err}
	}
	return picture, nil
}

// average samples a grid of 32×32 pixels: more samples would not change the tint visibly. The result is opaque.
func average(picture image.Image) color.Color {
	const grid = 32
	b := picture.Bounds()
	var sum [3]uint64
	for y := range grid {
		for x := range grid {
			r, g, b, _ := picture.At(b.Min.X+x*b.Dx()/grid, b.Min.Y+y*b.Dy()/grid).RGBA()
			sum[0], sum[1], sum[2] = sum[0]+uint64(r), sum[1]+uint64(g), sum[2]+uint64(b)
		}
	}
	mean := func(i int) uint16 { return uint16(sum[i] / (grid * grid)) }
	return color.RGBA64{R: mean(0), G: mean(1), B: mean(2), A: 0xffff}
}
