package engine_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

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
			_, err = h.engine.As(alice).ImageAsReference(ctx, other)
			h.is.True(isCode(err, imagegen.ErrNotFound))
		}
		_, err = h.engine.As(bob).ImageAsReference(ctx, id)
		h.is.True(isCode(err, imagegen.ErrNotFound))

		own, err := h.engine.As(alice).ImageAsReference(ctx, id)
		h.is.NoErr(err)
		second, err := h.engine.As(alice).Generate(ctx, imagegen.GenerateRequest{Model: "m", Prompt: "in autumn",
			References: []imagegen.Reference{own}})
		h.is.NoErr(err)
		r, err := h.engine.Record(ctx, second.ID)
		h.is.NoErr(err)
		h.is.Equal(len(r.References), 1)
		h.is.Equal(r.References[0].Image, id)

		h.is.NoErr(h.engine.Erase(ctx, first.ID))
		_, err = h.engine.As(alice).ImageAsReference(ctx, id)
		h.is.True(isCode(err, imagegen.ErrNotFound))
	})
}

// A reference that was sent is one of another generation too, until its own has ended.
func TestSentImageAsReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := start(t, &scripted{caps: anything,
			do: func(_ context.Context, _ imagegen.ProviderRequest, yield func(imagegen.ProviderImage, error) bool) {
				time.Sleep(time.Minute)
				yield(picture(1024, 1024), nil)
			}})
		first := h.queued(imagegen.GenerateRequest{References: []imagegen.Reference{bytesReference(pngOf(8, 8))}}).ID
		s := h.engine.As(alice)
		for id, n := range map[imagegen.GenerationID]int{"nonsense": 0, first: 1, "gen_00000000000000000000000000": 0} {
			_, err := s.SentReference(t.Context(), id, n)
			h.is.True(isCode(err, imagegen.ErrNotFound))
		}
		_, err := h.engine.As(bob).SentReference(t.Context(), first, 0)
		h.is.True(isCode(err, imagegen.ErrNotFound))
		i, err := s.SentReference(t.Context(), first, 0)
		h.is.NoErr(err)
		h.is.Equal(i.MediaType(), "image/png")
		second := h.queued(imagegen.GenerateRequest{References: []imagegen.Reference{i}}).ID

		h.is.Equal(h.ended(first).Status, imagegen.StatusSucceeded)
		synctest.Wait()
		_, err = s.SentReference(t.Context(), first, 0)
		h.is.True(isCode(err, imagegen.ErrNotFound))
		h.is.Equal(h.ended(second).Status, imagegen.StatusSucceeded) // it has a file of its own
	})
}
