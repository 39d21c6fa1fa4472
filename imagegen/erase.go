package imagegen

import "context"

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
		return invalid("generation %s is %s; only one that has ended can be erased", id, r.Status())
	}
	ctx, cancel := detach(ctx) // half an erasure is seen through
	defer cancel()
	references := r.References
	if r, err = e.beginErasure(ctx, r.Fence(), c); err != nil {
		return public(err)
	}
	e.removeReferences(references)
	return public(e.purge(ctx, r))
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
	const batch = 100
	for erased := batch; erased > 0 && ctx.Err() == nil; {
		due := e.cfg.Now().Add(-e.cfg.Retain)
		records, err := e.store.Ended(ctx, due, batch)
		if err != nil {
			e.cfg.Log.WarnContext(ctx, "generations past their age could not be listed", "error", err)
			return
		}
		erased = 0
		for _, r := range records {
			if err := e.erase(ctx, r.ID, Erase{Aged: true}); err != nil {
				e.cfg.Log.WarnContext(ctx, "a generation past its age could not be erased", "generation", r.ID, "error", err)
				continue
			}
			erased++
		}
	}
}
