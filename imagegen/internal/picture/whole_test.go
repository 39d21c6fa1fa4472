package picture_test

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/internal/picture"
)

type sample struct {
	name   string
	format imagegen.Format
	bytes  []byte
}

// noise is a picture that does not compress.
func noise(w, h int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	rand.NewChaCha8([32]byte{}).Read(m.Pix)
	return m
}

func samples() []sample {
	var small, large, photo bytes.Buffer
	for _, err := range []error{png.Encode(&small, image.NewGray(image.Rect(0, 0, 1, 1))),
		png.Encode(&large, noise(24, 18)), jpeg.Encode(&photo, noise(24, 18), nil)} {
		if err != nil {
			panic(err)
		}
	}
	return []sample{
		{"png", imagegen.FormatPNG, small.Bytes()},
		{"png of several chunks", imagegen.FormatPNG, large.Bytes()},
		{"jpeg", imagegen.FormatJPEG, photo.Bytes()},
		{"progressive jpeg", imagegen.FormatJPEG, progressive},
		{"jpeg of many scans", imagegen.FormatJPEG, scans(100)},
		{"webp", imagegen.FormatWebP, webp("VP8L", lossless)},
		{"webp with metadata", imagegen.FormatWebP, webp("VP8X", make([]byte, 10), "ICCP", []byte("odd"), "VP8 ",
			[]byte("some pixels"))},
	}
}

// lossless holds a picture of one pixel.
var lossless, _ = base64.StdEncoding.DecodeString("LwAAAAAHEP0PREQA")

// scans is a progressive JPEG of so many scans.
func scans(n int) []byte {
	return []byte("\xff\xd8\xff\xc2\x00\x05\x08\x00\x01" + strings.Repeat("\xff\xda\x00\x02x", n) + "\xff\xd9")
}

// progressive is the structure of a JPEG with two scans, fill bytes, a restart marker and 0xff among its pixels.
var progressive = []byte("\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc2\x00\x05\x08\x00\x01\xff\xda\x00\x03\x01x\xff\x00y\xff\xd3z" +
	"\xff\xc4\x00\x03h\xff\xda\x00\x02pixels\xff\xff\xd9")

func webp(chunks ...any) []byte {
	body := []byte("WEBP")
	for i := 0; i < len(chunks); i += 2 {
		data := chunks[i+1].([]byte)
		body = append(body, chunks[i].(string)...)
		body = append(body, byte(len(data)), byte(len(data)>>8), 0, 0)
		body = append(body, data...)
		body = append(body, make([]byte, len(data)%2)...)
	}
	return append([]byte{'R', 'I', 'F', 'F', byte(len(body)), byte(len(body) >> 8), 0, 0}, body...)
}

// readers hand the same bytes out in different pieces.
var readers = map[string]func(io.Reader) io.Reader{
	"at once":       func(r io.Reader) io.Reader { return r },
	"byte by byte":  iotest.OneByteReader,
	"end with data": iotest.DataErrReader,
}

func TestWhole(t *testing.T) {
	for _, s := range samples() {
		for how, reader := range readers {
			t.Run(s.name+" "+how, func(t *testing.T) {
				is := is.New(t)
				for _, behind := range []string{"", "\x00", "bytes behind the end, and more of them"} {
					got, err := io.ReadAll(
						picture.Whole(reader(bytes.NewReader(append(bytes.Clone(s.bytes), behind...))), s.format))
					is.NoErr(err)
					is.Equal(cmp.Diff(got, s.bytes), "")
				}
			})
		}
	}
}

func TestTruncated(t *testing.T) {
	for _, s := range samples() {
		for how, reader := range readers {
			t.Run(s.name+" "+how, func(t *testing.T) {
				for n := range s.bytes {
					if _, err := io.ReadAll(picture.Whole(reader(bytes.NewReader(s.bytes[:n])), s.format)); !errors.Is(
						err, picture.ErrBroken) {
						t.Fatalf("cut off behind %d of %d bytes it is %v", n, len(s.bytes), err)
					}
				}
			})
		}
	}
}

// Every bit of a PNG is under a checksum, or says where the checksums lie.
func TestEveryFlippedBitOfAPNG(t *testing.T) {
	for _, s := range samples()[:2] {
		for at := range s.bytes {
			flipped := bytes.Clone(s.bytes)
			flipped[at] ^= 1 << (at % 8)
			if _, err := io.ReadAll(picture.Whole(bytes.NewReader(flipped), s.format)); !errors.Is(err,
				picture.ErrBroken) {
				t.Fatalf("with byte %d changed it is %v", at, err)
			}
		}
	}
}

