package mcpserver

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
)

// one is a service that has one image.
type one struct {
	imagegen.Service
	bytes []byte
}

type open struct{ *bytes.Reader }

func (open) Close() error { return nil }

func (o one) OpenImage(context.Context, imagegen.ImageID) (*imagegen.ImageFile, error) {
	return &imagegen.ImageFile{ReadSeekCloser: io.ReadSeekCloser(open{bytes.NewReader(o.bytes)})}, nil
}

func encoded(m image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func previewOf(t *testing.T, file []byte, w, h int) []byte {
	t.Helper()
	s := &tools{Service: one{bytes: file}, Options: Options{Log: slog.New(slog.DiscardHandler)}}
	return s.preview(t.Context(), imagegen.Image{Width: w, Height: h})
}

// Noise is what JPEG makes the largest files of.
func TestPreviewOfNoise(t *testing.T) {
	is := is.New(t)
	noise := image.NewRGBA(image.Rect(0, 0, 1024, 1024))
	r := rand.New(rand.NewPCG(1, 2))
	for i := range noise.Pix {
		noise.Pix[i] = byte(r.Uint32())
		if i%4 == 3 {
			noise.Pix[i] = 255
		}
	}
	preview := previewOf(t, encoded(noise), 1024, 1024)
	is.True(len(preview) > 0 && len(preview) <= previewBytes)
}

// An image that cannot be decoded has no preview, and that is all.
func TestNoPreview(t *testing.T) {
	is := is.New(t)
	is.Equal(len(previewOf(t, []byte("no image"), 8, 8)), 0)
	is.Equal(len(previewOf(t, nil, 8192, 8192)), 0)
}

// Previews of others do not hold up an answer.
func TestPreviewThatWouldWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		is := is.New(t)
		defer func(others chan struct{}) { previewing = others }(previewing)
		previewing = make(chan struct{}, 1) // within the bubble, so that the test's clock governs it
		small := encoded(image.NewGray(image.Rect(0, 0, 8, 8)))
		is.True(len(previewOf(t, small, 8, 8)) > 0)
		previewing <- struct{}{}
		began := time.Now()
		is.Equal(len(previewOf(t, small, 8, 8)), 0)
		is.Equal(time.Since(began), 5*time.Second)
	})
}

// An image that is stored turned is upright in a preview, small, and on white.
func TestPreviewOfATurnedImage(t *testing.T) {
	for _, f := range imagegen.Formats() {
		for _, o := range imagegentest.Orientations() {
			is := is.New(t)
			m, err := jpeg.Decode(bytes.NewReader(previewOf(t, imagegentest.Turned(f, o, 1200, 1600), 1200, 1600)))
			is.NoErr(err)
			is.Equal(m.Bounds().Size(), image.Pt(768, 1024))
			is.NoErr(imagegentest.Upright(m))
		}
	}
	is := is.New(t)
	m, err := jpeg.Decode(bytes.NewReader(previewOf(t, encoded(image.NewNRGBA(image.Rect(0, 0, 8, 8))), 8, 8)))
	is.NoErr(err)
	r, _, _, _ := m.At(4, 4).RGBA()
	is.Equal(r, uint32(0xffff)) // white shows through what is transparent
}
