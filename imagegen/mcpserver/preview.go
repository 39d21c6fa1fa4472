package mcpserver

import (
	"bytes"
	"context"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	_ "image/png" // what services make
	"io"
	"time"

	"github.com/imagegend/imagegend/imagegen"

	_ "golang.org/x/image/webp"
)

// Clients refuse answers of more than a million characters, and a picture of the highest tier has several
// million.
const (
	previewEdge   = 1024       // the longest edge of a preview
	previewBytes  = 512 << 10  // before base64, which makes four thirds of it
	largestPixels = 40_000_000 // of an image that gets a preview: decoded it takes 160 MB
	largestBytes  = 100 << 20  // that are read of such an image

	// previewPatience is how long a call waits until those of others are made. It has waited for the image
	// already, and its client gives up soon.
	previewPatience = 5 * time.Second
)

// previewing is held while a preview is made: one at a time, in all servers of the process together, since
// a decoded image takes 4 bytes for each pixel.
var previewing = make(chan struct{}, 1)

// preview returns a small JPEG of an image; nil if none can be made, which is not a failure of the call.
func (t *tools) preview(ctx context.Context, m imagegen.Image) []byte {
	if m.Width*m.Height > largestPixels {
		return nil
	}
	select {
	case <-ctx.Done():
		return nil
	case <-time.After(previewPatience):
		return nil
	case previewing <- struct{}{}:
		defer func() { <-previewing }()
	}
	small, err := t.shrink(ctx, m.ID)
	if err != nil {
		t.Log.WarnContext(ctx, "no preview could be made", "image", m.ID, "error", err)
	}
	return small
}

// shrink makes a JPEG that is small enough for a preview, by lowering first the quality
// and then the size.
func (t *tools) shrink(ctx context.Context, id imagegen.ImageID) ([]byte, error) {
	f, err := t.OpenImage(ctx, id)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	picture, _, err := image.Decode(io.LimitReader(f, largestBytes))
	if err != nil {
		return nil, err
	}
	for edge := previewEdge; ; edge /= 2 { // it ends: a picture of a few pixels always fits
		small := scaled(picture, edge)
		for _, quality := range []int{85, 70, 50} {
			var b bytes.Buffer
			if err := jpeg.Encode(&b, small, &jpeg.Options{Quality: quality}); err != nil || b.Len() <= previewBytes {
				return b.Bytes(), err
			}
		}
	}
}

// scaled returns a picture with edges of at most that many pixels, on white, by averaging areas. It works
// line by line of the result, so it needs no second picture of the full size.
func scaled(src image.Image, most int) *image.RGBA {
	b := src.Bounds()
	w, h := b.Dx(), b.Dy()
	if longest := max(w, h); longest > most {
		w, h = max(1, w*most/longest), max(1, h*most/longest)
	}
	small := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		from, to := y*b.Dy()/h, max((y+1)*b.Dy()/h, y*b.Dy()/h+1)
		band := image.NewRGBA(image.Rect(0, 0, b.Dx(), to-from))
		draw.Draw(band, band.Bounds(), image.White, image.Point{}, draw.Src)
		draw.Draw(band, band.Bounds(), src, b.Min.Add(image.Pt(0, from)), draw.Over)
		for x := range w {
			left, right := x*b.Dx()/w, max((x+1)*b.Dx()/w, x*b.Dx()/w+1)
			small.SetRGBA(x, y, average(band, left, right))
		}
	}
	return small
}

// average is the mean colour of the columns of a band from left to right, without right. The band is
// opaque, since it was drawn on white.
func average(band *image.RGBA, left, right int) color.RGBA {
	var r, g, b, n int
	for y := range band.Rect.Dy() {
		line := band.Pix[y*band.Stride+4*left : y*band.Stride+4*right]
		for i := 0; i < len(line); i += 4 {
			r, g, b = r+int(line[i]), g+int(line[i+1]), b+int(line[i+2])
			n++
		}
	}
	return color.RGBA{uint8(r / n), uint8(g / n), uint8(b / n), 255}
}
