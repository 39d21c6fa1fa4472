package engine

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// SetFavourite marks one of the user's generations as a favourite, or removes the mark. An
// erasure removes it too. ErrInvalidRequest: the generation has not succeeded.
// ErrNotFound as for Generation.
func (s *Session) SetFavourite(ctx context.Context, id imagegen.GenerationID, favourite bool) error {
	r, err := s.Record(ctx, id)
	if err != nil {
		return err
	}
	if r.State != imagegen.StateSucceeded {
		return imagegen.Invalid("generation %s is %s; only one that has succeeded can be a favourite", id, r.Status())
	}
	_, err = s.engine.update(ctx, r.Fence(), imagegen.FavouriteChange{Favourite: favourite})
	if errors.Is(err, imagegen.ErrStale) || errors.Is(err, imagegen.ErrTransition) { // it was erased meanwhile
		err = imagegen.ErrNotFound
	}
	return imagegen.ToUserError(err)
}
