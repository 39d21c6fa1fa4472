package engine

import (
	"context"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Erase removes the prompt, the references and the images of a generation that has ended,
// for good. Its charge stays in the ledger. Its owner no longer sees the generation.
// ErrNotFound. ErrInvalidRequest: it has not ended.
func (e *Engine) Erase(ctx context.Context, id imagegen.GenerationID) error {
	return e.erase(ctx, id, imagegen.Erase{})
}

// erase finishes once it has begun, even if ctx ends. What a crash interrupts, recovery
// finishes.
func (e *Engine) erase(ctx context.Context, id imagegen.GenerationID, c imagegen.Erase) error {
	r, err := e.Record(ctx, id)
	if err != nil {
		return err
	}
	if !r.Terminal() {
		return imagegen.Invalid("generation %s is %s; only one that has ended can be erased", id, r.Status())
	}
	ctx, cancel := withoutCancel(ctx) // half an erasure is seen through
	defer cancel()
	references := r.References
	if r, err = e.beginErasure(ctx, r.Fence(), c); err != nil {
		return imagegen.ToUserError(err)
	}
	e.uploads.RemoveFiles(references)
	return imagegen.ToUserError(e.purge(ctx, r))
}

// beginErasure never runs while a thumbnail is being published, so that no thumbnail is
// left behind.
func (e *Engine) beginErasure(ctx context.Context, f imagegen.Fence, c imagegen.Erase) (r imagegen.Record, err error) {
	err = e.thumbnails.Exclusive(ctx, func() (err error) {
		r, err = e.update(ctx, f, c)
		return err
	})
	return r, err
}

// purge removes the images of an erased generation, and then what its record says about
// them. In this order a crash between the two leaves a record in StateErasing, which recovery
// finds, and never files that nobody knows of.
func (e *Engine) purge(ctx context.Context, r imagegen.Record) error {
	for n := 1; n <= r.Attempt; n++ {
		if err := e.images.RemoveImages(ctx, r.ID, n); err != nil {
			return err
		}
	}
	_, err := e.update(ctx, r.Fence(), imagegen.Purge{})
	return err
}

// eraseAged erases generations that ended longer ago than Config.Retain, oldest first.
func (e *Engine) eraseAged(ctx context.Context) {
	list := func(n int) ([]imagegen.Record, error) { return e.store.Ended(ctx, e.cfg.Retain, n) }
	err := inBatches(ctx, list, func(r imagegen.Record) bool {
		err := e.erase(ctx, r.ID, imagegen.Erase{Aged: true})
		if err != nil {
			e.cfg.Log.WarnContext(ctx, "a generation past its age could not be erased", "generation", r.ID, "error", err)
		}
		return err == nil
	})
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "generations past their age could not be listed", "error", err)
	}
}

// forgetAged removes what must not be kept longer than age: the prompt of a failed
// generation, or the hash of an erased generation's idempotency key.
func (e *Engine) forgetAged(ctx context.Context, s imagegen.State, age time.Duration) {
	list := func(n int) ([]imagegen.Fence, error) { return e.store.Forgettable(ctx, s, age, n) }
	err := inBatches(ctx, list, func(f imagegen.Fence) bool {
		_, err := e.update(ctx, f, imagegen.Forget{})
		if err != nil {
			e.cfg.Log.WarnContext(ctx, "the remains of a generation could not be forgotten", "generation", f.ID, "state", s, "error", err)
		}
		return err == nil
	})
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "generations with something to forget could not be listed", "state", s, "error", err)
	}
}

// inBatches applies do to everything that list returns, until the list is empty or do
// fails for a whole batch.
func inBatches[T any](ctx context.Context, list func(n int) ([]T, error), do func(T) bool) error {
	const batch = 100
	for done := batch; done > 0 && ctx.Err() == nil; {
		all, err := list(batch)
		if err != nil {
			return err
		}
		done = 0
		for _, v := range all {
			if do(v) {
				done++
			}
		}
	}
	return nil
}
