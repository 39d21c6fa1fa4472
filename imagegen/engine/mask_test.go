package engine_test

import (
	"bytes"
	"image"
	"image/png"
	"testing"

	"github.com/matryer/is"

	"github.com/imagegend/imagegend/imagegen"
)

// maskOf is a mask of so many pixels an edge, of which nothing is to be made anew, with a mark.
func maskOf(edge int, mark uint8) bytesReference {
	m := image.NewNRGBA(image.Rect(0, 0, edge, edge))
	m.Pix[0] = mark
	var b bytes.Buffer
	_ = png.Encode(&b, m)
	return b.Bytes()
}

// request.
func TestMaskCountsForTheIdempotencyKey(t *testing.T) {
	is := is.New(t)
	p := yieldImages(1, nil)
	p.caps.Mask = true
	h := start(t, p)
	fox, mask := bytesReference(pngOf(32, 32)), maskOf(32, 1)
	ask := func(mask imagegen.Reference, references ...imagegen.Reference) error {
		_, err := h.generate(imagegen.GenerateRequest{IdempotencyKey: "k", References: references, Mask: mask})
		return err
	}
	is.NoErr(ask(mask, fox))
	is.NoErr(ask(mask, fox))
	is.True(isCode(ask(maskOf(32, 2), fox), imagegen.ErrIdempotencyKeyReused))
	is.True(isCode(ask(nil, fox), imagegen.ErrIdempotencyKeyReused))
	is.True(isCode(ask(nil, fox, mask), imagegen.ErrIdempotencyKeyReused))
	is.Equal(h.balance(), imagegen.Credits(99))
}
