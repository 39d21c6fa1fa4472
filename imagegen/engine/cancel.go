package engine

import (
	"context"
	"errors"

	"github.com/imagegend/imagegend/imagegen"
)

// Cancel implements [imagegen.Service].
func (s *Session) Cancel(ctx context.Context, id imagegen.GenerationID) (imagegen.Generation, error) {
	r, err := s.Record(ctx, id)
	if err != nil {
		return imagegen.Generation{}, err
	}
	r, err = s.engine.cancel(ctx, r)
	if err != nil {
		return imagegen.Generation{}, imagegen.ToUserError(err)
	}
	return r.Generation(), nil
}

// cancel ends a generation that waits. If an attempt begins at the same moment, the fence
// decides which of the two wins.
func (e *Engine) cancel(ctx context.Context, r imagegen.Record) (imagegen.Record, error) {
	switch {
	case r.Cancelled() || r.PartlyCancelled: // though its charge may be open for a moment yet
		return r, nil
	case !r.Cancellable():
		return r, imagegen.ErrNotCancellable
	}
	got, err := e.finish(ctx, r, imagegen.OutcomeChange{Cancelled: true, At: e.now(),
		Failure: &imagegen.Failure{Class: imagegen.ClassCancelled, Detail: "its owner cancelled it"}})
	switch {
	case errors.Is(err, imagegen.ErrStale) || errors.Is(err, imagegen.ErrTransition):
		// somebody else has changed it, which may be a cancellation too
		if got, err = e.Record(ctx, r.ID); err == nil && !got.Cancelled() && !got.PartlyCancelled {
			err = imagegen.ErrNotCancellable
		}
		return got, err
	case err != nil:
		return got, err
	}
	if got.Attempt == 0 {
		e.observeHosted(ctx, got)
	}
	e.concluded(ctx, got)
	e.uploads.RemoveFiles(r.References)
	return got, nil
}
