package simulation_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"io"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

var plain sync.Map // size → PNG, for encoding is slow

// picture is a PNG of a size whose bytes no other text's picture has.
func picture(s imagegen.Size, text string) []byte {
	b, ok := plain.Load(s)
	if !ok {
		b, _ = plain.LoadOrStore(s, encoded(image.NewGray(image.Rect(0, 0, s.Width, s.Height))))
	}
	return withChunk(b.([]byte), "tEXt", append([]byte("Title\x00"), text...))
}

func encoded(i image.Image) []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, i); err != nil {
		panic(err)
	}
	return b.Bytes()
}

const (
	endChunk   = 12 // bytes of IEND
	headerSize = 33 // bytes of the signature and IHDR
)

// withChunk puts a chunk before the end of a PNG.
func withChunk(b []byte, kind string, data []byte) []byte {
	return bytes.Join([][]byte{b[:len(b)-endChunk], chunk(kind, data), b[len(b)-endChunk:]}, nil)
}

func chunk(kind string, data []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	b = append(append(b, kind...), data...)
	return binary.BigEndian.AppendUint32(b, crc32.ChecksumIEEE(b[4:]))
}

// declaring is a PNG whose header tells another size than the one it has.
func declaring(b []byte, width, height uint32) []byte {
	ihdr := bytes.Clone(b[16 : headerSize-4])
	binary.BigEndian.PutUint32(ihdr[0:], width)
	binary.BigEndian.PutUint32(ihdr[4:], height)
	return bytes.Join([][]byte{b[:8], chunk("IHDR", ihdr), b[headerSize:]}, nil)
}

const bombSize = 128 << 20

// deflated is 128 MiB of zeros in a few hundred KiB.
var deflated = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err == nil {
		_, err = io.CopyN(w, zeros{}, bombSize)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return b.Bytes()
})

// bomb is a small PNG whose pixels inflate to 128 MiB.
func bomb(s imagegen.Size) []byte {
	header := picture(s, "")[:headerSize]
	return bytes.Join([][]byte{header, chunk("IDAT", deflated()), chunk("IEND", nil)}, nil)
}

// zeros never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func deep(s imagegen.Size) []byte {
	return encoded(image.NewNRGBA64(image.Rect(0, 0, s.Width, s.Height)))
}

func animation(s imagegen.Size) []byte {
	frame := image.NewPaletted(image.Rect(0, 0, s.Width, s.Height), color.Palette{color.White, color.Black})
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{1, 1}}); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// cmyk is a JPEG of four components, one even colour. Its Huffman tables have one code of one bit
// each, "no difference" and "end of block", so that all that is scanned is zeros.
func cmyk(s imagegen.Size) []byte {
	b := []byte{0xff, 0xd8}
	segment := func(marker byte, data ...byte) {
		b = append(b, 0xff, marker, 0, byte(len(data)+2))
		b = append(b, data...)
	}
	segment(0xee, append([]byte("Adobe"), 0, 100, 0, 0, 0, 0, 0)...)
	segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...)...)
	segment(0xc0, 8, byte(s.Height>>8), byte(s.Height), byte(s.Width>>8), byte(s.Width), 4,
		1, 0x11, 0, 2, 0x11, 0, 3, 0x11, 0, 4, 0x11, 0)
	oneCode := append([]byte{1}, make([]byte, 16)...)
	segment(0xc4, append([]byte{0x00}, oneCode...)...)
	segment(0xc4, append([]byte{0x10}, oneCode...)...)
	segment(0xda, 4, 1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0)
	blocks := (s.Width + 7) / 8 * ((s.Height + 7) / 8)
	b = append(b, make([]byte, blocks)...) // four components of two bits each
	return append(b, 0xff, 0xd9)
}
