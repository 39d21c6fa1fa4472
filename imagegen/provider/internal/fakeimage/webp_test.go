package fakeimage

import (
	"bytes"
	"encoding/binary"
	"image"
	"io"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/matryer/is"
	"golang.org/x/image/webp"
)

// TestWebP has x/image/webp read every byte value, at odd and even lengths, opaque and not.
func TestWebP(t *testing.T) {
	for _, depth := range []int{3, 4} {
		for _, size := range []image.Point{{1, 1}, {2, 1}, {1, 300}, {300, 1}, {257, 301}} {
			is := is.New(t)
			random := rand.NewChaCha8([32]byte{})
			var want []byte
			raw, err := io.ReadAll(iotest.HalfReader(newWebP(size.X, size.Y, depth, func(row []byte) {
				_, _ = random.Read(row)
				want = append(want, row...)
			})))
			is.NoErr(err)
			is.Equal(len(raw)%2, 0)
			is.Equal(int(raw[4])|int(raw[5])<<8|int(raw[6])<<16, len(raw)-8) // what the container says of its length
			picture, err := webp.Decode(bytes.NewReader(raw))
			is.NoErr(err)
			is.Equal(picture.Bounds().Size(), size)
			var got []byte
			for p := range slices.Chunk(picture.(*image.NRGBA).Pix, 4) {
				got = append(got, p[:depth]...)
				is.True(depth == 4 || p[3] == 0xff)
			}
			is.True(bytes.Equal(got, want))
		}
	}
}

// The bits of the largest picture are more than an int of 32 bits counts.
func TestWebPLength(t *testing.T) {
	is := is.New(t)
	begin := make([]byte, 20)
	_, err := io.ReadFull(newWebP(8192, 8192, 4, func([]byte) {}), begin)
	is.NoErr(err)
	container, chunk := binary.LittleEndian.Uint32(begin[4:]), binary.LittleEndian.Uint32(begin[16:])
	is.Equal(container, chunk+chunk%2+12)
	is.True(chunk > 4*8192*8192 && chunk < 4*8192*8192+1000) // one byte for each of a pixel, and a head
}
