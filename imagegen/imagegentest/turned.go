package imagegentest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"

	"github.com/imagegend/imagegend/imagegen"
)

// Orientations lists those of EXIF.
func Orientations() []int { return []int{1, 2, 3, 4, 5, 6, 7, 8} }

// Turned returns an image whose EXIF has an orientation. It is displayed with that width and height, in four quarters:
// red and green above, blue and white below.
func Turned(f imagegen.Format, orientation, width, height int) []byte {
	return withEXIF(f, turned(orientation, width, height, quarters), orientation)
}

// TurnedMask returns a PNG whose EXIF has an orientation. It is displayed with that width and height, and is opaque but
// for its upper left quarter.
func TurnedMask(orientation, width, height int) []byte {
	return withEXIF(imagegen.FormatPNG, turned(orientation, width, height, hole), orientation)
}

// turned returns the pixels as they are stored of an image that is displayed in these quarters.
func turned(orientation, width, height int, shown [2][2]color.NRGBA) *image.NRGBA {
	stored := image.NewNRGBA(image.Rect(0, 0, width, height))
	if orientation >= 5 {
		stored = image.NewNRGBA(image.Rect(0, 0, height, width))
	}
	// Where the first row and the first column of what is stored are displayed.
	row := []string{"top", "top", "bottom", "bottom", "left", "right", "right", "left"}[orientation-1]
	column := []string{"left", "right", "right", "left", "top", "top", "bottom", "bottom"}[orientation-1]
	for y := range stored.Rect.Dy() {
		for x := range stored.Rect.Dx() {
			var at image.Point
			for side, n := range map[string]int{row: y, column: x} {
				switch side {
				case "top":
					at.Y = n
				case "bottom":
					at.Y = height - 1 - n
				case "left":
					at.X = n
				case "right":
					at.X = width - 1 - n
				}
			}
			stored.SetNRGBA(x, y, shown[2*at.Y/height][2*at.X/width])
		}
	}
	return stored
}

var (
	quarters = [2][2]color.NRGBA{{{255, 0, 0, 255}, {0, 255, 0, 255}}, {{0, 0, 255, 255}, {255, 255, 255, 255}}}
	hole     = [2][2]color.NRGBA{{{}, {A: 255}}, {{A: 255}, {A: 255}}}
)

// Upright returns why an image does not show the quarters of Turned as they are displayed; nil if it does.
func Upright(m image.Image) error { return shows(m, quarters) }

// UprightMask does the same for TurnedMask.
func UprightMask(m image.Image) error { return shows(m, hole) }

func shows(m image.Image, quarters [2][2]color.NRGBA) error {
	b := m.Bounds()
	for y, row := range quarters {
		for x, want := range row {
			got := color.NRGBAModel.Convert(m.At(b.Min.X+(2*x+1)*b.Dx()/4, b.Min.Y+(2*y+1)*b.Dy()/4)).(color.NRGBA)
			if got.R>>7 != want.R>>7 || got.G>>7 != want.G>>7 || got.B>>7 != want.B>>7 || got.A>>7 != want.A>>7 {
				return fmt.Errorf("in quarter %d, %d it is %v instead of %v", x, y, got, want)
			}
		}
	}
	return nil
}

// exif is a TIFF with one entry, the orientation.
func exif(orientation int) string {
	return "MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00" + string(rune(orientation)) +
		"\x00\x00\x00\x00\x00\x00"
}

func withEXIF(f imagegen.Format, m *image.NRGBA, orientation int) []byte {
	var b bytes.Buffer
	tiff := exif(orientation)
	switch f {
	case imagegen.FormatPNG:
		must(png.Encode(&b, m))
		return PNGChunk(b.Bytes(), "eXIf", tiff)
	case imagegen.FormatJPEG:
		must(jpeg.Encode(&b, m, nil))
		return JPEGSegment(b.Bytes(), 0xe1, "Exif\x00\x00"+tiff)
	}
	const hasEXIF = 0x08
	vp8x := append([]byte{hasEXIF, 0, 0, 0}, binary.LittleEndian.AppendUint32(nil, uint32(m.Rect.Dx()-1))[:3]...)
	vp8x = append(vp8x, binary.LittleEndian.AppendUint32(nil, uint32(m.Rect.Dy()-1))[:3]...)
	return RIFF("VP8X", string(vp8x), "VP8L", lossless(m), "EXIF", tiff)
}

// PNGChunk puts a chunk behind the header of a PNG.
func PNGChunk(file []byte, kind, data string) []byte {
	const header = 8 + 25
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)))
	chunk = append(chunk, kind+data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	return append(append(bytes.Clone(file[:header]), chunk...), file[header:]...)
}

// JPEGSegment puts a segment at the beginning of a JPEG.
func JPEGSegment(file []byte, marker byte, data string) []byte {
	segment := binary.BigEndian.AppendUint16([]byte{0xff, 0xd8, 0xff, marker}, uint16(len(data)+2))
	return append(append(segment, data...), file[2:]...)
}

// RIFF returns a WebP of chunks: their names and data in turn.
func RIFF(chunks ...string) []byte {
	body := []byte("WEBP")
	for i := 0; i < len(chunks); i += 2 {
		body = binary.LittleEndian.AppendUint32(append(body, chunks[i]...), uint32(len(chunks[i+1])))
		body = append(append(body, chunks[i+1]...), make([]byte, len(chunks[i+1])%2)...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// lossless is the data of VP8L, in which each colour of a pixel is 0 or 255 and takes one bit.
func lossless(m *image.NRGBA) string {
	var out []byte
	bits := 0
	put := func(v uint64, n int) {
		for i := range n {
			if bits++; bits%8 == 1 {
				out = append(out, 0)
			}
			out[len(out)-1] |= byte(v>>i&1) << ((bits - 1) % 8)
		}
	}
	put(0x2f, 8)
	put(uint64(m.Rect.Dx()-1), 14)
	put(uint64(m.Rect.Dy()-1), 14)
	put(0, 1+3+3) // no opacity, version 0, no transform, no cache, one group of codes
	for range 3 {
		put(1|1<<1|1<<2|0<<3|255<<11, 19) // a simple code of two symbols of eight bits: 0 and 255
	}
	put(1|1<<2|255<<3, 11) // opaque
	put(1, 4)              // no distance
	for i := 0; i < len(m.Pix); i += 4 {
		for _, c := range []byte{m.Pix[i+1], m.Pix[i], m.Pix[i+2]} {
			put(uint64(c>>7), 1)
		}
	}
	return string(out)
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
