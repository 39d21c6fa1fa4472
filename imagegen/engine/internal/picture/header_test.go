package picture

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/png"
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
