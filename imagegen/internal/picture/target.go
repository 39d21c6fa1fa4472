package picture

import (
	"cmp"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// Target is what an image must become. Every image can be converted to it, except to a
// WebP: there is no encoder. An image is never scaled up; the caller compares sizes before.
type Target struct {
	Size    imagegen.Size   // zero: any
	Format  imagegen.Format // "": any
	Quality int             // of a JPEG that is written
	Rewrite bool            // even a JPEG of the right size: its maker could not be asked for Quality
	Opaque  bool

	// Strip removes what the maker of the image wrote beside the pixels. An image whose EXIF turns it is then rewritten
	// upright.
	Strip bool
	// Unmarked leaves out the note that a model made the image if it is rewritten: somebody else did.
	Unmarked bool
}

// Matches reports whether an image already is what is wanted, as far as its header tells. If
// so, its bytes can be delivered as they are.
func (t Target) Matches(h Header) bool {
	return t.MatchesExceptPixels(h) && !(t.Opaque && h.seenThrough())
}

// MatchesExceptPixels is Matches without looking at transparency, which only the pixels
// tell for certain.
func (t Target) MatchesExceptPixels(h Header) bool {
	if t.Rewrite && h.format.Format == imagegen.FormatJPEG || t.Strip && h.Orientation.Turned() {
		return false
	}
	return (t.Size.Auto() || t.Size == h.Size) && (t.Format == "" || t.Format == h.format.Format)
}

// written is the format in which a changed image is encoded: JPEG stays JPEG; PNG and,
// for lack of an encoder, WebP become PNG.
func (t Target) written(h Header) imagegen.Format {
	switch {
	case t.Format != "":
		return t.Format
	case h.format.Format == imagegen.FormatJPEG:
		return imagegen.FormatJPEG
	}
	return imagegen.FormatPNG
}

// Memory is how many bytes it takes to decode an image and, if necessary, to convert it.
func (t Target) Memory(h Header) int64 {
	n := h.perPixel * h.Pixels()
	switch {
	case t.Matches(h):
		return n
	case t.Size.Auto() || t.Size == h.Size:
		return n + rgba*h.Pixels()
	case h.Orientation.Turned():
		return n + 2*rgba*int64(t.Size.Area())
	}
	return n + rgba*int64(t.Size.Area())
}

// Render converts an image to the size and the background of the target, and turns it upright.
// Transparent pixels of a JPEG, or of an image that must be opaque, become white.
func (t Target) Render(h Header, picture image.Image) *image.RGBA {
	size, turned := cmp.Or(t.Size, h.Size), h.Orientation.Turned()
	var out *image.RGBA
	switch {
	case !turned:
		out = cover(picture, size)
	case size == h.Size: // without another copy of all pixels
		out = h.Orientation.upright(picture)
	default:
		out = h.Orientation.upright(cover(picture, h.Orientation.Displayed(size)))
	}
	if t.Opaque || t.written(h) == imagegen.FormatJPEG {
		coverWhite(out)
	}
	return out
}

// coverWhite puts white behind an image whose colours are already multiplied with their
// opacity.
func coverWhite(m *image.RGBA) {
	for i := 0; i+rgba <= len(m.Pix); i += rgba {
		p := m.Pix[i:][:rgba]
		behind := 0xff - p[3]
		p[0], p[1], p[2], p[3] = p[0]+behind, p[1]+behind, p[2]+behind, 0xff
	}
}

// IsOpaque reports whether no pixel of an image is transparent.
func IsOpaque(m image.Image) bool {
	o, ok := m.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

// Encoder writes images in a format.
type Encoder struct {
	MediaType string
	Encode    func(io.Writer, image.Image) error
	// Mark returns a reader of what Encode wrote, with the profile of the original and, unless the target is
	// Unmarked, the note that a model made it.
	Mark func(io.Reader) io.Reader
}

// Encoder returns how an image with that header is encoded.
func (t Target) Encoder(h Header) Encoder {
	packet := xmpPacket
	if t.Unmarked {
		packet = ""
	}
	mark := func(f format) func(io.Reader) io.Reader {
		return func(r io.Reader) io.Reader { return f.mark(r, h.Profile, packet) }
	}
	if t.written(h) == imagegen.FormatJPEG {
		encode := func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, &jpeg.Options{Quality: t.Quality}) }
		return Encoder{formatJPEG.MediaType(), encode, mark(formatJPEG)}
	}
	to := png.Encoder{CompressionLevel: png.BestSpeed}
	return Encoder{formatPNG.MediaType(), to.Encode, mark(formatPNG)}
}
