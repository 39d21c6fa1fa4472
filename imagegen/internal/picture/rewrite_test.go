package picture_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"image"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/imagegentest"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

const secret = "a workflow of somebody's"

// profile is an ICC profile as far as anybody looks at it here.
func profile(length int, colours string) string {
	p := bytes.Repeat([]byte{7}, length)
	binary.BigEndian.PutUint32(p, uint32(length))
	copy(p[16:], colours)
	return string(p)
}

func deflated(s string) string {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = io.WriteString(z, s)
	_ = z.Close()
	return b.String()
}

// talkative returns an upright image with everything that a maker may write beside the pixels.
func talkative(f imagegen.Format, icc string) []byte {
	file := imagegentest.Turned(f, 1, 30, 20)
	xmp := "<x:xmpmeta Iptc4xmpExt:DigitalSourceType='" + secret + "'/>"
	switch f {
	case imagegen.FormatPNG:
		for _, chunk := range [][2]string{{"tEXt", "workflow\x00" + secret}, {"zTXt", "prompt\x00\x00" +
			deflated(secret)}, {"iTXt", "XML:com.adobe.xmp\x00\x00\x00\x00\x00" + xmp},
			{"caBX", "c2pa " + secret}, {"prVt", secret}, {"tIME", "1234567"}, {"gAMA", "\x00\x00\xb1\x8f"},
			{"iCCP", "display\x00\x00" + deflated(icc)}} {
			file = imagegentest.PNGChunk(file, chunk[0], chunk[1])
		}
		return file
	case imagegen.FormatJPEG:
		half := len(icc) / 2
		for _, segment := range []struct {
			marker byte
			data   string
		}{{0xfe, secret}, {0xe1, "http://ns.adobe.com/xap/1.0/\x00" + xmp},
			{0xeb, "JP\x00\x01\x00\x00\x00\x01\x00\x00\x00\x20jumb c2pa " + secret}, {0xed, "Photoshop 3.0\x00" +
				secret}, {0xe2, "MPF\x00" + secret}, {0xe2, "ICC_PROFILE\x00\x02\x02" + icc[half:]},
			{0xe2, "ICC_PROFILE\x00\x01\x02" + icc[:half]},
			{0xe0, "JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"}} { // each comes before the former
			file = imagegentest.JPEGSegment(file, segment.marker, segment.data)
		}
		return file
	}
	vp8l := file[12+8+10+8:] // what stands behind VP8X and the head of the next chunk
	length := binary.LittleEndian.Uint32(file[12+8+10+4:])
	return imagegentest.RIFF("VP8X", "\x2c\x00\x00\x00\x1d\x00\x00\x13\x00\x00", "ICCP", icc, "VP8L",
		string(vp8l[:length]), "EXIF", secret, "XMP ", xmp, "C2PA", secret, "ours", secret)
}

const trained = "http://cv.iptc.org/newscodes/digitalsourcetype/trainedAlgorithmicMedia"

func TestStrip(t *testing.T) {
	for _, f := range imagegen.Formats() {
		for how, reader := range readers {
			t.Run(string(f)+" "+how, func(t *testing.T) {
				is := is.New(t)
				icc := profile(301, "CMYK") // of an odd length; it belongs to the pixels, which stay
				file := talkative(f, icc)
				h, err := picture.Examine(bytes.NewReader(file))
				is.NoErr(err)
				is.True(h.Origin)
				is.Equal(string(h.Profile), icc)
				stripped, err := io.ReadAll(h.Strip(reader(bytes.NewReader(append(bytes.Clone(file), secret...)))))
				is.NoErr(err)
				is.True(!strings.Contains(string(stripped), secret))
				is.True(!strings.Contains(string(stripped), "workflow"))
				is.True(strings.Contains(string(stripped), trained))
				again, err := picture.Examine(bytes.NewReader(stripped))
				is.NoErr(err)
				is.True(again.Origin)
				is.Equal(string(again.Profile), icc)
				is.Equal(again.Size, h.Size)
				is.Equal(cmp.Diff(pixels(t, h, file), pixels(t, again, stripped)), "")
				if f == imagegen.FormatPNG {
					is.True(bytes.Contains(stripped, []byte("gAMA"))) // colours are not text
				}
				if f == imagegen.FormatJPEG {
					// which must be the first
					is.True(bytes.HasPrefix(stripped, []byte("\xff\xd8\xff\xe0\x00\x10JFIF")))
				}
			})
		}
	}
}

// pixels decodes an image to its last pixel.
func pixels(t *testing.T, h picture.Header, file []byte) []byte {
	t.Helper()
	m, err := h.Decode(bytes.NewReader(file))
	is.New(t).NoErr(err)
	return picture.Target{}.Render(h, m).Pix
}

// A WebP without an extended header gets one that says whether it is transparent.
func TestStripOfAPlainWebP(t *testing.T) {
	for _, pixel := range []struct {
		name, chunk, data string
		flags             byte
	}{{"opaque", "VP8 ", "\x10\x00\x00\x9d\x01\x2a\x01\x00\x01\x00", 0x04}, {"lossless", "VP8L", string(lossless),
		0x04},
		{"transparent", "VP8L", strings.Replace(string(lossless), "\x00\x00\x00\x00", "\x00\x00\x00\x10", 1), 0x14}} {
		t.Run(pixel.name, func(t *testing.T) {
			is := is.New(t)
			file := imagegentest.RIFF(pixel.chunk, pixel.data, "EXIF", secret)
			h, err := picture.Examine(bytes.NewReader(file))
			is.NoErr(err)
			stripped, err := io.ReadAll(h.Strip(bytes.NewReader(file)))
			is.NoErr(err)
			is.Equal(string(stripped[12:16]), "VP8X")
			is.Equal(stripped[20], pixel.flags)
			_, err = picture.Examine(bytes.NewReader(stripped))
			is.NoErr(err)
			is.True(!bytes.Contains(stripped, []byte(secret)))
		})
	}
}

