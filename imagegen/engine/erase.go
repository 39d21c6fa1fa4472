package engine

import (
	"context"
	"errors"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// Erase removes the prompt, the references and the images of a generation that has ended,
// for good. Its charge stays in the ledger. Its owner no longer sees the generation.
// ErrNotFound: there is no such generation, or it was erased. ErrInvalidRequest: it has not ended.
// After any other error files may be left: the same call removes them, and so does recovery.
func (e *Engine) Erase(ctx context.Context, id imagegen.GenerationID) error {
	return e.erase(ctx, id, imagegen.EraseChange{})
}

// erase finishes once it has begun, even if ctx ends. What a crash or a failed removal
// interrupts, recovery finishes, or the same call again.
func (e *Engine) erase(ctx context.Context, id imagegen.GenerationID, c imagegen.EraseChange) error {
	r, err := e.store.Generation(ctx, id)
	if err == nil && !r.Visible() && r.State != imagegen.StateErasing {
		err = imagegen.ErrNotFound
	}
	if err != nil {
		return imagegen.ToUserError(err)
	}
	ctx, cancel := withoutCancel(ctx) // half an erasure is seen through
	defer cancel()
	if r.State == imagegen.StateErasing {
		return imagegen.ToUserError(e.purge(ctx, r))
	}
	if !r.Terminal() {
		return imagegen.Invalid("generation %s is %s; only one that has ended can be erased", id, r.Status())
	}
	references := r.References
	if r, err = e.beginErasure(ctx, r.Fence(), c); err != nil {
		return imagegen.ToUserError(err)
	}
	e.uploads.RemoveFiles(references)
	return imagegen.ToUserError(e.purge(ctx, r))
}

// beginErasure never runs while a thumbnail is being published, so that no thumbnail is
// left behind.
func (e *Engine) beginErasure(ctx context.Context, f imagegen.Fence,
	c imagegen.EraseChange) (r imagegen.Record, err error) {
	err = e.thumbnails.Exclusive(ctx, func() (err error) {
		r, err = e.update(ctx, f, c)
		return err
	})
	return r, err
}

// purge removes the images of an erased generation, and then what its record says about
// them. In this order a crash between the two leaves a record in StateErasing, which recovery
// finds, and never files that nobody knows of. If another attempt has taken the erasure over,
// that one changes the record.
func (e *Engine) purge(ctx context.Context, r imagegen.Record) error {
	for n := 1; n <= r.Attempt; n++ {
		if err := e.images.RemoveImages(ctx, r.ID, n); err != nil { // whatever it is, the same call may succeed later
			return imagegen.Overloaded(time.Second, err)
		}
	}
	_, err := e.update(ctx, r.Fence(), imagegen.PurgeChange{})
	if errors.Is(err, imagegen.ErrStale) {
		return nil
	}
	return err
}

// eraseAged erases generations that ended longer ago than Config.Retention.Generations, oldest first. What
// another engine, or an operator, has erased meanwhile is done.
func (e *Engine) eraseAged(ctx context.Context) {
	list := func(n int) ([]imagegen.Record, error) { return e.store.Ended(ctx, e.cfg.Retention.Generations, n) }
	err := inBatches(ctx, list, func(r imagegen.Record) bool {
		err := e.erase(ctx, r.ID, imagegen.EraseChange{Aged: true})
		if errors.Is(err, imagegen.ErrNotFound) {
			return true
		}
		e.warn(ctx, err, "a generation past its age could not be erased", "generation", r.ID)
		return err == nil
	})
	e.warn(ctx, err, "generations past their age could not be listed")
}

// forgetAged removes what must not be kept longer than age: the prompt of a failed
// generation, or the hash of an erased generation's idempotency key.
func (e *Engine) forgetAged(ctx context.Context, s imagegen.State, age time.Duration) {
	list := func(n int) ([]imagegen.Fence, error) { return e.store.Forgettable(ctx, s, age, n) }
	err := inBatches(ctx, list, func(f imagegen.Fence) bool {
		_, err := e.update(ctx, f, imagegen.ForgetChange{})
		e.warn(ctx, err, "the remains of a generation could not be forgotten", "generation", f.ID, "state", s)
		return err == nil
	})
	e.warn(ctx, err, "generations with something to forget could not be listed", "state", s)
}

// inBatches applies do to everything that list returns, until the list is empty, do fails
// for a whole batch, or ctx ends.
func inBatches[T any](ctx context.Context, list func(n int) ([]T, error), do func(T) bool) error {
	const batch = 100
	for done := batch; done > 0; {
		all, err := list(batch)
		if err != nil {
			return err
		}
		done = 0
		for _, v := range all {
			if ctx.Err() != nil {
				return nil
			}
			if do(v) {
				done++
			}
		}
	}
	return nil
}
