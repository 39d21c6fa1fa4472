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

	"golang.org/x/image/webp"

	"github.com/imagegend/imagegend/imagegen"
)

// format is one of the three image formats. The decoders are named here and not looked up by
// image.Decode, so formats that a program registers with package image are not accepted.
type format struct {
	imagegen.Format
	decode       func(io.Reader) (image.Image, error)
	decodeConfig func(io.Reader) (image.Config, error)
}

var (
	formatPNG  = format{imagegen.FormatPNG, png.Decode, png.DecodeConfig}
	formatJPEG = format{imagegen.FormatJPEG, jpeg.Decode, jpeg.DecodeConfig}
	formatWebP = format{imagegen.FormatWebP, webp.Decode, webp.DecodeConfig}
)

// sniffLength is how many leading bytes identify a format.
const sniffLength = 12

// MediaType returns the media type of an image by its first bytes, of which it needs up to
// twelve; with more, the error names other formats. It fails unless that is PNG, JPEG or WebP.
func MediaType(head []byte) (string, error) {
	f, err := sniff(head)
	return f.MediaType(), err
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
	return format{}, otherFormat(head)
}

// Header is what an image's header says. Nothing of it is proved: only decoding shows whether
// the pixels are there.
type Header struct {
	MediaType string
	Size      imagegen.Size // as it is displayed
	Alpha     bool          // the header says that pixels may be transparent
	LossyWebP bool          // its pixels are no more exact than those of a JPEG

	// Notes are what stands before the pixels, and after Examine all that there is.
	Notes
	// Late says that Orientation, and so Size, may still change: only Examine tells.
	Late bool

	format   format
	stored   imagegen.Size
	perPixel int64 // bytes that decoding takes at most
	kept     int64 // bytes of the chunks of a WebP that Strip keeps
}

// Pixels is the number of pixels. It cannot overflow: no edge has more than 31 bits.
func (h Header) Pixels() int64 { return int64(h.Size.Width) * int64(h.Size.Height) }

// seenThrough reports whether a pixel may be transparent. Unlike Alpha it is also true where
// the header cannot tell, as of a PNG.
func (h Header) seenThrough() bool { return h.Alpha || h.format.Format == imagegen.FormatPNG }

const rgba = 4 // bytes of a pixel

// perPixel estimates from the header how many bytes a decoder needs for each pixel, by what
// Go's packages allocate. The budget for decoding relies on it.
func perPixel(f format, m color.Model, progressive bool) int64 {
	const coefficients = 16 // bytes: a progressive JPEG keeps an int32 for each of up to four components
	switch {
	case f.Format == imagegen.FormatJPEG && progressive:
		return 2*rgba + coefficients
	case f.Format == imagegen.FormatJPEG && m == color.YCbCrModel:
		return rgba
	case f.Format == imagegen.FormatJPEG, // in other colours it is converted, and there twice for a while
		f.Format == imagegen.FormatWebP: // its alpha channel or its palette needs a second picture
		return 2 * rgba
	// 16 bits a channel, and interlaced as below
	case m == color.RGBA64Model || m == color.NRGBA64Model || m == color.Gray16Model:
		return 3 * rgba // also of grey, which is decoded into four channels if a shade counts as transparent (tRNS)
	}
	return rgba + rgba/2 // an interlaced PNG holds its last pass, half of the pixels, twice
}

// hasAlpha reports whether pixels of a colour model may be transparent. A PNG without an alpha
// channel can still declare one colour as transparent (tRNS), which DecodeConfig does not report
// unless there is a palette.
func hasAlpha(m color.Model) bool {
	if colours, ok := m.(color.Palette); ok {
		return slices.ContainsFunc(colours, func(c color.Color) bool { _, _, _, a := c.RGBA(); return a < 0xffff })
	}
	return m == color.NRGBAModel || m == color.NRGBA64Model || m == color.NYCbCrAModel
}

// maxHeader bounds what is read of an image to find its size. A JPEG may have profiles and
// previews before its frame header.
const maxHeader = 1 << 20

var errLateSize = errors.New("its size does not come within the first MiB; other data, such as a profile, comes before it")

// PeekHeader is ReadHeader of a stream. image yields all bytes of it, also those that were
// already read; on an error it still does.
func PeekHeader(r io.Reader) (h Header, image io.Reader, err error) {
	var head bytes.Buffer
	limited := &io.LimitedReader{R: r, N: maxHeader}
	h, err = ReadHeader(io.TeeReader(limited, &head))
	if err != nil && limited.N == 0 {
		err = errLateSize
	}
	return h, io.MultiReader(&head, r), err
}

// ReadHeader reads what an image claims to be, up to its pixels. It may read beyond that. An error says
// what is wrong with the image; if r fails within the first bytes, that looks like an unknown
// format.
func ReadHeader(r io.Reader) (Header, error) {
	h, _, err := readHeader(r)
	return h, err
}

// Examine is ReadHeader of an image that it reads to its end: the header then has everything that the file says. It
// fails with ErrBroken unless the image is whole.
func Examine(r io.Reader) (Header, error) {
	h, whole, err := readHeader(r)
	if err != nil {
		return h, err
	}
	if _, err := io.Copy(io.Discard, whole); err != nil {
		return h, err
	}
	h.Late = false
	return h.with(whole.notes), nil
}

// readHeader is ReadHeader and returns a reader of the rest of the image.
func readHeader(r io.Reader) (h Header, whole *Reader, err error) {
	defer survive(&err)
	b := bufio.NewReader(r)
	head, _ := b.Peek(otherLength) // sniff refuses a head that is too short
	f, err := sniff(head)
	if err != nil {
		return Header{}, nil, err
	}
	whole = Whole(b, f.Format)
	in := bufio.NewReader(whole)
	c, err := f.decodeConfig(in)
	if err != nil {
		return Header{}, nil, err
	}
	if c.Width <= 0 || c.Height <= 0 {
		return Header{}, nil, fmt.Errorf("its size is %d x %d", c.Width, c.Height)
	}
	// what is wrong from here on, reading the image shows
	for ended := error(nil); !whole.notes.pixels && ended == nil; {
		_, ended = in.Discard(in.Buffered() + 1)
	}
	n := whole.notes
	h = Header{MediaType: f.MediaType(), Alpha: hasAlpha(c.ColorModel), Late: !n.pixels || n.flagged, format: f,
		perPixel: perPixel(f, c.ColorModel, n.progressive), stored: imagegen.Size{Width: c.Width, Height: c.Height}}
	return h.with(n), whole, nil
}

// with returns h with other notes.
func (h Header) with(n notes) Header {
	h.Notes, h.LossyWebP, h.kept, h.Size = n.Notes, n.lossy, n.kept, n.Orientation.Displayed(h.stored)
	return h
}

// Decode decodes an image that is known to be whole, to its last pixel. What follows the last
// pixel is not read. It takes the memory that Target.Memory counts.
func (h Header) Decode(r io.Reader) (m image.Image, err error) {
	defer survive(&err)
	return h.format.decode(r)
}

// survive turns the panic of a decoder that meets hostile bytes into an error. It is deferred.
func survive(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("decoding: %v", p)
	}
}

// Whole is [Whole] of an image of this format.
func (h Header) Whole(r io.Reader) *Reader { return Whole(r, h.format.Format) }
