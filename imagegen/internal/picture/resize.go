package picture

import (
	"image"
	"image/draw"

	"github.com/imagegend/imagegend/imagegen"
)

// cover cuts the largest centred part with the shape of to out of an image that is at least as
// large, and scales it down to that size. An image of exactly that size is copied.
func cover(from image.Image, to imagegen.Size) *image.RGBA {
	part := centre(from.Bounds(), to)
	out := image.NewRGBA(image.Rect(0, 0, to.Width, to.Height))
	if part.Size() == out.Rect.Size() {
		draw.Draw(out, out.Rect, from, part.Min, draw.Src)
	} else {
		average(out, from, part)
	}
	return out
}

// centre is the largest centred part of b that has the shape of to.
func centre(b image.Rectangle, to imagegen.Size) image.Rectangle {
	scale := min(float64(b.Dx())/float64(to.Width), float64(b.Dy())/float64(to.Height))
	w, h := int(scale*float64(to.Width)+0.5), int(scale*float64(to.Height)+0.5)
	w, h = min(w, b.Dx()), min(h, b.Dy())
	corner := b.Min.Add(image.Pt((b.Dx()-w)/2, (b.Dy()-h)/2))
	return image.Rectangle{corner, corner.Add(image.Pt(w, h))}
}

// average scales a part of an image down; each pixel becomes the mean of the area it covers. It
// looks at one line of the source at a time, so it needs memory for one line of each. The kernels
// of x/image/draw would need 32 bytes for each pixel of the source's height and the target's
// width. Colours are averaged multiplied with their opacity, so transparent pixels add no colour.
func average(out *image.RGBA, from image.Image, part image.Rectangle) {
	columns := spans(part.Dx(), out.Rect.Dx())
	line := image.NewRGBA(image.Rect(0, 0, part.Dx(), 1))
	sums := make([]float32, 4*len(columns))
	for y, rows := range spans(part.Dy(), out.Rect.Dy()) {
		clear(sums)
		for n := rows.first; n <= rows.last; n++ {
			draw.Draw(line, line.Rect, from, part.Min.Add(image.Pt(0, n)), draw.Src)
			addLine(sums, line.Pix, columns, rows.weight(n))
		}
		area := float32(part.Dx()) / float32(out.Rect.Dx()) * float32(part.Dy()) / float32(out.Rect.Dy())
		for i, sum := range sums {
			out.Pix[y*out.Stride+i] = byte(sum/area + 0.5)
		}
	}
}

// span is the part of a source axis that one target pixel covers: whole pixels from first to last,
// of which the ends count by their weight.
type span struct {
	first, last int
	head, tail  float32 // weight of the first and of the last; between them 1
}

// weight is how much of pixel i, from first to last, the span covers.
func (s span) weight(i int) float32 {
	switch i {
	case s.first:
		return s.head
	case s.last:
		return s.tail
	}
	return 1
}

// spans divides an axis of source pixels evenly among target pixels, of which there are no more.
func spans(source, target int) []span {
	out := make([]span, target)
	step := float64(source) / float64(target)
	for i := range out {
		from, to := float64(i)*step, float64(i+1)*step
		s := span{first: int(from), last: min(int(to), source-1)}
		s.head, s.tail = float32(float64(s.first+1)-from), float32(to-float64(s.last))
		if s.first == s.last {
			s.head, s.tail = float32(to-from), 0
		}
		out[i] = s
	}
	return out
}

// addLine adds a line of source pixels to the sums of the target pixels that it is part of.
// weight is the share of the line that lies within them.
func addLine(sums []float32, pixels []byte, columns []span, weight float32) {
	for i, cols := range columns {
		var inside [4]uint32
		for x := cols.first + 1; x < cols.last; x++ {
			p := pixels[4*x : 4*x+4 : 4*x+4]
			inside[0] += uint32(p[0])
			inside[1] += uint32(p[1])
			inside[2] += uint32(p[2])
			inside[3] += uint32(p[3])
		}
		head, tail, sum := pixels[4*cols.first:][:4], pixels[4*cols.last:][:4], sums[4*i:][:4]
		for c := range sum {
			sum[c] += weight * (cols.head*float32(head[c]) + float32(inside[c]) + cols.tail*float32(tail[c]))
		}
	}
}
