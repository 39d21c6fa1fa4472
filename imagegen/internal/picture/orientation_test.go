package picture_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

// An image counts by the size in which it is displayed, and is upright however it is rewritten: in its own size,
// scaled, or as a thumbnail.
func TestTurnedImages(t *testing.T) {
	for _, f := range imagegen.Formats() {
		for _, o := range imagegentest.Orientations() {
			is := is.New(t)
			file := imagegentest.Turned(f, o, 90, 60)
			h, whole, err := picture.PeekHeader(bytes.NewReader(file))
			is.NoErr(err)
			is.Equal(h.Late, f == imagegen.FormatWebP) // its EXIF comes behind the pixels
			if !h.Late {
				is.Equal(h.Size, imagegen.Size{Width: 90, Height: 60})
			}
			h, err = picture.Examine(io.MultiReader(whole, strings.NewReader("what comes behind")))
			is.NoErr(err)
			is.Equal(h.Size, imagegen.Size{Width: 90, Height: 60})
			is.Equal(h.Orientation, picture.Orientation(o))
			decoded, err := h.Decode(bytes.NewReader(file))
			is.NoErr(err)
			for _, size := range []imagegen.Size{{}, {Width: 90, Height: 60}, {Width: 45, Height: 30}} {
				target := picture.Target{Size: size, Quality: 90}
				is.NoErr(imagegentest.Upright(target.Render(h, decoded)))
			}
			small, err := picture.Thumbnail(h, decoded)
			is.NoErr(err)
			thumbnail, err := picture.Examine(bytes.NewReader(small))
			is.NoErr(err)
			is.Equal(thumbnail.Size, imagegen.Size{Width: 90, Height: 60})
			m, err := thumbnail.Decode(bytes.NewReader(small))
			is.NoErr(err)
			is.NoErr(imagegentest.Upright(m))
		}
	}
}

// EXIF that is damaged, or of another kind, turns nothing.
func TestOrientationsThatDoNotCount(t *testing.T) {
	plain := imagegentest.PNG(8, 4)
	for name, tiff := range map[string]string{
		"nothing":             "",
		"no TIFF":             "a camera of ours",
		"behind the end":      "II\x2a\x00\xff\xff\xff\xff\x00\x00",
		"no such orientation": "MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x09\x00\x00",
		"cut off":             "MM\x00\x2a\x00\x00\x00\x08\xff\xff\x01\x12\x00\x03",
		"of another type":     "MM\x00\x2a\x00\x00\x00\x08\x00\x01\x01\x12\x00\x02\x00\x00\x00\x01\x00\x06\x00\x00",
	} {
		t.Run(name, func(t *testing.T) {
			is := is.New(t)
			h, err := picture.Examine(bytes.NewReader(imagegentest.PNGChunk(plain, "eXIf", tiff)))
			is.NoErr(err)
			is.True(!h.Orientation.Turned())
			is.Equal(h.Size, imagegen.Size{Width: 8, Height: 4})
		})
	}
	is := is.New(t)
	h, err := picture.Examine(bytes.NewReader(imagegentest.PNGChunk(plain, "eXIf",
		"II\x2a\x00\x08\x00\x00\x00\x01\x00\x12\x01\x03\x00\x01\x00\x00\x00\x06\x00\x00\x00\x00\x00\x00\x00")))
	is.NoErr(err)
	is.Equal(h.Orientation, picture.Orientation(6)) // of the other byte order
}

// Formats that people send are named.
func TestOtherFormats(t *testing.T) {
	for name, head := range map[string]string{
		"HEIC": "\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic",
		"AVIF": "\x00\x00\x00\x1cftypmif1\x00\x00\x00\x00mif1avifmiaf", "GIF": "GIF89a\x01\x00\x01\x00\x00\x00\x00",
		"TIFF": "II*\x00\x08\x00\x00\x00\x00\x00\x00\x00",
		"SVG":  "\ufeff<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"/>", "PDF": "%PDF-1.7\n......",
		"BMP": "BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00", "another format": "what is this?",
	} {
		_, err := picture.ReadHeader(bytes.NewReader([]byte(head)))
		if err == nil || !bytes.Contains([]byte(err.Error()), []byte(name)) {
			t.Errorf("of %s it says %v", name, err)
		}
		for n := range head {
			if _, err := picture.ReadHeader(bytes.NewReader([]byte(head[:n]))); err == nil {
				t.Errorf("%d bytes of %s are taken", n, name)
			}
		}
	}
}
