package imagegen

import (
	"bytes"
	"image"
	"image/color/palette"
	"image/draw"
	"image/png"
	"math/rand/v2"
	"testing"

	"github.com/matryer/is"
)

func whole(b []byte) bool {
	ok, _ := wholePNG(bytes.NewReader(b))
	return ok
}

// samplePNGs encodes noise in each colour model and at each level.
func samplePNGs(t testing.TB) (plain, other [][]byte) {
	r := image.Rect(0, 0, 7, 5)
	encode := func(m draw.Image) (all [][]byte) {
		noise := rand.New(rand.NewPCG(1, 2))
		for y := range r.Dy() {
			for x := range r.Dx() {
				m.Set(x, y, palette.Plan9[noise.IntN(len(palette.Plan9))])
			}
		}
		for _, level := range []png.CompressionLevel{png.NoCompression, png.BestSpeed, png.BestCompression} {
			var b bytes.Buffer
			if err := (&png.Encoder{CompressionLevel: level}).Encode(&b, m); err != nil {
				t.Fatal(err)
			}
			all = append(all, b.Bytes())
		}
		return all
	}
	for _, m := range []draw.Image{image.NewNRGBA(r), image.NewRGBA(r), image.NewGray(r), image.NewGray16(r), image.NewNRGBA64(r), image.NewRGBA64(r)} {
		plain = append(plain, encode(m)...)
	}
	return plain, encode(image.NewPaletted(r, palette.Plan9))
}

func TestWholePNG(t *testing.T) {
	is := is.New(t)
	plain, other := samplePNGs(t)
	for _, b := range plain {
		is.True(whole(b))
		is.True(whole(append(bytes.Clone(b), "and more"...))) // as the decoder has it
		for n := range b {
			is.True(!whole(b[:n]))
		}
	}
	for _, b := range other {
		is.True(!whole(b)) // left to the decoder
	}
}

// What is found whole, the decoder decodes: whichever byte is another.
func TestWholePNGIsNeverKinderThanTheDecoder(t *testing.T) {
	plain, _ := samplePNGs(t)
	for _, original := range plain {
		for i := range original {
			for _, flip := range []byte{0x01, 0x20, 0x80, 0xff} {
				b := bytes.Clone(original)
				b[i] ^= flip
				neverKinder(t, b)
			}
		}
	}
}

func FuzzWholePNG(f *testing.F) {
	plain, other := samplePNGs(f)
	for _, b := range append(plain, other...) {
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if c, err := png.DecodeConfig(bytes.NewReader(b)); err == nil && c.Width*c.Height > 1<<20 {
			return // too large to decode here
		}
		neverKinder(t, b)
	})
}

func neverKinder(t *testing.T, b []byte) {
	t.Helper()
	if !whole(b) {
		return
	}
	if _, err := png.Decode(bytes.NewReader(b)); err != nil {
		t.Errorf("found whole, but the decoder says: %v\n%q", err, b)
	}
}

// A megapixel of noise, as a provider sends it.
func BenchmarkCheckPNG(b *testing.B) {
	m := image.NewNRGBA(image.Rect(0, 0, 1024, 1024))
	for i := range m.Pix {
		m.Pix[i] = byte(i*i>>8) | 0x0f
	}
	var out bytes.Buffer
	if err := png.Encode(&out, m); err != nil {
		b.Fatal(err)
	}
	b.Run("whole", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if !whole(out.Bytes()) {
				b.Fatal("not whole")
			}
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := png.Decode(bytes.NewReader(out.Bytes())); err != nil {
				b.Fatal(err)
			}
		}
	})
}
