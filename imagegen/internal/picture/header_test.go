package picture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"testing"

	"github.com/matryer/is"
)

// A grey picture of 16 bits with a transparent shade (tRNS) is decoded into four channels: the budget for decoding
// counts all of them.
func TestGreyWithATransparentShadeCountsWhole(t *testing.T) {
	is := is.New(t)
	var plain bytes.Buffer
	is.NoErr(png.Encode(&plain, image.NewGray16(image.Rect(0, 0, 10, 10))))
	const header = 8 + 25 // the signature and IHDR
	shade := []byte("tRNS\x00\x00")
	marked := bytes.Clone(plain.Bytes()[:header])
	marked = append(binary.BigEndian.AppendUint32(marked, 2), shade...)
	marked = append(binary.BigEndian.AppendUint32(marked, crc32.ChecksumIEEE(shade)), plain.Bytes()[header:]...)
	decoded, err := png.Decode(bytes.NewReader(marked))
	is.NoErr(err)
	h, err := ReadHeader(bytes.NewReader(marked))
	is.NoErr(err)
	is.True(h.perPixel*h.Pixels() >= int64(len(decoded.(*image.NRGBA64).Pix)))
}

// The error of a picture whose size comes too late says that, not that it ends early.
func TestASizeThatComesTooLate(t *testing.T) {
	is := is.New(t)
	var plain bytes.Buffer
	is.NoErr(jpeg.Encode(&plain, image.NewGray(image.Rect(0, 0, 10, 10)), nil))
	profile := append([]byte{0xff, 0xe2, 0xff, 0xff}, make([]byte, 0xffff-2)...)
	late := append(bytes.Clone(plain.Bytes()[:2]), bytes.Repeat(profile, 17)...)
	late = append(late, plain.Bytes()[2:]...)
	_, whole, err := PeekHeader(bytes.NewReader(late))
	is.True(errors.Is(err, errLateSize))
	all, err := io.ReadAll(whole)
	is.NoErr(err)
	is.True(bytes.Equal(all, late))
	_, _, err = PeekHeader(bytes.NewReader(late[:1000]))
	is.True(err != nil && !errors.Is(err, errLateSize)) // it does end early
}
