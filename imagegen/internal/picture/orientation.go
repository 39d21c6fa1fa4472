package picture

import (
	"encoding/binary"
	"image"
	"image/draw"

	"github.com/imagegend/imagegend/imagegen"
)

// Orientation is how the pixels of a file lie, as EXIF numbers it: 1 is upright, 2 to 8 are mirrored, turned, or both.
// 0 says nothing and counts as upright.
type Orientation uint8

// Turned reports whether the pixels are not displayed as they are stored.
func (o Orientation) Turned() bool { return o > 1 }

// Displayed returns the size in which a file with pixels of the size s is displayed. It is its own inverse.
func (o Orientation) Displayed(s imagegen.Size) imagegen.Size {
	if o >= 5 {
		return imagegen.Size{Width: s.Height, Height: s.Width}
	}
	return s
}

// upright returns a copy of an image as it is displayed. Beside the copy it needs one line of pixels.
func (o Orientation) upright(from image.Image) *image.RGBA {
	b := from.Bounds()
	size := o.Displayed(imagegen.Size{Width: b.Dx(), Height: b.Dy()})
	out := image.NewRGBA(image.Rect(0, 0, size.Width, size.Height))
	mirrored := o == 2 || o == 3 || o == 7 || o == 8
	upsideDown := o == 3 || o == 4 || o == 6 || o == 7
	line := image.NewRGBA(image.Rect(0, 0, b.Dx(), 1))
	for row := range b.Dy() {
		draw.Draw(line, line.Rect, from, b.Min.Add(image.Pt(0, row)), draw.Src)
		y := row
		if upsideDown {
			y = b.Dy() - 1 - row
		}
		for column := range b.Dx() {
			x := column
			if mirrored {
				x = b.Dx() - 1 - column
			}
			at := y*out.Stride + rgba*x
			if o >= 5 {
				at = x*out.Stride + rgba*y
			}
			copy(out.Pix[at:at+rgba], line.Pix[rgba*column:])
		}
	}
	return out
}

// orientationOf finds the orientation in EXIF, which is a TIFF: the byte order, 42, and where the first directory is. A
// directory is a number of entries of twelve bytes: tag, type, count, value. 0: there is none.
func orientationOf(tiff []byte) Orientation {
	const tag, short = 0x0112, 3
	if len(tiff) < 8 {
		return 0
	}
	var order binary.ByteOrder = binary.BigEndian
	if string(tiff[:2]) == "II" {
		order = binary.LittleEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if order.Uint16(tiff[2:]) != 42 || at+2 > int64(len(tiff)) {
		return 0
	}
	entries := order.Uint16(tiff[at:])
	for at += 2; entries > 0 && at+12 <= int64(len(tiff)); entries, at = entries-1, at+12 {
		entry := tiff[at:]
		if order.Uint16(entry) != tag || order.Uint16(entry[2:]) != short {
			continue
		}
		if o := order.Uint16(entry[8:]); o <= 8 {
			return Orientation(o)
		}
	}
	return 0
}
