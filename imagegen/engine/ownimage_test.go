package engine_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/imagegend/imagegend/imagegen"
)

// One's own image is a reference without being sent, and the record tells which it was; nobody else's is one.
func TestOwnImageAsReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, yieldImages(1, nil))
		ctx := context.Background()
		first, err := h.engine.As(alice).Generate(ctx, imagegen.GenerateRequest{Model: "m", Prompt: "a fox"})
		h.is.NoErr(err)
		id := first.Images[0].ID
		for _, other := range []imagegen.ImageID{"", "nonsense", id + "x"} {
			_, err = h.engine.As(alice).OwnImage(ctx, other)
			h.is.True(isCode(err, imagegen.ErrNotFound))
		}
		_, err = h.engine.As(bob).OwnImage(ctx, id)
		h.is.True(isCode(err, imagegen.ErrNotFound))

		own, err := h.engine.As(alice).OwnImage(ctx, id)
		h.is.NoErr(err)
		second, err := h.engine.As(alice).Generate(ctx, imagegen.GenerateRequest{Model: "m", Prompt: "in autumn", References: []imagegen.Reference{own}})
		h.is.NoErr(err)
		r, err := h.engine.Record(ctx, second.ID)
		h.is.NoErr(err)
		h.is.Equal(len(r.References), 1)
		h.is.Equal(r.References[0].Image, id)

		h.is.NoErr(h.engine.Erase(ctx, first.ID))
		_, err = h.engine.As(alice).OwnImage(ctx, id)
		h.is.True(isCode(err, imagegen.ErrNotFound))
	})
}
