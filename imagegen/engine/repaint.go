package engine

import (
	"cmp"
	"image"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/imagegend/imagegend/imagegen"
)

// paint brings an image to the size and the background of the target. What a JPEG or an opaque image cannot show
// through is white.
func (t target) paint(s shape, picture image.Image) *image.RGBA {
	out := coverCrop(picture, cmp.Or(t.size, s.size()))
	if t.opaque || t.written(s) == imagegen.FormatJPEG {
		coverWhite(out)
	}
	return out
}

// coverWhite puts white behind an image, whose colours are already multiplied with their opacity.
func coverWhite(m *image.RGBA) {
	for i := 0; i+rgba <= len(m.Pix); i += rgba {
		p := m.Pix[i:][:rgba]
		behind := 0xff - p[3]
		p[0], p[1], p[2], p[3] = p[0]+behind, p[1]+behind, p[2]+behind, 0xff
	}
}

// isOpaque reports whether nothing of an image is transparent.
func isOpaque(m image.Image) bool {
	o, ok := m.(interface{ Opaque() bool })
	return ok && o.Opaque()
}

// encoder writes images in a format.
type encoder struct {
	mediaType string
	encode    func(io.Writer, image.Image) error
}

func (t target) encoder(s shape) encoder {
	if t.written(s) == imagegen.FormatJPEG {
		return encoder{formatJPEG.mediaType, func(w io.Writer, m image.Image) error { return jpeg.Encode(w, m, &jpeg.Options{Quality: t.quality}) }}
	}
	to := png.Encoder{CompressionLevel: png.BestSpeed}
	return encoder{formatPNG.mediaType, to.Encode}
}
