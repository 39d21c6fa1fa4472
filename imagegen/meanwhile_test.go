package imagegen_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"testing"
	"testing/synctest"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/matryer/is"
)

// noise is a plain PNG of that many pixels each way.
func noise(t *testing.T, edge int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	rand.NewChaCha8([32]byte{}).Read(m.Pix)
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A plain PNG is written before it is known to be whole. One that is not, is not delivered, and
// nothing of it stays.
func TestAPNGThatIsNotWhole(t *testing.T) {
	for _, edge := range []int{16, 500} { // in one chunk, in many
		whole := noise(t, edge)
		broken := bytes.Clone(whole)
		broken[len(broken)-len("\x00\x00\x00\x00IEND\xae\x42\x60\x82")-5] ^= 1 // in the last bytes of the pixels
		synctest.Test(t, func(t *testing.T) {
			f := startFaulty(t, &scripted{caps: anything, do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				for _, b := range [][]byte{broken, whole} {
					if !yield(imagegen.ProviderImage{Body: bytes.NewReader(b)}, nil) {
						return
					}
				}
			}})
			g, err := f.generate(imagegen.GenerateRequest{N: 2, Size: imagegen.Size{Width: edge, Height: edge}})
			f.is.NoErr(err)
			f.is.Equal(len(g.Images), 1)
			f.is.Equal(len(f.put), 2)
			f.is.True(!f.has(f.put[0]))
			stored, err := f.db.OpenImage(t.Context(), f.put[1])
			f.is.NoErr(err)
			defer stored.Close()
			b, err := io.ReadAll(stored)
			f.is.NoErr(err)
			f.is.True(bytes.Equal(b, whole))
			f.settled()
		})
	}
}

// What a plain PNG is not is known before anything of it is written.
func TestAPNGForTheDecoderIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		_, err := f.generate(imagegen.GenerateRequest{})
		is := is.New(t)
		is.NoErr(err)
		is.Equal(len(f.put), 1)
	})
}
