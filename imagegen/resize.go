package imagegen

import (
	"image"
	"image/draw"
	"image/jpeg"
	"image/png"
	"io"
)

// encoderFor returns how a changed image is written: JPEG stays JPEG; PNG, and WebP for want of
// an encoder, become PNG.
func encoderFor(s shape) (mediaType string, encode func(io.Writer, image.Image) error) {
	if s.mediaType == formatJPEG.mediaType {
		return s.mediaType, func(w io.Writer, i image.Image) error { return jpeg.Encode(w, i, &jpeg.Options{Quality: 95}) }
	}
	encoder := png.Encoder{CompressionLevel: png.BestSpeed}
	return formatPNG.mediaType, encoder.Encode
}

// coverCrop cuts the largest centred part of the shape of to out of an image that is at least as
// large, and scales it down to that size.
func coverCrop(from image.Image, to Size) *image.RGBA {
	b := from.Bounds()
	scale := min(float64(b.Dx())/float64(to.Width), float64(b.Dy())/float64(to.Height))
	w, h := int(scale*float64(to.Width)+0.5), int(scale*float64(to.Height)+0.5)
	w, h = min(w, b.Dx()), min(h, b.Dy())
	corner := b.Min.Add(image.Pt((b.Dx()-w)/2, (b.Dy()-h)/2))
	part := image.NewRGBA(image.Rect(0, 0, w, h))
	draw.Draw(part, part.Bounds(), from, corner, draw.Src)
	if w == to.Width && h == to.Height {
		return part
	}
	return average(part, to)
}

// average scales an image down; each pixel becomes the mean of the area it covers. The kernels of
// x/image/draw would need 32 bytes for each pixel of the source's height and the target's width.
func average(from *image.RGBA, to Size) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, to.Width, to.Height))
	columns := spans(from.Rect.Dx(), to.Width)
	for y, rows := range spans(from.Rect.Dy(), to.Height) {
		for x, cols := range columns {
			mean(out.Pix[out.PixOffset(x, y):], from, cols, rows)
		}
	}
	return out
}

// span is the part of a source axis that one target pixel covers: whole pixels from first to last,
// of which the ends count by their weight.
type span struct {
	first, last int
	head, tail  float32 // weight of the first and of the last; between them 1
}

func (s span) weight(i int) float32 {
	switch i {
	case s.first:
		return s.head
	case s.last:
		return s.tail
	}
	return 1
}

func spans(source, target int) []span {
	out := make([]span, target)
	step := float64(source) / float64(target)
	for i := range out {
		from, to := float64(i)*step, float64(i+1)*step
		s := span{first: int(from), last: min(int(to), source-1)}
		s.head, s.tail = float32(float64(s.first+1)-from), float32(to-float64(s.last))
		if s.first == s.last {
			s.head = float32(to - from)
		}
		out[i] = s
	}
	return out
}

func mean(pixel []byte, from *image.RGBA, cols, rows span) {
	var sum [4]float32
	var weight float32
	for y := rows.first; y <= rows.last; y++ {
		line := from.Pix[y*from.Stride:]
		for x := cols.first; x <= cols.last; x++ {
			w := rows.weight(y) * cols.weight(x)
			weight += w
			for c := range sum {
				sum[c] += w * float32(line[4*x+c])
			}
		}
	}
	for c := range sum {
		pixel[c] = byte(sum[c]/weight + 0.5)
	}
}
