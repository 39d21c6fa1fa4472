package engine_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"testing"
	"testing/synctest"

	"github.com/imagegend/imagegend/imagegen"
	"github.com/imagegend/imagegend/imagegen/engine"
)

// An image is shown once its record names it, and not before: then it is sure to be paid for, or not to be an image.
func TestAnImageIsShownOnceItIsRecorded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := startFaulty(t, yieldImages(1, nil))
		f.failBefore(first(4, "Outcome", imagegen.ErrNotApplied))
		_, err := f.generate(imagegen.GenerateRequest{})
		f.is.True(isCode(err, imagegen.ErrInternal))
		f.is.True(f.has(f.put[0]))
		_, err = f.engine.OpenImage(context.Background(), f.put[0].Image)
		f.is.True(isCode(err, imagegen.ErrNotFound))
		f.is.Equal(f.settled()[0].State, imagegen.StateFailed) // its process might have died: it was refunded
		_, err = f.engine.OpenImage(context.Background(), f.put[0].Image)
		f.is.True(isCode(err, imagegen.ErrNotFound))

		f.failBefore(func(call string, n int, _ imagegen.Fence) error {
			if call == "Close" && n > 1 && n < 6 { // the first was the end of what failed
				return imagegen.ErrNotApplied
			}
			return nil
		})
		_, err = f.generate(imagegen.GenerateRequest{})
		f.is.True(isCode(err, imagegen.ErrInternal))
		image, err := f.engine.OpenImage(context.Background(), f.put[1].Image)
		f.is.NoErr(err)
		f.is.NoErr(image.Close())
	})
}

// blank is a PNG of n × n black pixels, made without drawing them.
func blank(n uint32) []byte {
	rows := bytes.Repeat(make([]byte, 1+(n+7)/8), int(n)) // each begins with its filter: none
	var data bytes.Buffer
	w := zlib.NewWriter(&data)
	w.Write(rows)
	w.Close()
	// 1 bit of grey
	header := append(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, n), n), 1, 0, 0, 0, 0)
	image := []byte("\x89PNG\r\n\x1a\n")
	for _, chunk := range [][]byte{append([]byte("IHDR"), header...), append([]byte("IDAT"), data.Bytes()...),
		[]byte("IEND")} {
		image = binary.BigEndian.AppendUint32(image, uint32(len(chunk)-4))
		image = binary.BigEndian.AppendUint32(append(image, chunk...), crc32.ChecksumIEEE(chunk))
	}
	return image
}

// An image of more pixels than any that can be asked for is not decoded, though it could be.
func TestTooManyPixels(t *testing.T) {
	h := start(t, &scripted{caps: anything,
		do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			yield(imagegen.ProviderImage{Body: readerOf(blank(imagegen.MaxEdge + 8))}, nil)
		}})
	_, err := h.generate(imagegen.GenerateRequest{})
	h.is.True(isCode(err, imagegen.ErrGenerationFailed))
	h.is.Equal(h.balance(), imagegen.Credits(100))
}

// An image that is far larger than what was asked for is not decoded, whatever it would be scaled down to;
// one of a provider that makes but a few sizes is.
func TestPixelsAreBoundedByWhatWasAsked(t *testing.T) {
	for _, c := range []struct {
		asked imagegen.Size
		edge  uint32
		ok    bool
	}{
		{imagegen.Size{Width: 1024, Height: 1024}, imagegen.MaxEdge, false},
		{imagegen.Size{Width: 1024, Height: 1024}, 4096, false},
		{imagegen.Size{Width: 1024, Height: 1024}, 2048, true},
		{imagegen.Size{Width: 64, Height: 64}, 2048, true},
		{imagegen.Size{Width: 2048, Height: 2048}, 4096, true},
		{imagegen.Size{Width: 2160, Height: 2160}, imagegen.MaxEdge, false},
		{imagegen.Size{}, imagegen.MaxEdge, false},
	} {
		t.Run(fmt.Sprintf("%v by %d", c.asked, c.edge), func(t *testing.T) {
			h := start(t, &scripted{caps: anything,
				do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage,
					error) bool) {
					yield(imagegen.ProviderImage{Body: readerOf(blank(c.edge))}, nil)
				}})
			_, err := h.generate(imagegen.GenerateRequest{Size: c.asked})
			h.is.Equal(err == nil, c.ok)
		})
	}
}

// bottomless is a spool that keeps nothing.
type bottomless struct{ imagegen.Spool }

func (bottomless) Stage(_ context.Context, _ imagegen.ReferenceID, r io.Reader) error {
	_, err := io.Copy(io.Discard, r)
	return err
}

// zeros counts the bytes that are read of it.
type zeros struct{ read int64 }

func (z *zeros) Read(p []byte) (int, error) {
	clear(p)
	z.read += int64(len(p))
	return len(p), nil
}

// No more than 256 MiB of an image is read.
func TestTooManyBytes(t *testing.T) {
	const most, more = 256 << 20, 1 << 20
	z := &zeros{}
	h := start(t, &scripted{caps: anything,
		do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
			yield(imagegen.ProviderImage{Body: io.MultiReader(readerOf(noise(64)[:100]),
				io.LimitReader(z, most+8*more))},
				nil)
		}}, func(c *engine.Config) { c.Spool = bottomless{c.Store.(imagegen.Spool)} })
	_, err := h.generate(imagegen.GenerateRequest{})
	h.is.True(isCode(err, imagegen.ErrGenerationFailed))
	h.is.True(z.read > most && z.read < most+more)
}