// Some cameras leave bytes between the segments of a JPEG, which programs that display it skip.
func TestBytesBetweenSegments(t *testing.T) {
	is := is.New(t)
	file := imagegentest.JPEGSegment(imagegentest.Turned(imagegen.FormatJPEG, 6, 30, 20), 0xed, secret)
	tables := bytes.Index(file, []byte("\xff\xdb"))
	file = slices.Insert(file, tables, []byte("\x00\x00left\xff\x00\xff\xd0\x00")...)
	h, err := picture.Examine(bytes.NewReader(file))
	is.NoErr(err)
	is.Equal(h.Orientation, picture.Orientation(6))
	stripped, err := io.ReadAll(h.Strip(bytes.NewReader(file)))
	is.NoErr(err)
	again, err := picture.Examine(bytes.NewReader(stripped))
	is.NoErr(err)
	is.True(!bytes.Contains(stripped, []byte(secret)))
	again.Orientation = h.Orientation // which Strip removed
	again.Size = h.Size
	is.Equal(cmp.Diff(pixels(t, h, file), pixels(t, again, stripped)), "")
}

// An image that is cut off, or whose reader fails, does not become a whole one.
func TestStripOfABrokenImage(t *testing.T) {
	for _, f := range imagegen.Formats() {
		is := is.New(t)
		file := talkative(f, profile(300, "RGB "))
		h, err := picture.Examine(bytes.NewReader(file))
		is.NoErr(err)
		for n := range file {
			if _, err := io.ReadAll(h.Strip(bytes.NewReader(file[:n]))); err == nil {
				t.Fatalf("%s cut off behind %d bytes of %d is whole", f, n, len(file))
			}
		}
		_, err = io.ReadAll(h.Strip(io.MultiReader(bytes.NewReader(file[:len(file)/2]),
			iotest.ErrReader(io.ErrClosedPipe))))
		is.True(err != nil)
	}
}

// A picture that is encoded anew has the profile of the original, if the pixels can have it, and says that a model made
// it, unless somebody else did.
func TestProfilesOfEncodedImages(t *testing.T) {
	m := image.NewRGBA(image.Rect(0, 0, 8, 8))
	for _, c := range []struct {
		icc      string
		kept     bool
		unmarked bool
	}{{profile(70_000, "RGB "), true, false}, {profile(300, "RGB "), true, true}, {profile(300, "CMYK"), false, false},
		{"", false, false}, {"short", false, true}} {
		for _, f := range []imagegen.Format{imagegen.FormatPNG, imagegen.FormatJPEG} {
			is := is.New(t)
			by := picture.Target{Format: f, Quality: 90,
				Unmarked: c.unmarked}.Encoder(picture.Header{Notes: picture.Notes{Profile: []byte(c.icc)}})
			var plain bytes.Buffer
			is.NoErr(by.Encode(&plain, m))
			marked, err := io.ReadAll(by.Mark(&plain))
			is.NoErr(err)
			h, err := picture.Examine(bytes.NewReader(marked))
			is.NoErr(err)
			is.Equal(h.MediaType, f.MediaType())
			is.Equal(h.Origin, !c.unmarked)
			if want := map[bool]string{true: c.icc}[c.kept]; string(h.Profile) != want {
				t.Errorf("of a profile of %d bytes it has %d", len(c.icc), len(h.Profile))
			}
			_, err = h.Decode(bytes.NewReader(marked))
			is.NoErr(err)
		}
	}
}

// A PNG has one profile, before its pixels. Others are not inflated: each would take a thousand times its length.
func TestProfilesBesideTheFirst(t *testing.T) {
	is := is.New(t)
	file := imagegentest.Turned(imagegen.FormatPNG, 1, 30, 20)
	late := imagegentest.PNGChunk(file[:8+25], "iCCP", "late\x00\x00"+deflated(profile(300, "CMYK")))[8+25:]
	end := len(file) - 12 // IEND
	file = slices.Insert(file, end, late...)
	h, err := picture.Examine(bytes.NewReader(file))
	is.NoErr(err)
	is.Equal(len(h.Profile), 0)
	for _, p := range []string{profile(301, "CMYK"), profile(302, "RGB ")} { // each comes before the former
		file = imagegentest.PNGChunk(file, "iCCP", "display\x00\x00"+deflated(p))
	}
	h, err = picture.Examine(bytes.NewReader(file))
	is.NoErr(err)
	is.Equal(string(h.Profile), profile(302, "RGB "))
}

// Segments may also stand between the scans of a JPEG.
func TestStripBetweenScans(t *testing.T) {
	is := is.New(t)
	said := "\xff\xfe\x00\x08" + secret[:6] + "\xff\xe1\x00\x08" + secret[:6]
	scan := "\xff\xda\x00\x03\x01x\xff\x00y\xff\xd3z"
	file := func(between string) []byte {
		return []byte("\xff\xd8\xff\xc2\x00\x11\x08\x00\x08\x00\x08\x03\x01\x22\x00\x02\x11\x01\x03\x11\x01" +
			scan + between +
			"\xff\xc4\x00\x03h" + scan + between + "\xff\xd9")
	}
	h, err := picture.Examine(bytes.NewReader(file(said)))
	is.NoErr(err)
	stripped, err := io.ReadAll(h.Strip(bytes.NewReader(file(said))))
	is.NoErr(err)
	plain, err := io.ReadAll(h.Strip(bytes.NewReader(file(""))))
	is.NoErr(err)
	is.Equal(string(stripped), string(plain))
	is.Equal(bytes.Count(stripped, []byte(scan)), 2)
}
