package engine_test

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

	"github.com/matryer/is"
	"golang.org/x/image/webp"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
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

// verified is a provider whose images are verified in that way.
func (p *scripted) verified(v imagegen.Verification) *scripted {
	p.caps.Verify = v
	return p
}

// yieldBytes yields images of these bytes.
func yieldBytes(images ...[]byte) *scripted {
	return &scripted{caps: anything,
		do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
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
func startOver(t *testing.T, p imagegen.Provider, change func(*engine.Config)) *faulty {
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
		f := startOver(t, yieldBytes(b.Bytes()), func(c *engine.Config) { c.Spool = panickySpool{c.Spool, left} })
		for range 10 {
			left.Store(1) // to be decoded
			_, err := f.generate(imagegen.GenerateRequest{})
			f.is.True(err != nil)
		}
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.NoErr(err)
	})
}

// An image may be written before it is known to be whole. One that is not, is not delivered, and nothing
// of it stays, whatever the ImageStore makes of a reader that fails.
func TestAPNGThatIsNotWhole(t *testing.T) {
	for name, read := range map[string]func(r io.Reader, length int) ([]byte, error){
		"as it should": nil,
		"passes over an error": func(r io.Reader, _ int) ([]byte, error) {
			b, _ := io.ReadAll(r)
			return b, nil
		},
		"has an error of its own": func(r io.Reader, _ int) ([]byte, error) {
			b, err := io.ReadAll(r)
			if err != nil {
				err = errors.New("the upload was broken off")
			}
			return b, err
		},
		"knows the length": func(r io.Reader, length int) ([]byte, error) {
			b := make([]byte, length)
			n, _ := io.ReadFull(r, b)
			return b[:n], nil
		},
	} {
		for _, edge := range []int{16, 500, 1200} { // in one chunk, in many, in the spool
			for _, v := range imagegen.Verifications() {
				t.Run(fmt.Sprint(name, " ", edge, " ", v), func(t *testing.T) { testBroken(t, edge, v, read) })
			}
		}
	}
}

func testBroken(t *testing.T, edge int, v imagegen.Verification, read func(r io.Reader, length int) ([]byte, error)) {
	whole := noise(edge)
	broken := bytes.Clone(whole)
	broken[len(broken)-len("\x00\x00\x00\x00IEND\xae\x42\x60\x82")-5] ^= 1 // in the last bytes of the pixels
	synctest.Test(t, func(t *testing.T) {
		f := startOver(t, yieldBytes(broken, whole).verified(v), func(c *engine.Config) {
			if read != nil {
				c.Images = sloppyImages{c.Images, func(r io.Reader) ([]byte, error) { return read(r, len(whole)) }}
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
			f := startOver(t, yieldBytes(image), func(c *engine.Config) { c.Spool = panickySpool{c.Spool, left} })
			_, err := f.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 1200, Height: 1200}})
			f.is.True(err == nil || isCode(err, imagegen.ErrGenerationFailed))
			f.settled()
		})
	}
}

// The verification of the model counts more than that of its provider.
func TestVerificationOfTheModel(t *testing.T) {
	for v, want := range map[imagegen.Verification]int{"": 0, imagegen.VerifyStructure: 1} {
		synctest.Test(t, func(t *testing.T) {
			spools := 0
			h := start(t, yieldBytes(noise(1200)).verified(imagegen.VerifyDecode), func(c *engine.Config) {
				c.Models[0].Verify = v
				c.Spool = countingSpool{c.Store.(imagegen.Spool), &spools}
			})
			_, err := h.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 1200, Height: 1200}})
			h.is.NoErr(err)
			h.is.Equal(spools, 1-want) // what is not decoded is read once
		})
	}
}

// countingSpool counts what is staged.
type countingSpool struct {
	imagegen.Spool
	staged *int
}

func (s countingSpool) Stage(ctx context.Context, id imagegen.ReferenceID, r io.Reader) error {
	*s.staged++
	return s.Spool.Stage(ctx, id, r)
}

// An ImageStore that does not read an image to its end has not kept it.
func TestAStoreThatStopsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldBytes(noise(500)).verified(imagegen.VerifyStructure), func(c *engine.Config) {
			c.Images = sloppyImages{c.Store.(imagegen.ImageStore), func(r io.Reader) ([]byte, error) {
				return io.ReadAll(io.LimitReader(r, 1000))
			}}
		})
		_, err := h.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 500, Height: 500}})
		h.is.True(isCode(err, imagegen.ErrGenerationFailed))
		h.is.Equal(h.balance(), imagegen.Credits(100))
	})
}

// Bytes behind the end of an image are cut off in both modes.
func TestBytesBehindAnImage(t *testing.T) {
	whole := noise(64)
	for _, v := range imagegen.Verifications() {
		synctest.Test(t, func(t *testing.T) {
			h := start(t, yieldBytes(append(bytes.Clone(whole), "and more"...)).verified(v))
			g, err := h.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: 64, Height: 64}})
			h.is.NoErr(err)
			f, err := h.engine.OpenImage(t.Context(), g.Images[0].ID)
			h.is.NoErr(err)
			defer f.Close()
			h.is.Equal(f.Size, int64(len(whole)))
			h.audit()
		})
	}
}

// An image whose pixels can all be decoded is not whole if something is missing behind them.
func TestAnImageThatEndsBehindItsPixels(t *testing.T) {
	const edge = 64
	torn := webpOf(edge)
	torn[4] = 0x80 // its length
	_, err := webp.Decode(bytes.NewReader(torn))
	is.New(t).NoErr(err)
	for _, v := range imagegen.Verifications() {
		for _, asked := range []int{edge, edge / 2} {
			synctest.Test(t, func(t *testing.T) {
				h := start(t, yieldBytes(torn).verified(v))
				_, err := h.generate(imagegen.GenerateRequest{Size: imagegen.Size{Width: asked, Height: asked}})
				h.is.True(isCode(err, imagegen.ErrGenerationFailed))
				h.is.Equal(h.balance(), imagegen.Credits(100))
			})
		}
	}
}
