package engine

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
	"github.com/imagegend/imagegend/imagegen/engine/internal/picture"

	"golang.org/x/image/webp"
)

// format is one of the three image formats; others that a program registers with package image
// are not taken.
type format struct {
	mediaType    string
	structure    picture.Format
	decode       func(io.Reader) (image.Image, error)
	decodeConfig func(io.Reader) (image.Config, error)
}

var (
	formatPNG  = format{"image/png", picture.PNG, png.Decode, png.DecodeConfig}
	formatJPEG = format{"image/jpeg", picture.JPEG, jpeg.Decode, jpeg.DecodeConfig}
	formatWebP = format{"image/webp", picture.WebP, webp.Decode, webp.DecodeConfig}
)

var errFormat = errors.New("the bytes are of another format")

// sniffLength is how many bytes tell the format.
const sniffLength = 12

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

// shape is what an image's header tells.
type shape struct {
	format
	width, height int
	perPixel      int64 // bytes that decoding takes at most
	alpha         bool  // something of it may be transparent
}

func (s shape) pixels() int64 { return int64(s.width) * int64(s.height) }

// has reports whether the image has that size, or any will do.
func (s shape) has(size imagegen.Size) bool {
	return size.Auto() || size == s.size()
}

func (s shape) size() imagegen.Size { return imagegen.Size{Width: s.width, Height: s.height} }

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

// mostHeader bounds what is read of an image to find its size. A JPEG may have profiles and previews before it.
const mostHeader = 1 << 20

// peekHeader reads what an image claims to be, and returns its bytes from the beginning.
func peekHeader(r io.Reader) (s shape, image io.Reader, err error) {
	defer func() {
		if p := recover(); p != nil { // a decoder that panics on hostile bytes
			err = fmt.Errorf("decoding: %v", p)
		}
	}()
	var head bytes.Buffer
	s, err = decodeHeader(io.TeeReader(io.LimitReader(r, mostHeader), &head))
	return s, io.MultiReader(&head, r), err
}

var headers = sync.Pool{New: func() any { return new(bufio.Reader) }}

func decodeHeader(r io.Reader) (shape, error) {
	b := headers.Get().(*bufio.Reader)
	b.Reset(r)
	defer func() {
		b.Reset(nil) // the pool holds on to no image
		headers.Put(b)
	}()
	head, _ := b.Peek(sniffLength) // sniff refuses a head that is too short
	f, err := sniff(head)
	if err != nil {
		return shape{}, err
	}
	c, err := f.decodeConfig(b)
	if err != nil {
		return shape{}, err
	}
	if c.Width <= 0 || c.Height <= 0 {
		return shape{}, fmt.Errorf("its size is %d x %d", c.Width, c.Height)
	}
	return shape{f, c.Width, c.Height, perPixel(f, c.ColorModel), hasAlpha(c.ColorModel)}, nil
}

// decodeWhole decodes an image that is whole, from its beginning to its end.
func (s shape) decodeWhole(r io.Reader) (image.Image, error) {
	whole := picture.Whole(r, s.structure)
	m, err := s.decode(whole)
	if err == nil {
		_, err = io.Copy(io.Discard, whole) // a decoder reads no further than the last pixel
	}
	return m, err
}
