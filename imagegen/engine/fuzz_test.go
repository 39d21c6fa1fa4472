package engine_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"testing"

	"github.com/matryer/is"
	"golang.org/x/image/webp"

	"github.com/imagegend/imagegend/imagegen"
)

// Whatever bytes a provider sends for an image, the caller has paid for a whole image of the size
// asked for, or not at all.
func FuzzProviderImage(f *testing.F) {
	sizes := []imagegen.Size{{Width: 16, Height: 16}, {Width: 48, Height: 32}, {Width: 33, Height: 99},
		{Width: 64, Height: 64}}
	f.Fuzz(func(t *testing.T, b []byte, which uint8) {
		if tooLarge(b) {
			return
		}
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				yield(imagegen.ProviderImage{Body: bytes.NewReader(b)}, nil)
			}})
		want := sizes[int(which)%len(sizes)]
		r, err := h.generate(imagegen.GenerateRequest{Size: want})
		if err != nil {
			h.is.True(errors.Is(err, imagegen.ErrGenerationFailed))
			h.is.Equal(h.balance(), imagegen.Credits(100))
			h.audit()
			return
		}
		h.is.Equal(len(r.Images), 1)
		h.is.Equal(h.balance(), imagegen.Credits(99))
		h.is.True(atLeast(b, want)) // nothing is scaled up
		got := h.stored(r.Images[0])
		h.is.Equal(got.Bounds().Size(), image.Pt(want.Width, want.Height))
		h.audit()
	})
}

// Whatever bytes a caller sends for a reference, they are refused, or reach the provider as they
// are, with the size that a decoder finds.
func FuzzReference(f *testing.F) {
	f.Fuzz(func(t *testing.T, b []byte) {
		h := start(t, &scripted{caps: anything,
			do: func(ctx context.Context, r imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				file, err := r.References[0].Open(ctx)
				if err != nil {
					t.Error(err)
					return
				}
				defer file.Close()
				got, err := io.ReadAll(file)
				c := decoders[r.References[0].MediaType].config(t, got)
				if err != nil || !bytes.Equal(got, b) || r.References[0].Size != int64(len(b)) ||
					c != (imagegen.Size{Width: r.References[0].Width, Height: r.References[0].Height}) {
					t.Errorf("%q became %q of %v, %v", b, got, c, err)
				}
				yield(picture(16, 16), nil)
			}})
		_, err := h.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 16, Height: 16},
			References: []imagegen.Reference{bytesReference(b)}})
		paid := imagegen.Credits(1)
		if errors.Is(err, imagegen.ErrInvalidRequest) {
			paid = 0
		} else {
			h.is.NoErr(err)
		}
		h.is.Equal(h.balance(), 100-paid)
		h.audit()
	})
}

// decoder decodes one format.
type decoder struct {
	image  func(io.Reader) (image.Image, error)
	header func(io.Reader) (image.Config, error)
}

var decoders = map[string]decoder{
	"image/png":  {png.Decode, png.DecodeConfig},
	"image/jpeg": {jpeg.Decode, jpeg.DecodeConfig},
	"image/webp": {webp.Decode, webp.DecodeConfig},
}

func (d decoder) config(t *testing.T, b []byte) imagegen.Size {
	t.Helper()
	c, err := d.header(bytes.NewReader(b))
	if err != nil {
		t.Error(err)
	}
	return imagegen.Size{Width: c.Width, Height: c.Height}
}

// atLeast reports whether an image covers a size.
func atLeast(b []byte, z imagegen.Size) bool {
	for _, d := range decoders {
		if c, err := d.header(bytes.NewReader(b)); err == nil && c.Width >= z.Width && c.Height >= z.Height {
			return true
		}
	}
	return false
}

// tooLarge reports whether decoding an image would take longer than a fuzzer should wait.
func tooLarge(b []byte) bool {
	for _, d := range decoders {
		if c, err := d.header(bytes.NewReader(b)); err == nil && c.Width*c.Height > 1<<16 {
			return true
		}
	}
	return false
}

// stored decodes an image as it is served, by the type that it is said to be of.
func (h *harness) stored(i imagegen.Image) image.Image {
	h.Helper()
	is := is.New(h.T)
	f, err := h.engine.OpenImage(h.Context(), i.ID)
	is.NoErr(err)
	defer f.Close()
	is.Equal(f.MediaType, i.MediaType)
	m, err := decoders[f.MediaType].image(f)
	is.NoErr(err)
	return m
}