func TestBroken(t *testing.T) {
	for name, s := range map[string]sample{
		"jpeg without a frame":        {"", imagegen.FormatJPEG, []byte("\xff\xd8\xff\xda\x00\x02x\xff\xd9")},
		"jpeg without pixels":         {"", imagegen.FormatJPEG, []byte("\xff\xd8\xff\xc0\x00\x02\xff\xd9")},
		"jpeg of a short segment":     {"", imagegen.FormatJPEG, []byte("\xff\xd8\xff\xe0\x00\x01")},
		"jpeg without a marker":       {"", imagegen.FormatJPEG, []byte("\xff\xd8hello")},
		"jpeg within a jpeg":          {"", imagegen.FormatJPEG, []byte("\xff\xd8\xff\xd8")},
		"jpeg of endless scans":       {"", imagegen.FormatJPEG, scans(101)},
		"webp without pixels":         {"", imagegen.FormatWebP, webp("VP8X", make([]byte, 10))},
		"webp of nothing":             {"", imagegen.FormatWebP, webp()},
		"webp with a chunk too long":  {"", imagegen.FormatWebP, append(webp("VP8L", lossless)[:16], 0xff, 0xff, 0, 0)},
		"webp that is another RIFF":   {"", imagegen.FormatWebP, []byte("RIFF\x10\x00\x00\x00WAVEfmt ")},
		"a png that is called a jpeg": {"", imagegen.FormatJPEG, samples()[0].bytes},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := io.ReadAll(picture.Whole(bytes.NewReader(s.bytes), s.format))
			is.New(t).True(errors.Is(err, picture.ErrBroken))
		})
	}
}

// An animation is whole, but no picture: the error says which of the two is wrong.
func TestAnAnimationIsNoPicture(t *testing.T) {
	moving := webp("VP8X", make([]byte, 10), "ANIM", make([]byte, 6), "ANMF", []byte("a frame"))
	_, err := io.ReadAll(picture.Whole(bytes.NewReader(moving), imagegen.FormatWebP))
	is.New(t).True(err != nil && strings.Contains(err.Error(), "animation"))
}

// Whole passes on the errors of its reader, and a reader that has ended stays ended.
func TestErrorsOfTheReader(t *testing.T) {
	is := is.New(t)
	reset := errors.New("connection reset")
	for _, s := range samples() {
		r := picture.Whole(io.MultiReader(bytes.NewReader(s.bytes[:len(s.bytes)/2]), iotest.ErrReader(reset)), s.format)
		_, err := io.ReadAll(r)
		is.Equal(err, reset)
		_, err = r.Read(make([]byte, 1))
		is.Equal(err, reset)
	}
}

// A picture that the decoder takes is whole, and never longer than what was read.
func FuzzWhole(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.bytes, byte(slices.Index(imagegen.Formats(), s.format)))
	}
	f.Fuzz(func(t *testing.T, b []byte, kind byte) {
		format := imagegen.Formats()[kind%3]
		got, err := io.ReadAll(picture.Whole(bytes.NewReader(b), format))
		if !bytes.HasPrefix(b, got) {
			t.Fatal("it yields other bytes than it reads")
		}
		again, failed := io.ReadAll(picture.Whole(iotest.OneByteReader(bytes.NewReader(b)), format))
		if (err == nil) != (failed == nil) || err == nil && !bytes.Equal(got, again) {
			t.Fatalf("in one piece %v, byte by byte %v", err, failed)
		}
	})
}

func BenchmarkWhole(b *testing.B) {
	var large bytes.Buffer
	if err := png.Encode(&large, noise(700, 500)); err != nil {
		b.Fatal(err)
	}
	b.Run(fmt.Sprintf("png of %d KB", large.Len()>>10), func(b *testing.B) {
		b.SetBytes(int64(large.Len()))
		for b.Loop() {
			whole := picture.Whole(bytes.NewReader(large.Bytes()), imagegen.FormatPNG)
			if _, err := io.Copy(io.Discard, whole); err != nil {
				b.Fatal(err)
			}
		}
	})
}
