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
}

// Matches reports whether an image already is what is wanted, as far as its header tells. If
// so, its bytes can be delivered as they are.
func (t Target) Matches(h Header) bool {
	return t.MatchesExceptPixels(h) && !(t.Opaque && h.seenThrough())
}

// MatchesExceptPixels is Matches without looking at transparency, which only the pixels
// tell for certain.
func (t Target) MatchesExceptPixels(h Header) bool {
	if t.Rewrite && h.MediaType == formatJPEG.mediaType {
		return false
	}
	return (t.Size.Auto() || t.Size == h.Size) && (t.Format == "" || t.Format.MediaType() == h.MediaType)
}

// written is the format in which a changed image is encoded: JPEG stays JPEG; PNG and,
// for lack of an encoder, WebP become PNG.
func (t Target) written(h Header) imagegen.Format {
	switch {
	case t.Format != "":
		return t.Format
	case h.MediaType == formatJPEG.mediaType:
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
	case t.Size.Auto():
		return n + rgba*h.Pixels()
	}
	return n + rgba*int64(t.Size.Area())
}

// Render converts an image to the size and the background of the target. Transparent
// pixels of a JPEG, or of an image that must be opaque, become white.
func (t Target) Render(h Header, picture image.Image) *image.RGBA {
	out := cover(picture, cmp.Or(t.Size, h.Size))
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
}

// Encoder returns how an image with that header is encoded.
func (t Target) Encoder(h Header) Encoder {
	if t.written(h) == imagegen.FormatJPEG {
		return Encoder{formatJPEG.mediaType, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, &jpeg.Options{Quality: t.Quality}) }}
	}
	to := png.Encoder{CompressionLevel: png.BestSpeed}
	return Encoder{formatPNG.mediaType, to.Encode}
}
