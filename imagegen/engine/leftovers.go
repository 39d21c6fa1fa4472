package engine

import (
	"context"
	"sync"

	"github.com/imagegend/imagegend/imagegen"
)

// leftovers are removals of files that failed, to be tried again: that there was no descriptor left
// for one passes. Those that a process ends with are found by the next start, or by the erasure of
// their generation.
type leftovers struct {
	mu      sync.Mutex
	pending []removal
}

// removal removes files. That there are none is no error.
type removal func(context.Context) error

// mostLeftovers bounds what a disk that removes nothing makes us remember.
const mostLeftovers = 10_000

func (l *leftovers) add(r removal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.pending) < mostLeftovers {
		l.pending = append(l.pending, r)
	}
}

func (l *leftovers) take() []removal {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.pending
	l.pending = nil
	return taken
}

// remove carries a removal out; if it fails, maintenance tries again. It is told of no caller's
// context: who hangs up leaves no files behind.
func (e *Engine) remove(ctx context.Context, r removal) error {
	ctx, cancel := detach(ctx)
	defer cancel()
	err := r(ctx)
	if err != nil {
		e.leftovers.add(r)
	}
	return err
}

func (e *Engine) removeLeftovers(ctx context.Context) {
	for _, r := range e.leftovers.take() {
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

// removeFormerImages removes what attempts that were cut short have left, but for what was shown.
func (e *Engine) removeFormerImages(ctx context.Context, r imagegen.Record) {
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
