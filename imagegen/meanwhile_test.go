package imagegen_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color/palette"
	"image/png"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/matryer/is"
)

var noises sync.Map // edge → bytes: the race detector makes encoding slow

// noise is a plain PNG of that many pixels each way.
func noise(edge int) []byte {
	if b, ok := noises.Load(edge); ok {
		return b.([]byte)
	}
	m := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	rand.NewChaCha8([32]byte{}).Read(m.Pix)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m); err != nil {
		panic(err)
	}
	noises.Store(edge, b.Bytes())
	return b.Bytes()
}

// yieldBytes yields images of these bytes.
func yieldBytes(images ...[]byte) *scripted {
	return &scripted{caps: anything, do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
		for _, b := range images {
			if !yield(imagegen.ProviderImage{Body: bytes.NewReader(b)}, nil) {
				return
			}
		}
	}}
}

// sloppyImages is an ImageStore that does not keep to its contract.
type sloppyImages struct {
	imagegen.ImageStore
	read func(io.Reader) ([]byte, error)
}

func (s sloppyImages) PutImage(ctx context.Context, k imagegen.ImageKey, r io.Reader) error {
	b, err := s.read(r)
	return cmp.Or(s.ImageStore.PutImage(ctx, k, bytes.NewReader(b)), err)
}

// startOver is startFaulty with something over what it puts in.
func startOver(t *testing.T, p imagegen.Provider, change func(*imagegen.Config)) *faulty {
	f := &faulty{}
	f.harness = start(t, p, f.use, change)
	return f
}

// A Spool that panics takes nothing of the memory for decoding with it.
func TestSpoolThatPanicsWhileAnImageIsDecoded(t *testing.T) {
	m := image.NewPaletted(image.Rect(0, 0, 2200, 2200), palette.Plan9)
	rand.NewChaCha8([32]byte{}).Read(m.Pix)
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		left := new(atomic.Int32)
		f := startOver(t, yieldBytes(b.Bytes()), func(c *imagegen.Config) { c.Spool = panickySpool{c.Spool, left} })
		for range 10 {
			left.Store(3) // for its header, to be told that it is not plain, to be decoded
			_, err := f.generate(imagegen.GenerateRequest{})
			f.is.True(err != nil)
		}
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
	})
}

// A plain PNG is written before it is known to be whole. One that is not, is not delivered, and nothing
// of it stays, whatever the ImageStore makes of a reader that fails.
func TestAPNGThatIsNotWhole(t *testing.T) {
	for name, read := range map[string]func(r io.Reader) ([]byte, error){
		"as it should": nil,
		"passes over an error": func(r io.Reader) ([]byte, error) {
			b, _ := io.ReadAll(r)
			return b, nil
		},
		"has an error of its own": func(r io.Reader) ([]byte, error) {
			b, err := io.ReadAll(r)
			if err != nil {
				err = errors.New("the upload was broken off")
			}
			return b, err
		},
		"knows the length": func(r io.Reader) ([]byte, error) {
			b := make([]byte, len(noise(500)))
			n, _ := io.ReadFull(r, b)
			return b[:n], nil
		},
	} {
		for _, edge := range []int{16, 500, 1200} { // in one chunk, in many, in the spool
			t.Run(fmt.Sprint(name, " ", edge), func(t *testing.T) { testBroken(t, edge, read) })
		}
	}
}

func testBroken(t *testing.T, edge int, read func(io.Reader) ([]byte, error)) {
	whole := noise(edge)
	broken := bytes.Clone(whole)
	broken[len(broken)-len("\x00\x00\x00\x00IEND\xae\x42\x60\x82")-5] ^= 1 // in the last bytes of the pixels
	synctest.Test(t, func(t *testing.T) {
		f := startOver(t, yieldBytes(broken, whole), func(c *imagegen.Config) {
			if read != nil {
				c.Images = sloppyImages{c.Images, read}
			}
		})
		g, err := f.generate(imagegen.GenerateRequest{N: 2, Size: imagegen.Size{Width: edge, Height: edge}})
		f.is.NoErr(err)
		f.is.Equal(len(g.Images), 1)
		synctest.Wait()
		last := len(f.put) - 1
		for _, k := range f.put[:last] {
			f.is.True(!f.has(k))
		}
		f.is.True(f.has(f.put[last]))
		f.settled()
	})
}

// panickySpool panics when a provider's image is opened for the n-th time.
type panickySpool struct {
	imagegen.Spool
	left *atomic.Int32
}

func (s panickySpool) Open(ctx context.Context, id imagegen.ReferenceID) (io.ReadCloser, error) {
	if s.left.Add(-1) == 0 {
		panic("spool")
	}
	return s.Spool.Open(ctx, id)
}

// A panic while an image is checked ends the attempt at most.
func TestASpoolThatPanics(t *testing.T) {
	image := noise(1200)
	for n := range int32(6) {
		synctest.Test(t, func(t *testing.T) {
			left := new(atomic.Int32)
			left.Store(n + 1)
			f := startOver(t, yieldBytes(image), func(c *imagegen.Config) { c.Spool = panickySpool{c.Spool, left} })
			_, err := f.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 1200, Height: 1200}})
			f.is.True(err == nil || isCode(err, imagegen.ErrGenerationFailed))
			f.settled()
		})
	}
}

// What a plain PNG is not is known before anything of it is written.
func TestAPNGForTheDecoderIsWrittenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := image.NewPaletted(image.Rect(0, 0, 500, 500), palette.Plan9)
		rand.NewChaCha8([32]byte{}).Read(m.Pix)
		var b bytes.Buffer
		is := is.New(t)
		is.NoErr((&png.Encoder{CompressionLevel: png.NoCompression}).Encode(&b, m))
		f := startFaulty(t, yieldBytes(b.Bytes()))
		_, err := f.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 500, Height: 500}})
		is.NoErr(err)
		is.Equal(len(f.put), 1)
	})
}
