package upstream

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/png"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// whitening is held while a mask is converted, so that only one is in memory at a time: it can
// have imagegen.MaxMaskPixels.
var whitening sync.Mutex

// WhiteMask converts a mask to what most upstreams want: a PNG in grey, as large, white where m
// is fully transparent and the image is to be made anew, and black elsewhere. The result is in
// memory; nothing must be closed. It is nil if m is.
//
// An error is a *imagegen.ProviderError: of ClassUnavailable if the mask cannot be opened, of
// ClassInvalid if it cannot be decoded.
func WhiteMask(ctx context.Context, m *imagegen.ProviderReference) (*imagegen.ProviderReference, error) {
	if m == nil {
		return nil, nil
	}
	f, err := m.Open(ctx)
	if err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "the mask cannot be opened",
			Err: err}
	}
	defer f.Close()
	whitening.Lock()
	defer whitening.Unlock()
	mask, err := png.Decode(f)
	if err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: "the mask cannot be decoded",
			Err: err}
	}
	b := mask.Bounds()
	white := image.NewGray(image.Rect(0, 0, b.Dx(), b.Dy()))
	for y := range b.Dy() {
		for x := range b.Dx() {
			if _, _, _, a := mask.At(b.Min.X+x, b.Min.Y+y).RGBA(); a == 0 {
				white.SetGray(x, y, color.Gray{Y: 0xff})
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, white); err != nil {
		return nil, err
	}
	return &imagegen.ProviderReference{Reference: bytesInMemory(out.Bytes()), MediaType: "image/png",
		Size: int64(out.Len()), Width: m.Width, Height: m.Height}, nil
}

// bytesInMemory is a reference image in memory.
type bytesInMemory []byte

// Open implements imagegen.Reference.
func (b bytesInMemory) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b)), nil
}
