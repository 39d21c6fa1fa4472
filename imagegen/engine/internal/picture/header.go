package picture

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"io"
	"slices"
	"sync"

	"github.com/imagegend/imagegend/imagegen"

	"golang.org/x/image/webp"
)

// format is one of the three image formats; others that a program registers with package image
// are not taken.
type format struct {
	mediaType    string
	structure    Format
	decode       func(io.Reader) (image.Image, error)
	decodeConfig func(io.Reader) (image.Config, error)
}

var (
	formatPNG  = format{"image/png", PNG, png.Decode, png.DecodeConfig}
	formatJPEG = format{"image/jpeg", JPEG, jpeg.Decode, jpeg.DecodeConfig}
	formatWebP = format{"image/webp", WebP, webp.Decode, webp.DecodeConfig}
)

var errFormat = errors.New("the bytes are of another format")

// sniffLength is how many bytes tell the format.
const sniffLength = 12

// MediaType is that of an image which begins so.
func MediaType(head []byte) (string, error) {
	f, err := sniff(head)
	return f.mediaType, err
}

func sniff(head []byte) (format, error) {
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return formatPNG, nil
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return formatJPEG, nil
	case len(head) >= sniffLength && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return formatWebP, nil
	}
	return format{}, errFormat
}

// Header is what an image's header tells.
type Header struct {
	MediaType string
	Size      imagegen.Size
	Alpha     bool // something of it may be transparent

	format   format
	perPixel int64 // bytes that decoding takes at most
}

// Pixels is how many it has.
func (h Header) Pixels() int64 { return int64(h.Size.Width) * int64(h.Size.Height) }

// has reports whether the image has that size, or any will do.
func (h Header) has(size imagegen.Size) bool {
	return size.Auto() || size == h.Size
}

// seenThrough is unlike Alpha true of what a header cannot tell.
func (h Header) seenThrough() bool { return h.Alpha || h.MediaType == formatPNG.mediaType }

const rgba = 4 // bytes of a pixel

func perPixel(f format, m color.Model) int64 {
	const coefficients = 16 // of a progressive JPEG's pixel, with four components
	switch {
	case f.mediaType == formatJPEG.mediaType:
		return rgba + coefficients
	case f.mediaType == formatWebP.mediaType: // its alpha or its palette takes a picture of its own
		return 2 * rgba
	case m == color.RGBA64Model || m == color.NRGBA64Model:
		return 3 * rgba
	}
	return rgba + rgba/2 // an interlaced PNG has half of its pixels twice
}

// hasAlpha reports whether a colour may be transparent. Of a PNG in grey or colour without an alpha channel, of which
// one colour counts as transparent, a header tells nothing.
func hasAlpha(m color.Model) bool {
	if colours, ok := m.(color.Palette); ok {
		return slices.ContainsFunc(colours, func(c color.Color) bool { _, _, _, a := c.RGBA(); return a < 0xffff })
	}
	return m == color.NRGBAModel || m == color.NRGBA64Model || m == color.NYCbCrAModel
}

// maxHeader bounds what is read of an image to find its size. A JPEG may have profiles and previews before it.
const maxHeader = 1 << 20

// PeekHeader reads what an image claims to be, and returns its bytes from the beginning.
func PeekHeader(r io.Reader) (h Header, image io.Reader, err error) {
	var head bytes.Buffer
	h, err = ReadHeader(io.TeeReader(io.LimitReader(r, maxHeader), &head))
	return h, io.MultiReader(&head, r), err
}

var headers = sync.Pool{New: func() any { return new(bufio.Reader) }}

// ReadHeader reads what an image claims to be.
func ReadHeader(r io.Reader) (h Header, err error) {
	defer survive(&err)
	b := headers.Get().(*bufio.Reader)
	b.Reset(r)
	defer func() {
		b.Reset(nil) // the pool holds on to no image
		headers.Put(b)
	}()
	head, _ := b.Peek(sniffLength) // sniff refuses a head that is too short
	f, err := sniff(head)
	if err != nil {
		return Header{}, err
	}
	c, err := f.decodeConfig(b)
	if err != nil {
		return Header{}, err
	}
	if c.Width <= 0 || c.Height <= 0 {
		return Header{}, fmt.Errorf("its size is %d x %d", c.Width, c.Height)
	}
	return Header{f.mediaType, imagegen.Size{Width: c.Width, Height: c.Height}, hasAlpha(c.ColorModel), f, perPixel(f, c.ColorModel)}, nil
}

// Decode decodes an image that is known to be whole, to its last pixel.
func (h Header) Decode(r io.Reader) (m image.Image, err error) {
	defer survive(&err)
	return h.format.decode(r)
}

// survive makes an error of a decoder that panics on hostile bytes.
func survive(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("decoding: %v", p)
	}
}

// DecodeWhole decodes an image that is whole, from its beginning to its end.
func (h Header) DecodeWhole(r io.Reader) (image.Image, error) {
	whole := h.Whole(r)
	m, err := h.Decode(whole)
	if err == nil {
		_, err = io.Copy(io.Discard, whole) // a decoder reads no further than the last pixel
	}
	return m, err
}

// Whole is [Whole] of an image of this format.
func (h Header) Whole(r io.Reader) io.Reader { return Whole(r, h.format.structure) }
