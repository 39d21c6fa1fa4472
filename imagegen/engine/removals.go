package engine

import (
	"context"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// removals are removals of files that failed, to be tried again: that there was no descriptor left
// for one passes. Those that a process ends with are found by the next start, or by the erasure of
// their generation.
type removals struct {
	mu      sync.Mutex
	pending []removal
}

// removal removes files. That there are none is no error.
type removal func(context.Context) error

// maxRemovals bounds what a disk that removes nothing makes us remember.
const maxRemovals = 10_000

func (l *removals) add(r removal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) < maxRemovals {
		l.pending = append(l.pending, r)
	}
}

func (l *removals) take() []removal {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.pending
	l.pending = nil
	return taken
}

// remove carries a removal out; if it fails, maintenance tries again. It is told of no caller's
// context: who hangs up leaves no files behind.
func (e *Engine) remove(ctx context.Context, r removal) error {
	ctx, cancel := withoutCancel(ctx)
	defer cancel()
	err := r(ctx)
	if err != nil {
		e.removals.add(r)
	}
	return err
}

func (e *Engine) retryRemovals(ctx context.Context) {
	for _, r := range e.removals.take() {
		_ = e.remove(ctx, r) // it was logged when it failed first
	}
}

func (e *Engine) removeImages(ctx context.Context, g imagegen.GenerationID, attempt int, keep ...imagegen.ImageID) {
	err := e.remove(ctx, func(ctx context.Context) error { return e.images.RemoveImages(ctx, g, attempt, keep...) })
	if err != nil {
		e.cfg.Log.WarnContext(ctx, "images were left behind", "generation", g, "attempt", attempt, "error", err)
	}
}

// files names images and their thumbnails.
func files(images []imagegen.StoredImage) []imagegen.ImageID {
	var ids []imagegen.ImageID
	for _, i := range images {
		ids = append(ids, i.ID, i.ID.Thumbnail())
	}
	return ids
}

// removeEarlierImages removes what attempts that were cut short have left, but for what was shown.
func (e *Engine) removeEarlierImages(ctx context.Context, r imagegen.Record) {
	for n := 1; n < r.Attempt; n++ {
		e.removeImages(ctx, r.ID, n, files(r.Images)...)
	}
}

func (e *Engine) removeSpooled(ids ...imagegen.ReferenceID) {
	err := e.remove(context.Background(), func(ctx context.Context) error { return e.spool.Remove(ctx, ids...) })
	if err != nil {
		e.cfg.Log.Warn("spooled files were left behind", "error", err)
	}
}

// referenceIDs names the references of a record.
func referenceIDs(files []imagegen.ReferenceFile) []imagegen.ReferenceID {
	ids := make([]imagegen.ReferenceID, len(files))
	for i, f := range files {
		ids[i] = f.ID
	}
	return ids
}
