package imagegen

import (
	"context"
	"time"
)

// Erase removes a generation that has ended: prompt, references and images go, for good; what it
// cost stays in the books. To its owner it exists no longer. ErrNotFound; ErrInvalidRequest if it
// has not ended.
func (e *Engine) Erase(ctx context.Context, id GenerationID) error {
	return e.erase(ctx, id, Erase{})
}

func (e *Engine) erase(ctx context.Context, id GenerationID, c Erase) error {
	r, err := e.Record(ctx, id)
	if err != nil {
		return err
	}
	if !r.Terminal() {
		return Invalid("generation %s is %s; only one that has ended can be erased", id, r.Status())
	}
	ctx, cancel := detach(ctx) // half an erasure is seen through
	defer cancel()
	references := r.References
	if r, err = e.beginErasure(ctx, r.Fence(), c); err != nil {
		return ToUserError(err)
	}
	e.removeReferences(references)
	return ToUserError(e.purge(ctx, r))
}

// beginErasure comes before or after a thumbnail, never between the look at its record and its file.
func (e *Engine) beginErasure(ctx context.Context, f Fence, c Erase) (Record, error) {
	if err := e.thumbnails.publishing.Acquire(ctx, 1); err != nil {
		return Record{}, err
	}
	defer e.thumbnails.publishing.Release(1)
	return e.update(ctx, f, c)
}

// purge removes the images of an erased generation, then what the record says of them.
func (e *Engine) purge(ctx context.Context, r Record) error {
	for n := 1; n <= r.Attempt; n++ {
		if err := e.images.RemoveImages(ctx, r.ID, n); err != nil {
			return err
		}
	}
	_, err := e.update(ctx, r.Fence(), Purge{})
	return err
}

// eraseAged erases what ended longer ago than Retain, the oldest first.
func (e *Engine) eraseAged(ctx context.Context) {
	due := e.cfg.Now().Add(-e.cfg.Retain)
	list := func(n int) ([]Record, error) { return e.store.Ended(ctx, due, n) }
	err := inBatches(ctx, list, func(r Record) bool {
		err := e.erase(ctx, r.ID, Erase{Aged: true})
		if err != nil {
			e.cfg.Log.WarnContext(ctx, "a generation past its age could not be erased", "generation", r.ID, "error", err)
		}
		return err == nil
	})
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "generations past their age could not be listed", "error", err)
	}
}

// forgetAged takes out of what ended longer ago than this what is then to be forgotten: of what failed the
// prompt, of what was erased the hash of its idempotency key.
func (e *Engine) forgetAged(ctx context.Context, s State, age time.Duration) {
	due := e.cfg.Now().Add(-age)
	list := func(n int) ([]Fence, error) { return e.store.Forgettable(ctx, s, due, n) }
	err := inBatches(ctx, list, func(f Fence) bool {
		_, err := e.update(ctx, f, Forget{})
		if err != nil {
			e.cfg.Log.WarnContext(ctx, "what a generation has left could not be forgotten", "generation", f.ID, "state", s, "error", err)
		}
		return err == nil
	})
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "generations with something to forget could not be listed", "state", s, "error", err)
	}
}

// inBatches does something to all that a list has, until it is empty or none of its first can be done.
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
