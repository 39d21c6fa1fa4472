package fakeimage

import (
	"image"
	"math"
)

// cutout paints through a mask whose corner is at left, top. The opacity runs from one at the top to
// another at the foot.
func cutout(mask *image.Alpha, left, top float64, colour rgb, from, to float32) layer {
	left, top = math.Floor(left), math.Floor(top)
	width, height := mask.Rect.Dx(), mask.Rect.Dy()
	return layer{solid: nowhere, paint: func(row []rgb, y float64) {
		line := int(math.Floor(y - top))
		if line < 0 || line >= height {
			return
		}
		opacity := (from + (to-from)*float32(line)/float32(height)) / 255
		for i, a := range mask.Pix[line*mask.Stride:][:width] {
			if x := int(left) + i; a > 0 && x >= 0 && x < len(row) {
				row[x] = colour.over(row[x], opacity*float32(a))
			}
		}
	}}
}
