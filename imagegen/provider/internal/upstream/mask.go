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

// whitening is held while a mask is decoded: up to imagegen.MaxMaskPixels.
var whitening sync.Mutex

// WhiteMask is a mask as most upstreams want it: in grey, white where the image is to be made anew, which is what is
// transparent in m, and black elsewhere. nil of nil.
func WhiteMask(ctx context.Context, m *imagegen.ProviderReference) (*imagegen.ProviderReference, error) {
	if m == nil {
		return nil, nil
	}
	f, err := m.Open(ctx)
	if err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassUnavailable, Message: "the mask cannot be opened", Err: err}
	}
	defer f.Close()
	whitening.Lock()
	defer whitening.Unlock()
	mask, err := png.Decode(f)
	if err != nil {
		return nil, &imagegen.ProviderError{Class: imagegen.ClassInvalid, Message: "the mask cannot be decoded", Err: err}
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
	return &imagegen.ProviderReference{Reference: bytesInMemory(out.Bytes()), MediaType: "image/png", Size: int64(out.Len()), Width: m.Width, Height: m.Height}, nil
}

// bytesInMemory is a reference image in memory.
type bytesInMemory []byte

// Open implements imagegen.Reference.
func (b bytesInMemory) Open(context.Context) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(b)), nil
}
