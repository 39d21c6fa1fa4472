package upstreamtest

import (
	"bytes"
	"image"
	"image/jpeg"
	"io"

	"github.com/imagegend/imagegend/imagegen/provider/internal/fakeimage"
)

// Picture returns a picture of that size in a format: png, jpeg or webp. If transparent is set, something in it is
// transparent, except in a JPEG, which cannot be.
func Picture(width, height int, format string, transparent bool) []byte {
	drawn := fakeimage.Picture{Prompt: "a hill", Width: width, Height: height, Oval: transparent}
	switch {
	case format == "jpeg":
		var b bytes.Buffer
		jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, width, height)), nil) // a buffer takes all
		return b.Bytes()
	case format == "webp":
		return all(drawn.WebP())
	case transparent:
		return all(drawn.PNG())
	}
	return PNG(width, height)
}

// all reads what cannot fail.
func all(r io.Reader) []byte {
	b, _ := io.ReadAll(r)
	return b
}
