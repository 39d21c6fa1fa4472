package fakeimage

import (
	"bytes"
	"image"
	"image/png"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/matryer/is"
)

// TestEncoder has image/png read what does not compress: several chunks, every byte value.
func TestEncoder(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {1, 300}, {300, 1}, {257, 301}} {
		t.Run(size.String(), func(t *testing.T) {
			is := is.New(t)
			random := rand.NewChaCha8([32]byte{})
			var want []byte
			e := newEncoder(size.X, size.Y, 3, func(row []byte) {
				_, _ = random.Read(row)
				want = append(want, row...)
			})
			raw, err := io.ReadAll(iotest.HalfReader(e))
			is.NoErr(err)
			picture, err := png.Decode(bytes.NewReader(raw))
			is.NoErr(err)
			is.Equal(picture.Bounds().Size(), size)
			var got []byte
			for p := range slices.Chunk(picture.(*image.RGBA).Pix, 4) {
				got = append(got, p[:3]...)
				is.Equal(p[3], byte(255))
			}
			is.True(bytes.Equal(got, want))
		})
	}
}
