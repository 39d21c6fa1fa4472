package picture

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"

	"github.com/imagegend/imagegend/imagegen"
)

const (
	thumbnailEdge    = 320
	thumbnailQuality = 80
	// MaxThumbnailBytes is more than a PNG of thumbnailEdge × thumbnailEdge can have.
	MaxThumbnailBytes = 1 << 20
)

// ThumbnailMemory is how many bytes it takes to decode an image and to make its thumbnail.
func ThumbnailMemory(h Header) int64 { return Target{Size: within(thumbnailEdge, h.Size)}.Memory(h) }

// Thumbnail returns a small, upright copy of an image: at most 320 pixels wide and high, as a JPEG, or as a
// PNG if something in it is transparent.
func Thumbnail(h Header, m image.Image) ([]byte, error) {
	small := Target{Size: within(thumbnailEdge, h.Size)}.Render(h, m)
	var b bytes.Buffer
	if small.Opaque() {
		err := jpeg.Encode(&b, small, &jpeg.Options{Quality: thumbnailQuality})
		return b.Bytes(), err
	}
	err := png.Encode(&b, small)
	return b.Bytes(), err
}

// Preview returns an upright JPEG of an image on white, with edges of at most that many pixels.
func Preview(h Header, m image.Image, edge, quality int) ([]byte, error) {
	var b bytes.Buffer
	err := jpeg.Encode(&b, Target{Size: within(edge, h.Size), Format: imagegen.FormatJPEG}.Render(h, m),
		&jpeg.Options{Quality: quality})
	return b.Bytes(), err
}

// within returns the largest size of the same shape, to a pixel, whose edges are no longer than
// edge. A smaller image keeps its size.
func within(edge int, s imagegen.Size) imagegen.Size {
	longest := max(s.Width, s.Height)
	if longest <= edge {
		return s
	}
	scale := func(n int) int { return max(1, (n*edge+longest/2)/longest) }
	return imagegen.Size{Width: scale(s.Width), Height: scale(s.Height)}
}
