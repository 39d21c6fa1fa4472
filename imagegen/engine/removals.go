package engine

import (
	"context"
	"sync"
	"time"

	"github.com/imagegend/imagegend/imagegen"
)

// removals are failed removals of files, to be tried again: a lack of file descriptors,
// for example, passes. What is left when a process ends is found by the next start, or by
// the erasure of its generation.
type removals struct {
	mu      sync.Mutex // guards pending
	pending []removal
}

// removal removes files. It succeeds if there are none.
type removal func(context.Context) error

// maxRemovals bounds the memory if a disk removes nothing any more.
const maxRemovals = 10_000

func (l *removals) addFailed(r removal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) < maxRemovals {
		l.pending = append(l.pending, r)
	}
}

// takeFailed empties the list, so that removals that fail again wait for the next round.
func (l *removals) takeFailed() []removal {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.pending
	l.pending = nil
	return taken
}

// remove carries out a removal; if that fails, it logs what was left behind, and maintenance tries again. It goes on
// if the caller hangs up.
func (e *Engine) remove(ctx context.Context, r removal, left string, about ...any) {
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	if err := r(ctx); err != nil {
		e.removals.addFailed(r)
		e.cfg.Log.WarnContext(ctx, left, append(about, "error", err)...)
	}
}

// retryRemovals tries each failed removal once more, for as long as most and ctx last: a storage
// may not even answer. What is left waits for the next time.
func (e *Engine) retryRemovals(ctx context.Context, most time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for _, r := range e.removals.takeFailed() {
		if ctx.Err() != nil || r(ctx) != nil { // which was logged when it failed first
			e.removals.addFailed(r)
		}
	}
}

// removeImages removes the images of one attempt, except those to keep.
func (e *Engine) removeImages(ctx context.Context, g imagegen.GenerationID, attempt int, keep ...imagegen.ImageID) {
	e.remove(ctx, func(ctx context.Context) error { return e.images.RemoveImages(ctx, g, attempt, keep...) },
		"images were left behind", "generation", g, "attempt", attempt)
}

// files are the names of images and their thumbnails.
func files(images []imagegen.StoredImage) []imagegen.ImageID {
	var ids []imagegen.ImageID
	for _, i := range images {
		ids = append(ids, i.ID, i.ID.Thumbnail())
	}
	return ids
}

// removeEarlierImages removes what earlier, interrupted attempts left behind, except
// images that were shown.
func (e *Engine) removeEarlierImages(ctx context.Context, r imagegen.Record) {
	for n := 1; n < r.Attempt; n++ {
		e.removeImages(ctx, r.ID, n, files(r.Images)...)
	}
}

// removeSpooled removes files from the spool, now or later.
func (e *Engine) removeSpooled(ids ...imagegen.ReferenceID) {
	e.remove(context.Background(), func(ctx context.Context) error { return e.spool.Remove(ctx, ids...) },
		"spooled files were left behind")
}

// referenceIDs are the names of a record's references in the spool.
func referenceIDs(files []imagegen.ReferenceFile) []imagegen.ReferenceID {
	ids := make([]imagegen.ReferenceID, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	return ids
}
