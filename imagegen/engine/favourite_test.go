package engine_test

import (
	"testing"

	"github.com/imagegend/imagegend/imagegen"
)

// Only its owner marks a generation as a favourite, and it stays one until it is erased.
func TestSetFavourite(t *testing.T) {
	h := start(t, yieldImages(1, nil))
	ctx, hers := t.Context(), h.engine.As(alice)
	favourites := func() []imagegen.GenerationID {
		t.Helper()
		p, err := hers.Generations(ctx, imagegen.Query{Favourites: true})
		h.is.NoErr(err)
		var ids []imagegen.GenerationID
		for _, g := range p.Generations {
			h.is.True(g.Favourite)
			ids = append(ids, g.ID)
		}
		return ids
	}
	first, err := h.generate(imagegen.GenerateRequest{Prompt: "a fox"})
	h.is.NoErr(err)
	second, err := h.generate(imagegen.GenerateRequest{Prompt: "a hare"})
	h.is.NoErr(err)
	h.is.Equal(len(favourites()), 0)
	for range 2 { // again is success
		h.is.NoErr(hers.SetFavourite(ctx, second.ID, true))
		h.is.NoErr(hers.SetFavourite(ctx, first.ID, true))
	}
	h.is.Equal(favourites(), []imagegen.GenerationID{second.ID, first.ID})
	h.is.NoErr(hers.SetFavourite(ctx, second.ID, false))
	h.is.Equal(favourites(), []imagegen.GenerationID{first.ID})

	for _, id := range []imagegen.GenerationID{"gen_x", "gen_00000000000000000000000000"} {
		h.is.True(isCode(hers.SetFavourite(ctx, id, true), imagegen.ErrNotFound))
	}
	h.is.True(isCode(h.engine.As(bob).SetFavourite(ctx, first.ID, false), imagegen.ErrNotFound))
	h.is.NoErr(h.engine.Erase(ctx, first.ID))
	h.is.Equal(len(favourites()), 0)
	h.is.True(isCode(hers.SetFavourite(ctx, first.ID, true), imagegen.ErrNotFound))
	h.audit()
}

// There is nothing to like in what failed.
func TestFavouriteOfAFailure(t *testing.T) {
	h := start(t, refusesAll())
	r, err := h.generate(imagegen.GenerateRequest{Prompt: "a fox", Async: true})
	h.is.NoErr(err)
	h.ended(r.ID)
	h.is.True(isCode(h.engine.As(alice).SetFavourite(t.Context(), r.ID, true), imagegen.ErrInvalidRequest))
}
